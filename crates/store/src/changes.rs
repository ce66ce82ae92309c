//! Hearing of what other processes committed, through `LISTEN`.

use std::time::Duration;

use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::Error;
use crate::ids::TenantId;

const TENANT: &str = "forecourt_tenant";
const INVENTORY: &str = "forecourt_inventory";
pub(crate) const JOBS: &str = "forecourt_jobs";

/// How long silence is believed. Then the connection is asked whether it is still there: a broken network path
/// gives no sign by itself.
const SILENCE: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Something that was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A tenant's row, rooftops, domains or cards.
    Tenant(TenantId),
    /// A tenant's lot, which now has this version.
    Inventory(TenantId, u64),
    /// Listening begins or begins again: anything may have changed before, so read all versions now.
    Reconnected,
}

/// The stream of changes, on a connection of its own. It outlives the loss of the database.
#[derive(Debug)]
pub struct Changes {
    heard: mpsc::Receiver<Change>,
    task: JoinHandle<()>,
}

impl Changes {
    pub(crate) fn start(options: PgConnectOptions) -> Changes {
        // Small: a slow reader is served by PostgreSQL's own queue.
        let (sender, heard) = mpsc::channel(256);
        let wanted = Wanted { channels: &[TENANT, INVENTORY], first: Change::Reconnected, parse };
        Changes { heard, task: tokio::spawn(listen(options, wanted, sender)) }
    }

    /// Waits for the next change. The first is [`Change::Reconnected`]. May be cancelled at any time.
    ///
    /// # Errors
    /// Only when the process is shutting down; a lost database is waited for.
    pub async fn next(&mut self) -> Result<Change, Error> {
        self.heard.recv().await.ok_or_else(|| Error::from(sqlx::Error::WorkerCrashed))
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Tells that there may be a new job, on a connection of its own. It outlives the loss of the database.
#[derive(Debug)]
pub struct JobCalls {
    heard: mpsc::Receiver<()>,
    task: JoinHandle<()>,
}

impl JobCalls {
    pub(crate) fn start(options: PgConnectOptions) -> JobCalls {
        // Of calls that nobody has heard yet one is as good as many, but all must be taken off the connection.
        let (sender, heard) = mpsc::channel(256);
        let wanted =
            Wanted { channels: &[JOBS], first: (), parse: |channel, _| (channel == JOBS).then_some(()) };
        JobCalls { heard, task: tokio::spawn(listen(options, wanted, sender)) }
    }

    /// Waits until a job may have been added, also by the loss of calls while the database was away. Look for jobs from
    /// time to time as well: those that are due later, or were given back by a process that died, call nobody. May be
    /// cancelled at any time.
    ///
    /// # Errors
    /// Only when the process is shutting down.
    pub async fn next(&mut self) -> Result<(), Error> {
        self.heard.recv().await.ok_or_else(|| Error::from(sqlx::Error::WorkerCrashed))?;
        while self.heard.try_recv().is_ok() {}
        Ok(())
    }
}

impl Drop for JobCalls {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is listened for.
#[derive(Clone, Copy)]
struct Wanted<T> {
    channels: &'static [&'static str],
    /// What is heard when listening begins or begins again.
    first: T,
    /// What a notice on a channel means.
    parse: fn(&str, &str) -> Option<T>,
}

async fn listen<T: Copy>(options: PgConnectOptions, wanted: Wanted<T>, sender: mpsc::Sender<T>) {
    let mut failures: u32 = 0;
    loop {
        if failures > 0 {
            // 100 ms, 200 ms … and a different share of it in each process, so that they do not come back at once.
            let pause = Duration::from_millis(100 << failures.min(6)).min(LONGEST_PAUSE);
            tokio::time::sleep(pause.mul_f64(rand::random_range(0.5..1.0))).await;
        }
        match timeout(Duration::from_secs(10), connect(&options, wanted.channels)).await {
            Ok(Ok(listener)) => {
                if failures > 0 {
                    tracing::info!("listening for changes again");
                }
                failures = 0;
                if sender.send(wanted.first).await.is_err() {
                    return;
                }
                if !follow(listener, wanted.parse, &sender).await {
                    return;
                }
                tracing::warn!("the connection that listens for changes was lost; reconnecting");
            }
            Ok(Err(error)) if failures == 0 => {
                tracing::warn!(error = %Error::from(error), "cannot listen for changes; trying again");
            }
            Err(_) if failures == 0 => tracing::warn!("connecting to listen for changes takes too long"),
            Ok(Err(_)) | Err(_) => {}
        }
        failures = failures.saturating_add(1);
    }
}

async fn connect(
    options: &PgConnectOptions,
    channels: &'static [&'static str],
) -> Result<PgListener, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    // We reconnect ourselves, since the reader must know of it.
    listener.eager_reconnect(false);
    listener.listen_all(channels.iter().copied()).await?;
    Ok(listener)
}

/// Hands on what is heard. `true`: the connection is lost; `false`: nobody reads any more.
async fn follow<T: Copy>(
    mut listener: PgListener,
    parse: fn(&str, &str) -> Option<T>,
    sender: &mpsc::Sender<T>,
) -> bool {
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(Ok(Some(notice))) => match parse(notice.channel(), notice.payload()) {
                Some(change) if sender.send(change).await.is_err() => return false,
                Some(_) => {}
                None => tracing::warn!(channel = notice.channel(), "a notice that is not ours was ignored"),
            },
            Ok(Ok(None) | Err(_)) => return true,
            Err(_) => {
                if sender.is_closed() {
                    return false;
                }
                let alive = async { sqlx::Acquire::acquire(&mut listener).await?.ping().await };
                if !matches!(timeout(ANSWER, alive).await, Ok(Ok(()))) {
                    return true;
                }
            }
        }
    }
}

fn parse(channel: &str, payload: &str) -> Option<Change> {
    match channel {
        TENANT => payload.parse().ok().map(Change::Tenant),
        INVENTORY => {
            let (tenant, version) = payload.split_once(':')?;
            Some(Change::Inventory(tenant.parse().ok()?, version.parse().ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads() {
        let id = TenantId::new();
        assert_eq!(parse(TENANT, &id.to_string()), Some(Change::Tenant(id)));
        assert_eq!(parse(INVENTORY, &format!("{id}:7")), Some(Change::Inventory(id, 7)));
        for (channel, payload) in [(TENANT, "x"), (INVENTORY, "x:1"), (INVENTORY, ""), ("other", "x")] {
            assert_eq!(parse(channel, payload), None);
        }
    }
}
