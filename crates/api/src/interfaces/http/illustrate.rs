//! Puts what a dealer has and says in the place of the samples that the schema files carry.
//!
//! Those tell of a dealer and a vehicle that nobody has: whoever sends them is refused.

use contract::{SkillId, SkillSpec};
use dealer::{Channel, Tenant};
use serde_json::{Map, Value, json};

use super::describe::component;
use super::specimens::Specimens;
use crate::interfaces::samples::scrub;

/// How many entries of a list are shown for a member by itself.
const ENTRIES: usize = 3;

/// The examples of one dealer's document.
pub(super) struct Illustrator<'a> {
    pub(super) tenant: &'a Tenant,
    pub(super) specimens: &'a Specimens,
}

impl Illustrator<'_> {
    /// Requests to a skill that are answered; `None` where the samples of the schema have to do.
    pub(super) fn requests(&self, skill: SkillId, samples: &Value) -> Option<Vec<Value>> {
        let lot = self.specimens.lot.as_ref();
        let bare = || json!({"type": skill.spec().request_type});
        match skill {
            SkillId::DealerInformation => None,
            SkillId::InventoryFacets => Some(vec![lot?.facets.as_ref()?.0.clone(), bare()]),
            SkillId::InventorySearch => Some(vec![lot?.search.as_ref()?.0.clone(), bare()]),
            SkillId::InventoryVehicle => {
                let named = lot?.names.iter().map(|(name, value)| {
                    let mut request = bare();
                    if let Some(members) = request.as_object_mut() {
                        members.insert((*name).into(), value.as_str().into());
                    }
                    request
                });
                Some(named.collect()).filter(|all: &Vec<_>| !all.is_empty())
            }
            SkillId::LeadSubmit => Some(vec![self.lead(samples.get(0)?.clone())]),
        }
    }

    /// Answers of a skill; `None` where the samples of the schema have to do.
    pub(super) fn answers(&self, skill: SkillId, samples: &Value) -> Option<Vec<Value>> {
        let lot = self.specimens.lot.as_ref();
        let one = match skill {
            SkillId::DealerInformation => self.specimens.information.clone(),
            SkillId::InventoryFacets => Some(lot?.facets.as_ref()?.1.clone()),
            SkillId::InventorySearch => Some(lot?.search.as_ref()?.1.clone()),
            SkillId::InventoryVehicle => lot?.detail.clone(),
            // Nobody is asked for a lead to show: this one is only told by the right dealer.
            SkillId::LeadSubmit => {
                let mut answer = samples.get(0)?.clone();
                if let Some(contact) = answer.pointer_mut("/data/dealer") {
                    *contact = json!({"name": self.tenant.name});
                }
                Some(answer)
            }
        };
        one.map(|one| vec![one])
    }

    /// The sample of a lead as this dealer takes it: about a vehicle that it has or about none, and with a way to
    /// answer that it uses.
    fn lead(&self, mut lead: Value) -> Value {
        let Some(members) = lead.as_object_mut() else { return lead };
        let named = self.specimens.lot.as_ref().and_then(|lot| {
            let stock = lot.name("stock").map(|stock| ("stock", stock));
            stock.or_else(|| lot.names.first().map(|(name, value)| (*name, value.as_str())))
        });
        let channels = &self.tenant.policy.follow_up_channels;
        let (channel, verb) = match channels.first() {
            _ if channels.contains(&Channel::Email) => ("email", "email"),
            Some(Channel::Phone) => ("phone", "call"),
            Some(Channel::Sms) => ("sms", "text"),
            _ => ("email", "email"),
        };
        let about = match named {
            Some((name, value)) => {
                members.insert("vehicle_of_interest".into(), json!({ name: value }));
                members.insert("message".into(), "Is it still there on Saturday?".into());
                format!(" about {} {value}", if name == "stock" { "stock" } else { "vehicle" })
            }
            None => {
                members.remove("vehicle_of_interest");
                members.insert("message".into(), "Do you take motorcycles in trade?".into());
                String::new()
            }
        };
        let agreed = format!("{} may {verb} me{about}.", self.tenant.name);
        if let Some(consent) = members.get_mut("consent").and_then(Value::as_object_mut) {
            consent.insert("consent_text".into(), agreed.into());
            consent.insert("allowed_channels".into(), json!([channel]));
        }
        if let (true, Some(customer)) =
            (channel != "email", members.get_mut("customer").and_then(Value::as_object_mut))
        {
            customer.insert("phone".into(), "+15035550186".into());
        }
        lead
    }

    /// The example of a parameter: `None` where that of its schema stays, `Some(None)` where there is none.
    pub(super) fn parameter(&self, group: &str, name: &str) -> Option<Option<Value>> {
        // It is good only where an answer gave it.
        if name == "cursor" {
            return Some(None);
        }
        let lot = self.specimens.lot.as_ref()?;
        match group {
            "filters" => Some(lot.filters.get(name).cloned()),
            "" if name != "dealer_id" => Some(lot.name(name).map(Value::from)),
            _ => None,
        }
    }

    /// Puts true examples into the schemas of a document.
    pub(super) fn schemas(&self, schemas: &mut Map<String, Value>) {
        if let Some(pagination) = schemas
            .get_mut("InventorySearchRequest")
            .and_then(|search| search.pointer_mut("/properties/pagination/properties/cursor"))
        {
            drop_examples(pagination);
        }
        let mut next: Vec<(String, Value)> = Vec::new();
        for skill in &self.tenant.skills {
            self.request(skill.spec(), schemas, &mut next);
        }
        for skill in &self.tenant.skills {
            let name = component(skill.spec().response_schema);
            let samples = examples(schemas, &name);
            let answers = self.answers(*skill, &samples).unwrap_or_default();
            next.extend(answers.into_iter().map(|answer| (name.clone(), answer)));
        }
        // The first thing that a schema is for is its example; references are followed breadth first, so that an answer
        // comes before its parts.
        let mut done: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some((name, value)) = next.get(at).cloned() {
            at += 1;
            if done.contains(&name) {
                continue;
            }
            if let Some(schema) = schemas.get_mut(&name) {
                show(schema, &value, &mut next);
            }
            done.push(name);
        }
        if self.specimens.lot.is_some() {
            // What is left of them is what this dealer has nothing to show for.
            schemas.values_mut().for_each(scrub);
        }
    }

    /// The examples of a request's schema, whose members need no more than that.
    fn request(&self, skill: &SkillSpec, schemas: &mut Map<String, Value>, next: &mut Vec<(String, Value)>) {
        let name = component(skill.request_schema);
        let samples = examples(schemas, &name);
        let Some(requests) = self.requests(skill.id, &samples) else { return };
        let Some(schema) = schemas.get_mut(&name).and_then(Value::as_object_mut) else { return };
        let first = requests.first().cloned().unwrap_or_default();
        schema.insert("examples".into(), requests.into());
        match skill.id {
            SkillId::LeadSubmit => {
                let consent = first.get("consent").cloned().unwrap_or_default();
                next.push(("ConsentGrant".into(), consent));
                if let Some(lot) = &self.specimens.lot {
                    next.push(("LeadSubmitRequestVehicleOfInterest".into(), lot.vehicle.clone()));
                }
            }
            SkillId::InventoryVehicle => {
                for name in ["vehicle_id", "vin", "stock"] {
                    let value = self.specimens.lot.as_ref().and_then(|lot| lot.name(name));
                    if let Some(member) = schema.get_mut("properties").and_then(|all| all.get_mut(name)) {
                        set_examples(member, value.map(Value::from));
                    }
                }
            }
            SkillId::InventorySearch | SkillId::InventoryFacets => {
                let filters = schemas.get_mut("InventorySearchRequestFilters").and_then(Value::as_object_mut);
                let (Some(lot), Some(schema)) = (&self.specimens.lot, filters) else { return };
                schema.insert("examples".into(), json!([first.get("filters")]));
                let members = schema.get_mut("properties").and_then(Value::as_object_mut);
                for (name, member) in members.into_iter().flatten() {
                    set_examples(member, lot.filters.get(name).cloned());
                }
            }
            SkillId::DealerInformation => {}
        }
    }
}

/// The examples of a schema of the document.
fn examples(schemas: &Map<String, Value>, name: &str) -> Value {
    schemas.get(name).and_then(|schema| schema.get("examples")).cloned().unwrap_or_default()
}

fn set_examples(schema: &mut Value, value: Option<Value>) {
    if let Some(members) = schema.as_object_mut() {
        match value {
            Some(value) => members.insert("examples".into(), json!([value])),
            None => members.remove("examples"),
        };
    }
}

fn drop_examples(schema: &mut Value) {
    set_examples(schema, None);
}

/// Makes a value the example of a schema that has one, and its members those of the schema's members. What belongs to
/// schemas that are referred to is added to `next`.
fn show(schema: &mut Value, value: &Value, next: &mut Vec<(String, Value)>) {
    let Some(members) = schema.as_object_mut() else { return };
    if let Some(name) = members.get("$ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next()) {
        next.push((name.to_owned(), value.clone()));
    }
    let allowed = members.get("enum").and_then(Value::as_array);
    if members.contains_key("examples") && allowed.is_none_or(|allowed| allowed.contains(value)) {
        members.insert("examples".into(), json!([first_entries(value)]));
    }
    for choice in ["oneOf", "anyOf"] {
        let branches = members.get_mut(choice).and_then(Value::as_array_mut);
        for branch in branches.into_iter().flatten().filter(|branch| branch.get("$ref").is_some()) {
            if !value.is_null() {
                show(branch, value, next);
            }
        }
    }
    for (name, member) in members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if let Some(value) = value.get(name) {
            show(member, value, next);
        }
    }
    if let (Some(items), Some(first)) = (members.get_mut("items"), value.get(0)) {
        show(items, first, next);
    }
}

/// A value, of a list only its beginning.
fn first_entries(value: &Value) -> Value {
    match value {
        Value::Array(entries) => entries.iter().take(ENTRIES).cloned().collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_at_each_of_its_places() {
        let mut schema = json!({"examples": [1, 2], "properties": {
            "a": {"type": "string", "examples": ["x"]},
            "b": {"type": "string", "enum": ["p"], "examples": ["p"]},
            "c": {"type": "array", "examples": [[9]], "items": {"$ref": "#/components/schemas/C"}},
            "d": {"anyOf": [{"$ref": "#/components/schemas/D"}, {"type": "null"}]},
            "e": {"type": "string", "examples": ["stays"]},
        }});
        let value = json!({"a": "A", "b": "not allowed", "c": [1, 2, 3, 4], "d": {"f": 1}});
        let mut next = Vec::new();
        show(&mut schema, &value, &mut next);
        assert_eq!(schema["examples"], json!([value]));
        let of = |name: &str| schema["properties"][name]["examples"].clone();
        assert_eq!(of("a"), json!(["A"]));
        assert_eq!(of("b"), json!(["p"]));
        assert_eq!(of("c"), json!([[1, 2, 3]]));
        assert_eq!(of("e"), json!(["stays"]));
        assert_eq!(next, [("C".to_owned(), json!(1)), ("D".to_owned(), json!({"f": 1}))]);
    }
}
