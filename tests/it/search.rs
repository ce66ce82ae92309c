//! `inventory.search`: filters, order, limits, what a dealer offers (AAP.md 7.4, 16).

use std::cmp::Ordering;

use serde_json::{Value, json};
use testkit::Platform;

use crate::ground::{fault, ground, harbor, lasting, lot, problems, search};

/// A search with one more member.
pub fn with(member: &str, value: Value) -> Value {
    let mut data = search();
    data[member] = value;
    data
}

/// The `vehicle_id`s of a page, in order.
pub fn ids(result: &Value) -> Vec<String> {
    let vehicles = result["vehicles"].as_array().expect("vehicles");
    vehicles.iter().map(|vehicle| vehicle["vehicle_id"].as_str().unwrap().to_owned()).collect()
}

/// All pages from the first to the last: ids in order. Totals and the echo must stay the same.
pub async fn walk(platform: &Platform, slug: &str, mut data: Value, limit: u64) -> Vec<String> {
    let mut all = Vec::new();
    data["pagination"] = json!({"limit": limit});
    let mut total = None;
    loop {
        let page = platform.call(slug, data.clone()).await;
        assert_eq!(*total.get_or_insert(page["total"].clone()), page["total"], "one total for all pages");
        let found = ids(&page);
        assert!(found.len() as u64 <= limit);
        all.extend(found.iter().cloned());
        match &page["next_cursor"] {
            Value::Null => break,
            cursor => {
                assert_eq!(found.len() as u64, limit, "only the last page may be short");
                data["pagination"] = json!({"limit": limit, "cursor": cursor});
            }
        }
        assert!(all.len() < 10_000, "no end");
    }
    assert_eq!(total, Some(json!(all.len())));
    all
}

#[tokio::test]
async fn every_filter_finds_what_it_should() {
    let all = "v1 v2 v3 v4 v5 v6 v7";
    let table = [
        (json!({}), all),
        (json!({"make": []}), all),
        (json!({"make": ["Honda"]}), "v1 v2"),
        (json!({"make": [" HONDA\t"]}), "v1 v2"),
        (json!({"make": ["Hond"]}), ""),
        (json!({"make": ["Hondas"]}), ""),
        (json!({"make": [""]}), ""),
        (json!({"make": ["Citroën"]}), "v3"),
        (json!({"make": ["CITROE\u{308}N"]}), "v3"),
        (json!({"make": ["Citroen"]}), ""),
        (json!({"make": ["Fiat", "Honda", "Fiat", "Lada"]}), "v1 v2 v5"),
        (json!({"model": ["cr-v", "iron 883"]}), "v1 v6"),
        (json!({"trim": ["ex-l"]}), "v1"),
        (json!({"trim": ["ex"]}), ""),
        (json!({"condition": ["used"]}), "v1 v4 v5"),
        (json!({"condition": ["new", "cpo"]}), "v2 v3"),
        (json!({"status": ["pending"]}), "v2"),
        (json!({"status": ["available"]}), "v1 v4 v5 v6 v7"),
        (json!({"status": ["available", "pending", "intransit"]}), all),
        (json!({"vehicle_type": ["car"]}), "v1 v2 v3 v4 v5 v7"),
        (json!({"vehicle_type": ["motorcycle", "rv"]}), "v6"),
        (json!({"vehicle_type": ["trailer"]}), ""),
        (json!({"transmission": ["automatic"]}), "v1"),
        (json!({"transmission": ["8-SPEED"]}), "v1"),
        (json!({"transmission": ["semiautomatic"]}), "v2"),
        (json!({"transmission": ["auto"]}), ""),
        (json!({"exterior_color": ["black"]}), "v1"),
        (json!({"exterior_color": ["Green", "blackish"]}), "v2 v3"),
        (json!({"exterior_color": [""]}), ""),
        (json!({"interior_color": ["leather"]}), "v1"),
        (json!({"fuel": ["BEV"]}), "v4 v5"),
        (json!({"fuel": ["ev"]}), ""),
        (json!({"driveline": ["AWD", "rwd"]}), "v1 v4"),
        (json!({"body": ["cruiser"]}), "v6"),
        (json!({"body": ["cruise"]}), ""),
        (json!({"charge_port": ["j1772"]}), "v5"),
        (json!({"rooftops": ["harbor SOUTH"]}), "v2 v3"),
        (json!({"rooftops": ["South"]}), ""),
        (json!({"features": ["Heated Front Seats"]}), "v1 v3"),
        (json!({"features": ["tow hitch", "heated front seats"]}), "v3"),
        (json!({"features": ["heated"]}), ""),
        (json!({"dc_fast_charge": true}), "v4"),
        (json!({"dc_fast_charge": false}), all),
        (json!({"year_min": 2023}), "v1 v3 v4"),
        (json!({"year_max": 2019}), "v5 v6"),
        (json!({"year_min": 2022.0, "year_max": 2022.0}), "v2"),
        (json!({"year_min": 2023, "year_max": 2022}), ""),
        (json!({"price_min": 0}), "v1 v3 v4 v5 v6"),
        (json!({"price_max": 0}), "v5"),
        (json!({"price_max": 29494}), "v5 v6"),
        (json!({"price_min": 29495, "price_max": 29495}), "v1 v3"),
        (json!({"price_min": 20000, "price_max": 20000}), ""),
        (json!({"mileage_max": 900}), "v2"),
        (json!({"mileage_max": 899}), ""),
        (json!({"displacement_cc_min": 883, "displacement_cc_max": 883}), "v6"),
        (json!({"displacement_cc_min": 884}), ""),
        (json!({"displacement_cc_max": 882}), ""),
        (json!({"electric_range_mi_min": 84}), "v4 v5"),
        (json!({"electric_range_mi_min": 85}), "v4"),
        (json!({"electric_range_mi_max": 84}), ""),
        (json!({"electric_range_mi_max": 85}), "v5"),
        (json!({"electric_range_mi_max": 303}), "v4 v5"),
        (json!({"vin": "2HKRW2H80PH600101"}), "v1"),
        (json!({"vin": "2HKRW2H80PH600102"}), ""),
        (json!({"vin": "1HGCM82633A004352"}), ""),
        (json!({"stock": "n-2"}), "v2"),
        (json!({"stock": "N-2"}), ""),
        (json!({"stock": "N-1"}), ""),
        (json!({"stock": " n-2"}), ""),
        (json!({"stock": "G-1"}), ""),
        (json!({"query": ""}), all),
        (json!({"query": " \t "}), all),
        (json!({"query": "honda"}), "v1 v2"),
        (json!({"query": "CR-V honda"}), "v1"),
        (json!({"query": "honda zzz"}), ""),
        (json!({"query": "2023 hyundai"}), "v4"),
        (json!({"query": "black"}), "v1 v2"),
        (json!({"query": "heated tow"}), "v3"),
        (json!({"query": "garage"}), "v1"),
        (json!({"query": "turbo"}), "v1"),
        (json!({"query": "citroe\u{308}n"}), "v3"),
        (json!({"query": "e-4"}), "v4"),
        (json!({"query": "2hkrw2h80"}), "v1"),
        (json!({"query": "ex-l suv awd gas leather"}), "v1"),
        (json!({"query": "semiautomatic hybrid"}), "v2"),
        (json!({"query": "pending"}), ""),
        (json!({"query": "harbor"}), ""),
        (json!({"query": "😀"}), ""),
        (json!({"make": ["Honda"], "status": ["available"], "price_max": 30000}), "v1"),
        (json!({"make": ["Honda"], "fuel": ["bev"]}), ""),
        (json!({"condition": ["used"], "dc_fast_charge": true, "year_min": 2020, "query": "ioniq 5"}), "v4"),
    ];
    for (filters, expected) in table {
        let result = harbor(with("filters", filters.clone())).await.result().await;
        let mut found = ids(&result);
        found.sort_unstable();
        assert_eq!(found.join(" "), expected, "{filters}");
        assert_eq!(result["total"], found.len(), "{filters}");
    }
}

#[tokio::test]
async fn lengths_count_characters_and_bounds_belong() {
    for good in [
        json!({"query": "é".repeat(200)}),
        json!({"query": "😀".repeat(200)}),
        json!({"year_min": 1900}),
        json!({"year_max": 2100}),
        json!({"price_min": 0}),
        json!({"stock": ""}),
        json!({"make": ["x".repeat(5000)]}),
    ] {
        harbor(with("filters", good)).await.result().await;
    }
    for (bad, at, keyword) in [
        (json!({"query": "😀".repeat(201)}), "/filters/query", "maxLength"),
        (json!({"year_max": 2101}), "/filters/year_max", "maximum"),
        (json!({"year_min": 2023.5}), "/filters/year_min", "type"),
        (json!({"vin": "2HKRW2H80PH600101\n"}), "/filters/vin", "pattern"),
        (json!({"vin": "2HKRW2H80PH60010O"}), "/filters/vin", "pattern"),
        (json!({"vin": ""}), "/filters/vin", "pattern"),
        (json!({"condition": ["Used"]}), "/filters/condition/0", "enum"),
        (json!({"condition": ["fair"]}), "/filters/condition/0", "enum"),
        (json!({"status": ["sold"]}), "/filters/status/0", "enum"),
        (json!({"status": "available"}), "/filters/status", "type"),
        (json!({"vehicle_type": ["boat"]}), "/filters/vehicle_type/0", "enum"),
        (json!({"mileage_min": 1}), "/filters/mileage_min", "additionalProperties"),
        (json!({"Make": []}), "/filters/Make", "additionalProperties"),
        (json!({"__proto__": 1}), "/filters/__proto__", "additionalProperties"),
        (json!(null), "/filters", "type"),
        (json!([]), "/filters", "type"),
    ] {
        let error = harbor(with("filters", bad)).await.error().await;
        let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
        assert_eq!(found, [(at.to_owned(), keyword.to_owned())]);
    }
}

/// Ids as the protocol orders them, worked out from the documents.
pub fn ordered(lot: &Value, field: &str, descending: bool) -> Vec<String> {
    enum Key {
        Number(i64),
        Text(String),
        Missing,
    }
    let key = |vehicle: &Value| match &vehicle[field] {
        Value::Null => Key::Missing,
        Value::String(text) if field == "updated_at" => {
            Key::Number(chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp())
        }
        Value::String(text) => Key::Text(text.to_lowercase()),
        number => Key::Number(number.as_i64().unwrap()),
    };
    let way = |order: Ordering| if descending { order.reverse() } else { order };
    let mut vehicles: Vec<_> = lot.as_array().unwrap().iter().collect();
    vehicles.sort_by(|a, b| {
        let order = match (key(a), key(b)) {
            (Key::Missing, Key::Missing) => Ordering::Equal,
            (Key::Missing, _) => Ordering::Greater,
            (_, Key::Missing) => Ordering::Less,
            (Key::Number(a), Key::Number(b)) => way(a.cmp(&b)),
            (Key::Text(a), Key::Text(b)) => way(a.cmp(&b)),
            _ => panic!("two kinds of values"),
        };
        order.then(a["vehicle_id"].as_str().cmp(&b["vehicle_id"].as_str()))
    });
    vehicles.iter().map(|vehicle| vehicle["vehicle_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn nine_fields_sort_both_ways_with_missing_values_last() {
    let platform = ground().await;
    let lot = lot();
    for field in ["price", "list_price", "msrp", "mileage", "year", "make", "model", "stock", "updated_at"] {
        for order in ["asc", "desc"] {
            let sort = json!({"field": field, "order": order});
            let expected = ordered(&lot, field, order == "desc");
            let result = platform.call("harbor", with("sort", sort.clone())).await;
            assert_eq!(ids(&result), expected, "{field} {order}");
            assert_eq!(result["sort"], sort);
            for limit in [1, 2, 3] {
                assert_eq!(walk(platform, "harbor", with("sort", sort.clone()), limit).await, expected);
            }
        }
    }
    for bad in [
        json!({"field": "colour", "order": "asc"}),
        json!({"field": "Price", "order": "asc"}),
        json!({"field": "price", "order": "ASC"}),
        json!({"field": "price", "order": "asc", "nulls": "last"}),
        json!({"field": 5, "order": "asc"}),
        json!("price"),
        json!([]),
        json!(null),
    ] {
        let error = harbor(with("sort", bad)).await.error().await;
        fault(&error, "SCHEMA_VALIDATION_FAILED");
    }
}

#[tokio::test]
async fn the_answer_echoes_what_was_understood() {
    let result = harbor(search()).await.result().await;
    let mut members: Vec<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["applied_filters", "limit", "next_cursor", "sort", "total", "vehicles"]);
    assert_eq!(result["next_cursor"], Value::Null);
    assert_eq!(result["applied_filters"], json!({}));
    assert_eq!(result["sort"], json!({"field": "updated_at", "order": "desc"}));
    assert_eq!((&result["limit"], &result["total"]), (&json!(20), &json!(7)));
    for vehicle in result["vehicles"].as_array().unwrap() {
        assert!(
            ["vehicle_id", "dealer_id", "status", "updated_at"].iter().all(|key| vehicle[key].is_string())
        );
        assert_eq!(vehicle["dealer_id"], "harbor-city");
    }

    let filters = json!({"make": ["Honda", "honda"], "model": [], "price_max": 30000.0, "dc_fast_charge": false,
        "query": "", "features": [], "stock": "N-10", "year_min": 2.0e3});
    let result = harbor(with("filters", filters)).await.result().await;
    let expected = json!({"make": ["Honda", "honda"], "price_max": 30000, "dc_fast_charge": false, "query": "",
        "stock": "N-10", "year_min": 2000});
    assert_eq!(result["applied_filters"], expected);
    assert_eq!(
        result["applied_filters"].to_string(),
        expected.to_string(),
        "whole numbers are spelled whole"
    );
    for nothing in [json!({}), json!({"make": []})] {
        assert_eq!(harbor(with("filters", nothing)).await.result().await["applied_filters"], json!({}));
    }
    for privacy in [json!({}), json!({"anonymous": true}), json!({"anonymous": false})] {
        assert_eq!(harbor(with("privacy", privacy)).await.result().await["total"], 7);
    }
}

#[tokio::test]
async fn limits_have_a_default_a_cap_and_bounds() {
    let platform = ground().await;
    let limited = |limit: Value| with("pagination", json!({"limit": limit}));
    for (slug, asked, effective) in [
        ("harbor", json!(1), 1),
        ("harbor", json!(100), 100),
        ("harbor", json!(101), 100),
        ("harbor", json!(1000), 100),
        ("harbor", json!(3.0), 3),
        ("narrow", json!(3), 3),
        ("narrow", json!(4), 3),
        ("narrow", json!(1e3), 3),
    ] {
        let result = platform.call(slug, limited(asked.clone())).await;
        assert_eq!(result["limit"], effective, "{slug} {asked}");
        assert_eq!(result["limit"].to_string(), effective.to_string());
        assert_eq!(ids(&result).len(), effective.min(7));
    }
    let default = platform.call("narrow", search()).await;
    assert_eq!(
        (&default["limit"], &default["sort"]),
        (&json!(2), &json!({"field": "price", "order": "asc"}))
    );
    assert_eq!(ids(&default), ["v5", "v6"]);
    for (bad, keyword) in [
        (json!(0), "minimum"),
        (json!(-1), "minimum"),
        (json!(1001), "maximum"),
        (json!(1.5), "type"),
        (json!("5"), "type"),
        (json!(null), "type"),
        (json!(1e300), "maximum"),
    ] {
        let error = platform.ask("harbor", limited(bad)).error().await;
        let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
        assert_eq!(found, [("/pagination/limit".to_owned(), keyword.to_owned())]);
    }
    let error = platform.ask("harbor", with("pagination", json!({"skip": 0, "page": 1}))).error().await;
    let unknown =
        ["page", "skip"].map(|key| (format!("/pagination/{key}"), "additionalProperties".to_owned()));
    assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), unknown);
    assert_eq!(platform.call("empty", search()).await["vehicles"], json!([]));
}

#[tokio::test]
async fn what_a_dealer_does_not_offer_is_refused_by_its_own_code() {
    let platform = ground().await;
    let narrow = |data: Value| platform.ask("narrow", data);
    let at = |places: &[&str]| {
        places.iter().map(|at| ((*at).to_owned(), "x-unsupported".to_owned())).collect::<Vec<_>>()
    };
    for (filters, places) in [
        (json!({"model": ["Civic"]}), &["/filters/model"][..]),
        (json!({"dc_fast_charge": false}), &["/filters/dc_fast_charge"]),
        (json!({"make": ["Honda"], "query": "x", "price_max": 5}), &["/filters/price_max", "/filters/query"]),
        (json!({"features": ["Tow hitch"]}), &["/filters/features/0"]),
        (
            json!({"features": ["heated front seats", "x", "y"]}),
            &["/filters/features/1", "/filters/features/2"],
        ),
    ] {
        let error = narrow(with("filters", filters)).error().await;
        assert_eq!(problems(fault(&error, "UNSUPPORTED_FILTER")), at(places));
    }
    for good in
        [json!({"make": ["Honda"], "model": []}), json!({"features": ["HEATED front seats "]}), json!({})]
    {
        narrow(with("filters", good)).result().await;
    }
    let error = narrow(with("sort", json!({"field": "mileage", "order": "asc"}))).error().await;
    let aap = fault(&error, "UNSUPPORTED_SORT");
    assert_eq!(problems(aap), at(&["/sort/field"]));
    assert_eq!(aap["details"]["supported_sort_fields"], json!(["price", "year"]));
    narrow(with("sort", json!({"field": "year", "order": "desc"}))).result().await;

    // Everything that can be said is said, under the code of the filter.
    let mut both = with("filters", json!({"vin": "2HKRW2H80PH600101"}));
    both["sort"] = json!({"field": "make", "order": "asc"});
    let error = narrow(both).error().await;
    assert_eq!(problems(fault(&error, "UNSUPPORTED_FILTER")), at(&["/filters/vin", "/sort/field"]));

    // What the schema does not know is no question of offers.
    let error = narrow(with("filters", json!({"model": ["x"], "made_up": 1}))).error().await;
    // Both kinds are listed all the same, and the schema's comes first.
    let unknown = ("/filters/made_up".to_owned(), "additionalProperties".to_owned());
    let mut listed = vec![unknown];
    listed.extend(at(&["/filters/model"]));
    assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), listed);
    let mut many = with("filters", json!({"price_min": "a lot", "features": ["Tow hitch", 5], "model": []}));
    many["sort"] = json!({"field": "mileage"});
    let error = narrow(many).error().await;
    let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
    let unoffered: Vec<_> = found.iter().filter(|(_, keyword)| keyword == "x-unsupported").cloned().collect();
    assert_eq!(unoffered, at(&["/filters/features/0", "/filters/price_min", "/sort/field"]));
    for (place, keyword) in
        [("/filters/price_min", "type"), ("/filters/features/1", "type"), ("/sort/order", "required")]
    {
        assert!(found.contains(&(place.to_owned(), keyword.to_owned())), "{place} {found:?}");
    }
    assert_eq!(found.len(), 6, "{found:?}");
    fault(
        &narrow(with("sort", json!({"field": "x", "order": "asc"}))).error().await,
        "SCHEMA_VALIDATION_FAILED",
    );

    let card = platform.card("narrow").await;
    let offered = json!({"filters": ["make", "features"], "sort_fields": ["price", "year"],
        "feature_codes": ["Heated front seats"]});
    assert_eq!(card["capabilities"]["extensions"][0]["params"]["search"], offered);
    let open = platform.card("harbor").await;
    assert!(open["capabilities"]["extensions"][0]["params"].get("search").is_none());
}

#[tokio::test]
async fn an_offer_of_nothing_cannot_be_provisioned() {
    let platform = ground().await;
    for member in ["filters", "sort_fields", "feature_codes"] {
        // Its card would leave the list out, and that tells buyers that everything is offered.
        let policy = json!({"search": {member: []}});
        let dealer =
            json!({"name": "Nothing", "rooftops": [{"name": "R"}], "inventory": [], "policy": policy});
        let outcome =
            lasting(async move { platform.try_provision(&json!({"nothing-offered": dealer})).await }).await;
        assert!(outcome[0].1.is_err(), "{member}");
    }
}
