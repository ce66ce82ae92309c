//! The rules of AAP.md 7.3 to 7.5 one by one, on lots small enough to read.

use contract::Listing;
use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::{Removed, Snapshot, Start, UnknownRow, facets, find, search};
use serde_json::{Value, json};

pub(crate) fn unit(vehicle: Value) -> Listing {
    let now = chrono::DateTime::from_timestamp(1_790_000_000, 0).unwrap();
    let mut vehicle = vehicle.as_object().unwrap().clone();
    vehicle.entry("status").or_insert("available".into());
    Listing::from_vehicle(&vehicle, "dealer", now).unwrap()
}

pub(crate) fn lot(vehicles: Value) -> Snapshot {
    let units = vehicles.as_array().unwrap().iter().cloned().map(unit).collect();
    Snapshot::build(1, units, Vec::new())
}

fn filters(filters: Value) -> Filters {
    serde_json::from_value(filters).unwrap()
}

/// The ids of all matches, by id.
pub(crate) fn ids(snapshot: &Snapshot, wanted: Value) -> Vec<&str> {
    let page = search(snapshot, &filters(wanted), Sort::DEFAULT, Start::Beginning, usize::MAX).unwrap();
    let mut ids: Vec<&str> = page.rows.iter().map(|row| row.vehicle_id()).collect();
    ids.sort_unstable();
    ids
}

fn told(snapshot: &Snapshot, wanted: Value) -> Value {
    serde_json::from_slice(&facets(snapshot, &filters(wanted))).unwrap()
}

/// All ids in order, page by page.
fn walk(snapshot: &Snapshot, sort: Sort, limit: usize) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    loop {
        let start = seen.last().map_or(Start::Beginning, |id| Start::After(id));
        let page = search(snapshot, &Filters::default(), sort, start, limit).unwrap();
        assert_eq!(page.total, snapshot.len() as u64);
        let ids: Vec<String> = page.rows.iter().map(|row| row.vehicle_id().to_owned()).collect();
        let more = page.more;
        seen.extend(ids);
        // A wrong engine could go round for ever.
        assert!(seen.len() <= snapshot.len(), "{seen:?}");
        if !more {
            return seen;
        }
    }
}

fn by(field: SortField, order: SortOrder) -> Sort {
    Sort { field, order }
}

#[test]
fn filters_narrow_and_alternatives_widen() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "make": "Honda", "condition": "used", "price": 20000},
        {"vehicle_id": "b", "make": "honda ", "condition": "new"},
        {"vehicle_id": "c", "make": "Toyota", "condition": "used", "price": 30000},
        {"vehicle_id": "d", "condition": "cpo", "price": 20001}
    ]));
    assert_eq!(ids(&snapshot, json!({"make": ["HONDA"]})), ["a", "b"]);
    assert_eq!(ids(&snapshot, json!({"make": ["honda", "Toyota"], "condition": ["used"]})), ["a", "c"]);
    assert_eq!(ids(&snapshot, json!({"make": []})).len(), 4);
    assert!(ids(&snapshot, json!({"make": ["Hond"]})).is_empty());
    assert!(ids(&snapshot, json!({"make": ["Tesla"]})).is_empty());
    // A blank value equals nothing; only an empty list asks for nothing.
    assert!(ids(&snapshot, json!({"make": [" "]})).is_empty());
    assert_eq!(ids(&snapshot, json!({"price_max": 20000})), ["a"]);
    assert_eq!(ids(&snapshot, json!({"price_min": 0})), ["a", "c", "d"]);
    assert_eq!(ids(&snapshot, json!({"price_min": 20001, "price_max": 30000})), ["c", "d"]);
    assert!(ids(&snapshot, json!({"price_min": 3, "price_max": 2})).is_empty());
    assert_eq!(ids(&snapshot, json!({"price_max": i64::MAX})), ["a", "c", "d"]);
}

#[test]
fn accents_count_and_normal_forms_do_not() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "make": "Citroën"}, {"vehicle_id": "b", "make": "CITROE\u{308}N"},
        {"vehicle_id": "c", "make": "Citroen"}
    ]));
    assert_eq!(ids(&snapshot, json!({"make": ["citroën"]})), ["a", "b"]);
    assert_eq!(ids(&snapshot, json!({"make": ["citroen"]})), ["c"]);
    assert_eq!(ids(&snapshot, json!({"query": "ROËN"})), ["a", "b"]);
}

#[test]
fn colors_and_transmissions_are_found_by_whole_words() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "transmission": "8-speed automatic", "exterior_color": "Crystal Black Pearl"},
        {"vehicle_id": "b", "transmission": "semiautomatic", "exterior_color": "Blackish"},
        {"vehicle_id": "c", "transmission": "Automatic", "interior_color": "Black/Red"},
        {"vehicle_id": "d", "transmission": ""}
    ]));
    assert_eq!(ids(&snapshot, json!({"transmission": ["automatic"]})), ["a", "c"]);
    assert_eq!(ids(&snapshot, json!({"exterior_color": ["BLACK pearl"]})), ["a"]);
    assert_eq!(ids(&snapshot, json!({"interior_color": ["black"]})), ["c"]);
    assert_eq!(ids(&snapshot, json!({"interior_color": ["red", "blue"]})), ["c"]);
    assert_eq!(ids(&snapshot, json!({"transmission": ["  "]})), ["d"]);
    // The makes stay whole.
    assert!(ids(&snapshot, json!({"body": ["black"]})).is_empty());
}

#[test]
fn vin_and_stock_are_exact() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "vin": "2HKRW2H89PH600102", "stock": "HC-1"},
        {"vehicle_id": "b", "stock": "hc-1"}, {"vehicle_id": "c", "stock": "HC-1"}, {"vehicle_id": "d"}
    ]));
    assert_eq!(ids(&snapshot, json!({"stock": "HC-1"})), ["a", "c"]);
    assert_eq!(ids(&snapshot, json!({"stock": "hc-1"})), ["b"]);
    assert!(ids(&snapshot, json!({"stock": "HC-1 "})).is_empty());
    assert_eq!(ids(&snapshot, json!({"vin": "2HKRW2H89PH600102"})), ["a"]);
    assert!(ids(&snapshot, json!({"vin": "2hkrw2h89ph600102"})).is_empty());
    assert!(ids(&snapshot, json!({"vin": "2HKRW2H89PH600102", "stock": "hc-1"})).is_empty());
}

#[test]
fn electric_members_and_features() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "electric_range_mi": 46.5, "dc_fast_charge": true, "features": ["Heated Seats", "Sunroof"]},
        {"vehicle_id": "b", "electric_range_mi": 46, "dc_fast_charge": false, "features": ["heated seats"]},
        {"vehicle_id": "c", "features": ["Sunroof"]}
    ]));
    assert_eq!(ids(&snapshot, json!({"electric_range_mi_min": 46})), ["a", "b"]);
    assert_eq!(ids(&snapshot, json!({"electric_range_mi_max": 46})), ["b"]);
    assert_eq!(ids(&snapshot, json!({"electric_range_mi_min": 47})), [""; 0]);
    assert_eq!(ids(&snapshot, json!({"electric_range_mi_max": i64::MAX})), ["a", "b"]);
    assert_eq!(ids(&snapshot, json!({"dc_fast_charge": true})), ["a"]);
    assert_eq!(ids(&snapshot, json!({"dc_fast_charge": false})).len(), 3);
    assert_eq!(ids(&snapshot, json!({"features": ["HEATED SEATS"]})), ["a", "b"]);
    assert_eq!(ids(&snapshot, json!({"features": ["heated seats", "sunroof"]})), ["a"]);
    assert!(ids(&snapshot, json!({"features": ["sunroof", "tow hitch"]})).is_empty());
}

#[test]
fn a_unit_without_a_type_is_a_car_and_lacks_everything_else() {
    let snapshot = lot(json!([{"vehicle_id": "a"}, {"vehicle_id": "b", "vehicle_type": "trailer"}]));
    assert_eq!(ids(&snapshot, json!({"vehicle_type": ["car"]})), ["a"]);
    for lacking in [
        json!({"make": ["x"]}),
        json!({"year_min": 1900}),
        json!({"mileage_max": 9}),
        json!({"displacement_cc_min": 0}),
        json!({"electric_range_mi_min": 0}),
        json!({"rooftops": ["x"]}),
        json!({"dc_fast_charge": true}),
        json!({"charge_port": ["nacs"]}),
        json!({"features": ["x"]}),
        json!({"vin": "x"}),
        json!({"stock": "x"}),
    ] {
        assert!(ids(&snapshot, lacking.clone()).is_empty(), "{lacking}");
    }
    assert_eq!(told(&snapshot, json!({}))["vehicle_types"][0], json!({"value": "car", "count": 1}));
}

#[test]
fn every_token_of_a_query_must_occur_somewhere() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "make": "Honda", "model": "Civic", "year": 2022, "stock": "HC-77", "engine": "2.0L I4",
         "description": "One OWNER,\nclean title", "features": ["Apple CarPlay"], "exterior_color": "Rallye Red"},
        {"vehicle_id": "b", "make": "Honda", "model": "Accord", "vin": "1HGCV1F30KA000001", "rooftop": "Civic Center",
         "notes": "owner"},
    ]));
    for (query, expected) in [
        ("honda", vec!["a", "b"]),
        ("CIVIC honda", vec!["a"]),
        ("civ", vec!["a"]),
        ("202", vec!["a"]),
        ("owner", vec!["a"]),
        ("owner, i4 play red hc-77", vec!["a"]),
        ("hgcv1f", vec!["b"]),
        ("honda 2023", vec![]),
        ("carplay accord", vec![]),
        ("  \t ", vec!["a", "b"]),
        ("one\u{a0}title", vec!["a"]),
        ("center", vec![]),
    ] {
        assert_eq!(ids(&snapshot, json!({"query": query})), expected, "{query}");
    }
}

/// Field report 33: equal prices and no tie-break repeat or lose units.
#[test]
fn fifty_cars_at_one_price_come_once_each() {
    let cars: Vec<Value> =
        (0..50).map(|i| json!({"vehicle_id": format!("v{}", i * 37 % 50), "price": 24990})).collect();
    let snapshot = lot(Value::Array(cars));
    let mut expected: Vec<String> = (0..50).map(|i| format!("v{i}")).collect();
    expected.sort();
    for order in [SortOrder::Asc, SortOrder::Desc] {
        assert_eq!(walk(&snapshot, by(SortField::Price, order), 7), expected);
    }
}

/// Field report 34: a missing value where a page ends.
#[test]
fn unpriced_cars_come_last_both_ways() {
    let cars: Vec<Value> = (0..40)
        .map(|i| {
            let mut car = json!({"vehicle_id": format!("v{i:02}")});
            if i % 2 == 0 {
                car["price"] = json!(20_000 + i / 4 * 100);
            }
            car
        })
        .collect();
    let snapshot = lot(Value::Array(cars));
    let unpriced: Vec<String> = (0..40).filter(|i| i % 2 == 1).map(|i| format!("v{i:02}")).collect();
    for limit in [1, 2, 3, 7, 20, 21, 40] {
        let up = walk(&snapshot, by(SortField::Price, SortOrder::Asc), limit);
        let down = walk(&snapshot, by(SortField::Price, SortOrder::Desc), limit);
        assert_eq!(up[..4], ["v00", "v02", "v04", "v06"]);
        assert_eq!(down[..4], ["v36", "v38", "v32", "v34"]);
        for pages in [up, down] {
            assert_eq!(pages[20..], unpriced);
            let distinct: std::collections::HashSet<_> = pages.iter().collect();
            assert_eq!(distinct.len(), 40);
        }
    }
}

/// Field report 35: what filtered facets count.
#[test]
fn filtered_facets_count_the_filtered_units() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "make": "Honda", "model": "Civic", "year": 2022, "price": 100},
        {"vehicle_id": "b", "make": "HONDA", "model": "CR-V", "year": 2024},
        {"vehicle_id": "c", "make": "Honda", "model": "CR-V", "year": 2023, "electric_range_mi": 30.5, "dc_fast_charge": true},
        {"vehicle_id": "d", "make": "Toyota", "model": "Camry", "year": 2020, "price": 50, "displacement_cc": 2000}
    ]));
    let honda = told(&snapshot, json!({"make": ["honda"]}));
    assert_eq!(
        honda,
        json!({
            "makes": [{"value": "Honda", "count": 3}],
            "models": [{"value": "CR-V", "count": 2}, {"value": "Civic", "count": 1}],
            "years": [{"value": 2022, "count": 1}, {"value": 2023, "count": 1}, {"value": 2024, "count": 1}],
            "vehicle_types": [{"value": "car", "count": 3}],
            "statuses": [{"value": "available", "count": 3}],
            "dc_fast_charge": [{"value": "true", "count": 1}],
            "price_range": {"min": 100, "max": 100},
            "year_range": {"min": 2022, "max": 2024},
            "electric_range_mi_range": {"min": 30.5, "max": 30.5}
        })
    );
    // Every count is what a filter with the value finds.
    for term in told(&snapshot, json!({}))["models"].as_array().unwrap() {
        assert_eq!(ids(&snapshot, json!({"model": [term["value"]]})).len() as u64, term["count"]);
    }
    assert_eq!(told(&snapshot, json!({"make": ["Tesla"]})), json!({}));
    assert_eq!(
        told(&snapshot, json!({"make": [], "query": " ", "dc_fast_charge": false}))["makes"][0]["count"],
        3
    );
}

#[test]
fn a_whole_range_is_told_without_a_fraction() {
    let snapshot = lot(
        json!([{"vehicle_id": "a", "electric_range_mi": 250.0}, {"vehicle_id": "b", "electric_range_mi": 3.25}]),
    );
    let text = String::from_utf8(facets(&snapshot, &Filters::default()).into_owned()).unwrap();
    assert!(text.ends_with("\"electric_range_mi_range\":{\"min\":3.25,\"max\":250}}"), "{text}");
}

#[test]
fn spellings_of_one_value_are_one_facet_value() {
    let drivelines = ["awd", "AWD", "Awd", "AWD", "fwd"];
    let cars: Vec<Value> = drivelines
        .iter()
        .enumerate()
        .map(|(i, d)| json!({"vehicle_id": i.to_string(), "driveline": d}))
        .collect();
    let snapshot = lot(Value::Array(cars));
    let expected = json!([{"value": "AWD", "count": 4}, {"value": "fwd", "count": 1}]);
    assert_eq!(told(&snapshot, json!({}))["drivelines"], expected);
    assert_eq!(ids(&snapshot, json!({"driveline": ["aWd"]})).len(), 4);
}

#[test]
fn an_empty_lot_answers() {
    let snapshot = lot(json!([]));
    assert!(snapshot.is_empty());
    assert_eq!(&*facets(&snapshot, &Filters::default()), b"{}");
    assert_eq!(&*facets(&snapshot, &filters(json!({"make": ["x"], "price_min": 1, "query": "y"}))), b"{}");
    let page = search(&snapshot, &Filters::default(), Sort::DEFAULT, Start::Beginning, 20).unwrap();
    assert_eq!((page.total, page.rows.len(), page.more), (0, 0, false));
    assert_eq!(search(&snapshot, &Filters::default(), Sort::DEFAULT, Start::After("a"), 20), Err(UnknownRow));
    assert_eq!(find(&snapshot, Some("a"), Some("b"), Some("c")), inventory::Found::Nothing);
}

#[test]
fn updated_at_sorts_by_instant_to_the_nanosecond() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "updated_at": "2026-11-28T16:00:00.000000002Z"},
        {"vehicle_id": "b", "updated_at": "2026-11-28T17:00:00.000000001+01:00"},
        {"vehicle_id": "c", "updated_at": "2026-11-28T16:00:00.1Z"}
    ]));
    assert_eq!(walk(&snapshot, by(SortField::UpdatedAt, SortOrder::Asc), 1), ["b", "a", "c"]);
    assert_eq!(walk(&snapshot, Sort::DEFAULT, 1), ["c", "a", "b"]);
}

#[test]
fn a_page_can_start_behind_a_unit_that_does_not_match() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "price": 1, "make": "x"}, {"vehicle_id": "b", "price": 2, "make": "y"},
        {"vehicle_id": "c", "price": 3, "make": "x"}, {"vehicle_id": "d", "make": "x"}
    ]));
    let wanted = filters(json!({"make": ["x"]}));
    let rest = |after, order| {
        let page = search(&snapshot, &wanted, by(SortField::Price, order), Start::After(after), 9).unwrap();
        assert_eq!(page.total, 3);
        page.rows.iter().map(|row| row.vehicle_id()).collect::<Vec<_>>()
    };
    assert_eq!(rest("b", SortOrder::Asc), ["c", "d"]);
    assert_eq!(rest("b", SortOrder::Desc), ["a", "d"]);
    assert!(rest("d", SortOrder::Desc).is_empty());
    let unknown = search(&snapshot, &wanted, Sort::DEFAULT, Start::After("z"), 9);
    assert_eq!(unknown, Err(UnknownRow));
    let nothing = search(&snapshot, &wanted, Sort::DEFAULT, Start::Beginning, 0).unwrap();
    assert_eq!((nothing.total, nothing.rows.len(), nothing.more), (3, 0, true));
}

#[test]
fn zero_bytes_in_texts_are_letters_like_others() {
    let snapshot = lot(json!([
        {"vehicle_id": "a", "description": "x\u{0}"}, {"vehicle_id": "b", "description": "x"},
        {"vehicle_id": "c", "make": "x\u{0}y"}
    ]));
    assert_eq!(ids(&snapshot, json!({"query": "x\u{0}"})), ["a", "c"]);
    assert_eq!(ids(&snapshot, json!({"query": "x"})), ["a", "b", "c"]);
    assert_eq!(ids(&snapshot, json!({"make": ["X\u{0}Y"]})), ["c"]);
}

#[test]
fn the_weight_is_the_sum_of_its_parts_and_grows_with_the_lot() {
    let weight = |count: usize| {
        let cars = (0..count)
            .map(|i| json!({"vehicle_id": i.to_string(), "make": "Honda", "description": "w ".repeat(500)}));
        let snapshot = lot(cars.collect());
        let parts: usize = snapshot.parts().iter().map(|part| part.1).sum();
        assert_eq!(snapshot.weight(), parts);
        // Two documents a unit; one has the thousand bytes of the description.
        assert!(snapshot.documents() > count * 1000);
        assert!(snapshot.weight() > snapshot.documents());
        snapshot.weight()
    };
    assert!(weight(200) - weight(100) > 100 * 1000);
    let removed = |count: usize| {
        let removed = (0..count).map(|i| Removed { vehicle_id: format!("gone-{i}"), vin: None, stock: None });
        Snapshot::build(1, Vec::new(), removed.collect()).weight()
    };
    assert!(removed(1000) - removed(0) > 1000 * "gone-123".len());
}
