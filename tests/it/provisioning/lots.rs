//! Inventory as the whole lot, sold units, absent members and null ones; and the same document twice.

use serde_json::{Value, json};
use sqlx::postgres::{PgListener, PgPoolOptions};
use testkit::{Platform, aap_error, car, cluster, dealer_document};

use super::{everything, is_consistent, provision_one};

/// `live`, `gone` or `unknown`: how a buyer is answered who asks for a unit.
async fn standing(platform: &Platform, key: &str, value: &str) -> &'static str {
    let answer =
        platform.ask("harbor", json!({"type": "inventory.vehicle.request", key: value})).send().await;
    let Some(error) = answer.get("error") else { return "live" };
    match aap_error(error).expect("an AAP error")["code"].as_str() {
        Some("VEHICLE_UNAVAILABLE") => "gone",
        Some("VEHICLE_NOT_FOUND") => "unknown",
        other => panic!("{other:?}"),
    }
}

async fn total(platform: &Platform) -> Value {
    platform.call("harbor", json!({"type": "inventory.search.request"})).await["total"].clone()
}

async fn change(platform: &Platform, body: Value) -> &'static str {
    let outcome = provision_one(platform, "harbor", body).await.expect("no problem");
    platform.catch_up().await;
    outcome
}

fn with_vin(id: &str, vin: &str) -> Value {
    let mut unit = car(id, "Honda", "CR-V", 29_000);
    unit["vin"] = vin.into();
    unit
}

const VIN_A: &str = "1HGCM82633A004352";
const VIN_B: &str = "4S4BTGUD5R3217409";

#[tokio::test]
async fn inventory_is_the_whole_lot_and_units_that_left_stay_known() {
    let (a, b) = (with_vin("a", VIN_A), with_vin("b", VIN_B));
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor", json!([a, b]))).await;
    assert_eq!(standing(&platform, "vehicle_id", "a").await, "live");

    // What is missing from the list is gone, by each of its names.
    assert_eq!(change(&platform, json!({"inventory": [b]})).await, "updated");
    for (key, value) in [("vehicle_id", "a"), ("vin", VIN_A), ("stock", "S-a")] {
        assert_eq!(standing(&platform, key, value).await, "gone", "{key}");
    }
    assert_eq!((standing(&platform, "vin", VIN_B).await, total(&platform).await), ("live", json!(1)));

    // It comes back, and is gone again when it is sold, although the document says nothing of the rest.
    assert_eq!(change(&platform, json!({"inventory": [a, b]})).await, "updated");
    assert_eq!(standing(&platform, "vin", VIN_A).await, "live");
    let sold = json!({"sold": [{"vehicle_id": "a"}]});
    assert_eq!(change(&platform, sold.clone()).await, "updated");
    // The document named the id alone; the other names are not forgotten.
    for (key, value) in [("vehicle_id", "a"), ("vin", VIN_A), ("stock", "S-a")] {
        assert_eq!(standing(&platform, key, value).await, "gone", "{key}");
    }
    assert_eq!((standing(&platform, "vehicle_id", "b").await, total(&platform).await), ("live", json!(1)));
    assert_eq!(change(&platform, sold).await, "unchanged");

    // By its VIN alone a sale finds the unit, whatever its id is.
    let sold = json!({"sold": [{"vin": VIN_B}]});
    assert_eq!(change(&platform, sold.clone()).await, "updated");
    assert_eq!((standing(&platform, "vehicle_id", "b").await, total(&platform).await), ("gone", json!(0)));
    assert_eq!(standing(&platform, "vin", VIN_B).await, "gone");
    assert_eq!(change(&platform, sold).await, "unchanged");

    // By a stock number that only one unit has, too; where several have it, none of them is taken.
    let twin = |id: &str| json!({"vehicle_id": id, "stock": "TWIN", "status": "available"});
    let lot = json!([{"vehicle_id": "lone", "stock": "LONE", "status": "available"}, twin("t1"), twin("t2")]);
    assert_eq!(change(&platform, json!({ "inventory": lot })).await, "updated");
    let sold = json!({"sold": [{"stock": "LONE"}, {"stock": "TWIN"}]});
    assert_eq!(change(&platform, sold.clone()).await, "updated");
    assert_eq!(standing(&platform, "vehicle_id", "lone").await, "gone");
    assert_eq!((standing(&platform, "stock", "TWIN").await, total(&platform).await), ("live", json!(2)));
    assert_eq!(change(&platform, sold).await, "unchanged");

    // Sold units that never stood here are known, others are not.
    assert_eq!(change(&platform, json!({"sold": [{"stock": "OLD-1"}]})).await, "updated");
    assert_eq!(standing(&platform, "stock", "OLD-1").await, "gone");
    assert_eq!(standing(&platform, "stock", "OLD-2").await, "unknown");

    // Absent: left alone. Empty: an empty lot. And back. Null is no way of saying either.
    assert_eq!(change(&platform, json!({"inventory": [a, b]})).await, "updated");
    assert_eq!(change(&platform, json!({"welcome_message": "Hi"})).await, "updated");
    assert_eq!(total(&platform).await, 2);
    let refused = platform.try_provision(&json!({"harbor": {"inventory": null}})).await;
    assert!(
        refused[0].1.as_ref().is_err_and(|problems| problems[0].starts_with("/tenants/harbor/inventory: "))
    );
    assert_eq!(total(&platform).await, 2);
    assert_eq!(change(&platform, json!({"inventory": []})).await, "updated");
    assert_eq!((total(&platform).await, standing(&platform, "vin", VIN_A).await), (json!(0), "gone"));
    assert_eq!(change(&platform, json!({"inventory": []})).await, "unchanged");
    assert_eq!(change(&platform, json!({"inventory": [b, a], "sold": null})).await, "updated");
    assert_eq!((total(&platform).await, standing(&platform, "vin", VIN_A).await), (json!(2), "live"));
    is_consistent(&platform, &["harbor"]).await;
    platform.stop().await;
}

#[tokio::test]
async fn absent_members_stay_and_null_ones_go_back_to_their_default() {
    let mut document = dealer_document("Harbor", json!([car("a", "Honda", "CR-V", 29_000)]));
    let more = json!({
        "welcome_message": "Come in", "sandbox": true, "interface_tenant": "key", "domains": ["agent.harbor.example"],
        "skills": ["inventory.search", "dealer.information"], "contracts": ["v3.0"],
        "policy": {"default_limit": 5}, "note": "for the reader", "state": "active", "default_contract": "v3.0",
    });
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let platform = Platform::with_dealer("harbor", document).await;
    assert_eq!(change(&platform, json!({})).await, "unchanged");
    let ask = |data: Value| platform.ask("harbor", data).with("/params/tenant", json!("key"));
    let information = ask(json!({"type": "dealer.information.request"})).result().await;
    assert_eq!(
        (&information["name"], &information["welcome_message"]),
        (&json!("Harbor"), &json!("Come in"))
    );
    assert_eq!(ask(json!({"type": "inventory.search.request"})).result().await["limit"], 5);

    let nothing: Value = [
        "welcome_message",
        "sandbox",
        "interface_tenant",
        "domains",
        "skills",
        "contracts",
        "policy",
        "default_contract",
        "state",
    ]
    .into_iter()
    .map(|member| (member.to_owned(), Value::Null))
    .collect();
    assert_eq!(change(&platform, nothing.clone()).await, "updated");
    assert_eq!(change(&platform, nothing).await, "unchanged");
    let information = platform.call("harbor", json!({"type": "dealer.information.request"})).await;
    assert_eq!(information.get("welcome_message"), None);
    let found = platform.call("harbor", json!({"type": "inventory.search.request"})).await;
    assert_eq!((&found["limit"], &found["total"]), (&json!(20), &json!(1)));
    let card = platform.card("harbor").await;
    assert_eq!(card["skills"].as_array().map(Vec::len), Some(dealer::built_skills().count()));
    assert_eq!(card["documentationUrl"], platform.base("harbor"));
    platform.stop().await;
}

/// Everything a document can say, in spellings that a careless comparison would take for a change.
fn rich() -> Value {
    let mut demo = server::demo::document("http://127.0.0.1:8080")["tenants"].take();
    let odd = json!([
        {"vehicle_id": "1", "status": "available", "price": 1e9, "mileage": 12000.0, "year": 2023.0},
        {"vehicle_id": "2", "status": "available", "price": 9_007_199_254_740_991_u64, "x": {"big": u64::MAX}},
        {"vin": VIN_A, "status": "pending", "electric_range_mi": 1e-7, "battery_kwh": 0.1},
        {"stock": "É 7", "status": "intransit", "features": [], "rooftop": null, "x": {"b": [1e2, -0.0], "a": null}},
        {"vehicle_id": "no-stamp", "status": "available", "make": "Citroe\u{308}n", "other_attributes": {"k": [1.5]}},
        {"vehicle_id": "stamp", "status": "available", "updated_at": "2026-11-01T08:00:00.123456789+05:30"},
    ]);
    demo["odd"] = json!({
        "name": "Odd & Söhne \u{1F697}", "rooftops": [{"name": "One", "geo": {"latitude": 33.79220000001, "longitude": -1e-5},
            "fees": [{"name": "Doc", "amount": 85.0}],
            "holidays": [{"date": "2026-12-25"}, {"date": "2026-12-26", "open": "10:00", "close": "12:00", "name": "Short"}]}],
        "inventory": odd, "sold": [{"vin": VIN_B, "stock": "S-1", "make": "Subaru"}, {"stock": "S-2"}, {"vehicle_id": "gone"}],
        "domains": ["b.odd.example", "a.odd.example"], "interface_tenant": "odd", "sandbox": true, "state": "active",
        "skills": ["lead.submit", "inventory.search", "inventory.vehicle", "inventory.facets"], "contracts": ["v3.0", "v1.3"],
        "default_contract": "v3.0", "note": {"any": "thing"},
        "policy": {"max_limit": 50, "rate_limit": {"requests": 100, "per_seconds": 60},
            "search": {"filters": ["make"], "feature_codes": ["tow"]}, "follow_up_channels": ["sms"]},
    });
    demo
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_document_a_second_time_writes_nothing_and_tells_nobody() {
    let platform = Platform::start().await;
    let document = rich();
    let outcomes = platform.try_provision(&document).await;
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Ok("created")), "{outcomes:?}");
    let before = everything(&platform).await;
    assert!(before.len() > 2_000);

    let options = cluster().options(&platform.database);
    let pool = PgPoolOptions::new().max_connections(1).connect_with(options).await.expect("a pool");
    let mut listener = PgListener::connect_with(&pool).await.expect("a listener");
    listener.listen_all(["forecourt_tenant", "forecourt_inventory"]).await.expect("listening");
    for _ in 0..2 {
        let outcomes = platform.try_provision(&document).await;
        assert!(outcomes.iter().all(|(_, outcome)| *outcome == Ok("unchanged")), "{outcomes:?}");
    }
    assert_eq!(everything(&platform).await, before);
    // A change is told, and it is the first that is heard.
    provision_one(&platform, "odd", json!({"sandbox": false})).await.expect("no problem");
    let heard = listener.recv().await.expect("a notice");
    assert_eq!(heard.channel(), "forecourt_tenant");
    let mut admin = cluster().superuser(&platform.database).await;
    let odd: String = sqlx::query_scalar("select tenant_id::text from tenants where slug = 'odd'")
        .fetch_one(&mut admin)
        .await
        .expect("the dealer");
    assert_eq!(heard.payload(), odd);

    // Huge numbers are found where they belong and break nothing.
    platform.catch_up().await;
    let ask = |data: Value| platform.ask("odd", data).with("/params/tenant", json!("odd"));
    let sorted = json!({"type": "inventory.search.request", "sort": {"field": "price", "order": "desc"}});
    let found = ask(sorted).result().await;
    let ids: Vec<&str> =
        found["vehicles"].as_array().unwrap().iter().filter_map(|v| v["vehicle_id"].as_str()).collect();
    assert_eq!(ids[..2], ["2", "1"]);
    assert_eq!(ids.len(), 6);
    let facets = ask(json!({"type": "inventory.facets.request"})).result().await;
    assert!(facets["price_range"]["max"].as_f64().is_some_and(|max| max > 9e15), "{facets}");
    let unit = ask(json!({"type": "inventory.vehicle.request", "vehicle_id": "2"})).result().await;
    assert_eq!(unit["price"], 9_007_199_254_740_991_u64);
    platform.stop().await;
}
