//! What must be different at each door, made the same; and nothing else.

use std::collections::HashMap;

use contract::canonical;
use serde_json::Value;

use super::doors::Told;

/// The ids that one door has given away, as numbers in the order of their first use: the same lead again must be the
/// same number at every door.
#[derive(Debug, Default)]
pub(super) struct Masks(HashMap<String, usize>);

impl Masks {
    /// What was told, in canonical form.
    pub(super) fn settled(&mut self, told: Told) -> String {
        match told {
            Told::Answer(mut payload) => {
                self.mask(&mut payload);
                format!("answer {}", canonical::text(&payload))
            }
            Told::Refusal(mut error) => {
                for member in ["error_id", "created_at"] {
                    assert!(error[member].as_str().is_some_and(|text| !text.is_empty()), "{error}");
                    error[member] = "*".into();
                }
                self.mask(&mut error);
                format!("refusal {}", canonical::text(&error))
            }
            Told::Denied(status, challenge) => format!("denied {status} {challenge}"),
            Told::Protocol(error) => format!("protocol {error}"),
        }
    }

    fn mask(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Value::Object(members) => {
                for (name, value) in members {
                    match (name.as_str(), &value) {
                        // Whether there is a next page stays to be seen, as whether somebody is to wait.
                        ("next_cursor", Value::String(_)) => *value = "*".into(),
                        ("retry_after_ms", Value::Number(_)) => *value = "*".into(),
                        _ => self.mask(value),
                    }
                }
            }
            Value::String(text) => {
                for prefix in ["lead_", "appt_"] {
                    if let Some(masked) = self.numbered(text, prefix) {
                        *text = masked;
                    }
                }
            }
            _ => {}
        }
    }

    /// The text with every id of that kind as its number.
    fn numbered(&mut self, text: &str, prefix: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(prefix) {
            let (before, from) = rest.split_at(at);
            let length = from[prefix.len()..].chars().take_while(char::is_ascii_hexdigit).count();
            let (id, after) = from.split_at(prefix.len() + length);
            out.push_str(before);
            if length == 32 {
                let next = self.0.len();
                out.push_str(&format!("{prefix}#{}", self.0.entry(id.to_owned()).or_insert(next)));
            } else {
                out.push_str(id);
            }
            rest = after;
        }
        (!out.is_empty()).then(|| out + rest)
    }
}

#[test]
fn ids_are_told_apart_and_found_again() {
    let lead = |n: u8| format!("lead_{:032x}", n);
    let mut masks = Masks::default();
    let mut settle =
        |n| masks.settled(Told::Answer(serde_json::json!({"a": lead(n), "b": format!("see {}.", lead(1))})));
    assert_eq!(settle(1), r##"answer {"a":"lead_#0","b":"see lead_#0."}"##);
    assert_eq!(settle(2), r##"answer {"a":"lead_#1","b":"see lead_#0."}"##);
    assert_eq!(
        masks.settled(Told::Answer(serde_json::json!({"type": "lead_submission"}))),
        r#"answer {"type":"lead_submission"}"#
    );
}
