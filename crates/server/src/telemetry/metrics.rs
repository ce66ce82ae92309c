//! Metrics: measured through OpenTelemetry's API, read by Prometheus from `/metrics`.

use std::sync::OnceLock;

use opentelemetry::global;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::Registry;

/// The registry behind `/metrics`. The first call installs the process's meter provider, so it comes before any
/// instrument is made; later calls answer the same registry.
pub fn metrics() -> Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(install).clone()
}

fn install() -> Registry {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .scope_info_enabled(false)
        .build();
    match exporter {
        Ok(exporter) => {
            let provider = SdkMeterProvider::builder()
                .with_reader(exporter)
                .with_resource(super::traces::resource())
                .build();
            global::set_meter_provider(provider);
        }
        // A fresh registry refuses nothing; if it did, the platform would run without metrics and say so.
        Err(error) => tracing::error!("metrics cannot be collected: {error}"),
    }
    registry
}
