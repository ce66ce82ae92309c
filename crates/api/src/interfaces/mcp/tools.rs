//! The tools: one for each skill, made from the table of skills and the schemas of the contract (AAP.md 14).

use std::sync::{Arc, LazyLock};

use contract::bundle::bundle_below;
use contract::{CONTRACTS, ContractSpec, ContractVersion, SKILL_SPECS, SkillId, SkillSpec};
use dealer::Tenant;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::interfaces::samples::scrub;

/// `aap_` and the skill's id, its dots as underscores.
pub(super) fn name(skill: &SkillSpec) -> String {
    format!("aap_{}", skill.id.as_str().replace('.', "_"))
}

/// The skill that a tool is; also of a tool that a dealer does not offer, so that it can be told so.
pub(super) fn skill(name: &str) -> Option<&'static SkillSpec> {
    NAMES.iter().find(|(known, _)| known == name).map(|(_, skill)| *skill)
}

static NAMES: LazyLock<Vec<(String, &'static SkillSpec)>> =
    LazyLock::new(|| SKILL_SPECS.iter().map(|skill| (name(skill), *skill)).collect());

type Tools = Vec<(SkillId, Tool)>;

/// The tools of each contract. Nothing of them depends on a dealer but which there are, and what a dealer leaves out
/// of its search.
static TOOLS: LazyLock<Vec<(ContractVersion, Tools)>> = LazyLock::new(|| {
    let tools = |spec| SKILL_SPECS.iter().map(|skill| (skill.id, tool(spec, skill))).collect();
    CONTRACTS.iter().map(|spec| (spec.version, tools(spec))).collect()
});

/// The tools that a dealer offers in a contract, in the protocol's order.
pub(super) fn offered(tenant: &Tenant, contract: ContractVersion) -> Vec<Tool> {
    let tools = TOOLS.iter().find(|(version, _)| *version == contract);
    let tools = tools.into_iter().flat_map(|(_, tools)| tools);
    let offered = tools.filter(|(id, _)| tenant.skills.contains(id)).map(|(id, tool)| {
        let mut tool = tool.clone();
        if let (Some(limits), Some(words)) = (limits(tenant, contract, *id), tool.description.as_mut()) {
            words.to_mut().push_str(&limits);
        }
        tool
    });
    offered.collect()
}

/// What of the request schema a dealer does not serve, for a model to read. The schema stays that of the contract:
/// what is beyond a dealer's limits is refused with a code of its own, which tells what is offered.
fn limits(tenant: &Tenant, contract: ContractVersion, id: SkillId) -> Option<String> {
    let searches = matches!(id, SkillId::InventorySearch | SkillId::InventoryFacets);
    let search = tenant.policy.search.as_ref().filter(|_| searches)?;
    contract.spec().filter(|spec| spec.search_restrictable)?;
    let mut words = String::new();
    if let Some(filters) = &search.filters {
        words.push_str(&format!(" This dealer serves only these filters: {}.", filters.join(", ")));
    }
    if let (Some(fields), SkillId::InventorySearch) = (&search.sort_fields, id) {
        let fields = json!(fields).as_array().cloned().unwrap_or_default();
        let fields: Vec<_> = fields.iter().filter_map(Value::as_str).collect();
        words.push_str(&format!(" It sorts only by: {}.", fields.join(", ")));
    }
    if let Some(codes) = &search.feature_codes {
        words.push_str(&format!(" Its values for the filter features: {}.", codes.join(", ")));
    }
    Some(words)
}

/// Hints for hosts that ask their user before a tool is called.
fn annotations(skill: &SkillSpec) -> ToolAnnotations {
    // A lead that is sent again makes no second one: the same key or, without one, the same shopper and vehicle.
    let hints = ToolAnnotations::with_title(skill.name).destructive(false).idempotent(true);
    // What reads sees this dealer's data alone; a lead ends at people.
    hints.read_only(skill.reads).open_world(!skill.reads)
}

fn tool(spec: &ContractSpec, skill: &SkillSpec) -> Tool {
    // Where the advice names another skill, a model knows it by the name of its tool.
    let advice = NAMES
        .iter()
        .fold(skill.advice.to_owned(), |words, (tool, other)| words.replace(other.id.as_str(), tool));
    let description = format!("{} {advice}", skill.description);
    let meta = spread(skill, spec).into_iter().map(|(key, value)| (key.to_owned(), value.into()));
    Tool::new(name(skill), description, Arc::new(input(spec, skill)))
        .with_title(skill.name)
        .with_raw_output_schema(Arc::new(output(spec, skill)))
        .with_annotations(annotations(skill))
        .with_meta(MetaObject(meta.collect()))
}

/// How the tool's parts are called in the protocol (AAP.md 14).
pub(super) fn spread(skill: &SkillSpec, spec: &ContractSpec) -> [(&'static str, String); 4] {
    [
        ("aap_skill_id", skill.id.as_str().to_owned()),
        ("aap_request_type", skill.request_type.to_owned()),
        ("aap_response_type", skill.response_type.to_owned()),
        ("aap_response_schema", format!("{}{}", spec.schema_base, skill.response_schema)),
    ]
}

/// The request schema, in which `type` may be left out.
fn input(spec: &ContractSpec, skill: &SkillSpec) -> JsonObject {
    let mut schema = object(contract::bundle(spec, skill.request_schema));
    schema.insert("type".into(), "object".into());
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|member| member != "type");
        if required.is_empty() {
            schema.remove("required");
        }
    }
    if let Some(Value::String(words)) =
        schema.get_mut("properties").and_then(|properties| properties.get_mut("type")?.get_mut("description"))
    {
        words.push_str(" May be left out: the tool says it already.");
    }
    if let Some(examples) = schema.get_mut("examples").and_then(Value::as_array_mut) {
        examples.iter_mut().filter_map(Value::as_object_mut).for_each(|example| {
            example.remove("type");
        });
    }
    // Makers of models refuse tools whose schema has one of these at its root. This says the same, elsewhere.
    if let Some(any) = schema.remove("anyOf") {
        schema.insert("if".into(), json!({ "anyOf": any }));
        schema.insert("else".into(), false.into());
    }
    schema
}

/// The response payload or the protocol's error: clients check results of either kind against it.
fn output(spec: &ContractSpec, skill: &SkillSpec) -> JsonObject {
    let mut definitions = Map::new();
    let mut either = Vec::new();
    for (name, file) in [("Answer", skill.response_schema), ("AapError", "error.schema.json")] {
        let Some(part) = bundle_below(spec, file, "#/$defs/") else { continue };
        definitions.extend(part.definitions);
        definitions.insert(name.to_owned(), part.root);
        either.push(json!({ "$ref": format!("#/$defs/{name}") }));
    }
    object(Some(json!({
        "type": "object",
        "description": "The answer or, where the result says isError, why it was refused.",
        "anyOf": either,
        "$defs": definitions,
    })))
}

/// A schema without the samples of the contract's: a model that copied their dealer or their vehicle would be refused.
fn object(schema: Option<Value>) -> JsonObject {
    let mut schema = schema.unwrap_or_default();
    scrub(&mut schema);
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn every_schema_is_whole_and_each_tool_is_its_skill() {
        assert_eq!(TOOLS.len(), CONTRACTS.len());
        for (version, tools) in TOOLS.iter() {
            assert_eq!(tools.len(), SKILL_SPECS.len());
            for (id, tool) in tools {
                assert_eq!(skill(&tool.name).map(|skill| skill.id), Some(*id));
                let output = tool.output_schema.as_ref().unwrap();
                for schema in [&tool.input_schema, output] {
                    assert_eq!(schema["type"], "object", "{version} {id}");
                    let schema = Value::Object((**schema).clone());
                    let mut named = Vec::new();
                    references(&schema, &mut named);
                    for reference in named {
                        let place = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
                        assert!(schema.pointer(place).is_some_and(Value::is_object), "{reference}");
                    }
                    for refused in ["$id", "$schema"] {
                        assert!(schema.get(refused).is_none());
                    }
                }
                for refused in ["anyOf", "oneOf", "allOf", "not", "enum"] {
                    assert!(tool.input_schema.get(refused).is_none(), "{version} {id} {refused}");
                }
                let required = tool.input_schema.get("required").and_then(Value::as_array);
                assert!(!required.is_some_and(|names| names.iter().any(|name| name == "type")));
            }
        }
        assert!(skill("aap_inventory.search").is_none());
    }
}
