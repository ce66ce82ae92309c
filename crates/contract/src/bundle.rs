//! A schema as one document that refers to nothing outside of itself.
//!
//! The files of a contract refer to each other by name. Who hands a schema to somebody that cannot or may not fetch
//! the others (a tool's input schema, an OpenAPI document) needs all of it in one place.

use serde_json::{Map, Value};

use crate::ContractSpec;

/// The root of a schema and every definition that it needs, directly or not, apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// The schema itself, without `$id`, `$schema` and `$defs`.
    pub root: Value,
    /// Each definition under a name that is unique in the contract, such as `Vehicle` or
    /// `InventorySearchRequestFilters`: the names of two schemas of one contract never mean different things.
    pub definitions: Map<String, Value>,
}

impl Bundle {
    /// One JSON Schema document: the root with its definitions in `$defs`.
    pub fn into_schema(self) -> Value {
        let mut document = self.root;
        if let (Some(members), false) = (document.as_object_mut(), self.definitions.is_empty()) {
            members.insert("$defs".to_owned(), Value::Object(self.definitions));
        }
        document
    }
}

/// The schema of a file such as `inventory-search-request.schema.json` as one self-contained document, in which
/// every reference is `#/$defs/{name}`. `None` for a file that the contract does not have.
pub fn bundle(spec: &ContractSpec, file: &str) -> Option<Value> {
    bundle_below(spec, file, "#/$defs/").map(Bundle::into_schema)
}

/// The same in two parts, with references that begin with `prefix`: `#/components/schemas/` in an OpenAPI document.
pub fn bundle_below(spec: &ContractSpec, file: &str, prefix: &str) -> Option<Bundle> {
    let mut gathered = Gathered { spec, prefix, definitions: Map::new() };
    let root = gathered.body(&Place { file: file.to_owned(), definition: None })?;
    Some(Bundle { root, definitions: gathered.definitions })
}

/// What a reference means: a whole file, or a definition in it.
#[derive(Debug, Clone, PartialEq)]
struct Place {
    file: String,
    definition: Option<String>,
}

impl Place {
    /// What `reference` means in `file`.
    fn of(file: &str, reference: &str) -> Place {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        Place {
            file: if path.is_empty() { file } else { path }.to_owned(),
            definition: fragment.strip_prefix("/$defs/").map(str::to_owned),
        }
    }

    /// `_primitives/dealer-fee.schema.json` is `DealerFee`; its definition `terms` is `DealerFeeTerms`.
    fn name(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or(&self.file);
        let stem = file.split('.').next().unwrap_or(file);
        let words = stem.split('-').chain(self.definition.iter().flat_map(|name| name.split('_')));
        words
            .flat_map(|word| {
                let mut letters = word.chars();
                letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
            })
            .collect()
    }
}

struct Gathered<'s> {
    spec: &'s ContractSpec,
    prefix: &'s str,
    definitions: Map<String, Value>,
}

impl Gathered<'_> {
    /// The schema at a place, its references led to the definitions, which are gathered.
    fn body(&mut self, place: &Place) -> Option<Value> {
        let (_, text) = self.spec.schemas.iter().find(|(name, _)| *name == place.file)?;
        let mut schema: Value = serde_json::from_str(text).ok()?;
        if let Some(name) = &place.definition {
            schema = schema.get_mut("$defs")?.get_mut(name)?.take();
        }
        if let Some(members) = schema.as_object_mut() {
            for member in ["$id", "$schema", "$defs"] {
                members.remove(member);
            }
        }
        self.lead(&place.file, &mut schema);
        Some(schema)
    }

    /// Leads every reference in a schema of `file` to its definition.
    fn lead(&mut self, file: &str, schema: &mut Value) {
        match schema {
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.lead(file, entry)),
            Value::Object(members) => {
                for (key, value) in members.iter_mut() {
                    match (key.as_str(), value.as_str()) {
                        ("$ref", Some(reference)) => {
                            let place = Place::of(file, reference);
                            *value = self.define(&place).into();
                        }
                        // What stands there is data, in which `$ref` means nothing.
                        ("examples" | "const" | "enum" | "default", _) => {}
                        _ => self.lead(file, value),
                    }
                }
            }
            _ => {}
        }
    }

    /// The reference to a place, whose schema is gathered if it is not there yet.
    fn define(&mut self, place: &Place) -> String {
        let name = place.name();
        if !self.definitions.contains_key(&name) {
            // Held before its body is read, so that a schema that refers to itself comes to an end.
            self.definitions.insert(name.clone(), Value::Bool(true));
            let body = self.body(place).unwrap_or(Value::Bool(false));
            self.definitions.insert(name.clone(), body);
        }
        format!("{}{name}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{CONTRACTS, Contract};

    fn references<'v>(schema: &'v Value, found: &mut Vec<&'v str>) {
        match schema {
            Value::Array(entries) => entries.iter().for_each(|entry| references(entry, found)),
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|value| references(value, found));
            }
            _ => {}
        }
    }

    #[test]
    fn every_file_is_whole_and_says_what_it_said() {
        for spec in CONTRACTS {
            let contract = Contract::load(spec.version).unwrap();
            for (file, text) in spec.schemas {
                let document = bundle(spec, file).unwrap();
                let mut named = Vec::new();
                references(&document, &mut named);
                for reference in named {
                    let name = reference.strip_prefix("#/$defs/").unwrap();
                    assert!(document["$defs"][name].is_object(), "{} {file} {reference}", spec.version);
                }
                let validator = jsonschema::draft202012::options()
                    .should_validate_formats(true)
                    .build(&document)
                    .unwrap_or_else(|error| panic!("{file}: {error}"));
                // The examples of all files, each against all of them: the verdicts stay.
                let samples = spec.schemas.iter().flat_map(|(_, text)| {
                    let schema: Value = serde_json::from_str(text).unwrap();
                    schema["examples"].as_array().cloned().unwrap_or_default()
                });
                for sample in samples {
                    let before = contract.check(file, &sample).is_ok();
                    assert_eq!(validator.is_valid(&sample), before, "{} {file} {sample}", spec.version);
                }
                let original: Value = serde_json::from_str(text).unwrap();
                assert_eq!(document["description"], original["description"]);
            }
            assert!(bundle(spec, "nothing.schema.json").is_none());
        }
    }

    #[test]
    fn a_name_means_one_thing_in_a_contract() {
        for spec in CONTRACTS {
            let mut meanings: HashMap<String, Value> = HashMap::new();
            for (file, _) in spec.schemas {
                for (name, schema) in bundle_below(spec, file, "#/components/schemas/").unwrap().definitions {
                    let kept = meanings.entry(name.clone()).or_insert_with(|| schema.clone());
                    assert_eq!(*kept, schema, "{} {name}", spec.version);
                }
            }
            assert!(meanings.contains_key("Listing"), "{:?}", meanings.keys());
        }
    }
}
