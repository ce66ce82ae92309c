//! The three contract versions beside each other: what differs between them, and what does not.
//!
//! Expectations stand here as the public documents give them (AAP.md 1), not as `ContractSpec` has them. The form
//! of every answer is checked where it is received (`testkit::check_answer`).

mod errors;
mod headers;
mod media;
mod operations;
mod paging;
mod requests;
mod side_by_side;

use contract::ContractVersion::{self, Latest, V1_3, V3_0};
use serde_json::Value;
use testkit::Asking;

use crate::ground::ground;

const ALL: [ContractVersion; 3] = [V1_3, Latest, V3_0];

const URI_V1_3: &str = "https://autoagentprotocol.org/extensions/aap/v1.3";
const URI_LATEST: &str = "https://draft.autoagentprotocol.invalid/extensions/aap/latest";
const URI_V3_0: &str = "https://autoagentprotocol.org/extensions/aap/v3.0";

fn uri(version: ContractVersion) -> &'static str {
    [URI_V1_3, URI_LATEST, URI_V3_0][version as usize]
}

/// A question to `harbor` in one version, with both headers.
async fn ask(version: ContractVersion, data: Value) -> Asking {
    ground().await.ask_in(version, "harbor", data)
}

/// The error's number; 0 for a result.
fn number(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or(0)
}
