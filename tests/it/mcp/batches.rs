//! Several messages in one request, which one version of the protocol has.

use contract::ContractVersion;
use dealer::callers::{self, NewKey};
use reqwest::Response;
use serde_json::{Value, json};
use testkit::car;

use super::{Assistant, TOOLS, VERSIONS, answered};
use crate::ground::{ground, lasting, settle};

/// The version that has batches.
const WITH_BATCHES: &str = "2025-03-26";

fn message(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// Sends a body, with the header of a version or without one.
async fn send(assistant: &Assistant<'_>, version: Option<&str>, body: &Value) -> Response {
    let request = assistant.platform.http.post(assistant.url()).header("content-type", "application/json");
    let request = match version {
        Some(version) => request.header("mcp-protocol-version", version),
        None => request,
    };
    request.body(body.to_string()).send().await.unwrap()
}

/// The answers of a batch.
async fn answers(response: Response) -> Vec<Value> {
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let Value::Array(all) = response.json().await.unwrap() else { panic!("a batch is answered by a batch") };
    for answer in &all {
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
    }
    all
}

#[tokio::test]
async fn each_message_of_a_batch_is_answered_as_if_it_came_alone() {
    let platform = ground().await;
    for contract in super::contracts() {
        let assistant = Assistant::new(platform, "harbor").of(contract, WITH_BATCHES);
        let requests = [
            message(1, "ping", json!({})),
            message("two", "tools/call", json!({"name": TOOLS[0], "arguments": {}})),
            message(3, "tools/call", json!({"name": TOOLS[2], "arguments": {"pagination": {"limit": 2}}})),
            message(4, "tools/call", json!({"name": TOOLS[3], "arguments": {"stock": "E-4"}})),
            message(5, "resources/read", json!({"uri": "aap://harbor/dealer"})),
            message(6, "logging/setLevel", json!({"level": "info"})),
            message(7, "tools/list", json!({})),
        ];
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let mut batch: Vec<_> = requests.to_vec();
        batch.insert(2, initialized);
        // The version that had no header yet is the one with batches.
        for version in [Some(WITH_BATCHES), None] {
            let response = send(&assistant, version, &batch.clone().into()).await;
            assert!(response.headers().contains_key("forecourt-inventory-version"));
            let got = answers(response).await;
            assert_eq!(got.len(), requests.len(), "a notification has no answer");
            for (request, got) in requests.iter().zip(&got) {
                let mut alone = answered(send(&assistant, version, request).await).await;
                let mut got = got.clone();
                // Each cursor is one of its own.
                for answer in [&mut alone, &mut got] {
                    if let Some(cursor) = answer.pointer_mut("/result/structuredContent/data/next_cursor") {
                        *cursor = Value::Null;
                    }
                    if let Some(text) = answer.pointer_mut("/result/content/0/text") {
                        *text = Value::Null;
                    }
                }
                assert_eq!(got, alone);
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_request_of_a_batch_is_told_in_its_place() {
    let assistant = Assistant::new(ground().await, "harbor").of(ContractVersion::V3_0, WITH_BATCHES);
    let hello = json!({"protocolVersion": WITH_BATCHES, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let batch = json!([
        7,
        {"jsonrpc": "2.0", "id": 1},
        message(2, "initialize", hello),
        [message(3, "ping", json!({}))],
        message(4, "tools/call", json!({"name": "none"})),
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": []},
        message(6, "ping", json!({})),
    ]);
    let got = answers(send(&assistant, Some(WITH_BATCHES), &batch).await).await;
    let told: Vec<_> = got.iter().map(|one| (one["id"].clone(), one["error"]["code"].clone())).collect();
    let expected = [
        (Value::Null, json!(-32600)),
        (Value::Null, json!(-32600)),
        (json!(2), json!(-32600)),
        (Value::Null, json!(-32600)),
        (json!(4), json!(-32602)),
        (json!(5), json!(-32602)),
        (json!(6), Value::Null),
    ];
    assert_eq!(told, expected, "{got:?}");
}

#[tokio::test]
async fn a_batch_is_a_message_or_more_and_not_too_many() {
    let assistant = Assistant::new(ground().await, "harbor").of(ContractVersion::V3_0, WITH_BATCHES);
    let pings = |count: usize| (0..count).map(|id| message(id, "ping", json!({}))).collect::<Value>();
    for wrong in [json!([]), pings(51)] {
        let response = send(&assistant, Some(WITH_BATCHES), &wrong).await;
        assert_eq!(response.status(), 400);
        let answer = answered(response).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null));
    }
    assert_eq!(answers(send(&assistant, Some(WITH_BATCHES), &pings(50)).await).await.len(), 50);
    // Notifications alone are taken, and there is nothing to say.
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = send(&assistant, Some(WITH_BATCHES), &json!([initialized, initialized])).await;
    assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (202, ""));
    for version in VERSIONS.into_iter().filter(|version| *version != WITH_BATCHES) {
        let response = send(&assistant, Some(version), &pings(1)).await;
        assert_eq!(response.status(), 400, "{version}");
        let answer = answered(response).await;
        assert_eq!(answer["error"]["code"], -32600, "{version}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("no batches"), "{answer}");
    }
}

#[tokio::test]
async fn limits_keys_and_counts_see_each_message_of_a_batch() {
    let platform = settle(json!({
        "mcp-batch-limited": {"name": "Limited", "rooftops": [{"name": "R"}], "inventory": [],
            "policy": {"rate_limit": {"requests": 2, "per_seconds": 86400}}},
        "mcp-batch-guarded": {"name": "Guarded", "rooftops": [{"name": "R"}],
            "inventory": [car("a", "Honda", "Civic", 20_000)], "callers": {"accept": ["keys"]}},
    }))
    .await;
    let call = |id: usize, tool: &str| message(id, "tools/call", json!({"name": tool}));
    let limited = Assistant::new(platform, "mcp-batch-limited");
    let batch = json!([call(1, TOOLS[0]), call(2, TOOLS[0]), call(3, TOOLS[0])]);
    let got = answers(send(&limited, Some(WITH_BATCHES), &batch).await).await;
    let refused: Vec<_> = got.iter().map(|one| one["result"]["structuredContent"]["code"].clone()).collect();
    assert_eq!(refused, [Value::Null, Value::Null, json!("RATE_LIMITED")]);
    let metrics = platform.http.get(format!("{}/metrics", platform.origin)).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.lines().any(|line| line.starts_with("aap_calls") && line.contains("RATE_LIMITED")));

    let key = lasting(async move {
        let scopes = vec![contract::SkillId::DealerInformation];
        let key = NewKey { name: "batches".into(), scopes, rate_limit: None };
        let store = platform.application().store();
        let issued = callers::add_key(store, "mcp-batch-guarded", key, "test").await.unwrap();
        platform.catch_up().await;
        issued.text
    })
    .await;
    let guarded = Assistant::new(platform, "mcp-batch-guarded");
    let batch = json!([call(1, TOOLS[0]), call(2, TOOLS[2])]);
    assert_eq!(send(&guarded, Some(WITH_BATCHES), &batch).await.status(), 401);
    let request = platform.http.post(guarded.url()).header("content-type", "application/json");
    let request = request.header("authorization", format!("Bearer {key}"));
    let got = answers(request.body(batch.to_string()).send().await.unwrap()).await;
    assert_eq!(got[0]["result"]["structuredContent"]["data"]["name"], "Guarded");
    assert!(got[1].get("error").is_some() && !got[1].to_string().contains("Civic"), "{}", got[1]);
}
