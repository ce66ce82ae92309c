//! The OpenAPI document of one dealer in one contract: what this door does there, and nothing else.
//!
//! It is made from the same tables that the door works by: skills, reads, request schemas, error codes, the dealer's
//! decisions about search and callers.

use contract::bundle::bundle_below;
use contract::{ContractSpec, Paging, SkillId, SkillSpec};
use dealer::Tenant;
use serde_json::{Map, Value, json};

use super::flatten;
use super::illustrate::Illustrator;
use super::narrow::Offered;
use super::parameters::Parameters;
use super::reads::{READS, Read};
use super::refusals::{self, Refusals};
use super::specimens::Specimens;

/// Where references lead.
pub(super) const SCHEMAS: &str = "#/components/schemas/";

/// The document, with examples of what the dealer has.
pub(super) fn document(tenant: &Tenant, spec: &ContractSpec, specimens: &Specimens) -> Value {
    let illustrator = Illustrator { tenant, specimens };
    let writer = Writer { tenant, spec, offered: Offered::by(tenant, spec), illustrator };
    let mut document = json!({
        "openapi": "3.1.0",
        "info": writer.info(),
        "servers": [{"url": format!("{}{}", tenant.base, spec.version), "description": tenant.name}],
        "tags": writer.tags(),
        "paths": writer.paths(),
        "components": writer.components(),
    });
    own_dealer(&mut document, &tenant.dealer_id);
    document
}

/// Puts this dealer's id in place of the one in the examples of the schemas, which would be refused here.
fn own_dealer(value: &mut Value, dealer_id: &str) {
    match value {
        Value::Object(members) => {
            let parameter = members.get("name").is_some_and(|name| name == "dealer_id");
            for (name, member) in members.iter_mut() {
                match (name.as_str(), &mut *member) {
                    ("dealer_id", Value::String(id)) => dealer_id.clone_into(id),
                    ("dealer_id", Value::Object(schema)) if schema.contains_key("examples") => {
                        schema.insert("examples".into(), json!([dealer_id]));
                    }
                    ("example", example) if parameter => *example = dealer_id.into(),
                    _ => own_dealer(member, dealer_id),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| own_dealer(item, dealer_id)),
        _ => {}
    }
}

struct Writer<'a> {
    tenant: &'a Tenant,
    spec: &'a ContractSpec,
    offered: Offered<'a>,
    illustrator: Illustrator<'a>,
}

/// The group of operations that a skill belongs to: the first word of its id.
fn group(skill: &SkillSpec) -> &'static str {
    skill.id.as_str().split('.').next().unwrap_or_default()
}

/// `InventorySearchRequest` for `inventory-search-request.schema.json`.
pub(super) fn component(file: &str) -> String {
    let stem = file.trim_end_matches(".schema.json");
    let words = stem
        .split('-')
        .map(|word| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default());
    words.collect()
}

/// Examples as those of a body.
fn named(examples: Value) -> Value {
    let all = examples.as_array().into_iter().flatten().enumerate();
    all.map(|(i, value)| (format!("example{}", i + 1), json!({"value": value}))).collect::<Map<_, _>>().into()
}

/// `inventorySearch` for `inventory.search`.
fn operation_id(skill: &SkillSpec) -> String {
    let mut words = skill.id.as_str().split(['.', '_']);
    let first = words.next().unwrap_or_default().to_owned();
    let rest = words
        .map(|word| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default());
    std::iter::once(first).chain(rest).collect()
}

impl Writer<'_> {
    fn skills(&self) -> impl Iterator<Item = &'static SkillSpec> {
        self.tenant.skills.iter().map(|id| id.spec())
    }

    fn info(&self) -> Value {
        let tenant = self.tenant;
        let mut text = format!(
            "The skills of {} by the Auto Agent Protocol, as plain HTTP. The same questions get the same answers by A2A and MCP. \
             `POST /skills/{{skill}}` takes the request payload of a skill and gives the payload of its answer; reads \
             have addresses of their own besides. A list parameter is repeated for each value; a parameter that is not \
             known is refused, as is every other breach of a request schema, all at once. A refusal is a problem \
             document (RFC 9457) whose member `error` is the error of the protocol: act on its `code` and `retryable`. \
             A request body may have 1 MiB and nest 64 levels deep.",
            tenant.name,
        );
        for (limit, whose) in [
            (tenant.policy.rate_limit, "All callers together"),
            (tenant.policy.caller_rate_limit, "Each caller"),
        ] {
            if let Some(limit) = limit {
                text.push_str(&format!(
                    " {whose} may ask {} times in {} seconds.",
                    limit.requests, limit.per_seconds
                ));
            }
        }
        if tenant.sandbox {
            text.push_str(" This is a sandbox dealer: for trying out; nothing here is for sale.");
        }
        json!({
            "title": format!("{} ({})", tenant.name, self.spec.version),
            "version": self.spec.full_version,
            "description": text,
            "contact": {"name": tenant.name, "url": tenant.base},
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        })
    }

    fn tags(&self) -> Value {
        let texts = [
            ("dealer", "Who the dealer is."),
            ("inventory", "What the dealer has in stock."),
            ("lead", "Handing a shopper over to the dealer."),
        ];
        let used = |name: &str| self.skills().any(|skill| group(skill) == name);
        texts
            .iter()
            .filter(|(name, _)| used(name))
            .map(|(name, text)| json!({"name": name, "description": text}))
            .collect()
    }

    fn paths(&self) -> Value {
        let mut paths = Map::new();
        for skill in self.skills() {
            paths.insert(format!("/{}/{}", super::SKILLS, skill.id), json!({"post": self.post(skill)}));
        }
        for read in READS.iter().filter(|read| self.tenant.skills.contains(&read.skill)) {
            paths.insert(format!("/{}", read.path), json!({"get": self.get(read)}));
        }
        Value::Object(paths)
    }

    fn post(&self, skill: &SkillSpec) -> Value {
        let samples = self.samples(skill.request_schema);
        let examples = self.illustrator.requests(skill.id, &samples);
        json!({
            "operationId": operation_id(skill),
            "summary": skill.name,
            "description": skill.description,
            "tags": [group(skill)],
            "security": self.security(skill),
            "requestBody": {
                "required": true,
                "description": "The request payload; `type` may be left out.",
                "content": {"application/json": {
                    "schema": {"$ref": format!("{SCHEMAS}{}", component(skill.request_schema))},
                    "examples": named(examples.map_or(samples, Value::from)),
                }},
            },
            "responses": self.responses(skill, None),
        })
    }

    fn get(&self, read: &Read) -> Value {
        let skill = read.skill.spec();
        let known = Parameters::of(self.spec, skill);
        let in_path = read.parameter();
        let mut parameters = Vec::new();
        for parameter in known.iter() {
            let named_by_path = in_path == Some(parameter.name.as_str());
            // Of several ways to name a vehicle the path has chosen one.
            let other_name = in_path.is_some() && parameter.name != "dealer_id";
            if (other_name && !named_by_path) || !self.offered.has(parameter) {
                continue;
            }
            let mut schema = self.offered.schema(parameter);
            let members = schema.as_object_mut();
            let (description, example) = members
                .map(|members| {
                    let example = members.remove("examples").and_then(|all| all.get(0).cloned());
                    (members.remove("description"), example)
                })
                .unwrap_or_default();
            let example = self.illustrator.parameter(parameter.group, &parameter.name).unwrap_or(example);
            let mut shown = json!({
                "name": parameter.name,
                "in": if named_by_path { "path" } else { "query" },
                "description": description,
                "schema": schema,
            });
            if let (Some(example), Some(members)) = (example, shown.as_object_mut()) {
                members.insert("example".into(), example);
            }
            if let (true, Some(members)) = (named_by_path, shown.as_object_mut()) {
                members.insert("required".into(), true.into());
            }
            parameters.push(shown);
        }
        json!({
            "operationId": read.operation,
            "summary": read.summary,
            "description": skill.description,
            "tags": [group(skill)],
            "security": self.security(skill),
            "parameters": parameters,
            "responses": self.responses(skill, Some(read)),
        })
    }

    /// The ways to prove who asks; an empty list where everybody may.
    fn security(&self, skill: &SkillSpec) -> Value {
        let access = &self.tenant.access;
        let keys = (!access.is_public() && access.takes_keys()).then(|| json!({"key": []}));
        let oauth = access.oauth().map(|_| json!({"oauth": [skill.id]}));
        keys.into_iter().chain(oauth).collect()
    }

    fn responses(&self, skill: &SkillSpec, read: Option<&Read>) -> Value {
        let mut responses = Map::new();
        let mut headers = json!({"X-Request-Id": {"$ref": "#/components/headers/RequestId"}});
        if let Some(members) = headers.as_object_mut() {
            let mut add = |name: &str, component: &str| {
                members.insert(name.into(), json!({"$ref": format!("#/components/headers/{component}")}));
            };
            if !matches!(skill.id, SkillId::DealerInformation | SkillId::LeadSubmit) {
                add("Forecourt-Inventory-Version", "InventoryVersion");
            }
            if read.is_some() {
                add("ETag", "ETag");
            }
            if read.is_some_and(|read| read.skill == SkillId::InventorySearch) {
                add("Link", "Link");
            }
        }
        let samples = self.samples(skill.response_schema);
        let answers = self.illustrator.answers(skill.id, &samples);
        responses.insert(
            "200".into(),
            json!({
                "description": "The answer.",
                "headers": headers,
                "content": {"application/json": {
                    "schema": {"$ref": format!("{SCHEMAS}{}", component(skill.response_schema))},
                    "examples": named(answers.map_or(samples, Value::from)),
                }},
            }),
        );
        if read.is_some() {
            let text = "Nothing is new since the copy that `If-None-Match` names.";
            responses.insert("304".into(), json!({"description": text}));
        }
        let codes: Vec<_> = refusals::codes(skill.id, self.spec).collect();
        let mut statuses: Vec<u16> = codes.iter().map(|code| code.http_status()).collect();
        statuses.extend([400, 405, 503]);
        if read.is_none() {
            statuses.extend([408, 413, 415]);
        }
        if !self.tenant.access.is_public() {
            statuses.extend([401, 403]);
        }
        statuses.sort_unstable();
        statuses.dedup();
        let refusals = Refusals { tenant: self.tenant, spec: self.spec };
        for status in statuses {
            let of_skill: Vec<_> =
                codes.iter().filter(|code| code.http_status() == status).copied().collect();
            responses.insert(status.to_string(), refusals.refusal(status, &of_skill));
        }
        Value::Object(responses)
    }

    /// The examples of a schema file, as far as the dealer offers what they show.
    fn samples(&self, file: &str) -> Value {
        let bundle = bundle_below(self.spec, file, SCHEMAS);
        let mut listed =
            bundle.and_then(|mut bundle| Some(bundle.root.get_mut("examples")?.take())).unwrap_or_default();
        self.offered.prune(&mut listed);
        listed
    }

    fn components(&self) -> Value {
        let mut schemas = Map::new();
        for file in self.skills().flat_map(|skill| [skill.request_schema, skill.response_schema]) {
            let Some(bundle) = bundle_below(self.spec, file, SCHEMAS) else { continue };
            schemas.extend(bundle.definitions);
            schemas.insert(component(file), bundle.root);
        }
        for skill in self.skills() {
            if let Some(request) = schemas.get_mut(&component(skill.request_schema)) {
                let required = request.get_mut("required").and_then(Value::as_array_mut);
                if let Some(required) = required {
                    required.retain(|name| name != "type");
                }
                if let (Some(true), Some(members)) = (
                    request.get("required").and_then(Value::as_array).map(Vec::is_empty),
                    request.as_object_mut(),
                ) {
                    members.remove("required");
                }
            }
        }
        self.offered.narrow(&mut schemas);
        flatten::flatten(&mut schemas);
        let files = self.skills().flat_map(|skill| [skill.request_schema, skill.response_schema]);
        flatten::drop_unused(&mut schemas, &files.map(component).collect::<Vec<_>>());
        if let Some(bundle) = bundle_below(self.spec, "error.schema.json", SCHEMAS) {
            schemas.insert("Error".into(), bundle.root);
        }
        self.illustrator.schemas(&mut schemas);
        schemas.insert("Problem".into(), refusals::problem_schema());
        let mut components = json!({"schemas": schemas, "headers": self.headers()});
        let schemes = self.schemes();
        if let (false, Some(members)) = (schemes.is_empty(), components.as_object_mut()) {
            members.insert("securitySchemes".into(), Value::Object(schemes));
        }
        components
    }

    fn headers(&self) -> Value {
        let header = |text: &str, kind: &str, example: Value| json!({"description": text, "schema": {"type": kind}, "example": example});
        let next = match self.spec.paging {
            Paging::Cursor => "cursor",
            Paging::Skip => "skip",
        };
        let link = format!("<{}{}/inventory?{next}=24>; rel=\"next\"", self.tenant.base, self.spec.version);
        let mut all = json!({
            "RequestId": header("The id under which this request is logged.", "string",
                json!("0193a1f01be27d0a8c55f1d4a9f7e7a2")),
            "RetryAfter": header("Seconds after which the same request can succeed.", "integer", json!(12)),
        });
        let has = |id| self.tenant.skills.contains(&id);
        let reads = READS.iter().any(|read| has(read.skill));
        let counted = [SkillId::InventorySearch, SkillId::InventoryFacets, SkillId::InventoryVehicle];
        if let Some(members) = all.as_object_mut() {
            let mut add = |when: bool, name: &str, value: Value| {
                if when {
                    members.insert(name.into(), value);
                }
            };
            let text = "The version of the lot that all of the answer is from.";
            add(counted.into_iter().any(has), "InventoryVersion", header(text, "integer", json!(7)));
            let text = "Send it as `If-None-Match` to learn whether anything is new.";
            add(reads, "ETag", header(text, "string", json!("W/\"1939f1f4-v3.0-3-7\"")));
            let text = "With `rel=\"next\"` the address of the next page; absent on the last one.";
            add(has(SkillId::InventorySearch), "Link", header(text, "string", link.into()));
            let text = "How to prove who asks (RFC 6750).";
            let challenge = format!("Bearer realm=\"{}\"", self.tenant.slug);
            add(!self.tenant.access.is_public(), "Challenge", header(text, "string", challenge.into()));
        }
        all
    }

    fn schemes(&self) -> Map<String, Value> {
        let access = &self.tenant.access;
        let mut schemes = Map::new();
        if !access.is_public() && access.takes_keys() {
            let text = "A key that the dealer's operator gave to its caller.";
            schemes.insert("key".into(), json!({"type": "http", "scheme": "bearer", "description": text}));
        }
        if let Some(oauth) = access.oauth() {
            let scopes: Map<String, Value> =
                self.skills().map(|skill| (skill.id.to_string(), skill.name.into())).collect();
            let flows = json!({"clientCredentials": {"tokenUrl": oauth.token_url, "scopes": scopes}});
            let text = format!("A token of {} for the audience {}.", oauth.issuer, oauth.audience);
            schemes.insert("oauth".into(), json!({"type": "oauth2", "description": text, "flows": flows}));
        }
        schemes
    }
}
