//! For the fuzz targets alone: what would be published of a unit, without a dealer, a database or a run.

use chrono::{DateTime, Utc};
use feeds::Unit;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::document::{Outcome, Rendering, Said, render};
use super::settings::{Rooftops, SourceSettings};

/// The vehicle that the unit becomes where one source has it, nobody edited it and it is new to the dealer; none where
/// no contract allows it.
pub fn vehicle(unit: &Unit, settings: &SourceSettings, now: DateTime<Utc>) -> Option<Map<String, Value>> {
    let rooftops = Rooftops::default();
    let (source, run) = (Uuid::nil(), Uuid::nil());
    let said = [Said { source, name: "feed", settings, run, unit }];
    let vehicle_id = match (&unit.vin, &unit.stock) {
        (Some(vin), _) => format!("vin-{vin}"),
        (None, stock) => format!("stock-{}", stock.as_deref().unwrap_or_default()),
    };
    let with = Rendering { rooftops: &rooftops, now, said_at: now };
    match render(&vehicle_id, &said, &[], None, with).outcome {
        Outcome::Offered(vehicle) => Some(vehicle),
        Outcome::Off(_) | Outcome::Refused => None,
    }
}
