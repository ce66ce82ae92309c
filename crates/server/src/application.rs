//! The platform in one process: it listens, prepares the database, loads the dealers, answers, and stops without
//! cutting anybody off.

use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{ServerHandle, ServiceRequest, fn_service};
use actix_web::{App, Error, HttpServer};
use api::ApiState;
use dealer::{Dealer, DealerSettings, Origin, RequestChecks};
use store::{Database, Store};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::failure::{Failure, chain, io_reason};
use crate::settings::Settings;
use crate::tls::Certificate;
use crate::traffic::{SETTLE, Traffic, count};
use crate::{commands, key_sets, listener, telemetry, tls};

/// How long requests in flight may take to finish.
const FINISH: Duration = Duration::from_secs(30);
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
            commands::load_demo(&store, &settings.addresses(origin.clone())).await?;
        }
        let core = DealerSettings {
            public_origin: origin,
            platform_domain: settings.platform_domain.clone(),
            serve_draft: settings.serve_draft,
            max_age: settings.max_age,
            cache_bytes: settings.cache_bytes,
            poll: POLL,
            request_checks: RequestChecks::Schema,
        };
        let dealer = Dealer::start(store.clone(), core).await.map_err(|error| Failure::new(chain(&error)))?;
        key_sets::follow(&dealer);
        let lots = dealer.warm_up(settings.warm_up).await;
        if lots > 0 {
            tracing::info!(lots, "the lots that are asked most are loaded");
        }
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
        dealer.note_heat().await;
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
    traffic: Arc<Traffic>,
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
        let traffic = Traffic::new();

        let (shared, counter) = (state.clone(), Arc::clone(&traffic));
        let connections = Arc::clone(&traffic);
        let server = HttpServer::new(move || {
            counter.enrol();
            // The worker's own: requests on several processors would wait for each other's counting of handles.
            let own = Rc::new((Arc::clone(&counter), shared.clone()));
            App::new().default_service(fn_service(move |request: ServiceRequest| {
                let own = Rc::clone(&own);
                async move {
                    let (traffic, state) = own.as_ref();
                    Ok::<_, Error>(count(traffic, api::answer(state, request)).await)
                }
            }))
        })
        .on_connect(move |_, data| connections.connected(data))
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
        Ok(Http { address, door, state, handle, server: tokio::spawn(server), traffic, renewal })
    }

    async fn stop(&mut self, drain: Duration) {
        self.state.drain();
        sleep(drain).await;
        let quiet = if listener::refuse_new(&self.door) {
            self.traffic.quiet(&self.door, FINISH).await
        } else {
            // New connections would go on and on.
            sleep(SETTLE).await;
            true
        };
        if !quiet {
            let requests = self.traffic.requests();
            tracing::warn!(requests, "not everything was finished within {} seconds", FINISH.as_secs());
        }
        // Sent when it is made; what is awaited is only the answer.
        let stopped = self.handle.stop(quiet);
        tokio::select! {
            () = stopped => {}
            // An idle HTTP/2 connection would otherwise hold us for the whole time limit.
            () = self.traffic.idle() => {}
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
