//! The platform in one process: it listens, prepares the database, loads the dealers, answers, and stops without
//! cutting anybody off.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{ServerHandle, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::{App, HttpServer, web};
use api::ApiState;
use dealer::{Addresses, Dealer, DealerSettings, Origin};
use store::{Database, Store};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::failure::{Failure, chain, io_reason};
use crate::settings::Settings;
use crate::tls::Certificate;
use crate::{commands, listener, telemetry, tls};

/// How long requests in flight may take to finish.
const FINISH: Duration = Duration::from_secs(30);
/// How long connections that had begun when the door was closed may take to be accepted.
const SETTLE: Duration = Duration::from_millis(200);
/// After so long without a request in flight nothing more is waited for: what is left are idle connections.
const IDLE: Duration = Duration::from_secs(1);
/// How often the database is asked for changes, besides its notices: also one whose notice is lost is seen within
/// a second.
const POLL: Duration = Duration::from_millis(800);

/// What a process does before it answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Preparation {
    /// Apply pending migrations; otherwise they are a reason not to start.
    pub migrate: bool,
    /// Load the demo dealers.
    pub demo: bool,
}

/// A platform that answers requests.
#[derive(Debug)]
pub struct Application {
    address: SocketAddr,
    dealer: Dealer,
    store: Store,
    http: Http,
}

impl Application {
    /// Listens (from the first moment `/healthz` answers and `/readyz` says no), prepares the database, loads the
    /// dealers. When this returns, the platform is ready.
    ///
    /// # Errors
    /// The address, the database or a setting cannot be used; everything is stopped again.
    pub async fn build(
        settings: &Settings,
        database: &Database,
        preparation: Preparation,
    ) -> Result<Application, Failure> {
        let mut http = Http::start(settings)?;
        let address = http.address;
        let origin = settings.origin(address).map_err(|message| {
            Failure::new(format!("--public-origin (FORECOURT_PUBLIC_ORIGIN) {message}"))
        })?;
        match Self::load(settings, database, preparation, origin).await {
            Ok((dealer, store)) => {
                http.state.serve(dealer.clone());
                Ok(Application { address, dealer, store, http })
            }
            Err(failure) => {
                http.kill().await;
                Err(failure)
            }
        }
    }

    async fn load(
        settings: &Settings,
        database: &Database,
        preparation: Preparation,
        origin: Origin,
    ) -> Result<(Dealer, Store), Failure> {
        commands::ready_database(database, preparation.migrate).await?;
        let store = commands::connect(database, settings).await?;
        if preparation.demo {
            let addresses =
                Addresses { origin: origin.clone(), platform_domain: settings.platform_domain.clone() };
            commands::load_demo(&store, &addresses).await?;
        }
        let core = DealerSettings {
            public_origin: origin,
            platform_domain: settings.platform_domain.clone(),
            max_age: settings.max_age,
            cache_bytes: settings.cache_bytes,
            poll: POLL,
        };
        let dealer = Dealer::start(store.clone(), core).await.map_err(|error| Failure::new(chain(&error)))?;
        Ok((dealer, store))
    }

    /// The address that is listened on, with the port that was taken where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port that is listened on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The core, for whoever wants to know its dealers.
    pub fn dealer(&self) -> &Dealer {
        &self.dealer
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Stops in order: not ready from now on, accepting for `drain` longer, then no more; what is in flight
    /// finishes (within 30 seconds), then the background work and the database connections end.
    pub async fn stop(self, drain: Duration) {
        let Application { mut http, dealer, store, .. } = self;
        http.stop(drain).await;
        // The core's background work ends with its last handle.
        drop(dealer);
        // A statement that hangs must not keep the process alive; the server undoes it when we are gone.
        let _ = timeout(Duration::from_secs(5), store.close()).await;
    }

    /// Stops at once, cutting what is in flight: for tests.
    pub async fn kill(mut self) {
        self.http.kill().await;
        let _ = timeout(Duration::from_secs(1), self.store.close()).await;
    }
}

/// The HTTP side: the socket, the threads behind it, and what they have in hand.
struct Http {
    address: SocketAddr,
    /// The same socket as the server's, kept to close the door before the server does.
    door: TcpListener,
    state: ApiState,
    handle: ServerHandle,
    server: JoinHandle<std::io::Result<()>>,
    in_flight: Arc<AtomicUsize>,
    renewal: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Http({})", self.address)
    }
}

impl Http {
    fn start(settings: &Settings) -> Result<Http, Failure> {
        let door = listener::bind(settings.listen)?;
        let cannot = |error: std::io::Error| {
            Failure::new(format!("cannot listen on {} ({})", settings.listen, io_reason(&error)))
        };
        let address = door.local_addr().map_err(cannot)?;
        // The registry comes first: it installs what the instruments of the API report to.
        let state = ApiState::new(settings.trusted_proxies.clone(), telemetry::metrics());
        let in_flight = Arc::new(AtomicUsize::new(0));

        let (shared, counter) = (state.clone(), web::Data::from(Arc::clone(&in_flight)));
        let server = HttpServer::new(move || {
            App::new()
                .app_data(counter.clone())
                .configure(|config| api::configure(config, shared.clone()))
                .wrap(api::cors())
                .wrap(from_fn(api::observe))
                .wrap(from_fn(count))
        })
        .workers(settings.workers)
        .disable_signals()
        .shutdown_timeout(FINISH.as_secs())
        // Longer than the minute that most proxies keep a connection: it is theirs to close.
        .keep_alive(Duration::from_secs(75))
        .client_request_timeout(Duration::from_secs(10))
        .client_disconnect_timeout(Duration::from_secs(5));

        let socket = door.try_clone().map_err(cannot)?;
        let mut renewal = None;
        let server = match &settings.tls {
            None => server.listen(socket),
            Some(files) => {
                let unusable = |message| Failure::new(format!("--tls-cert (FORECOURT_TLS_CERT) {message}"));
                // An address that cannot stand on a card is refused with its own words a moment later.
                let host =
                    settings.origin(address).map(|origin| origin.host().to_owned()).unwrap_or_default();
                let certificate = Certificate::open(files, &host).map_err(unusable)?;
                let config = certificate.config().map_err(|error| unusable(chain(&error)))?;
                renewal = Some(tokio::spawn(certificate.follow(tls::RENEWAL_CHECK)));
                server.listen_rustls_0_23(socket, config)
            }
        };
        let server = server.map_err(cannot)?.run();
        let handle = server.handle();
        Ok(Http { address, door, state, handle, server: tokio::spawn(server), in_flight, renewal })
    }

    async fn stop(&mut self, drain: Duration) {
        self.state.drain();
        sleep(drain).await;
        listener::refuse_new(&self.door);
        sleep(SETTLE).await;
        // Sent when it is made; what is awaited is only the answer.
        let stopped = self.handle.stop(true);
        tokio::select! {
            () = stopped => {}
            // An idle HTTP/2 connection would otherwise hold us for the whole time limit.
            () = idle(&self.in_flight) => {}
        }
        let left = self.in_flight.load(Ordering::Relaxed);
        if left > 0 {
            tracing::warn!(requests = left, "requests did not finish within {} seconds", FINISH.as_secs());
        }
    }

    async fn kill(&mut self) {
        self.handle.stop(false).await;
        let _ = timeout(Duration::from_secs(1), &mut self.server).await;
    }
}

/// Whoever gives a platform up without stopping it, such as a start that was interrupted, leaves nothing running.
impl Drop for Http {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
        if let Some(renewal) = &self.renewal {
            renewal.abort();
        }
    }
}

/// Returns when no request has been in flight for a while.
async fn idle(in_flight: &AtomicUsize) {
    let mut since = Instant::now();
    while since.elapsed() < IDLE {
        sleep(Duration::from_millis(50)).await;
        if in_flight.load(Ordering::Relaxed) > 0 {
            since = Instant::now();
        }
    }
}

/// Middleware: a request is in flight until it is answered or its client goes away.
async fn count(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let counter = request.app_data::<web::Data<AtomicUsize>>().map(|counter| InFlight::enter(counter));
    let answer = next.call(request).await;
    drop(counter);
    answer
}

struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    fn enter(count: &Arc<AtomicUsize>) -> InFlight {
        count.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(count))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
