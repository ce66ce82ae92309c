//! Payloads as addresses to be read with GET, where they can be said that way without becoming another payload.

use contract::{ContractSpec, SkillId, SkillSpec};
use serde_json::{Map, Value};

/// Members of these are parameters of their own.
const GROUPS: [&str; 4] = ["filters", "sort", "pagination", "privacy"];
/// Parameters that stand for something else than a filter.
const APART: [&str; 7] = ["sort", "order", "limit", "cursor", "skip", "anonymous", "dealer_id"];

/// Path and query below the contract's base.
pub(super) fn target(spec: &ContractSpec, skill: &SkillSpec, payload: &Value) -> Option<String> {
    let members = payload.as_object()?;
    if members.get("type").is_some_and(|kind| *kind != skill.request_type) {
        return None;
    }
    let mut skipped = None;
    let path = match skill.id {
        SkillId::DealerInformation => "dealer".to_owned(),
        SkillId::InventoryFacets => "facets".to_owned(),
        SkillId::InventorySearch => "inventory".to_owned(),
        SkillId::InventoryVehicle => {
            let places = [("vehicle_id", ""), ("vin", "vin/"), ("stock", "stock/")];
            let (name, below) = places.into_iter().find(|(name, _)| members.contains_key(*name))?;
            let value = members[name].as_str().filter(|value| !["", ".", ".."].contains(value))?;
            skipped = Some(name);
            let coded: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            format!("inventory/{below}{coded}")
        }
        SkillId::LeadSubmit => return None,
    };
    let schema = contract::bundle(spec, skill.request_schema).unwrap();
    let mut pairs = Vec::new();
    for (name, value) in members {
        if name == "type" || skipped == Some(name.as_str()) {
            continue;
        }
        if GROUPS.contains(&name.as_str()) {
            let known = properties(&schema, schema["properties"].get(name)?);
            let inner = value.as_object().filter(|inner| !inner.is_empty())?;
            if name == "sort" && !(inner.contains_key("field") && inner.contains_key("order")) {
                return None;
            }
            for (member, value) in inner {
                let parameter = match (name.as_str(), member.as_str()) {
                    ("sort", "field") => "sort",
                    (_, member) => member,
                };
                let schema = known.get(member);
                // What nobody knows is taken for a filter.
                if schema.is_none() && (name != "filters" || APART.contains(&parameter)) {
                    return None;
                }
                add(&mut pairs, parameter, schema, value)?;
            }
        } else {
            let known = properties(&schema, &schema).get(name);
            let filtered = schema["properties"].get("filters").is_some();
            if known.is_none() && filtered {
                return None;
            }
            add(&mut pairs, name, known, value)?;
        }
    }
    let mut url: reqwest::Url = "http://localhost/".parse().unwrap();
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(&pairs);
    }
    Some(format!("{path}{}", url.query().map(|query| format!("?{query}")).unwrap_or_default()))
}

fn properties<'s>(whole: &'s Value, schema: &'s Value) -> &'s Map<String, Value> {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => whole.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    schema["properties"].as_object().expect("members")
}

/// The texts that stand for a value; `None` where they would stand for another one.
fn add(pairs: &mut Vec<(String, String)>, name: &str, schema: Option<&Value>, value: &Value) -> Option<()> {
    let kind = schema.and_then(|schema| schema["type"].as_str()).unwrap_or_default();
    let mut push = |kind: &str, value: &Value| {
        pairs.push((name.to_owned(), said(kind, value)?));
        Some(())
    };
    match value {
        Value::Array(items) if kind == "array" => {
            (!items.is_empty()).then_some(())?;
            items.iter().try_for_each(|item| push("", item))
        }
        Value::Array(items) => {
            (items.len() > 1).then_some(())?;
            items.iter().try_for_each(|item| push(kind, item))
        }
        single if kind == "array" && !single.is_array() => None,
        single => push(kind, single),
    }
}

fn said(kind: &str, value: &Value) -> Option<String> {
    match (kind, value) {
        ("integer" | "number", Value::Number(number)) => Some(number.to_string()),
        ("integer" | "number", Value::String(text)) => {
            let odd = text.is_empty() || text.chars().any(|c| !"0123456789+-.eE".contains(c));
            odd.then(|| text.clone())
        }
        ("boolean", Value::Bool(yes)) => Some(yes.to_string()),
        ("boolean", Value::String(text)) if text == "true" || text == "false" => None,
        (_, Value::String(text)) => Some(text.clone()),
        _ => None,
    }
}
