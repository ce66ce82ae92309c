//! What is on a card, and what is not.

use std::collections::HashSet;

use serde_json::{Value, json};
use testkit::{Platform, car, dealer_document};
use uuid::Uuid;

use super::{Seen, look};

/// Changes of a dealer, one after the other, that its card shows.
fn shown() -> Vec<(&'static str, Value)> {
    let rooftop =
        |city: &str, state: &str| json!([{"name": "Harbor Main", "address": {"city": city, "state": state}}]);
    let search = |search: Value| json!({"search": search});
    vec![
        ("name", json!("Harbor II")),
        ("name", json!("Harbor")),
        ("rooftops", rooftop("Long Beach", "CA")),
        ("rooftops", rooftop("Long Beach", "NY")),
        ("rooftops", json!([{"name": "Harbor Main"}])),
        ("skills", json!(["inventory.search"])),
        ("skills", json!(["inventory.search", "dealer.information"])),
        ("skills", Value::Null),
        ("interface_tenant", json!("harbor-key")),
        ("interface_tenant", json!("other-key")),
        ("interface_tenant", Value::Null),
        ("policy", search(json!({"filters": ["make", "price_max"]}))),
        ("policy", search(json!({"filters": ["price_max", "make"]}))),
        ("policy", search(json!({"filters": ["make"], "sort_fields": ["price"]}))),
        ("policy", search(json!({"filters": ["make"], "sort_fields": ["price", "year"]}))),
        ("policy", search(json!({"feature_codes": ["tow"]}))),
        ("policy", search(json!({"feature_codes": ["tow", "abs"]}))),
        ("policy", Value::Null),
        ("domains", json!(["agent.harbor.example"])),
        ("domains", json!(["www.harbor.example", "agent.harbor.example"])),
        ("domains", json!(["agent.harbor.example", "www.harbor.example"])),
        ("domains", json!([])),
    ]
}

/// Changes that it does not show.
fn not_shown() -> Vec<(&'static str, Value)> {
    let rooftop = |more: Value| {
        let mut rooftop = json!({"name": "Harbor Main", "address": {"city": "Harbor City", "state": "CA"},
            "timezone": "America/Los_Angeles"});
        rooftop.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rooftop
    };
    vec![
        ("inventory", json!([car("a", "Honda", "CR-V", 29_000), car("b", "Ford", "F-150", 61_200)])),
        ("inventory", json!([car("b", "Ford", "F-150", 59_000)])),
        ("inventory", json!([])),
        ("sold", json!([{"vehicle_id": "c", "stock": "S-c"}])),
        ("dealer_id", json!("another-id")),
        ("policy", json!({"rate_limit": {"requests": 100, "per_seconds": 1}})),
        ("policy", json!({"default_limit": 5, "max_limit": 10})),
        ("policy", json!({"default_sort": {"field": "price", "order": "asc"}})),
        ("policy", json!({"appointments": "manual", "duplicate_hours": 1})),
        ("sandbox", json!(true)),
        ("welcome_message", json!("Come in")),
        (
            "rooftops",
            json!([rooftop(json!({"notes": "Behind the harbor", "phones": [{"value": "+13105550140"}]}))]),
        ),
        ("rooftops", json!([rooftop(json!({"holidays": [{"date": "2026-12-25"}]}))])),
        ("rooftops", json!([rooftop(json!({})), {"name": "Harbor Annex", "address": {"city": "Reno"}}])),
        ("rooftops", json!([rooftop(json!({"name": "Harbor Central"}))])),
        ("contracts", json!(["v3.0"])),
        ("default_contract", json!("v3.0")),
        (
            "skills",
            json!([
                "lead.submit",
                "inventory.vehicle",
                "inventory.search",
                "dealer.information",
                "inventory.facets"
            ]),
        ),
        (
            "skills",
            json!([
                "dealer.information",
                "inventory.facets",
                "inventory.search",
                "inventory.vehicle",
                "lead.submit"
            ]),
        ),
        ("state", json!("suspended")),
        ("state", json!("active")),
    ]
}

async fn change(platform: &Platform, member: &str, value: &Value) -> &'static str {
    let outcomes = platform.try_provision(&json!({"harbor": {member: value}})).await;
    let outcome = outcomes[0].1.clone();
    platform.catch_up().await;
    outcome.unwrap_or_else(|problems| panic!("{member} {value}: {problems:?}"))
}

fn without_id(seen: &Seen) -> Value {
    let mut card = seen.card.clone();
    card["capabilities"]["extensions"][0]["params"].as_object_mut().unwrap().remove("id");
    card
}

#[tokio::test]
async fn every_change_that_the_card_shows_gives_it_a_new_id() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    let mut before = look(&platform, "harbor").await;
    assert_eq!(before.history.len(), 1);
    let mut ids = HashSet::from([before.id.clone()]);
    for (member, value) in shown() {
        assert_eq!(change(&platform, member, &value).await, "updated", "{member} {value}");
        let after = look(&platform, "harbor").await;
        let what = format!("{member} {value}: {}", after.card);
        assert_ne!(without_id(&after), without_id(&before), "{what}");
        assert_eq!(Uuid::parse_str(&after.id).expect("a UUID").get_version_num(), 7, "{what}");
        assert!(ids.insert(after.id.clone()), "an id comes once, also when the content came before. {what}");
        assert!(after.id > before.id, "UUIDs of version 7 grow. {what}");
        assert_ne!(after.etag, before.etag, "{what}");
        // The history grew by one line, which says why; what was in it stays.
        assert_eq!(after.history[1..], before.history[..], "{what}");
        let newest = &after.history[0];
        assert_eq!(newest.number, before.history[0].number + 1, "{what}");
        assert_eq!((newest.cause.as_str(), newest.actor.as_str()), ("provision", "test"), "{what}");

        // A second time the same: nothing.
        assert_eq!(change(&platform, member, &value).await, "unchanged", "{what}");
        let again = look(&platform, "harbor").await;
        assert_eq!(again, after, "{what}");
        before = after;
    }
    // Every card that was ever served is still known.
    let stored: HashSet<String> = before.history.iter().map(|line| line.id.clone()).collect();
    assert_eq!(stored, ids);
    platform.stop().await;
}

#[tokio::test]
async fn no_other_change_touches_the_card() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    let before = look(&platform, "harbor").await;
    for (member, value) in not_shown() {
        change(&platform, member, &value).await;
        if value == "suspended" {
            continue;
        }
        assert_eq!(look(&platform, "harbor").await, before, "{member} {value}");
    }
    // Much at once, and a new lot with it.
    let mut document = dealer_document("Harbor", json!([car("z", "Kia", "EV6", 40_000)]));
    document["welcome_message"] = json!("Hello");
    platform.provision(&json!({"harbor": document})).await;
    assert_eq!(look(&platform, "harbor").await, before);
    platform.stop().await;
}

#[tokio::test]
async fn a_card_is_withdrawn_with_its_contract_and_goes_on_counting_when_it_comes_back() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    let before = look(&platform, "harbor").await;
    let moved = json!({"harbor": {"contracts": ["v1.3"], "default_contract": "v1.3"}});
    platform.provision(&moved).await;
    let url = format!("{}v3.0/.well-known/agent-card.json", platform.base("harbor"));
    assert_eq!(platform.http.get(&url).send().await.expect("an answer").status(), 404);
    platform.provision(&json!({"harbor": {"contracts": null, "default_contract": null}})).await;
    let after = look(&platform, "harbor").await;
    assert_eq!(without_id(&after), without_id(&before));
    assert_ne!(after.id, before.id, "it was away: agents that kept the old one must look again");
    assert_eq!(after.history[0].number, before.history[0].number + 1);
    platform.stop().await;
}
