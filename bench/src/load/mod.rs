//! The load generator: one thread, a number of connections that are kept open, each with one request on its way.
//!
//! Requests are bytes made before; of answers no more is read than what tells whether they are good.

mod connection;
mod histogram;
mod response;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use mio::{Events, Interest, Poll, Token};

pub(crate) use connection::{Answer, Line};
pub(crate) use histogram::Histogram;
pub(crate) use response::Good;

use connection::Connection;
use response::Verdict;

/// What is asked, of whom, and how long.
pub(crate) struct Load<'r> {
    pub(crate) server: SocketAddr,
    /// Sent in turn; each connection begins at another place.
    pub(crate) requests: &'r [Vec<u8>],
    pub(crate) connections: usize,
    pub(crate) duration: Duration,
    /// What a good answer is.
    pub(crate) good: Good,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// Good answers.
    pub(crate) answers: u64,
    /// From the first request to the last answer.
    pub(crate) took: Duration,
    /// From a request to its answer.
    pub(crate) latency: Histogram,
}

impl Loaded {
    /// Answers a second.
    pub(crate) fn rate(&self) -> f64 {
        self.answers as f64 / self.took.as_secs_f64().max(1e-9)
    }
}

/// How long a server may be silent before the run is given up.
const SILENCE: Duration = Duration::from_secs(20);

/// Applies the load.
///
/// # Errors
/// The server cannot be reached, or any answer is not good: figures of a server that fails mean nothing.
pub(crate) fn run(load: &Load<'_>) -> Result<Loaded> {
    ensure!(!load.requests.is_empty() && load.connections > 0, "there is nothing to ask");
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(load.connections.max(64));
    let mut connections = Vec::with_capacity(load.connections);
    for number in 0..load.connections {
        let mut connection =
            Connection::open(load.server).with_context(|| format!("nobody answers at {}", load.server))?;
        poll.registry().register(
            connection.socket(),
            Token(number),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        // Far apart, so that connections do not ask the same at the same time.
        connection.next = number * load.requests.len() / load.connections;
        connections.push(connection);
    }
    let mut loaded = Loaded { answers: 0, took: Duration::ZERO, latency: Histogram::default() };
    let began = Instant::now();
    let end = began + load.duration;
    for connection in &mut connections {
        connection.send(load.requests, Instant::now())?;
    }
    let mut now = began;
    while now < end {
        poll.poll(&mut events, Some(SILENCE)).or_else(interrupted)?;
        ensure!(!events.is_empty() || Instant::now() < now + SILENCE, "the server fell silent");
        for event in &events {
            let Some(connection) = connections.get_mut(event.token().0) else { continue };
            if event.is_writable() {
                connection.go_on_sending(load.requests)?;
            }
            if !event.is_readable() {
                continue;
            }
            match connection.receive(&load.good)? {
                Verdict::Incomplete => continue,
                Verdict::Good => {}
                Verdict::Bad(what) => bail!("the server at {} answered {what}", load.server),
            }
            now = Instant::now();
            loaded.latency.record(now.duration_since(connection.asked_at));
            loaded.answers += 1;
            connection.send(load.requests, now)?;
        }
        if events.is_empty() {
            now = Instant::now();
        }
    }
    loaded.took = now.duration_since(began);
    Ok(loaded)
}

fn interrupted(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
