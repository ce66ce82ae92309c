//! The refusals of skills: number, place and words in each version (AAP.md 6.2, 6.3, 6.5).

use contract::ContractVersion;
use serde_json::{Value, json};
use testkit::aap_error;

use super::{ALL, ask};
use crate::ground::{self, fault, ground, information, problems, search};

const INFO: &str = ground::INFO;
const BAD_REQUEST: &str = ground::BAD_REQUEST;
const STRUCT: &str = ground::STRUCT;
const TAG: &str = "https://autoagentprotocol.org/extensions/aap/error";

/// Number and form of an error; the object itself.
fn check<'e>(version: ContractVersion, error: &'e Value, numbers: [i64; 3], code: &str) -> &'e Value {
    let aap = fault(error, code);
    assert_eq!(error["code"], numbers[version as usize], "{version}: {error}");
    let with_fields = aap.pointer("/details/errors").is_some();
    match version {
        ContractVersion::V1_3 => {
            assert_eq!(&error["data"], aap, "the object itself: {error}");
            assert!(aap.get("@type").is_none());
        }
        _ => {
            let types: Vec<_> =
                error["data"].as_array().unwrap().iter().map(|entry| &entry["@type"]).collect();
            let last = if version == ContractVersion::Latest { TAG } else { STRUCT };
            let expected = if with_fields { vec![INFO, BAD_REQUEST, last] } else { vec![INFO, last] };
            assert_eq!(types, expected, "{version}");
            assert_eq!(aap.get("@type").is_some(), version == ContractVersion::Latest);
            assert_eq!(error["data"][0]["domain"], "autoagentprotocol.org");
        }
    }
    let message = error["message"].as_str().unwrap();
    if error["code"] == -32000 || error["code"] == -32002 {
        assert!(message.starts_with(&format!("{code}: ")), "{message}");
    }
    aap
}

#[tokio::test]
async fn a_refused_payload_lists_every_problem() {
    let request = json!({"type": "inventory.search.request", "pagination": {"limit": 0}, "filters": {"colour": 1, "a/b~c": 2}});
    for version in ALL {
        let error = ask(version, request.clone()).await.error().await;
        let aap = check(version, &error, [-32602; 3], "SCHEMA_VALIDATION_FAILED");
        let expected = [
            ("/filters/a~1b~0c", "additionalProperties"),
            ("/filters/colour", "additionalProperties"),
            ("/pagination/limit", "minimum"),
        ];
        assert_eq!(
            problems(aap),
            expected.map(|(at, keyword)| (at.to_owned(), keyword.to_owned())),
            "{version}"
        );
        let missing = json!({"type": "inventory.search.request", "sort": {"field": "price"}});
        let error = ask(version, missing).await.error().await;
        check(version, &error, [-32602; 3], "MISSING_REQUIRED_FIELD");
    }
}

#[tokio::test]
async fn of_the_type_and_the_skill() {
    for version in ALL {
        for (data, keyword) in [
            (json!({}), "required"),
            (json!({"type": 7}), "type"),
            (json!({"type": "Search"}), "pattern"),
            (json!({"type": "inventory.search.response"}), "enum"),
        ] {
            let error = ask(version, data).await.error().await;
            let aap = check(version, &error, [-32602; 3], "SCHEMA_VALIDATION_FAILED");
            assert_eq!(problems(aap), [("/type".to_owned(), keyword.to_owned())], "{version}");
        }
        let error = ask(version, json!({"type": "service.book.request"})).await.error().await;
        check(version, &error, [-32601, -32004, -32602], "UNSUPPORTED_SKILL");
        // `narrow` has two skills.
        let asking = ground().await.ask_in(version, "narrow", json!({"type": "inventory.facets.request"}));
        let error = asking.error().await;
        let aap = check(version, &error, [-32601, -32004, -32602], "UNSUPPORTED_SKILL");
        assert_eq!(aap["details"]["skill"], "inventory.facets");
    }
}

#[tokio::test]
async fn of_a_vehicle() {
    for version in ALL {
        let error = ask(version, json!({"type": "inventory.vehicle.request", "stock": "none such"}))
            .await
            .error()
            .await;
        check(version, &error, [-32000; 3], "VEHICLE_NOT_FOUND");
        let error = ask(version, json!({"type": "inventory.vehicle.request", "vehicle_id": "gone"}))
            .await
            .error()
            .await;
        check(version, &error, [-32000; 3], "VEHICLE_UNAVAILABLE");
        let error = ask(version, json!({"type": "inventory.vehicle.request"})).await.error().await;
        let aap = check(version, &error, [-32602; 3], "SCHEMA_VALIDATION_FAILED");
        assert_eq!(problems(aap), [(String::new(), "anyOf".to_owned())], "{version}");
    }
}

#[tokio::test]
async fn of_a_quota_that_counts_all_versions_together() {
    let dealer = |name: &str| {
        json!({"name": name, "rooftops": [{"name": "R"}], "inventory": [],
        "policy": {"rate_limit": {"requests": 1, "per_seconds": 3600}}})
    };
    let slugs = ["quota-0", "quota-1", "quota-2"];
    let dealers = json!({"quota-0": dealer("Q0"), "quota-1": dealer("Q1"), "quota-2": dealer("Q2")});
    let platform = ground::settle(dealers).await;
    for (i, slug) in slugs.into_iter().enumerate() {
        platform.ask_in(ALL[i], slug, information()).result().await;
        for version in ALL {
            let error = platform.ask_in(version, slug, information()).error().await;
            let aap = check(version, &error, [-32002, -32000, -32000], "RATE_LIMITED");
            assert_eq!(aap["retryable"], true);
            let wait = aap["details"]["retry_after_ms"].as_u64().unwrap();
            assert!((1..=3_600_000).contains(&wait), "{wait}");
        }
    }
}

#[tokio::test]
async fn of_v3_0_alone() {
    let v3 = ContractVersion::V3_0;
    let cursor = json!({"type": "inventory.search.request", "pagination": {"cursor": "x"}});
    check(v3, &ask(v3, cursor).await.error().await, [0, 0, -32602], "INVALID_CURSOR");
    let dealer = json!({"type": "dealer.information.request", "dealer_id": "x"});
    check(v3, &ask(v3, dealer).await.error().await, [0, 0, -32000], "DEALER_NOT_FOUND");
}

#[tokio::test]
async fn a_protocol_error_is_a_list_in_every_version_and_holds_no_aap_error() {
    for version in ALL {
        let error = ask(version, search()).await.with("/params/message/role", json!("user")).error().await;
        assert_eq!(
            (&error["code"], &error["data"][0]["@type"]),
            (&json!(-32602), &json!(BAD_REQUEST)),
            "{version}"
        );
        assert!(aap_error(&error).is_none());
        let error = ask(version, search()).await.with("/method", json!("GetTask")).error().await;
        assert_eq!(
            (&error["data"][0]["@type"], &error["data"][0]["domain"]),
            (&json!(INFO), &json!("a2a-protocol.org"))
        );
        assert!(aap_error(&error).is_none());
    }
}
