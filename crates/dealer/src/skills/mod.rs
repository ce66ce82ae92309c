//! The skills this build serves: one file and one line each.

mod facets;
mod information;
mod lead;
mod search;
mod vehicle;

use std::future::Future;
use std::pin::Pin;

use contract::{Fault, FaultCode, SKILL_SPECS, SkillId, SkillSpec, Violation};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Call, Dealer, leads};

/// One AAP skill.
pub(crate) trait Skill {
    /// Which one.
    const ID: SkillId;
    /// The typed request; everything its schema accepts can be read into it.
    type Request: DeserializeOwned + Send;

    /// Appends the answer's payload to `out`; the version of the lot that all of it is from, if it is from one.
    /// `raw` is the request as it came, for what must be echoed.
    fn call(
        dealer: &Dealer,
        call: &Call,
        request: Self::Request,
        raw: &Value,
        out: &mut Vec<u8>,
    ) -> impl Future<Output = Result<Option<u64>, Fault>> + Send;
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Option<u64>, Fault>> + Send + 'a>>;

/// A skill with its types erased.
pub(crate) struct Entry {
    id: SkillId,
    pub(crate) run: for<'a> fn(&'a Dealer, &'a Call, Value, &'a mut Vec<u8>) -> Running<'a>,
}

const fn entry<S: Skill>() -> Entry {
    Entry {
        id: S::ID,
        run: |dealer, call, data, out| {
            Box::pin(async move {
                let request = S::Request::deserialize_from(&data)?;
                S::call(dealer, call, request, &data, out).await
            })
        },
    }
}

/// Reads a request that its schema has accepted; a failure is our own fault, not the caller's.
trait DeserializeFrom: Sized {
    fn deserialize_from(data: &Value) -> Result<Self, Fault>;
}

impl<T: DeserializeOwned> DeserializeFrom for T {
    fn deserialize_from(data: &Value) -> Result<Self, Fault> {
        T::deserialize(data).map_err(|error| {
            // The text of a serde error can hold values of the request; its class and place are enough.
            Fault::internal(format!(
                "a request that its schema accepts cannot be read ({:?})",
                error.classify()
            ))
        })
    }
}

static SKILLS: &[Entry] = &[
    entry::<information::Information>(),
    entry::<facets::Facets>(),
    entry::<search::Search>(),
    entry::<vehicle::Vehicle>(),
    entry::<lead::Lead>(),
];

pub(crate) fn find(id: SkillId) -> Option<&'static Entry> {
    SKILLS.iter().find(|entry| entry.id == id)
}

pub(crate) fn built() -> impl Iterator<Item = SkillId> {
    SKILLS.iter().map(|entry| entry.id)
}

/// What is wrong with a request beyond its schema and can be told of one that breaks it, since all problems are told
/// at once.
pub(crate) fn problems(call: &Call, id: SkillId, data: &Value) -> Vec<Violation> {
    match id {
        SkillId::InventorySearch | SkillId::InventoryFacets => search::not_offered(call, data),
        SkillId::LeadSubmit => leads::problems(data, &call.tenant.policy),
        SkillId::DealerInformation | SkillId::InventoryVehicle => Vec::new(),
    }
}

pub(crate) fn dispatch(call: &Call, data: &Value) -> Result<&'static SkillSpec, Fault> {
    // Whatever is wrong with `type` alone, the payload breaks its schema: never MISSING_REQUIRED_FIELD.
    let refuse = |location: &str, keyword: &'static str, message: &str| {
        let mut fault = Fault::validation(vec![Violation::new(location, keyword, message)]);
        fault.code = FaultCode::SchemaValidationFailed;
        Err(fault)
    };
    let Some(members) = data.as_object() else {
        return refuse("", "type", "must be an object");
    };
    let Some(kind) = members.get("type") else {
        return refuse("/type", "required", "is required");
    };
    let Some(kind) = kind.as_str() else {
        return refuse("/type", "type", "must be a string");
    };
    if let Some(skill) = SKILL_SPECS.into_iter().find(|skill| skill.request_type == kind) {
        if call.tenant.skills.contains(&skill.id) {
            return Ok(skill);
        }
        return Err(unsupported(call, skill.id.as_str()));
    }
    if !is_type_name(kind) {
        return refuse("/type", "pattern", "must be lower-case words joined by one or two dots");
    }
    match kind.strip_suffix(".request") {
        Some(name) => Err(unsupported(call, name)),
        None => refuse("/type", "enum", "must be the type of a request"),
    }
}

/// `^[a-z_]+(\.[a-z_]+){1,2}$`, the form of every `type` (AAP.md 0.1).
fn is_type_name(text: &str) -> bool {
    let words: Vec<_> = text.split('.').collect();
    (2..=3).contains(&words.len())
        && words.iter().all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

/// The refusal of a skill that this dealer does not offer. `name` is a type name that has been checked.
pub(crate) fn unsupported(call: &Call, name: &str) -> Fault {
    let known = SKILL_SPECS.into_iter().any(|skill| skill.id.as_str() == name);
    let message = if known {
        format!("This dealer does not offer {name}.")
    } else {
        "This dealer offers no skill of that name.".to_owned()
    };
    let offered: Vec<_> = call.tenant.skills.iter().map(|id| id.as_str()).collect();
    let fault = Fault::new(FaultCode::UnsupportedSkill, message).with_detail("supported_skills", offered);
    if known { fault.with_detail("skill", name) } else { fault }
}

/// Appends `{"type":"…","data":` for a skill's answer.
pub(crate) fn open_payload(out: &mut Vec<u8>, id: SkillId) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(id.spec().response_type.as_bytes());
    out.extend_from_slice(b"\",\"data\":");
}

/// Ends a payload, with the note that a sandbox dealer owes its callers.
pub(crate) fn close_payload(out: &mut Vec<u8>, call: &Call) {
    write_message(out, call.tenant.sandbox.then_some(SANDBOX), None);
}

/// Ends a payload about the lot: past the dealer's limit it says how old the lot is (FEEDS.md 9).
pub(crate) fn close_lot_payload(out: &mut Vec<u8>, call: &Call) {
    let old = call.tenant.freshness.sentence(call.tenant.policy.now().timestamp());
    write_message(out, call.tenant.sandbox.then_some(SANDBOX), old.as_deref());
}

const SANDBOX: &str = "Sandbox dealer: for trying out; nothing here is for sale.";

/// Notes for whoever reads the answer, in the one member that every contract has for them. Nothing in them has to be
/// escaped.
fn write_message(out: &mut Vec<u8>, first: Option<&str>, second: Option<&str>) {
    let mut before: &[u8] = b",\"message\":\"";
    for note in [first, second].into_iter().flatten() {
        out.extend_from_slice(before);
        out.extend_from_slice(note.as_bytes());
        before = b" ";
    }
    out.extend_from_slice(if before == b" " { b"\"}" } else { b"}" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_served_skill_is_one_of_the_protocol_and_stands_once() {
        let ids: Vec<_> = built().collect();
        for id in &ids {
            assert_eq!(ids.iter().filter(|other| *other == id).count(), 1);
            assert!(SKILL_SPECS.iter().any(|spec| spec.id == *id));
        }
    }

    #[test]
    fn notes_are_one_member_however_many_there_are() {
        for (first, second, end) in [
            (None, None, "}"),
            (Some("a."), None, ",\"message\":\"a.\"}"),
            (None, Some("b."), ",\"message\":\"b.\"}"),
            (Some("a."), Some("b."), ",\"message\":\"a. b.\"}"),
        ] {
            let mut out = Vec::new();
            write_message(&mut out, first, second);
            assert_eq!(String::from_utf8(out).unwrap(), end);
        }
    }

    #[test]
    fn type_names_follow_the_pattern() {
        for good in ["inventory.search.request", "a.b", "a_b.c.d"] {
            assert!(is_type_name(good), "{good}");
        }
        for bad in ["", "a", "a.b.c.d", "A.b", "a..b", "a.b\n", "a.b1"] {
            assert!(!is_type_name(bad), "{bad:?}");
        }
    }
}
