//! What is made of a vehicle is again a listing, and its columns are its document.

use chrono::{DateTime, Utc};
use contract::listing::integral;
use contract::{Contract, ContractVersion, Listing};
use serde_json::Value;

use crate::V3_0;
use crate::mutate::{Documents, changes, full};

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn assert_columns(unit: &Listing, shown: &Value) {
    let text = |key: &str| shown[key].as_str().map(str::to_owned);
    let columns = [
        ("vin", &unit.vin),
        ("stock", &unit.stock),
        ("condition", &unit.condition),
        ("rooftop", &unit.rooftop),
        ("make", &unit.make),
        ("model", &unit.model),
        ("trim", &unit.trim),
        ("body", &unit.body),
        ("fuel", &unit.fuel),
        ("driveline", &unit.driveline),
        ("transmission", &unit.transmission),
        ("engine", &unit.engine),
        ("exterior_color", &unit.exterior_color),
        ("interior_color", &unit.interior_color),
        ("charge_port", &unit.charge_port),
        ("description", &unit.description),
    ];
    for (key, column) in columns {
        assert_eq!(&text(key), column, "{key} of {shown}");
    }
    assert_eq!(text("status").as_deref(), Some(unit.status.as_str()));
    assert_eq!(text("vehicle_id").as_deref(), Some(unit.vehicle_id.as_str()));
    assert_eq!(shown["vehicle_type"].as_str().unwrap_or("car"), unit.vehicle_type);
    for (key, column) in [
        ("year", unit.year.map(i64::from)),
        ("price", unit.price),
        ("list_price", unit.list_price),
        ("msrp", unit.msrp),
        ("mileage", unit.mileage),
        ("displacement_cc", unit.displacement_cc),
    ] {
        assert_eq!(shown.get(key).and_then(integral), column, "{key} of {shown}");
    }
    assert_eq!(shown["electric_range_mi"].as_f64(), unit.electric_range_mi);
    assert_eq!(shown["dc_fast_charge"].as_bool(), unit.dc_fast_charge);
    let features: Vec<_> =
        shown["features"].as_array().into_iter().flatten().map(|f| f.as_str().unwrap()).collect();
    assert_eq!(features, unit.features);
    let stamp = DateTime::parse_from_rfc3339(shown["updated_at"].as_str().unwrap()).unwrap();
    assert_eq!(stamp, unit.updated_at);
}

#[test]
fn every_acceptable_vehicle_becomes_a_listing_with_columns_to_match() {
    let all: Documents = Contract::schemas(ContractVersion::V3_0)
        .map(|(file, text)| (file.to_owned(), serde_json::from_str(text).unwrap()))
        .collect();
    let now = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().with_timezone(&Utc);
    let base = full(&all, "listing.schema.json");
    let mut seen = 0;
    for vehicle in changes(&base).iter().filter_map(|change| change.apply(&base)) {
        if V3_0.check("listing.schema.json", &vehicle).is_err() {
            continue;
        }
        seen += 1;
        let unit = Listing::from_vehicle(vehicle.as_object().unwrap(), "tidewater", now).unwrap();
        let listing = document(&unit.listing);
        let detail = unit.detail.as_deref().map_or_else(|| listing.clone(), document);
        for shown in [&listing, &detail] {
            assert_eq!(V3_0.check("listing.schema.json", shown), Ok(()), "{shown}");
        }
        assert_columns(&unit, &detail);
        assert_eq!(listing.get("description"), None);
        assert_eq!(unit.detail.is_some(), vehicle.get("description").is_some());

        // Nothing is lost or changed but the spelling of whole numbers and what a listing must have.
        for (key, value) in vehicle.as_object().unwrap() {
            if !["vehicle_id", "updated_at"].contains(&key.as_str()) {
                let same = |v: &Value| contract::canonical::text(v);
                assert_eq!(same(&detail[key]), same(value), "{key}");
            }
        }
        if let Some(stamp) = vehicle.get("updated_at") {
            assert_eq!(&detail["updated_at"], stamp);
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn every_point_in_time_that_the_schema_accepts_is_understood() {
    let now = Utc::now();
    for stamp in [
        "2026-11-30T09:15:00Z",
        "2026-11-30t09:15:00z",
        "2026-11-30T09:15:00.123456789012Z",
        "2026-11-30T09:15:00+23:59",
        "2026-11-30T09:15:00-00:00",
        "2016-12-31T23:59:60Z",
        "2016-12-31T15:59:60.5-08:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ] {
        let vehicle = serde_json::json!({"vehicle_id": "a", "status": "available", "updated_at": stamp});
        assert_eq!(V3_0.check("listing.schema.json", &vehicle), Ok(()), "{stamp}");
        let unit = Listing::from_vehicle(vehicle.as_object().unwrap(), "tidewater", now).unwrap();
        assert_eq!(document(&unit.listing)["updated_at"], stamp);
        assert_ne!(unit.updated_at, now, "{stamp}");
    }
}
