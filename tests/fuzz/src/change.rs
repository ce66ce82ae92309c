//! Changes to a JSON value, decided by bytes.

use serde_json::{Value, json};

use crate::Source;

/// Texts that something might stumble over.
const TEXTS: [&str; 22] = [
    "",
    " ",
    "\u{0}",
    "\u{feff}",
    "\u{85}",
    "\u{fffd}",
    "x\n",
    "4S4BTGUD5R3217409\n",
    "+15035550186\n",
    "+1503٣",
    "٠٩:٠٠",
    "09:00\n",
    "2026-02-30",
    "2026-11-30T09:15:00",
    "2026-11-30T09:15:00+25:00",
    "https://",
    "a@b@c.example",
    "__proto__",
    "%00",
    "e\u{301}\u{301}\u{301}",
    "ΑΒΓ ς",
    "null",
];

/// What changes are made of.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Names of members.
    pub(crate) names: Vec<String>,
    /// Values that are right somewhere.
    pub(crate) words: Vec<Value>,
}

impl Changes {
    /// Makes one change somewhere in `value`.
    pub(crate) fn apply(&self, value: &mut Value, source: &mut Source<'_>) {
        let mut places = 0;
        count(value, &mut places);
        let mut place = source.below(places);
        if let Some(node) = nth(value, &mut place) {
            self.change(node, source);
        }
    }

    fn change(&self, node: &mut Value, source: &mut Source<'_>) {
        let choice = source.below(6);
        match (node, choice) {
            (node, 0) => *node = self.odd(source),
            (Value::Object(members), 1 | 2) if !members.is_empty() => {
                let at = source.below(members.len());
                let key = members.keys().nth(at).cloned().unwrap();
                members.remove(&key);
            }
            (Value::Object(members), _) => {
                let name = source.pick(&self.names).clone();
                members.insert(name, self.odd(source));
            }
            (Value::Array(items), 1) if !items.is_empty() => {
                items.remove(source.below(items.len()));
            }
            (Value::Array(items), 2) if !items.is_empty() => {
                let again = source.pick(items).clone();
                items.push(again);
            }
            (Value::Array(items), _) => items.push(self.odd(source)),
            (Value::String(text), 1) => text.push_str(source.pick::<&str>(&TEXTS)),
            (Value::String(text), 2) => *text = text.to_uppercase(),
            (Value::String(text), 3) => *text = text.repeat(2 + source.below(200)),
            (node, _) => *node = self.odd(source),
        }
    }

    fn odd(&self, source: &mut Source<'_>) -> Value {
        match source.below(10) {
            0 => Value::Null,
            1 => json!(source.chance(128)),
            2 => json!([]),
            3 => json!({}),
            4 => json!(i64::from(source.byte()) - 128),
            5 => source
                .pick(&[
                    json!(20.0),
                    json!(20.5),
                    json!(-0.0),
                    json!(1e30),
                    json!(-1e30),
                    json!(u64::MAX),
                    json!(i64::MIN),
                    json!(f64::MAX),
                    json!(5e-324),
                ])
                .clone(),
            6 => json!(source.pick(&TEXTS)),
            7 => json!(String::from_utf8_lossy(source.take(12))),
            _ => source.pick(&self.words).clone(),
        }
    }
}

fn count(value: &Value, places: &mut usize) {
    *places += 1;
    match value {
        Value::Object(members) => members.values().for_each(|inner| count(inner, places)),
        Value::Array(items) => items.iter().for_each(|inner| count(inner, places)),
        _ => {}
    }
}

/// The node with the number `place`, counted from the outside in.
fn nth<'v>(value: &'v mut Value, place: &mut usize) -> Option<&'v mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Object(members) => members.values_mut().find_map(|inner| nth(inner, place)),
        Value::Array(items) => items.iter_mut().find_map(|inner| nth(inner, place)),
        _ => None,
    }
}
