//! One dealer, three contracts: the same dealer at three addresses.

use contract::ContractVersion::{Latest, V1_3, V3_0};
use serde_json::{Value, json};
use testkit::data_of;

use super::{ALL, ask, uri};
use crate::ground::{ground, information, search};

#[tokio::test]
async fn three_versions_give_the_same_facts_at_once() {
    let platform = ground().await;
    let requests = [
        information(),
        json!({"type": "inventory.facets.request"}),
        json!({"type": "inventory.facets.request", "filters": {"make": ["Honda"]}}),
        json!({"type": "inventory.vehicle.request", "vin": "2HKRW2H80PH600101"}),
    ];
    for request in requests {
        let asked = ALL.map(|version| platform.ask_in(version, "harbor", request.clone()));
        let (a, b, c) = tokio::join!(asked[0].send(), asked[1].send(), asked[2].send());
        assert_eq!(data_of(&a), data_of(&b), "{request}");
        assert_eq!(data_of(&b), data_of(&c), "{request}");
        let types =
            [&a, &b, &c].map(|answer| answer.pointer("/result/message/parts/0/mediaType").unwrap().clone());
        assert!(types.iter().all(|media_type| *media_type == types[0]));
    }
    let searched = ALL.map(|version| platform.ask_in(version, "harbor", search()));
    let (a, b, c) = tokio::join!(searched[0].result(), searched[1].result(), searched[2].result());
    assert_eq!((&a["vehicles"], &a["total"]), (&b["vehicles"], &b["total"]));
    assert_eq!((&b["vehicles"], &b["total"]), (&c["vehicles"], &c["total"]));
}

#[tokio::test]
async fn each_version_has_its_own_card_that_leads_to_it() {
    let platform = ground().await;
    for version in ALL {
        let url = format!("{}{version}/.well-known/agent-card.json", platform.base("harbor"));
        let card: Value = platform.http.get(&url).send().await.unwrap().json().await.unwrap();
        contract::Contract::load(version).unwrap().check("agent-card.schema.json", &card).unwrap();
        let extensions = card["capabilities"]["extensions"].as_array().unwrap();
        let named: Vec<_> = extensions.iter().map(|extension| extension["uri"].as_str().unwrap()).collect();
        assert_eq!(named, [uri(version)]);
        let interface = card["supportedInterfaces"][0]["url"].as_str().unwrap();
        assert!(interface.ends_with(&format!("/{version}/a2a")), "{interface}");
        let mut asking = ask(version, information()).await;
        asking.url = interface.to_owned();
        assert_eq!(asking.result().await["name"], "Harbor City");
    }
}

#[tokio::test]
async fn the_contract_is_that_of_the_address_and_never_that_of_the_payload() {
    // Asked with the headers of another version.
    for (at, headers) in [(V3_0, V1_3), (Latest, V3_0), (V3_0, Latest)] {
        let mut asking = ask(headers, information()).await;
        asking.url = asking.url.replace(&format!("/{headers}/"), &format!("/{at}/"));
        assert_eq!(asking.error().await["code"], -32008, "{at} with the headers of {headers}");
    }
    let mut asking = ask(V3_0, json!({"type": "inventory.search.request", "pagination": {"skip": 0}})).await;
    asking.url = asking.url.replace("/v3.0/", "/v1.3/");
    assert_eq!(asking.result().await["skip"], 0);
    // A cursor of v3.0 is a stranger elsewhere, and no member of the older ones.
    let first = ask(V3_0, json!({"type": "inventory.search.request", "pagination": {"limit": 1}}))
        .await
        .result()
        .await;
    let with_cursor = json!({"type": "inventory.search.request", "pagination": {"limit": 1, "cursor": first["next_cursor"]}});
    assert_eq!(ask(V1_3, with_cursor).await.error().await["code"], -32602);
}

#[tokio::test]
async fn a_version_that_a_dealer_does_not_publish_is_not_there() {
    let dealer = |contracts: Value, default: &str| json!({"name": "Few", "rooftops": [{"name": "R"}], "inventory": [], "contracts": contracts, "default_contract": default});
    let dealers = json!({
        "only-old": dealer(json!(["v1.3"]), "v1.3"),
        "old-and-new": dealer(json!(["v1.3", "v3.0"]), "v1.3"),
    });
    let platform = crate::ground::settle(dealers).await;
    for (slug, published) in [("only-old", &[V1_3][..]), ("old-and-new", &[V1_3, V3_0])] {
        for version in ALL {
            let response = platform.ask_in(version, slug, information()).response().await;
            let expected = if published.contains(&version) { 200 } else { 404 };
            assert_eq!(response.status(), expected, "{slug} {version}");
            let url = format!("{}{version}/.well-known/agent-card.json", platform.base(slug));
            assert_eq!(platform.http.get(url).send().await.unwrap().status(), expected, "{slug} {version}");
        }
        // Without a version: the default one, and its rules.
        let mut asking = platform.ask_in(V1_3, slug, search());
        asking.url = format!("{}a2a", platform.base(slug));
        let asking = asking.header("a2a-extensions", None).header("a2a-version", None);
        assert_eq!(asking.result().await["skip"], 0, "{slug}");
    }
}
