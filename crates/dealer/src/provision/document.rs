//! Reading a provisioning document: shapes and rules that need no database.

use contract::listing::unit_id;
use contract::{Contract, ContractVersion, SkillId};
use serde_json::{Map, Value, json};
use store::TenantState;

use super::Problem;
use super::decisions::{callers, policy};
use super::outer::{Body, Outer};
use super::rules::{self, Findings};
use crate::origin::{is_domain, is_slug};

/// A document whose outer form is right; each dealer in it is good or has problems of its own.
#[derive(Debug)]
pub struct Document {
    pub(crate) tenants: Vec<(String, Result<Wanted, Vec<Problem>>)>,
}

impl Document {
    /// How many dealers it names.
    pub fn len(&self) -> usize {
        self.tenants.len()
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.tenants.is_empty()
    }
}

/// The document as a whole cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or of another form; a sentence with the place.
    #[error("{0}")]
    Form(String),
    /// A built-in schema is broken.
    #[error(transparent)]
    Schema(#[from] contract::SchemaError),
}

/// A member that was not named, was named `null`, or has a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Member<T> {
    Absent,
    Default,
    Set(T),
}

impl<T> Member<T> {
    /// The value to store, given what is there now and what a new dealer gets.
    pub(crate) fn resolve(self, now: Option<T>, default: impl FnOnce() -> T) -> T {
        match self {
            Member::Set(value) => value,
            Member::Absent => now.unwrap_or_else(default),
            Member::Default => default(),
        }
    }
}

/// What a document wants of one dealer. Everything in it has been checked on its own.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) dealer_id: Member<String>,
    pub(crate) name: Member<String>,
    pub(crate) welcome_message: Member<Option<String>>,
    pub(crate) state: Member<TenantState>,
    pub(crate) sandbox: Member<bool>,
    pub(crate) interface_tenant: Member<Option<String>>,
    pub(crate) skills: Member<Vec<String>>,
    pub(crate) contracts: Member<Vec<String>>,
    pub(crate) default_contract: Member<ContractVersion>,
    pub(crate) policy: Member<Value>,
    pub(crate) callers: Member<Value>,
    pub(crate) domains: Member<Vec<String>>,
    /// The public rooftop and its holidays.
    pub(crate) rooftops: Member<Vec<(Value, Value)>>,
    pub(crate) inventory: Member<Vec<Map<String, Value>>>,
    pub(crate) sold: Member<Vec<SoldUnit>>,
}

/// A unit that is known and no longer offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SoldUnit {
    /// Its own id; where the document names none, the one that a lot would give it.
    pub(crate) vehicle_id: String,
    /// Whether the document names the id.
    pub(crate) by_id: bool,
    pub(crate) vin: Option<String>,
    pub(crate) stock: Option<String>,
}

impl SoldUnit {
    /// The VIN, where it is all that tells which unit is meant.
    pub(crate) fn by_vin(&self) -> Option<&str> {
        self.vin.as_deref().filter(|_| !self.by_id)
    }

    /// The stock number, where it is all that tells which unit is meant.
    pub(crate) fn by_stock(&self) -> Option<&str> {
        self.stock.as_deref().filter(|_| !self.by_id && self.vin.is_none())
    }
}

const MEMBERS: [&str; 16] = [
    "dealer_id",
    "name",
    "welcome_message",
    "state",
    "sandbox",
    "interface_tenant",
    "skills",
    "contracts",
    "default_contract",
    "policy",
    "callers",
    "domains",
    "rooftops",
    "inventory",
    "sold",
    "note",
];

/// Reads a document.
///
/// # Errors
/// Only when nothing of it can be used: no JSON, another outer form, a slug twice.
pub fn read(text: &str) -> Result<Document, ReadError> {
    let outer: Outer = serde_json::from_str(text)
        .map_err(|error| ReadError::Form(format!("the document cannot be read: {error}")))?;
    let checks = Checks { contract: Contract::load(ContractVersion::NEWEST)? };
    let tenants = outer.dealers.into_iter().map(|body| {
        let wanted = checks.tenant(&body);
        (body.slug, wanted)
    });
    Ok(Document { tenants: tenants.collect() })
}

struct Checks {
    contract: Contract,
}

impl Checks {
    fn tenant(&self, Body { slug, value, twice }: &Body) -> Result<Wanted, Vec<Problem>> {
        let escaped = slug.replace('~', "~0").replace('/', "~1");
        let mut found = Findings { base: format!("/tenants/{escaped}"), problems: Vec::new() };
        if !is_slug(slug) {
            found.add(
                "",
                "the slug must be 1 to 63 lower-case letters, digits or inner hyphens, and no name the platform \
                 needs (admin, api, www, static, status, t)",
            );
        }
        for place in twice {
            found.add(place, "stands twice");
        }
        let Some(body) = value.as_object() else {
            found.add("", "must be an object");
            return Err(found.problems);
        };
        for key in body.keys().filter(|key| !MEMBERS.contains(&key.as_str())) {
            found.add(&format!("/{}", key.replace('~', "~0").replace('/', "~1")), "there is no such member");
        }
        rules::refuse_nul(&mut found, "", &Value::Object(body.clone()));
        let wanted = Wanted {
            dealer_id: text(&mut found, body, "dealer_id"),
            name: text(&mut found, body, "name"),
            welcome_message: optional(text(&mut found, body, "welcome_message")),
            state: member(&mut found, body, "state", |value| match value.as_str() {
                Some("active") => Ok(TenantState::Active),
                Some("suspended") => Ok(TenantState::Suspended),
                Some("removed") => Ok(TenantState::Removed),
                _ => Err("must be active, suspended or removed".into()),
            }),
            sandbox: member(&mut found, body, "sandbox", |value| {
                value.as_bool().ok_or_else(|| "must be true or false".into())
            }),
            interface_tenant: optional(text(&mut found, body, "interface_tenant")),
            skills: names(&mut found, body, "skills", |name| {
                name.parse::<SkillId>().map(|_| ()).map_err(|_| "is no skill of the protocol".to_owned())
            }),
            contracts: names(&mut found, body, "contracts", |name| {
                name.parse::<ContractVersion>().map(|_| ()).map_err(|e| e.to_string())
            }),
            default_contract: member(&mut found, body, "default_contract", |value| {
                let version: ContractVersion = value
                    .as_str()
                    .unwrap_or_default()
                    .parse()
                    .map_err(|_| "must be v1.3, latest or v3.0".to_owned())?;
                version
                    .spec()
                    .map(|_| version)
                    .ok_or_else(|| format!("{version} is not served by this build"))
            }),
            policy: policy(&mut found, body),
            callers: callers(&mut found, body),
            domains: names(&mut found, body, "domains", |name| {
                if is_domain(name) { Ok(()) } else { Err("must be a host name in lower case".into()) }
            }),
            rooftops: self.rooftops(&mut found, body),
            inventory: self.inventory(&mut found, body),
            sold: self.sold(&mut found, body),
        };
        if let (Member::Set(contracts), Member::Set(default)) = (&wanted.contracts, &wanted.default_contract)
            && !contracts.iter().any(|name| name == default.as_str())
        {
            found.add("/default_contract", "must be one of contracts");
        }
        if wanted.contracts == Member::Set(Vec::new()) {
            found.add("/contracts", "must name at least one contract; leave it out for all of them");
        }
        if wanted.skills == Member::Set(Vec::new()) {
            found.add("/skills", "must name at least one skill; leave it out for all of them");
        }
        rules::check_rooftop_names(&mut found, &wanted);
        rules::check_units(&mut found, &wanted);
        if found.problems.is_empty() { Ok(wanted) } else { Err(found.problems) }
    }

    fn rooftops(&self, found: &mut Findings, body: &Map<String, Value>) -> Member<Vec<(Value, Value)>> {
        match body.get("rooftops") {
            None => Member::Absent,
            Some(Value::Array(rooftops)) => {
                let mut public = Vec::new();
                let mut pairs = Vec::new();
                for (i, rooftop) in rooftops.iter().enumerate() {
                    let mut profile = rooftop.clone();
                    let holidays = profile.as_object_mut().and_then(|members| members.remove("holidays"));
                    let holidays = holidays.unwrap_or(Value::Null);
                    rules::check_holidays(found, &format!("/rooftops/{i}/holidays"), &holidays);
                    rules::check_timezone(found, &format!("/rooftops/{i}"), rooftop);
                    public.push(profile.clone());
                    pairs.push((profile, if holidays.is_null() { json!([]) } else { holidays }));
                }
                let profile = json!({"name": "name", "rooftops": public});
                if let Err(violations) = self.contract.check("dealer-information.schema.json", &profile) {
                    found.add_all("", violations);
                }
                Member::Set(pairs)
            }
            Some(_) => {
                found.add("/rooftops", "must be a list of rooftops");
                Member::Absent
            }
        }
    }

    fn inventory(&self, found: &mut Findings, body: &Map<String, Value>) -> Member<Vec<Map<String, Value>>> {
        let units = match body.get("inventory") {
            None => return Member::Absent,
            Some(Value::Array(units)) => units,
            // An export that found nothing says null; that must not empty a lot.
            Some(_) => {
                found.add("/inventory", "must be a list of vehicles; an empty list says that there are none");
                return Member::Absent;
            }
        };
        let mut vehicles = Vec::with_capacity(units.len());
        for (i, unit) in units.iter().enumerate() {
            let at = format!("/inventory/{i}");
            if let Err(violations) = self.contract.check("listing.schema.json", unit) {
                found.add_all(&at, violations);
            }
            let Some(vehicle) = unit.as_object() else { continue };
            rules::check_fees(found, &at, vehicle);
            if unit_id(vehicle).is_none() {
                found.add(&at, "needs a vehicle_id, a vin or a stock number");
            }
            rules::check_unit_ids(found, &at, vehicle);
            rules::check_amounts(found, &at, vehicle);
            vehicles.push(vehicle.clone());
        }
        Member::Set(vehicles)
    }

    fn sold(&self, found: &mut Findings, body: &Map<String, Value>) -> Member<Vec<SoldUnit>> {
        let units = match body.get("sold") {
            None => return Member::Absent,
            Some(Value::Null) => return Member::Default,
            Some(Value::Array(units)) => units,
            Some(_) => {
                found.add("/sold", "must be a list of vehicles");
                return Member::Absent;
            }
        };
        let mut sold = Vec::with_capacity(units.len());
        for (i, unit) in units.iter().enumerate() {
            let at = format!("/sold/{i}");
            let Some(vehicle) = unit.as_object() else {
                found.add(&at, "must be a vehicle");
                continue;
            };
            // Only the identifiers are kept, so only they are judged.
            let ids: Map<String, Value> = ["vehicle_id", "vin", "stock"]
                .iter()
                .filter_map(|key| vehicle.get_key_value(*key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if let Err(violations) = self.contract.check("vehicle.schema.json", &Value::Object(ids.clone())) {
                found.add_all(&at, violations);
                continue;
            }
            rules::check_unit_ids(found, &at, &ids);
            let text = |key: &str| {
                ids.get(key).and_then(Value::as_str).filter(|t| !t.trim().is_empty()).map(str::to_owned)
            };
            let (vin, stock) = (text("vin"), text("stock"));
            match unit_id(&ids) {
                Some((vehicle_id, member)) => {
                    sold.push(SoldUnit { vehicle_id, by_id: member == "vehicle_id", vin, stock });
                }
                None => found.add(&at, "needs a vehicle_id, a vin or a stock number"),
            }
        }
        Member::Set(sold)
    }
}

fn member<T>(
    found: &mut Findings,
    body: &Map<String, Value>,
    name: &str,
    read: impl FnOnce(&Value) -> Result<T, String>,
) -> Member<T> {
    match body.get(name) {
        None => Member::Absent,
        Some(Value::Null) => Member::Default,
        Some(value) => match read(value) {
            Ok(value) => Member::Set(value),
            Err(message) => {
                found.add(&format!("/{name}"), message);
                Member::Absent
            }
        },
    }
}

fn text(found: &mut Findings, body: &Map<String, Value>, name: &str) -> Member<String> {
    member(found, body, name, |value| match value.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        Some(_) => Err("must not be blank".into()),
        None => Err("must be a string".into()),
    })
}

fn optional(member: Member<String>) -> Member<Option<String>> {
    match member {
        Member::Absent => Member::Absent,
        Member::Default => Member::Default,
        Member::Set(text) => Member::Set(Some(text)),
    }
}

fn names(
    found: &mut Findings,
    body: &Map<String, Value>,
    name: &str,
    check: impl Fn(&str) -> Result<(), String>,
) -> Member<Vec<String>> {
    match body.get(name) {
        None => Member::Absent,
        Some(Value::Null) => Member::Default,
        Some(Value::Array(items)) => {
            let mut list = Vec::new();
            for (i, item) in items.iter().enumerate() {
                let at = format!("/{name}/{i}");
                match item.as_str() {
                    None => found.add(&at, "must be a string"),
                    Some(text) if list.iter().any(|known| known == text) => found.add(&at, "stands twice"),
                    Some(text) => {
                        if let Err(message) = check(text) {
                            found.add(&at, message);
                        }
                        list.push(text.to_owned());
                    }
                }
            }
            Member::Set(list)
        }
        Some(_) => {
            found.add(&format!("/{name}"), "must be a list");
            Member::Absent
        }
    }
}
