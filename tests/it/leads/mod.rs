//! Leads: what is taken and what is refused, appointments, keys, duplicates, and that none is lost or doubled.

mod appointments;
mod consent;
mod crowd;
mod duplicates;
mod keys;
mod killed;
mod places;
mod race;
mod stored;
mod strangers;
mod vehicles;

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use contract::{CONTRACTS, ContractVersion};
use serde_json::{Value, json};
use sqlx::PgConnection;
use testkit::{Platform, aap_error, car, cluster};

/// A dealer in the zone UTC that is open from nine to five every day.
pub(crate) fn dealer(policy: Value) -> Value {
    let day = json!({"open": "09:00", "close": "17:00"});
    let week: Value = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        .map(|name| (name.to_owned(), day.clone()))
        .into_iter()
        .collect();
    let rooftop = |name: &str| {
        json!({
            "name": name,
            "phones": [{"name": "Sales", "value": "(310) 555-0140"}],
            "timezone": "UTC",
            "schedules": [{"name": "sales", "value": week}],
            "capabilities": ["sales"],
        })
    };
    let mut powersports = rooftop("Powersports");
    powersports["phones"] = json!([{"value": "ask inside"}]);
    powersports["schedules"].as_array_mut().unwrap().push(json!({"name": "service", "value": week}));
    let mut bike = car("bike", "Ducati", "Monster", 9_000);
    bike["rooftop"] = json!("Powersports");
    json!({
        "name": "Harbor",
        "rooftops": [rooftop("Main"), powersports],
        "inventory": [car("a", "Honda", "Civic", 20_000), bike],
        "sold": [{"vehicle_id": "gone", "stock": "S-gone"}],
        "policy": policy,
    })
}

async fn platform(policy: Value) -> Platform {
    Platform::with_dealer("harbor", dealer(policy)).await
}

/// A lead of a shopper.
fn lead(shopper: &str) -> Value {
    json!({
        "type": "lead.submit.request",
        "customer": {"first_name": "Noor", "last_name": "Haddad", "email": format!("{shopper}@mail.example")},
        "consent": {
            "granted_at": written(Utc::now() - Duration::hours(1)),
            "allowed_channels": ["email"],
            "consent_text": "Harbor may write to me.",
            "scope": ["lead_submission"],
        },
        "source_agent": {"name": "pelican"},
    })
}

/// The lead with a member, at the top.
fn with(mut lead: Value, member: &str, value: Value) -> Value {
    lead[member] = value;
    lead
}

fn written(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A time of the day, so many days ahead.
fn ahead(days: i64, hour: u32, minute: u32) -> DateTime<Utc> {
    let date = (Utc::now() + Duration::days(days)).date_naive();
    date.and_hms_opt(hour, minute, 0).expect("a time of the day").and_utc()
}

fn visit(kind: &str, at: DateTime<Utc>) -> Value {
    json!({"appointment_type": kind, "appointment_at": written(at)})
}

fn moment(value: &Value) -> DateTime<Utc> {
    value.as_str().expect("a time").parse().expect("a moment")
}

/// Sends a lead that is refused with that code; the AAP error.
#[track_caller]
fn is_refused(error: &Value, code: &str) -> Value {
    let aap = aap_error(error).unwrap_or_else(|| panic!("no AAP error: {error}")).clone();
    assert_eq!(aap["code"], code, "{aap}");
    assert_eq!(aap["retryable"], false, "{aap}");
    aap
}

/// Places and keywords of the problems of an AAP error.
fn problems(aap: &Value) -> Vec<(String, String)> {
    let text = |entry: &Value, key: &str| entry[key].as_str().expect("a text").to_owned();
    let entries = aap["details"]["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().map(|entry| (text(entry, "instanceLocation"), text(entry, "keyword"))).collect()
}

/// Every contract that is served.
fn contracts() -> impl Iterator<Item = ContractVersion> {
    CONTRACTS.iter().map(|spec| spec.version)
}

/// A look behind the answers, bound by no policy.
async fn behind(platform: &Platform) -> PgConnection {
    cluster().superuser(&platform.database).await
}

async fn count(platform: &Platform, table: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
    sqlx::query_scalar(sql).fetch_one(&mut behind(platform).await).await.expect("a number")
}
