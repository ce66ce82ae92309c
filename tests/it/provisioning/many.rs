//! Many dealers in one document.

use std::time::Instant;

use serde_json::{Value, json};
use testkit::{Platform, car, dealer_document};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_dealers_with_eleven_vehicles_each() {
    let platform = Platform::start().await;
    let lot = |dealer: i64| -> Value {
        // All dealers use the same ids; prices tell them apart.
        (0..11).map(|unit| car(&format!("u-{unit}"), "Kia", "EV6", 10_000 * unit + dealer)).collect()
    };
    let tenants: Value = (0..500)
        .map(|dealer| {
            let mut document = dealer_document(&format!("Dealer {dealer}"), lot(dealer));
            document["dealer_id"] = "everybody".into();
            (format!("dealer-{dealer:03}"), document)
        })
        .collect();
    for (expected, what) in [("created", "brought in"), ("unchanged", "looked at again")] {
        let began = Instant::now();
        let outcomes = platform.try_provision(&tenants).await;
        println!("500 dealers with 11 vehicles each {what} in {:?} (debug build)", began.elapsed());
        assert_eq!(outcomes.len(), 500);
        for (slug, outcome) in outcomes {
            assert_eq!(outcome, Ok(expected), "{slug}");
        }
    }
    platform.catch_up().await;
    for dealer in (0..500).step_by(49) {
        let slug = format!("dealer-{dealer:03}");
        let search = json!({"type": "inventory.search.request", "sort": {"field": "price", "order": "asc"}});
        let found = platform.call(&slug, search).await;
        let prices: Vec<i64> = found["vehicles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|unit| unit["price"].as_i64().unwrap())
            .collect();
        assert_eq!(prices, (0..11).map(|unit| 10_000 * unit + dealer).collect::<Vec<_>>(), "{slug}");
        assert_eq!(platform.card(&slug).await["name"], format!("Dealer {dealer}"));
    }
    platform.stop().await;
}
