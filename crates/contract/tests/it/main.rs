//! What the contract promises to the rest of the platform: its schemas, and what is said about a payload that
//! breaks them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod dialect;
mod error_page;
mod listings;
mod mutate;
mod payloads;
mod schemas;
mod upstream;
mod violations;

use std::sync::LazyLock;

use contract::{Contract, ContractVersion};
use serde_json::Value;

static V3_0: LazyLock<Contract> = LazyLock::new(|| Contract::load(ContractVersion::V3_0).unwrap());
static OLDER: LazyLock<[Contract; 2]> = LazyLock::new(|| {
    [ContractVersion::V1_3, ContractVersion::Latest].map(|version| Contract::load(version).unwrap())
});

/// The compiled schemas of a version.
fn contract_of(version: ContractVersion) -> &'static Contract {
    OLDER.iter().find(|contract| contract.spec().version == version).unwrap_or(&V3_0)
}

/// `(location, keyword)` of everything that is wrong, in the order of the answer.
fn problems(schema: &str, payload: &Value) -> Vec<(String, String)> {
    match V3_0.check(schema, payload) {
        Ok(()) => Vec::new(),
        Err(found) => found.into_iter().map(|v| (v.location, v.keyword.into_owned())).collect(),
    }
}

#[track_caller]
fn assert_problems(schema: &str, payload: &Value, expected: &[(&str, &str)]) {
    let found = problems(schema, payload);
    let found: Vec<(&str, &str)> =
        found.iter().map(|(at, keyword)| (at.as_str(), keyword.as_str())).collect();
    assert_eq!(found, expected, "{schema}: {payload}");
}
