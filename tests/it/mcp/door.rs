//! HTTP around it: methods, `Accept`, pages, hosts, callers, what is recorded, the manifest.

use dealer::callers::{self, NewKey};
use serde_json::{Value, json};
use sqlx::Row;
use testkit::{Platform, car, cluster};

use super::{Assistant, TOOLS, answered, contracts, lead};
use crate::ground::{ground, lasting, settle};

#[tokio::test]
async fn only_post_is_taken() {
    let platform = ground().await;
    for url in [format!("{}mcp", platform.base("harbor")), Assistant::new(platform, "harbor").url()] {
        for method in ["GET", "DELETE", "PUT", "HEAD"] {
            let method = method.parse().unwrap();
            let response = platform.http.request(method, &url).header("accept", "text/event-stream");
            let response = response.send().await.unwrap();
            assert_eq!(response.status(), 405);
            assert_eq!(response.headers()["allow"], "POST, OPTIONS");
        }
        let response = platform.http.request("OPTIONS".parse().unwrap(), &url).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["allow"]),
            (204, &"POST, OPTIONS".parse().unwrap())
        );
    }
}

#[tokio::test]
async fn whatever_is_accepted_json_comes() {
    let assistant = Assistant::new(ground().await, "harbor");
    let body = assistant.request("tools/call", json!({"name": TOOLS[0]})).to_string();
    let url = assistant.url();
    for accept in [
        None,
        Some("*/*"),
        Some("application/json"),
        Some("text/event-stream"),
        Some("application/json, text/event-stream"),
        Some("text/html;q=0.5"),
        Some(""),
    ] {
        let request =
            assistant.platform.http.post(&url).header("content-type", "application/json; charset=utf-8");
        let request = match accept {
            Some(accept) => request.header("accept", accept),
            None => request,
        };
        let answer = answered(request.body(body.clone()).send().await.unwrap()).await;
        assert_eq!(answer["result"]["structuredContent"]["data"]["name"], "Harbor City", "{accept:?}");
    }
    let wrong = assistant.platform.http.post(&url).header("content-type", "text/plain").body(body);
    let wrong = wrong.send().await.unwrap();
    assert_eq!(
        (wrong.status().as_u16(), &wrong.headers()["content-type"]),
        (415, &"application/problem+json".parse().unwrap())
    );
    let large = assistant.message(&json!({})).body(vec![b' '; 1024 * 1024 + 1]).send().await.unwrap();
    assert_eq!(large.status(), 413);
}

#[tokio::test]
async fn pages_may_ask_under_our_names_only() {
    let assistant = Assistant::new(ground().await, "harbor");
    let ping = assistant.request("ping", json!({}));
    for (origin, host, status) in [
        ("https://assistant.example", None, 200),
        ("null", None, 200),
        ("http://localhost:3000", Some("localhost:9"), 200),
        ("https://assistant.example", Some("forecourt"), 200),
        ("http://rebound.example", Some("rebound.example"), 403),
        ("http://rebound.example:80", Some("Rebound.Example.:8080"), 403),
        ("rebound", None, 403),
        ("*", None, 403),
    ] {
        let request = assistant.message(&ping).header("origin", origin);
        let request = match host {
            Some(host) => request.header("host", host),
            None => request,
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status, "{origin} {host:?}");
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
    }
    // Who is no browser may call us what it likes, as a probe or a proxy does.
    let response = assistant.message(&ping).header("host", "rebound.example").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let preflight = assistant.platform.http.request("OPTIONS".parse().unwrap(), assistant.url());
    let preflight = preflight
        .header("origin", "https://assistant.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "mcp-protocol-version, content-type");
    let preflight = preflight.send().await.unwrap();
    assert_eq!(preflight.status(), 204);
    assert!(
        preflight.headers()["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("mcp-protocol-version")
    );
}

#[tokio::test]
async fn callers_are_let_in_as_at_the_other_doors() {
    let guarded = json!({"name": "Guarded", "rooftops": [{"name": "R"}],
        "inventory": [car("a", "Honda", "Civic", 20_000)], "callers": {"accept": ["keys"]}});
    let platform = settle(json!({ "mcp-guarded": guarded })).await;
    let key = lasting(async move {
        let scopes = vec![contract::SkillId::DealerInformation];
        let key = NewKey { name: "pelican".into(), scopes, rate_limit: None };
        let issued =
            callers::add_key(platform.application().store(), "mcp-guarded", key, "test").await.unwrap();
        platform.catch_up().await;
        issued.text
    })
    .await;
    let assistant = Assistant::new(platform, "mcp-guarded");
    let challenge =
        |response: &reqwest::Response| response.headers()["www-authenticate"].to_str().unwrap().to_owned();
    // Before anything else of it is looked at.
    for body in ["", "no json", "{}"] {
        let response = assistant.message(&json!({})).body(body).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), challenge(&response)),
            (401, "Bearer realm=\"mcp-guarded\"".into())
        );
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }
    assert_eq!(platform.http.get(assistant.url()).send().await.unwrap().status(), 401);
    let with = |method: &str, params: Value| {
        let request = assistant.message(&assistant.request(method, params));
        request.header("authorization", format!("Bearer {key}")).send()
    };
    let answer = answered(with("tools/call", json!({"name": TOOLS[0]})).await.unwrap()).await;
    assert_eq!(answer["result"]["structuredContent"]["data"]["name"], "Guarded");
    let tools = answered(with("tools/list", json!({})).await.unwrap()).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 5);
    // A key for one skill opens no other, as a tool or as a resource.
    for (method, params) in [
        ("tools/call", json!({"name": TOOLS[2]})),
        ("resources/read", json!({"uri": "aap://mcp-guarded/vehicles/a"})),
    ] {
        let response = with(method, params).await.unwrap();
        assert_eq!(response.status(), 403, "{method}");
        assert!(challenge(&response).contains("error=\"insufficient_scope\", scope=\"inventory."));
    }
    // How to ask is told to everybody.
    assert_eq!(platform.http.get(assistant.url() + ".json").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn the_door_is_recorded_and_keys_of_leads_are_those_of_all_doors() {
    let dealer = json!({"name": "Harbor", "rooftops": [{"name": "R"}], "inventory": []});
    let platform = Platform::with_dealer("harbor", dealer).await;
    let assistant = Assistant::new(&platform, "harbor");
    let sent = lead();
    let taken = assistant.payload(TOOLS[4], sent.clone()).await;
    let mut again = sent;
    again["type"] = json!("lead.submit.request");
    assert_eq!(platform.call("harbor", again).await, taken["data"], "at A2A");
    let row = sqlx::query("select door, caller from leads")
        .fetch_one(&mut cluster().superuser(&platform.database).await)
        .await
        .unwrap();
    assert_eq!(
        (row.get::<String, _>("door"), row.get::<String, _>("caller")),
        ("mcp".into(), "agent:pelican".into())
    );
    assistant.refusal(TOOLS[3], json!({"stock": "none"})).await;
    assistant.error("tools/call", json!({"name": "none"})).await;
    let metrics = platform.http.get(format!("{}/metrics", platform.origin)).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let counted = |skill: &str, outcome: &str| {
        metrics.lines().any(|line| {
            line.starts_with("aap_calls")
                && [("interface", "mcp"), ("skill", skill), ("outcome", outcome)]
                    .iter()
                    .all(|(name, value)| line.contains(&format!("{name}=\"{value}\"")))
        })
    };
    assert!(counted("lead.submit", "ok"), "{metrics}");
    assert!(counted("inventory.vehicle", "VEHICLE_NOT_FOUND") && counted("", "invalid_params"), "{metrics}");
    platform.stop().await;
}

#[tokio::test]
async fn a_version_of_the_lot_can_be_asked_for() {
    let assistant = Assistant::new(ground().await, "harbor");
    let body = assistant.request("tools/call", json!({"name": TOOLS[2]}));
    let response = assistant.message(&body).header("forecourt-min-version", "1").send().await.unwrap();
    assert!(response.headers()["forecourt-inventory-version"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    let response = assistant.message(&body).header("forecourt-min-version", "newest").send().await.unwrap();
    assert_eq!(response.status(), 400);
    assert_eq!(answered(response).await["error"]["code"], -32600);
}

#[tokio::test]
async fn the_manifest_is_the_list_of_tools() {
    let platform = ground().await;
    for contract in contracts() {
        let assistant = Assistant::new(platform, "harbor").of(contract, "2025-06-18");
        let response = platform.http.get(assistant.url() + ".json").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json");
        let etag = response.headers()["etag"].to_str().unwrap().to_owned();
        let manifest: Value = response.json().await.unwrap();
        assert_eq!(manifest["name"], "auto-agent-protocol");
        assert_eq!(manifest["version"], contract.spec().unwrap().full_version);
        assert_eq!(manifest["protocolVersion"], "2025-06-18");
        assert_eq!(manifest["endpoint"], assistant.url());
        let tools = assistant.tools().await;
        let entries = manifest["tools"].as_array().unwrap();
        assert_eq!(entries.len(), tools.len());
        for (entry, tool) in entries.iter().zip(&tools) {
            for member in ["name", "description", "inputSchema"] {
                assert_eq!(entry[member], tool[member]);
            }
            for member in ["aap_skill_id", "aap_request_type", "aap_response_type", "aap_response_schema"] {
                assert_eq!(entry["annotations"][member], tool["_meta"][member]);
                assert!(entry["annotations"][member].is_string());
            }
            assert_eq!(entry["annotations"]["readOnlyHint"], tool["annotations"]["readOnlyHint"]);
        }
        let same = platform.http.get(assistant.url() + ".json").header("if-none-match", etag);
        assert_eq!(same.send().await.unwrap().status(), 304);
    }
}
