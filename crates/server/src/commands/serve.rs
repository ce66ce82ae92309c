//! `forecourt up` and `forecourt serve`: the platform in one process, until a signal ends it.

use std::future::Future;
use std::time::Duration;

use store::Database;
use tracing::Instrument;

use crate::application::{Application, Preparation};
use crate::commands::runtime;
use crate::commands::worker::Working;
use crate::database::{Place, Purpose};
use crate::failure::Failure;
use crate::output::say;
use crate::settings::{Settings, unknown_variables};
use crate::signals::Signals;
use crate::telemetry::Telemetry;
use crate::{banner, listener};

/// Which of the two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Everything: migrations, on request the demo dealers, and an overview when it is ready.
    Up {
        /// Load the demo dealers.
        demo: bool,
        /// Work on feeds, too.
        worker: bool,
    },
    /// Answers requests on a database that is migrated already.
    Serve,
}

impl Kind {
    fn command(self) -> &'static str {
        match self {
            Kind::Up { .. } => "forecourt up",
            Kind::Serve => "forecourt serve",
        }
    }
}

/// Runs until a signal; returns when everything has ended in order.
///
/// # Errors
/// The platform could not be started.
pub(crate) fn run(settings: &Settings, kind: Kind) -> Result<(), Failure> {
    let telemetry = Telemetry::start(&settings.log)?;
    for name in unknown_variables() {
        tracing::warn!("the variable {name} means nothing here; is it misspelt?");
    }
    listener::raise_file_limit();
    // On this thread, which lives as long as the process: a private PostgreSQL ends with the thread it came from.
    let place = Place::open(settings, Purpose::Serve { command: kind.command() })?;
    let outcome = runtime().and_then(|runtime| {
        let outcome = runtime.block_on(until_signal(settings, &place, kind));
        runtime.shutdown_timeout(Duration::from_secs(5));
        outcome
    });
    // Last, for everything else may still have written to it.
    place.close();
    if outcome.is_ok() {
        tracing::info!("stopped");
    }
    telemetry.shutdown();
    outcome
}

async fn until_signal(settings: &Settings, place: &Place, kind: Kind) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    let database = place.database();
    let preparation = match kind {
        Kind::Up { demo, .. } => Preparation { migrate: true, demo },
        Kind::Serve => Preparation::default(),
    };
    let started = start(settings, &database, preparation, kind.command());
    let application = tokio::select! {
        started = started => started?,
        signal = signals.next() => {
            tracing::info!("{signal:?}: stopped before it was ready");
            return Ok(());
        }
    };
    let working = match kind {
        Kind::Up { worker: true, .. } => match Working::start(settings, &database).await {
            Ok(working) => Some(working),
            Err(failure) => {
                application.stop(Duration::ZERO).await;
                return Err(failure);
            }
        },
        _ => None,
    };
    announce(&application, place, kind).await;
    let signal = signals.next().await;
    signals.hurry_on_interrupt();
    let drain = settings.drain.unwrap_or(signal.drain());
    tracing::info!(drain_seconds = drain.as_secs(), "stopping; requests in flight finish first");
    let worker_stopped = async {
        if let Some(working) = working {
            working.stop().await;
        }
    };
    tokio::join!(application.stop(drain), worker_stopped);
    Ok(())
}

/// Boxed, because the future of a start is large and lives beside the signals. One trace, as every command has one.
fn start<'a>(
    settings: &'a Settings,
    database: &'a Database,
    preparation: Preparation,
    command: &'static str,
) -> std::pin::Pin<Box<dyn Future<Output = Result<Application, Failure>> + 'a>> {
    let span = tracing::info_span!("command", command);
    Box::pin(Application::build(settings, database, preparation).instrument(span))
}

async fn announce(application: &Application, place: &Place, kind: Kind) {
    let addresses = application.dealer().addresses();
    tracing::info!(listen = %application.address(), origin = %addresses.origin, "ready");
    if matches!(kind, Kind::Up { .. }) {
        say(banner::ready(application.dealer(), &place.describe()).await);
    }
}
