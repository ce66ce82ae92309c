//! What doors share: keys and duplicates of leads, limits, callers, and a note of which door it was.

use contract::SkillId;
use dealer::callers::{self, NewKey};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use testkit::{Platform, cluster};

use super::CLOCK;
use super::doors::{Buyer, Door, Told};
use super::masks::Masks;

/// Each door, first.
const ORDERS: [[Door; 3]; 3] = [
    [Door::A2a, Door::Mcp, Door::Post],
    [Door::Mcp, Door::Post, Door::A2a],
    [Door::Post, Door::A2a, Door::Mcp],
];

async fn platform(policy: Value) -> Platform {
    let mut dealer = crate::leads::dealer(policy);
    dealer["policy"]["clock"] = json!(CLOCK);
    Platform::with_dealer("harbor", dealer).await
}

fn lead(shopper: &str, key: Option<&str>) -> Value {
    let mut lead = json!({
        "customer": {"first_name": "Noor", "last_name": "Haddad", "email": format!("{shopper}@mail.example")},
        "consent": {"granted_at": "2026-12-01T17:00:00Z", "allowed_channels": ["email"],
            "consent_text": "Harbor may write to me.", "scope": ["lead_submission"]},
        "source_agent": {"name": "pelican"},
        "vehicle_of_interest": {"stock": "S-a"},
        "appointment": {"appointment_type": "test_drive", "appointment_at": "2026-12-08T11:00:00Z"},
    });
    if let Some(key) = key {
        lead["idempotency_key"] = json!(key);
    }
    lead
}

#[track_caller]
fn answer(told: Option<Told>) -> Value {
    match told {
        Some(Told::Answer(payload)) => payload,
        other => panic!("an answer was expected: {other:?}"),
    }
}

#[track_caller]
fn refusal(told: Option<Told>, code: &str) -> Value {
    match told {
        Some(Told::Refusal(error)) if error["code"] == code => error,
        other => panic!("{code} was expected: {other:?}"),
    }
}

async fn number(platform: &Platform, sql: &str) -> i64 {
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::query_scalar(sql).fetch_one(&mut cluster().superuser(&platform.database).await).await.unwrap()
}

#[tokio::test]
async fn a_lead_that_is_sent_again_through_another_door_is_the_same_lead() {
    let platform = platform(json!({"appointment_capacity": 50})).await;
    let submit = SkillId::LeadSubmit.spec();
    let mut leads = 0;
    for spec in contract::CONTRACTS {
        for [first, others @ ..] in ORDERS {
            let buyer = Buyer::new(&platform, "harbor", spec.version);
            let shopper = format!("noor-{}-{first:?}", spec.version);
            let sent = lead(&shopper, Some(&shopper));
            let taken = answer(buyer.ask(first, submit, &sent).await);
            assert_eq!(taken["data"]["status"], "received");
            let id = taken["data"]["lead_id"].clone();
            for door in others {
                assert_eq!(answer(buyer.ask(door, submit, &sent).await), taken, "{door:?} after {first:?}");
                let mut changed = sent.clone();
                changed["message"] = json!("Something else.");
                refusal(buyer.ask(door, submit, &changed).await, "IDEMPOTENCY_CONFLICT");
                // Without the key, and with another one, it is a duplicate of the same lead.
                let other = format!("{shopper}-{door:?}");
                for key in [None, Some(other.as_str())] {
                    let again = answer(buyer.ask(door, submit, &lead(&shopper, key)).await);
                    assert_eq!(
                        (&again["data"]["status"], &again["data"]["lead_id"]),
                        (&json!("duplicate"), &id),
                        "{door:?} after {first:?}"
                    );
                }
            }
            leads += 1;
            assert_eq!(number(&platform, "select count(*) from leads").await, leads);
            let door = first.recorded();
            let sql =
                format!("select count(*) from leads where door = '{door}' and caller = 'agent:pelican'");
            let recorded = number(&platform, &sql).await;
            assert!(recorded > 0, "no lead of {door}");
        }
    }
    for door in Door::WHOLE.map(Door::recorded) {
        assert_eq!(number(&platform, &format!("select count(*) from leads where door = '{door}'")).await, 3);
        // The same words of the same shopper are noted once, whichever door brings them first.
        let notes = format!("select count(*) from lead_notes where door = '{door}'");
        assert_eq!(number(&platform, &notes).await, 9, "{door}");
    }
    platform.stop().await;
}

#[tokio::test]
async fn copies_through_all_doors_at_once_are_one_lead() {
    let platform = platform(json!({})).await;
    let submit = SkillId::LeadSubmit.spec();
    let sent = lead("noor", Some("k"));
    let buyer = Buyer::new(&platform, "harbor", contract::ContractVersion::V3_0);
    let copies = (0..18).map(|at| buyer.ask(Door::WHOLE[at % 3], submit, &sent));
    let told = futures_util::future::join_all(copies).await;
    let answers: Vec<Value> = told.into_iter().map(answer).collect();
    assert_eq!(answers[0]["data"]["appointment"]["status"], "confirmed");
    assert!(answers.iter().all(|other| *other == answers[0]), "{answers:?}");
    assert_eq!(number(&platform, "select count(*) from leads").await, 1);
    assert_eq!(number(&platform, "select count(*) from appointments").await, 1);
    platform.stop().await;
}

#[tokio::test]
async fn a_limit_counts_all_doors_together_and_says_the_same_at_each() {
    let limit = json!({"requests": 4, "per_seconds": 86400});
    let platform = Platform::start().await;
    let dealer = |policy: Value| crate::leads::dealer(policy);
    platform
        .provision(&json!({
            "all": dealer(json!({"rate_limit": limit})),
            "each": dealer(json!({"caller_rate_limit": limit})),
        }))
        .await;
    let read = SkillId::DealerInformation.spec();
    for slug in ["all", "each"] {
        let buyer = Buyer::new(&platform, slug, contract::ContractVersion::V3_0);
        for door in Door::ALL {
            answer(buyer.ask(door, read, &json!({})).await);
        }
        let mut said = Vec::new();
        for spec in contract::CONTRACTS {
            for door in Door::ALL {
                let buyer = Buyer { contract: spec.version, ..buyer };
                let error = refusal(buyer.ask(door, read, &json!({})).await, "RATE_LIMITED");
                let wait = error["details"]["retry_after_ms"].as_u64().unwrap();
                assert!((80_000_000..=86_400_000).contains(&wait), "{error}");
                let mut error = error;
                // It says in words how long, too.
                error["message"] = error["message"].as_str().unwrap().replace(char::is_numeric, "").into();
                said.push(Masks::default().settled(Told::Refusal(error)));
            }
        }
        said.dedup();
        assert_eq!(said.len(), 1, "{said:?}");
    }
    platform.stop().await;
}

#[tokio::test]
async fn callers_are_let_in_or_not_the_same_way() {
    let platform = Platform::start().await;
    let mut dealer = crate::leads::dealer(json!({"clock": CLOCK}));
    dealer["callers"] = json!({"accept": ["keys"]});
    platform.provision(&json!({ "guarded": dealer })).await;
    let key = |name: &str, scopes: Vec<SkillId>| {
        let new = NewKey { name: name.into(), scopes, rate_limit: None };
        callers::add_key(platform.application().store(), "guarded", new, "test")
    };
    let whole = key("pelican", Vec::new()).await.unwrap().text;
    let narrow = key("heron", vec![SkillId::DealerInformation]).await.unwrap().text;
    platform.catch_up().await;
    let (submit, search) = (SkillId::LeadSubmit.spec(), SkillId::InventorySearch.spec());
    let read = SkillId::DealerInformation.spec();
    for spec in contract::CONTRACTS {
        let buyer = Buyer::new(&platform, "guarded", spec.version);
        for (key, skill, lets_in) in [
            (None, read, false),
            (Some("fk_nobody"), read, false),
            (Some(narrow.as_str()), read, true),
            (Some(narrow.as_str()), search, false),
            (Some(narrow.as_str()), submit, false),
            (Some(whole.as_str()), search, true),
        ] {
            let mut said = Vec::new();
            for door in Door::ALL {
                let told = Buyer { key, ..buyer }.ask(door, skill, &json!({})).await;
                said.extend(told.map(|told| Masks::default().settled(told)));
            }
            said.dedup();
            assert_eq!(said.len(), 1, "{} {key:?}: {said:?}", skill.id);
            assert_eq!(said[0].starts_with("answer"), lets_in, "{} {key:?}: {said:?}", skill.id);
        }
        for door in Door::WHOLE {
            let shopper = format!("{}-{door:?}", spec.version);
            let mut sent = lead(&shopper, None);
            sent.as_object_mut().unwrap().remove("appointment");
            answer(Buyer { key: Some(&whole), ..buyer }.ask(door, submit, &sent).await);
        }
    }
    for door in Door::WHOLE.map(Door::recorded) {
        let sql = format!("select count(*) from leads where door = '{door}' and caller = 'key:pelican'");
        assert_eq!(number(&platform, &sql).await, 3, "{door}");
    }
    platform.stop().await;
}
