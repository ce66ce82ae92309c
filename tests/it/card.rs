//! The Agent Card: what it says, how it is cached, when it changes (AAP.md 13, A2A.md 4 to 6; field report 24).

use std::path::Path;

use contract::{Contract, ContractVersion};
use serde_json::{Value, json};
use testkit::car;

use crate::addresses::{CARD, at, dealer, get};
use crate::ground::{ground, settle};

#[tokio::test]
async fn a_copy_is_confirmed_or_replaced() {
    let platform = ground().await;
    let path = format!("/t/harbor{CARD}");
    let fresh = get(platform, "", &path).await;
    let etag = fresh.header("etag").unwrap().to_owned();
    let changed = fresh.header("last-modified").unwrap().to_owned();
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2, "a strong tag: {etag}");
    assert_eq!(fresh.header("cache-control"), Some("public, max-age=300"));
    let parsed = chrono::DateTime::parse_from_rfc2822(&changed).unwrap();
    assert!(changed.ends_with(" GMT") && parsed <= chrono::Utc::now());

    let weak = format!("W/{etag}");
    let list = format!("\"x\", {etag}");
    let weak_list = format!("\"x\",W/\"y\" , {weak},\"z\"");
    let (older, newer) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 01 Jan 2100 00:00:00 GMT");
    let table: [(&[(&str, &str)], u16); 16] = [
        (&[("if-none-match", &etag)], 304),
        (&[("if-none-match", &weak)], 304),
        (&[("if-none-match", &list)], 304),
        (&[("if-none-match", &weak_list)], 304),
        (&[("if-none-match", "*")], 304),
        (&[("if-none-match", "\"x\""), ("if-none-match", &etag)], 304),
        (&[("if-none-match", "\"x\"")], 200),
        (&[("if-none-match", "")], 200),
        (&[("if-none-match", etag.trim_matches('"'))], 200),
        (&[("if-none-match", "\"x\""), ("if-modified-since", newer)], 200),
        (&[("if-none-match", &etag), ("if-modified-since", older)], 304),
        (&[("if-modified-since", &changed)], 304),
        (&[("if-modified-since", newer)], 304),
        (&[("if-modified-since", older)], 200),
        (&[("if-modified-since", "yesterday")], 200),
        (&[("if-match", "\"x\""), ("range", "bytes=0-3")], 200),
    ];
    for (headers, status) in table {
        for method in ["GET", "HEAD"] {
            let reply = at(platform, "", method, &path, headers).await;
            assert_eq!(reply.status, status, "{method} {headers:?}");
            assert_eq!(reply.header("etag"), Some(etag.as_str()));
            assert_eq!(reply.header("cache-control"), fresh.header("cache-control"));
            assert_eq!(reply.header("last-modified"), Some(changed.as_str()));
            if status == 304 {
                assert!(reply.header("content-length").is_none_or(|length| length == "0"));
            } else if method == "HEAD" {
                assert_eq!(reply.header("content-length"), Some(fresh.body.len().to_string().as_str()));
            } else {
                assert_eq!(reply.body, fresh.body);
            }
        }
    }
}

#[tokio::test]
async fn any_web_page_may_read_and_ask() {
    let platform = ground().await;
    let origin = ("origin", "https://agent.example");
    let headers = "content-type, a2a-version, a2a-extensions, x-anything";
    for (path, method) in
        [(format!("/t/harbor{CARD}"), "GET"), ("/t/harbor/a2a".into(), "POST"), ("/v3.0/a2a".into(), "POST")]
    {
        let asked =
            [origin, ("access-control-request-method", method), ("access-control-request-headers", headers)];
        let preflight = at(platform, "", "OPTIONS", &path, &asked).await;
        assert!([200, 204].contains(&preflight.status), "{path}: {}", preflight.status);
        assert_eq!(preflight.header("access-control-allow-origin"), Some("*"));
        assert!(preflight.header("access-control-allow-methods").unwrap().contains(method));
        let allowed = preflight.header("access-control-allow-headers").unwrap().to_lowercase();
        assert!(headers.split(", ").all(|name| allowed.contains(name)), "{allowed}");
        assert!(preflight.header("access-control-max-age").is_some());
        assert!(preflight.header("access-control-allow-credentials").is_none());
    }
    let json = ("content-type", "application/json");
    for (method, path, more, status) in [
        ("GET", format!("/t/harbor{CARD}"), json, 200),
        ("GET", format!("/t/harbor{CARD}"), ("if-none-match", "*"), 304),
        ("POST", "/t/harbor/a2a".to_owned(), json, 200),
        ("POST", "/t/harbor/a2a".to_owned(), ("content-type", "text/plain"), 200),
        ("GET", "/t/harbor/a2a".to_owned(), json, 405),
        ("GET", "/t/nobody/a2a".to_owned(), json, 404),
    ] {
        let reply = at(platform, "", method, &path, &[origin, more]).await;
        assert_eq!(reply.status, status, "{method} {path}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{method} {path}");
        let exposed = reply.header("access-control-expose-headers").unwrap_or_default().to_lowercase();
        assert!(
            ["a2a-extensions", "etag", "x-request-id"].iter().all(|name| exposed.contains(name)),
            "{exposed}"
        );
    }
}

#[tokio::test]
async fn the_card_says_what_the_protocol_asks_and_nothing_of_the_past() {
    let platform = ground().await;
    let contract = Contract::load(ContractVersion::V3_0).unwrap();
    let all = &[
        "dealer.information",
        "inventory.facets",
        "inventory.search",
        "inventory.vehicle",
        "lead.submit",
    ][..];
    for (slug, skills) in
        [("harbor", all), ("routed", all), ("narrow", &["dealer.information", "inventory.search"][..])]
    {
        let card = platform.card(slug).await;
        contract.check("agent-card.schema.json", &card).unwrap();
        let stem = |id: &str| {
            if id == "inventory.vehicle" { "vehicle-detail".to_owned() } else { id.replace('.', "-") }
        };
        let media = |way: &str| -> Vec<String> {
            skills.iter().map(|id| format!("application/vnd.autoagent.{}-{way}+json", stem(id))).collect()
        };
        assert_eq!(card["defaultInputModes"], json!(media("request")));
        assert_eq!(card["defaultOutputModes"], json!(media("response")));
        let listed = card["skills"].as_array().unwrap();
        assert_eq!(listed.iter().map(|skill| skill["id"].as_str().unwrap()).collect::<Vec<_>>(), skills);
        for (i, skill) in listed.iter().enumerate() {
            assert_eq!(skill["inputModes"], json!([media("request")[i]]));
            assert_eq!(skill["outputModes"], json!([media("response")[i]]));
            assert!(!skill["tags"].as_array().unwrap().is_empty() && skill.get("examples").is_none());
        }
        let extensions = card["capabilities"]["extensions"].as_array().unwrap();
        assert_eq!(extensions.len(), 1);
        assert_eq!(
            (&extensions[0]["uri"], &extensions[0]["required"]),
            (&json!(testkit::EXTENSION), &json!(true))
        );
        let params = &extensions[0]["params"];
        let base = "https://autoagentprotocol.org/v3.0/schemas/";
        assert_eq!((&params["version"], &params["schema_base_url"]), (&json!("3.0.0"), &json!(base)));
        let id: uuid::Uuid = params["id"].as_str().unwrap().parse().unwrap();
        assert_eq!(id.get_version_num(), 7);
        let schemas = params["skills"].as_object().unwrap();
        assert_eq!(schemas.len(), skills.len());
        for id in skills {
            let url = |way: &str| json!(format!("{base}{}-{way}.schema.json", stem(id)));
            assert_eq!(
                schemas[*id],
                json!({"request_schema": url("request"), "response_schema": url("response")})
            );
        }
        let interfaces = card["supportedInterfaces"].as_array().unwrap();
        assert_eq!(interfaces.len(), 1);
        assert_eq!(
            (&interfaces[0]["protocolBinding"], &interfaces[0]["protocolVersion"]),
            (&json!("JSONRPC"), &json!("1.0"))
        );
        assert!(interfaces[0]["url"].as_str().unwrap().ends_with("/v3.0/a2a"));
        for old in [
            "url",
            "protocolVersion",
            "preferredTransport",
            "additionalInterfaces",
            "security",
            "kind",
            "supportsAuthenticatedExtendedCard",
            "examples",
        ] {
            assert!(card.get(old).is_none(), "{old}");
        }
        for flag in ["streaming", "pushNotifications", "extendedAgentCard"] {
            assert!(card["capabilities"].get(flag).is_none_or(|set| set == false));
        }
        no_emptiness("", &card);
        against_the_published_schema(&card);
    }
}

/// What signatures would lose (A2A.md 5) does not stand on a card.
fn no_emptiness(at: &str, value: &Value) {
    match value {
        Value::Null => panic!("{at} is null"),
        Value::String(text) => assert!(!text.is_empty(), "{at} is empty"),
        Value::Array(items) => {
            assert!(!items.is_empty(), "{at} is empty");
            items.iter().enumerate().for_each(|(i, item)| no_emptiness(&format!("{at}/{i}"), item));
        }
        Value::Object(members) => {
            assert!(!members.is_empty(), "{at} is empty");
            members.iter().for_each(|(key, item)| no_emptiness(&format!("{at}/{key}"), item));
        }
        Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The published draft's schema, where it lies beside this checkout, with this version's URI in it.
fn against_the_published_schema(card: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/contract/upstream/latest/schemas/agent-card.schema.json");
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let text =
        text.replace("https://draft.autoagentprotocol.invalid/extensions/aap/latest", testkit::EXTENSION);
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
    let problems: Vec<_> = validator.iter_errors(card).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
}

#[tokio::test]
async fn a_client_of_the_past_gets_the_card_and_no_failure() {
    let platform = ground().await;
    let odd: [&[(&str, &str)]; 5] = [
        &[("a2a-version", "0.3")],
        &[("a2a-version", ""), ("a2a-extensions", "x")],
        &[("accept", "text/html")],
        &[("accept", "application/xml;q=0.1"), ("accept-encoding", "gzip, br")],
        &[("authorization", "Bearer x"), ("cookie", "a=b"), ("content-type", "text/plain")],
    ];
    for headers in odd {
        let reply = at(platform, "", "GET", &format!("/t/harbor{CARD}"), headers).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
        assert!(reply.header("set-cookie").is_none() && reply.header("content-encoding").is_none());
    }
    for path in [
        "/t/harbor/.well-known/agent.json",
        "/t/harbor/agent/authenticatedExtendedCard",
        "/.well-known/agent-card.json",
    ] {
        assert_eq!(get(platform, "", path).await.status, 404, "{path}");
    }
    let query = get(platform, "", &format!("/t/harbor{CARD}?x=%00&tenant=routed")).await;
    assert_eq!(query.json()["name"], "Harbor City");
}

#[tokio::test]
async fn a_card_changes_with_its_content_and_only_then() {
    let tenants = |name: &str, price: i64, policy: Value| {
        let stock = json!([car("a", "Honda", "Civic", price)]);
        json!({"changing": dealer(name, json!({"inventory": stock, "policy": policy}))})
    };
    let platform = settle(tenants("Before", 1, json!({}))).await;
    let state = async || {
        let reply = get(platform, "", &format!("/t/changing{CARD}")).await;
        let id = reply.json()["capabilities"]["extensions"][0]["params"]["id"].as_str().unwrap().to_owned();
        (reply.header("etag").unwrap().to_owned(), id, reply.body)
    };
    let first = state().await;
    // Stock, limits and a repeated document are none of the card's business.
    for (price, policy) in [(1, json!({})), (2, json!({})), (2, json!({"max_limit": 7, "default_limit": 7}))]
    {
        settle(tenants("Before", price, policy)).await;
        assert_eq!(state().await, first);
    }
    let mut seen = vec![first];
    for next in [
        tenants("After", 2, json!({})),
        tenants("After", 2, json!({"search": {"filters": ["make"]}})),
        tenants("Before", 1, json!({})),
    ] {
        settle(next).await;
        let now = state().await;
        assert!(seen.iter().all(|old| old.0 != now.0 && old.1 != now.1), "a new id and tag for every change");
        seen.push(now);
    }
}
