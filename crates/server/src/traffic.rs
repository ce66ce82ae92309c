//! What the process has in hand: connections, requests, and whether more is on its way. The end waits for all of it.
//!
//! The HTTP server stops by closing every connection on which no request runs at that moment. A connection that was
//! accepted, but whose request has not been read yet, would be cut by that; so it is asked to stop only when nothing
//! of the kind can be left.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use actix_web::dev::{Extensions, ServiceResponse};
use actix_web::http::{ConnectionType, Version};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::listener;

/// So long nothing may begin before an empty house is taken for empty.
pub(crate) const SETTLE: Duration = Duration::from_millis(200);
/// So long nothing may begin before the connections that are left are taken for idle ones.
const IDLE: Duration = Duration::from_secs(1);
/// How often all that is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// So many looks in a row must have found nothing, however long each of them took on a busy machine.
const LOOKS: u32 = 5;

/// Counts of the moment.
#[derive(Debug)]
pub(crate) struct Traffic {
    connections: AtomicUsize,
    /// Connections that end as soon as their last answer is sent.
    leaving: AtomicUsize,
    requests: AtomicUsize,
    /// Connections and requests that ever began.
    begun: AtomicUsize,
    call: watch::Sender<()>,
    present: AtomicUsize,
}

impl Traffic {
    pub(crate) fn new() -> Arc<Traffic> {
        let zero = AtomicUsize::default;
        let call = watch::Sender::new(());
        let traffic = Traffic {
            connections: zero(),
            leaving: zero(),
            requests: zero(),
            begun: zero(),
            call,
            present: zero(),
        };
        Arc::new(traffic)
    }

    /// Requests that are not answered yet.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Relaxed)
    }

    /// Counts a connection for as long as its data lives: for `HttpServer::on_connect`.
    pub(crate) fn connected(self: &Arc<Traffic>, data: &mut Extensions) {
        self.begun.fetch_add(1, Relaxed);
        self.connections.fetch_add(1, Relaxed);
        data.insert(Connection { traffic: Arc::clone(self), leaving: AtomicBool::new(false) });
    }

    /// Lets the calling worker answer to its name. A worker takes what waits for it in turn, so when it answers, it
    /// has begun every connection that it had been given before it was called.
    pub(crate) fn enrol(self: &Arc<Traffic>) {
        let (traffic, mut call) = (Arc::clone(self), self.call.subscribe());
        actix_web::rt::spawn(async move {
            while call.changed().await.is_ok() {
                traffic.present.fetch_add(1, Relaxed);
            }
        });
    }

    /// Returns when every worker has answered, or at that time.
    async fn call_workers(&self, until: Instant) {
        self.present.store(0, Relaxed);
        self.call.send_replace(());
        while self.present.load(Relaxed) < self.call.receiver_count() && Instant::now() < until {
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until everything that had reached us is answered. `true` when it is, `false` when `limit` has passed.
    /// The door must be closed to new connections before.
    pub(crate) async fn quiet(&self, door: &TcpListener, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let (mut since, mut looks, mut begun) = (Instant::now(), 0, self.begun.load(Relaxed));
        while Instant::now() < until {
            sleep(LOOK).await;
            let waiting = listener::waiting(door);
            self.call_workers(until).await;
            let now = self.begun.load(Relaxed);
            let busy = waiting > 0 || now != begun || self.requests() > 0 || self.leaving.load(Relaxed) > 0;
            if busy {
                (since, looks, begun) = (Instant::now(), 0, now);
                continue;
            }
            looks += 1;
            let enough = if self.connections.load(Relaxed) == 0 { SETTLE } else { IDLE };
            if looks >= LOOKS && since.elapsed() >= enough {
                return true;
            }
        }
        false
    }

    /// Returns when no request has been in hand for a while.
    pub(crate) async fn idle(&self) {
        let mut since = Instant::now();
        while since.elapsed() < IDLE {
            sleep(LOOK).await;
            if self.requests() > 0 {
                since = Instant::now();
            }
        }
    }
}

/// A connection, counted until it is dropped.
struct Connection {
    traffic: Arc<Traffic>,
    leaving: AtomicBool,
}

impl Connection {
    fn leaves(&self) {
        if !self.leaving.swap(true, Relaxed) {
            self.traffic.leaving.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.leaving.load(Relaxed) {
            self.traffic.leaving.fetch_sub(1, Relaxed);
        }
        self.traffic.connections.fetch_sub(1, Relaxed);
    }
}

/// A request, counted until it is answered or its client goes away.
struct Request<'a>(&'a Traffic);

impl Request<'_> {
    fn begin(traffic: &Traffic) -> Request<'_> {
        traffic.begun.fetch_add(1, Relaxed);
        traffic.requests.fetch_add(1, Relaxed);
        Request(traffic)
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Relaxed);
    }
}

/// Counts a request while it is answered; `answering` is all that decides whether its connection ends.
pub(crate) async fn count(
    traffic: &Traffic,
    answering: impl Future<Output = ServiceResponse>,
) -> ServiceResponse {
    let counted = Request::begin(traffic);
    let answer = answering.await;
    // Over HTTP/2 the header means nothing, and the connection goes on.
    let last = answer.response().head().connection_type() == ConnectionType::Close
        && answer.request().version() < Version::HTTP_2;
    if let (true, Some(connection)) = (last, answer.request().conn_data::<Connection>()) {
        connection.leaves();
    }
    drop(counted);
    answer
}
