//! A payload from a schema: every member that the schema knows is present.

use serde_json::{Map, Value, json};

use super::Documents;

/// A payload in which every member that the schema knows is present.
pub(crate) fn full(all: &Documents, file: &str) -> Value {
    sample(all, file, &all[file])
}

fn sample(all: &Documents, file: &str, schema: &Value) -> Value {
    let (file, schema) = &flat(all, file, schema);
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|options| options.get(0)) {
        return first.clone();
    }
    if let Some(branch) = schema.get("oneOf").and_then(|branches| branches.get(0)) {
        return sample(all, file, branch);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(several)) => several[0].as_str(),
        Some(one) => one.as_str(),
        None => schema.get("properties").map(|_| "object"),
    };
    match kind {
        Some("object") => {
            let mut object = Map::new();
            for (key, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                object.insert(key.clone(), sample(all, file, member));
            }
            if let Some(free) = schema.get("additionalProperties").filter(|s| s.is_object()) {
                object.insert("anything".into(), sample(all, file, free));
            }
            Value::Object(object)
        }
        Some("array") => {
            let mut entry = sample(all, file, &schema["items"]);
            // Where an array must contain a certain entry, the one entry is that one.
            if let (Some(wanted), Some(members)) = (schema.get("contains"), entry.as_object_mut()) {
                members.extend(sample(all, file, wanted).as_object().cloned().unwrap_or_default());
            }
            json!([entry])
        }
        Some("integer") => {
            let bound = |key: &str, otherwise| schema.get(key).and_then(Value::as_i64).unwrap_or(otherwise);
            json!(20.clamp(bound("minimum", 0), bound("maximum", 5000)))
        }
        Some("number") => json!(10.5),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => json!(text(schema)),
    }
}

fn text(schema: &Map<String, Value>) -> &'static str {
    let format = schema.get("format").and_then(Value::as_str);
    match (schema.get("pattern").and_then(Value::as_str), format) {
        (Some(pattern), _) if pattern.contains("A-HJ-NPR-Z") => "4S4BTGUD5R3217409",
        (Some(pattern), _) if pattern.contains(r"\+") => "+15035550186",
        (Some(pattern), _) if pattern.contains("[0-5]") => "08:30",
        (Some(pattern), _) if pattern.contains("[a-z_]") => "inventory.search.request",
        (Some(pattern), _) if pattern.contains("[hH]") || pattern.contains("[Hh]") => {
            "https://dealer.example/a2a"
        }
        (_, Some("date-time")) => "2026-11-30T09:15:00Z",
        (_, Some("date")) => "2026-11-30",
        (_, Some("uri")) => "https://dealer.example/x",
        (_, Some("email")) => "ilse@post.example",
        _ => "JSONRPC",
    }
}

/// The schema with its references and `allOf` members folded in, and the file in which it now stands.
fn flat(all: &Documents, file: &str, schema: &Value) -> (String, Map<String, Value>) {
    let mut whole = Map::new();
    let mut home = file.to_owned();
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if !name.is_empty() {
            home = name.trim_start_matches("./").to_owned();
        }
        let target = all[&home].pointer(pointer).unwrap();
        let (inner_home, inner) = flat(all, &home.clone(), target);
        home = inner_home;
        whole = inner;
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        let (inner_home, inner) = flat(all, &home.clone(), part);
        home = inner_home;
        merge(&mut whole, &inner);
    }
    merge(&mut whole, schema.as_object().unwrap());
    (home, whole)
}

fn merge(whole: &mut Map<String, Value>, part: &Map<String, Value>) {
    for (key, value) in part {
        match (whole.get_mut(key).and_then(Value::as_object_mut), value.as_object()) {
            (Some(known), Some(more)) if key == "properties" => {
                for (name, member) in more {
                    let slot = known.entry(name.clone()).or_insert_with(|| json!({}));
                    merge(slot.as_object_mut().unwrap(), member.as_object().unwrap());
                }
            }
            _ => drop(whole.insert(key.clone(), value.clone())),
        }
    }
}
