//! Dealers that share every id and differ in everything else.

use serde_json::{Value, json};

/// How many are active; further ones are hidden.
pub(super) const ACTIVE: usize = 4;
/// Suspended, and removed.
pub(super) const HIDDEN: [(usize, &str); 2] = [(4, "suspended"), (5, "removed")];
/// Identifiers that all lots draw from.
pub(super) const UNITS: usize = 60;
/// A dealer whose card demands the slug of another as `params.tenant`.
pub(super) const MISNAMED: usize = 2;
/// A dealer whose card demands a word, and whose `dealer_id` is its own.
pub(super) const GATED: usize = 3;

/// What every text of a dealer holds, its slug included, and no text of another.
pub(super) fn mark(dealer: usize) -> String {
    format!("zx{dealer}zx")
}

/// A domain of the dealer's own.
pub(super) fn domain(dealer: usize) -> String {
    format!("agent.{}-motors.example", mark(dealer))
}

/// What requests must send as `params.tenant` at the dealer's own address.
pub(super) fn interface_tenant(dealer: usize) -> Option<String> {
    match dealer {
        MISNAMED => Some(mark(0)),
        GATED => Some("gate".into()),
        _ => None,
    }
}

pub(super) fn dealer_id(dealer: usize) -> &'static str {
    if dealer == GATED { "own-id" } else { "shared-id" }
}

/// What a dealer has of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Offered,
    Sold,
    Unknown,
}

pub(super) fn standing(dealer: usize, unit: usize) -> Standing {
    match (unit + dealer) % 5 {
        0..=2 => Standing::Offered,
        3 => Standing::Sold,
        _ => Standing::Unknown,
    }
}

pub(super) fn offered(dealer: usize) -> usize {
    (0..UNITS).filter(|unit| standing(dealer, *unit) == Standing::Offered).count()
}

/// A price tells whose it is.
pub(super) fn price(dealer: usize, unit: usize) -> i64 {
    i64::try_from(8 * (1000 + 7 * unit) + dealer).unwrap()
}

pub(super) fn is_price_of(dealer: usize, price: i64) -> bool {
    price % 8 == i64::try_from(dealer).unwrap()
}

pub(super) fn vin(unit: usize) -> String {
    format!("1HGCM826{unit:09}")
}

/// The document of a dealer; `mileage` is what changes from version to version.
pub(super) fn document(dealer: usize, mileage: usize) -> Value {
    let mark = mark(dealer);
    let with = |what: &str| format!("{what} {mark}");
    let id = |unit: usize| json!({"vehicle_id": format!("u-{unit}"), "vin": vin(unit), "stock": format!("S-{unit}")});
    let mut inventory = Vec::new();
    let mut sold = Vec::new();
    for unit in 0..UNITS {
        let mut vehicle = id(unit);
        match standing(dealer, unit) {
            Standing::Unknown => {}
            Standing::Sold => sold.push(vehicle),
            Standing::Offered => {
                let more = json!({
                    "status": "available", "condition": "used", "rooftop": with("Rooftop"), "year": 2020,
                    "make": with("Make"), "model": with("Model"), "trim": with("Trim"), "body": with("Body"),
                    "exterior_color": with("Color"), "features": [with("Feature")], "description": with("Words"),
                    "notes": with("Note"), "vdp_url": format!("https://{}/{unit}", domain(dealer)),
                    "price": price(dealer, unit), "mileage": mileage, "updated_at": "2026-11-01T08:00:00Z",
                });
                vehicle.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                inventory.push(vehicle);
            }
        }
    }
    let state = HIDDEN.iter().find(|(hidden, _)| *hidden == dealer).map_or("active", |(_, state)| state);
    json!({
        "dealer_id": dealer_id(dealer), "name": with("Dealer"), "welcome_message": with("Welcome to"),
        "state": state, "interface_tenant": interface_tenant(dealer), "domains": [domain(dealer)],
        "rooftops": [{"name": with("Rooftop"), "notes": with("At"), "address": {"city": with("City")}}],
        "inventory": inventory, "sold": sold,
    })
}

/// All of them.
pub(super) fn documents() -> Value {
    (0..ACTIVE + HIDDEN.len()).map(|dealer| (mark(dealer), document(dealer, 100))).collect()
}
