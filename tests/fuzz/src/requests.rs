//! Requests: whatever a schema accepts is read into the types, whole.

use std::sync::LazyLock;

use contract::listing::integral;
use contract::payload::{
    Filters, InventorySearchRequest, LeadSubmitRequest, Sort, VehicleRequest, WantedVehicle, instant,
};
use contract::{Contract, ContractVersion, SKILL_SPECS, SkillId, SkillSpec, Violation};
use inventory::cursor::fingerprint;
use serde_json::{Map, Value};

use crate::change::Changes;
use crate::sample::Documents;
use crate::{CONTRACT_SCHEMAS, Source};

/// The documents and the vocabulary of each contract, in the order of [`CONTRACT_SCHEMAS`].
pub(crate) static MATERIAL: LazyLock<Vec<(Documents, Changes)>> = LazyLock::new(|| {
    let of = |contract: &Contract| {
        let documents = Documents::of(contract.spec().version);
        let (names, words) = documents.vocabulary();
        (documents, Changes { names, words })
    };
    CONTRACT_SCHEMAS.iter().map(of).collect()
});

/// A request payload of some skill and contract, spoilt or not: it is either refused with reasons that say where,
/// or read whole. Text that is JSON is such a payload too, of every skill and contract.
pub fn requests(data: &[u8]) {
    if let Ok(payload) = serde_json::from_slice::<Value>(data) {
        for contract in CONTRACT_SCHEMAS.iter() {
            SKILL_SPECS.iter().for_each(|skill| judge(contract, skill, &payload));
        }
    }
    let mut source = Source::new(data);
    let at = source.below(CONTRACT_SCHEMAS.len());
    let (contract, (documents, changes)) = (&CONTRACT_SCHEMAS[at], &MATERIAL[at]);
    let skill = source.pick(&SKILL_SPECS);
    let mut payload = documents.sample(skill.request_schema, &mut source);
    for _ in 0..source.below(4) {
        changes.apply(&mut payload, &mut source);
    }
    judge(contract, skill, &payload);
}

/// A request payload of a skill in a contract, as [`requests`] makes them, of these bytes.
pub fn payload(version: ContractVersion, skill: &SkillSpec, data: &[u8]) -> Value {
    let mut source = Source::new(data);
    let (documents, _) = material(version);
    let mut payload = documents.sample(skill.request_schema, &mut source);
    for _ in 0..source.below(3) {
        spoil_by(version, &mut payload, &mut source);
    }
    payload
}

/// Makes one change in a request payload.
pub fn spoil(version: ContractVersion, payload: &mut Value, data: &[u8]) {
    spoil_by(version, payload, &mut Source::new(data));
}

fn spoil_by(version: ContractVersion, payload: &mut Value, source: &mut Source<'_>) {
    material(version).1.apply(payload, source);
}

fn material(version: ContractVersion) -> &'static (Documents, Changes) {
    let at = CONTRACT_SCHEMAS.iter().position(|contract| contract.spec().version == version);
    &MATERIAL[at.expect("a contract that is served")]
}

fn judge(contract: &Contract, skill: &SkillSpec, payload: &Value) {
    match contract.check(skill.request_schema, payload) {
        Err(violations) => {
            well_said(payload, &violations);
            let listed = violations.len();
            let fault = contract::refusal::of(skill, payload, violations);
            let number = contract.spec().number(fault.code);
            assert!(number.is_some() && fault.violations.len() == listed, "{fault:?}: {payload}");
        }
        Ok(()) => read(skill.id, payload),
    }
}

/// There is a reason, no place is named twice for the same one, and each place exists or is a key that is missing.
fn well_said(payload: &Value, violations: &[Violation]) {
    assert!(!violations.is_empty(), "{payload}");
    let places: Vec<_> = violations.iter().map(|v| (&v.location, &v.keyword)).collect();
    assert!(places.is_sorted_by(|a, b| a < b) || violations.len() > 1000, "{places:?}");
    for violation in violations {
        assert!(!violation.message.is_empty() && violation.keyword != "x-schema", "{violation:?}: {payload}");
        let place = match violation.location.rsplit_once('/') {
            Some((parent, _)) if violation.keyword == "required" => parent,
            _ => &violation.location,
        };
        assert!(payload.pointer(place).is_some(), "{violation:?}: {payload}");
    }
}

fn read(skill: SkillId, payload: &Value) {
    let kept = payload.clone();
    match skill {
        // The dealer is found by its address; v3.0 may say its id as well.
        SkillId::DealerInformation => {
            assert!(payload.as_object().unwrap().keys().all(|key| key == "type" || key == "dealer_id"));
        }
        SkillId::InventorySearch | SkillId::InventoryFacets => {
            let request: InventorySearchRequest =
                serde_json::from_value(kept).unwrap_or_else(|e| panic!("{e}: {payload}"));
            search(payload, &request);
        }
        SkillId::InventoryVehicle => {
            let request: VehicleRequest =
                serde_json::from_value(kept).unwrap_or_else(|e| panic!("{e}: {payload}"));
            for (key, read) in
                [("vin", request.vin), ("vehicle_id", request.vehicle_id), ("stock", request.stock)]
            {
                assert_eq!(payload.get(key).and_then(Value::as_str), read.as_deref(), "{key} of {payload}");
            }
        }
        SkillId::LeadSubmit => {
            let request: LeadSubmitRequest =
                serde_json::from_value(kept).unwrap_or_else(|e| panic!("{e}: {payload}"));
            lead(payload, &request);
        }
    }
}

/// Every member that decides something is read as it was sent, and every time is understood.
fn lead(payload: &Value, request: &LeadSubmitRequest) {
    let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
    let whole = |pointer: &str| payload.pointer(pointer).map(|number| integral(number).unwrap());
    let (vehicle, visit) = (request.vehicle_of_interest.as_ref(), request.appointment.as_ref());
    let wanted = |member: fn(&WantedVehicle) -> &Option<String>| vehicle.and_then(|v| member(v).as_deref());
    let consent = &request.consent;
    let visit_at = visit.and_then(|visit| visit.appointment_at.as_deref());
    for (pointer, read) in [
        ("/customer/email", request.customer.email.as_deref()),
        ("/customer/phone", request.customer.phone.as_deref()),
        ("/consent/granted_at", Some(consent.granted_at.as_str())),
        ("/consent/expires_at", consent.expires_at.as_deref()),
        ("/consent/consent_text", Some(consent.consent_text.as_str())),
        ("/vehicle_of_interest/vin", wanted(|v| &v.vin)),
        ("/vehicle_of_interest/stock", wanted(|v| &v.stock)),
        ("/vehicle_of_interest/vehicle_id", wanted(|v| &v.vehicle_id)),
        ("/vehicle_of_interest/make", wanted(|v| &v.make)),
        ("/vehicle_of_interest/model", wanted(|v| &v.model)),
        ("/vehicle_of_interest/rooftop", wanted(|v| &v.rooftop)),
        ("/appointment/appointment_at", visit_at),
        ("/appointment/appointment_type", visit.map(|visit| visit.appointment_type.as_str())),
        ("/source_agent/name", Some(request.source_agent.name.as_str())),
        ("/idempotency_key", request.idempotency_key.as_deref()),
    ] {
        assert_eq!(text(pointer), read, "{pointer} of {payload}");
    }
    assert_eq!(whole("/vehicle_of_interest/year"), vehicle.and_then(|v| v.year), "{payload}");
    let minutes = visit.and_then(|visit| visit.duration_minutes);
    assert_eq!(whole("/appointment/duration_minutes"), minutes, "{payload}");
    let channels = payload.pointer("/consent/allowed_channels").and_then(Value::as_array);
    assert_eq!(channels.map(Vec::len), Some(consent.allowed_channels.len()), "{payload}");
    for time in
        [Some(consent.granted_at.as_str()), consent.expires_at.as_deref(), visit_at].into_iter().flatten()
    {
        assert!(instant(time).is_some(), "{time}");
    }
}

/// Every member that was sent is where it belongs, and nothing else is.
fn search(payload: &Value, request: &InventorySearchRequest) {
    let none = Map::new();
    let sent = payload.get("filters").and_then(Value::as_object).unwrap_or(&none);
    for (name, value) in sent {
        assert!(has(&request.filters, name, value), "{name} of {payload}: {:?}", request.filters);
    }
    let bare = Filters::default();
    let mut only = bare.clone();
    for name in sent.keys() {
        copy(&request.filters, name, &mut only);
    }
    assert_eq!(only, request.filters, "filters that nobody sent: {payload}");

    let pages = payload.get("pagination").and_then(Value::as_object).unwrap_or(&none);
    let whole = |key: &str| pages.get(key).map(|number| integral(number).unwrap());
    assert_eq!(whole("limit"), request.pagination.limit);
    assert_eq!(whole("skip"), request.pagination.skip);
    assert_eq!(pages.get("cursor").and_then(Value::as_str), request.pagination.cursor.as_deref());
    assert_eq!(payload.get("dealer_id").and_then(Value::as_str), request.dealer_id.as_deref());
    let sort = request.sort.map(|sort| serde_json::to_value(sort).unwrap());
    assert_eq!(payload.get("sort").cloned(), sort);

    // A cursor goes on with the same request, however it is spelled the next time.
    let mut again = request.filters.clone();
    for (list, _) in lists(&mut again) {
        list.reverse();
        let twice = list.first().cloned();
        list.extend(twice);
    }
    let sort = request.sort.unwrap_or(Sort::DEFAULT);
    assert_eq!(fingerprint(&again, sort), fingerprint(&request.filters, sort), "{payload}");
}

fn lists(filters: &mut Filters) -> [(&mut Vec<String>, &'static str); 15] {
    [
        (&mut filters.make, "make"),
        (&mut filters.model, "model"),
        (&mut filters.trim, "trim"),
        (&mut filters.condition, "condition"),
        (&mut filters.vehicle_type, "vehicle_type"),
        (&mut filters.transmission, "transmission"),
        (&mut filters.fuel, "fuel"),
        (&mut filters.driveline, "driveline"),
        (&mut filters.body, "body"),
        (&mut filters.charge_port, "charge_port"),
        (&mut filters.exterior_color, "exterior_color"),
        (&mut filters.interior_color, "interior_color"),
        (&mut filters.rooftops, "rooftops"),
        (&mut filters.status, "status"),
        (&mut filters.features, "features"),
    ]
}

fn bounds(filters: &mut Filters) -> [(&mut Option<i64>, &'static str); 9] {
    [
        (&mut filters.year_min, "year_min"),
        (&mut filters.year_max, "year_max"),
        (&mut filters.price_min, "price_min"),
        (&mut filters.price_max, "price_max"),
        (&mut filters.mileage_max, "mileage_max"),
        (&mut filters.displacement_cc_min, "displacement_cc_min"),
        (&mut filters.displacement_cc_max, "displacement_cc_max"),
        (&mut filters.electric_range_mi_min, "electric_range_mi_min"),
        (&mut filters.electric_range_mi_max, "electric_range_mi_max"),
    ]
}

fn texts(filters: &mut Filters) -> [(&mut Option<String>, &'static str); 3] {
    [(&mut filters.vin, "vin"), (&mut filters.stock, "stock"), (&mut filters.query, "query")]
}

/// Whether the filter of that name is what was sent. A name that the types do not have is a fault of theirs.
fn has(filters: &Filters, name: &str, sent: &Value) -> bool {
    let mut filters = filters.clone();
    if name == "dc_fast_charge" {
        return sent.as_bool() == filters.dc_fast_charge;
    }
    if let Some((list, _)) = lists(&mut filters).into_iter().find(|(_, known)| *known == name) {
        let sent = sent.as_array().unwrap();
        return sent.iter().map(|value| value.as_str().unwrap()).eq(list.iter().map(String::as_str));
    }
    if let Some((bound, _)) = bounds(&mut filters).into_iter().find(|(_, known)| *known == name) {
        return bound.is_some() && integral(sent) == *bound;
    }
    let text = texts(&mut filters).into_iter().find(|(_, known)| *known == name);
    text.is_some_and(|(text, _)| text.as_deref() == sent.as_str())
}

fn copy(from: &Filters, name: &str, to: &mut Filters) {
    let mut from = from.clone();
    if name == "dc_fast_charge" {
        to.dc_fast_charge = from.dc_fast_charge;
    }
    for ((from, known), (to, _)) in lists(&mut from).into_iter().zip(lists(to)) {
        if known == name {
            to.clone_from(from);
        }
    }
    for ((from, known), (to, _)) in bounds(&mut from).into_iter().zip(bounds(to)) {
        if known == name {
            *to = *from;
        }
    }
    for ((from, known), (to, _)) in texts(&mut from).into_iter().zip(texts(to)) {
        if known == name {
            to.clone_from(from);
        }
    }
}
