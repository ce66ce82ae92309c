//! Skill faults are results, errors of the protocol are errors, and neither is ever the other.

use serde_json::{Value, json};

use super::{Assistant, TOOLS, VERSIONS, answered, contracts, lead};
use crate::ground::{ground, settle};

/// A lead with one member changed.
fn with(pointer: &str, value: Value) -> Value {
    let mut lead = lead();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    lead.pointer_mut(parent).unwrap()[key] = value;
    lead
}

#[tokio::test]
async fn every_code_is_read_whole_in_every_version() {
    let platform = settle(json!({
        "mcp-counter": {"name": "Counter", "rooftops": [{"name": "R"}], "inventory": [],
            "policy": {"rate_limit": {"requests": 1, "per_seconds": 86400}}},
        "mcp-strict": {"name": "Strict", "rooftops": [{"name": "R", "timezone": "UTC"}], "inventory": [],
            "policy": {"appointments": "strict"}},
        "mcp-broken": {"name": "Broken", "rooftops": [{"name": "R"}], "inventory": [],
            "policy": {"fault": "what nobody outside may read"}},
    }))
    .await;
    let mut without_consent = lead();
    without_consent.as_object_mut().unwrap().remove("consent");
    for contract in contracts() {
        let newer = contract.spec().unwrap().search_restrictable;
        let past = json!({"appointment_type": "sales", "appointment_at": "2020-02-03T04:05:06Z"});
        let mut cases = vec![
            (
                "harbor",
                TOOLS[2],
                json!({"colour": 1, "pagination": {"limit": 0}}),
                "SCHEMA_VALIDATION_FAILED",
            ),
            ("harbor", TOOLS[2], json!({"type": "inventory.facets.request"}), "SCHEMA_VALIDATION_FAILED"),
            ("harbor", TOOLS[2], json!({"type": 7}), "SCHEMA_VALIDATION_FAILED"),
            ("harbor", TOOLS[2], json!({"sort": {"field": "price"}}), "MISSING_REQUIRED_FIELD"),
            ("harbor", TOOLS[4], with("/trade_in", json!({"condition": "used"})), "INVALID_CONDITION"),
            ("narrow", TOOLS[4], lead(), "UNSUPPORTED_SKILL"),
            ("harbor", TOOLS[3], json!({"stock": "no such unit"}), "VEHICLE_NOT_FOUND"),
            ("harbor", TOOLS[3], json!({"stock": "G-1"}), "VEHICLE_UNAVAILABLE"),
            ("harbor", TOOLS[4], without_consent.clone(), "CONTACT_CONSENT_REQUIRED"),
            ("harbor", TOOLS[4], with("/consent/scope", json!(["marketing"])), "INVALID_CONSENT"),
            ("mcp-broken", TOOLS[0], json!({}), "INTERNAL_ERROR"),
            ("mcp-strict", TOOLS[4], with("/appointment", past), "APPOINTMENT_TIME_UNAVAILABLE"),
        ];
        if newer {
            cases.extend([
                ("narrow", TOOLS[2], json!({"filters": {"model": ["Accord"]}}), "UNSUPPORTED_FILTER"),
                ("narrow", TOOLS[2], json!({"sort": {"field": "make", "order": "asc"}}), "UNSUPPORTED_SORT"),
                ("harbor", TOOLS[2], json!({"pagination": {"cursor": "made-up"}}), "INVALID_CURSOR"),
                ("harbor", TOOLS[0], json!({"dealer_id": "somebody"}), "DEALER_NOT_FOUND"),
            ]);
        }
        for (slug, tool, arguments, code) in cases {
            for version in VERSIONS {
                let assistant = Assistant::new(platform, slug).of(contract, version);
                let error = assistant.refusal(tool, arguments.clone()).await;
                assert_eq!(error["code"], code, "{version} {arguments}");
                assert!(!error.to_string().contains("nobody outside"), "{error}");
                let problems = error["details"]["errors"].as_array().map_or(0, Vec::len);
                match code {
                    "MISSING_REQUIRED_FIELD" => assert_eq!(problems, 1),
                    "SCHEMA_VALIDATION_FAILED" if arguments.get("colour").is_some() => {
                        assert_eq!(problems, 2)
                    }
                    _ => {}
                }
            }
        }
        // One key with two contents.
        let assistant = Assistant::new(platform, "harbor").of(contract, "2025-11-25");
        let first = lead();
        let taken = assistant.payload(TOOLS[4], first.clone()).await;
        assert_eq!(assistant.payload(TOOLS[4], first.clone()).await, taken, "sent again");
        let mut other = first;
        other["message"] = json!("Something else.");
        assert_eq!(assistant.refusal(TOOLS[4], other).await["code"], "IDEMPOTENCY_CONFLICT");
    }
    // Soon asked too often, at whatever door and in whatever contract.
    let counter = Assistant::new(platform, "mcp-counter");
    counter.result("tools/call", json!({"name": TOOLS[0]})).await;
    let error = counter.refusal(TOOLS[0], json!({})).await;
    assert_eq!((&error["code"], &error["retryable"]), (&json!("RATE_LIMITED"), &json!(true)));
    assert!(error["details"]["retry_after_ms"].as_u64().unwrap() > 1000, "{error}");
}

#[tokio::test]
async fn errors_of_the_protocol_are_errors() {
    let platform = ground().await;
    for version in VERSIONS {
        let assistant = Assistant::new(platform, "harbor").of(contract::ContractVersion::V3_0, version);
        for (method, params, code) in [
            ("tools/call", json!({"name": "aap_inventory.search", "arguments": {}}), -32602),
            ("tools/call", json!({"name": "inventory.search"}), -32602),
            ("tools/call", json!({"name": TOOLS[2], "arguments": "none"}), -32602),
            ("tools/call", json!({"name": TOOLS[2], "arguments": [1]}), -32602),
            ("prompts/get", json!({"name": "no such prompt"}), -32602),
            ("prompts/get", json!({"name": "find_a_car"}), -32602),
            ("prompts/get", json!({"name": "find_a_car", "arguments": {"wish": " "}}), -32602),
            ("no/such/method", json!({}), -32601),
            ("subscriptions/listen", json!({"notifications": {}}), -32601),
            ("resources/subscribe", json!({"uri": "aap://harbor/dealer"}), -32601),
            ("logging/setLevel", json!({"level": "info"}), -32601),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "x"},
                "argument": {"name": "a", "value": ""}}),
                -32601,
            ),
        ] {
            let error = assistant.error(method, params.clone()).await;
            assert_eq!(error["code"], code, "{version} {method} {params}: {error}");
            let words = error["message"].as_str().unwrap();
            assert!(words.contains(' '), "{error}");
            // Which method it was is said, in a sentence.
            assert!(code != -32601 || words.contains(&format!("\"{method}\" is not served")), "{error}");
        }
    }
    let assistant = Assistant::new(platform, "harbor");
    let error = assistant.error("tools/call", json!({"arguments": {}})).await;
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn what_is_no_message_is_told_apart() {
    let assistant = Assistant::new(ground().await, "harbor");
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for (body, status, code, id) in [
        ("{", 400, -32700, "null"),
        ("", 400, -32700, "null"),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", 400, -32600, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", 400, -32600, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", 400, -32600, "null"),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 400, -32600, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1}", 400, -32600, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, -32600, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":[]}", 200, -32602, "7"),
        (deep.as_str(), 400, -32600, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"method\":\"ping\"}", 400, -32600, "7"),
    ] {
        let response = assistant.message(&json!({})).body(body.to_owned()).send().await.unwrap();
        assert_eq!(response.status(), status, "{body}");
        let answer = answered(response).await;
        assert_eq!(
            (&answer["error"]["code"], answer["id"].to_string().as_str()),
            (&json!(code), id),
            "{body}"
        );
    }
    for id in ["0", "\"\"", "-7", "\"\\u0041 b\""] {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        let answer = answered(assistant.message(&json!({})).body(body).send().await.unwrap()).await;
        let sent: Value = serde_json::from_str(id).unwrap();
        assert_eq!((&answer["id"], &answer["result"]), (&sent, &json!({})));
    }
    // What JSON allows and doubles or UTF-8 have no room for is read as at A2A.
    let filters = r#"{"price_max":1e999,"query":"\ud800"}"#;
    let odd = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{{"filters":{filters}}}}}}}"#,
        TOOLS[2]
    );
    let answer = answered(assistant.message(&json!({})).body(odd).send().await.unwrap()).await;
    let asking = crate::ground::harbor(crate::ground::search()).await;
    let body = asking.body.to_string().replace(r#""type":"#, &format!(r#""filters":{filters},"type":"#));
    let a2a: Value = asking.raw(body).await.json().await.unwrap();
    assert_eq!(&answer["result"]["structuredContent"]["data"], testkit::data_of(&a2a));
}
