//! Rules of a provisioning document that no schema states.

use std::collections::HashSet;

use contract::Violation;
use contract::listing::unit_id;
use serde_json::{Map, Value};

use super::Problem;
use super::document::{Member, Wanted};

/// Longest identifier of a unit, in bytes. Cursors carry one, and an index entry of PostgreSQL must hold it.
const MAX_UNIT_ID: usize = 512;

/// Problems found so far, and where in the document we are.
pub(super) struct Findings {
    pub(super) base: String,
    pub(super) problems: Vec<Problem>,
}

impl Findings {
    pub(super) fn add(&mut self, below: &str, message: impl Into<String>) {
        self.problems.push(Problem { pointer: format!("{}{below}", self.base), message: message.into() });
    }

    pub(super) fn add_all(&mut self, below: &str, violations: Vec<Violation>) {
        for violation in violations {
            self.add(&format!("{below}{}", violation.location), violation.message);
        }
    }
}

/// `holidays`: `[{"date": "2026-12-25", "name"?: "…", "open"?: "10:00", "close"?: "14:00"}]`; without hours the
/// rooftop is closed that day.
pub(super) fn check_holidays(found: &mut Findings, at: &str, holidays: &Value) {
    let list = match holidays {
        Value::Null => return,
        Value::Array(list) => list,
        _ => return found.add(at, "must be a list of days"),
    };
    for (i, day) in list.iter().enumerate() {
        let at = format!("{at}/{i}");
        let Some(day) = day.as_object() else {
            found.add(&at, "must be an object with a date");
            continue;
        };
        for key in day.keys().filter(|key| !["date", "name", "open", "close"].contains(&key.as_str())) {
            found.add(
                &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                "there is no such member",
            );
        }
        let date = day.get("date").and_then(Value::as_str).unwrap_or_default();
        if date.len() != 10 || date.parse::<chrono::NaiveDate>().is_err() {
            found.add(&format!("{at}/date"), "must be a date like 2026-12-25");
        }
        if day.get("name").is_some_and(|name| !name.is_string()) {
            found.add(&format!("{at}/name"), "must be a string");
        }
        let hour = |key: &str| day.get(key).map(|v| v.as_str().and_then(minutes));
        match (hour("open"), hour("close")) {
            (None, None) => {}
            (Some(Some(open)), Some(Some(close))) if open < close => {}
            _ => found.add(&at, "open and close must both be there, as HH:MM, in that order"),
        }
    }
}

fn minutes(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let digits = |t: &str| t.len() == 2 && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(hours) || !digits(minutes) {
        return None;
    }
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

pub(super) fn check_unit_ids(found: &mut Findings, at: &str, unit: &Map<String, Value>) {
    for key in ["vehicle_id", "stock"] {
        if unit.get(key).and_then(Value::as_str).is_some_and(|id| id.len() > MAX_UNIT_ID) {
            found.add(&format!("{at}/{key}"), "is longer than 512 bytes");
        }
    }
}

pub(super) fn check_fees(found: &mut Findings, at: &str, owner: &Map<String, Value>) {
    let mut seen = HashSet::new();
    for (i, fee) in owner.get("fees").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Some(name) = fee.get("name").and_then(Value::as_str)
            && !seen.insert(name.trim())
        {
            found.add(&format!("{at}/fees/{i}/name"), "names a fee that stands in this list already");
        }
    }
}

/// Hours mean nothing without a zone that exists.
pub(super) fn check_timezone(found: &mut Findings, at: &str, rooftop: &Value) {
    if let Some(zone) = rooftop.get("timezone").and_then(Value::as_str)
        && zone.parse::<chrono_tz::Tz>().is_err()
    {
        found.add(&format!("{at}/timezone"), "is no IANA time zone such as America/Chicago");
    }
}

/// Vehicles name rooftops by their names, so these are unique within a dealer.
pub(super) fn check_rooftop_names(found: &mut Findings, wanted: &Wanted) {
    let Member::Set(rooftops) = &wanted.rooftops else { return };
    let mut names = HashSet::new();
    for (i, (profile, _)) in rooftops.iter().enumerate() {
        if let Some(members) = profile.as_object() {
            check_fees(found, &format!("/rooftops/{i}"), members);
        }
        let Some(name) = profile.get("name").and_then(Value::as_str) else { continue };
        if name.trim().is_empty() {
            found.add(&format!("/rooftops/{i}/name"), "must not be blank");
        } else if !names.insert(contract::text::fold(name)) {
            found.add(&format!("/rooftops/{i}/name"), "another rooftop has this name");
        }
    }
}

/// Within one lot an identifier must lead to one unit, and no unit is both offered and sold.
pub(super) fn check_units(found: &mut Findings, wanted: &Wanted) {
    let mut ids = HashSet::new();
    let mut vins = HashSet::new();
    let mut stocks = HashSet::new();
    if let Member::Set(units) = &wanted.inventory {
        for (i, unit) in units.iter().enumerate() {
            if let Some((id, member)) = unit_id(unit)
                && !ids.insert(id)
                && member != "vin"
            {
                found.add(&format!("/inventory/{i}/{member}"), "another vehicle has this id");
            }
            stocks.extend(unit.get("stock").and_then(Value::as_str));
            let vin = unit.get("vin").and_then(Value::as_str).filter(|vin| !vin.is_empty());
            if vin.is_some_and(|vin| !vins.insert(vin)) {
                found.add(&format!("/inventory/{i}/vin"), "another vehicle has this VIN");
            }
        }
    }
    if let Member::Set(sold) = &wanted.sold {
        let mut sold_ids = HashSet::new();
        for (i, unit) in sold.iter().enumerate() {
            let member = match (unit.by_vin(), unit.by_stock()) {
                (Some(_), _) => "vin",
                (_, Some(_)) => "stock",
                _ => "vehicle_id",
            };
            let offered = unit.by_vin().is_some_and(|vin| vins.contains(vin))
                || unit.by_stock().is_some_and(|stock| stocks.contains(stock));
            if ids.contains(&unit.vehicle_id) || offered {
                found.add(&format!("/sold/{i}/{member}"), "this vehicle stands in inventory too");
            }
            if !sold_ids.insert(unit.vehicle_id.as_str()) {
                found.add(&format!("/sold/{i}/{member}"), "another sold vehicle has this id");
            }
        }
    }
}

/// PostgreSQL text cannot hold U+0000, and nothing of a dealer's profile or stock needs it.
pub(super) fn refuse_nul(found: &mut Findings, at: &str, value: &Value) {
    match value {
        Value::String(text) if text.contains('\0') => {
            found.add(at, "holds the character U+0000, which cannot be kept")
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                refuse_nul(found, &format!("{at}/{i}"), item);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                if key.contains('\0') {
                    found.add(&at, "has a name with the character U+0000, which cannot be kept");
                }
                refuse_nul(found, &at, item);
            }
        }
        _ => {}
    }
}

/// Amounts must be told apart to the last unit, in columns, filters and documents alike; beyond 2^53 JSON readers
/// no longer agree on them.
pub(super) fn check_amounts(found: &mut Findings, at: &str, vehicle: &Map<String, Value>) {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let whole = ["price", "list_price", "msrp", "mileage", "displacement_cc", "city_mpg", "highway_mpg"];
    for name in whole {
        if vehicle.get(name).and_then(Value::as_f64).is_some_and(|amount| amount > LARGEST) {
            found.add(&format!("{at}/{name}"), "is larger than any real amount");
        }
    }
}
