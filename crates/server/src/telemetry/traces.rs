//! Traces over OTLP/HTTP, switched on by the variables that every OpenTelemetry program understands.

use std::time::Duration;

use opentelemetry::propagation::TextMapCompositePropagator;
use opentelemetry::trace::{Link, SpanKind, TraceContextExt, TraceId, TraceState, TracerProvider};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use opentelemetry_sdk::trace::{
    Sampler, SamplingDecision, SamplingResult, SdkTracerProvider, ShouldSample, Tracer,
};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use crate::failure::{Failure, UNUSABLE, chain};

/// How long one delivery to the collector may take.
const TIMEOUT: Duration = Duration::from_secs(10);

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Who we are in traces and metrics. The name follows `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES`.
pub(super) fn resource() -> Resource {
    let attributes = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let named = variable("OTEL_SERVICE_NAME").is_some()
        || attributes.split(',').any(|pair| pair.trim_start().starts_with("service.name="));
    let builder =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if named { builder.build() } else { builder.with_service_name("forecourt").build() }
}

/// A tracer provider that sends to the collector named by the environment; `None` if it names none.
pub(super) fn provider() -> Result<Option<SdkTracerProvider>, Failure> {
    // Set in any case: a traceparent that comes in is passed on and logged even if nothing is exported.
    global::set_text_map_propagator(TextMapCompositePropagator::new(vec![
        Box::new(TraceContextPropagator::new()),
        Box::new(BaggagePropagator::new()),
    ]));
    let endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
    let Some(name) = endpoints.into_iter().find(|name| variable(name).is_some()) else { return Ok(None) };
    if off {
        return Ok(None);
    }
    let protocols = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
    if let Some(protocol) = protocols.into_iter().find_map(variable).filter(|value| value != "http/protobuf")
    {
        return Err(Failure::new(format!("traces cannot be sent by the protocol `{protocol}`"))
            .advise("set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf and name the collector's HTTP port, usually 4318")
            .status(UNUSABLE));
    }
    let unusable = |reason: String| {
        Failure::new(format!("{name} names no collector that can be used ({reason})"))
            .advise("write it like http://collector:4318, or unset it to run without traces")
            .status(UNUSABLE)
    };
    let client = blocking_client().map_err(unusable)?;
    let exporter = SpanExporter::builder().with_http().with_http_client(client).build();
    let exporter = exporter.map_err(|error| unusable(chain(&error)))?;
    let mut builder = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource());
    if variable("OTEL_TRACES_SAMPLER").is_none() {
        builder = builder.with_sampler(Sampler::ParentBased(Box::new(NoLoneStatements)));
    }
    let provider = builder.build();
    global::set_tracer_provider(provider.clone());
    Ok(Some(provider))
}

/// Every trace but those that would consist of one statement for nobody: the database is asked for changes each
/// second, and such traces would bury all others.
#[derive(Debug, Clone)]
struct NoLoneStatements;

impl ShouldSample for NoLoneStatements {
    fn should_sample(
        &self,
        _parent: Option<&Context>,
        _trace: TraceId,
        _name: &str,
        kind: &SpanKind,
        _attributes: &[KeyValue],
        _links: &[Link],
    ) -> SamplingResult {
        let decision = match kind {
            SpanKind::Client => SamplingDecision::Drop,
            _ => SamplingDecision::RecordAndSample,
        };
        SamplingResult { decision, attributes: Vec::new(), trace_state: TraceState::NONE }
    }
}

/// The SDK exports from a thread of its own without an async runtime, so the client is a blocking one; and such a
/// client must not be made inside a runtime, hence the thread.
fn blocking_client() -> Result<reqwest::blocking::Client, String> {
    let made = std::thread::spawn(|| reqwest::blocking::Client::builder().timeout(TIMEOUT).build()).join();
    match made {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(error)) => Err(chain(&error)),
        Err(_) => Err("no HTTP client could be made".to_owned()),
    }
}

/// Turns spans of `tracing` into spans of the provider.
pub(super) fn layer<S>(provider: &SdkTracerProvider) -> OpenTelemetryLayer<S, Tracer>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_opentelemetry::layer().with_tracer(provider.tracer("forecourt"))
}

/// The trace that a span belongs to, if traces are on.
pub(super) fn trace_id(span: &tracing::span::Id) -> Option<String> {
    let context =
        tracing::dispatcher::get_default(|dispatch| tracing_opentelemetry::get_otel_context(span, dispatch))?;
    let span = context.span();
    let id = span.span_context();
    id.is_valid().then(|| id.trace_id().to_string())
}
