//! `inventory.vehicle`: one unit by its identifiers (AAP.md 7.2, 7.5).

use contract::{Contract, ContractVersion};
use serde_json::{Value, json};
use testkit::{Asking, car};

use crate::ground::{fault, ground, harbor, lot, problems, search, settle};

fn request(members: Value) -> Value {
    let mut data = json!({"type": "inventory.vehicle.request"});
    for (key, value) in members.as_object().unwrap() {
        data[key] = value.clone();
    }
    data
}

async fn found(asking: Asking) -> String {
    asking.result().await["vehicle_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_most_specific_identifier_that_matches_decides() {
    let (v1, v4) = ("2HKRW2H80PH600101", "5YJ3E1EA7KF317000");
    let nobody = "WVGZZZ5NZEW069297";
    for (members, id) in [
        (json!({"vin": v1}), "v1"),
        (json!({"vehicle_id": "v2"}), "v2"),
        (json!({"stock": "S-3"}), "v3"),
        (json!({"vin": v1, "vehicle_id": "v2", "stock": "S-3"}), "v1"),
        (json!({"vehicle_id": "v2", "stock": "S-3"}), "v2"),
        (json!({"vin": nobody, "vehicle_id": "v2"}), "v2"),
        (json!({"vin": nobody, "vehicle_id": "none", "stock": "S-3"}), "v3"),
        (json!({"stock": "S-3", "vin": v4}), "v4"),
        (json!({"vehicle_id": "", "stock": "S-3"}), "v3"),
        (json!({"vehicle_id": "v7", "dealer_id": "harbor-city"}), "v7"),
        // A unit that is gone does not hide one that is here.
        (json!({"vin": "1HGCM82633A004352", "stock": "S-3"}), "v3"),
        (json!({"vehicle_id": "gone", "stock": "E-5"}), "v5"),
    ] {
        assert_eq!(found(harbor(request(members.clone())).await).await, id, "{members}");
    }
    for members in [
        json!({"vin": nobody}),
        json!({"vehicle_id": "V1"}),
        json!({"vehicle_id": "v1 "}),
        json!({"stock": "s-3"}),
        json!({"stock": "v3"}),
        json!({"vehicle_id": "S-3"}),
        json!({"stock": ""}),
        json!({"stock": "S-"}),
        json!({"vin": nobody, "vehicle_id": "x", "stock": "y"}),
        json!({"stock": "😀"}),
        json!({"stock": "%"}),
        json!({"vehicle_id": "x".repeat(100_000)}),
    ] {
        fault(&harbor(request(members)).await.error().await, "VEHICLE_NOT_FOUND");
    }
    for members in [
        json!({"stock": "G-1"}),
        json!({"vin": "1HGCM82633A004352"}),
        json!({"vehicle_id": "gone"}),
        json!({"vehicle_id": "gone", "stock": "nobody"}),
        json!({"vin": nobody, "stock": "G-1"}),
    ] {
        fault(&harbor(request(members)).await.error().await, "VEHICLE_UNAVAILABLE");
    }
}

#[tokio::test]
async fn a_question_names_a_unit_and_nothing_else() {
    let at = |places: &[(&str, &str)]| {
        places.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
    };
    for (members, expected) in [
        (json!({}), at(&[("", "anyOf")])),
        (json!({"dealer_id": "harbor-city"}), at(&[("", "anyOf")])),
        (json!({"vin": "short"}), at(&[("/vin", "pattern")])),
        (json!({"vin": "5yj3e1ea7kf317000"}), at(&[("/vin", "pattern")])),
        (json!({"vin": null}), at(&[("/vin", "type")])),
        (json!({"stock": 5, "vehicle_id": ["v1"]}), at(&[("/stock", "type"), ("/vehicle_id", "type")])),
        (json!({"stock": "S-3", "filters": {}}), at(&[("/filters", "additionalProperties")])),
        (json!({"Stock": "S-3"}), at(&[("", "anyOf"), ("/Stock", "additionalProperties")])),
        (
            json!({"stock": "S-3", "customer": {}, "a/b": 1}),
            at(&[("/a~1b", "additionalProperties"), ("/customer", "additionalProperties")]),
        ),
    ] {
        let error = harbor(request(members.clone())).await.error().await;
        assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), expected, "{members}");
    }
}

#[tokio::test]
async fn a_detail_is_the_whole_listing_as_the_dealer_gave_it() {
    let platform = ground().await;
    let contract = Contract::load(ContractVersion::V3_0).unwrap();
    let listed = platform.call("harbor", search()).await;
    for given in lot().as_array().unwrap() {
        let id = given["vehicle_id"].as_str().unwrap();
        let unit = platform.call("harbor", request(json!({"vehicle_id": id}))).await;
        let mut expected = given.clone();
        expected["dealer_id"] = json!("harbor-city");
        assert_eq!(unit, expected);
        contract.check("listing.schema.json", &unit).unwrap();
        // A search shows the same unit; only its long text is kept for the detail.
        let row = listed["vehicles"].as_array().unwrap().iter().find(|row| row["vehicle_id"] == id).unwrap();
        expected.as_object_mut().unwrap().remove("description");
        assert_eq!(*row, expected);
    }
}

#[tokio::test]
async fn extra_members_and_spellings_survive_and_gaps_are_filled() {
    let unit = json!({
        "stock": "X-1", "status": "available", "price": 35000.0, "battery_kwh": 77.4, "carfax_url": "https://x.example/",
        "fees": [], "rooftop": null, "charge_port": null, "other_attributes": {"a": ["x"], "b": 5.0, "c": true},
        "photos": ["https://img.example/1.jpg"], "notes": "</script>\u{2028}é😀\"\\", "zzz": {"deep": [null, 1e30]},
    });
    let dealer =
        json!({"dealer_id": "own", "name": "Extra", "rooftops": [{"name": "R"}], "inventory": [unit]});
    let platform = settle(json!({"extra": dealer})).await;
    let found = platform.call("extra", request(json!({"stock": "X-1"}))).await;
    assert_eq!(found["vehicle_id"], "stock-X-1");
    assert_eq!(found["dealer_id"], "own");
    assert!(chrono::DateTime::parse_from_rfc3339(found["updated_at"].as_str().unwrap()).is_ok());
    assert_eq!(found["price"].to_string(), "35000");
    for key in ["battery_kwh", "carfax_url", "fees", "rooftop", "charge_port", "photos", "notes", "zzz"] {
        assert_eq!(found[key], unit[key], "{key}");
    }
    assert_eq!(found["other_attributes"]["b"], 5);
}

#[tokio::test]
async fn units_come_go_and_come_back() {
    let dealer = |ids: &[&str]| {
        let lot: Vec<_> = ids.iter().map(|id| car(id, "Honda", "Civic", 20000)).collect();
        json!({"coming": {"name": "Coming", "rooftops": [{"name": "R"}], "inventory": lot}})
    };
    let platform = settle(dealer(&["a", "b"])).await;
    let ask = |member: &str, value: &str| platform.ask("coming", request(json!({member: value})));
    assert_eq!(found(ask("stock", "S-a")).await, "a");
    settle(dealer(&["b"])).await;
    for asking in [ask("stock", "S-a"), ask("vehicle_id", "a")] {
        fault(&asking.error().await, "VEHICLE_UNAVAILABLE");
    }
    fault(&ask("vehicle_id", "c").error().await, "VEHICLE_NOT_FOUND");
    settle(dealer(&["a", "b"])).await;
    assert_eq!(found(ask("stock", "S-a")).await, "a");
    // Of two units with one stock number the one with the smaller id is meant, on every node.
    let mut twins = dealer(&["t2", "t1"]);
    for unit in twins["coming"]["inventory"].as_array_mut().unwrap() {
        unit["stock"] = json!("TWIN");
    }
    settle(twins).await;
    assert_eq!(found(ask("stock", "TWIN")).await, "t1");
}
