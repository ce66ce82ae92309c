use super::super::conform::check;
use super::*;
use contract::{CONTRACTS, Contract, Listing};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

const NOW: &str = "2026-11-30T12:00:00Z";

fn time(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().with_timezone(&Utc)
}

fn settings(value: Value) -> SourceSettings {
    serde_json::from_value(value).unwrap()
}

fn all_in() -> SourceSettings {
    settings(json!({"prices": {"asking_price": {"meaning": "advertised_all_in"}}}))
}

fn said<'a>(settings: &'a SourceSettings, unit: &'a Unit) -> Said<'a> {
    Said { source: Uuid::nil(), name: "dms", settings, run: Uuid::nil(), unit }
}

fn car() -> Unit {
    Unit {
        source_row: 7,
        vin: Some("4S4BTGUD5R3217409".into()),
        stock: Some("S1".into()),
        vehicle_type: "car".into(),
        status: "available".into(),
        condition: Some("used".into()),
        asking_price: Some(24990),
        amounts: [("Price".to_owned(), 24990)].into(),
        ..Unit::default()
    }
}

fn rendered(units: &[Said<'_>], edits: &[Edit], former: Option<&Value>) -> Rendered {
    let rooftops = Rooftops::new(["North".to_owned(), "South".to_owned()]);
    let with = Rendering { rooftops: &rooftops, now: time(NOW), said_at: time("2026-11-30T03:00:00Z") };
    render("vin-1", units, edits, former.map(|value| value.as_object().unwrap()), with)
}

fn vehicle(rendered: &Rendered) -> Value {
    match &rendered.outcome {
        Outcome::Offered(vehicle) => Value::Object(vehicle.clone()),
        other => panic!("{other:?}, {:?}", rendered.findings),
    }
}

fn edit(field: &str, value: Value) -> Edit {
    let at = time("2026-11-29T00:00:00Z");
    Edit { field: field.into(), value, author: "Ana".into(), note: None, at, expires_at: None }
}

#[test]
fn a_unit_becomes_a_vehicle() {
    let unit = Unit {
        rooftop_key: Some("north".into()),
        features: vec!["Tow hitch".into()],
        photos: vec!["https://cdn.example.com/w_1280,h_960/a.jpg".into()],
        electric_range_mi: Some(62.5),
        inventory_date: Some("2026-11-03".parse().unwrap()),
        other_attributes: json!({"title_status": "rebuilt"}).as_object().unwrap().clone(),
        ..car()
    };
    let settings = all_in();
    let done = rendered(&[said(&settings, &unit)], &[], None);
    assert_eq!(
        vehicle(&done),
        json!({
            "vehicle_id": "vin-1", "vin": "4S4BTGUD5R3217409", "stock": "S1", "status": "available",
            "condition": "used", "rooftop": "North", "price": 24990, "features": ["Tow hitch"],
            "photos": ["https://cdn.example.com/w_1280,h_960/a.jpg"], "electric_range_mi": 62.5,
            "inventory_date": "2026-11-03", "other_attributes": {"title_status": "rebuilt"},
            "updated_at": "2026-11-30T03:00:00Z"
        })
    );
    assert_eq!((done.findings, done.unanswered), (vec![], vec![]));
}

#[test]
fn what_nobody_has_explained_is_told_with_its_column() {
    let unit = car();
    let settings = SourceSettings::default();
    let done = rendered(&[said(&settings, &unit)], &[], None);
    assert_eq!(vehicle(&done).get("price"), None);
    assert_eq!(done.unanswered, [(Uuid::nil(), "Price".to_owned())]);
}

#[test]
fn a_complementary_source_fills_in_and_offers_nothing() {
    let bare = Unit { asking_price: None, amounts: Default::default(), description: None, ..car() };
    let full = Unit { description: Some("One owner".into()), ..car() };
    let (dms, photos) = (settings(json!({})), SourceSettings { role: Role::Complementary, ..all_in() });
    let both = [said(&dms, &bare), Said { source: Uuid::max(), name: "photos", ..said(&photos, &full) }];
    let document = vehicle(&rendered(&both, &[], None));
    assert_eq!((&document["description"], &document["price"]), (&json!("One owner"), &json!(24990)));
    assert_eq!(rendered(&both[1..], &[], None).outcome, Outcome::Off("feed"));
}

#[test]
fn a_source_that_says_nothing_of_the_status_does_not_free_a_unit() {
    let pending = Unit { status: "pending".into(), ..car() };
    let words = Unit { status: String::new(), condition: None, ..car() };
    let first = SourceSettings { role: Role::Complementary, rank: 1, ..all_in() };
    let dms = all_in();
    let both = [said(&dms, &pending), Said { source: Uuid::max(), name: "tool", ..said(&first, &words) }];
    assert_eq!(vehicle(&rendered(&both, &[], None))["status"], "pending");
}

#[test]
fn a_status_set_to_sold_takes_the_unit_off_while_it_holds() {
    let unit = car();
    let settings = all_in();
    let mut sold = edit("status", json!("sold"));
    let with = |edit: &Edit| rendered(&[said(&settings, &unit)], std::slice::from_ref(edit), None).outcome;
    assert_eq!(with(&sold), Outcome::Off("edit"));
    sold.expires_at = Some(time(NOW));
    assert!(matches!(with(&sold), Outcome::Offered(_)));
}

#[test]
fn updated_at_moves_with_claims_and_with_nothing_else() {
    let settings = all_in();
    let unit = car();
    let first = vehicle(&rendered(&[said(&settings, &unit)], &[], None));
    let at = |unit: &Unit, former: Option<&Value>| {
        vehicle(&rendered(&[said(&settings, unit)], &[], former))["updated_at"].clone()
    };
    let mut former = first.clone();
    former["updated_at"] = json!("2026-11-20T00:00:00Z");
    // The stamp that a feed puts on every row, and other words about the same offer.
    let stamped = Unit {
        updated_at: Some("2026-11-30T02:00:00Z".into()),
        description: Some("New words".into()),
        ..car()
    };
    assert_eq!(at(&stamped, Some(&former)), "2026-11-20T00:00:00Z");
    for changed in [
        Unit { status: "pending".into(), ..stamped.clone() },
        Unit { asking_price: Some(23990), amounts: [("Price".to_owned(), 23990)].into(), ..stamped.clone() },
        Unit { asking_price: None, amounts: Default::default(), ..stamped.clone() },
    ] {
        assert_eq!(at(&changed, Some(&former)), "2026-11-30T02:00:00Z", "the sender knows when");
    }
    let changed = |stamp: &str| Unit { status: "pending".into(), updated_at: Some(stamp.into()), ..car() };
    assert_eq!(at(&changed("2041-01-01T00:00:00Z"), Some(&former)), "2026-11-30T03:00:00Z");
    assert_eq!(at(&changed("2026-11-01T00:00:00Z"), Some(&former)), "2026-11-20T00:00:00Z", "not backwards");
    assert_eq!(at(&changed("2026-11-01T00:00:00Z"), None), "2026-11-01T00:00:00Z");
    former["updated_at"] = json!("2041-01-01T00:00:00Z");
    assert_eq!(at(&unit, Some(&former)), "2026-11-30T12:00:00Z", "never later than now");
}

#[test]
fn an_edit_counts_as_a_change_of_now() {
    let unit = car();
    let settings = all_in();
    let former = vehicle(&rendered(&[said(&settings, &unit)], &[], None));
    let rooftops = Rooftops::default();
    let with = Rendering { rooftops: &rooftops, now: time(NOW), said_at: time(NOW) };
    let edits = [edit("price", json!(23990))];
    let done = render("vin-1", &[said(&settings, &unit)], &edits, former.as_object(), with);
    assert_eq!((&vehicle(&done)["price"], &vehicle(&done)["updated_at"]), (&json!(23990), &json!(NOW)));
}

#[test]
fn addresses_that_are_none_are_left_out_and_said() {
    let unit = Unit {
        photos: vec!["https://a.example/1.jpg".into(), "not an address".into()],
        vdp_url: Some("nowhere at all".into()),
        ..car()
    };
    let settings = all_in();
    let done = rendered(&[said(&settings, &unit)], &[], None);
    assert_eq!(vehicle(&done)["photos"], json!(["https://a.example/1.jpg"]));
    assert_eq!(vehicle(&done).get("vdp_url"), None);
    let codes: Vec<_> = done.findings.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::VdpUrlInvalid, Code::PhotoUrlInvalid]);
    assert_eq!((done.findings[1].row, done.findings[1].value.as_deref()), (Some(7), Some("not an address")));
}

#[test]
fn what_no_contract_allows_is_refused_with_the_place() {
    let settings = all_in();
    for (unit, code, field) in [
        (Unit { vin: Some("short".into()), ..car() }, Code::ContractViolation, "vin"),
        (Unit { condition: Some("good".into()), ..car() }, Code::ContractViolation, "condition"),
        (Unit { stock: Some("9".repeat(101)), ..car() }, Code::FieldTooLarge, "stock"),
    ] {
        let done = rendered(&[said(&settings, &unit)], &[], None);
        assert_eq!(done.outcome, Outcome::Refused);
        assert_eq!(done.findings.len(), 1);
        assert_eq!((done.findings[0].code, done.findings[0].field.as_deref()), (code, Some(field)));
    }
}

#[test]
fn an_electric_car_has_no_displacement() {
    let unit = Unit { fuel: Some("bev".into()), displacement_cc: Some(1998), city_mpg: Some(120), ..car() };
    let settings = all_in();
    let document = vehicle(&rendered(&[said(&settings, &unit)], &[], None));
    assert_eq!((document.get("displacement_cc"), document.get("city_mpg")), (None, None));
}

#[test]
fn a_rooftop_that_the_dealer_gave_up_leaves_the_unit_on_offer() {
    let unit = Unit { rooftop_key: Some("West".into()), ..car() };
    let settings = all_in();
    let done = rendered(&[said(&settings, &unit)], &[], None);
    assert_eq!(vehicle(&done).get("rooftop"), None);
    assert_eq!(done.findings[0].code, Code::RooftopUnknown);
}

#[test]
fn changes_are_told_by_field_without_our_own_stamps() {
    let former = json!({"vehicle_id": "a", "updated_at": "x", "price": 1, "make": "Kia",
                        "other_attributes": {"a": 1, "b": 2}});
    let next = json!({"vehicle_id": "a", "updated_at": "y", "price": 2, "model": "Rio",
                      "other_attributes": {"a": 1, "b": 3}});
    let told: Vec<_> = changes(former.as_object().unwrap(), next.as_object().unwrap())
        .into_iter()
        .map(|change| (change.field, change.old, change.new))
        .collect();
    assert_eq!(
        told,
        [
            ("make".into(), Some(json!("Kia")), None),
            ("model".into(), None, Some(json!("Rio"))),
            ("other_attributes.b".into(), Some(json!(2)), Some(json!(3))),
            ("price".into(), Some(json!(1)), Some(json!(2))),
        ]
    );
}

fn words() -> impl Strategy<Value = Option<String>> {
    prop_oneof![Just(None), "\\PC{1,12}".prop_map(Some), "[a-z]{1,8}".prop_map(Some)]
}

fn number() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![Just(None), (0..200_000i64).prop_map(Some), any::<i64>().prop_map(Some)]
}

fn attribute_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "\\PC{0,9}".prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(["NORTH", "SOUTH"])),
        Just(json!([1, "two"])),
        Just(json!({"nested": true})),
    ]
}

prop_compose! {
    fn any_unit()(
        (make, model, trim, condition) in (words(), words(), words(), prop_oneof![
            Just(None), Just(Some("used".to_owned())), Just(Some("worn".to_owned()))]),
        vin in prop_oneof![Just(None), "[A-HJ-NPR-Z0-9]{17}".prop_map(Some), "[A-Z0-9]{15,18}".prop_map(Some)],
        (stock, rooftop_key, description, charge_port) in (words(), words(), words(), words()),
        (mileage, msrp, asking_price, displacement_cc) in (number(), number(), number(), number()),
        year in proptest::option::of(prop_oneof![1900..2101i32, any::<i32>()]),
        range in proptest::option::of(any::<f64>()),
        status in prop_oneof![Just("available".to_owned()), Just(String::new()), "[a-z]{4}"],
        photos in vec(prop_oneof!["https://[a-z]{1,5}\\.example/\\PC{0,6}", "\\PC{0,9}"], 0..4),
        (features, vdp_url) in (vec("\\PC{0,9}", 0..4), words()),
        other in btree_map("[a-z]{1,4}", attribute_value(), 0..4),
        amounts in btree_map(prop_oneof![Just("Price"), Just("Internet Price")], any::<i64>(), 0..2),
    ) -> Unit {
        Unit {
            source_row: 1, rooftop_key, vin, stock, year, make, model, trim, condition, status, asking_price, msrp,
            mileage, displacement_cc, electric_range_mi: range, charge_port, features, photos, vdp_url,
            description, other_attributes: other.into_iter().collect(), vehicle_type: "car".into(),
            amounts: amounts.into_iter().map(|(name, amount)| (name.to_owned(), amount)).collect(),
            ..Unit::default()
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_published_fits_every_contract(unit in any_unit(), other in any_unit(), two in any::<bool>()) {
        let contracts: Vec<_> = CONTRACTS_LOADED.iter().collect();
        let settings = all_in();
        let both = [said(&settings, &unit), Said { source: Uuid::max(), name: "second", ..said(&settings, &other) }];
        let done = rendered(if two { &both } else { &both[..1] }, &[], None);
        match done.outcome {
            Outcome::Offered(vehicle) => {
                let document = Value::Object(vehicle);
                for contract in contracts {
                    prop_assert_eq!(contract.check("listing.schema.json", &document), Ok(()));
                }
                prop_assert!(Listing::from_vehicle(document.as_object().unwrap(), "harbor", time(NOW)).is_some());
            }
            Outcome::Refused => prop_assert!(done.findings.iter().any(|one| one.code.level() == feeds::Level::Error)),
            Outcome::Off(_) => prop_assert!(false, "an additive source has it"),
        }
    }

    #[test]
    fn rendering_twice_changes_nothing(unit in any_unit()) {
        let settings = all_in();
        if let Outcome::Offered(first) = rendered(&[said(&settings, &unit)], &[], None).outcome {
            let former = Value::Object(first.clone());
            prop_assert_eq!(rendered(&[said(&settings, &unit)], &[], Some(&former)).outcome, Outcome::Offered(first));
        }
    }
}

static CONTRACTS_LOADED: std::sync::LazyLock<Vec<Contract>> =
    std::sync::LazyLock::new(|| CONTRACTS.iter().map(|spec| Contract::load(spec.version).unwrap()).collect());

#[test]
fn the_one_check_asks_every_contract_that_differs() {
    for (vehicle, fits) in [
        (json!({"status": "available"}), true),
        (json!({"price": 1}), false),
        (json!({"status": "available", "fees": [{"name": "a", "amount": 1.5}]}), false),
    ] {
        assert_eq!(check(&vehicle).is_ok(), fits, "{vehicle}");
        for contract in CONTRACTS_LOADED.iter() {
            assert_eq!(contract.check("listing.schema.json", &vehicle).is_ok(), fits, "{vehicle}");
        }
    }
}
