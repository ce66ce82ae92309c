//! Canonical JSON and its hash: what decides whether two documents are the same.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The canonical text: keys sorted by UTF-16 code unit, no blanks, numbers by value (RFC 8785).
///
/// `35000` and `35000.0` are the same number and give the same text.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// SHA-256 of the canonical text.
pub fn hash(value: &Value) -> [u8; 32] {
    Sha256::digest(text(value).as_bytes()).into()
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => number(n, out),
        Value::String(s) => out.push_str(&Value::String(s.clone()).to_string()),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (i, (key, item)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
    }
}

fn number(n: &serde_json::Number, out: &mut String) {
    use std::fmt::Write as _;
    let whole = n.as_f64().filter(|f| n.is_f64() && f.fract() == 0.0 && f.abs() < 9_007_199_254_740_992.0);
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and below 2^53")]
    let written = match whole {
        Some(f) => write!(out, "{}", f as i64),
        None => write!(out, "{n}"),
    };
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_and_number_spelling_do_not_matter() {
        let a = json!({"b": 1.0, "a": [1, 2.5]});
        let b = json!({"a": [1.0, 2.5], "b": 1});
        assert_eq!(text(&a), text(&b));
        assert_eq!(hash(&a), hash(&b));
        assert_ne!(hash(&a), hash(&json!({"a": [1, 2.5], "b": 2})));
    }
}
