//! Rules between what a document says of a dealer, what is stored of it already, and where the platform is reached.

use std::collections::HashSet;

use contract::ContractVersion;
use serde_json::Value;
use store::{RooftopRow, TenantRow, TenantTx};

use super::document::{Member, Wanted};
use crate::callers::CallersRule;
use crate::origin::Addresses;
use crate::tenant::published_contracts;

/// Rules between what the document says and what is stored already.
pub(super) fn check_together(
    add: &mut impl FnMut(&str, &str),
    wanted: &Wanted,
    row: &TenantRow,
    rooftops: &[RooftopRow],
    addresses: &Addresses,
) {
    check_contracts(add, row, addresses);
    if let (Member::Set(callers), false) = (&wanted.callers, addresses.origin.is_loopback()) {
        let loopback = CallersRule::read(callers).map(|rule| rule.loopback_members()).unwrap_or_default();
        for at in loopback {
            add(
                &format!("/callers{at}"),
                "is an address of this machine, which is for platforms on loopback",
            );
        }
    }
    if let Member::Set(domains) = &wanted.domains {
        for (i, domain) in domains.iter().enumerate() {
            if addresses.own_host(domain).is_some() {
                add(&format!("/domains/{i}"), "is a name of the platform itself");
            }
        }
    }
    if let Member::Set(units) = &wanted.inventory {
        let names: HashSet<_> = rooftops.iter().map(|rooftop| rooftop.name.as_str()).collect();
        for (i, unit) in units.iter().enumerate() {
            if unit.get("rooftop").and_then(Value::as_str).is_some_and(|name| !names.contains(name)) {
                add(&format!("/inventory/{i}/rooftop"), "is not the name of a rooftop of this dealer");
            }
        }
    }
}

/// The default contract must be published, and the draft asked for by name.
fn check_contracts(add: &mut impl FnMut(&str, &str), row: &TenantRow, addresses: &Addresses) {
    let mut refused = false;
    for (i, name) in row.contracts.iter().enumerate() {
        let spec = name.parse::<ContractVersion>().ok().and_then(ContractVersion::spec);
        if spec.is_some_and(|spec| !addresses.allow(spec, &row.domains)) {
            refused = true;
            let why = format!(
                "{name} is a draft: its identifiers lead nowhere, so it is not served at the public address {}. To \
                 serve it there all the same, start the platform with --serve-draft (FORECOURT_SERVE_DRAFT=1)",
                addresses.public_name(&row.domains).unwrap_or_default()
            );
            add(&format!("/contracts/{i}"), &why);
        }
    }
    let published = published_contracts(row, addresses);
    if refused || published.iter().any(|version| version.as_str() == row.default_contract) {
        return;
    }
    let names: Vec<&str> = published.iter().map(|version| version.as_str()).collect();
    let mut why = format!("must be one of the contracts that the dealer publishes: {}", names.join(", "));
    if row.contracts.is_empty() {
        why.push_str("; a draft is published at a public address only where contracts names it");
    }
    add("/default_contract", &why);
}

/// Units that stay as they are carry the dealer's id and the names of rooftops; these must stay true.
pub(super) async fn check_stock(
    add: &mut impl FnMut(&str, &str),
    tx: &mut TenantTx,
    (row, rooftops): (&TenantRow, &[RooftopRow]),
    (next_row, next_rooftops): (&TenantRow, &[RooftopRow]),
) -> Result<(), store::Error> {
    if next_row.dealer_id != row.dealer_id && tx.has_lot().await? {
        add("/dealer_id", "vehicles in stock carry the old id; give the inventory along with the new one");
    }
    if next_rooftops != rooftops {
        for name in tx.lot_rooftops().await? {
            if !next_rooftops.iter().any(|rooftop| rooftop.name == name) {
                let message = format!(
                    "vehicles in stock name the rooftop {name:?}, which is missing; give the inventory along"
                );
                add("/rooftops", &message);
            }
        }
    }
    Ok(())
}
