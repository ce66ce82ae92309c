//! The form in which nearly every request comes, read in one pass.
//!
//! [`super::message`] judges whatever comes and names what is wrong, and for that it looks at the text once per
//! level. A request that is beyond reproach needs no such judge: its members are read straight into their places.
//! Anything that is not plainly right (also what is right in an unusual way) is `None` here and judged there, so
//! no rule is decided by this file alone. A test holds the two against each other.

use std::borrow::Cow;

use contract::errors::SEND_MESSAGE;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{MAX_ID, Parsed};

/// A request in the usual form.
pub(super) struct Usual<'a> {
    /// The request's id, digit for digit.
    pub(super) id: &'a str,
    /// `params.tenant`.
    pub(super) tenant: Option<&'a str>,
    /// Accepted output modes; empty means anything.
    pub(super) accepted: Vec<Cow<'a, str>>,
    pub(super) parsed: Parsed<'a>,
}

// An alias is another name for the same member; saying both, or one twice, is an error here and left to the judge.

#[derive(Deserialize)]
struct Request<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    tenant: Option<&'a str>,
    #[serde(borrow)]
    configuration: Option<Configuration<'a>>,
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Configuration<'a> {
    #[serde(borrow, rename = "acceptedOutputModes", alias = "accepted_output_modes")]
    accepted: Option<Vec<&'a str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "messageId", alias = "message_id")]
    message_id: &'a str,
    role: &'a str,
    #[serde(rename = "contextId", alias = "context_id")]
    context_id: Option<&'a str>,
    #[serde(rename = "taskId", alias = "task_id")]
    task_id: Option<&'a str>,
    #[serde(borrow)]
    parts: [Part<'a>; 1],
}

#[derive(Deserialize)]
struct Part<'a> {
    data: Value,
    #[serde(rename = "mediaType", alias = "media_type")]
    media_type: Option<&'a str>,
    text: Option<IgnoredAny>,
    raw: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

/// Reads a body; `None` unless all of it is right.
pub(super) fn read(text: &str) -> Option<Usual<'_>> {
    let Request { jsonrpc, id, method, params } = serde_json::from_str(text).ok()?;
    let Message { message_id, role, context_id, task_id, parts: [part] } = params.message;
    let said = |text: Option<&str>| text.is_some_and(|text| !text.is_empty());
    // Lengths are in characters, of which there are never more than bytes.
    let plain = jsonrpc == "2.0"
        && id.get().starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && method == SEND_MESSAGE
        && (1..=MAX_ID).contains(&message_id.len())
        && role == "ROLE_USER"
        && context_id.is_none_or(|id| id.len() <= MAX_ID && !id.chars().any(char::is_control))
        && !said(task_id)
        && part.text.is_none()
        && part.raw.is_none()
        && part.url.is_none();
    plain.then(|| Usual {
        id: id.get(),
        tenant: params.tenant.filter(|tenant| !tenant.is_empty()),
        accepted: params
            .configuration
            .and_then(|configuration| configuration.accepted)
            .map(|modes| modes.into_iter().map(Cow::Borrowed).collect())
            .unwrap_or_default(),
        parsed: Parsed {
            context_id: context_id.filter(|id| !id.is_empty()).map(Cow::Borrowed),
            data: part.data,
            media_type: part.media_type.map(Cow::Borrowed),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::envelope::{Envelope, check_method};
    use super::super::message::SendMessage;
    use super::*;

    const PLAIN: &str = r#"{"jsonrpc":"2.0","id":"r-1","method":"SendMessage","params":{"tenant":"harbor",
        "configuration":{"acceptedOutputModes":["a/b","c/d"]},"metadata":{"x":[1]},"message":{"messageId":"m-1",
        "contextId":"c-1","role":"ROLE_USER","extra":null,"parts":[{"data":{"type":"a.b","n":[1,2.5,{"y":null}]},
        "mediaType":"e/f","metadata":{}}]}}}"#;

    /// What the judge makes of a text, in the order in which requests are handled.
    fn judged(text: &str) -> Option<String> {
        let mut id = "null";
        let envelope = Envelope::parse(text, &mut id).ok()?;
        check_method(&envelope.method).ok()?;
        let mut sent = SendMessage::read(&envelope).ok()?;
        let (accepted, tenant) = (sent.accepted_output_modes().ok()?, sent.tenant().ok()?);
        let Parsed { context_id, data, media_type } = sent.message().ok()?;
        Some(format!("{id} {tenant:?} {accepted:?} {context_id:?} {media_type:?} {data}"))
    }

    fn read_here(text: &str) -> Option<String> {
        let Usual { id, tenant, accepted, parsed } = read(text)?;
        let Parsed { context_id, data, media_type } = parsed;
        Some(format!("{id} {tenant:?} {accepted:?} {context_id:?} {media_type:?} {data}"))
    }

    #[test]
    fn the_usual_form_is_read_as_the_judge_reads_it() {
        assert_eq!(read_here(PLAIN).unwrap(), judged(PLAIN).unwrap());
        for (from, to) in [
            ("\"r-1\"", "-0.50e1"),
            ("\"r-1\"", "\"\\u0041\""),
            ("\"tenant\":\"harbor\",", ""),
            ("\"tenant\":\"harbor\"", "\"tenant\":null"),
            ("\"tenant\":\"harbor\"", "\"tenant\":\"\""),
            ("\"contextId\":\"c-1\"", "\"contextId\":\"\""),
            ("\"contextId\":\"c-1\"", "\"context_id\":\"c-2\""),
            ("\"messageId\"", "\"message_id\""),
            ("\"mediaType\"", "\"media_type\""),
            ("acceptedOutputModes\":[\"a/b\",\"c/d\"]", "accepted_output_modes\":[]"),
            ("{\"acceptedOutputModes\":[\"a/b\",\"c/d\"]}", "null"),
            ("\"metadata\":{}", "\"text\":null,\"taskId\":null"),
            ("\"extra\":null", "\"taskId\":\"\",\"extra\":1"),
            ("{\"type\":\"a.b\",\"n\":[1,2.5,{\"y\":null}]}", "null"),
            ("\"type\":\"a.b\"", "\"type\":\"x\",\"type\":\"\\ud83d\\ude00\""),
        ] {
            let text = PLAIN.replacen(from, to, 1);
            assert_ne!(text, PLAIN, "{from}");
            assert_eq!(read_here(&text).unwrap_or_else(|| panic!("{text}")), judged(&text).unwrap());
        }
    }

    /// Every text that is one change away from the usual form: what is read here at all is read as there.
    #[test]
    fn nothing_is_read_that_the_judge_refuses_or_reads_otherwise() {
        let bits = [
            "",
            "null",
            "\"\"",
            "\"x\"",
            "1",
            "[]",
            "{}",
            "[null]",
            "\\u0061",
            "\\ud800",
            "\u{85}",
            "1e999",
            "{",
            "}",
            "\"id\":null,",
            "\"method\":\"x\",",
            "\"message\":{},",
            "\"parts\":[],",
            "\"text\":\"t\",",
            "\"raw\":0,",
            "\"url\":{},",
            "\"data\":1,",
            "\"task_id\":\"t\",",
            "\"taskId\":7,",
            "\"role\":\"r\",",
            "\"context_id\":\"z\",",
            "\"contextId\":null,",
            "\"media_type\":\"z\",",
            "\"tenant\":4,",
            "{},",
            "//",
        ];
        let mut read_at_all = 0;
        let mut differ = |text: &str| {
            if let Some(here) = read_here(text) {
                read_at_all += 1;
                assert_eq!(Some(here), judged(text), "{text}");
            }
        };
        let places: Vec<usize> = PLAIN.char_indices().map(|(at, _)| at).collect();
        for &at in &places {
            let (before, after) = PLAIN.split_at(at);
            for bit in bits {
                differ(&format!("{before}{bit}{after}"));
            }
            // Whole words, values and brackets given up or exchanged.
            for &end in places.iter().filter(|end| (at + 1..at + 24).contains(*end)) {
                let after = &PLAIN[end..];
                differ(&format!("{before}{after}"));
                differ(&format!("{before}null{after}"));
                differ(&format!("{before}\"\"{after}"));
            }
        }
        for long in [MAX_ID, MAX_ID + 1] {
            for word in ["m-1", "c-1"] {
                differ(&PLAIN.replacen(word, &"ä".repeat(long), 1));
                differ(&PLAIN.replacen(word, &"a".repeat(long), 1));
            }
        }
        assert!(read_at_all > 1000, "{read_at_all}");
    }
}
