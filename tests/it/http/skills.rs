//! `POST skills/{skill id}`.

use contract::{CONTRACTS, ContractVersion};
use reqwest::Method;
use serde_json::{Value, json};

use super::{get, ok, plain_problem, post, refusal, request};
use crate::ground::{ground, problems, settle};

const V3: ContractVersion = ContractVersion::V3_0;

fn lead(key: &str) -> Value {
    json!({
        "customer": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@post.example"},
        "consent": {"granted_at": "2026-11-28T18:20:31Z", "allowed_channels": ["email"],
            "consent_text": "You may write to me.", "scope": ["lead_submission"]},
        "source_agent": {"name": "http-tests"}, "idempotency_key": key,
    })
}

#[tokio::test]
async fn every_skill_answers_in_every_contract_with_or_without_a_type() {
    for spec in CONTRACTS {
        for (skill, payload) in [
            ("dealer.information", json!({})),
            ("inventory.facets", json!({"filters": {"make": ["Honda"]}})),
            ("inventory.search", json!({"pagination": {"limit": 1}})),
            ("inventory.vehicle", json!({"vehicle_id": "v1"})),
            ("lead.submit", lead(&format!("http-{}", spec.version))),
        ] {
            let path = format!("skills/{skill}");
            let mut typed = payload.clone();
            typed["type"] = format!("{skill}.request").into();
            for payload in [&payload, &typed] {
                let asking = request(Method::POST, "harbor", spec.version, &path).await;
                let response = asking.json(payload).send().await.unwrap();
                assert_eq!(response.headers()["cache-control"], "no-store");
                let answer = ok(response).await;
                assert_eq!(answer["type"], format!("{skill}.response"), "{}", spec.version);
            }
        }
    }
}

#[tokio::test]
async fn a_lead_sent_again_through_another_door_is_the_same_lead() {
    let sent = ok(post("harbor", "lead.submit", &lead("doors-1")).await).await;
    let mut again = lead("doors-1");
    again["type"] = "lead.submit.request".into();
    let by_a2a = ground().await.call("harbor", again).await;
    assert_eq!(sent["data"], by_a2a);
    let mut other = lead("doors-1");
    other["message"] = "Another.".into();
    refusal(post("harbor", "lead.submit", &other).await, V3, 409, "IDEMPOTENCY_CONFLICT").await;
}

#[tokio::test]
async fn refusals_have_the_status_of_their_code() {
    let mut without = lead("none");
    without.as_object_mut().unwrap().remove("consent");
    for (skill, payload, status, code) in [
        ("inventory.search", json!([]), 422, "SCHEMA_VALIDATION_FAILED"),
        ("inventory.search", json!({"type": 7}), 422, "SCHEMA_VALIDATION_FAILED"),
        ("inventory.search", json!({"type": "lead.submit.request"}), 422, "SCHEMA_VALIDATION_FAILED"),
        ("inventory.search", json!({"sort": {"field": "price"}}), 422, "MISSING_REQUIRED_FIELD"),
        ("inventory.search", json!({"pagination": {"cursor": "x"}}), 422, "INVALID_CURSOR"),
        ("inventory.search", json!({"dealer_id": "other"}), 404, "DEALER_NOT_FOUND"),
        ("inventory.vehicle", json!({"stock": "nothing"}), 404, "VEHICLE_NOT_FOUND"),
        ("inventory.vehicle", json!({"stock": "G-1"}), 410, "VEHICLE_UNAVAILABLE"),
        ("lead.submit", without, 403, "CONTACT_CONSENT_REQUIRED"),
        ("trade.appraise", json!({}), 404, "UNSUPPORTED_SKILL"),
    ] {
        refusal(post("harbor", skill, &payload).await, V3, status, code).await;
    }
    let narrow = post("narrow", "inventory.search", &json!({"filters": {"model": ["x"]}})).await;
    let error = refusal(narrow, V3, 422, "UNSUPPORTED_FILTER").await;
    assert_eq!(problems(&error), [("/filters/model".to_owned(), "x-unsupported".to_owned())]);
    refusal(get("narrow", "inventory?sort=make").await, V3, 422, "UNSUPPORTED_SORT").await;
    for response in [post("narrow", "inventory.facets", &json!({})).await, get("narrow", "facets").await] {
        let error = refusal(response, V3, 404, "UNSUPPORTED_SKILL").await;
        assert_eq!(error["details"]["supported_skills"], json!(["dealer.information", "inventory.search"]));
    }
    // In every contract the error is one of its own.
    for spec in CONTRACTS {
        let asking = request(Method::POST, "harbor", spec.version, "skills/inventory.vehicle").await;
        let response = asking.json(&json!({})).send().await.unwrap();
        refusal(response, spec.version, 422, "SCHEMA_VALIDATION_FAILED").await;
    }
}

#[tokio::test]
async fn what_is_no_request_is_http_s_to_refuse() {
    let send = |media_type: &'static str, body: Vec<u8>| async move {
        let asking = request(Method::POST, "harbor", V3, "skills/inventory.search").await;
        asking.header("content-type", media_type).body(body).send().await.unwrap()
    };
    for body in [&b""[..], b"{", b"{}{}", b"{\"a\":\xff}", &[b'['; 100]] {
        plain_problem(send("application/json", body.to_vec()).await, 400).await;
    }
    plain_problem(send("text/plain", b"{}".to_vec()).await, 415).await;
    plain_problem(send("application/json", vec![b' '; 1024 * 1024 + 1]).await, 413).await;
    ok(send("application/json; charset=utf-8", b" {} ".to_vec()).await).await;
    ok(send("application/vnd.autoagent.inventory-search-request+json", b"{}".to_vec()).await).await;
    plain_problem(post("harbor", "A..b", &json!({})).await, 404).await;
    plain_problem(post("harbor", "inventory.search/x", &json!({})).await, 404).await;
}

#[tokio::test]
async fn failures_inside_say_nothing_and_when_to_come_again() {
    settle(json!({"http-broken": {"name": "Broken", "rooftops": [{"name": "R"}], "inventory": [],
        "policy": {"fault": "password=hunter2"}}}))
    .await;
    let response = get("http-broken", "inventory").await;
    assert_eq!(response.headers()["retry-after"], "2");
    let error = refusal(response, V3, 500, "INTERNAL_ERROR").await;
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
