//! Several provisions at once, of the same dealer and of dealers that want the same.

use std::collections::HashSet;

use serde_json::{Value, json};
use sqlx::Row;
use testkit::{Platform, cluster, dealer_document};

use super::{is_consistent, provision_one};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_bring_in_the_same_new_dealer_make_one_with_what_both_said() {
    let platform = Platform::start().await;
    for round in 0..12 {
        let slug = format!("new-{round}");
        let with = |member: &str, value: Value| {
            let mut body = json!({"name": "New", "rooftops": [{"name": "One"}]});
            body[member] = value;
            body
        };
        let domain = format!("agent.new-{round}.example");
        let (a, b, c, d) = tokio::join!(
            provision_one(&platform, &slug, with("welcome_message", json!("Hello"))),
            provision_one(&platform, &slug, with("domains", json!([domain]))),
            provision_one(&platform, &slug, with("interface_tenant", json!("key"))),
            provision_one(&platform, &slug, with("policy", json!({"default_limit": 3})))
        );
        let outcomes = [a, b, c, d].map(|outcome| outcome.expect("no problem"));
        assert_eq!(outcomes.iter().filter(|one| **one == "created").count(), 1, "{outcomes:?}");
        platform.catch_up().await;
        let ask = |data: Value| platform.ask(&slug, data).with("/params/tenant", json!("key"));
        let information = ask(json!({"type": "dealer.information.request"})).result().await;
        assert_eq!(information["welcome_message"], "Hello");
        assert_eq!(ask(json!({"type": "inventory.search.request"})).result().await["limit"], 3);
        let card = platform.card(&slug).await;
        let interface = &card["supportedInterfaces"][0];
        assert_eq!(interface["url"], format!("https://{domain}/v3.0/a2a"));
        assert_eq!(interface["tenant"], "key");
        is_consistent(&platform, &[&slug]).await;
    }
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_one_dealer_at_once_all_count_and_the_card_shows_what_is_stored() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    for round in 0..15 {
        let domains: Vec<String> = (0..=round % 3).map(|n| format!("d{n}-{round}.example")).collect();
        let (a, b, c) = tokio::join!(
            provision_one(&platform, "harbor", json!({"name": format!("Harbor {round}")})),
            provision_one(&platform, "harbor", json!({"domains": domains})),
            provision_one(
                &platform,
                "harbor",
                json!({"rooftops": [{"name": "One", "address": {"city": format!("City {round}")}}]})
            )
        );
        for outcome in [a, b, c] {
            assert_eq!(outcome, Ok("updated"));
        }
        platform.catch_up().await;
        let card = platform.card("harbor").await;
        assert_eq!(card["name"], format!("Harbor {round}"));
        assert!(card["description"].as_str().unwrap().contains(&format!("City {round}")), "{card}");
        assert_eq!(card["supportedInterfaces"][0]["url"], format!("https://{}/v3.0/a2a", domains[0]));
        is_consistent(&platform, &["harbor"]).await;
    }
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_domain_that_several_want_at_once_goes_to_one_of_them() {
    let platform = Platform::start().await;
    let slugs = ["a", "b", "c"];
    for slug in slugs {
        platform.provision(&json!({slug: {"name": slug, "rooftops": [{"name": "One"}]}})).await;
    }
    let mut admin = cluster().superuser(&platform.database).await;
    for round in 0..6 {
        // All want the same ones, in different orders: a lock taken in the order of the list would deadlock.
        let names =
            |order: [usize; 3]| json!({"domains": order.map(|n| format!("d{n}-{}.example", round / 2))});
        let (a, b, c) = tokio::join!(
            provision_one(&platform, "a", names([0, 1, 2])),
            provision_one(&platform, "b", names([2, 1, 0])),
            provision_one(&platform, "c", names([1, 0, 2]))
        );
        let won = [&a, &b, &c].iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(won, 1, "{a:?} {b:?} {c:?}");
        for outcome in [a, b, c] {
            if let Err(problems) = outcome {
                assert!(
                    problems.iter().all(|problem| problem.contains("belongs to another dealer")),
                    "{problems:?}"
                );
            }
        }
        // Then two swap what they have: each may get what it wants or not, but nothing is torn.
        let (x, y) = (format!("x-{round}.example"), format!("y-{round}.example"));
        platform.provision(&json!({"a": {"domains": [x]}})).await;
        platform.provision(&json!({"b": {"domains": [y]}})).await;
        let (_, _) = tokio::join!(
            provision_one(&platform, "a", json!({"domains": [y]})),
            provision_one(&platform, "b", json!({"domains": [x]}))
        );
        let rows =
            sqlx::query("select domain from tenant_domains where domain like 'x-%' or domain like 'y-%'")
                .fetch_all(&mut admin)
                .await
                .expect("domains");
        let owned: HashSet<String> = rows.iter().map(|row| row.get("domain")).collect();
        assert!(owned.len() <= 2, "{owned:?}");
        is_consistent(&platform, &slugs).await;
        for slug in slugs {
            platform.provision(&json!({slug: {"domains": []}})).await;
        }
    }
    platform.stop().await;
}

/// Four dealers are written at a time, so the giver may come after the taker, wherever they stand.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_domain_moves_within_one_document_whichever_dealer_is_written_first() {
    let platform = Platform::start().await;
    let slugs = ["a", "b", "c", "d"];
    for slug in slugs {
        platform.provision(&json!({slug: {"name": slug, "rooftops": [{"name": "One"}]}})).await;
    }
    platform
        .provision(&json!({"a": {"domains": ["one.example"]}, "b": {"domains": ["two.example"]},
        "c": {"domains": ["three.example"]}}))
        .await;
    // Each takes over from the one before; the first goes without.
    for round in 0..8 {
        let turn = |n: usize| slugs[(n + round) % 4];
        let outcomes = platform
            .try_provision(&json!({
                turn(3): {"domains": ["three.example"]}, turn(2): {"domains": ["two.example"]},
                turn(1): {"domains": ["one.example"]}, turn(0): {"domains": []},
            }))
            .await;
        assert_eq!(outcomes.len(), 4, "each is told of once: {outcomes:?}");
        assert!(outcomes.iter().all(|(_, outcome)| *outcome == Ok("updated")), "{outcomes:?}");
    }
    // What stays with a dealer that does not give it up is named, once.
    let outcomes = platform
        .try_provision(&json!({"a": {"domains": ["one.example"]}, "b": {"domains": ["one.example"]}}))
        .await;
    assert_eq!(outcomes.len(), 2, "{outcomes:?}");
    assert!(outcomes.iter().filter(|(_, outcome)| outcome.is_err()).count() >= 1, "{outcomes:?}");
    is_consistent(&platform, &slugs).await;
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_lots_of_one_dealer_at_once_never_mix() {
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([]))).await;
    let lot = |name: &str, units: usize| -> Value {
        let unit = |n: usize| json!({"vehicle_id": format!("{name}-{n}"), "status": "available", "make": name, "stock": n.to_string()});
        json!({"inventory": (0..units).map(unit).collect::<Vec<_>>()})
    };
    for round in 0..10 {
        let (a, b) = tokio::join!(
            provision_one(&platform, "harbor", lot("Red", 20 + round)),
            provision_one(&platform, "harbor", lot("Blue", 40 + round))
        );
        assert_eq!((a, b), (Ok("updated"), Ok("updated")));
        platform.catch_up().await;
        let found = platform
            .call("harbor", json!({"type": "inventory.search.request", "pagination": {"limit": 100}}))
            .await;
        let makes: HashSet<&str> =
            found["vehicles"].as_array().unwrap().iter().map(|v| v["make"].as_str().unwrap()).collect();
        let expected = if makes.contains("Red") { 20 + round } else { 40 + round };
        assert_eq!((makes.len(), &found["total"]), (1, &json!(expected)), "{makes:?}");
    }
    platform.stop().await;
}
