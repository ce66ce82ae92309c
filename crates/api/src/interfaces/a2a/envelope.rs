//! The JSON-RPC 2.0 envelope (AAP.md 2.2).

use std::borrow::Cow;

use contract::errors;
use serde_json::value::RawValue;

use super::error::{ProtocolError, Refusal};
use crate::json::{self, RawObject};
use crate::limits::MAX_DEPTH;

/// A request whose outer form is right. Nothing inside `params` has been looked at.
pub(super) struct Envelope<'a> {
    pub(super) method: Cow<'a, str>,
    pub(super) params: Option<&'a RawValue>,
}

/// The body as text, if it may be parsed at all.
pub(super) fn text(body: &[u8]) -> Result<&str, Refusal> {
    let text = std::str::from_utf8(body).map_err(|_| ProtocolError::parse("The body is not UTF-8."))?;
    if json::deeper_than(body, MAX_DEPTH) {
        return Err(ProtocolError::invalid_request("The body nests deeper than 64 levels.").into());
    }
    Ok(text)
}

impl<'a> Envelope<'a> {
    /// Reads an envelope. `id` becomes the request's id, digit for digit, as soon as there is a valid one.
    pub(super) fn parse(text: &'a str, id: &mut &'a str) -> Result<Envelope<'a>, ProtocolError> {
        let refuse = |why| Err(ProtocolError::invalid_request(why));
        let Some(object) = RawObject::parse(text) else {
            // Only now it matters whether this is JSON of another type or none at all.
            return match serde_json::from_str::<&RawValue>(text) {
                Ok(raw) if raw.get().starts_with('[') => refuse("Batches are not served; send one request."),
                Ok(_) => refuse("A request must be an object."),
                Err(_) => Err(ProtocolError::parse("The body is not JSON.")),
            };
        };
        match object.get("id").map(RawValue::get) {
            None => return refuse("A request needs an id; notifications are not served."),
            Some(raw) if raw.starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
                *id = raw;
            }
            Some(_) => return refuse("The id must be a string or a number."),
        }
        if object.get("jsonrpc").map(json::string) != Some(Ok(Cow::Borrowed("2.0"))) {
            return refuse("jsonrpc must be \"2.0\".");
        }
        let method = match object.get("method").map(json::string) {
            Some(Ok(method)) => method,
            // A name that is no text is at least no name we serve.
            Some(Err(json::NotText::LoneSurrogate)) => Cow::Borrowed("\u{fffd}"),
            Some(Err(json::NotText::OtherType)) => return refuse("method must be a string."),
            None => return refuse("A request needs a method."),
        };
        Ok(Envelope { method, params: object.get("params") })
    }
}

/// Only `SendMessage` is served; what A2A knows beyond it is told apart from what nobody knows (AAP.md 5).
pub(super) fn check_method(method: &str) -> Result<(), ProtocolError> {
    if method == errors::SEND_MESSAGE {
        return Ok(());
    }
    match errors::UNSERVED.iter().find(|known| known.method == method) {
        Some(known) => Err(ProtocolError::new(known.error, known.message).with("method", method)),
        None => Err(ProtocolError::method_not_found()),
    }
}
