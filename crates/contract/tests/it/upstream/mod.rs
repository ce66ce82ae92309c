//! Our schemas accept and reject exactly what the published ones do, version by version.
//!
//! The published files are no part of this repository. Where they do not lie beside it, the comparison is left
//! out and says so.

mod edits;
mod reference;

use std::ops::ControlFlow;

use contract::{Contract, ContractVersion, Violation};
use jsonschema::Validator;
use serde_json::Value;

use self::reference::Reference;
use crate::contract_of;
use crate::mutate::{Change, Dice, Documents, Vocabulary, full};

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

fn ours(version: ContractVersion) -> Documents {
    Contract::schemas(version)
        .map(|(file, text)| (file.to_owned(), serde_json::from_str(text).unwrap()))
        .collect()
}

/// Payloads for one file: every example, the payloads with every member that either side knows, each of these
/// with every single change, and with three changes at once. Always the same ones, until `visit` has enough.
fn each_payload(
    ours: &Documents,
    reference: &Reference,
    file: &str,
    accepts: &Validator,
    visit: &mut dyn FnMut(&Value) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let words = Vocabulary::of(&[ours, &reference.documents]);
    let mut bases = vec![full(ours, file), full(&reference.documents, file)];
    bases.dedup();
    bases.extend(ours[file]["examples"].as_array().into_iter().flatten().cloned());
    let fitting = reference.examples.iter().filter(|example| accepts.is_valid(example));
    bases.extend(fitting.take(2).cloned());
    // Every example goes through every schema: those of other skills are refused by both.
    bases.iter().chain(&reference.examples).try_for_each(&mut *visit)?;
    let mut dice = Dice(20_261_130);
    for (i, base) in bases.iter().enumerate() {
        // What a large payload holds is tried by itself as well, so of it a part is enough.
        let every = match (base.to_string().len(), i) {
            (..400, _) | (..1500, 0) => 1,
            (_, 0) => 4,
            (..2500, _) => 8,
            _ => 32,
        };
        let single = words.some_changes(base, every);
        for change in &single {
            if let Some(changed) = change.apply(base) {
                visit(&changed)?;
            }
        }
        for _ in 0..200 {
            let some: [&Change; 3] = std::array::from_fn(|_| dice.pick(&single));
            let spoiled = some.into_iter().try_fold(base.clone(), |payload, change| change.apply(&payload));
            if let Some(spoiled) = spoiled {
                visit(&spoiled)?;
            }
        }
    }
    ControlFlow::Continue(())
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

fn assert_equivalent(version: ContractVersion) {
    let Some(reference) = Reference::of(version) else { return };
    let (ours, contract) = (ours(version), contract_of(version));
    assert!(ours.keys().eq(reference.documents.keys()), "{version}: the files are not the same ones");
    assert!(reference.examples.len() >= 29, "{}", reference.examples.len());

    let (mut accepted, mut refused) = (0, 0);
    for (file, theirs) in &reference.compile() {
        let (mut good, mut bad) = (0, 0);
        let whole = each_payload(&ours, &reference, file, theirs, &mut |payload| {
            let there = theirs.is_valid(payload);
            let here = contract.check(file, payload);
            assert_eq!(here.is_ok(), there, "{version}/{file}: {payload}\nhere: {here:?}");
            match here {
                Ok(()) => good += 1,
                Err(found) => {
                    bad += 1;
                    assert_well_said(file, payload, &found);
                }
            }
            ControlFlow::Continue(())
        });
        assert!(whole.is_continue());
        assert!(good > 4 && bad > 50, "{file}: {good} accepted, {bad} refused");
        accepted += good;
        refused += bad;
    }
    eprintln!(
        "{version}: {} payloads, {accepted} accepted and {refused} refused, by our schemas and the published ones",
        accepted + refused
    );
    assert!(accepted + refused > 10_000, "{accepted} {refused}");
}

#[test]
fn v1_3_accepts_and_rejects_what_the_published_schemas_do() {
    assert_equivalent(ContractVersion::V1_3);
}

#[test]
fn the_draft_accepts_and_rejects_what_the_published_schemas_do() {
    assert_equivalent(ContractVersion::Latest);
}

#[test]
fn v3_0_accepts_and_rejects_what_the_draft_with_its_changes_does() {
    assert_equivalent(ContractVersion::V3_0);
}

#[test]
fn no_sentence_of_the_published_schemas_is_in_ours() {
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
    for version in ContractVersion::ALL {
        let Some(reference) = Reference::of(version) else { return };
        let published = collect(&reference.documents).join(" \n ");
        let mut looked_at = 0;
        for own in collect(&ours(version)) {
            for sentence in own.split(". ").filter(|s| s.split(' ').count() >= 6) {
                looked_at += 1;
                assert!(!published.contains(sentence.trim_end_matches('.')), "{sentence}");
            }
        }
        assert!(looked_at > 100, "{looked_at}");
    }
}
