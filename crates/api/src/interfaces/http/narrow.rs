//! What of a contract's search one dealer offers, as its documents say it.

use contract::ContractSpec;
use contract::payload::SortField;
use dealer::{SearchPolicy, Tenant};
use serde_json::{Map, Value, json};

use super::parameters::Parameter;

/// The offer of one dealer in one contract.
pub(super) struct Offered<'a> {
    search: Option<&'a SearchPolicy>,
    tenant: &'a Tenant,
}

impl<'a> Offered<'a> {
    /// A contract that has no word for it keeps dealers from restricting search.
    pub(super) fn by(tenant: &'a Tenant, spec: &ContractSpec) -> Offered<'a> {
        Offered { search: tenant.policy.search.as_ref().filter(|_| spec.search_restrictable), tenant }
    }

    fn filters(&self) -> Option<&'a [String]> {
        self.search?.filters.as_deref()
    }

    fn fields(&self) -> Option<&'a [SortField]> {
        self.search?.sort_fields.as_deref()
    }

    fn has_filter(&self, name: &str) -> bool {
        self.filters().is_none_or(|offered| offered.iter().any(|one| one == name))
    }

    fn has_field(&self, name: &str) -> bool {
        self.fields().is_none_or(|offered| offered.iter().any(|one| one.as_str() == name))
    }

    /// A field to sort by: the wanted one, or the first of those that the dealer offers instead.
    pub(super) fn sort_field(&self, wanted: &'static str) -> Option<&'static str> {
        match self.fields() {
            Some(fields) if !self.has_field(wanted) => fields.first().map(|field| field.as_str()),
            _ => Some(wanted),
        }
    }

    /// Whether a parameter is offered.
    pub(super) fn has(&self, parameter: &Parameter) -> bool {
        let fallback = self.tenant.policy.default_sort.field.as_str();
        match (parameter.group, parameter.name.as_str()) {
            ("filters", name) => self.has_filter(name),
            // It alone means the field of the dealer's own order.
            ("sort", "order") => self.has_field(fallback),
            _ => true,
        }
    }

    /// The schema of a parameter, with what this dealer makes of it.
    pub(super) fn schema(&self, parameter: &Parameter) -> Value {
        let mut schema = parameter.schema.clone();
        match (parameter.group, parameter.name.as_str()) {
            ("sort", "sort") => {
                self.narrow_fields(&mut schema);
                self.explain(&mut schema, "Absent: the dealer's own order.");
            }
            ("sort", "order") => self.explain(&mut schema, "Absent beside `sort`: `asc`."),
            ("pagination", "limit") => self.narrow_limit(&mut schema),
            ("filters", "features") => self.narrow_features(&mut schema),
            _ => {}
        }
        schema
    }

    /// Narrows the schemas of a document: those of requests, never what an answer may say.
    pub(super) fn narrow(&self, schemas: &mut Map<String, Value>) {
        let search = "InventorySearchRequest";
        if let Some(limit) = schemas
            .get_mut(search)
            .and_then(|schema| schema.pointer_mut("/properties/pagination/properties/limit"))
        {
            self.narrow_limit(limit);
        }
        if let (true, Some(lead)) = (
            self.tenant.policy.test_drive_requires_vehicle,
            schemas.get_mut("LeadSubmitRequest").and_then(Value::as_object_mut),
        ) {
            let kind = json!({"properties": {"appointment_type": {"const": "test_drive"}}, "required": ["appointment_type"]});
            lead.insert(
                "if".into(),
                json!({"properties": {"appointment": kind}, "required": ["appointment"]}),
            );
            lead.insert(
                "then".into(),
                json!({"properties": {"vehicle_of_interest": {}}, "required": ["vehicle_of_interest"]}),
            );
        }
        if self.search.is_none() {
            return;
        }
        // An answer may be in an order that nobody can ask for: the dealer's own.
        let applied = schemas.get("InventorySearchRequestSort").cloned();
        if let (Some(applied), Some(answer)) = (applied, schemas.get_mut("InventorySearchResponse"))
            && let Some(reference) = answer.pointer_mut("/properties/data/properties/sort/$ref")
        {
            *reference = "#/components/schemas/AppliedSort".into();
            schemas.insert("AppliedSort".into(), applied);
        }
        if let Some(field) = schemas
            .get_mut("InventorySearchRequestSort")
            .and_then(|sort| sort.pointer_mut("/properties/field"))
        {
            self.narrow_fields(field);
        }
        if let Some(filters) = schemas.get_mut("InventorySearchRequestFilters") {
            if let Some(members) = filters.get_mut("properties").and_then(Value::as_object_mut) {
                members.retain(|name, _| self.has_filter(name));
            }
            if let Some(features) = filters.pointer_mut("/properties/features") {
                self.narrow_features(features);
            }
            if let Some(examples) = filters.get_mut("examples").and_then(Value::as_array_mut) {
                examples.iter_mut().for_each(|example| self.prune_filters(example));
            }
        }
        for (name, schema) in schemas.iter_mut() {
            if let Some(examples) = schema.get_mut("examples") {
                match name.as_str() {
                    "InventorySearchRequestSort" => self.prune_sort(examples),
                    _ => self.prune(examples),
                }
            }
        }
    }

    /// Takes out of examples what this dealer does not offer.
    pub(super) fn prune(&self, value: &mut Value) {
        if self.search.is_none() {
            return;
        }
        match value {
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.prune(entry)),
            Value::Object(members) => {
                let is_answer = members.contains_key("applied_filters");
                for (name, member) in members.iter_mut() {
                    match name.as_str() {
                        "filters" | "applied_filters" => self.prune_filters(member),
                        "sort" if !is_answer => self.prune_sort(member),
                        _ => self.prune(member),
                    }
                }
            }
            _ => {}
        }
    }

    fn prune_filters(&self, filters: &mut Value) {
        if let Some(members) = filters.as_object_mut() {
            members.retain(|name, _| self.has_filter(name));
            let codes = self.search.and_then(|search| search.feature_codes.as_ref());
            if let (Some(codes), Some(features)) = (codes, members.get_mut("features")) {
                *features = codes.iter().take(1).cloned().collect();
            }
        }
    }

    fn prune_sort(&self, sort: &mut Value) {
        match sort {
            Value::Array(all) => all.iter_mut().for_each(|one| self.prune_sort(one)),
            other => {
                if let (Some(fields), Some(field)) = (self.fields(), other.get_mut("field"))
                    && !field.as_str().is_some_and(|name| self.has_field(name))
                {
                    *field = fields.first().map(|first| first.as_str()).into();
                }
            }
        }
    }

    fn narrow_fields(&self, field: &mut Value) {
        if let (Some(fields), Some(members)) = (self.fields(), field.as_object_mut()) {
            let names: Vec<_> = fields.iter().map(|field| field.as_str()).collect();
            members.insert("examples".into(), json!(names.iter().take(1).collect::<Vec<_>>()));
            members.insert("enum".into(), json!(names));
        }
    }

    fn narrow_features(&self, features: &mut Value) {
        let codes = self.search.and_then(|search| search.feature_codes.as_ref());
        if let (Some(codes), Some(members)) = (codes, features.as_object_mut()) {
            members.insert("items".into(), json!({"type": "string", "enum": codes}));
            members.insert("examples".into(), json!([codes.iter().take(1).collect::<Vec<_>>()]));
        }
    }

    fn narrow_limit(&self, limit: &mut Value) {
        let policy = &self.tenant.policy;
        if let Some(members) = limit.as_object_mut() {
            members.insert("default".into(), policy.page_size().into());
            // Not as `maximum`: larger ones, up to the contract's, are taken and answered with as many as there are on
            // a page. A document that forbade them would be found to be wrong by whoever tries.
            members.insert("x-effective-maximum".into(), policy.max_limit.into());
            members.insert("examples".into(), json!([policy.max_limit.min(12)]));
        }
        self.explain(
            limit,
            &format!(
                "This dealer's pages hold {} unless told otherwise, and {} at most.",
                policy.page_size(),
                policy.max_limit
            ),
        );
    }

    fn explain(&self, schema: &mut Value, more: &str) {
        if let Some(members) = schema.as_object_mut() {
            let before = members.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = format!("{before} {more}").trim().to_owned();
            members.insert("description".into(), text.into());
        }
    }
}
