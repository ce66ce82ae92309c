//! What a dealer decided for itself: members `policy` and `callers` of a document.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::document::Member;
use super::rules::Findings;
use crate::callers::CallersRule;
use crate::policy::{Policy, SearchPolicy};

/// Reads each member alone first, so that every one that is wrong is named at its place.
pub(super) fn policy(found: &mut Findings, body: &Map<String, Value>) -> Member<Value> {
    let value = match body.get("policy") {
        None => return Member::Absent,
        Some(Value::Null) => return Member::Default,
        Some(value) => value,
    };
    let Some(members) = value.as_object() else {
        found.add("/policy", "must be an object");
        return Member::Absent;
    };
    let before = found.problems.len();
    for (key, value) in members {
        match (key.as_str(), value.as_object()) {
            ("search", Some(search)) => each_alone::<SearchPolicy>(found, "/policy/search", search),
            _ => each_alone::<Policy>(found, "/policy", &Map::from_iter([(key.clone(), value.clone())])),
        }
    }
    if found.problems.len() == before {
        match serde_json::from_value::<Policy>(value.clone()) {
            Ok(policy) => {
                for (pointer, message) in policy.problems() {
                    found.add(&format!("/policy{pointer}"), message);
                }
            }
            Err(error) => found.add("/policy", error.to_string()),
        }
    }
    Member::Set(value.clone())
}

/// Who may ask. `null` is a public dealer again.
pub(super) fn callers(found: &mut Findings, body: &Map<String, Value>) -> Member<Value> {
    let value = match body.get("callers") {
        None => return Member::Absent,
        Some(Value::Null) => return Member::Default,
        Some(value) => value,
    };
    match CallersRule::read(value) {
        Ok(_) => {}
        Err(problems) => problems.into_iter().for_each(|(at, why)| found.add(&format!("/callers{at}"), why)),
    }
    Member::Set(value.clone())
}

fn each_alone<T: DeserializeOwned>(found: &mut Findings, at: &str, members: &Map<String, Value>) {
    for (key, value) in members {
        let Err(error) = serde_json::from_value::<T>(json!({ key: value })) else { continue };
        let text = error.to_string();
        let message = if text.starts_with("unknown field") && !value.is_object() {
            "there is no such member".to_owned()
        } else {
            text
        };
        found.add(&format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), message);
    }
}
