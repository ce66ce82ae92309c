//! What a photo studio says of units that another source has: pictures, words and equipment, one JSON object a line.

use serde_json::{Value, json};

use super::dms::STORE;
use crate::demo::cells::{Unit, comments, equipment, list};

/// Pictures and words of the lot.
pub(crate) fn file(units: &[Unit]) -> Vec<u8> {
    let lines = units.iter().map(|unit| format!("{}\n", vehicle(unit)));
    lines.collect::<String>().into_bytes()
}

fn vehicle(unit: &Unit) -> Value {
    let mut vehicle: Unit = ["vin", "stock", "year", "make", "model", "condition", "mileage"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), unit.get(*name)?.clone())))
        .collect();
    let photos: Vec<Value> = list(unit, "photos")
        .iter()
        .enumerate()
        .map(|(order, url)| json!({"url": url, "order": order}))
        .collect();
    vehicle.insert("location".into(), STORE.0.into());
    vehicle.insert("photos".into(), photos.into());
    vehicle.insert("features".into(), equipment(unit).into());
    let text = comments(unit);
    if !text.is_empty() {
        vehicle.insert("description".into(), text.into());
    }
    if let Some(page) = unit.get("vdp_url") {
        vehicle.insert("url".into(), page.clone());
    }
    vehicle.into()
}
