//! What the process tells about itself: log lines on standard error, traces over OTLP, metrics for Prometheus.

mod filter;
mod lines;
mod metrics;
mod traces;

use std::io::IsTerminal;
use std::time::Duration;

use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;

use crate::failure::Failure;
use crate::settings::{LogFormat, LogSettings};
use filter::Gate;

pub(crate) use filter::lines as line_filter;
pub use metrics::metrics;

/// Telemetry of a running process; [`Telemetry::shutdown`] sends what is still waiting.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts logs and, if the usual `OTEL_*` variables name a collector, traces.
    ///
    /// # Errors
    /// The variables name a collector that cannot be used.
    pub fn start(log: &LogSettings) -> Result<Telemetry, Failure> {
        let traces = traces::provider()?;
        let terminal = std::io::stderr().is_terminal();
        let json = match log.format {
            LogFormat::Json => true,
            LogFormat::Pretty => false,
            LogFormat::Auto => !terminal,
        };
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let filter = line_filter(&log.filter).map_err(|()| Failure::new("the log filter cannot be used"))?;
        let lines = if json { lines::json(filter.clone()) } else { lines::pretty(filter.clone(), colours) };
        let subscriber = Registry::default()
            .with(lines)
            .with(traces.as_ref().map(traces::layer))
            .with(Gate::new(filter, traces.is_some()));
        // Set already in tests that run several platforms in one process: the first one's stays.
        if tracing::subscriber::set_global_default(subscriber).is_ok() {
            log_panics();
        }
        Ok(Telemetry { traces })
    }

    /// Sends the traces that are still waiting. Takes a few seconds at most if the collector does not answer.
    pub fn shutdown(self) {
        if let Some(provider) = self.traces {
            // Nobody is left to be told; the exporter logs its own failures.
            let _ = provider.shutdown_with_timeout(Duration::from_secs(5));
        }
    }
}

/// A panic becomes a log line like any other, so that log collectors see it and nothing else is printed.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("(no message)");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.location = place, "the program hit an unforeseen state: {text}");
    }));
}
