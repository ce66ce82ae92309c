//! The Agent Card: rendered from a dealer's data, stored when its content changes, and only then.

use contract::{ContractSpec, ContractVersion, SkillId, canonical};
use serde_json::{Map, Value, json};
use store::{CardWrite, RooftopRow, TenantRow, TenantTx};
use uuid::Uuid;

use crate::callers::{CallersRule, Credential};
use crate::origin::Addresses;
use crate::policy::Policy;
use crate::tenant::{offered_skills, published_contracts};

/// The agent's own version on every card. Raise it when agents can notice a change of behaviour that no other
/// member of the card shows: it gives every card a new id.
const AGENT_VERSION: &str = "1.0.0";

/// Raise it when [`render`] or what is published changes, so that every process re-renders the stored cards once.
pub(crate) const RENDERER: u32 = 3;

/// What the extension's entry says of itself.
const EXTENSION: &str = "Auto Agent Protocol: typed questions to a car dealer about its stock.";

/// Why a card may have changed; kept with the revision.
#[derive(Debug, Clone, Copy)]
pub struct Cause<'a> {
    /// For example `provision` or `addresses changed`.
    pub what: &'a str,
    /// Who did it, as far as known.
    pub actor: &'a str,
}

/// Stores every card of the dealer whose content differs from what is stored, with a new `params.id`, in the
/// caller's transaction. Returns how many changed. Cards no longer published are dropped.
///
/// # Errors
/// When the database refuses.
pub async fn card_changed(
    tx: &mut TenantTx,
    row: &TenantRow,
    rooftops: &[RooftopRow],
    addresses: &Addresses,
    cause: Cause<'_>,
) -> Result<usize, store::Error> {
    let stored = tx.cards().await?;
    let mut changed = 0;
    let skills = offered_skills(row);
    let published = if skills.is_empty() { Vec::new() } else { published_contracts(row, addresses) };
    for version in &published {
        let Some(spec) = version.spec() else { continue };
        let mut card = render(spec, row, rooftops, &skills, addresses);
        let content_hash = canonical::hash(&card);
        if stored.iter().any(|old| old.contract == version.as_str() && old.content_hash == content_hash) {
            continue;
        }
        let params_id = Uuid::now_v7();
        set_params_id(&mut card, params_id);
        let body = card.to_string();
        tx.save_card(&CardWrite {
            contract: version.to_string(),
            params_id,
            content_hash,
            body,
            cause: cause.what.to_owned(),
            actor: cause.actor.to_owned(),
        })
        .await?;
        changed += 1;
    }
    for old in &stored {
        let keep = old.contract.parse::<ContractVersion>().is_ok_and(|version| published.contains(&version));
        if !keep {
            tx.drop_card(&old.contract).await?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// The card without `params.id` (AAP.md 13).
fn render(
    spec: &ContractSpec,
    row: &TenantRow,
    rooftops: &[RooftopRow],
    skills: &[SkillId],
    addresses: &Addresses,
) -> Value {
    let base = addresses.base(row.into());
    let mut interface = json!({
        "url": format!("{base}{}/a2a", spec.version),
        "protocolBinding": "JSONRPC",
        "protocolVersion": "1.0",
    });
    if let (Some(tenant), Some(members)) = (&row.interface_tenant, interface.as_object_mut()) {
        members.insert("tenant".into(), tenant.clone().into());
    }
    let mut schemas = Map::new();
    for id in skills {
        let skill = id.spec();
        schemas.insert(
            id.as_str().into(),
            json!({
                "request_schema": format!("{}{}", spec.schema_base, skill.request_schema),
                "response_schema": format!("{}{}", spec.schema_base, skill.response_schema),
            }),
        );
    }
    let mut params = Map::new();
    params.insert("version".into(), spec.full_version.into());
    params.insert("schema_base_url".into(), spec.schema_base.into());
    params.insert("skills".into(), schemas.into());
    if let (true, Some(search)) = (spec.card.search_params, search_params(&row.policy)) {
        params.insert("search".into(), search);
    }
    let mut extension = Map::new();
    extension.insert("uri".into(), spec.extension_uri.into());
    extension.insert("description".into(), EXTENSION.into());
    if spec.card.extension_required {
        extension.insert("required".into(), true.into());
    }
    extension.insert("params".into(), params.into());
    let security = Security::of(row, skills);
    let mut card = json!({
        "name": row.name,
        "description": description(row, rooftops, skills),
        "version": AGENT_VERSION,
        "documentationUrl": base,
        "supportedInterfaces": [interface],
        "capabilities": {
            "extensions": [extension],
        },
        "defaultInputModes": modes(spec, skills.iter().map(|id| id.spec().request_media_type)),
        "defaultOutputModes": modes(spec, skills.iter().map(|id| id.spec().response_media_type)),
        "skills": skills.iter().map(|id| skill_entry(*id, &security)).collect::<Vec<_>>(),
    });
    if let (Some(security), Some(members)) = (&security, card.as_object_mut()) {
        members.insert("securitySchemes".into(), security.schemes.clone());
        members.insert("securityRequirements".into(), security.requirements(skills));
    }
    card
}

/// Media types of a direction: those of the skills, and plain JSON where the contract takes it as well.
fn modes(spec: &ContractSpec, vendor: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    vendor.chain(spec.card.plain_json.then_some("application/json")).collect()
}

/// How callers prove who they are, as A2A says it (A2A.md 4, Security).
struct Security {
    schemes: Value,
    names: Vec<&'static str>,
}

impl Security {
    /// `None` for a public dealer.
    fn of(row: &TenantRow, skills: &[SkillId]) -> Option<Security> {
        let rule = CallersRule::read(&row.callers).ok()?;
        let (mut schemes, mut names) = (Map::new(), Vec::new());
        for credential in &rule.accept {
            let (name, scheme) = match (credential, &rule.oauth) {
                (Credential::Keys, _) => (
                    "key",
                    json!({"httpAuthSecurityScheme": {
                        "scheme": "Bearer",
                        "description": "A key that the dealer gives to its callers.",
                    }}),
                ),
                (Credential::Oauth, Some(oauth)) => {
                    let scopes: Map<String, Value> = skills
                        .iter()
                        .map(|id| (id.as_str().to_owned(), id.spec().description.into()))
                        .collect();
                    (
                        "oauth",
                        json!({"oauth2SecurityScheme": {"flows": {"clientCredentials": {
                            "tokenUrl": oauth.token_url,
                            "scopes": scopes,
                        }}}}),
                    )
                }
                (Credential::Oauth, None) => continue,
            };
            schemes.insert(name.into(), scheme);
            names.push(name);
        }
        (!names.is_empty()).then_some(Security { schemes: schemes.into(), names })
    }

    /// Any one scheme is enough. Each names the skills as its scopes: an empty list would be lost by the canonical
    /// form that card signatures use.
    fn requirements(&self, skills: &[SkillId]) -> Value {
        let scopes: Vec<&str> = skills.iter().map(|id| id.as_str()).collect();
        self.names.iter().map(|name| json!({"schemes": {*name: {"list": scopes}}})).collect()
    }
}

fn skill_entry(id: SkillId, security: &Option<Security>) -> Value {
    let skill = id.spec();
    let mut entry = json!({
        "id": id.as_str(),
        "name": skill.name,
        "description": skill.description,
        "tags": skill.tags,
        "inputModes": [skill.request_media_type],
        "outputModes": [skill.response_media_type],
    });
    if let (Some(security), Some(members)) = (security, entry.as_object_mut()) {
        members.insert("securityRequirements".into(), security.requirements(&[id]));
    }
    entry
}

/// What of search the dealer offers: from its policy, never from its stock. Absent means everything.
fn search_params(policy: &Value) -> Option<Value> {
    let policy: Policy = serde_json::from_value(policy.clone()).ok()?;
    let search = policy.search?;
    let mut params = Map::new();
    if let Some(filters) = search.filters {
        params.insert("filters".into(), filters.into());
    }
    if let Some(fields) = search.sort_fields {
        params.insert("sort_fields".into(), fields.iter().map(|field| field.as_str()).collect());
    }
    if let Some(codes) = search.feature_codes {
        params.insert("feature_codes".into(), codes.into());
    }
    // Empty lists would be lost by the canonical form that card signatures use, so they are not written.
    params.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
    (!params.is_empty()).then_some(Value::Object(params))
}

fn description(row: &TenantRow, rooftops: &[RooftopRow], skills: &[SkillId]) -> String {
    let place = rooftops.first().and_then(|rooftop| {
        let address = rooftop.profile.get("address")?;
        let city = address.get("city")?.as_str()?;
        Some(match address.get("state").and_then(Value::as_str) {
            Some(state) => format!(" in {city}, {state}"),
            None => format!(" in {city}"),
        })
    });
    let mut can = Vec::new();
    if skills.contains(&SkillId::DealerInformation) {
        can.push("tells opening hours, contacts and fees");
    }
    if skills.contains(&SkillId::InventorySearch) || skills.contains(&SkillId::InventoryVehicle) {
        can.push("searches the vehicles in stock");
    }
    if skills.contains(&SkillId::InventoryFacets) {
        can.push("counts them by make, price and more");
    }
    if skills.contains(&SkillId::LeadSubmit) {
        can.push("takes consented leads");
    }
    format!("Agent of {}{}: {}.", row.name, place.unwrap_or_default(), can.join(", "))
}

fn set_params_id(card: &mut Value, id: Uuid) {
    if let Some(Value::Object(params)) = card.pointer_mut("/capabilities/extensions/0/params") {
        params.insert("id".into(), id.to_string().into());
    }
}
