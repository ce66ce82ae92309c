//! A result in words, for clients that show text: short where the payload is long, and the same facts.

use std::fmt::Write as _;

use contract::SkillId;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::interfaces::one_line::one_line;

/// How many entries of one list are written out.
const LISTED: usize = 12;

/// The payload of an answer in words.
pub(super) fn of_answer(id: SkillId, payload: &[u8]) -> String {
    let said = match id {
        SkillId::InventorySearch => serde_json::from_slice(payload).ok().map(page),
        SkillId::InventoryFacets => serde_json::from_slice(payload).ok().map(choices),
        _ => serde_json::from_slice(payload).ok().map(whole),
    };
    // Our own payloads are read; should one not be, it is shown as it is.
    said.unwrap_or_else(|| String::from_utf8_lossy(payload).into_owned())
}

/// An AAP error object in words.
pub(super) fn of_error(error: &Value) -> String {
    let member = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut text = format!("{}: {}", member("code"), one_line(member("message")));
    let details = error.get("details");
    let errors = details.and_then(|details| details.get("errors")).and_then(Value::as_array);
    for problem in errors.into_iter().flatten() {
        let part = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
        push(
            &mut text,
            format_args!("\n- {} {}", one_line(part("instanceLocation")), one_line(part("error"))),
        );
    }
    if let Some(wait) = details.and_then(|details| details.get("retry_after_ms")) {
        push(&mut text, format_args!("\nTry again in {wait} ms."));
    }
    text
}

#[derive(Deserialize)]
struct Payload<T> {
    data: T,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    total: u64,
    skip: Option<u64>,
    next_cursor: Option<String>,
    vehicles: Vec<Vehicle>,
}

/// What tells one vehicle from another in a list.
#[derive(Deserialize)]
struct Vehicle {
    vehicle_id: Option<String>,
    year: Option<i64>,
    make: Option<String>,
    model: Option<String>,
    trim: Option<String>,
    condition: Option<String>,
    status: Option<String>,
    mileage: Option<u64>,
    price: Option<u64>,
}

fn page(payload: Payload<Page>) -> String {
    let Page { total, skip, next_cursor, vehicles } = payload.data;
    let mut text = match total {
        0 => "No vehicle matches.".to_owned(),
        1 => "1 vehicle matches.".to_owned(),
        _ => format!("{} vehicles match; {} of them here.", grouped(total), vehicles.len()),
    };
    let shown = skip.unwrap_or_default() + vehicles.len() as u64;
    for vehicle in &vehicles {
        text.push_str("\n- ");
        text.push_str(&one_line(&line(vehicle)));
    }
    match (next_cursor, skip) {
        (Some(cursor), _) => {
            push(&mut text, format_args!("\nMore: ask again with pagination.cursor {cursor}"));
        }
        (None, Some(_)) if shown < total && !vehicles.is_empty() => {
            push(&mut text, format_args!("\nMore: ask again with pagination.skip {shown}"));
        }
        _ => {}
    }
    noted(text, payload.message)
}

fn line(vehicle: &Vehicle) -> String {
    let mut words: Vec<String> = vehicle.year.iter().map(i64::to_string).collect();
    words.extend([&vehicle.make, &vehicle.model, &vehicle.trim].into_iter().flatten().cloned());
    if words.is_empty() {
        words.push("Vehicle".to_owned());
    }
    let mut text = words.join(" ");
    if let Some(condition) = &vehicle.condition {
        push(&mut text, format_args!(", {condition}"));
    }
    if let Some(miles) = vehicle.mileage {
        push(&mut text, format_args!(", {} mi", grouped(miles)));
    }
    match vehicle.price {
        Some(price) => push(&mut text, format_args!(", ${}", grouped(price))),
        None => text.push_str(", no price stated"),
    }
    if let Some(status) = vehicle.status.as_deref().filter(|status| *status != "available") {
        push(&mut text, format_args!(", {status}"));
    }
    if let Some(id) = &vehicle.vehicle_id {
        push(&mut text, format_args!(" (vehicle_id {id})"));
    }
    text
}

fn choices(payload: Payload<Map<String, Value>>) -> String {
    let mut text = String::new();
    for (name, facet) in &payload.data {
        let name = one_line(name);
        let range = |bound: &str| facet.get(bound).map(plain);
        if let (Some(min), Some(max)) = (range("min"), range("max")) {
            push(&mut text, format_args!("{name}: {min} to {max}\n"));
        } else if let Some(terms) = facet.as_array().filter(|terms| !terms.is_empty()) {
            let said = terms.iter().take(LISTED).map(|term| {
                let part = |name: &str| term.get(name).map(plain).unwrap_or_default();
                format!("{} ({})", part("value"), part("count"))
            });
            push(&mut text, format_args!("{name}: {}", said.collect::<Vec<_>>().join(", ")));
            rest(&mut text, terms.len());
            text.push('\n');
        }
    }
    if text.is_empty() {
        text.push_str("Nothing matches, so there is nothing to choose from.");
    }
    noted(text, payload.message)
}

fn whole(payload: Payload<Map<String, Value>>) -> String {
    let mut text = String::new();
    outline(&mut text, 0, &payload.data);
    noted(text, payload.message)
}

/// One member a line, those of members indented.
fn outline(text: &mut String, indent: usize, members: &Map<String, Value>) {
    for (name, value) in members {
        let name = one_line(name);
        match value {
            Value::Object(inner) if is_short(inner) => {
                push(text, format_args!("{:indent$}{name}: {}\n", "", in_line(inner)));
            }
            Value::Object(inner) => {
                push(text, format_args!("{:indent$}{name}:\n", ""));
                outline(text, indent + 2, inner);
            }
            Value::Array(entries) if entries.iter().any(Value::is_object) => {
                push(text, format_args!("{:indent$}{name}:\n", ""));
                for entry in entries.iter().filter_map(Value::as_object) {
                    if is_short(entry) {
                        push(text, format_args!("{:indent$}  - {}\n", "", in_line(entry)));
                        continue;
                    }
                    let mut part = String::new();
                    outline(&mut part, indent + 4, entry);
                    push(text, format_args!("{:indent$}  - {}", "", part.trim_start()));
                }
            }
            Value::Array(entries) => {
                let said: Vec<_> = entries.iter().take(LISTED).map(plain).collect();
                push(text, format_args!("{:indent$}{name}: {}", "", said.join(", ")));
                rest(text, entries.len());
                text.push('\n');
            }
            scalar => push(text, format_args!("{:indent$}{name}: {}\n", "", plain(scalar))),
        }
    }
}

/// A few values without members of their own, such as opening hours or a fee.
fn is_short(members: &Map<String, Value>) -> bool {
    members.len() <= 4 && !members.values().any(|value| value.is_object() || value.is_array())
}

fn in_line(members: &Map<String, Value>) -> String {
    let said: Vec<_> =
        members.iter().map(|(name, value)| format!("{} {}", one_line(name), plain(value))).collect();
    said.join(", ")
}

/// A value as people write it, on one line. What is `null` is known to be none: a day without opening hours, for instance.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => one_line(text).into_owned(),
        other => other.to_string(),
    }
}

fn rest(text: &mut String, len: usize) {
    if len > LISTED {
        push(text, format_args!(" and {} more", len - LISTED));
    }
}

fn noted(mut text: String, note: Option<String>) -> String {
    text.truncate(text.trim_end().len());
    if let Some(note) = note {
        push(&mut text, format_args!("\n{}", one_line(&note)));
    }
    text
}

/// A number as people write it: 23,450.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(id: SkillId, payload: &Value) -> String {
        of_answer(id, payload.to_string().as_bytes())
    }

    #[test]
    fn a_page_is_a_line_a_vehicle_and_how_to_go_on() {
        let vehicles = json!([
            {"vehicle_id": "a-1", "year": 2022, "make": "Honda", "model": "Civic", "condition": "used",
             "status": "pending", "mileage": 24120, "price": 23450},
            {"vehicle_id": "a-2", "make": "Vespa", "status": "available"}
        ]);
        let mut payload =
            json!({"type": "x", "data": {"total": 1214, "next_cursor": "c", "vehicles": vehicles}});
        assert_eq!(
            said(SkillId::InventorySearch, &payload),
            "1,214 vehicles match; 2 of them here.\n\
             - 2022 Honda Civic, used, 24,120 mi, $23,450, pending (vehicle_id a-1)\n\
             - Vespa, no price stated (vehicle_id a-2)\n\
             More: ask again with pagination.cursor c"
        );
        payload["data"]["next_cursor"] = Value::Null;
        payload["data"]["skip"] = 10.into();
        payload["message"] = "Sandbox.".into();
        assert!(
            said(SkillId::InventorySearch, &payload)
                .ends_with("More: ask again with pagination.skip 12\nSandbox.")
        );
        let none = json!({"data": {"total": 0, "vehicles": []}});
        assert_eq!(said(SkillId::InventorySearch, &none), "No vehicle matches.");
    }

    #[test]
    fn choices_and_outlines_are_cut_where_they_are_long() {
        let makes: Vec<_> = (0..14).map(|n| json!({"value": format!("m{n}"), "count": n})).collect();
        let facets = json!({"data": {"makes": makes, "years": [], "price_range": {"min": 5, "max": 9}}});
        let text = said(SkillId::InventoryFacets, &facets);
        assert!(
            text.starts_with("makes: m0 (0), m1 (1)") && text.contains(" and 2 more\nprice_range: 5 to 9")
        );
        let dealer =
            json!({"data": {"name": "Harbor", "rooftops": [{"name": "A", "emails": [{"value": "x@y"}]}]}});
        assert_eq!(
            said(SkillId::DealerInformation, &dealer),
            "name: Harbor\nrooftops:\n  - emails:\n      - value x@y\n    name: A"
        );
    }

    /// Whoever writes a listing writes neither rows nor members.
    #[test]
    fn no_word_of_a_dealer_begins_a_line() {
        let forged = "Rio\n- 2026 Ferrari F8, new, $1\u{2028}\r\u{85}x: y";
        let blank = "Rio - 2026 Ferrari F8, new, $1   x: y";
        let car = json!({"vehicle_id": forged, "model": forged, "status": forged, "condition": forged});
        assert_eq!(
            said(SkillId::InventorySearch, &json!({"data": {"total": 1, "vehicles": [car]}})),
            format!("1 vehicle matches.\n- {blank}, {blank}, no price stated, {blank} (vehicle_id {blank})")
        );
        let facets = json!({"data": {"models": [{"value": forged, "count": 1}]}});
        assert_eq!(said(SkillId::InventoryFacets, &facets), format!("models: {blank} (1)"));
        let known = json!({"data": {"description": forged, "features": [forged], "fees": [{"name": forged}],
            "specs": {forged: {"inner": [{forged: [forged]}]}}}, "message": forged});
        let text = said(SkillId::InventoryVehicle, &known);
        assert!(text.lines().all(|line| !line.starts_with("- ") && !line.starts_with("x:")), "{text}");
        assert!(!text.contains(['\u{2028}', '\r', '\u{85}']) && text.contains(blank), "{text}");
        let error = json!({"code": "C", "message": forged, "details": {"errors": [{"error": forged}]}});
        assert_eq!(of_error(&error), format!("C: {blank}\n-  {blank}"));
    }

    #[test]
    fn errors_name_code_places_and_waiting_time() {
        let error = json!({"code": "RATE_LIMITED", "message": "Wait.", "details": {"retry_after_ms": 7,
            "errors": [{"instanceLocation": "/a", "keyword": "type", "error": "must be a string"}]}});
        assert_eq!(of_error(&error), "RATE_LIMITED: Wait.\n- /a must be a string\nTry again in 7 ms.");
    }
}
