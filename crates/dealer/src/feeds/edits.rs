//! What people set by hand, which no feed overrides.
//!
//! An edit locks its field: whatever feeds say from then on, the listing says what the person said, until the lock is
//! lifted or expires. What the feeds say is kept and shown beside it.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use store::{EditRow, HistoryRow, Store, TenantId, TenantTx};

use super::conform;
use super::decide::DecideError;
use super::merge::Edit;
use super::price::Fee;
use super::ranks::{self, Holds, OFF, attribute};
use super::rollback::republish;
use super::settings::Rooftops;

/// What a person wants a field to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish<'a> {
    /// The unit: VIN, stock number or id.
    pub key: &'a str,
    /// The member of the vehicle; attributes are named `other_attributes.…`.
    pub field: &'a str,
    /// What it is to say; null: nothing.
    pub value: Value,
    /// Who wants it.
    pub actor: &'a str,
    /// Until when; `None`: until it is lifted.
    pub expires_at: Option<DateTime<Utc>>,
    /// Why, in their words.
    pub note: Option<&'a str>,
}

/// What an edit, or lifting one, did.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    /// The unit.
    pub vehicle_id: String,
    /// The field.
    pub field: String,
    /// What was published of it before; `None`: nothing.
    pub before: Option<Value>,
    /// What is published now; `None`: nothing.
    pub after: Option<Value>,
    /// Whether the unit is on offer now.
    pub on_offer: bool,
    /// The edit that was there before.
    pub replaced: Option<Edit>,
    /// The inventory version that shows it; `None` where buyers see nothing else than before.
    pub version: Option<u64>,
}

/// Why a field was not set or a lock not lifted.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Nothing is known by that key.
    #[error("no vehicle of this dealer has that VIN, stock number or id")]
    Unknown,
    /// Several units have that stock number.
    #[error("several vehicles are meant by that: {}; use an id", .0.join(", "))]
    Ambiguous(Vec<String>),
    /// No source has the unit.
    #[error(
        "no source has this vehicle, so there is nothing to set beside it: it is removed, or part of the inventory of a provisioning document and changed there"
    )]
    NoSource,
    /// It is no field that a person can set.
    #[error("{0} is no field that can be set by hand")]
    Field(String),
    /// The field cannot say that.
    #[error("{field} {why}")]
    Value {
        /// Which field.
        field: String,
        /// What it can say.
        why: String,
    },
    /// The lock would have ended before it began.
    #[error("the time at which the lock ends has passed already")]
    Expired,
    /// Nobody set that field.
    #[error("{0} was not set by hand")]
    NotLocked(String),
    /// The unit could not be published anew.
    #[error(transparent)]
    Republish(#[from] DecideError),
    /// The database.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Sets a field and publishes the unit, in one transaction.
///
/// # Errors
/// [`EditError`]; then nothing has changed.
pub async fn edit(store: &Store, tenant: TenantId, wish: &Wish<'_>) -> Result<Edited, EditError> {
    let now = Utc::now();
    if wish.expires_at.is_some_and(|until| until <= now) {
        return Err(EditError::Expired);
    }
    let mut tx = store.tenant(tenant).await?;
    let version = tx.lock_inventory().await? + 1;
    let rooftops = Rooftops::new(tx.rooftops().await?.into_iter().map(|rooftop| rooftop.name));
    let value = checked(wish.field, wish.value.clone(), &rooftops)?;
    let vehicle_id = identified(&mut tx, wish.key).await?;
    if tx.units_of(&[&vehicle_id]).await?.is_empty() {
        return Err(EditError::NoSource);
    }
    let before = published(&mut tx, &vehicle_id).await?;
    let row = EditRow {
        vehicle_id: vehicle_id.clone(),
        field: wish.field.to_owned(),
        value: value.clone(),
        author: wish.actor.to_owned(),
        note: wish.note.map(str::to_owned),
        edited_at: now,
        expires_at: wish.expires_at,
    };
    let replaced = tx.set_edit(&row).await?.map(super::write::edit_of);
    let told = HistoryRow {
        old: before.as_ref().and_then(|vehicle| member(vehicle, wish.field)),
        new: Some(value),
        reason: row.note.clone(),
        ..event(&vehicle_id, version, now, "edited", wish.field, Some(wish.actor))
    };
    tx.add_history(&[told]).await?;
    tracing::info!(%tenant, vehicle_id, field = wish.field, actor = wish.actor, "a field was set by hand");
    finish(tx, vehicle_id, wish.field, wish.actor, before, replaced).await
}

/// Lifts the lock of a field and publishes what the sources say, in one transaction.
///
/// # Errors
/// [`EditError`]; then nothing has changed.
pub async fn unlock(
    store: &Store,
    tenant: TenantId,
    key: &str,
    field: &str,
    actor: &str,
) -> Result<Edited, EditError> {
    let mut tx = store.tenant(tenant).await?;
    let version = tx.lock_inventory().await? + 1;
    let vehicle_id = identified(&mut tx, key).await?;
    let before = published(&mut tx, &vehicle_id).await?;
    let Some(lifted) = tx.clear_edit(&vehicle_id, field).await? else {
        return Err(EditError::NotLocked(field.to_owned()));
    };
    let lifted = super::write::edit_of(lifted);
    let told = HistoryRow {
        old: Some(lifted.value.clone()),
        ..event(&vehicle_id, version, Utc::now(), "unlocked", field, Some(actor))
    };
    tx.add_history(&[told]).await?;
    tracing::info!(%tenant, vehicle_id, field, actor, "a field set by hand was given back to the feeds");
    finish(tx, vehicle_id, field, actor, before, Some(lifted)).await
}

/// Ends locks whose time is over, a transaction for each unit. Answers how many locks ended. For the worker to call now
/// and then; until it does, what is expired does not count in anything that is rendered.
///
/// # Errors
/// [`EditError`]: the database, or a unit that cannot be published. Those before it are done.
pub async fn end_expired(store: &Store, now: DateTime<Utc>, limit: u32) -> Result<u64, EditError> {
    let mut tx = store.platform().await?;
    let due = tx.expired_edits(now, limit).await?;
    tx.commit().await?;
    let mut ended = 0;
    for (tenant, vehicle_id) in due {
        let mut tx = store.tenant(tenant).await?;
        let version = tx.lock_inventory().await? + 1;
        let mut told = Vec::new();
        for row in tx.edits_of(&[&vehicle_id]).await? {
            if row.expires_at.is_none_or(|until| now < until) {
                continue;
            }
            if let Some(over) = tx.clear_edit(&vehicle_id, &row.field).await? {
                told.push(HistoryRow {
                    old: Some(over.value),
                    reason: Some("expired".into()),
                    ..event(&vehicle_id, version, now, "unlocked", &over.field, None)
                });
            }
        }
        ended += told.len() as u64;
        tx.add_history(&told).await?;
        republish(&mut tx, Some(vec![vehicle_id]), None).await?;
        tx.commit().await?;
    }
    Ok(ended)
}

async fn finish(
    mut tx: TenantTx,
    vehicle_id: String,
    field: &str,
    actor: &str,
    before: Option<Map<String, Value>>,
    replaced: Option<Edit>,
) -> Result<Edited, EditError> {
    let version = republish(&mut tx, Some(vec![vehicle_id.clone()]), Some(actor)).await?;
    let after = published(&mut tx, &vehicle_id).await?;
    tx.commit().await?;
    let member = |vehicle: &Option<Map<String, Value>>| vehicle.as_ref().and_then(|one| member(one, field));
    Ok(Edited {
        before: member(&before),
        after: member(&after),
        on_offer: after.is_some(),
        field: field.to_owned(),
        vehicle_id,
        replaced,
        version,
    })
}

/// The one unit that a person means.
pub(super) async fn identified(tx: &mut TenantTx, key: &str) -> Result<String, EditError> {
    let mut found = tx.find_vehicle(key).await?;
    // A number that a unit on offer has means that one; an exact id means itself.
    if let Some(exact) = found.iter().position(|one| one.vehicle_id == key) {
        return Ok(found.swap_remove(exact).vehicle_id);
    }
    if found.iter().any(|one| one.on_offer) {
        found.retain(|one| one.on_offer);
    }
    match found.as_slice() {
        [] => Err(EditError::Unknown),
        [one] => Ok(one.vehicle_id.clone()),
        several => Err(EditError::Ambiguous(several.iter().map(|one| one.vehicle_id.clone()).collect())),
    }
}

/// A unit as it is published, if it is on offer.
pub(super) async fn published(
    tx: &mut TenantTx,
    vehicle_id: &str,
) -> Result<Option<Map<String, Value>>, store::Error> {
    let row = tx.published(&[vehicle_id]).await?.pop();
    row.map(|row| {
        serde_json::from_str(&row.document).map_err(|_| store::Error::Corrupt {
            table: "vehicles",
            column: "listing",
            id: row.vehicle_id,
        })
    })
    .transpose()
}

/// A member of a vehicle by the name of its field.
pub(super) fn member(vehicle: &Map<String, Value>, field: &str) -> Option<Value> {
    match attribute(field) {
        Some(key) => vehicle.get(ranks::ATTRIBUTES)?.get(key).cloned(),
        None => vehicle.get(field).cloned(),
    }
}

fn event(
    vehicle_id: &str,
    version: u64,
    at: DateTime<Utc>,
    kind: &str,
    field: &str,
    actor: Option<&str>,
) -> HistoryRow {
    HistoryRow {
        vehicle_id: vehicle_id.to_owned(),
        at,
        version,
        kind: kind.to_owned(),
        field: Some(field.to_owned()),
        old: None,
        new: None,
        reason: None,
        source_id: None,
        run_id: None,
        actor: actor.map(str::to_owned),
    }
}

/// Longest text that a person can set, in characters.
const TEXT_CHARS: usize = 20_000;
/// Longest line.
const LINE_CHARS: usize = 200;

/// What a text typed for a field means: `none` is nothing, lists have an entry a line or are JSON.
///
/// # Errors
/// Where the field cannot say it.
pub fn typed(field: &str, text: &str) -> Result<Value, EditError> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("none") {
        return Ok(Value::Null);
    }
    let wrong = |why: &str| EditError::Value { field: field.to_owned(), why: why.to_owned() };
    let parsed = || serde_json::from_str::<Value>(text).ok();
    let holds = match ranks::find(field) {
        Some(known) => known.holds,
        None if attribute(field).is_some() => return Ok(parsed().unwrap_or_else(|| text.into())),
        None => return Err(EditError::Field(field.to_owned())),
    };
    Ok(match holds {
        Holds::Line | Holds::Text | Holds::Address | Holds::Day | Holds::Rooftop => text.into(),
        Holds::Word(_) => text.to_lowercase().into(),
        Holds::Whole | Holds::Year | Holds::Number => {
            let plain: String = text.chars().filter(|sign| !matches!(sign, '$' | ',' | ' ')).collect();
            let whole = plain.parse::<u32>().map(Value::from).ok();
            let number = plain.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from);
            whole.or(number).ok_or_else(|| wrong("must be a number"))?
        }
        Holds::Flag => match text.to_lowercase().as_str() {
            "yes" | "true" | "1" => true.into(),
            "no" | "false" | "0" => false.into(),
            _ => return Err(wrong("must be yes or no")),
        },
        Holds::Lines | Holds::Addresses => match parsed() {
            Some(list @ Value::Array(_)) => list,
            _ => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
        },
        Holds::Fees => parsed().ok_or_else(|| {
            wrong("must be a list such as [{\"name\": \"Documentation\", \"amount\": 85}], or [] where there are none")
        })?,
    })
}

/// A value as a field can have it. Null, which is nothing, always can; but a unit always has a status.
pub(super) fn checked(field: &str, value: Value, rooftops: &Rooftops) -> Result<Value, EditError> {
    let wrong = |why: &str| EditError::Value { field: field.to_owned(), why: why.to_owned() };
    let holds = match ranks::find(field) {
        Some(known) => Some(known.holds),
        None if attribute(field).is_some_and(|key| key.chars().count() <= LINE_CHARS) => None,
        None => return Err(EditError::Field(field.to_owned())),
    };
    if value.is_null() {
        return if field == "status" { Err(wrong("cannot be nothing")) } else { Ok(value) };
    }
    if field == "status" && value.as_str().is_some_and(|word| OFF.contains(&word)) {
        return Ok(value);
    }
    if has_control_characters(&value) {
        return Err(wrong("must not hold control characters"));
    }
    let length = |text: &str| text.chars().count();
    match holds {
        Some(Holds::Word(words)) if !value.as_str().is_some_and(|word| words.contains(&word)) => {
            let mut all = words.to_vec();
            if field == "status" {
                all.extend(OFF);
            }
            return Err(wrong(&format!("must be one of {}", all.join(", "))));
        }
        Some(Holds::Line) if !value.as_str().is_some_and(|text| (1..=LINE_CHARS).contains(&length(text))) => {
            return Err(wrong("must be a text of 1 to 200 characters"));
        }
        Some(Holds::Text) if !value.as_str().is_some_and(|text| (1..=TEXT_CHARS).contains(&length(text))) => {
            return Err(wrong("must be a text of 1 to 20000 characters"));
        }
        Some(Holds::Rooftop) => {
            let name = value.as_str().and_then(|name| rooftops.named(name));
            return name
                .map(Value::from)
                .ok_or_else(|| wrong("must be the name of a rooftop of this dealer"));
        }
        Some(Holds::Lines | Holds::Addresses) if value.as_array().is_none_or(|all| all.len() > 100) => {
            return Err(wrong("must be a list of at most 100 entries"));
        }
        Some(Holds::Fees) => {
            let fees: Vec<Fee> = serde_json::from_value(value).map_err(|_| {
                wrong("must be a list of charges, each with a name and a whole amount in dollars")
            })?;
            let mut problem = None;
            super::price::check_fees("", fees.iter(), &mut |at, sentence| {
                problem.get_or_insert_with(|| format!("{at} {sentence}"));
            });
            return match problem {
                Some(problem) => Err(wrong(&problem)),
                None => Ok(super::document::written(&fees)),
            };
        }
        None if value.as_str().is_some_and(|text| length(text) > TEXT_CHARS) => {
            return Err(wrong("must be a text of at most 20000 characters"));
        }
        _ => {}
    }
    // What is left is what the contracts say of the member.
    let mut vehicle = Map::from_iter([("status".to_owned(), "available".into())]);
    match attribute(field) {
        Some(key) => vehicle.insert(ranks::ATTRIBUTES.into(), json!({ key: value })),
        None => vehicle.insert(field.into(), value.clone()),
    };
    match conform::check(&vehicle.into()) {
        Ok(()) => Ok(contract::listing::integer_restored(&value)),
        Err(violations) => {
            let why: Vec<&str> = violations.iter().map(|violation| violation.message.as_str()).collect();
            Err(wrong(&why.join("; ")))
        }
    }
}

/// Line breaks are none in texts; nothing else below the blank belongs into a listing.
fn has_control_characters(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text.chars().any(|sign| sign.is_control() && !matches!(sign, '\n' | '\r' | '\t'))
        }
        Value::Array(all) => all.iter().any(has_control_characters),
        _ => false,
    }
}

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;
