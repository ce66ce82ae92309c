//! What of a demo unit stands in the cells of its feed.

use serde_json::{Map, Value};

/// A unit, as the protocol has it.
pub(super) type Unit = Map<String, Value>;

/// A text or number of a unit; empty where it has none.
pub(super) fn cell(unit: &Unit, member: &str) -> String {
    match unit.get(member) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// A text of a unit; empty where it has none.
pub(super) fn word<'u>(unit: &'u Unit, member: &str) -> &'u str {
    unit.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number of a unit.
pub(super) fn whole(unit: &Unit, member: &str) -> Option<i64> {
    unit.get(member).and_then(Value::as_i64)
}

/// One of two words where the unit says yes or no.
pub(super) fn flag(unit: &Unit, member: &str, yes: &str, no: &str) -> String {
    match unit.get(member) {
        Some(Value::Bool(true)) => yes.to_owned(),
        Some(Value::Bool(false)) => no.to_owned(),
        _ => String::new(),
    }
}

/// The texts of a list.
pub(super) fn list<'u>(unit: &'u Unit, member: &str) -> Vec<&'u str> {
    unit.get(member).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The equipment of a unit, and behind it the facts that no column of a feed is for.
pub(super) fn equipment(unit: &Unit) -> Vec<String> {
    let mut all: Vec<String> = list(unit, "features").into_iter().map(str::to_owned).collect();
    let facts = unit.get("other_attributes").and_then(Value::as_object);
    for (name, value) in facts.into_iter().flatten() {
        all.extend(match (name.as_str(), value.as_str()) {
            ("final_drive", Some(drive)) => Some(format!("{} drive", capital(drive))),
            ("seat_height_in", _) => Some(format!("{value} in seat height")),
            ("length_ft", _) => Some(format!("{value} ft long")),
            ("gvwr_lb", _) => Some(format!("{value} lb GVWR")),
            ("axles", _) if value == 1 => Some("Single axle".to_owned()),
            ("axles", _) => Some("Tandem axle".to_owned()),
            _ => None,
        });
    }
    all
}

/// The dealer's words, with what has to be known of a unit that is still on its way.
pub(super) fn comments(unit: &Unit) -> String {
    let words = [word(unit, "description"), word(unit, "notes")];
    words.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A day as `11/3/2026`.
pub(super) fn slashed(unit: &Unit, member: &str) -> String {
    let mut parts = word(unit, member).splitn(3, '-');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(year), Some(month), Some(day)) => {
            format!("{}/{}/{year}", month.trim_start_matches('0'), day.trim_start_matches('0'))
        }
        _ => String::new(),
    }
}

/// A word with a capital first letter.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether the unit has left the lot: its row says so, and nothing is published of it.
pub(super) fn is_sold(unit: &Unit) -> bool {
    word(unit, "internal_status") == "sold"
}
