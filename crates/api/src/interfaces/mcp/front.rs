//! A body as far as JSON-RPC alone decides about it, before the SDK reads it.
//!
//! The SDK answers what it cannot read with a sentence and HTTP 415, and takes a request whose parameters have the
//! wrong shape for an unknown method. What is wrong with a message is told apart here.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use serde_json::value::RawValue;

use crate::json::{self, NotText, RawObject};
use crate::limits::MAX_DEPTH;

/// A body that the SDK can read.
pub(super) struct Message<'a> {
    /// The text; repaired where JSON allows more than our parser.
    pub(super) text: Cow<'a, str>,
    /// Its id as JSON text; `null` where there is none.
    pub(super) id: &'a str,
}

/// A message that is refused before anything of it is looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unread<'a> {
    /// The JSON-RPC number.
    pub(super) number: i32,
    /// For people.
    pub(super) words: &'static str,
    /// The id to answer with, as JSON text.
    pub(super) id: &'a str,
}

impl Unread<'_> {
    /// For counting.
    pub(super) fn outcome(&self) -> &'static str {
        match self.number {
            -32700 => "parse_error",
            -32602 => "invalid_params",
            _ => "invalid_request",
        }
    }

    /// The status beside it: a message that cannot be answered as one is a bad request of HTTP, too.
    pub(super) fn status(&self) -> StatusCode {
        if self.number == -32602 { StatusCode::OK } else { StatusCode::BAD_REQUEST }
    }

    /// The whole answer.
    pub(super) fn encode(&self) -> String {
        let Unread { number, words, id } = self;
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{number},"message":"{words}"}}}}"#)
    }
}

/// Reads a body.
///
/// # Errors
/// What is wrong with it as a message of JSON-RPC.
pub(super) fn read(body: &[u8]) -> Result<Message<'_>, Unread<'_>> {
    let refuse = |number, words| Err(Unread { number, words, id: "null" });
    let Ok(text) = std::str::from_utf8(body) else {
        return refuse(-32700, "The body is not UTF-8.");
    };
    if json::deeper_than(body, MAX_DEPTH) {
        return refuse(-32600, "The body nests deeper than 64 levels.");
    }
    let Some(object) = RawObject::parse(text) else {
        return match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) if raw.get().starts_with('[') => {
                refuse(-32600, "Batches are not served; send one message.")
            }
            Ok(_) => refuse(-32600, "A message must be an object."),
            Err(_) => refuse(-32700, "The body is not JSON."),
        };
    };
    if object.get("jsonrpc").map(json::string) != Some(Ok(Cow::Borrowed("2.0"))) {
        return refuse(-32600, "jsonrpc must be 2.0, as a string.");
    }
    let id = object.get("id");
    if id.is_some_and(|id| !is_id(id)) {
        return refuse(-32600, "The id must be a string or a whole number.");
    }
    let id = id.map_or("null", RawValue::get);
    match object.get("method").map(json::string) {
        Some(Ok(_) | Err(NotText::LoneSurrogate)) => {}
        Some(Err(NotText::OtherType)) => return refuse(-32600, "method must be a string."),
        None if object.get("result").is_some() || object.get("error").is_some() => {
            return refuse(-32600, "Nothing was asked of you, so there is nothing to answer.");
        }
        None => return refuse(-32600, "A message needs a method."),
    }
    if object.get("params").is_some_and(|params| !params.get().starts_with('{')) {
        return Err(Unread { number: -32602, words: "params must be an object.", id });
    }
    Ok(Message { text: readable(text), id })
}

/// MCP has strings and whole numbers; numbers that the SDK would have to round are none.
fn is_id(raw: &RawValue) -> bool {
    let text = raw.get();
    if text.starts_with('"') { json::string(raw).is_ok() } else { text.parse::<i64>().is_ok() }
}

/// The text as our parser can read it. Few texts have what it cannot, so those that may are tried first.
fn readable(text: &str) -> Cow<'_, str> {
    let mut digits = 0usize;
    let mut odd = false;
    let mut before = [0u8; 2];
    for &byte in text.as_bytes() {
        odd |= matches!((before, byte), ([b'\\', b'u'], b'd' | b'D'));
        odd |= matches!((before, byte), ([b'0'..=b'9', b'e' | b'E'], b'+' | b'0'..=b'9'));
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        // No number of fewer digits is beyond a double.
        odd |= digits > 300;
        before = [before[1], byte];
    }
    if odd && serde_json::from_str::<serde_json::Value>(text).is_err() {
        return Cow::Owned(json::repaired(text));
    }
    Cow::Borrowed(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (i32, &str) {
        let Err(unread) = read(text.as_bytes()) else { panic!("{text}") };
        let answer: serde_json::Value = serde_json::from_str(&unread.encode()).unwrap();
        assert_eq!(answer["error"]["code"], unread.number);
        (unread.number, unread.id)
    }

    #[test]
    fn what_is_wrong_with_a_message_is_told_apart() {
        for (text, expected) in [
            ("{", (-32700, "null")),
            ("", (-32700, "null")),
            ("[]", (-32600, "null")),
            ("7", (-32600, "null")),
            (r#"{"id":1,"method":"ping"}"#, (-32600, "null")),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":1}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, (-32600, "null")),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[]}"#, (-32602, "\"a\"")),
        ] {
            assert_eq!(refused(text), expected, "{text}");
        }
        assert_eq!(refused(&format!("{}{}", "[".repeat(65), "]".repeat(65))), (-32600, "null"));
    }

    #[test]
    fn legal_messages_pass_and_are_repaired_where_needed() {
        for text in [
            r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"","method":"ping","params":{"a":1e5}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert_eq!(read(text.as_bytes()).ok().unwrap().text, text);
        }
        let odd = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":1e999,"b":"\ud800","c":{}}}}}"#,
            "9".repeat(400)
        );
        let read = read(odd.as_bytes()).ok().unwrap();
        let value: serde_json::Value = serde_json::from_str(&read.text).unwrap();
        assert_eq!(value["params"]["b"], "\u{fffd}");
        assert_eq!(value["params"]["c"], f64::MAX);
    }
}
