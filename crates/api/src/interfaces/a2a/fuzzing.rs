//! The way of a body through this front as far as it needs no dealer, for the targets of `tests/fuzz`.
//!
//! Only built with the feature `fuzzing`, which nothing that is shipped turns on.

use std::borrow::Cow;

use contract::{Contract, Fault, FaultCode, SKILL_SPECS};
use serde_json::Value;

use super::envelope::{self, Envelope};
use super::error::Refusal;
use super::message::{self, Parsed, SendMessage};
use super::usual::{self, Usual};

/// What the front makes of one body.
#[derive(Debug)]
pub struct Fronted {
    /// The whole answer. A request that is served has an empty object where a skill's payload would stand.
    pub answer: Vec<u8>,
    /// What the fast reader understood, in words; `None` where it leaves the body to the judge.
    pub usual: Option<String>,
    /// What the judge understood, in the same words; `None` where it refuses the body.
    pub judged: Option<String>,
}

/// Reads a body as `SendMessage` of one contract, by both readers, and answers it.
pub fn front(body: &[u8], contract: &Contract) -> Fronted {
    let mut id = "null";
    let answer = match answer(body, contract, &mut id) {
        Ok(answer) => answer,
        Err(refusal) => refusal.encode(id, contract.spec()),
    };
    let text = envelope::text(body).ok();
    Fronted { answer, usual: text.and_then(by_usual), judged: text.and_then(by_judge) }
}

/// The order is that of `Exchange::attempt`, without headers and without a dealer.
fn answer<'b>(body: &'b [u8], contract: &Contract, id: &mut &'b str) -> Result<Vec<u8>, Refusal> {
    let spec = contract.spec();
    let text = envelope::text(body)?;
    let mut sent = match usual::read(text) {
        Some(usual) => {
            *id = usual.id;
            SendMessage::Usual(usual)
        }
        None => {
            let envelope = Envelope::parse(text, id)?;
            envelope::check_method(&envelope.method)?;
            SendMessage::read(&envelope)?
        }
    };
    let accepted = sent.accepted_output_modes()?;
    sent.tenant()?;
    let parsed = sent.message()?;
    let named = parsed.data.get("type").and_then(Value::as_str);
    let Some(skill) = SKILL_SPECS.iter().find(|skill| Some(skill.request_type) == named) else {
        return Err(Fault::new(FaultCode::UnsupportedSkill, "Nobody here has that skill.").into());
    };
    message::check_input_mode(parsed.media_type.as_deref(), skill, spec)?;
    message::check_output_modes(&accepted, skill, spec)?;
    contract
        .check(skill.request_schema, &parsed.data)
        .map_err(|violations| contract::refusal::of(skill, &parsed.data, violations))?;
    let mut out = Vec::new();
    super::open_reply(&mut out, id, &parsed.context_id);
    out.extend_from_slice(b"{}}]}}}");
    Ok(out)
}

fn by_usual(text: &str) -> Option<String> {
    let Usual { id, tenant, accepted, parsed } = usual::read(text)?;
    Some(in_words(id, tenant, &accepted, &parsed))
}

fn by_judge(text: &str) -> Option<String> {
    let mut id = "null";
    let envelope = Envelope::parse(text, &mut id).ok()?;
    envelope::check_method(&envelope.method).ok()?;
    let mut sent = SendMessage::read(&envelope).ok()?;
    let (accepted, tenant) = (sent.accepted_output_modes().ok()?, sent.tenant().ok()?);
    let parsed = sent.message().ok()?;
    Some(in_words(id, tenant.as_deref(), &accepted, &parsed))
}

fn in_words(id: &str, tenant: Option<&str>, accepted: &[Cow<'_, str>], parsed: &Parsed<'_>) -> String {
    let Parsed { context_id, data, media_type } = parsed;
    format!("{id} {tenant:?} {accepted:?} {context_id:?} {media_type:?} {data}")
}
