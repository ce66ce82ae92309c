//! Typed requests, read from payloads that the request schema has already accepted.

mod lead;
mod search;

use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use crate::listing::integral;

pub use lead::{
    AppointmentRequest, AppointmentType, ConsentGrant, ContactChannel, Customer, LeadSubmitRequest,
    PreferredContact, SourceAgent, WantedVehicle, instant,
};
pub use search::{Filters, InventorySearchRequest, Pagination, Sort, SortField, SortOrder, VehicleRequest};

/// Reads any whole number the schema accepts, `20.0` and `1e30` included; too large ones saturate.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    Ok(number.and_then(|n| integral(&Value::Number(n))))
}
