//! What a worker counts. Read from `/metrics` of the process that it runs in.

use std::time::Duration;

use opentelemetry::metrics::{Counter, Gauge, Histogram};
use opentelemetry::{KeyValue, global};
use store::JobCounts;

/// Instruments of a worker.
#[derive(Debug)]
pub(crate) struct Meters {
    jobs: Counter<u64>,
    seconds: Histogram<f64>,
    queue: Gauge<u64>,
    oldest: Gauge<u64>,
    fetches: Counter<u64>,
    fetched: Counter<u64>,
    dropped: Counter<u64>,
    silent: Gauge<u64>,
}

impl Meters {
    pub(crate) fn new() -> Meters {
        let meter = global::meter("forecourt");
        let counter = |name, about| meter.u64_counter(name).with_description(about).build();
        Meters {
            jobs: counter("jobs.attempts", "Tries of jobs, by kind and outcome"),
            seconds: meter
                .f64_histogram("jobs.duration")
                .with_description("How long tries of jobs took")
                .with_unit("s")
                .with_boundaries(vec![0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0])
                .build(),
            queue: meter.u64_gauge("jobs.queue").with_description("Jobs on the queue, by state").build(),
            oldest: meter
                .u64_gauge("jobs.queue.oldest.seconds")
                .with_description("For how long the oldest job that could run has been waiting")
                .build(),
            fetches: counter("feeds.fetches", "Fetches of feeds, by outcome"),
            fetched: counter("feeds.fetched.bytes", "Bytes of feeds that were fetched"),
            silent: meter
                .u64_gauge("feeds.silent")
                .with_description("Sources that have sent nothing good for too long")
                .build(),
            dropped: counter("feeds.dropped_files", "Files found in drop folders, by outcome"),
        }
    }

    pub(crate) fn job(&self, kind: &'static str, outcome: &'static str, took: Duration) {
        let labels = [KeyValue::new("kind", kind), KeyValue::new("outcome", outcome)];
        self.jobs.add(1, &labels);
        self.seconds.record(took.as_secs_f64(), &labels);
    }

    pub(crate) fn queue(&self, counts: &JobCounts, now: chrono::DateTime<chrono::Utc>) {
        for (state, number) in [
            ("ready", counts.ready),
            ("running", counts.running),
            ("later", counts.later),
            ("failed", counts.failed),
        ] {
            self.queue.record(number, &[KeyValue::new("state", state)]);
        }
        let waiting = counts.ready_since.and_then(|since| (now - since).to_std().ok());
        self.oldest.record(waiting.unwrap_or_default().as_secs(), &[]);
    }

    pub(crate) fn fetch(&self, outcome: &'static str, bytes: u64) {
        self.fetches.add(1, &[KeyValue::new("outcome", outcome)]);
        self.fetched.add(bytes, &[]);
    }

    pub(crate) fn silent(&self, sources: u64) {
        self.silent.record(sources, &[]);
    }

    pub(crate) fn dropped(&self, outcome: &'static str) {
        self.dropped.add(1, &[KeyValue::new("outcome", outcome)]);
    }
}
