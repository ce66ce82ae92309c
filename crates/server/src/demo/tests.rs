use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use contract::{Contract, ContractVersion};

use super::*;

const ORIGIN: &str = "http://127.0.0.1:8080";

fn demo() -> &'static Value {
    static DEMO: LazyLock<Value> = LazyLock::new(|| document(ORIGIN));
    &DEMO
}

fn tenants(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    document["tenants"].as_object().unwrap().iter()
}

fn units(tenant: &Value) -> &Vec<Value> {
    tenant["inventory"].as_array().unwrap()
}

fn all(document: &Value) -> impl Iterator<Item = &Value> {
    tenants(document).flat_map(|(_, tenant)| units(tenant))
}

/// How often each value of a member occurs.
fn counted<'a>(units: impl IntoIterator<Item = &'a Value>, key: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for value in units.into_iter().filter_map(|unit| unit[key].as_str()) {
        *counts.entry(value.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn it_is_the_same_every_time_and_origin_is_only_in_the_photos() {
    assert_eq!(*demo(), document(ORIGIN));
    assert_eq!(document("https://cars.example/"), document("https://cars.example"));
    let here = demo().to_string();
    assert_eq!(document("https://cars.example").to_string(), here.replace(ORIGIN, "https://cars.example"));
    // The same on every machine: written down here, to be renewed when the demo is changed on purpose.
    assert_eq!(contract::canonical::hash(demo())[..4], [29, 118, 199, 139]);
}

#[test]
fn the_lots_are_as_large_as_they_should_be() {
    let document = demo();
    let sizes: Vec<_> =
        tenants(document).map(|(slug, tenant)| (slug.as_str(), units(tenant).len())).collect();
    assert_eq!(sizes, [("brindlewood", 404), ("ironfern", 153), ("northmere", 1502)]);
    for (tenant, stores) in dealers().iter().zip([1, 1, 4]) {
        let body = &document["tenants"][tenant.slug];
        let wanted: usize =
            tenant.rooftops.iter().flat_map(|rooftop| &rooftop.lots).map(|lot| lot.count).sum();
        assert_eq!(units(body).len(), wanted, "no lot came up short");
        let sold: usize = tenant.rooftops.iter().map(|rooftop| rooftop.sold).sum();
        assert_eq!(body["sold"].as_array().unwrap().len(), sold);
        assert_eq!(body["rooftops"].as_array().unwrap().len(), stores);
    }
}

#[test]
fn every_unit_and_every_profile_satisfies_the_contract() {
    let contract = Contract::load(ContractVersion::V3_0).unwrap();
    let document = demo();
    for unit in all(document) {
        assert_eq!(contract.check("listing.schema.json", unit), Ok(()), "{unit}");
    }
    for (slug, tenant) in tenants(document) {
        let mut rooftops = tenant["rooftops"].clone();
        for rooftop in rooftops.as_array_mut().unwrap() {
            let holidays = rooftop.as_object_mut().unwrap().remove("holidays").unwrap();
            assert!(holidays.as_array().unwrap().len() > 5);
            assert!(rooftop["timezone"].is_string() && rooftop["address"]["zip"].is_string());
        }
        let profile = json!({"name": tenant["name"], "welcome_message": tenant["welcome_message"], "rooftops": rooftops});
        assert_eq!(contract.check("dealer-information.schema.json", &profile), Ok(()), "{slug}");
    }
}

/// The rule of 49 CFR 565, written apart from the generator: the place of a sign in this row, modulo ten, is
/// its value.
fn has_right_check_digit(vin: &str) -> bool {
    const ROW: &str = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ";
    let weights =
        "8765432X098765432".chars().map(|c| if c == 'X' { 10 } else { c.to_digit(10).unwrap() as usize });
    let sum: usize = vin.chars().zip(weights).map(|(c, weight)| ROW.find(c).unwrap() % 10 * weight).sum();
    vin.chars().nth(8) == "0123456789X".chars().nth(sum % 11)
}

#[test]
fn vins_are_right_and_unique_over_all_dealers() {
    assert!(has_right_check_digit("1M8GDM9AXKP042788") && !has_right_check_digit("1M8GDM9A0KP042788"));
    let codes: BTreeMap<i64, char> = (2016..).zip("GHJKLMNPRSTV".chars()).collect();
    let document = demo();
    let mut seen = HashSet::new();
    let sold = tenants(document).flat_map(|(_, tenant)| tenant["sold"].as_array().unwrap());
    for unit in all(document).chain(sold) {
        let Some(vin) = unit["vin"].as_str() else {
            assert_eq!((&unit["status"], &unit["condition"]), (&json!("intransit"), &json!("new")));
            assert!(unit["notes"].as_str().unwrap().contains("VIN"));
            continue;
        };
        assert!(vin.len() == 17 && !vin.contains(['I', 'O', 'Q']), "{vin}");
        assert!(has_right_check_digit(vin), "{vin}");
        assert_eq!(vin.chars().nth(9), codes.get(&unit["year"].as_i64().unwrap()).copied(), "{unit}");
        assert!(vin[12..].bytes().all(|b| b.is_ascii_digit()), "{vin}");
        assert!(seen.insert(vin), "{vin} twice");
    }
    assert!(seen.len() > 1900);
}

#[test]
fn ids_and_stock_numbers_are_unique_within_a_dealer() {
    let document = demo();
    for (slug, tenant) in tenants(document) {
        for key in ["vehicle_id", "stock"] {
            let everything = units(tenant).iter().chain(tenant["sold"].as_array().unwrap());
            let (mut seen, mut count) = (HashSet::new(), 0);
            for unit in everything {
                seen.insert(unit[key].as_str().unwrap());
                count += 1;
            }
            assert_eq!(seen.len(), count, "{slug} {key}");
        }
        let rooftops: HashSet<_> =
            tenant["rooftops"].as_array().unwrap().iter().map(|r| &r["name"]).collect();
        assert!(
            units(tenant)
                .iter()
                .all(|unit| rooftops.contains(&unit["rooftop"]) && unit["dealer_id"] == **slug)
        );
    }
}

#[test]
fn prices_hold_what_the_rules_demand() {
    let document = demo();
    let mut unsettled = 0;
    for unit in all(document) {
        let dollars = |key: &str| unit[key].as_i64();
        let list = dollars("list_price").unwrap();
        let discount = unit["other_attributes"]["dealer_discount_usd"].as_i64().unwrap_or(0);
        assert!((900..200_000).contains(&list), "{unit}");
        assert!(discount >= 0 && discount * 10 < list, "{unit}");
        let Some(price) = dollars("price") else {
            unsettled += 1;
            assert!(unit.get("fees").is_none() && discount == 0, "nothing to break down: {unit}");
            continue;
        };
        match unit["fees"].as_array() {
            Some(fees) => {
                let charged: i64 = fees.iter().map(|fee| fee["amount"].as_i64().unwrap()).sum();
                assert_eq!(price, list - discount + charged, "{unit}");
                assert!(unit["vehicle_type"] != "trailer" || fees.is_empty());
            }
            // The one store without a breakdown still has its charge in the price.
            None => assert_eq!(price, list - discount + 349, "{unit}"),
        }
        if let Some(msrp) = dollars("msrp") {
            assert!(list <= msrp, "{unit}");
        }
    }
    assert!((40..160).contains(&unsettled), "{unsettled}");
}

#[test]
fn used_units_show_the_fees_that_their_rooftop_names() {
    let document = demo();
    for (_, tenant) in tenants(document) {
        for rooftop in tenant["rooftops"].as_array().unwrap() {
            let here = units(tenant).iter().filter(|unit| unit["rooftop"] == rooftop["name"]);
            let cars = here
                .filter(|u| u["condition"] != "new" && u["vehicle_type"] != "trailer" && u["price"].is_i64());
            let lists: HashSet<_> = cars.map(|unit| unit.get("fees")).collect();
            assert_eq!(lists, HashSet::from([rooftop.get("fees")]), "{}", rooftop["name"]);
        }
    }
}

#[test]
fn age_mileage_and_price_fit_together() {
    let document = demo();
    for unit in all(document) {
        let (year, condition) = (unit["year"].as_i64().unwrap(), unit["condition"].as_str().unwrap());
        let mileage = unit["mileage"].as_i64();
        match condition {
            "new" => assert!(year >= 2026 && mileage.is_none_or(|miles| miles < 100), "{unit}"),
            "cpo" => assert!((2021..=2026).contains(&year) && mileage.unwrap() < 80_000, "{unit}"),
            _ => assert!((2016..=2026).contains(&year), "{unit}"),
        }
        assert!(unit["status"] != "intransit" || mileage.is_none(), "{unit}");
        let (first, changed) =
            (unit["inventory_date"].as_str().unwrap(), unit["updated_at"].as_str().unwrap());
        assert!(first <= &changed[..10] && changed < "2026-11-28" && changed.ends_with('Z'), "{unit}");
    }
    // Older is cheaper, over all cars that have been driven.
    let average = |years: std::ops::RangeInclusive<i64>| {
        let prices: Vec<i64> = all(document)
            .filter(|u| {
                u["vehicle_type"].is_null()
                    && u["condition"] != "new"
                    && years.contains(&u["year"].as_i64().unwrap())
            })
            .filter_map(|u| u["price"].as_i64())
            .collect();
        assert!(prices.len() > 30, "{years:?}");
        prices.iter().sum::<i64>() / i64::try_from(prices.len()).unwrap()
    };
    assert!(average(2024..=2026) > average(2021..=2022) && average(2021..=2022) > average(2016..=2019));
}

#[test]
fn electric_units_have_a_range_and_no_displacement() {
    let document = demo();
    for unit in all(document) {
        let electric = matches!(unit["fuel"].as_str(), Some("bev" | "phev"));
        assert_eq!(electric, unit.get("electric_range_mi").is_some(), "{unit}");
        assert_eq!(electric, unit.get("dc_fast_charge").is_some(), "{unit}");
        if unit["fuel"] == "bev" {
            assert!(unit.get("displacement_cc").is_none() && unit.get("city_mpg").is_none(), "{unit}");
        } else if unit["vehicle_type"] != "trailer" {
            assert!(unit["displacement_cc"].as_i64().unwrap() > 100, "{unit}");
        }
    }
}

#[test]
fn facets_have_something_to_count() {
    let document = demo();
    let of = |slug: &str, key: &str| counted(units(&document["tenants"][slug]), key);
    assert!(of("brindlewood", "body").len() >= 7 && of("northmere", "body").len() >= 8);
    assert!(of("brindlewood", "make")["Toyota"] > 300 && of("brindlewood", "make").len() > 8);
    assert!(
        of("ironfern", "vehicle_type")["motorcycle"] > 100 && of("ironfern", "vehicle_type")["trailer"] > 20
    );
    assert!(of("ironfern", "fuel")["bev"] > 15);
    let bodies = of("ironfern", "body");
    for body in ["cruiser", "sport", "touring", "standard", "adventure", "scooter", "enclosed"] {
        assert!(bodies.contains_key(body), "{bodies:?}");
    }
    assert_eq!(of("northmere", "rooftop").len(), 4);
    assert!(of("northmere", "make").len() > 18);
    for (slug, fuels) in [("brindlewood", 4), ("northmere", 5)] {
        let conditions: BTreeSet<_> = of(slug, "condition").into_keys().collect();
        assert_eq!(conditions, BTreeSet::from(["cpo", "new", "used"].map(str::to_owned)));
        let statuses = of(slug, "status");
        assert!(
            statuses["available"] > 5 * statuses["pending"] && statuses["intransit"] > 10,
            "{statuses:?}"
        );
        assert!(of(slug, "fuel").len() >= fuels, "{:?}", of(slug, "fuel"));
        assert!(of(slug, "charge_port").len() >= 3);
        let described =
            units(&document["tenants"][slug]).iter().filter(|u| u["description"].is_string()).count();
        assert!(described * 3 > units(&document["tenants"][slug]).len());
    }
}

#[test]
fn every_photo_can_be_drawn() {
    let document = demo();
    let base = format!("{ORIGIN}/demo/photos/");
    for unit in all(document) {
        let photos = unit["photos"].as_array().unwrap();
        assert!((1..=3).contains(&photos.len()));
        for photo in photos {
            let name = photo.as_str().unwrap().strip_prefix(&base).unwrap();
            assert!(api::photos::svg(name).is_some(), "{name}");
        }
    }
}
