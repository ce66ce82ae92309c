//! What buyers ask.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::catalog::{FEATURES, MAKES};
use super::{Dice, Lot};

/// The host that requests name; nobody has it.
pub(crate) const HOST: &str = "forecourt.example";

/// One request to one dealer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) slug: String,
    /// The AAP request.
    pub(crate) data: Value,
    /// As it is sent.
    pub(crate) bytes: Vec<u8>,
}

impl Asked {
    fn new(lot: &Lot, dice: &mut Dice, data: Value) -> Asked {
        let bytes = post(&lot.slug, &data, dice);
        Asked { slug: lot.slug.clone(), data, bytes }
    }
}

/// Searches: three filters taken from a unit of the lot, so that something is found, an order, twenty units a page.
pub(crate) fn search(lot: &Lot, count: u32) -> Vec<Asked> {
    let mut dice = lot.dice(u64::MAX);
    let mut ask = || {
        let data = json!({
            "type": "inventory.search.request", "filters": filters(lot, &mut dice), "sort": sort(&mut dice),
            "pagination": {"limit": 20},
        });
        Asked::new(lot, &mut dice, data)
    };
    (0..count).map(|_| ask()).collect()
}

/// Questions for facets, with the filters of the searches or none.
pub(crate) fn facets(lot: &Lot, filtered: bool, count: u32) -> Vec<Asked> {
    let mut dice = lot.dice(u64::MAX - 1);
    let like = search(lot, count);
    let ask = |search: Asked| {
        let mut data = json!({"type": "inventory.facets.request"});
        if filtered && let Some(members) = data.as_object_mut() {
            members.insert("filters".into(), search.data.get("filters").cloned().unwrap_or_default());
        }
        Asked::new(lot, &mut dice, data)
    };
    like.into_iter().map(ask).collect()
}

/// Questions for one unit each, by its VIN.
pub(crate) fn vehicle(lot: &Lot, count: u32) -> Vec<Asked> {
    let mut dice = lot.dice(u64::MAX - 2);
    let mut ask = || {
        let unit = lot.unit(dice.below(lot.units));
        Asked::new(lot, &mut dice, json!({"type": "inventory.vehicle.request", "vin": unit.vin}))
    };
    (0..count).map(|_| ask()).collect()
}

fn sort(dice: &mut Dice) -> Value {
    let choices =
        [("price", "asc"), ("price", "desc"), ("mileage", "asc"), ("year", "desc"), ("updated_at", "desc")];
    let (field, order) = dice.pick(&choices);
    json!({"field": field, "order": order})
}

/// Three different ones. About one car in seventy satisfies them.
fn filters(lot: &Lot, dice: &mut Dice) -> Map<String, Value> {
    let unit = lot.unit(dice.below(lot.units));
    let mut filters = Map::new();
    // Most requests say which car; the rest narrows it down.
    let first = match dice.below(20) {
        0 => Some(("model", json!([unit.model]))),
        1 | 2 => Some(("make", json!([unit.make]))),
        3..12 => {
            let mut makes = vec![unit.make];
            while makes.len() < 3 {
                let other = dice.pick(&MAKES);
                if !makes.contains(&other) {
                    makes.push(other);
                }
            }
            Some(("make", json!(makes)))
        }
        12..16 => Some(("body", json!([unit.body]))),
        _ => None,
    };
    filters.extend(first.map(|(name, value)| (name.to_owned(), value)));
    while filters.len() < 3 {
        let feature = unit.features.first().copied().unwrap_or(dice.pick(&FEATURES));
        let price = unit.price.unwrap_or(40_000).div_ceil(10_000) * 10_000;
        let (name, value) = match dice.below(10) {
            0 => ("condition", json!([unit.condition])),
            1 => ("fuel", json!([unit.fuel])),
            2 => ("driveline", json!([unit.driveline])),
            3 => ("year_min", json!(unit.year.min(2026))),
            4 | 5 => ("price_max", json!(price)),
            6 => ("mileage_max", json!(unit.mileage.div_ceil(25_000) * 25_000)),
            7 => ("features", json!([feature])),
            8 => ("trim", json!([unit.trim, "Premium", "Limited", "Sport"])),
            _ => (
                "exterior_color",
                json!([unit.exterior, "Jet Black", "Pearl White", "Storm Gray", "Deep Blue"]),
            ),
        };
        filters.insert(name.to_owned(), value);
    }
    filters
}

/// A SendMessage request as a buyer's agent sends it, headers and all.
pub(crate) fn post(slug: &str, data: &Value, dice: &mut Dice) -> Vec<u8> {
    let kind = data.get("type").and_then(Value::as_str).unwrap_or_default();
    let kind = kind.trim_end_matches(".request").replace('.', "-");
    let stem = if kind == "inventory-vehicle" { "vehicle-detail" } else { &kind };
    let id = uuid::Builder::from_random_bytes(
        (u128::from(dice.roll()) << 64 | u128::from(dice.roll())).to_le_bytes(),
    )
    .into_uuid();
    let body = body(stem, data, id).to_string();
    let extension = contract::CONTRACTS
        .iter()
        .find(|spec| spec.version == contract::ContractVersion::V3_0)
        .map_or("", |spec| spec.extension_uri);
    format!(
        "POST /t/{slug}/v3.0/a2a HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: bench\r\nAccept: application/json\r\n\
         Content-Type: application/json\r\nA2A-Version: 1.0\r\nA2A-Extensions: {extension}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn body(stem: &str, data: &Value, id: Uuid) -> Value {
    json!({
        "jsonrpc": "2.0", "id": "req-1", "method": "SendMessage",
        "params": {
            "message": {
                "messageId": id.to_string(), "role": "ROLE_USER",
                "parts": [{"data": data, "mediaType": format!("application/vnd.autoagent.{stem}-request+json")}],
            },
            "configuration": {"acceptedOutputModes": [format!("application/vnd.autoagent.{stem}-response+json")]},
        },
    })
}

/// A GET request with further header lines.
pub(crate) fn get(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut request = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: bench\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::measured;
    use super::*;
    use crate::core::scan::Table;

    #[test]
    fn searches_find_a_seventieth_of_a_lot_in_the_middle_and_always_something() {
        let lot = measured(10_000);
        let table = Table::build(&lot);
        let mut shares: Vec<f64> = Vec::new();
        for asked in search(&lot, 200) {
            assert_eq!(asked.data["filters"].as_object().unwrap().len(), 3);
            let found = table.search(&asked.data, 20).total;
            assert!(found > 0, "{}", asked.data);
            shares.push(100.0 * found as f64 / 10_000.0);
        }
        shares.sort_by(f64::total_cmp);
        let mean = shares.iter().sum::<f64>() / 200.0;
        assert!((1.0..2.2).contains(&shares[100]), "the median request finds {} %", shares[100]);
        assert!((2.5..5.0).contains(&mean), "requests find {mean} % on average");
    }

    #[test]
    fn requests_are_the_same_in_every_run_and_whole() {
        let lot = measured(300);
        assert_eq!(search(&lot, 5), search(&lot, 5));
        for asked in search(&lot, 5).into_iter().chain(facets(&lot, true, 5)).chain(vehicle(&lot, 5)) {
            let text = String::from_utf8(asked.bytes).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
            assert_eq!(serde_json::from_str::<Value>(body).unwrap()["method"], "SendMessage");
        }
    }
}
