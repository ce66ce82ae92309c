//! What lots in memory cost, and that answers stay right where there is not enough of it.

use std::time::{Duration, Instant};

use dealer::{Figures, LotCounts};
use serde_json::{Value, json};
use server::settings::Settings;
use testkit::{Options, Platform, car, cluster};

use crate::ground::search;

const KIB: u64 = 1024;

fn dealer_of(units: usize, price: i64) -> Value {
    let stock: Vec<_> =
        (0..units).map(|i| car(&format!("u{i}"), "Honda", "Civic", price + i as i64)).collect();
    json!({"name": "Memory", "rooftops": [{"name": "Main"}], "inventory": stock})
}

async fn platform(cache_bytes: u64) -> Platform {
    let settings = Settings { cache_bytes, ..Settings::default() };
    Platform::start_with(Options { settings, ..Options::default() }).await
}

fn figures(platform: &Platform) -> Figures {
    platform.application().dealer().figures()
}

fn counts(platform: &Platform) -> LotCounts {
    figures(platform).counts
}

async fn total(platform: &Platform, slug: &str) -> u64 {
    platform.call(slug, search()).await["total"].as_u64().unwrap()
}

async fn until(what: &str, limit: Duration, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < limit, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lots_that_do_not_fit_give_way_and_every_answer_stays_right() {
    let budget = 1024 * KIB;
    let platform = platform(budget).await;
    let dealers: Vec<(String, usize)> = (0..24).map(|i| (format!("d{i}"), 150 + i)).collect();
    let document: serde_json::Map<_, _> =
        dealers.iter().map(|(slug, units)| (slug.clone(), dealer_of(*units, 10_000))).collect();
    platform.provision(&Value::Object(document)).await;
    for round in 0..12 {
        let asked = dealers.iter().map(|(slug, units)| {
            let platform = &platform;
            async move { assert_eq!(total(platform, slug).await, *units as u64, "{slug} in round {round}") }
        });
        futures_util::future::join_all(asked).await;
    }
    let after = figures(&platform);
    let all = after.counts.loads;
    assert!(all > 24, "everything fitted: {after:?}");
    assert!(after.counts.evictions + after.counts.refused_room > 0, "{after:?}");
    assert_eq!((after.counts.failures, after.counts.refused_busy), (0, 0), "{after:?}");
    // The cache settles a moment after the last question.
    until("the budget is kept", Duration::from_secs(5), async || {
        total(&platform, "d1").await;
        let now = figures(&platform);
        now.lot_budget == budget && now.lot_bytes + now.lot_bytes / 4 <= budget
    })
    .await;
    // One that is asked again and again finds a place whatever the others do.
    for _ in 0..20 {
        total(&platform, "d7").await;
    }
    let before = counts(&platform).loads;
    for _ in 0..20 {
        total(&platform, "d7").await;
    }
    assert_eq!(counts(&platform).loads, before);
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lot_larger_than_the_memory_costs_only_its_own_buyers() {
    let platform = platform(1024 * KIB).await;
    let small: Vec<String> = (0..4).map(|i| format!("small{i}")).collect();
    for slug in &small {
        platform.provision(&json!({ slug.as_str(): dealer_of(30, 9_000) })).await;
    }
    platform.provision(&json!({"huge": dealer_of(4_000, 1_000)})).await;
    for slug in &small {
        assert_eq!(total(&platform, slug).await, 30);
    }
    let before = counts(&platform);
    for _ in 0..5 {
        assert_eq!(total(&platform, "huge").await, 4_000);
        for slug in &small {
            assert_eq!(total(&platform, slug).await, 30);
        }
    }
    let after = counts(&platform);
    assert!(after.refused_large > before.refused_large, "{after:?}");
    let loads = after.loads - before.loads;
    assert!((1..=5).contains(&loads), "the small ones were read again: {loads}");
    // Many that want it at once share one reading.
    let asked = (0..30).map(|_| total(&platform, "huge"));
    assert!(futures_util::future::join_all(asked).await.iter().all(|total| *total == 4_000));
    assert!(counts(&platform).loads - after.loads < 15, "{:?}", counts(&platform));
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_process_has_the_lots_that_are_asked_most_before_it_is_ready() {
    let first = platform(64 * 1024 * KIB).await;
    for slug in ["hot", "warm", "cold", "shut"] {
        first.provision(&json!({ slug: dealer_of(20, 5_000) })).await;
    }
    for (slug, times) in [("hot", 30), ("warm", 3), ("shut", 40)] {
        for _ in 0..times {
            assert_eq!(total(&first, slug).await, 20);
        }
    }
    first.provision(&json!({"shut": {"state": "suspended"}})).await;
    let database = first.database.clone();
    first.stop().await;

    let again =
        Platform::start_with(Options { database: Some(database.clone()), ..Options::default() }).await;
    let ready = figures(&again);
    assert_eq!((ready.lots, ready.counts.loads), (2, 2), "the hot and the warm one: {ready:?}");
    assert_eq!((total(&again, "hot").await, total(&again, "warm").await), (20, 20));
    assert_eq!(counts(&again).loads, 2, "nothing was read for them");
    assert_eq!(total(&again, "cold").await, 20);
    again.stop().await;

    // And none where the operator wants none.
    let settings = Settings { warm_up: Duration::ZERO, ..Settings::default() };
    let eager = Platform::start_with(Options { settings, database: Some(database) }).await;
    assert_eq!(counts(&eager).loads, 0);
    assert_eq!(total(&eager, "hot").await, 20);
    eager.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_read_and_not_the_whole_lot() {
    let platform = platform(64 * 1024 * KIB).await;
    platform.provision(&json!({"harbor": dealer_of(60, 20_000)})).await;
    assert_eq!(total(&platform, "harbor").await, 60);
    let before = counts(&platform);
    let mut document = dealer_of(61, 20_000);
    for round in 1..=3 {
        document["inventory"][5]["price"] = json!(100 + round);
        platform.provision(&json!({"harbor": document})).await;
        let mut cheapest = search();
        cheapest["sort"] = json!({"field": "price", "order": "asc"});
        let page = platform.call("harbor", cheapest).await;
        assert_eq!(
            (page["vehicles"][0]["price"].as_i64(), page["total"].as_u64()),
            (Some(100 + round), Some(61))
        );
    }
    let after = counts(&platform);
    assert_eq!(after.loads, before.loads, "{after:?}");
    assert!(after.refreshes > before.refreshes && after.failures == 0, "{after:?}");
    assert_eq!((figures(&platform).lots_behind, figures(&platform).most_behind), (0, Duration::ZERO));
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_cannot_be_read_is_not_passed_over_for_longer_than_the_age_limit() {
    let settings = Settings { max_age: Duration::from_secs(2), ..Settings::default() };
    let platform = Platform::start_with(Options { settings, ..Options::default() }).await;
    for slug in ["harbor", "meadow"] {
        platform.provision(&json!({ slug: dealer_of(3, 20_000) })).await;
        assert_eq!(total(&platform, slug).await, 3);
    }
    let mut admin = cluster().superuser(&platform.database).await;
    let mut run = async |sql: &'static str| {
        sqlx::raw_sql(sql).execute(&mut admin).await.expect(sql);
    };
    run("revoke select on vehicles from forecourt_app").await;
    run("begin;
         update vehicles set row_version = row_version + 1 where tenant_id = (select tenant_id from tenants where slug = 'harbor');
         update tenant_inventory set version = version + 1 where tenant_id = (select tenant_id from tenants where slug = 'harbor');
         commit")
    .await;
    until("the dealer whose lot changed is refused", Duration::from_secs(10), async || {
        let answer = platform.ask("harbor", search()).send().await;
        answer["error"].to_string().contains("INTERNAL_ERROR")
    })
    .await;
    assert_eq!(figures(&platform).lots_behind, 1);
    assert!(figures(&platform).most_behind >= Duration::from_secs(2));
    assert_eq!(total(&platform, "meadow").await, 3, "nobody else is concerned");
    run("grant select on vehicles to forecourt_app").await;
    until("it is answered for again", Duration::from_secs(10), async || {
        platform.ask("harbor", search()).send().await["result"].is_object()
    })
    .await;
    assert_eq!(figures(&platform).lots_behind, 0);
    platform.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_say_their_version_of_the_lot_and_one_may_be_asked_for() {
    let platform = platform(64 * 1024 * KIB).await;
    platform.provision(&json!({"harbor": dealer_of(3, 20_000)})).await;
    let version = async |data: Value, wanted: Option<&str>| {
        let asking = platform.ask("harbor", data).header("forecourt-min-version", wanted);
        let response = asking.response().await;
        let said =
            response.headers().get("forecourt-inventory-version").map(|v| v.to_str().unwrap().to_owned());
        (said, response.json::<Value>().await.unwrap())
    };
    for kind in ["inventory.search", "inventory.facets"] {
        let (said, answer) = version(json!({"type": format!("{kind}.request")}), None).await;
        assert_eq!(said.as_deref(), Some("1"), "{answer}");
    }
    let vehicle = json!({"type": "inventory.vehicle.request", "vehicle_id": "u1"});
    assert_eq!(version(vehicle, Some("1")).await.0.as_deref(), Some("1"));
    let (said, answer) = version(json!({"type": "dealer.information.request"}), None).await;
    assert!(said.is_none() && answer["result"].is_object(), "{answer}");

    for wrong in ["", "-1", "1.0", "x", "99999999999999999999999"] {
        let (said, answer) = version(search(), Some(wrong)).await;
        assert_eq!((answer["error"]["code"].as_i64(), said), (Some(-32600), None), "{wrong:?}: {answer}");
    }
    let began = Instant::now();
    let (said, answer) = version(search(), Some("7")).await;
    let error = testkit::aap_error(&answer["error"]).expect("an AAP error");
    assert_eq!((&error["code"], &error["retryable"], said), (&json!("INTERNAL_ERROR"), &json!(true), None));
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(total(&platform, "harbor").await, 3, "others are answered as ever");
    platform.stop().await;
}
