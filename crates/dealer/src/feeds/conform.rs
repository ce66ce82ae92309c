//! Whether a vehicle may be published: every contract's schema must allow it.

use std::sync::LazyLock;

use contract::{CONTRACTS, Contract, ContractVersion, Violation};
use feeds::{Code, Finding, Unit};
use serde_json::{Map, Value};

use super::document::{STOCK_CHARS, finding};

/// The vehicle if every contract allows it. Addresses that are none are left out; anything else that breaks a schema
/// keeps it from being published.
pub(super) fn fit(
    mut vehicle: Map<String, Value>,
    about: Option<&Unit>,
    findings: &mut Vec<Finding>,
) -> Option<Map<String, Value>> {
    let blank = Unit::default();
    let unit = about.unwrap_or(&blank);
    if unit.stock.as_ref().is_some_and(|stock| stock.chars().count() > STOCK_CHARS) {
        findings.push(finding(Code::FieldTooLarge, unit, "stock", unit.stock.as_deref()));
        return None;
    }
    let mut value = Value::Object(vehicle);
    let Err(violations) = check(&value) else { return taken(value) };
    for name in ["vdp_url", "photos"] {
        let below = |violation: &&Violation| {
            violation.location.strip_prefix('/').is_some_and(|at| at.split('/').next() == Some(name))
        };
        if !violations.iter().any(|violation| below(&violation)) {
            continue;
        }
        let members = value.as_object_mut()?;
        match members.remove(name) {
            Some(Value::Array(all)) => {
                let is_bad = |i: usize| {
                    let at = format!("/{name}/{i}");
                    violations.iter().any(|violation| violation.location == at)
                };
                let (bad, good): (Vec<_>, Vec<_>) =
                    all.into_iter().enumerate().partition(|(i, _)| is_bad(*i));
                for (_, photo) in bad {
                    findings.push(finding(Code::PhotoUrlInvalid, unit, name, photo.as_str()));
                }
                if !good.is_empty() {
                    members.insert(name.into(), good.into_iter().map(|(_, photo)| photo).collect());
                }
            }
            Some(address) => findings.push(finding(Code::VdpUrlInvalid, unit, name, address.as_str())),
            None => {}
        }
    }
    let Err(violations) = check(&value) else { return taken(value) };
    vehicle = taken(value)?;
    for violation in violations {
        let name = violation.location.trim_start_matches('/').split('/').next().unwrap_or_default();
        let field = if name.is_empty() { "row" } else { name };
        let value =
            vehicle.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        findings.push(finding(Code::ContractViolation, unit, field, value.as_deref()));
    }
    None
}

fn taken(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

const LISTING: &str = "listing.schema.json";

/// Holds a vehicle against the listing schema of every contract.
///
/// # Errors
/// What it breaks, of the first contract that it breaks.
pub(super) fn check(vehicle: &Value) -> Result<(), Vec<Violation>> {
    match &*CHECKS {
        Ok(contracts) => contracts.iter().try_for_each(|contract| contract.check(LISTING, vehicle)),
        // A build that cannot read its own schemas does not start either.
        Err(why) => Err(vec![Violation::new("", "x-schema", why)]),
    }
}

/// One contract of each listing schema: those that differ in nothing but their names are asked once.
static CHECKS: LazyLock<Result<Vec<Contract>, String>> = LazyLock::new(|| {
    let mut kept: Vec<(Value, Contract)> = Vec::new();
    for spec in CONTRACTS {
        let rules = rules(spec.version)?;
        if !kept.iter().any(|(known, _)| *known == rules) {
            kept.push((rules, Contract::load(spec.version).map_err(|error| error.to_string())?));
        }
    }
    Ok(kept.into_iter().map(|(_, contract)| contract).collect())
});

/// The listing schema of a contract with everything that it refers to, without names and prose.
fn rules(version: ContractVersion) -> Result<Value, String> {
    let mut wanted = vec![LISTING.to_owned()];
    let mut read = Map::new();
    while let Some(file) = wanted.pop() {
        if read.contains_key(&file) {
            continue;
        }
        let text = Contract::schemas(version).find(|(name, _)| *name == file).map(|(_, text)| text);
        let text = text.ok_or_else(|| format!("there is no schema {file}"))?;
        let mut schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some(members) = schema.as_object_mut() {
            members.remove("$id");
        }
        refers(&schema, &mut wanted);
        read.insert(file, schema);
    }
    Ok(read.into())
}

/// The files that a schema refers to. All of them are named from the folder of schemas, as the listing's are.
fn refers(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str().filter(|_| key == "$ref") {
                    Some(file) => found
                        .extend(file.split('#').next().filter(|file| !file.is_empty()).map(str::to_owned)),
                    None => refers(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|one| refers(one, found)),
        _ => {}
    }
}
