//! Pages by skip in v1.3 and the draft (AAP.md 7.4.3), by cursor in v3.0; what answers echo (7.4.4).

use std::collections::HashSet;

use contract::ContractVersion::{Latest, V1_3, V3_0};
use serde_json::{Value, json};

use super::{ALL, ask};
use crate::ground::{fault, ground, problems};

fn page(pagination: &Value) -> Value {
    json!({"type": "inventory.search.request", "pagination": pagination, "sort": {"field": "year", "order": "desc"}})
}

fn ids(data: &Value) -> Vec<String> {
    let vehicles = data["vehicles"].as_array().unwrap().iter();
    vehicles.map(|vehicle| vehicle["vehicle_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_by_skip_are_those_by_cursor() {
    let mut whole = None;
    for limit in [1, 2, 3, 7, 100] {
        for version in [V1_3, Latest] {
            let mut seen = Vec::new();
            loop {
                let data =
                    ask(version, page(&json!({"skip": seen.len(), "limit": limit}))).await.result().await;
                assert_eq!(
                    (&data["total"], &data["skip"], &data["limit"]),
                    (&json!(7), &json!(seen.len()), &json!(limit))
                );
                let ids = ids(&data);
                assert!(ids.len() <= limit);
                if ids.is_empty() {
                    break;
                }
                seen.extend(ids);
            }
            assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 7, "{seen:?}");
            assert_eq!(whole.get_or_insert_with(|| seen.clone()), &seen);
        }
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let mut pagination = json!({"limit": limit});
            if let Some(cursor) = cursor {
                pagination["cursor"] = cursor;
            }
            let data = ask(V3_0, page(&pagination)).await.result().await;
            seen.extend(ids(&data));
            if data["next_cursor"].is_null() {
                break;
            }
            cursor = Some(data["next_cursor"].clone());
        }
        assert_eq!(whole.as_ref(), Some(&seen));
    }
}

#[tokio::test]
async fn answers_echo_what_their_contract_echoes() {
    let request = json!({"type": "inventory.search.request", "filters": {"make": ["Honda"], "model": []}});
    for version in ALL {
        let data = ask(version, request.clone()).await.result().await;
        let mut keys: Vec<_> = data.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        if version == V3_0 {
            assert_eq!(keys, ["applied_filters", "limit", "next_cursor", "sort", "total", "vehicles"]);
            assert_eq!(data["applied_filters"], json!({"make": ["Honda"]}));
            assert_eq!(data["sort"], json!({"field": "updated_at", "order": "desc"}));
        } else {
            assert_eq!(keys, ["limit", "skip", "total", "vehicles"], "{version}");
            assert_eq!(data["skip"], 0);
        }
        assert_eq!((&data["limit"], &data["total"]), (&json!(20), &json!(2)), "{version}");
    }
}

#[tokio::test]
async fn limits_are_clamped_echoed_and_refused_alike() {
    for version in ALL {
        for (limit, applied) in [
            (json!(1), 1),
            (json!(100), 100),
            (json!(101), 100),
            (json!(1000), 100),
            (json!(5.0), 5),
            (json!(1e2), 100),
        ] {
            let data = ask(version, page(&json!({"limit": limit}))).await.result().await;
            assert_eq!(data["limit"], applied, "{version} {limit}");
        }
        for (limit, keyword) in [
            (json!(0), "minimum"),
            (json!(-1), "minimum"),
            (json!(1001), "maximum"),
            (json!(1.5), "type"),
            (json!("5"), "type"),
            (json!(null), "type"),
        ] {
            let error = ask(version, page(&json!({"limit": limit}))).await.error().await;
            let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
            assert_eq!(found, [("/pagination/limit".to_owned(), keyword.to_owned())], "{version} {limit}");
        }
    }
    // A dealer's own limits.
    for version in ALL {
        let asked = ground().await.ask_in(version, "narrow", json!({"type": "inventory.search.request"}));
        assert_eq!(asked.result().await["limit"], 2, "{version}");
        let asked = asked.with("/params/message/parts/0/data/pagination", json!({"limit": 50}));
        assert_eq!(asked.result().await["limit"], 3, "{version}");
    }
}

#[tokio::test]
async fn a_skip_past_the_end_finds_nothing_and_tells_the_total() {
    for version in [V1_3, Latest] {
        for skip in [json!(7), json!(8), json!(1_000_000), json!(9_007_199_254_740_993_i64), json!(7.0)] {
            let data = ask(version, page(&json!({"skip": skip}))).await.result().await;
            assert_eq!((&data["total"], &data["vehicles"]), (&json!(7), &json!([])), "{skip}");
            assert_eq!(data["skip"].as_i64(), skip.as_i64().or(Some(7)), "{skip}");
        }
        let data = ask(version, page(&json!({"skip": 6.0}))).await.result().await;
        assert_eq!(ids(&data).len(), 1);
        for skip in [json!(1e30), json!(u64::MAX)] {
            let data = ask(version, page(&json!({"skip": skip}))).await.result().await;
            assert_eq!(data["vehicles"], json!([]), "{skip}");
        }
        for (skip, keyword) in [(json!(-1), "minimum"), (json!(0.5), "type"), (json!("0"), "type")] {
            let error = ask(version, page(&json!({"skip": skip}))).await.error().await;
            let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
            assert_eq!(found, [("/pagination/skip".to_owned(), keyword.to_owned())], "{skip}");
        }
    }
}
