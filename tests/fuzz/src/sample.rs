//! Payloads made from schemas: mostly acceptable, and of every shape that a schema allows.

use std::collections::BTreeMap;

use contract::{Contract, ContractVersion};
use serde_json::{Map, Value, json};

use crate::Source;

/// The schema documents of one contract version, by file name.
#[derive(Debug)]
pub(crate) struct Documents(BTreeMap<&'static str, Value>);

/// Deeper ones are given up; no schema of ours refers to itself.
const DEEPEST: usize = 12;

impl Documents {
    pub(crate) fn of(version: ContractVersion) -> Documents {
        let parsed =
            Contract::schemas(version).map(|(file, text)| (file, serde_json::from_str(text).unwrap()));
        Documents(parsed.collect())
    }

    /// The examples that a file itself gives.
    pub(crate) fn examples(&self, file: &str) -> &[Value] {
        self.0[file]["examples"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Names of members and words of every file: what a change puts where it may not belong.
    pub(crate) fn vocabulary(&self) -> (Vec<String>, Vec<Value>) {
        let (mut names, mut words) = (Vec::new(), Vec::new());
        self.0.values().for_each(|document| collect(document, &mut names, &mut words));
        names.sort();
        names.dedup();
        words.sort_by_key(Value::to_string);
        words.dedup();
        (names, words)
    }

    /// One payload of a file's schema.
    pub(crate) fn sample(&self, file: &str, source: &mut Source<'_>) -> Value {
        self.make(file, &self.0[file], source, 0)
    }

    fn make(&self, file: &str, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        if depth > DEEPEST {
            return Value::Null;
        }
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return self.own(file, schema, source, depth);
        };
        let (home, target) = self.refer(file, reference);
        // What stands beside a reference is further demands; none of ours refers to a second file there.
        let mut both = target.clone();
        for name in ["properties", "required"] {
            match (both.get_mut(name), schema.get(name)) {
                (Some(Value::Object(known)), Some(Value::Object(more))) => known.extend(more.clone()),
                (Some(Value::Array(known)), Some(Value::Array(more))) => known.extend(more.iter().cloned()),
                (None, Some(more)) => both[name] = more.clone(),
                _ => {}
            }
        }
        self.make(&home, &both, source, depth + 1)
    }

    /// Where a reference leads: the file and the schema.
    fn refer(&self, file: &str, reference: &str) -> (String, &Value) {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let home = match name.strip_prefix("../") {
            _ if name.is_empty() => file.to_owned(),
            Some(above) => above.to_owned(),
            None if folder.is_empty() => name.trim_start_matches("./").to_owned(),
            None => format!("{folder}/{}", name.trim_start_matches("./")),
        };
        let target = self.0.get(home.as_str()).and_then(|document| document.pointer(pointer));
        (home.clone(), target.unwrap_or_else(|| panic!("{file} refers to {reference}")))
    }

    /// Of a schema without a reference.
    fn own(&self, file: &str, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        if let Some(fixed) = schema.get("const") {
            return fixed.clone();
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return source.pick(options).clone();
        }
        let shown = schema.get("examples").and_then(Value::as_array).filter(|shown| !shown.is_empty());
        // Objects less often: everybody tests with the examples.
        let often = |shown: &Vec<Value>| if shown.iter().any(Value::is_object) { 16 } else { 128 };
        if let Some(shown) = shown.filter(|shown| source.chance(often(shown))) {
            return source.pick(shown).clone();
        }
        if let Some(branches) = schema.get("oneOf").and_then(Value::as_array) {
            return self.make(file, source.pick(branches), source, depth + 1);
        }
        let kind = match schema.get("type") {
            Some(Value::Array(several)) => source.pick(several).as_str(),
            Some(one) => one.as_str(),
            None => schema.get("properties").map(|_| "object"),
        };
        match kind {
            Some("object") => self.object(file, schema, source, depth),
            Some("array") => self.array(file, schema, source, depth),
            Some("integer") => whole_number(schema, source),
            Some("number") => {
                let least = schema.get("minimum").and_then(Value::as_f64).unwrap_or(-1e9);
                json!(source.pick(&[10.5_f64, 0.0, -0.5, 89.999, 1e9]).max(least))
            }
            Some("boolean") => json!(source.chance(128)),
            Some("null") => Value::Null,
            Some("string") => Value::String(text(schema, source)),
            _ => source.pick(&[json!({"a": [1, null]}), json!("x"), json!(0)]).clone(),
        }
    }

    fn object(&self, file: &str, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        let mut object = Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        let must = |key: &str| required.is_some_and(|all| all.iter().any(|name| name == key));
        for (key, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // Of what may be there a third: a search with all filters at once says little.
            if must(key) || source.chance(if depth == 0 { 200 } else { 85 }) {
                object.insert(key.clone(), self.make(file, member, source, depth + 1));
            }
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array)
            && let Some(key) = source.pick(branches).pointer("/required/0").and_then(Value::as_str)
            && let Some(member) = schema["properties"].get(key)
        {
            object.insert(key.to_owned(), self.make(file, member, source, depth + 1));
        }
        Value::Object(object)
    }

    fn array(&self, file: &str, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let count = usize::try_from(least).unwrap() + source.below(4);
        let items = schema.get("items").unwrap_or(&Value::Null);
        let mut entries: Vec<Value> = Vec::new();
        for _ in 0..count {
            let entry = self.make(file, items, source, depth + 1);
            if schema.get("uniqueItems") != Some(&json!(true)) || !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        Value::Array(entries)
    }
}

/// At the bounds, near them, and in the spellings that count as whole.
fn whole_number(schema: &Value, source: &mut Source<'_>) -> Value {
    let bound = |key: &str, otherwise| schema.get(key).and_then(Value::as_i64).unwrap_or(otherwise);
    let (least, most) = (bound("minimum", 0), bound("maximum", 3_000_000));
    let near = [least, most, least + 1, most - 1, 2023, 20, 30_000, i64::from(source.byte())];
    let number = (*source.pick(&near)).clamp(least, most);
    match source.below(8) {
        #[allow(clippy::cast_precision_loss)] // that is the point
        0 => json!(number as f64),
        1 if schema.get("maximum").is_none() => json!(1e30),
        _ => json!(number),
    }
}

fn text(schema: &Value, source: &mut Source<'_>) -> String {
    let said = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    let options: &[&str] = match (said("format"), said("pattern")) {
        ("date-time", _) => &[
            "2026-11-30T09:15:00Z",
            "2026-12-31T23:59:60Z",
            "2026-11-30t09:15:00.123456789-08:00",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59+23:59",
        ],
        ("date", _) => &["2026-11-30", "2024-02-29"],
        ("email", _) => &["ilse@post.example", "a+b@post.example"],
        ("uri", _) => &["https://dealer.example/x", "urn:x:y"],
        (_, pattern) if pattern.contains("A-HJ-NPR-Z") => &["4S4BTGUD5R3217409", "11111111111111111"],
        (_, pattern) if pattern.starts_with(r"^\+") => &["+15035550186", "+12", "+123456789012345"],
        (_, pattern) if pattern.contains("[0-5]") => &["08:30", "23:59", "00:00"],
        _ => &[
            "x",
            "Honda",
            "  Citroe\u{308}n ",
            "\u{0}",
            "\u{1f697}\u{200d}\u{1f697}",
            "ß İ ı ﬁ",
            "\"\\\u{8}\u{2028}",
            "-",
            "10-speed automatic",
        ],
    };
    let mut text = (*source.pick(options)).to_owned();
    if let Some(most) = schema.get("maxLength").and_then(Value::as_u64).filter(|_| source.chance(16)) {
        text = "é".repeat(usize::try_from(most).unwrap());
    }
    text
}

fn collect(value: &Value, names: &mut Vec<String>, words: &mut Vec<Value>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match (key.as_str(), inner) {
                    ("properties", Value::Object(members)) => names.extend(members.keys().cloned()),
                    ("enum" | "examples", Value::Array(options)) => words.extend(options.iter().cloned()),
                    _ => {}
                }
                collect(inner, names, words);
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, names, words)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use contract::SKILL_SPECS;

    use super::*;
    use crate::CONTRACT_SCHEMAS;
    use crate::source::Dice;

    /// Else the bodies would run on what is refused alone, and show nothing.
    #[test]
    fn most_of_what_is_made_is_accepted_and_hardly_any_of_it_twice() {
        let mut dice = Dice(1);
        for contract in CONTRACT_SCHEMAS.iter() {
            let documents = Documents::of(contract.spec().version);
            let files = SKILL_SPECS.iter().map(|skill| skill.request_schema).chain(["listing.schema.json"]);
            for file in files {
                let mut accepted = 0;
                let mut seen = std::collections::HashSet::new();
                for _ in 0..200 {
                    let bytes = dice.bytes(400);
                    let payload = documents.sample(file, &mut Source::new(&bytes));
                    seen.insert(payload.to_string());
                    accepted += usize::from(contract.check(file, &payload).is_ok());
                }
                let version = contract.spec().version;
                assert!(accepted > 100, "{version} {file}: {accepted} of 200");
                assert!(
                    seen.len() > 60 || file.starts_with("dealer-info"),
                    "{version} {file}: {}",
                    seen.len()
                );
            }
        }
    }
}
