//! The files themselves: all embedded, all found, all closed over each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use contract::{CONTRACTS, Contract, ContractVersion, FaultCode, SKILL_SPECS};
use serde_json::Value;

use crate::contract_of;

fn documents(version: ContractVersion) -> BTreeMap<&'static str, Value> {
    Contract::schemas(version).map(|(file, text)| (file, serde_json::from_str(text).unwrap())).collect()
}

/// Every object in a document, with the pointer that leads to it.
fn each_object(value: &Value, at: &str, visit: &mut dyn FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(at, map);
            map.iter().for_each(|(key, inner)| each_object(inner, &format!("{at}/{key}"), visit));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, inner)| each_object(inner, &format!("{at}/{i}"), visit));
        }
        _ => {}
    }
}

#[test]
fn every_file_of_the_folder_is_embedded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for spec in CONTRACTS {
        let folder = root.join(spec.version.as_str());
        let mut on_disk = BTreeSet::new();
        for (prefix, directory) in [("", folder.clone()), ("_primitives/", folder.join("_primitives"))] {
            for entry in std::fs::read_dir(directory).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if name != "_primitives" {
                    on_disk.insert(format!("{prefix}{name}"));
                }
            }
        }
        let embedded: BTreeSet<String> = documents(spec.version).keys().map(|f| (*f).to_owned()).collect();
        assert_eq!(on_disk, embedded, "{}", spec.version);
    }
    let folders = std::fs::read_dir(root).unwrap().count();
    assert_eq!(folders, CONTRACTS.len(), "a folder without a row in CONTRACTS, or the other way round");
}

#[test]
fn addresses_are_those_of_the_contract_and_every_reference_stays_inside_the_set() {
    for spec in CONTRACTS {
        let all = documents(spec.version);
        let mut references = 0;
        for (file, document) in &all {
            assert_eq!(document["$id"], format!("{}{file}", spec.schema_base));
            assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema", "{file}");
            each_object(document, "", &mut |at, object| {
                let Some(reference) = object.get("$ref").and_then(Value::as_str) else { return };
                references += 1;
                let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                let target = match name {
                    "" => (*file).to_owned(),
                    name if folder.is_empty() => name.to_owned(),
                    name => format!("{folder}/{name}"),
                };
                let found = all.get(target.as_str()).and_then(|t| t.pointer(pointer));
                assert!(found.is_some(), "{file}#{at}: {reference} leads nowhere");
            });
        }
        assert!(references > 40, "{references}");
    }
}

#[test]
fn every_schema_tells_a_reader_what_it_is_and_its_examples_hold() {
    for spec in CONTRACTS {
        let contract = Contract::load(spec.version).unwrap();
        let mut examples = 0;
        for (file, document) in documents(spec.version) {
            for key in ["title", "description"] {
                assert!(document[key].as_str().is_some_and(|text| !text.is_empty()), "{file} has no {key}");
            }
            let own = document["examples"].as_array().unwrap_or_else(|| panic!("{file} has no examples"));
            for example in own {
                contract.check(file, example).unwrap_or_else(|e| panic!("{file}: {example}: {e:?}"));
                examples += 1;
            }
            each_object(&document, "", &mut |at, object| {
                let Some(members) = object.get("properties").and_then(Value::as_object) else { return };
                let says_more = |m: &Value| m.get("description").is_some() || m.get("$ref").is_some();
                // Members inside a condition (`contains`, a narrowed `$ref`) are explained where they are declared.
                let condition =
                    at.contains("/contains") || at.ends_with("/if") || object.contains_key("$ref");
                for (name, member) in members.iter().filter(|_| !condition) {
                    let plain = name == "data" && member.get("properties").is_some();
                    assert!(says_more(member) || plain, "{file}#{at}/properties/{name} is not explained");
                }
            });
        }
        assert!(examples >= 21, "{examples}");
    }
}

#[test]
fn examples_of_single_members_hold_too() {
    let all = documents(ContractVersion::V3_0);
    let mut checked = 0;
    for document in all.values() {
        each_object(document, "", &mut |at, object| {
            let Some(own) = object.get("examples").and_then(Value::as_array) else { return };
            if at.is_empty() || object.contains_key("$ref") {
                return;
            }
            // A member's schema is complete in itself, apart from references that these members do not have.
            let alone = Value::Object(object.clone());
            if alone.to_string().contains("$ref") {
                return;
            }
            let validator = jsonschema::draft202012::options()
                .should_validate_formats(true)
                .build(&alone)
                .unwrap_or_else(|e| panic!("{at}: {e}"));
            for example in own {
                assert!(validator.is_valid(example), "{}{at}: {example}", document["title"]);
                checked += 1;
            }
        });
    }
    assert!(checked > 120, "{checked}");
}

#[test]
fn skills_and_codes_name_schemas_that_exist() {
    for spec in SKILL_SPECS {
        for contract in CONTRACTS.iter().map(|contract| contract_of(contract.version)) {
            for file in [spec.request_schema, spec.response_schema] {
                let wrong = contract.check(file, &Value::Null).unwrap_err();
                assert_eq!(wrong[0].keyword, "type", "{file}");
            }
            let request = serde_json::json!({"type": spec.request_type});
            let about_type = contract.check(spec.request_schema, &request).err().unwrap_or_default();
            assert!(about_type.iter().all(|v| v.location != "/type"), "{about_type:?}");
        }
    }
    for spec in CONTRACTS {
        let all = documents(spec.version);
        let listed = all["error.schema.json"].pointer("/properties/code/enum").unwrap().as_array().unwrap();
        let listed: Vec<&str> = listed.iter().map(|code| code.as_str().unwrap()).collect();
        let known = FaultCode::ALL.iter().filter(|code| spec.number(**code).is_some());
        let known: Vec<&str> = known.map(|code| code.as_str()).collect();
        assert_eq!(listed, known, "{}", spec.version);
    }
}

#[test]
fn a_file_that_is_not_there_accepts_nothing() {
    for spec in CONTRACTS {
        let refused = contract_of(spec.version).check("no-such.schema.json", &Value::Null).unwrap_err();
        assert_eq!(refused.len(), 1);
    }
}
