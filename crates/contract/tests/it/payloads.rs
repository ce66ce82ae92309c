//! The typed requests can read whatever their schemas accept.

use contract::listing::integral;
use contract::payload::{InventorySearchRequest, VehicleRequest};
use contract::{Contract, ContractVersion};
use serde_json::Value;

use crate::contract_of;
use crate::mutate::{Change, Dice, Documents, changes, full};

/// Calls `read` with every accepted payload that can be made from a schema, in every version.
fn each_accepted(file: &str, mut read: impl FnMut(&Value)) -> usize {
    ContractVersion::ALL.into_iter().map(|version| each_accepted_in(version, file, &mut read)).sum()
}

fn each_accepted_in(version: ContractVersion, file: &str, read: &mut impl FnMut(&Value)) -> usize {
    let all: Documents = Contract::schemas(version)
        .map(|(file, text)| (file.to_owned(), serde_json::from_str(text).unwrap()))
        .collect();
    let contract = contract_of(version);
    let mut bases = vec![full(&all, file)];
    bases.extend(all[file]["examples"].as_array().unwrap().iter().cloned());
    let mut dice = Dice(7);
    let mut seen = 0;
    let mut offer = |payload: &Value| {
        if contract.check(file, payload).is_ok() {
            seen += 1;
            read(payload);
        }
    };
    for base in &bases {
        offer(base);
        let single = changes(base);
        single.iter().filter_map(|change| change.apply(base)).for_each(|payload| offer(&payload));
        for _ in 0..500 {
            let some: [&Change; 4] = std::array::from_fn(|_| dice.pick(&single));
            // Changes that no longer fit are passed over: more of these payloads stay acceptable.
            let mixed = some.into_iter().fold(base.clone(), |payload, change| {
                change.apply(&payload).filter(|p| contract.check(file, p).is_ok()).unwrap_or(payload)
            });
            offer(&mixed);
        }
    }
    seen
}

fn assert_read(payload: &Value, request: &InventorySearchRequest) {
    let at = |pointer: &str| payload.pointer(pointer);
    let filters = &request.filters;
    for (pointer, read) in [
        ("/filters/year_min", filters.year_min),
        ("/filters/year_max", filters.year_max),
        ("/filters/price_min", filters.price_min),
        ("/filters/price_max", filters.price_max),
        ("/filters/mileage_max", filters.mileage_max),
        ("/filters/displacement_cc_min", filters.displacement_cc_min),
        ("/filters/displacement_cc_max", filters.displacement_cc_max),
        ("/filters/electric_range_mi_min", filters.electric_range_mi_min),
        ("/filters/electric_range_mi_max", filters.electric_range_mi_max),
        ("/pagination/limit", request.pagination.limit),
        ("/pagination/skip", request.pagination.skip),
    ] {
        assert_eq!(at(pointer).map(|n| integral(n).unwrap()), read, "{pointer} of {payload}");
    }
    for (key, read) in [
        ("make", &filters.make),
        ("model", &filters.model),
        ("trim", &filters.trim),
        ("condition", &filters.condition),
        ("status", &filters.status),
        ("vehicle_type", &filters.vehicle_type),
        ("body", &filters.body),
        ("transmission", &filters.transmission),
        ("fuel", &filters.fuel),
        ("driveline", &filters.driveline),
        ("charge_port", &filters.charge_port),
        ("exterior_color", &filters.exterior_color),
        ("interior_color", &filters.interior_color),
        ("rooftops", &filters.rooftops),
        ("features", &filters.features),
    ] {
        let sent =
            at(&format!("/filters/{key}")).map(|v| v.as_array().unwrap().as_slice()).unwrap_or_default();
        assert!(
            sent.iter().map(|v| v.as_str().unwrap()).eq(read.iter().map(String::as_str)),
            "{key} of {payload}"
        );
    }
    for (pointer, read) in [
        ("/filters/vin", &filters.vin),
        ("/filters/stock", &filters.stock),
        ("/filters/query", &filters.query),
        ("/pagination/cursor", &request.pagination.cursor),
        ("/dealer_id", &request.dealer_id),
    ] {
        assert_eq!(at(pointer).and_then(Value::as_str), read.as_deref(), "{pointer} of {payload}");
    }
    assert_eq!(at("/filters/dc_fast_charge").and_then(Value::as_bool), filters.dc_fast_charge);
    let sort = request.sort.map(|s| serde_json::to_value(s).unwrap());
    assert_eq!(at("/sort").cloned(), sort);
}

#[test]
fn search_requests_are_read_whole() {
    let seen = each_accepted("inventory-search-request.schema.json", |payload| {
        let request: InventorySearchRequest =
            serde_json::from_value(payload.clone()).unwrap_or_else(|e| panic!("{e}: {payload}"));
        assert_read(payload, &request);
    });
    assert!(seen > 1000, "{seen}");
}

#[test]
fn facets_requests_are_read_whole() {
    let seen = each_accepted("inventory-facets-request.schema.json", |payload| {
        let request: InventorySearchRequest =
            serde_json::from_value(payload.clone()).unwrap_or_else(|e| panic!("{e}: {payload}"));
        assert_read(payload, &request);
    });
    assert!(seen > 1000, "{seen}");
}

#[test]
fn vehicle_requests_are_read_whole() {
    let seen = each_accepted("vehicle-detail-request.schema.json", |payload| {
        let request: VehicleRequest =
            serde_json::from_value(payload.clone()).unwrap_or_else(|e| panic!("{e}: {payload}"));
        for (key, read) in
            [("vin", request.vin), ("vehicle_id", request.vehicle_id), ("stock", request.stock)]
        {
            assert_eq!(payload.get(key).and_then(Value::as_str), read.as_deref(), "{key} of {payload}");
        }
    });
    assert!(seen > 300, "{seen}");
}
