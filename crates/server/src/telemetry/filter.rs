//! What is recorded at all, and what of it becomes a log line.
//!
//! The two are not the same: a line about a request carries the request's id, which is a field of a span, so spans
//! are there whatever the filter says about lines; and traces go deeper than logs. `tracing` has filters per layer
//! for this, which lose lines after every `enabled!` that some library asks without an event to follow (the answer
//! stays behind in a thread-local and is taken for the next event's). Hence one gate for all layers, and lines
//! that look at their own filter.

use std::str::FromStr;

use tracing::subscriber::Interest;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::Context;

/// Libraries that say more than an operator wants; a filter that names them gets them all the same. `actix_http`
/// calls it an error when a stranger sends what is no HTTP, and ours at that level are faults to be looked at; `rmcp`
/// warns of every request that is refused.
const QUIET: &str = "info,sqlx=warn,sqlx_core=error,actix_server=warn,actix_web=warn,actix_http=off,h2=warn,hyper=warn,\
                     hyper_util=warn,reqwest=warn,rmcp=error,rustls=warn,mio=warn,opentelemetry=warn,opentelemetry_sdk=warn,\
                     opentelemetry-otlp=warn,opentelemetry-http=warn";

/// Our crates: their spans are what traces and log lines are made of.
const OURS: [&str; 6] = ["api", "dealer", "store", "server", "inventory", "contract"];

/// Reads a filter such as `warn,api=debug`.
pub(crate) fn lines(filter: &str) -> Result<Targets, ()> {
    // The library takes nearly anything for the name of a target; a misspelt level must not become one.
    for part in filter.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (target, level) = part.split_once('=').unwrap_or(("any", part));
        let named = target.bytes().all(|b| b.is_ascii_alphanumeric() || b":_-".contains(&b));
        if target.is_empty() || !named || LevelFilter::from_str(level).is_err() {
            return Err(());
        }
    }
    Targets::from_str(&format!("{QUIET},{filter}").replace(' ', "")).map_err(|_| ())
}

/// Lets through what some layer wants.
pub(super) struct Gate {
    lines: Targets,
    traces: bool,
}

impl Gate {
    pub(super) fn new(lines: Targets, traces: bool) -> Gate {
        Gate { lines, traces }
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        if self.lines.would_enable(metadata.target(), metadata.level()) {
            return true;
        }
        let deepest = if self.traces { Level::DEBUG } else { Level::INFO };
        let root = metadata.target().split("::").next().unwrap_or_default();
        metadata.is_span() && *metadata.level() <= deepest && OURS.contains(&root)
    }
}

impl<S: Subscriber> Layer<S> for Gate {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let spans = if self.traces { LevelFilter::DEBUG } else { LevelFilter::INFO };
        let lines = self.lines.iter().map(|(_, level)| level).chain(self.lines.default_level()).max();
        Some(lines.unwrap_or(LevelFilter::OFF).max(spans))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_levels_and_targets() {
        let filter = lines("warn, api=debug,sqlx=info,").unwrap();
        assert!(filter.would_enable("api::observe", &Level::DEBUG));
        assert!(!filter.would_enable("dealer", &Level::INFO));
        assert!(filter.would_enable("sqlx::query", &Level::INFO));
        assert!(!lines("debug").unwrap().would_enable("h2::proto", &Level::DEBUG));
        assert!(!lines("debug").unwrap().would_enable("actix_http::h1::dispatcher", &Level::ERROR));
        assert!(lines("actix_http=debug").unwrap().would_enable("actix_http::h1::dispatcher", &Level::ERROR));
        assert!(lines("api=trace").unwrap().would_enable("dealer", &Level::INFO));
        for bad in ["api=loud", "=", "=info", "loud", "info;debug", "api=info=x"] {
            assert!(lines(bad).is_err(), "{bad}");
        }
    }
}
