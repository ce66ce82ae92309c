//! A card for each contract that a dealer publishes, one of them at the bare address; and where the draft is
//! published at all.

use contract::{CONTRACTS, Contract, ContractVersion};
use dealer::Origin;
use serde_json::{Value, json};
use server::Settings;
use testkit::{Options, Platform, Wire, dealer_document};

use super::id_of;

/// The card of a contract, or at the bare address; `None` where there is none.
async fn card_at(platform: &Platform, slug: &str, contract: &str) -> Option<Value> {
    let below = if contract.is_empty() { String::new() } else { format!("{contract}/") };
    let target = format!("/t/{slug}/{below}.well-known/agent-card.json");
    let origin = format!("http://127.0.0.1:{}", platform.application().port());
    let host = platform.application().dealer().addresses().origin.host().to_owned();
    let reply = Wire::to(&origin).send("GET", &target, &[("host", &host)], b"").await;
    match reply.status {
        200 => Some(reply.json()),
        404 => None,
        other => panic!("{target}: {other}"),
    }
}

async fn page_at(platform: &Platform, path: &str) -> String {
    let origin = format!("http://127.0.0.1:{}", platform.application().port());
    let host = platform.application().dealer().addresses().origin.host().to_owned();
    let reply = Wire::to(&origin).send("GET", path, &[("host", &host)], b"").await;
    assert_eq!(reply.status, 200, "{path}");
    String::from_utf8(reply.body).unwrap()
}

async fn public(serve_draft: bool) -> Platform {
    let public_origin = Some(Origin::parse("https://dealers.example").expect("an origin"));
    let settings = Settings { public_origin, serve_draft, ..Settings::default() };
    Platform::start_with(Options { settings, database: None }).await
}

async fn outcome(platform: &Platform, body: Value) -> Result<&'static str, Vec<String>> {
    let mut outcomes = platform.try_provision(&json!({"harbor": body})).await;
    platform.catch_up().await;
    outcomes.remove(0).1
}

#[tokio::test]
async fn each_contract_has_a_card_that_its_schema_accepts() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    // Public, and asking for credentials in every way.
    let oauth = json!({"issuer": "https://id.example/", "audience": "a", "jwks_uri": "https://id.example/keys",
        "token_url": "https://id.example/token"});
    for callers in [json!(null), json!({"accept": ["keys", "oauth"], "oauth": oauth})] {
        let policy = json!({"search": {"filters": ["make"]}});
        outcome(&platform, json!({"callers": callers, "policy": policy})).await.unwrap();
        let mut ids = Vec::new();
        for spec in CONTRACTS {
            let version = spec.version;
            let card = card_at(&platform, "harbor", version.as_str()).await.expect("a card");
            let contract = Contract::load(version).unwrap();
            contract.check("agent-card.schema.json", &card).unwrap_or_else(|e| panic!("{version}: {e:?}"));
            let extensions = card["capabilities"]["extensions"].as_array().unwrap();
            assert_eq!(extensions.len(), 1, "one card, one contract");
            assert_eq!(extensions[0]["uri"], spec.extension_uri);
            let required = extensions[0].get("required");
            let wanted = if version == ContractVersion::V1_3 { None } else { Some(&json!(true)) };
            assert_eq!(required, wanted, "{version}");
            let params = &extensions[0]["params"];
            assert_eq!(params["version"], spec.full_version);
            assert_eq!(params["schema_base_url"], spec.schema_base);
            let schema = &params["skills"]["inventory.vehicle"]["request_schema"];
            assert_eq!(schema, &json!(format!("{}vehicle-detail-request.schema.json", spec.schema_base)));
            assert_eq!(params.get("search").is_some(), version == ContractVersion::V3_0, "{version}");
            let url = card["supportedInterfaces"][0]["url"].as_str().unwrap();
            assert_eq!(url, format!("{}/t/harbor/{version}/a2a", platform.origin));
            for modes in ["defaultInputModes", "defaultOutputModes"] {
                let plain = card[modes].as_array().unwrap().contains(&json!("application/json"));
                assert_eq!(plain, version == ContractVersion::V1_3, "{version} {modes}");
            }
            ids.push(id_of(&card));
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3, "each card has an id of its own");
    }
    platform.stop().await;
}

#[tokio::test]
async fn a_dealer_moves_from_one_contract_to_another_with_a_switch_and_both_are_served_meanwhile() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    for (body, default, published) in [
        (json!({"contracts": ["v1.3"], "default_contract": "v1.3"}), "v1.3", &["v1.3"][..]),
        (json!({"contracts": ["v1.3", "v3.0"]}), "v1.3", &["v1.3", "v3.0"]),
        (json!({"default_contract": "v3.0"}), "v3.0", &["v1.3", "v3.0"]),
        (json!({"contracts": ["v3.0"]}), "v3.0", &["v3.0"]),
        (json!({"contracts": null, "default_contract": "latest"}), "latest", &["v1.3", "latest", "v3.0"]),
    ] {
        let before = card_at(&platform, "harbor", "v3.0").await;
        assert_eq!(outcome(&platform, body.clone()).await, Ok("updated"), "{body}");
        for spec in CONTRACTS {
            let name = spec.version.as_str();
            let is_published = published.contains(&name);
            assert_eq!(card_at(&platform, "harbor", name).await.is_some(), is_published, "{name} {body}");
            let asked =
                platform.ask_in(spec.version, "harbor", json!({"type": "dealer.information.request"}));
            let status = asked.response().await.status().as_u16();
            assert_eq!(status, if is_published { 200 } else { 404 }, "{name} {body}");
        }
        let bare = card_at(&platform, "harbor", "").await;
        assert_eq!(bare, card_at(&platform, "harbor", default).await, "{body}");
        // What was published before and still is has not changed by it.
        let after = card_at(&platform, "harbor", "v3.0").await;
        assert!(before.is_none() || after.is_none() || before == after, "{body}");
        // People are told.
        let page = page_at(&platform, "/t/harbor/").await;
        assert!(page.contains(&format!("{default} (default)")), "{page}");
        let list = page_at(&platform, "/").await;
        let others: String =
            published.iter().filter(|name| **name != default).map(|name| format!(", {name}")).collect();
        assert!(list.contains(&format!("<b>{default}</b>{others}</td>")), "{list}");
    }
    platform.stop().await;
}

#[tokio::test]
async fn the_draft_is_refused_at_a_public_origin_in_clear_words() {
    let platform = public(false).await;
    let document = dealer_document("Harbor", json!([]));
    assert_eq!(outcome(&platform, document.clone()).await, Ok("created"));
    assert!(card_at(&platform, "harbor", "v1.3").await.is_some());
    assert!(card_at(&platform, "harbor", "v3.0").await.is_some());
    assert!(card_at(&platform, "harbor", "latest").await.is_none());
    for (body, place) in [
        (json!({"contracts": ["v3.0", "latest"]}), "/tenants/harbor/contracts/1: "),
        (json!({"contracts": ["latest"], "default_contract": "latest"}), "/tenants/harbor/contracts/0: "),
        (json!({"default_contract": "latest"}), "/tenants/harbor/default_contract: "),
    ] {
        let problems = outcome(&platform, body.clone()).await.unwrap_err();
        assert_eq!(problems.len(), 1, "{body}: {problems:?}");
        assert!(problems[0].starts_with(place), "{body}: {problems:?}");
        assert!(place.contains("default") || problems[0].contains("--serve-draft"), "{problems:?}");
    }
    // Nor does the address that all dealers share tell its identifiers.
    let origin = format!("http://127.0.0.1:{}", platform.application().port());
    let headers = [("host", "dealers.example"), ("content-type", "application/json"), ("a2a-version", "1.0")];
    for (path, status) in [("/latest/a2a", 404), ("/v1.3/a2a", 200), ("/v3.0/a2a", 200)] {
        let body = br#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}"#;
        let reply = Wire::to(&origin).send("POST", path, &headers, body).await;
        assert_eq!(reply.status, status, "{path}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("draft.autoagentprotocol"), "{path}");
    }
    platform.stop().await;
}

#[tokio::test]
async fn the_draft_is_served_at_a_public_origin_by_name_alone() {
    let platform = public(true).await;
    // The operator allows it, and a dealer has to ask for it.
    assert_eq!(outcome(&platform, dealer_document("Harbor", json!([]))).await, Ok("created"));
    assert!(card_at(&platform, "harbor", "latest").await.is_none());
    assert_eq!(outcome(&platform, json!({"contracts": ["v3.0", "latest"]})).await, Ok("updated"));
    let card = card_at(&platform, "harbor", "latest").await.expect("a card");
    Contract::load(ContractVersion::Latest).unwrap().check("agent-card.schema.json", &card).unwrap();

    // The operator thinks better of it: the card is gone with the next start.
    let public_origin = Some(Origin::parse("https://dealers.example").expect("an origin"));
    let settings = Settings { public_origin, ..Settings::default() };
    let database = Some(platform.database.clone());
    platform.stop().await;
    let platform = Platform::start_with(Options { settings, database }).await;
    assert!(card_at(&platform, "harbor", "latest").await.is_none());
    assert!(card_at(&platform, "harbor", "v3.0").await.is_some());
    platform.stop().await;
}

#[tokio::test]
async fn a_domain_of_the_dealers_own_is_public_on_any_platform() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    assert!(card_at(&platform, "harbor", "latest").await.is_some());
    let at_domain = async |path: &str| {
        let origin = format!("http://127.0.0.1:{}", platform.application().port());
        Wire::to(&origin).send("GET", path, &[("host", "agent.harbor.example")], b"").await.status
    };
    let card = "/latest/.well-known/agent-card.json";
    // Named or not, behind a public name or as the second of several.
    assert_eq!(outcome(&platform, json!({"domains": ["agent.harbor.example"]})).await, Ok("updated"));
    assert!(card_at(&platform, "harbor", "latest").await.is_none());
    assert_eq!(at_domain(card).await, 404);
    assert_eq!(at_domain("/v1.3/.well-known/agent-card.json").await, 200);
    let asked =
        platform.ask_in(ContractVersion::Latest, "harbor", json!({"type": "dealer.information.request"}));
    assert_eq!(asked.response().await.status(), 404);
    let problems = outcome(&platform, json!({"contracts": ["v3.0", "latest"]})).await.unwrap_err();
    assert!(problems[0].starts_with("/tenants/harbor/contracts/1: "), "{problems:?}");
    assert!(problems[0].contains("agent.harbor.example"), "{problems:?}");
    let problems = outcome(&platform, json!({"default_contract": "latest"})).await.unwrap_err();
    assert!(problems[0].starts_with("/tenants/harbor/default_contract: "), "{problems:?}");
    // Given up again, it is a dealer of this machine; then a domain cannot be had beside the draft as the default.
    let body = json!({"domains": [], "default_contract": "latest"});
    assert_eq!(outcome(&platform, body).await, Ok("updated"));
    assert!(card_at(&platform, "harbor", "").await.is_some());
    let body = json!({"domains": ["harbor.localhost", "agent.harbor.example"]});
    let problems = outcome(&platform, body).await.unwrap_err();
    assert!(problems.iter().any(|one| one.starts_with("/tenants/harbor/default_contract: ")), "{problems:?}");
    platform.stop().await;
}

#[tokio::test]
async fn a_default_that_is_not_served_is_not_shown_as_if_it_were() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    assert_eq!(outcome(&platform, json!({"default_contract": "latest"})).await, Ok("updated"));
    let database = Some(platform.database.clone());
    platform.stop().await;
    // The same database behind a public origin.
    let public_origin = Some(Origin::parse("https://dealers.example").expect("an origin"));
    let settings = Settings { public_origin, ..Settings::default() };
    let platform = Platform::start_with(Options { settings, database }).await;
    assert!(card_at(&platform, "harbor", "").await.is_none());
    let list = page_at(&platform, "/").await;
    let base = "https://dealers.example/t/harbor/";
    assert!(list.contains("<td>v1.3, v3.0; the default, latest, is not served here</td>"), "{list}");
    assert!(list.contains(&format!("<a href=\"{base}v3.0/.well-known/agent-card.json\">")), "{list}");
    // Nothing there leads to what is not: neither a link nor a command to try.
    assert!(!list.contains(&format!("href=\"{base}\"")), "{list}");
    assert!(!list.contains(&format!("{base}.well-known")) && !list.contains("Try it"), "{list}");
    assert!(card_at(&platform, "harbor", "v1.3").await.is_some());
    platform.stop().await;
}
