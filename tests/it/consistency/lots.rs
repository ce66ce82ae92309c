//! Lots that follow from their version number: any answer shows from which version it is, all of it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

/// So many units there are in all; about three in four of them are on offer in any version.
const UNITS: u64 = 64;
const MAKES: [&str; 4] = ["Honda", "Kia", "Volvo", "Ford"];
const COLORS: [&str; 5] = ["Black", "Blue", "Green", "Red", "White"];

/// A unit as it is in a version; the salt makes dealers differ.
fn unit(salt: u64, number: u64, version: u64) -> Option<Value> {
    if version == 0 || ((version + 7 * number + salt) / 11).is_multiple_of(4) {
        return None;
    }
    let steps = (version + 3 * number + salt) / 5;
    let slowly = (version + number) / 9;
    let color = COLORS[usize::try_from(slowly % 5).unwrap()];
    let mut unit = json!({
        "vehicle_id": id(number), "stock": format!("S-{number}"), "status": "available",
        "condition": "used", "year": 2015 + number % 10, "make": make(number), "model": format!("M{}", number % 9),
        // Many units have the same price, and every version moves a fifth of them.
        "price": 10_000 + steps % 37 * 500, "exterior_color": color, "updated_at": "2026-11-01T08:00:00Z",
    });
    if number.is_multiple_of(3) {
        // Only the detail document shows it, so there is one of its own.
        unit["description"] = json!(format!("Looked at {slowly} times"));
        unit["stock"] = json!(format!("S-{number}-{}", slowly % 4));
    }
    Some(unit)
}

fn id(number: u64) -> String {
    format!("u{number:02}")
}

/// Any unit's number.
pub(super) fn any_number() -> u64 {
    rand::random_range(0..UNITS)
}

/// A request for a unit, which is on offer or not.
pub(super) fn one(number: u64) -> Value {
    json!({"type": "inventory.vehicle.request", "vehicle_id": id(number)})
}

/// The document of a unit is that of `version`.
#[track_caller]
pub(super) fn check_one(salt: u64, version: u64, number: u64, document: &Value) {
    let mut document = document.clone();
    document.as_object_mut().expect("a vehicle").remove("dealer_id");
    assert_eq!(Some(document), unit(salt, number, version), "version {version}");
}

/// That a unit is refused with this code is right for one of the versions.
#[track_caller]
pub(super) fn check_refused(salt: u64, versions: RangeInclusive<u64>, number: u64, code: &str) {
    let mut known = (1..*versions.start()).any(|version| unit(salt, number, version).is_some());
    for version in versions.clone() {
        let offered = unit(salt, number, version).is_some();
        known |= offered;
        if !offered && code == if known { "VEHICLE_UNAVAILABLE" } else { "VEHICLE_NOT_FOUND" } {
            return;
        }
    }
    panic!("{code} for {} of {versions:?}", id(number));
}

fn make(number: u64) -> &'static str {
    MAKES[usize::try_from(number % 4).unwrap()]
}

/// The whole lot of a version, by id.
pub(super) fn lot(salt: u64, version: u64) -> Vec<Value> {
    (0..UNITS).filter_map(|number| unit(salt, number, version)).collect()
}

/// Units that have to be written for a version after the one before, and ids of those that leave the lot.
pub(super) fn step(salt: u64, version: u64) -> (Vec<Map<String, Value>>, Vec<String>) {
    let (mut changed, mut gone) = (Vec::new(), Vec::new());
    for number in 0..UNITS {
        match (unit(salt, number, version - 1), unit(salt, number, version)) {
            (old, Some(Value::Object(new))) if old.as_ref().and_then(Value::as_object) != Some(&new) => {
                changed.push(new);
            }
            (Some(_), None) => gone.push(id(number)),
            _ => {}
        }
    }
    (changed, gone)
}

/// What is asked of a lot.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) make: Option<usize>,
    pub(super) descending: bool,
    pub(super) limit: usize,
}

impl Question {
    fn filters(&self) -> Value {
        self.make.map_or_else(|| json!({}), |make| json!({"make": [MAKES[make]]}))
    }

    /// The request, for the first page or from a cursor on.
    pub(super) fn search(&self, cursor: Option<&str>) -> Value {
        let mut pagination = json!({"limit": self.limit});
        if let Some(cursor) = cursor {
            pagination["cursor"] = json!(cursor);
        }
        json!({"type": "inventory.search.request", "filters": self.filters(), "pagination": pagination,
            "sort": {"field": "price", "order": if self.descending { "desc" } else { "asc" }}})
    }

    pub(super) fn facets(&self) -> Value {
        json!({"type": "inventory.facets.request", "filters": self.filters()})
    }

    /// All that matches in a version, in order.
    pub(super) fn matches(&self, salt: u64, version: u64) -> Vec<Value> {
        let mut all = lot(salt, version);
        all.retain(|unit| self.make.is_none_or(|make| unit["make"] == MAKES[make]));
        let price = |unit: &Value| unit["price"].as_i64().unwrap() * if self.descending { -1 } else { 1 };
        // Stable: equal prices stay in the order of the ids.
        all.sort_by_key(price);
        all
    }

    /// A page that begins after `skip` matches is exactly that of `version`.
    #[track_caller]
    pub(super) fn check_page(&self, salt: u64, version: u64, skip: usize, page: &Value) {
        let all = self.matches(salt, version);
        let brief = |unit: &Value| {
            (unit["vehicle_id"].clone(), unit["price"].clone(), unit["exterior_color"].clone())
        };
        let is: Vec<_> = page["vehicles"].as_array().expect("vehicles").iter().map(brief).collect();
        let expected: Vec<_> = all.iter().skip(skip).take(self.limit).map(brief).collect();
        assert_eq!(is, expected, "version {version} from {skip} on: {self:?}");
        assert_eq!(page["total"], all.len(), "version {version}: {self:?}");
        assert_eq!(
            page["next_cursor"].is_string(),
            all.len() > skip + self.limit,
            "version {version}: {self:?}"
        );
    }

    /// Facets are exactly those of `version`.
    #[track_caller]
    pub(super) fn check_facets(&self, salt: u64, version: u64, facets: &Value) {
        let all = self.matches(salt, version);
        for (key, member) in [("makes", "make"), ("exterior_colors", "exterior_color"), ("models", "model")] {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for unit in &all {
                *counts.entry(unit[member].as_str().unwrap()).or_default() += 1;
            }
            let terms = facets[key].as_array().cloned().unwrap_or_default();
            let is: BTreeMap<&str, u64> = terms
                .iter()
                .map(|term| (term["value"].as_str().unwrap(), term["count"].as_u64().unwrap()))
                .collect();
            assert_eq!(is, counts, "{key} of version {version}: {self:?}");
        }
        let prices = || all.iter().map(|unit| unit["price"].as_i64().unwrap());
        let range = &facets["price_range"];
        assert_eq!(
            (range["min"].as_i64(), range["max"].as_i64()),
            (prices().min(), prices().max()),
            "version {version}"
        );
    }
}

#[test]
fn every_step_leads_from_one_version_to_the_next() {
    for salt in [0, 5, 1_000] {
        let mut held: BTreeMap<String, Value> = BTreeMap::new();
        for version in 1..200 {
            let (changed, gone) = step(salt, version);
            assert!(!changed.is_empty() && changed.len() < 64, "{version}");
            gone.iter().for_each(|id| assert!(held.remove(id).is_some()));
            for unit in changed {
                held.insert(unit["vehicle_id"].as_str().unwrap().to_owned(), Value::Object(unit));
            }
            assert!(held.values().eq(lot(salt, version).iter()), "{version}");
            assert!(held.len() > 40);
        }
    }
}
