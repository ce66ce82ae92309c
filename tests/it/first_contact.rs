//! A buyer agent that knows nothing but a dealer's address gets a true answer.

use serde_json::json;
use testkit::{Platform, car, dealer_document};

#[tokio::test]
async fn from_the_base_address_to_a_search_result() {
    let stock = json!([car("a", "Honda", "CR-V", 29495), car("b", "Ford", "F-150", 61200)]);
    let platform = Platform::with_dealer("harbor", dealer_document("Harbor City", stock)).await;

    let card = platform.card("harbor").await;
    let endpoint = card["supportedInterfaces"][0]["url"].as_str().unwrap();
    let mut asking =
        platform.ask("harbor", json!({"type": "inventory.search.request", "filters": {"make": ["honda"]}}));
    asking.url = endpoint.to_owned();
    let found = asking.result().await;
    assert_eq!(found["total"], 1);
    assert_eq!(found["vehicles"][0]["vehicle_id"], "a");
    assert_eq!(found["vehicles"][0]["price"], 29495);
}
