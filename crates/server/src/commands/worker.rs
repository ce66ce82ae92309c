//! `forecourt worker`: works on feeds, until a signal ends it; and the same inside of `forecourt up`.

use std::time::Duration;

use store::{Database, Store};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use worker::Worker;

use crate::commands::{connect_with, ready_database, runtime};
use crate::database::{Place, Purpose};
use crate::failure::Failure;
use crate::settings::{Settings, unknown_variables};
use crate::signals::Signals;
use crate::telemetry::{self, Telemetry};

/// How long jobs that run may go on after a signal; then they are given back, and nothing is lost.
const DRAIN: Duration = Duration::from_secs(20);

/// Works until a signal; returns when everything has ended in order.
///
/// # Errors
/// The worker could not be started.
pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    let telemetry = Telemetry::start(&settings.log)?;
    for name in unknown_variables() {
        tracing::warn!("the variable {name} means nothing here; is it misspelt?");
    }
    // The registry comes before the instruments that report to it.
    drop(telemetry::metrics());
    let place = Place::open(settings, Purpose::Work { command: "forecourt worker" })?;
    let outcome = runtime().and_then(|runtime| {
        let outcome = runtime.block_on(until_signal(settings, &place.database()));
        runtime.shutdown_timeout(Duration::from_secs(5));
        outcome
    });
    place.close();
    telemetry.shutdown();
    outcome
}

async fn until_signal(settings: &Settings, database: &Database) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    ready_database(database, false).await?;
    let working = Working::start(settings, database).await?;
    tracing::info!("ready");
    let signal = signals.next().await;
    tracing::info!("{signal:?}: stopping; jobs that run may end first");
    signals.hurry_on_interrupt();
    working.stop().await;
    Ok(())
}

/// A worker that works.
#[derive(Debug)]
pub(crate) struct Working {
    store: Store,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Working {
    /// Starts one, with connections of its own: requests must not wait for imports.
    ///
    /// # Errors
    /// The database, the master key or a folder cannot be used.
    pub(crate) async fn start(settings: &Settings, database: &Database) -> Result<Working, Failure> {
        let told = settings.worker_settings(DRAIN)?;
        let most = u32::try_from(2 * told.slots + told.fetches + 6).unwrap_or(u32::MAX);
        let store = connect_with(database, most).await?;
        let (stop, stopped) = oneshot::channel::<()>();
        let working = store.clone();
        let task = tokio::spawn(async move {
            Worker::run(working, told, async { drop(stopped.await) }).await;
        });
        Ok(Working { store, stop, task })
    }

    /// Stops it in order.
    pub(crate) async fn stop(self) {
        let Working { store, stop, task } = self;
        let _ = stop.send(());
        if let Err(error) = task.await {
            tracing::error!(%error, "the worker has failed");
        }
        let _ = tokio::time::timeout(Duration::from_secs(5), store.close()).await;
    }
}
