//! A JSON document written as YAML, for people who read it.

use std::fmt::Write as _;

use serde_json::Value;

/// The document in block style; every text in double quotes as JSON writes it, which YAML 1.2 reads the same.
pub(super) fn written(document: &Value) -> String {
    let mut out = String::new();
    block(document, 0, &mut out);
    out
}

/// A value at the beginning of a line that is indented already.
fn block(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (i, (key, member)) in members.iter().enumerate() {
                if i > 0 {
                    indent(depth, out);
                }
                scalar(&Value::from(key.as_str()), out);
                out.push(':');
                match member {
                    Value::Object(inner) if !inner.is_empty() => {
                        out.push('\n');
                        indent(depth + 1, out);
                        block(member, depth + 1, out);
                    }
                    Value::Array(inner) if !inner.is_empty() => {
                        out.push('\n');
                        indent(depth + 1, out);
                        block(member, depth + 1, out);
                    }
                    other => {
                        out.push(' ');
                        scalar(other, out);
                        out.push('\n');
                    }
                }
            }
        }
        Value::Array(entries) if !entries.is_empty() => {
            for (i, entry) in entries.iter().enumerate() {
                if i > 0 {
                    indent(depth, out);
                }
                out.push_str("- ");
                block(entry, depth + 1, out);
            }
        }
        other => {
            scalar(other, out);
            out.push('\n');
        }
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// A value that takes no line of its own. Names that cannot be taken for anything else go without quotes.
fn scalar(value: &Value, out: &mut String) {
    match value {
        Value::String(text) if is_plain(text) => out.push_str(text),
        // Writing to a String cannot fail.
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// Whether a text is a word that no reader takes for a number, a truth or nothing at all.
fn is_plain(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !words.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_indented_and_texts_quoted() {
        let document =
            json!({"a": [1, {"b": "x y", "c": []}, ["z"]], "no": "yes", "t": "l\n\"", "u": {}, "w": "word"});
        let expected = "a:\n  - 1\n  - b: \"x y\"\n    c: []\n  - - z\n\"no\": \"yes\"\nt: \"l\\n\\\"\"\nu: {}\nw: word\n";
        assert_eq!(written(&document), expected);
    }
}
