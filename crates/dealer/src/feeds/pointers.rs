//! Where in a document of settings something stands that cannot be read: the parser alone would only say what.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::settings::{SourceSettings, escaped};

/// Every member that cannot be read, as JSON Pointers and sentences. Not empty, for settings that cannot be.
pub(super) fn unreadable(settings: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    look(&mut Vec::new(), settings, &mut found);
    if found.is_empty() {
        let why = fault(settings).unwrap_or_else(|| "cannot be read".to_owned());
        found.push((String::new(), why));
    }
    found
}

fn look(path: &mut Vec<String>, value: &Value, found: &mut Vec<(String, String)>) {
    let alone = path
        .iter()
        .rev()
        .fold(value.clone(), |inside, name| Value::Object(Map::from_iter([(name.clone(), inside)])));
    let Some(why) = fault(&alone) else { return };
    let unknown = path.last().is_some_and(|name| why.starts_with(&format!("unknown field `{name}`")));
    let before = found.len();
    if let (Value::Object(members), false) = (value, unknown) {
        for (name, member) in members {
            path.push(name.clone());
            look(path, member, found);
            path.pop();
        }
    }
    // A member that lacks another beside it can be read where that is there.
    let lacking = why.starts_with("missing field") && !value.is_object();
    if found.len() == before && !path.is_empty() && !lacking {
        let pointer = path.iter().map(|name| format!("/{}", escaped(name))).collect();
        found.push((pointer, why));
    }
}

/// What the parser says.
fn fault(settings: &Value) -> Option<String> {
    SourceSettings::deserialize(settings).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_place_is_named() {
        for (settings, places) in [
            (json!([]), vec![""]),
            (json!({"uri": {"a": 1}, "rank": "x", "keep_days": 3}), vec!["/rank", "/uri"]),
            (
                json!({"reading": {"mode": "some", "a/b": 1}, "role": 5}),
                vec!["/reading/a~1b", "/reading/mode", "/role"],
            ),
            (json!({"prices": {"asking_price": {"fees": []}}}), vec!["/prices/asking_price"]),
            (
                json!({"prices": {"asking_price": {"meaning": "dear", "fees": []}}}),
                vec!["/prices/asking_price/meaning"],
            ),
            (json!({"prices": {"fee_rule": {"fees": [{"name": "Doc"}]}}}), vec!["/prices/fee_rule"]),
            (json!({"guard": {"drop_percent": "all"}}), vec!["/guard/drop_percent"]),
        ] {
            let mut found: Vec<_> = unreadable(&settings).into_iter().map(|(at, _)| at).collect();
            found.sort();
            assert_eq!(found, places, "{settings}");
        }
    }
}
