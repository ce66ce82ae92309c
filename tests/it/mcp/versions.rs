//! Each protocol version in each contract: the handshake or its absence, and every tool.

use serde_json::json;

use super::{ALONE, Assistant, TOOLS, VERSIONS, contract, contracts, lead};
use crate::ground::ground;

#[tokio::test]
async fn every_tool_answers_in_every_version_of_protocol_and_contract() {
    let platform = ground().await;
    for (version, contract_version) in
        VERSIONS.iter().flat_map(|version| contracts().map(move |c| (*version, c)))
    {
        let assistant = Assistant::new(platform, "harbor").of(contract_version, version);
        let names: Vec<_> = assistant.tools().await.iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(json!(names), json!(TOOLS), "{version}");
        let rules = contract(contract_version);
        for (tool, schema, arguments) in [
            (TOOLS[0], "dealer-information-response", json!({})),
            (TOOLS[1], "inventory-facets-response", json!({"filters": {"make": ["Honda"]}})),
            (TOOLS[2], "inventory-search-response", json!({"pagination": {"limit": 2}})),
            (TOOLS[3], "vehicle-detail-response", json!({"stock": "E-4"})),
            (TOOLS[4], "lead-submit-response", lead()),
        ] {
            let payload = assistant.payload(tool, arguments).await;
            rules.check(&format!("{schema}.schema.json"), &payload).unwrap();
        }
        // No arguments at all are none.
        let result = assistant.result("tools/call", json!({"name": TOOLS[0]})).await;
        assert_eq!(result["structuredContent"]["data"]["name"], "Harbor City");
        assert_eq!(result.get("resultType").is_some(), version == ALONE);
    }
}

#[tokio::test]
async fn versions_are_negotiated_where_there_is_a_handshake() {
    let platform = ground().await;
    let assistant = Assistant::new(platform, "harbor");
    let hello = |version: &str| json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    let (handshakes, [newest]) = VERSIONS.split_at(4) else { panic!("{VERSIONS:?}") };
    for version in handshakes {
        let result = assistant.result("initialize", hello(version)).await;
        assert_eq!(result["protocolVersion"], **version, "{result}");
        assert_eq!(result["serverInfo"]["title"], "Harbor City");
        for capability in ["tools", "resources", "prompts"] {
            assert!(result["capabilities"][capability].is_object(), "{result}");
        }
        assert!(result["instructions"].as_str().unwrap().contains("Harbor City"), "{result}");
    }
    // Of a version that nobody knows, and of the one that has no handshake, the newest that has one is offered.
    for unknown in ["1999-01-01", "9999-12-31", newest] {
        let result = assistant.result("initialize", hello(unknown)).await;
        assert_eq!(result["protocolVersion"], "2025-11-25", "{result}");
    }
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = assistant.message(&initialized).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (202, ""));
}

#[tokio::test]
async fn a_version_without_a_handshake_is_discovered() {
    let platform = ground().await;
    let contract = contract::ContractVersion::V3_0;
    let assistant = Assistant::new(platform, "harbor").of(contract, ALONE);
    let result = assistant.result("server/discover", json!({})).await;
    assert_eq!(result["supportedVersions"], json!(VERSIONS));
    assert!(result["capabilities"]["tools"].is_object(), "{result}");
    // What a message says in its headers is what it says in its body.
    let body = assistant.request("tools/call", json!({"name": TOOLS[0]}));
    let other = assistant.message(&body).header("mcp-name", TOOLS[1]).send().await.unwrap();
    assert_eq!(other.status(), 400);
    let plain = platform.http.post(assistant.url()).header("content-type", "application/json");
    let bare = plain.header("mcp-protocol-version", ALONE).body(body.to_string()).send().await.unwrap();
    assert_eq!(bare.status(), 400, "{:?}", bare.text().await);
}

#[tokio::test]
async fn ping_is_answered_with_nothing_where_it_exists() {
    let platform = ground().await;
    for version in VERSIONS {
        let assistant = Assistant::new(platform, "harbor").of(contract::ContractVersion::V3_0, version);
        let answer = assistant.ask("ping", json!({})).await;
        if version == ALONE {
            assert_eq!(answer["error"]["code"], -32601);
        } else {
            assert_eq!(answer["result"], json!({}));
        }
    }
    let unknown = Assistant::new(platform, "harbor").of(contract::ContractVersion::V3_0, "1999-01-01");
    let response = unknown.message(&unknown.request("ping", json!({}))).send().await.unwrap();
    assert_eq!(response.status(), 400);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
}
