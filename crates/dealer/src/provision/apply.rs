//! Carrying out a provisioning document: one transaction per dealer, all of it or nothing.

use std::collections::{HashMap, HashSet};

use chrono::Utc;
use contract::{ContractVersion, Listing, SkillId};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use store::{Removed, RemovedRow, RooftopRow, Store, TenantId, TenantRow, TenantState, TenantTx};

use super::Problem;
use super::agendas::carry_over;
use super::document::{Document, Member, SoldUnit, Wanted};
use super::together::{check_stock, check_together};
use crate::card::{self, Cause};
use crate::feeds::{self, DecideError};
use crate::follow;
use crate::origin::Addresses;

/// What became of one dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Created,
    /// Something changed.
    Updated,
    /// Something changed, and so many confirmed visits to come are at rooftops that it does not have any more.
    UpdatedLosing(i64),
    /// Everything was so already; nothing was written, no card has a new id.
    Unchanged,
}

/// Why a dealer was left as it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The document is wrong about this dealer; everything that is wrong.
    #[error("{} problem(s)", .0.len())]
    Problems(Vec<Problem>),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// How many dealers are written at once: enough to keep the disk busy while it flushes.
const AT_ONCE: usize = 4;

/// Carries out a document. `done` hears of every dealer as it ends, in no fixed order.
///
/// Addresses on cards are those that the platform has written down; `fallback` counts where it never ran.
///
/// # Errors
/// Only when the database cannot be asked at all; what happened to each dealer goes to `done`.
pub async fn apply(
    store: &Store,
    fallback: &Addresses,
    document: Document,
    actor: &str,
    mut done: impl FnMut(&str, Result<Outcome, ApplyError>),
) -> Result<(), store::Error> {
    // Before anything is told of any dealer.
    drop(store.platform().await?);
    let mut running = stream::iter(document.tenants)
        .map(|(slug, wanted)| async move {
            match wanted {
                Ok(wanted) => {
                    let outcome = one(store, fallback, &slug, &wanted, actor).await;
                    (slug, Some(wanted), outcome)
                }
                Err(problems) => (slug, None, Err(ApplyError::Problems(problems))),
            }
        })
        .buffer_unordered(AT_ONCE);
    let mut waiting = Vec::new();
    while let Some((slug, wanted, outcome)) = running.next().await {
        match wanted {
            Some(wanted) if waits_for_domains(&outcome) => waiting.push((slug, wanted, outcome)),
            _ => done(&slug, outcome),
        }
    }
    // A dealer of the same document may have given the domain up meanwhile, and so on down a chain of them.
    let mut moved = true;
    while moved {
        moved = false;
        for (slug, wanted, _) in std::mem::take(&mut waiting) {
            let outcome = one(store, fallback, &slug, &wanted, actor).await;
            if waits_for_domains(&outcome) {
                waiting.push((slug, wanted, outcome));
            } else {
                moved |= outcome.is_ok();
                done(&slug, outcome);
            }
        }
    }
    for (slug, _, outcome) in waiting {
        done(&slug, outcome);
    }
    Ok(())
}

/// What is wrong with an inventory of a dealer with feeds.
const FED: &str = "this dealer's vehicles come from feeds, so a document cannot name them: leave inventory out, or \
                   remove the dealer's feed sources first";

/// Listings carry the dealer's id and the names of its rooftops.
async fn republish(tx: &mut TenantTx, actor: &str) -> Result<bool, ApplyError> {
    feeds::republish(tx, None, Some(actor)).await.map(|version| version.is_some()).map_err(not_fed)
}

fn not_fed(error: DecideError) -> ApplyError {
    match error {
        DecideError::Store(error) => error.into(),
        other => {
            let pointer = String::new();
            ApplyError::Problems(vec![Problem { pointer, message: other.to_string() }])
        }
    }
}

/// What is wrong with a domain that another dealer holds.
const TAKEN: &str = "belongs to another dealer";

/// Whether nothing stands in the way but domains of other dealers.
fn waits_for_domains(outcome: &Result<Outcome, ApplyError>) -> bool {
    matches!(outcome, Err(ApplyError::Problems(problems)) if problems.iter().all(|problem| problem.message == TAKEN))
}

/// The addresses that the platform has written down, or `fallback` where it never ran.
///
/// # Errors
/// The database cannot be asked.
pub async fn addresses(store: &Store, fallback: &Addresses) -> Result<Addresses, store::Error> {
    let mut tx = store.platform().await?;
    let written = follow::stored_addresses(tx.setting(follow::ADDRESSES).await?);
    Ok(written.unwrap_or_else(|| fallback.clone()))
}

/// Tries again where another writer was in the way; the transaction of the first try left nothing behind.
async fn one(
    store: &Store,
    fallback: &Addresses,
    slug: &str,
    wanted: &Wanted,
    actor: &str,
) -> Result<Outcome, ApplyError> {
    for _ in 0..3 {
        match once(store, fallback, slug, wanted, actor).await {
            Err(ApplyError::Store(error)) if error.is_transient() => {
                tracing::debug!(%error, tenant = slug, "another writer was in the way; trying again");
            }
            ended => return ended,
        }
    }
    once(store, fallback, slug, wanted, actor).await
}

async fn once(
    store: &Store,
    fallback: &Addresses,
    slug: &str,
    wanted: &Wanted,
    actor: &str,
) -> Result<Outcome, ApplyError> {
    let mut problems = Vec::new();
    let mut add = |below: &str, message: &str| {
        problems.push(Problem { pointer: format!("/tenants/{slug}{below}"), message: message.to_owned() });
    };
    let mut platform = store.platform().await?;
    // From here on nobody else changes this dealer, and a platform that starts with other addresses waits to
    // render its card until we are done.
    platform.lock_slug(slug).await?;
    let written = platform.setting_held(follow::ADDRESSES).await?;
    let addresses = &follow::stored_addresses(written).unwrap_or_else(|| fallback.clone());
    let existing = platform.tenant_by_slug(slug).await?;
    if existing.is_none() {
        if !matches!(wanted.name, Member::Set(_)) {
            add("/name", "a new dealer needs a name");
        }
        if !matches!(wanted.rooftops, Member::Set(_)) {
            add("/rooftops", "a new dealer needs at least one rooftop");
        }
    }
    let id = match existing {
        Some(id) => id,
        None => platform.create_tenant(slug).await?,
    };
    let known_domains = platform.directory_of(id).await?.map(|row| row.domains).unwrap_or_default();
    let domains = wanted.domains.clone().resolve(Some(known_domains.clone()), Vec::new);
    if domains != known_domains {
        let mut free = domains.clone();
        while let Err(error) = platform.claim_domains(id, &free).await {
            let store::Error::DomainTaken { domain } = error else { return Err(error.into()) };
            free.retain(|other| *other != domain);
            let place = domains.iter().position(|wanted| *wanted == domain).unwrap_or_default();
            add(&format!("/domains/{place}"), TAKEN);
        }
    }
    let mut tx = platform.into_tenant(id).await?;
    let Some(row) = tx.lock().await? else {
        add("", "the dealer was removed meanwhile");
        return Err(ApplyError::Problems(problems));
    };
    let rooftops = tx.rooftops().await?;
    let created = existing.is_none();
    let now = (!created).then_some(&row);
    let next_row = next_row(id, slug, wanted, now, domains.clone(), row.revision);
    let next_rooftops = next_rooftops(wanted, &rooftops);
    check_together(&mut add, wanted, &next_row, &next_rooftops, addresses);
    let has_feeds = !created && tx.has_sources().await?;
    if has_feeds && wanted.inventory != Member::Absent {
        add("/inventory", FED);
    }
    if !created && !has_feeds && wanted.inventory == Member::Absent {
        check_stock(&mut add, &mut tx, (&row, &rooftops), (&next_row, &next_rooftops)).await?;
    }
    if !problems.is_empty() {
        return Err(ApplyError::Problems(problems));
    }

    let mut changed = created || domains != known_domains;
    if created || next_row != row {
        tx.save_tenant(&next_row).await?;
        changed = true;
    }
    let mut lost_visits = 0;
    if next_rooftops != rooftops {
        lost_visits = carry_over(&mut tx, &rooftops, &next_rooftops).await?;
        tx.save_rooftops(&next_rooftops).await?;
        changed = true;
    }
    let cause = Cause { what: "provision", actor };
    let cards = card::card_changed(&mut tx, &next_row, &next_rooftops, addresses, cause).await?;
    changed |= cards > 0;
    let lot_changed = if has_feeds {
        let says_else = next_row.dealer_id != row.dealer_id || next_rooftops != rooftops;
        let sold = apply_lot(&mut tx, wanted, &next_row.dealer_id).await?;
        if next_row.policy != row.policy {
            feeds::settle_freshness(&mut tx).await.map_err(not_fed)?;
        }
        says_else && republish(&mut tx, actor).await? || sold
    } else {
        apply_lot(&mut tx, wanted, &next_row.dealer_id).await?
    };
    if !changed && !lot_changed {
        return Ok(Outcome::Unchanged);
    }
    if changed {
        tx.bump_revision().await?;
    }
    tx.commit().await?;
    Ok(match lost_visits {
        _ if created => Outcome::Created,
        0 => Outcome::Updated,
        visits => Outcome::UpdatedLosing(visits),
    })
}

fn next_row(
    tenant_id: TenantId,
    slug: &str,
    wanted: &Wanted,
    now: Option<&TenantRow>,
    domains: Vec<String>,
    revision: i64,
) -> TenantRow {
    let w = wanted;
    TenantRow {
        tenant_id,
        slug: slug.to_owned(),
        dealer_id: w.dealer_id.clone().resolve(now.map(|r| r.dealer_id.clone()), || slug.to_owned()),
        name: w.name.clone().resolve(now.map(|r| r.name.clone()), || slug.to_owned()),
        welcome_message: w.welcome_message.clone().resolve(now.map(|r| r.welcome_message.clone()), || None),
        state: w.state.clone().resolve(now.map(|r| r.state), || TenantState::Active),
        sandbox: w.sandbox.clone().resolve(now.map(|r| r.sandbox), || false),
        interface_tenant: w
            .interface_tenant
            .clone()
            .resolve(now.map(|r| r.interface_tenant.clone()), || None),
        skills: w.skills.clone().resolve(now.map(|r| r.skills.clone()), all_skills),
        contracts: w.contracts.clone().resolve(now.map(|r| r.contracts.clone()), Vec::new),
        default_contract: w
            .default_contract
            .clone()
            .resolve(now.and_then(|r| r.default_contract.parse().ok()), || ContractVersion::NEWEST)
            .to_string(),
        policy: w.policy.clone().resolve(now.map(|r| r.policy.clone()), || json!({})),
        callers: w.callers.clone().resolve(now.map(|r| r.callers.clone()), || json!({})),
        domains,
        revision,
    }
}

/// Every skill of the protocol, also those that a later build serves: a dealer that wants all gets them then.
fn all_skills() -> Vec<String> {
    contract::SKILL_SPECS.iter().map(|spec| SkillId::as_str(spec.id).to_owned()).collect()
}

fn next_rooftops(wanted: &Wanted, now: &[RooftopRow]) -> Vec<RooftopRow> {
    let Member::Set(rooftops) = &wanted.rooftops else { return now.to_vec() };
    rooftops
        .iter()
        .map(|(profile, holidays)| RooftopRow {
            name: profile.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            profile: profile.clone(),
            holidays: holidays.clone(),
        })
        .collect()
}

/// Brings the lot to what the document says; `true` when a new version was published.
async fn apply_lot(tx: &mut TenantTx, wanted: &Wanted, dealer_id: &str) -> Result<bool, ApplyError> {
    let units = match &wanted.inventory {
        Member::Absent => None,
        Member::Default => Some(&[][..]),
        Member::Set(units) => Some(units.as_slice()),
    };
    let sold: &[SoldUnit] = match &wanted.sold {
        Member::Set(sold) => sold,
        Member::Absent | Member::Default => &[],
    };
    if units.is_none() && sold.is_empty() {
        return Ok(false);
    }
    let version = tx.lock_inventory().await? + 1;
    let held = tx.lot_hashes().await?;
    let gone_already = tx.removed_ids().await?;

    let now = Utc::now();
    let rendered: Vec<Listing> = units
        .unwrap_or_default()
        .iter()
        .filter_map(|unit| Listing::from_vehicle(unit, dealer_id, now))
        .collect();
    let wanted_ids: HashSet<&str> = rendered.iter().map(|unit| unit.vehicle_id.as_str()).collect();
    let sold = identified(tx, sold, &gone_already, &wanted_ids).await?;
    let sold_ids: HashSet<&str> = sold.iter().map(|unit| unit.vehicle_id.as_str()).collect();
    let missing: Vec<&str> = held
        .keys()
        .map(String::as_str)
        .filter(|id| !wanted_ids.contains(id) && (units.is_some() || sold_ids.contains(id)))
        .collect();
    let newly_sold: Vec<Removed> = sold
        .iter()
        .filter(|unit| {
            gone_already
                .get(&unit.vehicle_id)
                .is_none_or(|row| (&row.vin, &row.stock) != (&unit.vin, &unit.stock))
        })
        .cloned()
        .collect();
    let changed: Vec<Listing> = rendered
        .iter()
        .filter(|unit| held.get(&unit.vehicle_id) != Some(&unit.content_hash))
        .cloned()
        .collect();
    if missing.is_empty() && newly_sold.is_empty() && changed.is_empty() {
        return Ok(false);
    }
    tx.remove_listings(version, &missing, "removed").await?;
    tx.upsert_listings(version, &changed).await?;
    tx.upsert_removed(version, &newly_sold, "sold").await?;
    tx.publish_inventory(version).await?;
    Ok(true)
}

/// Sold units under the ids that they have here, with everything by which they are known: a document may name
/// the VIN alone, or a stock number that one unit has. `offered` are the ids that stay on offer.
async fn identified(
    tx: &mut TenantTx,
    sold: &[SoldUnit],
    gone: &HashMap<String, RemovedRow>,
    offered: &HashSet<&str>,
) -> Result<Vec<Removed>, store::Error> {
    if sold.is_empty() {
        return Ok(Vec::new());
    }
    let named = |of: fn(&SoldUnit) -> Option<&str>| -> Vec<&str> { sold.iter().filter_map(of).collect() };
    let ids = named(|unit| Some(&unit.vehicle_id));
    let held = tx.lot_units(&ids, &named(SoldUnit::by_vin), &named(SoldUnit::by_stock)).await?;
    let mut gone: Vec<Removed> = gone
        .iter()
        .map(|(id, row)| Removed { vehicle_id: id.clone(), vin: row.vin.clone(), stock: row.stock.clone() })
        .collect();
    gone.sort_unstable_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
    // Of several the first counts, so that the same document finds the same unit every time.
    let first = |wanted: &dyn Fn(&Removed) -> bool| {
        let known = held.iter().chain(&gone);
        known.filter(|unit| !offered.contains(unit.vehicle_id.as_str())).find(|unit| wanted(unit))
    };
    let resolve = |unit: &SoldUnit| {
        let by_vin = unit.by_vin().and_then(|vin| first(&|known| known.vin.as_deref() == Some(vin)));
        let by_stock = unit.by_stock().and_then(|stock| {
            let shared = held.iter().filter(|known| known.stock.as_deref() == Some(stock)).count() > 1;
            first(&|known| !shared && known.stock.as_deref() == Some(stock))
        });
        let known = by_vin.or(by_stock).or_else(|| first(&|known| known.vehicle_id == unit.vehicle_id));
        Removed {
            vehicle_id: known.map_or(&unit.vehicle_id, |known| &known.vehicle_id).clone(),
            vin: unit.vin.clone().or_else(|| known?.vin.clone()),
            stock: unit.stock.clone().or_else(|| known?.stock.clone()),
        }
    };
    Ok(sold.iter().map(resolve).collect())
}
