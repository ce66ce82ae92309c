//! Query parameters and the request payload that they stand for, as the request schema of the contract has it.
//!
//! A list is written by repeating its parameter; commas are part of a value, because makes and features have them.
//! What the schema does not know is put where it would stand in a payload, and refused there in the schema's words.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use contract::{ContractSpec, ContractVersion, SkillSpec};
use dealer::Policy;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json;

/// A query parameter of a read.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    /// Its name.
    pub(super) name: String,
    /// The member of the payload that holds its member; empty for the payload itself.
    pub(super) group: &'static str,
    /// Its schema in the request schema, which refers to nothing.
    pub(super) schema: Value,
}

/// The parameters of a skill's reads in one contract, read from the request schema once.
#[derive(Debug)]
pub(super) struct Parameters(Vec<Parameter>);

/// Parameters whose members do not stand in `filters`: name, group, member.
const ELSEWHERE: [(&str, &str, &str); 7] = [
    ("sort", "sort", "field"),
    ("order", "sort", "order"),
    ("limit", "pagination", "limit"),
    ("cursor", "pagination", "cursor"),
    ("skip", "pagination", "skip"),
    ("anonymous", "privacy", "anonymous"),
    ("dealer_id", "", "dealer_id"),
];

type Known = HashMap<(ContractVersion, &'static str), &'static Parameters>;

impl Parameters {
    /// Those of a skill in a contract.
    pub(super) fn of(spec: &ContractSpec, skill: &SkillSpec) -> &'static Parameters {
        static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);
        let key = (spec.version, skill.request_schema);
        if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known;
        }
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        // As many as there are contracts and skills, for as long as the process runs.
        known.entry(key).or_insert_with(|| Box::leak(Box::new(Parameters::read(spec, skill))))
    }

    fn read(spec: &ContractSpec, skill: &SkillSpec) -> Parameters {
        let schema = contract::bundle(spec, skill.request_schema).unwrap_or_default();
        let mut all = Vec::new();
        for (member, schema_of_it) in properties(&schema) {
            let inner = match schema_of_it.get("$ref").and_then(Value::as_str) {
                Some(reference) => schema.pointer(reference.trim_start_matches('#')).unwrap_or(schema_of_it),
                None => schema_of_it,
            };
            let group =
                ["filters", "sort", "pagination", "privacy"].into_iter().find(|group| group == member);
            match group {
                Some(group) => all.extend(properties(inner).map(|(name, schema)| {
                    let apart = ELSEWHERE.iter().find(|(_, of, member)| *of == group && member == name);
                    let name = apart.map_or(name.as_str(), |(parameter, ..)| parameter).to_owned();
                    Parameter { name, group, schema: schema.clone() }
                })),
                None if member == "type" => {}
                None => all.push(Parameter { name: member.clone(), group: "", schema: schema_of_it.clone() }),
            }
        }
        Parameters(all)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Parameter> {
        self.0.iter()
    }

    /// The request payload that a query stands for, without its `type`. `given` are members that the path has said.
    pub(super) fn payload(&self, query: &str, given: &[(&str, String)], policy: &Policy) -> Value {
        let mut values: Vec<(String, Vec<String>)> = Vec::new();
        let said = given.iter().map(|(name, value)| ((*name).into(), value.as_str().into()));
        for (name, value) in said.chain(url::form_urlencoded::parse(query.as_bytes())) {
            let value = std::borrow::Cow::into_owned(value);
            match values.iter_mut().find(|(known, _)| **known == *name) {
                Some((_, all)) => all.push(value),
                None => values.push((name.into_owned(), vec![value])),
            }
        }
        let filtered = self.0.iter().any(|parameter| parameter.group == "filters");
        let mut payload = Map::new();
        for (name, values) in values {
            let known = self.0.iter().find(|parameter| parameter.name == name);
            let value = value(known.map(|parameter| &parameter.schema), values);
            let apart = ELSEWHERE.iter().find(|(parameter, ..)| *parameter == name).filter(|_| filtered);
            let (group, member) = match (known, apart) {
                (_, Some((_, group, member))) => (*group, *member),
                (Some(parameter), None) => (parameter.group, name.as_str()),
                (None, None) if filtered => ("filters", name.as_str()),
                (None, None) => ("", name.as_str()),
            };
            if group.is_empty() {
                payload.insert(member.to_owned(), value);
            } else if let Some(members) =
                payload.entry(group).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
            {
                members.insert(member.to_owned(), value);
            }
        }
        // Each of the two means something by itself here, though a payload needs both.
        if let Some(sort) = payload.get_mut("sort").and_then(Value::as_object_mut) {
            sort.entry("order").or_insert_with(|| "asc".into());
            sort.entry("field").or_insert_with(|| policy.default_sort.field.as_str().into());
        }
        Value::Object(payload)
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// What the texts of one parameter mean. A text that is nothing of the wanted type stays one, which the schema then
/// refuses; so does a second value where one is wanted.
fn value(schema: Option<&Value>, mut texts: Vec<String>) -> Value {
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str).unwrap_or_default();
    match (kind, texts.pop()) {
        ("array", last) => texts.into_iter().chain(last).collect(),
        (_, Some(only)) if texts.is_empty() => single(kind, only),
        (_, last) => texts.into_iter().chain(last).map(|text| single(kind, text)).collect(),
    }
}

fn single(kind: &str, text: String) -> Value {
    match kind {
        "integer" | "number" if text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte)) => {
            let raw = RawValue::from_string(text.clone()).ok();
            raw.and_then(|raw| json::value(&raw)).unwrap_or(Value::String(text))
        }
        "boolean" if text == "true" => json!(true),
        "boolean" if text == "false" => json!(false),
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use contract::{CONTRACTS, SkillId};

    use super::*;

    fn payload(version: ContractVersion, skill: SkillId, query: &str) -> Value {
        Parameters::of(version.spec().unwrap(), skill.spec()).payload(query, &[], &Policy::default())
    }

    #[test]
    fn a_query_is_a_payload() {
        let query = "make=Honda&price_max=35000&sort=price&order=desc&make=Toyota+%2C%20x&dc_fast_charge=true&limit=5\
                     &cursor=abc&anonymous=false&dealer_id=d&vin=V";
        let expected = json!({
            "filters": {"make": ["Honda", "Toyota , x"], "price_max": 35000, "dc_fast_charge": true, "vin": "V"},
            "sort": {"field": "price", "order": "desc"}, "pagination": {"limit": 5, "cursor": "abc"},
            "privacy": {"anonymous": false}, "dealer_id": "d"});
        assert_eq!(payload(ContractVersion::V3_0, SkillId::InventorySearch, query), expected);
        assert_eq!(payload(ContractVersion::V3_0, SkillId::InventorySearch, ""), json!({}));
        assert_eq!(
            payload(ContractVersion::V1_3, SkillId::InventorySearch, "skip=20"),
            json!({"pagination": {"skip": 20}})
        );
        assert_eq!(
            payload(ContractVersion::V3_0, SkillId::InventoryFacets, "make=a&features=b"),
            json!({"filters": {"make": ["a"], "features": ["b"]}})
        );
        assert_eq!(
            payload(ContractVersion::V3_0, SkillId::InventoryVehicle, "stock=1"),
            json!({"stock": "1"})
        );
    }

    #[test]
    fn half_an_order_is_one() {
        let sorted = |query| payload(ContractVersion::V3_0, SkillId::InventorySearch, query)["sort"].take();
        assert_eq!(sorted("sort=year"), json!({"field": "year", "order": "asc"}));
        assert_eq!(sorted("order=asc"), json!({"field": "updated_at", "order": "asc"}));
        assert_eq!(sorted("limit=1"), Value::Null);
    }

    #[test]
    fn what_is_wrong_stays_wrong_in_its_place() {
        let search = |query| payload(ContractVersion::V3_0, SkillId::InventorySearch, query);
        assert_eq!(
            search("price_max=x&year_min=1&year_min=2&dc_fast_charge=yes&colour=red&skip=1"),
            json!({"filters": {"price_max": "x", "year_min": [1, 2], "dc_fast_charge": "yes", "colour": "red"},
                "pagination": {"skip": "1"}})
        );
        assert_eq!(search("price_max=1e999")["filters"]["price_max"], f64::MAX);
        assert_eq!(search("price_max=+5")["filters"]["price_max"], " 5");
        assert_eq!(search("price_max=1 ")["filters"]["price_max"], "1 ");
        assert_eq!(
            payload(ContractVersion::V3_0, SkillId::DealerInformation, "limit=1"),
            json!({"limit": "1"})
        );
    }

    #[test]
    fn names_are_unique_and_their_schemas_whole() {
        for spec in CONTRACTS {
            for skill in contract::SKILL_SPECS.into_iter().filter(|skill| skill.id != SkillId::LeadSubmit) {
                let all = Parameters::of(spec, skill);
                for one in all.iter() {
                    assert_eq!(all.iter().filter(|other| other.name == one.name).count(), 1, "{}", one.name);
                    assert!(!one.schema.to_string().contains("$ref"), "{} {}", skill.id, one.name);
                }
            }
        }
    }
}
