//! What the process tells about itself: log lines on standard error, traces over OTLP, metrics for Prometheus.

mod lines;
mod metrics;
mod traces;

use std::io::IsTerminal;

use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{EnvFilter, FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::failure::Failure;
use crate::settings::{LogFormat, LogSettings};

pub use metrics::metrics;

/// Libraries that say more than an operator wants; a filter that names them explicitly still gets them.
const QUIET: &str = "sqlx=warn,actix_server=warn,actix_web=warn,actix_http=warn,h2=warn,hyper=warn,hyper_util=warn,\
                     reqwest=warn,rustls=warn,mio=warn,opentelemetry=warn,opentelemetry_sdk=warn,\
                     opentelemetry-otlp=warn,opentelemetry-http=warn";

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
        let lines = if json { lines::json() } else { lines::pretty(colours) };
        let filter = EnvFilter::builder()
            .with_default_directive(LevelFilter::INFO.into())
            .parse(format!("{QUIET},{}", log.filter))
            .map_err(|_| Failure::new("the log filter cannot be used"))?;
        // A line about a request carries the request's id, which is a field of a span. So the spans are there
        // whatever the filter says about lines.
        let filter = filter.or(filter_fn(is_our_span).with_max_level_hint(LevelFilter::INFO));
        let subscriber = Registry::default()
            .with(lines.with_filter(filter))
            .with(traces.as_ref().map(|provider| traces::layer(provider).with_filter(traces::filter())));
        // Taken already in tests that run several platforms in one process: the first one's stays.
        if subscriber.try_init().is_ok() {
            log_panics();
        }
        Ok(Telemetry { traces })
    }

    /// Sends the traces that are still waiting. Takes a few seconds at most if the collector does not answer.
    pub fn shutdown(self) {
        if let Some(provider) = self.traces {
            // Nobody is left to be told; the exporter logs its own failures.
            let _ = provider.shutdown_with_timeout(std::time::Duration::from_secs(5));
        }
    }
}

fn is_our_span(metadata: &Metadata<'_>) -> bool {
    const OURS: [&str; 4] = ["api", "dealer", "store", "server"];
    let root = metadata.target().split("::").next().unwrap_or_default();
    metadata.is_span() && *metadata.level() <= Level::INFO && OURS.contains(&root)
}

/// A panic becomes a log line like any other, so that log collectors see it and nothing else is printed.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("(no message)");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.location = place, "the program hit an unforeseen state: {text}");
    }));
}
