//! Schemas in the form that tools of OpenAPI understand best.
//!
//! JSON Schema lets members stand beside a `$ref`, and both hold. Several generators and testers of OpenAPI read the
//! reference alone; for them the two are written out as one schema, which means the same.

use serde_json::{Map, Value};

/// Writes out every schema of a document's components that narrows another one by standing beside a reference to it.
/// One that stands inside another becomes a component of its own, named after its place.
pub(super) fn flatten(schemas: &mut Map<String, Value>) {
    let known = schemas.clone();
    let mut made = Map::new();
    for (name, schema) in schemas.iter_mut() {
        if let Some(merged) = merged(schema, &known) {
            *schema = merged;
        }
        below(name, schema, &known, &mut made);
    }
    schemas.extend(made);
    // Generators name their types by the title.
    for (name, schema) in schemas.iter_mut() {
        if let Some(members) = schema.as_object_mut() {
            members.insert("title".into(), name.as_str().into());
        }
    }
}

/// Drops every schema that neither another one nor one of `roots` needs.
pub(super) fn drop_unused(schemas: &mut Map<String, Value>, roots: &[String]) {
    let mut used: Vec<String> = roots.to_vec();
    let mut next = 0;
    while let Some(name) = used.get(next).cloned() {
        if let Some(schema) = schemas.get(&name) {
            references(schema, &mut used);
        }
        next += 1;
    }
    schemas.retain(|name, _| used.contains(name));
}

/// Adds the names that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Array(entries) => entries.iter().for_each(|entry| references(entry, found)),
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
            if let Some(name) = name.filter(|name| found.iter().all(|known| known != name)) {
                found.push(name.to_owned());
            }
            members.values().for_each(|value| references(value, found));
        }
        _ => {}
    }
}

fn below(place: &str, schema: &mut Value, known: &Map<String, Value>, made: &mut Map<String, Value>) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (member, inner) in properties.iter_mut() {
        let words = member
            .split('_')
            .map(|word| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default());
        let name = std::iter::once(place.to_owned()).chain(words).collect::<String>();
        match merged(inner, known) {
            Some(whole) => {
                let mut reference = Map::new();
                reference.insert("$ref".into(), format!("#/components/schemas/{name}").into());
                reference
                    .extend(inner.get("description").map(|text| ("description".to_owned(), text.clone())));
                *inner = Value::Object(reference);
                made.insert(name, whole);
            }
            None => below(&name, inner, known, made),
        }
    }
}

/// The schema that a reference and what stands beside it are together; `None` where it stands alone.
fn merged(schema: &Value, known: &Map<String, Value>) -> Option<Value> {
    let members = schema.as_object()?;
    if !members.contains_key("properties") && !members.contains_key("required") {
        return None;
    }
    let name = members.get("$ref")?.as_str()?.rsplit('/').next()?;
    let mut whole = known.get(name)?.clone();
    let target = whole.as_object_mut()?;
    target.remove("examples");
    for (key, value) in members.iter().filter(|(key, _)| *key != "$ref") {
        match (key.as_str(), target.get_mut(key).and_then(Value::as_object_mut), value) {
            ("properties", Some(properties), Value::Object(narrower)) => {
                for (member, rule) in narrower {
                    let property = properties.entry(member).or_insert_with(|| Value::Object(Map::new()));
                    if let (Some(property), Some(rule)) = (property.as_object_mut(), rule.as_object()) {
                        property.extend(rule.clone());
                        fit_examples(property);
                    }
                }
            }
            // Only what has no demands yet: none of the schemas narrows a list of required members.
            _ => {
                target.insert(key.clone(), value.clone());
            }
        }
    }
    Some(whole)
}

/// Keeps the examples that are among the words that are left.
fn fit_examples(property: &mut Map<String, Value>) {
    let allowed = property.get("enum").and_then(Value::as_array).cloned();
    if let (Some(allowed), Some(examples)) =
        (allowed, property.get_mut("examples").and_then(Value::as_array_mut))
    {
        examples.retain(|example| allowed.contains(example));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_beside_a_reference_becomes_one_schema_with_it() {
        let car = json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x", "y"], "examples": ["x", "y"]}, "b": {}}});
        let beside = json!({"$ref": "#/components/schemas/Car", "description": "D", "properties": {"a": {"enum": ["y"]}}});
        let mut schemas = json!({"Car": car, "Listing": beside, "Lead": {"properties": {
            "trade_in": beside, "plain": {"$ref": "#/components/schemas/Car", "description": "P"}}}});
        let schemas = schemas.as_object_mut().unwrap();
        flatten(schemas);
        let whole = json!({"type": "object", "description": "D", "properties": {
            "a": {"type": "string", "enum": ["y"], "examples": ["y"]}, "b": {}}});
        let titled = |name: &str| {
            let mut whole = whole.clone();
            whole["title"] = name.into();
            whole
        };
        assert_eq!(schemas["Listing"], titled("Listing"));
        assert_eq!(schemas["LeadTradeIn"], titled("LeadTradeIn"));
        assert_eq!(
            schemas["Lead"]["properties"]["trade_in"],
            json!({"$ref": "#/components/schemas/LeadTradeIn", "description": "D"})
        );
        assert_eq!(schemas["Lead"]["properties"]["plain"]["description"], "P");
        assert_eq!(schemas["Car"]["properties"], car["properties"]);
        drop_unused(schemas, &["Lead".to_owned()]);
        assert_eq!(schemas.keys().collect::<Vec<_>>(), ["Car", "Lead", "LeadTradeIn"]);
    }
}
