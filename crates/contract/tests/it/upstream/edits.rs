//! The comparison has to notice whatever is changed in one of our schemas.

use std::ops::ControlFlow;

use contract::ContractVersion;
use jsonschema::{PatternOptions, Registry, Validator};
use serde_json::{Value, json};

use super::reference::Reference;
use super::{each_payload, ours};
use crate::mutate::Documents;

/// One file of an edited set, compiled as the crate compiles it.
fn compile(version: ContractVersion, all: &Documents, file: &str) -> Result<Validator, String> {
    let base = version.spec().unwrap().schema_base;
    let registry = Registry::new()
        .extend(all.iter().map(|(f, d)| (format!("{base}{f}"), d)))
        .and_then(jsonschema::RegistryBuilder::prepare)
        .map_err(|e| e.to_string())?;
    jsonschema::draft202012::options()
        .with_registry(&registry)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .build(&all[file])
        .map_err(|e| e.to_string())
}

/// The first payload that an edited schema takes otherwise than the published one.
fn noticed(
    version: ContractVersion,
    reference: &Reference,
    theirs: &Validator,
    edited: &Documents,
    file: &str,
) -> Option<Value> {
    let Ok(here) = compile(version, edited, file) else {
        return Some(json!("it is no schema any more"));
    };
    let mut found = None;
    let whole = each_payload(edited, reference, file, theirs, &mut |payload| {
        if here.is_valid(payload) == theirs.is_valid(payload) {
            return ControlFlow::Continue(());
        }
        found = Some(payload.clone());
        ControlFlow::Break(())
    });
    assert_eq!(whole.is_break(), found.is_some());
    found
}

/// What is published of a version, compiled once.
struct Published {
    version: ContractVersion,
    reference: Reference,
    compiled: Vec<(String, Validator)>,
}

#[test]
fn ten_changes_to_one_field_each_are_all_noticed() {
    let edits: [(ContractVersion, &str, &str, Option<Value>); 10] = [
        (
            ContractVersion::V1_3,
            "inventory-search-request",
            "/properties/pagination/properties/limit/maximum",
            Some(json!(1001)),
        ),
        (ContractVersion::V1_3, "customer", "/properties/phone/pattern", Some(json!(r"^\+[1-9]\d{1,15}$"))),
        (ContractVersion::V1_3, "dealer-information", "/$defs/rooftop/additionalProperties", None),
        (
            ContractVersion::V1_3,
            "agent-card",
            "/$defs/interface/properties/protocolBinding/enum",
            Some(json!(["JSONRPC", "HTTP+JSON", "GRPC"])),
        ),
        (
            ContractVersion::Latest,
            "error",
            "/required",
            Some(json!(["type", "error_id", "code", "message", "retryable", "created_at"])),
        ),
        (ContractVersion::Latest, "vehicle", "/properties/fees/uniqueItems", None),
        (
            ContractVersion::Latest,
            "lead-submit-response",
            "/properties/data/properties/appointment/properties/proposed_times/minItems",
            Some(json!(0)),
        ),
        (ContractVersion::V3_0, "consent-grant", "/properties/granted_at/format", Some(json!("date"))),
        (ContractVersion::V3_0, "lead-submit-request", "/properties/message/maxLength", Some(json!(3999))),
        (
            ContractVersion::V3_0,
            "inventory-search-response",
            "/properties/data/properties/next_cursor/type",
            Some(json!("string")),
        ),
    ];
    let mut held: Option<Published> = None;
    for (version, stem, at, to) in edits {
        if held.as_ref().is_none_or(|held| held.version != version) {
            let Some(reference) = Reference::of(version) else { return };
            held = Some(Published { version, compiled: reference.compile(), reference });
        }
        let Published { reference, compiled, .. } = held.as_ref().unwrap();
        let file = format!("{stem}.schema.json");
        let theirs = &compiled.iter().find(|(f, _)| *f == file).unwrap().1;
        let mut edited = ours(version);
        set(edited.get_mut(&file).unwrap(), at, to.clone());
        let payload = noticed(version, reference, theirs, &edited, &file);
        assert!(payload.is_some(), "{version}/{file}: {at} -> {to:?} was not noticed");
    }
}

#[test]
fn a_keyword_that_is_put_in_is_noticed_as_well() {
    let version = ContractVersion::V3_0;
    let Some(reference) = Reference::of(version) else { return };
    let compiled = reference.compile();
    for (stem, at, keyword, value) in [
        ("vehicle", "/properties/photos", "maxItems", json!(40)),
        ("vehicle", "/properties/fees", "maxItems", json!(7)),
        ("vehicle", "/properties/description", "maxLength", json!(5000)),
        ("vehicle", "/properties/mileage", "maximum", json!(999_999)),
        ("customer", "/properties/first_name", "minLength", json!(1)),
        ("customer", "/properties", "nickname", json!({"type": "string"})),
        ("facets", "/$defs/range/properties/min", "multipleOf", json!(1)),
        ("agent-card", "/properties/version", "pattern", json!(r"^\d")),
        ("dealer-information", "/$defs/rooftop/properties/timezone", "format", json!("uri")),
        ("inventory-search-response", "/properties/data/properties/vehicles", "minItems", json!(1)),
    ] {
        let file = format!("{stem}.schema.json");
        let mut edited = ours(version);
        let place = edited.get_mut(&file).unwrap().pointer_mut(at).unwrap().as_object_mut().unwrap();
        assert!(place.insert(keyword.to_owned(), value).is_none(), "{file}{at} has {keyword}");
        let theirs = &compiled.iter().find(|(f, _)| *f == file).unwrap().1;
        let payload = noticed(version, &reference, theirs, &edited, &file);
        assert!(payload.is_some(), "{file}{at}: a new {keyword} was not noticed");
    }
}

fn set(document: &mut Value, at: &str, to: Option<Value>) {
    let (parent, key) = at.rsplit_once('/').unwrap();
    let members = document.pointer_mut(parent).unwrap();
    match (members, to) {
        (Value::Object(members), Some(to)) => assert!(members.insert(key.to_owned(), to).is_some(), "{at}"),
        (Value::Object(members), None) => assert!(members.remove(key).is_some(), "{at}"),
        (Value::Array(items), None) => drop(items.remove(key.parse().unwrap())),
        (Value::Array(items), Some(to)) => items[key.parse::<usize>().unwrap()] = to,
        _ => panic!("{at}"),
    }
}

/// Every keyword of every schema, taken away or moved a little.
fn all_edits(value: &Value, at: &str, inside: Inside, out: &mut Vec<(String, Option<Value>)>) {
    match (value, inside) {
        (Value::Object(members), Inside::Names) => {
            for (name, schema) in members {
                let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                out.push((place.clone(), None));
                all_edits(schema, &place, Inside::Schema, out);
            }
        }
        (Value::Object(keywords), Inside::Schema) => {
            for (keyword, value) in keywords {
                let place = format!("{at}/{keyword}");
                match (keyword.as_str(), value) {
                    ("title" | "description" | "examples" | "$schema" | "$id", _) => continue,
                    ("properties" | "$defs", _) => all_edits(value, &place, Inside::Names, out),
                    ("items" | "contains" | "if" | "then", _) => {
                        out.push((place.clone(), None));
                        all_edits(value, &place, Inside::Schema, out);
                    }
                    ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                        out.push((place.clone(), None));
                        for (i, branch) in branches.iter().enumerate() {
                            all_edits(branch, &format!("{place}/{i}"), Inside::Schema, out);
                            if branches.len() > 1 {
                                out.push((format!("{place}/{i}"), None));
                            }
                        }
                    }
                    ("enum" | "required", Value::Array(words)) => {
                        out.push((place.clone(), None));
                        for i in 0..words.len() {
                            let mut fewer = words.clone();
                            fewer.remove(i);
                            out.push((place.clone(), Some(fewer.into())));
                        }
                        let more = words.iter().cloned().chain([json!("brand_new")]).collect();
                        out.push((place, Some(more)));
                    }
                    (_, Value::Number(n)) => {
                        let n = n.as_i64().unwrap();
                        out.extend(
                            [None, Some(json!(n - 1)), Some(json!(n + 1))].map(|to| (place.clone(), to)),
                        );
                    }
                    ("additionalProperties", Value::Object(_)) => {
                        out.push((place.clone(), None));
                        all_edits(value, &place, Inside::Schema, out);
                    }
                    ("additionalProperties", Value::Bool(true)) => out.push((place, Some(json!(false)))),
                    // A word of a list is a string already.
                    ("type", _) if keywords.contains_key("enum") => {}
                    ("type", Value::String(_)) => {
                        out.push((place.clone(), None));
                        out.push((place, Some(json!([value, "null"]))));
                    }
                    ("const", _) => out.extend([(place.clone(), None), (place, Some(json!("brand_new")))]),
                    ("pattern", Value::String(pattern)) => {
                        out.push((place.clone(), None));
                        out.push((place.clone(), Some(json!(pattern.trim_end_matches('$')))));
                        out.push((place, Some(json!(pattern.trim_start_matches('^')))));
                    }
                    _ => out.push((place, None)),
                }
            }
        }
        _ => {}
    }
}

#[derive(Clone, Copy)]
enum Inside {
    /// Of a schema: its keywords.
    Schema,
    /// Of `properties` or `$defs`: names.
    Names,
}

/// Where an edit changes nothing, because another keyword says the same.
const MEANINGLESS: &[&str] = &[
    // A name with a character that is not blank is not empty,.
    "dealer-fee.schema.json/properties/name/minLength",
    // What one entry of a list must be, every entry must be.
    "/contains/type",
    "/contains/required",
    "/supportedInterfaces/minItems",
    // An address that is no text counts as one of this protocol, and there may be one.
    "/$defs/extension/properties/uri/type",
    // There is one word to choose from.
    "/scope/maxItems",
    "/scope/uniqueItems",
    // `event_kind` is required, and one of two.
    "/if/required",
    // The words of each kind of event are listed.
    "event.schema.json/properties/status/type",
    // Of the seven words of a vehicle some are left; no other can be added.
    "lead-submit-request.schema.json/properties/trade_in/properties/condition/enum",
    "lead-submit-request.schema.json/properties/vehicle_of_interest/properties/condition/enum",
    "listing.schema.json/properties/condition/enum",
];

/// Far too slow for every day. `cargo test -p contract --test it -- --ignored --nocapture every_edit`
#[test]
#[ignore = "takes minutes; to be run when the payloads or the schemas are changed"]
fn every_edit_of_every_keyword_is_noticed() {
    let mut missed = Vec::new();
    let mut tried = 0;
    for version in ContractVersion::ALL {
        let Some(reference) = Reference::of(version) else { return };
        for (file, theirs) in &reference.compile() {
            let documents = ours(version);
            let mut payloads = Vec::new();
            let whole = each_payload(&documents, &reference, file, theirs, &mut |payload| {
                payloads.push((payload.clone(), theirs.is_valid(payload)));
                ControlFlow::Continue(())
            });
            assert!(whole.is_continue());
            let mut edits = Vec::new();
            all_edits(&documents[file], "", Inside::Schema, &mut edits);
            for (at, to) in edits {
                if documents[file].pointer(&at) == to.as_ref() {
                    continue;
                }
                tried += 1;
                let mut edited = documents.clone();
                set(edited.get_mut(file).unwrap(), &at, to.clone());
                let seen = match compile(version, &edited, file) {
                    Ok(here) => payloads.iter().any(|(payload, there)| here.is_valid(payload) != *there),
                    Err(_) => true,
                };
                if !seen {
                    let to = to.map_or("gone".to_owned(), |to| to.to_string());
                    eprintln!("{version}/{file}{at} -> {to}");
                    missed.push(format!("{version}/{file}{at}"));
                }
            }
        }
    }
    eprintln!("{} of {tried} edits were not noticed", missed.len());
    missed.retain(|at| !MEANINGLESS.iter().any(|known| at.ends_with(known)));
    assert!(tried > 3000 && missed.is_empty(), "of {tried}: {missed:#?}");
}
