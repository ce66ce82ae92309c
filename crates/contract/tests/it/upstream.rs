//! Our schemas accept and reject exactly what the published ones of the draft do, apart from what v3.0 changes.
//!
//! The published files are no part of this repository. Where they do not lie beside it, the comparison is left
//! out and says so.

use std::path::PathBuf;

use contract::{Contract, ContractVersion, FaultCode, Violation};
use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use crate::V3_0;
use crate::mutate::{Change, Dice, Documents, changes, full};

const DRAFT_BASE: &str = "https://draft.autoagentprotocol.invalid/latest/schemas/";
const DRAFT_EXTENSION: &str = "https://draft.autoagentprotocol.invalid/extensions/aap/latest";

/// What a violation may be called (AAP.md 6.1). The last two occur in cards and profiles alone.
const KEYWORDS: &[&str] = &[
    "type",
    "required",
    "enum",
    "const",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "contains",
];

/// Where the published data lies, if it does.
fn published() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/contract/upstream/latest");
    if beside.join("schemas").is_dir() {
        return Some(beside);
    }
    eprintln!("skipped: {} is not there, so there is nothing to compare with", beside.display());
    None
}

fn ours() -> Documents {
    Contract::schemas(ContractVersion::V3_0)
        .map(|(file, text)| (file.to_owned(), serde_json::from_str(text).unwrap()))
        .collect()
}

fn theirs(root: &std::path::Path) -> Documents {
    let mut all = Documents::new();
    for prefix in ["", "_primitives/"] {
        for entry in std::fs::read_dir(root.join("schemas").join(prefix)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path)
                    .unwrap()
                    .replace(DRAFT_EXTENSION, V3_0.spec().extension_uri);
                let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
                all.insert(name, serde_json::from_str(&text).unwrap());
            }
        }
    }
    // Never sent by a dealer, or abstract.
    all.remove("event.schema.json").unwrap();
    all.remove("_primitives/aap-message.schema.json").unwrap();
    become_v3_0(&mut all);
    all
}

/// The whole difference between the draft and v3.0 (AAP.md 7.4 and 16.2).
fn become_v3_0(all: &mut Documents) {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let statuses = json!(["available", "intransit", "pending"]);
    let members = |all: &mut Documents, file: &str, pointer: &str, remove: &[&str], add: Value| {
        let target = all.get_mut(file).unwrap().pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        for key in remove {
            target.remove(*key).unwrap();
        }
        for (key, value) in add.as_object().unwrap() {
            assert!(target.insert(key.clone(), value.clone()).is_none(), "{file}: {key} was there before");
        }
    };

    for stem in
        ["dealer-information", "inventory-facets", "inventory-search", "vehicle-detail", "lead-submit"]
    {
        let add = json!({"dealer_id": {"type": "string"}});
        members(all, &format!("{stem}-request.schema.json"), "/properties", &[], add);
    }
    let request = "inventory-search-request.schema.json";
    let cursor = json!({"type": "string", "minLength": 1, "maxLength": 2048});
    members(all, request, "/properties/pagination/properties", &["skip"], json!({"cursor": cursor}));
    let status = json!({"type": "array", "items": {"type": "string", "enum": statuses}});
    members(all, request, "/$defs/filters/properties", &[], json!({"status": status, "features": texts}));

    let sort = all[request]["properties"]["sort"].clone();
    let answer = "inventory-search-response.schema.json";
    let add = json!({
        "next_cursor": {"type": ["string", "null"], "minLength": 1, "maxLength": 2048},
        "applied_filters": {"$ref": "./inventory-search-request.schema.json#/$defs/filters"},
        "sort": sort,
    });
    members(all, answer, "/properties/data/properties", &["skip", "facets"], add);
    let all_six = json!(["total", "limit", "next_cursor", "applied_filters", "sort", "vehicles"]);
    *all.get_mut(answer).unwrap().pointer_mut("/properties/data/required").unwrap() = all_six;

    let error = all.get_mut("error.schema.json").unwrap();
    error["properties"].as_object_mut().unwrap().remove("@type").unwrap();
    error["required"].as_array_mut().unwrap().retain(|key| key != "@type");
    error["properties"]["code"]["enum"] = FaultCode::ALL.iter().map(|code| code.as_str()).collect();

    // Ours alone: what search and detail demand of a unit, under a name of its own.
    let unit = format!("./{answer}#/properties/data/properties/vehicles/items");
    all.insert(
        "listing.schema.json".into(),
        json!({"$id": format!("{DRAFT_BASE}listing.schema.json"), "$ref": unit}),
    );
}

/// With the library's own pattern engine, not the one that the crate uses.
fn compile(all: &Documents) -> Vec<(String, Validator)> {
    let registry = Registry::new()
        .extend(all.iter().map(|(f, d)| (format!("{DRAFT_BASE}{f}"), d)))
        .unwrap()
        .prepare()
        .unwrap();
    let options = jsonschema::draft202012::options().with_registry(&registry).should_validate_formats(true);
    all.iter().map(|(file, document)| (file.clone(), options.build(document).unwrap())).collect()
}

/// The payloads inside the published examples, whatever they are wrapped in.
fn examples(root: &std::path::Path) -> Vec<Value> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(root.join("examples")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let text = text.replace(DRAFT_EXTENSION, V3_0.spec().extension_uri);
        let whole: Value = serde_json::from_str(&text).unwrap();
        for pointer in
            ["/params/message/parts/0/data", "/result/message/parts/0/data", "/error/data/2", "/error/data/1"]
        {
            all.extend(whole.pointer(pointer).cloned());
        }
        all.push(whole);
    }
    all
}

struct Comparison<'a> {
    file: &'a str,
    theirs: &'a Validator,
    accepted: usize,
    refused: usize,
}

impl Comparison<'_> {
    fn compare(&mut self, payload: &Value) {
        let there = self.theirs.is_valid(payload);
        let here = V3_0.check(self.file, payload);
        assert_eq!(here.is_ok(), there, "{}: {payload}\nhere: {here:?}", self.file);
        match here {
            Ok(()) => self.accepted += 1,
            Err(found) => {
                self.refused += 1;
                assert_well_said(self.file, payload, &found);
            }
        }
    }
}

/// Each problem once, in order, with a keyword of AAP.md 6.1 and words of its own.
fn assert_well_said(file: &str, payload: &Value, found: &[Violation]) {
    assert!(!found.is_empty(), "{file}: {payload}");
    let places: Vec<_> = found.iter().map(|v| (&v.location, &v.keyword)).collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{file}: {places:?}");
    for violation in found {
        assert!(KEYWORDS.contains(&&*violation.keyword), "{file}: {violation:?}");
        assert_ne!(violation.message, "does not fit the schema", "{file}: {violation:?}");
        // The place exists, or the key that is missing there would be its last step.
        let place = match violation.location.rsplit_once('/') {
            Some((parent, _)) if violation.keyword == "required" => parent,
            _ => &violation.location,
        };
        assert!(payload.pointer(place).is_some(), "{file}: {violation:?} of {payload}");
    }
}

#[test]
fn accepts_and_rejects_what_the_published_schemas_do() {
    let Some(root) = published() else { return };
    let (ours, theirs) = (ours(), theirs(&root));
    let same_files: Vec<_> = ours.keys().filter(|file| theirs.contains_key(*file)).collect();
    assert_eq!(same_files.len(), ours.len(), "ours without a counterpart");
    assert_eq!(theirs.len(), ours.len(), "published without a counterpart");
    let examples = examples(&root);
    assert!(examples.len() > 30, "{}", examples.len());

    let (mut accepted, mut refused) = (0, 0);
    let mut dice = Dice(20_261_130);
    for (file, validator) in &compile(&theirs) {
        let mut comparison = Comparison { file, theirs: validator, accepted: 0, refused: 0 };
        // Every example goes through every schema: those of other skills are refused by both.
        examples.iter().for_each(|example| comparison.compare(example));

        let mut bases = vec![full(&ours, file), full(&theirs, file)];
        bases.dedup();
        bases.extend(examples.iter().filter(|e| validator.is_valid(e)).take(2).cloned());
        assert_eq!(V3_0.check(file, &bases[0]), Ok(()), "{file}: the payload with every member");
        for base in &bases {
            let single = changes(base);
            single
                .iter()
                .filter_map(|change| change.apply(base))
                .for_each(|changed| comparison.compare(&changed));
            for _ in 0..200 {
                let some: [&Change; 3] = std::array::from_fn(|_| dice.pick(&single));
                let spoiled =
                    some.into_iter().try_fold(base.clone(), |payload, change| change.apply(&payload));
                spoiled.iter().for_each(|payload| comparison.compare(payload));
            }
        }
        assert!(
            comparison.accepted > 10 && comparison.refused > 50,
            "{file}: {} {}",
            comparison.accepted,
            comparison.refused
        );
        accepted += comparison.accepted;
        refused += comparison.refused;
    }
    eprintln!(
        "compared {} payloads with the published schemas: {accepted} accepted, {refused} refused, by both",
        accepted + refused
    );
    assert!(accepted + refused > 10_000, "{accepted} {refused}");
}

#[test]
fn no_sentence_of_the_published_schemas_is_in_ours() {
    let Some(root) = published() else { return };
    fn sentences(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    match inner.as_str() {
                        Some(text) if key == "description" => out.push(text.to_owned()),
                        _ => sentences(inner, out),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|inner| sentences(inner, out)),
            _ => {}
        }
    }
    let collect = |all: &Documents| {
        let mut out = Vec::new();
        all.values().for_each(|document| sentences(document, &mut out));
        out
    };
    let published = collect(&theirs(&root)).join(" \n ");
    let mut looked_at = 0;
    for own in collect(&ours()) {
        for sentence in own.split(". ").filter(|s| s.split(' ').count() >= 6) {
            looked_at += 1;
            assert!(!published.contains(sentence.trim_end_matches('.')), "{sentence}");
        }
    }
    assert!(looked_at > 100, "{looked_at}");
}
