//! Answers about a lot that nobody has confirmed for long say so.

use super::*;
use chrono::TimeDelta;

const NOTE: &str = "UTC; availability may have changed.";

impl Fed {
    /// As if the last good file had come so long ago.
    async fn confirmed_before(&self, hours: i64) {
        let at = Utc::now() - TimeDelta::hours(hours);
        let mut tx = self.store.tenant(self.tenant).await.unwrap();
        tx.set_freshness(Some(at), Some(at + TimeDelta::hours(36))).await.unwrap();
        tx.commit().await.unwrap();
        self.platform.catch_up().await;
    }

    /// What answers of a kind say, contract by contract.
    async fn messages(&self, asked: &Value) -> Vec<Option<String>> {
        let mut said = Vec::new();
        for spec in contract::CONTRACTS {
            let answer = self.platform.ask_in(spec.version, "harbor", asked.clone()).send().await;
            let message = answer.pointer("/result/message/parts/0/data/message");
            said.push(message.and_then(Value::as_str).map(str::to_owned));
        }
        said
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn past_the_limit_answers_say_how_old_they_are_in_every_contract() {
    let fed = Fed::start(json!({})).await;
    let dms = fed.source("DMS", all_in()).await;
    fed.import(&dms, &file("24990", &[])).await;
    fed.platform.catch_up().await;
    let about_the_lot = [
        json!({ "type": "inventory.search.request" }),
        json!({ "type": "inventory.facets.request" }),
        json!({ "type": "inventory.vehicle.request", "vin": VIN }),
    ];
    for asked in &about_the_lot {
        assert!(fed.messages(asked).await.iter().all(Option::is_none), "{asked}: it was confirmed just now");
    }
    fed.confirmed_before(37).await;
    for asked in &about_the_lot {
        for message in fed.messages(asked).await {
            let message = message.unwrap();
            assert!(
                message.starts_with("Inventory data last confirmed 20") && message.ends_with(NOTE),
                "{message}"
            );
        }
    }
    let who = json!({ "type": "dealer.information.request" });
    assert!(fed.messages(&who).await.iter().all(Option::is_none), "nothing in it grows old");

    // The next good file ends it, also where it changes nothing.
    assert_eq!(fed.import(&dms, &file("24990", &[])).await, RunState::Unchanged);
    fed.platform.catch_up().await;
    assert!(fed.messages(&about_the_lot[0]).await.iter().all(Option::is_none));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_dealer_says_both() {
    let fed = Fed::start(json!({ "sandbox": true })).await;
    fed.confirmed_before(37).await;
    for message in fed.messages(&json!({ "type": "inventory.search.request" })).await {
        let message = message.unwrap();
        assert!(message.starts_with("Sandbox dealer: ") && message.ends_with(NOTE), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dealer_without_sources_has_nothing_to_confirm_and_the_limit_is_the_dealers_own() {
    let fed = Fed::start(json!({})).await;
    let search = json!({ "type": "inventory.search.request" });
    assert!(fed.messages(&search).await.iter().all(Option::is_none));
    let dms = fed.source("DMS", all_in()).await;
    fed.import(&dms, &file("24990", &[])).await;
    let limit = |fed: &Fed| {
        let (store, tenant) = (fed.store.clone(), fed.tenant);
        async move {
            let row = store.platform().await.unwrap().directory_of(tenant).await.unwrap().unwrap();
            (row.fresh_until.unwrap() - row.confirmed_at.unwrap()).num_hours()
        }
    };
    assert_eq!(limit(&fed).await, 36);
    fed.platform.provision(&json!({ "harbor": { "policy": { "freshness_hours": 2 } } })).await;
    assert_eq!(limit(&fed).await, 2);
}
