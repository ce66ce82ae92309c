//! Signals to stop.

use std::io::Write;
use std::time::Duration;

use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use crate::failure::{Failure, INTERRUPTED, io_reason};

/// Who asked us to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A person, with Ctrl-C.
    Interrupt,
    /// A service manager.
    Terminate,
}

impl Signal {
    /// How long to go on accepting so that load balancers notice: a person at a terminal waits for nobody.
    pub(crate) fn drain(self) -> Duration {
        match self {
            Signal::Interrupt => Duration::ZERO,
            Signal::Terminate => Duration::from_secs(2),
        }
    }
}

/// The signals of this process, from [`Signals::listen`] on no longer deadly.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Stream,
    terminate: Stream,
}

impl Signals {
    /// Takes the signals over. Called within the runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn listen() -> Result<Signals, Failure> {
        let take = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(format!("signals cannot be received ({})", io_reason(&error))))
        };
        Ok(Signals { interrupt: take(SignalKind::interrupt())?, terminate: take(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }

    /// From now on Ctrl-C ends the process at once: for whoever does not want to wait for the orderly end. The
    /// private PostgreSQL notices that we are gone and stops by itself.
    pub(crate) fn hurry_on_interrupt(mut self) {
        tokio::spawn(async move {
            if self.interrupt.recv().await.is_some() {
                let _ = writeln!(std::io::stderr(), "forecourt: stopped at once");
                std::process::exit(i32::from(INTERRUPTED));
            }
        });
    }
}
