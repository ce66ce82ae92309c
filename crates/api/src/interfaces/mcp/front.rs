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
    /// The method.
    pub(super) method: Cow<'a, str>,
}

/// A body: one message, or several at once.
pub(super) enum Body<'a> {
    One(Message<'a>),
    /// Each answered by itself, whatever the others are.
    Batch(Vec<Result<Message<'a>, Unread<'a>>>),
}

/// How many messages a batch may hold: few bytes ask for much, and one request must not occupy us for long.
pub(super) const MOST: usize = 50;

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

/// Reads a body. Batches are taken where the version of the protocol has them.
///
/// # Errors
/// What is wrong with it as a whole.
pub(super) fn read(body: &[u8], batches: bool) -> Result<Body<'_>, Unread<'_>> {
    let Ok(text) = std::str::from_utf8(body) else {
        return Err(Unread { number: -32700, words: "The body is not UTF-8.", id: "null" });
    };
    if json::deeper_than(body, MAX_DEPTH) {
        return refuse("The body nests deeper than 64 levels.");
    }
    if let Ok(messages) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return match messages.len() {
            _ if !batches => refuse("This version of the protocol has no batches; send one message."),
            0 => refuse("A batch must hold a message."),
            1..=MOST => Ok(Body::Batch(messages.into_iter().map(|raw| message(raw.get())).collect())),
            _ => refuse("A batch may hold 50 messages; send several."),
        };
    }
    message(text).map(Body::One)
}

fn refuse<'a, T>(words: &'static str) -> Result<T, Unread<'a>> {
    Err(Unread { number: -32600, words, id: "null" })
}

fn message(text: &str) -> Result<Message<'_>, Unread<'_>> {
    let Some(object) = RawObject::parse(text) else {
        return match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => refuse("A message must be an object."),
            Err(_) => Err(Unread { number: -32700, words: "The body is not JSON.", id: "null" }),
        };
    };
    if object.get("jsonrpc").map(json::string) != Some(Ok(Cow::Borrowed("2.0"))) {
        return refuse("jsonrpc must be 2.0, as a string.");
    }
    let id = object.get("id");
    if id.is_some_and(|id| !is_id(id)) {
        return refuse("The id must be a string or a whole number.");
    }
    let id = id.map_or("null", RawValue::get);
    let method = match object.get("method").map(json::string) {
        Some(Ok(method)) => method,
        Some(Err(NotText::LoneSurrogate)) => Cow::Borrowed("\u{fffd}"),
        Some(Err(NotText::OtherType)) => return refuse("method must be a string."),
        None if object.get("result").is_some() || object.get("error").is_some() => {
            return refuse("Nothing was asked of you, so there is nothing to answer.");
        }
        None => return refuse("A message needs a method."),
    };
    if object.get("params").is_some_and(|params| !params.get().starts_with('{')) {
        return Err(Unread { number: -32602, words: "params must be an object.", id });
    }
    Ok(Message { text: readable(text), id, method })
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
        let Err(unread) = read(text.as_bytes(), false) else { panic!("{text}") };
        let answer: serde_json::Value = serde_json::from_str(&unread.encode()).unwrap();
        assert_eq!(answer["error"]["code"], unread.number);
        (unread.number, unread.id)
    }

    fn one(text: &str) -> Message<'_> {
        let Ok(Body::One(message)) = read(text.as_bytes(), true) else { panic!("{text}") };
        message
    }

    #[test]
    fn a_batch_is_read_message_by_message_where_there_are_batches() {
        let text = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","id":2}]"#;
        let Ok(Body::Batch(messages)) = read(text.as_bytes(), true) else { panic!() };
        let ids: Vec<_> =
            messages.iter().map(|one| one.as_ref().map(|one| one.id).map_err(|e| e.number)).collect();
        assert_eq!(ids, [Ok("1"), Err(-32600), Err(-32600)]);
        assert_eq!(refused(text), (-32600, "null"));
        for wrong in ["[]".to_owned(), format!("[{}1]", "1,".repeat(MOST))] {
            assert_eq!(read(wrong.as_bytes(), true).err().map(|unread| unread.number), Some(-32600));
        }
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
            assert_eq!(one(text).text, text);
        }
        let odd = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":1e999,"b":"\ud800","c":{}}}}}"#,
            "9".repeat(400)
        );
        let value: serde_json::Value = serde_json::from_str(&one(&odd).text).unwrap();
        assert_eq!(value["params"]["b"], "\u{fffd}");
        assert_eq!(value["params"]["c"], f64::MAX);
    }
}
