//! `inventory.facets`: what there is to filter by (AAP.md 7.3; field report 35).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ground::{fault, ground, harbor, lot, problems, search, settle};

fn request(filters: Value) -> Value {
    json!({"type": "inventory.facets.request", "filters": filters})
}

fn terms(facets: &Value, key: &str) -> Vec<(String, u64)> {
    let entry = |term: &Value| {
        assert_eq!(term.as_object().unwrap().len(), 2);
        let value = term["value"].as_str().map_or_else(|| term["value"].to_string(), str::to_owned);
        (value, term["count"].as_u64().unwrap())
    };
    facets[key].as_array().map(|list| list.iter().map(entry).collect()).unwrap_or_default()
}

const PAIRS: [(&str, &str); 15] = [
    ("makes", "make"),
    ("models", "model"),
    ("trims", "trim"),
    ("years", "year"),
    ("conditions", "condition"),
    ("transmissions", "transmission"),
    ("fuels", "fuel"),
    ("drivelines", "driveline"),
    ("bodies", "body"),
    ("vehicle_types", "vehicle_type"),
    ("exterior_colors", "exterior_color"),
    ("interior_colors", "interior_color"),
    ("rooftops", "rooftop"),
    ("statuses", "status"),
    ("charge_ports", "charge_port"),
];

const RANGES: [(&str, &str); 5] = [
    ("price_range", "price"),
    ("mileage_range", "mileage"),
    ("year_range", "year"),
    ("displacement_cc_range", "displacement_cc"),
    ("electric_range_mi_range", "electric_range_mi"),
];

/// Holds facets against the listings they count.
fn check(facets: &Value, vehicles: &[Value]) {
    for (key, member) in PAIRS {
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for vehicle in vehicles {
            let value = match (&vehicle[member], member) {
                (Value::Null, "vehicle_type") => "car".to_owned(),
                (Value::Null, _) => continue,
                (Value::String(text), _) => text.to_lowercase(),
                (other, _) => other.to_string(),
            };
            *expected.entry(value).or_default() += 1;
        }
        let found = terms(facets, key);
        let ordered = found
            .windows(2)
            .all(|pair| pair[0].1 > pair[1].1 || (pair[0].1 == pair[1].1 && pair[0].0 < pair[1].0));
        assert!(ordered, "most frequent first, then by value: {key} {found:?}");
        let mut folded: BTreeMap<String, u64> = BTreeMap::new();
        for (value, count) in found {
            *folded.entry(value.to_lowercase()).or_default() += count;
        }
        assert_eq!(folded, expected, "{key}");
        assert_eq!(facets.get(key).is_some(), !folded.is_empty(), "a key without stock is left out: {key}");
    }
    assert!(facets["years"].as_array().into_iter().flatten().all(|term| term["value"].is_u64()));
    for (key, member) in RANGES {
        let values: Vec<_> = vehicles.iter().filter_map(|vehicle| vehicle[member].as_f64()).collect();
        match facets.get(key) {
            None => assert!(values.is_empty(), "{key}"),
            Some(range) => {
                let (low, high) = (range["min"].as_f64().unwrap(), range["max"].as_f64().unwrap());
                assert_eq!(low, values.iter().copied().fold(f64::MAX, f64::min), "{key}");
                assert_eq!(high, values.iter().copied().fold(f64::MIN, f64::max), "{key}");
                assert_eq!(range.as_object().unwrap().len(), 2);
            }
        }
    }
    let fast = |wanted: bool| vehicles.iter().filter(|v| v["dc_fast_charge"] == wanted).count() as u64;
    let mut expected: Vec<_> =
        [("false", fast(false)), ("true", fast(true))].into_iter().filter(|(_, count)| *count > 0).collect();
    expected.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let found = terms(facets, "dc_fast_charge");
    assert_eq!(
        found,
        expected.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect::<Vec<_>>()
    );
    assert!(facets["dc_fast_charge"].as_array().into_iter().flatten().all(|term| term["value"].is_string()));
    let known =
        PAIRS.iter().chain(&RANGES).map(|(key, _)| *key).chain(["dc_fast_charge"]).collect::<Vec<_>>();
    assert!(facets.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{facets}");
}

#[tokio::test]
async fn counts_are_those_of_the_matching_stock() {
    let platform = ground().await;
    let whole = harbor(json!({"type": "inventory.facets.request"})).await.result().await;
    check(&whole, lot().as_array().unwrap());
    let sets = [
        json!({}),
        json!({"make": []}),
        json!({"make": ["Honda"]}),
        json!({"status": ["available"], "condition": ["used"]}),
        json!({"price_min": 0}),
        json!({"query": "heated"}),
        json!({"vehicle_type": ["motorcycle"]}),
        json!({"dc_fast_charge": true}),
        json!({"make": ["nobody"]}),
        json!({"vin": "5YJ3E1EA7KF317000"}),
        json!({"features": ["heated front seats"], "rooftops": ["Harbor South"]}),
    ];
    for filters in sets {
        let mut searched = search();
        searched["filters"] = filters.clone();
        let found = platform.call("harbor", searched).await;
        let facets = platform.call("harbor", request(filters.clone())).await;
        check(&facets, found["vehicles"].as_array().unwrap());
        let made = terms(&facets, "makes").iter().map(|(_, count)| count).sum::<u64>();
        let with_make =
            found["vehicles"].as_array().unwrap().iter().filter(|v| v["make"].is_string()).count();
        assert_eq!(made, with_make as u64, "{filters}");
    }
    // Units that are gone, or another dealer's, never count.
    assert!(!whole.to_string().contains("G-1"));
    assert_eq!(platform.call("empty", json!({"type": "inventory.facets.request"})).await, json!({}));
}

#[tokio::test]
async fn filters_are_judged_as_in_a_search() {
    let error = harbor(request(json!({"colour": [], "year_min": 1}))).await.error().await;
    let expected = [("/filters/colour", "additionalProperties"), ("/filters/year_min", "minimum")];
    let expected = expected.map(|(at, keyword)| (at.to_owned(), keyword.to_owned()));
    assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), expected);
    for member in ["pagination", "sort", "privacy"] {
        let mut data = request(json!({}));
        data[member] = json!({});
        let error = harbor(data).await.error().await;
        let unknown = [(format!("/{member}"), "additionalProperties".to_owned())];
        assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), unknown);
    }
    let policy = json!({"search": {"filters": ["make"]}});
    let dealer = json!({"name": "Few", "rooftops": [{"name": "R"}], "inventory": lot(), "policy": policy});
    let mut dealer = dealer;
    for unit in dealer["inventory"].as_array_mut().unwrap() {
        unit.as_object_mut().unwrap().remove("rooftop");
    }
    let platform = settle(json!({"few-facets": dealer})).await;
    let error = platform.ask("few-facets", request(json!({"model": ["C3"]}))).error().await;
    let refused = [("/filters/model".to_owned(), "x-unsupported".to_owned())];
    assert_eq!(problems(fault(&error, "UNSUPPORTED_FILTER")), refused);
    let facets = platform.call("few-facets", request(json!({"make": ["Citroën"]}))).await;
    assert_eq!(terms(&facets, "models"), [("C3".to_owned(), 1)]);
}
