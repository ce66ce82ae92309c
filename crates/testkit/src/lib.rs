//! A running platform for tests: real PostgreSQL, real HTTP.
//!
//! [`Platform::start`] runs the server inside the test process on a database of its own; [`Process`] runs the
//! binary as an operator would, to be killed at will. One PostgreSQL serves a whole test binary.

mod cluster;
mod json_rpc;
mod platform;
mod process;
mod verdict;
mod wire;

pub use cluster::{Cluster, OwnServer, cluster, superuser, try_superuser};
pub use json_rpc::{Asking, EXTENSION, data_of, request_body};
pub use platform::{Options, Platform};
pub use process::{Process, binary, scratch};
pub use verdict::{aap_error, check_answer, check_bytes};
pub use wire::{Reply, Wire};

use serde_json::{Value, json};

/// A dealer as `forecourt provision` takes it: one rooftop, everything offered, the given stock.
pub fn dealer_document(name: &str, inventory: Value) -> Value {
    json!({
        "dealer_id": name.to_lowercase().replace(' ', "-"),
        "name": name,
        "rooftops": [{
            "name": format!("{name} Main"),
            "address": {"city": "Harbor City", "state": "CA"},
            "timezone": "America/Los_Angeles",
        }],
        "inventory": inventory,
    })
}

/// A car with a plausible minimum of members.
pub fn car(id: &str, make: &str, model: &str, price: i64) -> Value {
    json!({
        "vehicle_id": id, "stock": format!("S-{id}"), "status": "available", "condition": "used",
        "year": 2023, "make": make, "model": model, "price": price, "mileage": 12000,
        "updated_at": "2026-11-01T08:00:00Z",
    })
}

/// How many cases a randomised test runs: `cases`, times the environment's `FORECOURT_SOAK`.
pub fn soak(cases: usize) -> usize {
    let factor = std::env::var("FORECOURT_SOAK").ok().and_then(|text| text.parse::<usize>().ok());
    cases * factor.unwrap_or(1).max(1)
}
