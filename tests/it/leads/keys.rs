//! Idempotency: the same request again gives the same answer, whatever happened meanwhile.

use contract::ContractVersion;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use testkit::Platform;

use super::{ahead, behind, contracts, count, dealer, is_refused, lead, platform, visit, with};

fn keyed(shopper: &str, key: &str) -> Value {
    with(lead(shopper), "idempotency_key", json!(key))
}

async fn run(platform: &Platform, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut behind(platform).await).await;
    done.expect("the statement is right");
}

/// The payload of the answer, whole.
async fn payload(platform: &Platform, lead: &Value) -> Value {
    let answer = platform.ask("harbor", lead.clone()).send().await;
    answer.pointer("/result/message/parts/0/data").unwrap_or_else(|| panic!("{answer}")).clone()
}

#[tokio::test]
async fn the_same_request_gets_the_same_answer_and_another_one_is_refused() {
    let platform = platform(json!({})).await;
    for contract in contracts() {
        let ask = |lead: Value| platform.ask_in(contract, "harbor", lead);
        let first = with(
            keyed(&format!("noor-{contract}"), "k"),
            "vehicle_of_interest",
            json!({"year": 2024, "make": "Honda"}),
        );
        let asked = ask(first.clone()).with("/params/message/contextId", json!("one"));
        let answer = asked.send().await;
        let again = ask(first.clone()).with("/params/message/contextId", json!("two")).send().await;
        let message = |answer: &Value| answer["result"]["message"].clone();
        assert_eq!(message(&answer)["parts"], message(&again)["parts"]);
        assert_eq!(message(&answer)["parts"][0]["data"]["data"]["status"], "received");
        assert_eq!(
            (&message(&answer)["contextId"], &message(&again)["contextId"]),
            (&json!("one"), &json!("two"))
        );
        assert_ne!(message(&answer)["messageId"], message(&again)["messageId"]);
        // Spelled otherwise it is the same request.
        let text = ask(first.clone()).body.to_string().replace("2024", "2.024e3");
        assert!(text.contains("2.024e3"));
        let spelled: Value = asked.raw(text).await.json().await.unwrap();
        assert_eq!(message(&spelled)["parts"], message(&answer)["parts"]);
        for (member, value) in [
            ("message", json!("More.")),
            ("submitted_at", json!("2026-11-30T09:15:00Z")),
            ("vehicle_of_interest", json!({"year": 2025, "make": "Honda"})),
            ("trade_in", json!({})),
        ] {
            let error = ask(with(first.clone(), member, value)).error().await;
            assert_eq!(error["code"], -32000);
            is_refused(&error, "IDEMPOTENCY_CONFLICT");
        }
        // What the dealer would refuse today is a conflict all the same, or the former answer.
        let refused = with(
            first.clone(),
            "appointment",
            json!({"appointment_type": "test_drive", "appointment_at": "2020-01-01T00:00:00Z"}),
        );
        let refused = with(refused, "vehicle_of_interest", json!({"stock": "none"}));
        is_refused(&ask(refused).error().await, "IDEMPOTENCY_CONFLICT");
    }
    let versions = i64::try_from(contracts().count()).unwrap();
    assert_eq!((count(&platform, "leads").await, count(&platform, "lead_notes").await), (versions, 0));
    assert_eq!(count(&platform, "lead_keys").await, versions, "each contract has keys of its own");
}

#[tokio::test]
async fn a_former_answer_stands_when_the_same_would_be_refused_today() {
    let platform = platform(json!({})).await;
    let drive = with(keyed("noor", "k"), "vehicle_of_interest", json!({"stock": "S-a"}));
    let drive = with(drive, "appointment", visit("test_drive", ahead(3, 11, 0)));
    let answer = payload(&platform, &drive).await;
    assert_eq!(answer["data"]["appointment"]["status"], "confirmed");
    let mut sold = dealer(json!({"appointments": "strict", "follow_up_channels": ["phone"]}));
    sold["inventory"] = json!([]);
    sold["name"] = json!("Renamed");
    platform.provision(&json!({"harbor": sold})).await;
    assert_eq!(payload(&platform, &drive).await, answer);
    is_refused(
        &platform.ask("harbor", with(drive, "idempotency_key", json!("l"))).error().await,
        "CONTACT_CONSENT_REQUIRED",
    );
}

#[tokio::test]
async fn a_refused_request_leaves_its_key_free() {
    let platform = platform(json!({})).await;
    let wrong = with(keyed("noor", "k"), "vehicle_of_interest", json!({"stock": "none"}));
    let wrong = with(wrong, "appointment", visit("test_drive", ahead(3, 11, 0)));
    is_refused(&platform.ask("harbor", wrong).error().await, "VEHICLE_NOT_FOUND");
    assert_eq!(platform.ask("harbor", keyed("noor", "k")).result().await["status"], "received");
}

#[tokio::test]
async fn keys_are_of_one_dealer_and_any_text() {
    let platform = platform(json!({})).await;
    platform.provision(&json!({"lakeside": dealer(json!({}))})).await;
    let odd = keyed("noor", &format!("\u{0}é🚗{}", "x".repeat(125)));
    let ours = platform.ask("harbor", odd.clone()).result().await;
    assert_eq!(platform.ask("harbor", odd.clone()).result().await, ours);
    let theirs = platform.ask("lakeside", odd.clone()).result().await;
    assert_eq!(theirs["status"], "received");
    assert_ne!(theirs["lead_id"], ours["lead_id"]);
    // Another key, although it differs in what PostgreSQL could not hold only.
    let other = with(odd, "idempotency_key", json!(format!("é🚗{}", "x".repeat(125))));
    assert_eq!(platform.ask("harbor", other).result().await["status"], "duplicate");
    assert_eq!(count(&platform, "lead_keys").await, 3);
}

#[tokio::test]
async fn keys_that_cannot_be_told_apart_are_refused() {
    let platform = platform(json!({})).await;
    for contract in contracts() {
        for lone in ["\\ud800", "\\udc00", "order \\udfff 7", "\u{fffd}"] {
            let asking = platform.ask_in(contract, "harbor", keyed("noor", "HERE"));
            let text = asking.body.to_string().replace("HERE", lone);
            let answer: Value = asking.raw(text).await.json().await.unwrap();
            let aap = testkit::aap_error(&answer["error"]).unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(aap["details"]["errors"][0]["instanceLocation"], "/idempotency_key", "{aap}");
            assert_eq!(aap["retryable"], false);
        }
    }
    assert_eq!(count(&platform, "leads").await, 0);
    // Elsewhere it is any other sign, and the halves of a pair that are together are one.
    let asking = platform.ask("harbor", with(keyed("noor", "HERE"), "message", json!("THERE")));
    let text = asking.body.to_string().replace("HERE\"", "\\ud83d\\ude00\"").replace("THERE", "\\ud800");
    let answer: Value = asking.raw(text).await.json().await.unwrap();
    assert_eq!(testkit::data_of(&answer)["status"], "received");
}

#[tokio::test]
async fn keys_expire_by_policy_and_are_swept() {
    let platform = platform(json!({"idempotency_hours": 48})).await;
    let first = platform.ask("harbor", keyed("noor", "k")).result().await;
    let hours = "select extract(epoch from expires_at - now())::float8 / 3600 from lead_keys";
    let left: f64 = sqlx::query_scalar(hours).fetch_one(&mut behind(&platform).await).await.unwrap();
    assert!((47.9..48.1).contains(&left), "{left}");
    run(&platform, "update lead_keys set expires_at = now() - interval '1 second'").await;
    let second = with(keyed("noor", "k"), "message", json!("Something else."));
    let answer = platform.ask("harbor", second.clone()).result().await;
    assert_eq!((&answer["status"], &answer["lead_id"]), (&json!("duplicate"), &first["lead_id"]));
    is_refused(&platform.ask("harbor", keyed("noor", "k")).error().await, "IDEMPOTENCY_CONFLICT");
    assert_eq!(platform.ask("harbor", second).result().await, answer);
    assert_eq!(count(&platform, "lead_keys").await, 1);

    let sweep = async || {
        let mut tx = platform.application().store().platform().await.unwrap();
        let swept = tx.purge_lead_keys().await.unwrap();
        tx.commit().await.unwrap();
        swept
    };
    assert_eq!(sweep().await, 0);
    run(&platform, "update lead_keys set expires_at = now() - interval '1 hour'").await;
    assert_eq!(sweep().await, 1);
    assert_eq!(count(&platform, "leads").await, 1);
}

#[tokio::test]
async fn twenty_copies_at_once_are_one_lead_whatever_its_contract() {
    let platform = platform(json!({})).await;
    for contract in [ContractVersion::V1_3, ContractVersion::V3_0] {
        let lead = with(
            keyed(&format!("noor-{contract}"), "k"),
            "appointment",
            visit("sales", ahead(3, if contract == ContractVersion::V1_3 { 10 } else { 12 }, 0)),
        );
        let asking = platform.ask_in(contract, "harbor", lead);
        let copies = (0..20).map(|_| {
            let asking = asking.clone();
            tokio::spawn(async move { asking.result().await })
        });
        let answers = futures_util::future::join_all(copies).await;
        let first = answers[0].as_ref().unwrap();
        assert_eq!(first["appointment"]["status"], "confirmed");
        assert!(answers.iter().all(|answer| answer.as_ref().unwrap() == first), "{answers:?}");
    }
    assert_eq!((count(&platform, "leads").await, count(&platform, "appointments").await), (2, 2));
}

#[tokio::test]
async fn a_lead_that_cannot_be_stored_now_may_be_sent_again() {
    let platform = platform(json!({})).await;
    let mut other = behind(&platform).await;
    sqlx::raw_sql("begin; lock table lead_keys").execute(&mut other).await.unwrap();
    let asking = platform.ask("harbor", keyed("noor", "k"));
    let began = std::time::Instant::now();
    let error = asking.error().await;
    assert!(began.elapsed().as_secs_f64() < 5.0, "clients give up then: {:?}", began.elapsed());
    let aap = testkit::aap_error(&error).unwrap();
    assert_eq!((&aap["code"], &aap["retryable"]), (&json!("INTERNAL_ERROR"), &json!(true)));
    sqlx::raw_sql("rollback").execute(&mut other).await.unwrap();
    // Nothing is left of the first try: neither a lead nor a turn that it still has.
    assert_eq!(asking.result().await["status"], "received");
    assert_eq!(count(&platform, "leads").await, 1);
}
