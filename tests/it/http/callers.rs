//! Who may ask is the same at this door, and so are limits.

use contract::ContractVersion;
use dealer::callers::{self, NewKey};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{get, ok, plain_problem, refusal, request};
use crate::ground::{lasting, settle};

const V3: ContractVersion = ContractVersion::V3_0;

async fn with(slug: &str, method: Method, path: &str, bearer: &str) -> Response {
    let asking =
        request(method.clone(), slug, V3, path).await.header("authorization", format!("Bearer {bearer}"));
    let asking = if method == Method::POST { asking.json(&json!({})) } else { asking };
    asking.send().await.unwrap()
}

#[tokio::test]
async fn a_guarded_dealer_asks_for_a_key_at_every_address_of_questions() {
    let platform = settle(json!({"http-guarded": {"name": "Guarded", "rooftops": [{"name": "R"}],
        "inventory": [testkit::car("a", "Honda", "Civic", 20000)], "callers": {"accept": ["keys"]}}}))
    .await;
    let made = |name: &'static str, scopes: Vec<contract::SkillId>| {
        lasting(async move {
            let key = NewKey { name: name.into(), scopes, rate_limit: None };
            let issued =
                callers::add_key(platform.application().store(), "http-guarded", key, "test").await.unwrap();
            platform.catch_up().await;
            issued.text
        })
    };
    let key = made("all", Vec::new()).await;
    let narrow = made("one", vec![contract::SkillId::InventoryFacets]).await;
    for path in ["inventory", "inventory/a", "facets", "dealer", "vehicles", "vehicles/a"] {
        let refused = get("http-guarded", path).await;
        assert_eq!(refused.headers()["www-authenticate"], "Bearer realm=\"http-guarded\"", "{path}");
        plain_problem(refused, 401).await;
        plain_problem(with("http-guarded", Method::GET, path, "fck_wrong").await, 401).await;
        let let_in = with("http-guarded", Method::GET, path, &key).await;
        assert_eq!(let_in.status(), 200, "{path}");
        let kept = let_in.headers()["cache-control"].to_str().unwrap();
        assert!(["private, no-cache", "no-store"].contains(&kept), "{path}: {kept}");
        let status = if path == "facets" { 200 } else { 403 };
        assert_eq!(with("http-guarded", Method::GET, path, &narrow).await.status(), status, "{path}");
    }
    plain_problem(with("http-guarded", Method::POST, "skills/inventory.search", "x").await, 401).await;
    ok(with("http-guarded", Method::POST, "skills/inventory.search", &key).await).await;
    let scoped = with("http-guarded", Method::POST, "skills/inventory.search", &narrow).await;
    assert!(scoped.headers()["www-authenticate"].to_str().unwrap().contains("insufficient_scope"));
    plain_problem(scoped, 403).await;

    // What says how to ask is for everybody, and says nothing of the stock.
    for path in ["openapi.json", "openapi.yaml", "docs", "llms.txt", ".well-known/api-catalog", ""] {
        let shown = get("http-guarded", path).await;
        assert_eq!(shown.status(), 200, "{path}");
        let text = shown.text().await.unwrap();
        assert!(!text.contains("Civic") && !text.contains("ld+json"), "{path}");
    }
    let document: Value = get("http-guarded", "openapi.json").await.json().await.unwrap();
    assert_eq!(document["components"]["securitySchemes"]["key"]["scheme"], "bearer");
    assert_eq!(document["paths"]["/inventory"]["get"]["security"], json!([{"key": []}]));
}

#[tokio::test]
async fn a_limit_counts_all_doors_and_says_when_it_is_over() {
    let platform =
        settle(json!({"http-limited": {"name": "Limited", "rooftops": [{"name": "R"}], "inventory": [],
        "policy": {"rate_limit": {"requests": 2, "per_seconds": 600}}}}))
        .await;
    ok(get("http-limited", "facets").await).await;
    platform.call("http-limited", json!({"type": "inventory.facets.request"})).await;
    let refused = get("http-limited", "facets").await;
    let seconds: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    let error = refusal(refused, V3, 429, "RATE_LIMITED").await;
    let wait = error["details"]["retry_after_ms"].as_u64().unwrap();
    assert_eq!(seconds, wait.div_ceil(1000), "{error}");
    let page = get("http-limited", "vehicles").await;
    assert_eq!((page.status().as_u16(), page.headers().contains_key("retry-after")), (429, true));
}
