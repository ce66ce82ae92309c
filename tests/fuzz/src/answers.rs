//! Answers: whatever a listing was made of, what is shown of it fits the response schemas.

use chrono::{DateTime, Utc};
use contract::payload::{Filters, InventorySearchRequest, Sort};
use contract::{Contract, Listing, Paging, SkillId};
use inventory::{Builder, Found, Start};
use serde_json::{Value, json};

use crate::requests::MATERIAL;
use crate::{CONTRACT_SCHEMAS, Source};

/// Of vehicles that a dealer may list a lot is made; what search, facets and detail say of it for some request
/// fits the contract's schemas, and they agree.
pub fn answers(data: &[u8]) {
    let mut source = Source::new(data);
    let now = DateTime::from_timestamp(1_796_029_200, 0).unwrap();
    let at = source.below(CONTRACT_SCHEMAS.len());
    let (contract, (documents, changes)) = (&CONTRACT_SCHEMAS[at], &MATERIAL[at]);
    let mut filters = documents.sample("inventory-search-request.schema.json", &mut source);
    if source.chance(64) {
        changes.apply(&mut filters, &mut source);
    }
    let request = contract
        .check("inventory-search-request.schema.json", &filters)
        .ok()
        .and_then(|()| serde_json::from_value::<InventorySearchRequest>(filters).ok())
        .unwrap_or_default();

    let mut listings: Vec<Listing> = Vec::new();
    for _ in 0..1 + source.below(6) {
        let mut vehicle = documents.sample("listing.schema.json", &mut source);
        for _ in 0..source.below(3) {
            changes.apply(&mut vehicle, &mut source);
        }
        listings.extend(listing(contract, &vehicle, now));
    }
    listings.sort_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
    listings.dedup_by(|later, first| later.vehicle_id == first.vehicle_id);
    shown(contract, listings, &request);
}

/// What is made of a vehicle, if a dealer may list it (provisioning asks the listing schema first).
fn listing(contract: &Contract, vehicle: &Value, now: DateTime<Utc>) -> Option<Listing> {
    contract.check("listing.schema.json", vehicle).ok()?;
    let members = vehicle.as_object()?;
    let made = Listing::from_vehicle(members, "tidewater", now);
    assert_eq!(made.is_some(), contract::listing::unit_id(members).is_some(), "{vehicle}");
    let made = made?;
    let document: Value = serde_json::from_str(made.detail.as_deref().unwrap_or(&made.listing)).unwrap();
    for (key, value) in
        members.iter().filter(|(key, _)| !["vehicle_id", "updated_at"].contains(&key.as_str()))
    {
        let text = contract::canonical::text;
        assert_eq!(text(&document[key]), text(value), "{key} of {vehicle}");
    }
    Some(made)
}

pub(crate) fn shown(contract: &Contract, listings: Vec<Listing>, request: &InventorySearchRequest) {
    let ids: Vec<String> = listings.iter().map(|unit| unit.vehicle_id.clone()).collect();
    let mut builder = Builder::new(listings.len());
    for unit in listings {
        builder.push(unit).unwrap();
    }
    let snapshot = builder.finish(7, &[]);

    let sort = request.sort.unwrap_or(Sort::DEFAULT);
    let page = inventory::search(&snapshot, &request.filters, sort, Start::Beginning, 100).unwrap();
    let rows: Vec<Value> =
        page.rows.iter().map(|row| serde_json::from_slice(row.listing()).unwrap()).collect();
    assert_eq!(page.total, u64::try_from(rows.len()).unwrap());
    let mut data = json!({"total": page.total, "limit": 100, "vehicles": rows});
    match contract.spec().paging {
        Paging::Skip => data["skip"] = json!(0),
        Paging::Cursor => {
            data["next_cursor"] = Value::Null;
            data["applied_filters"] = json!({});
            data["sort"] = serde_json::to_value(sort).unwrap();
        }
    }
    fits(contract, SkillId::InventorySearch, data);

    let facets: Value = serde_json::from_slice(&inventory::facets(&snapshot, &request.filters)).unwrap();
    let counted = facets["statuses"].as_array().into_iter().flatten();
    assert_eq!(counted.map(|entry| entry["count"].as_u64().unwrap()).sum::<u64>(), page.total, "{facets}");
    fits(contract, SkillId::InventoryFacets, facets);

    for id in &ids {
        let Found::Live { document, vehicle_id } = inventory::find(&snapshot, None, Some(id), None) else {
            panic!("{id:?} is listed and not found");
        };
        assert_eq!(vehicle_id, id);
        fits(contract, SkillId::InventoryVehicle, serde_json::from_str(document).unwrap());
    }
    let all = inventory::search(&snapshot, &Filters::default(), sort, Start::Beginning, 100).unwrap();
    assert_eq!(all.total, u64::try_from(ids.len()).unwrap());
}

fn fits(contract: &Contract, skill: SkillId, data: Value) {
    let spec = skill.spec();
    let payload = json!({"type": spec.response_type, "data": data});
    let verdict = contract.check(spec.response_schema, &payload);
    assert_eq!(verdict, Ok(()), "{} {skill}: {payload}", contract.spec().version);
}
