//! What a pricing tool says of units that another source has: JSON, one amount for each list of charges.

use serde_json::{Value, json};

use crate::demo::cells::{Unit, word};

/// Where the price of a new unit stands.
pub(crate) const NEW: &str = "pricing.all_in_new";
/// Where the price of a used one stands.
pub(crate) const USED: &str = "pricing.all_in_used";

/// The prices of the lot.
pub(crate) fn file(units: &[Unit]) -> Vec<u8> {
    let vehicles: Vec<Value> = units.iter().map(vehicle).collect();
    let document = json!({"tool": "Plain Pricing", "count": vehicles.len(), "vehicles": vehicles});
    format!("{document:#}\n").into_bytes()
}

fn vehicle(unit: &Unit) -> Value {
    let column = if word(unit, "condition") == "new" { NEW } else { USED };
    let amount = unit.get("price").cloned().unwrap_or_else(|| "Call".into());
    let mut vehicle: Unit = ["vin", "stock", "year", "make", "model", "condition", "mileage"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), unit.get(*name)?.clone())))
        .collect();
    let pricing = column.rsplit('.').next().unwrap_or(column);
    vehicle.insert("pricing".into(), json!({pricing: amount, "currency": "USD"}));
    vehicle.into()
}
