//! The samples in the examples of the schema files: they tell of a dealer and a vehicle that nobody has, and a page that
//! nobody is on.

use serde_json::Value;

/// By what they are known: their dealer, the ways to ask for their vehicle, their cursor.
const SAMPLES: [&str; 4] = ["tidewater", "tw-2204", "4s4btgud5r3217409", "q7jd0mxv2-opaque-tn5w"];

/// Takes the examples with samples out of a schema: who sends what they say is refused by every dealer.
pub(super) fn scrub(schema: &mut Value) {
    match schema {
        Value::Array(entries) => entries.iter_mut().for_each(scrub),
        Value::Object(members) => {
            if let Some(examples) = members.get_mut("examples").and_then(Value::as_array_mut) {
                examples.retain(|example| {
                    let text = example.to_string().to_lowercase();
                    !SAMPLES.iter().any(|sample| text.contains(sample))
                });
                if examples.is_empty() {
                    members.remove("examples");
                }
            }
            // A list of that name holds examples; anything else is a member that happens to be called so.
            let schemas = members.iter_mut().filter(|(name, inner)| *name != "examples" || !inner.is_array());
            schemas.for_each(|(_, inner)| scrub(inner));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn samples_are_taken_out_and_nothing_else() {
        let mut schema = json!({"examples": ["Tidewater Motors"], "properties": {
            "examples": {"examples": ["TW-2204", "J-1"]}, "b": {"examples": ["b"]}}});
        scrub(&mut schema);
        assert_eq!(
            schema,
            json!({"properties": {"examples": {"examples": ["J-1"]}, "b": {"examples": ["b"]}}})
        );
    }
}
