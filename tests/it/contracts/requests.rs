//! Members of requests that only one of the contracts has.

use contract::ContractVersion::{self, Latest, V1_3, V3_0};
use serde_json::{Value, json};
use testkit::aap_error;

use super::{ALL, ask};
use crate::ground::{fault, ground, problems, search};

/// The one problem of a refused payload.
async fn problem(version: ContractVersion, data: Value) -> (String, String) {
    let error = ask(version, data).await.error().await;
    let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
    assert_eq!(found.len(), 1, "{error}");
    found.into_iter().next().unwrap()
}

fn unknown(at: &str) -> (String, String) {
    (at.to_owned(), "additionalProperties".to_owned())
}

#[tokio::test]
async fn what_v3_0_brought_is_unknown_to_the_older_ones() {
    for version in [V1_3, Latest] {
        for filter in [json!({"status": ["available"]}), json!({"features": ["x"]}), json!({"status": []})] {
            let at = format!("/filters/{}", filter.as_object().unwrap().keys().next().unwrap());
            let request = json!({"type": "inventory.search.request", "filters": filter});
            assert_eq!(problem(version, request).await, unknown(&at), "{version}");
            let request = json!({"type": "inventory.facets.request", "filters": filter});
            assert_eq!(problem(version, request).await, unknown(&at), "{version}");
        }
        let request = json!({"type": "inventory.search.request", "pagination": {"cursor": "x"}});
        assert_eq!(problem(version, request).await, unknown("/pagination/cursor"), "{version}");
        for skill in ["inventory.search", "inventory.facets", "dealer.information"] {
            let request = json!({"type": format!("{skill}.request"), "dealer_id": "harbor-city"});
            assert_eq!(problem(version, request).await, unknown("/dealer_id"), "{version}");
        }
        let request =
            json!({"type": "inventory.vehicle.request", "stock": "N-10", "dealer_id": "harbor-city"});
        assert_eq!(problem(version, request).await, unknown("/dealer_id"), "{version}");
    }
    let status = json!({"type": "inventory.search.request", "filters": {"status": ["pending"]}, "dealer_id": "harbor-city"});
    assert_eq!(ask(V3_0, status).await.result().await["total"], 1);
    let other = json!({"type": "inventory.search.request", "dealer_id": "another"});
    fault(&ask(V3_0, other).await.error().await, "DEALER_NOT_FOUND");
}

#[tokio::test]
async fn skip_is_unknown_to_v3_0_and_neither_knows_what_nobody_has() {
    let request = json!({"type": "inventory.search.request", "pagination": {"skip": 0}});
    assert_eq!(problem(V3_0, request).await, unknown("/pagination/skip"));
    for version in ALL {
        let request = json!({"type": "inventory.search.request", "filters": {"mileage_min": 1}});
        assert_eq!(problem(version, request).await, unknown("/filters/mileage_min"), "{version}");
    }
}

#[tokio::test]
async fn only_a_contract_that_can_say_so_refuses_what_a_dealer_does_not_offer() {
    // `narrow` offers the filters `make` and `features` and sorts by price and year.
    let request = json!({"type": "inventory.search.request", "filters": {"model": ["Accord"]},
        "sort": {"field": "mileage", "order": "asc"}});
    for version in [V1_3, Latest] {
        let data = ground().await.ask_in(version, "narrow", request.clone()).result().await;
        assert_eq!(data["total"], 1, "{version}");
    }
    let error = ground().await.ask_in(V3_0, "narrow", request).error().await;
    fault(&error, "UNSUPPORTED_FILTER");
    let request = json!({"type": "inventory.search.request", "sort": {"field": "mileage", "order": "asc"}});
    let error = ground().await.ask_in(V3_0, "narrow", request.clone()).error().await;
    fault(&error, "UNSUPPORTED_SORT");
    for version in [V1_3, Latest] {
        ground().await.ask_in(version, "narrow", request.clone()).result().await;
    }
}

#[tokio::test]
async fn a_tenant_is_echoed_in_every_version() {
    for version in ALL {
        let asking = ground().await.ask_in(version, "routed", search());
        assert_eq!(asking.error().await["code"], -32602, "{version}");
        let wrong = asking.clone().with("/params/tenant", json!("rooftop-43")).error().await;
        assert_eq!(wrong["data"][0]["fieldViolations"][0]["field"], "tenant", "{version}");
        assert!(aap_error(&wrong).is_none());
        asking.with("/params/tenant", json!("rooftop-42")).result().await;
        let asking = ask(version, search()).await.with("/params/tenant", json!("harbor"));
        assert_eq!(asking.error().await["code"], -32602, "{version}");
    }
}
