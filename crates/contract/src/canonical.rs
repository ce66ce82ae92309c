//! Canonical JSON and its hash: what decides whether two documents are the same.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// The canonical text: keys sorted by UTF-16 code unit, no blanks, numbers by value (RFC 8785).
///
/// `35000` and `35000.0` are the same number and give the same text. Other than in RFC 8785, whole numbers beyond
/// 2^53 keep all their digits: two prices or ids that differ are never taken for the same.
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

fn number(n: &Number, out: &mut String) {
    use std::fmt::Write as _;
    let written = match n.as_f64().filter(|_| n.is_f64()).and_then(whole) {
        Some(whole) => write!(out, "{whole}"),
        None => write!(out, "{n}"),
    };
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
}

/// The float as the integer that it is. Only integers of this range can also arrive spelled without a fraction.
fn whole(f: f64) -> Option<Number> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and within the range of the target"
    )]
    #[expect(clippy::cast_sign_loss, reason = "the unsigned branch has positive numbers only")]
    match f {
        f if f.fract() != 0.0 => None,
        f if (-TWO_TO_63..TWO_TO_63).contains(&f) => Some(Number::from(f as i64)),
        f if (TWO_TO_63..2.0 * TWO_TO_63).contains(&f) => Some(Number::from(f as u64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn order_and_number_spelling_do_not_matter() {
        let a = json!({"b": 1.0, "a": [1, 2.5]});
        let b = json!({"a": [1.0, 2.5], "b": 1});
        assert_eq!(text(&a), r#"{"a":[1,2.5],"b":1}"#);
        assert_eq!(text(&a), text(&b));
        assert_eq!(hash(&a), hash(&b));
        assert_ne!(hash(&a), hash(&json!({"a": [1, 2.5], "b": 2})));
        assert_ne!(hash(&a), hash(&json!({"a": [2.5, 1], "b": 1})));
    }

    #[test]
    fn numbers_are_written_by_value() {
        let written = |spelling: &str| text(&serde_json::from_str(spelling).unwrap());
        for (spellings, one) in [
            (&["0", "-0", "0.0", "-0.0", "0e9"][..], "0"),
            (&["35000", "35000.0", "3.5e4", "350e2"], "35000"),
            (&["2023", "2023.0", "2.023e3", "20230e-1", "2023.000e0"], "2023"),
            (&["-7", "-7.00", "-70e-1"], "-7"),
            (&["0.1", "1e-1", "0.10"], "0.1"),
            (&["9007199254740992", "9007199254740992.0"], "9007199254740992"),
            (&["10000000000000000", "1e16"], "10000000000000000"),
            (&["-9223372036854775808", "-9223372036854775808.0"], "-9223372036854775808"),
            (&["9223372036854775808", "9223372036854775808.0"], "9223372036854775808"),
            (&["1e30", "1000000000000000000000000000000"], "1e+30"),
        ] {
            for spelling in spellings {
                assert_eq!(written(spelling), one, "{spelling}");
            }
        }
        assert_eq!(written("9007199254740993"), "9007199254740993");
        assert_ne!(written("9007199254740993"), written("9007199254740992"));
        assert_ne!(written("1"), written("\"1\""));
    }

    #[test]
    fn keys_are_sorted_by_utf_16_code_unit_and_texts_escaped_as_little_as_may_be() {
        // U+10000 is D800 DC00 in UTF-16 and comes before U+E000; in UTF-8 it comes after.
        let value = json!({"\u{e000}": 1, "\u{10000}": 2, "b": 3, "a": 4, "B": 5});
        assert_eq!(text(&value), "{\"B\":5,\"a\":4,\"b\":3,\"\u{10000}\":2,\"\u{e000}\":1}");
        let odd = json!("\u{8}\t\n\u{c}\r\"\\/\u{1f}\u{7f}é\u{2028}");
        assert_eq!(text(&odd), "\"\\b\\t\\n\\f\\r\\\"\\\\/\\u001f\u{7f}é\u{2028}\"");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            // Decimals that a person would write; the JSON reader may be one unit off in the 17th digit of others.
            (any::<i32>(), 0..8_i32).prop_map(|(n, places)| Value::from(f64::from(n) / 10_f64.powi(places))),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_text_is_json_of_the_same_value(value in any_json()) {
            let once = text(&value);
            let read: Value = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(text(&read), once);
            prop_assert_eq!(hash(&read), hash(&value));
        }

        #[test]
        fn spelling_whole_numbers_as_fractions_changes_nothing(n in -(1_i64 << 53)..=(1_i64 << 53)) {
            #[expect(clippy::cast_precision_loss, reason = "exact within 2^53")]
            let float = json!([n as f64]);
            prop_assert_eq!(text(&float), text(&json!([n])));
        }
    }
}
