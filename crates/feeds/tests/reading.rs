//! Rows of several layouts, read: who owns a unit, what it asks, what changes do, what is never taken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod table;

use std::collections::BTreeMap;

use feeds::Config;
use feeds::check::Check;
use feeds::config::Mode;
use feeds::source::InMemory;
use serde_json::{Value, json};
use table::{check, config, vin};

/// A table of one car of known identity, with further columns.
fn with(header: &str, cells: &str) -> String {
    format!(
        "vin|stock|year|make|model|new/used|miles|{header}\n{}|S1|2020|Ford|Escape|U|41000|{cells}\n",
        vin(1)
    )
}

#[test]
fn a_row_that_is_left_out_reports_nothing_else_and_an_error_no_warning() {
    let checked = check(
        "vin,stock,year,make,model,type,miles,price,status\n\
         NOTAVIN,S1,,,,Good,x,Call,Sold\n\
         NOTAVIN,S2,2020,,Escape,Good,x,Call,A\n\
         ,,,Ford,Escape,Used,41000,18990,A\n",
        &config(),
    );
    assert_eq!(checked.excluded(), ["sold 1"]);
    assert_eq!(
        checked.rows(),
        [
            "2 VIN_MALFORMED vin",
            "2 MAKE_MISSING make",
            "2 CONDITION_UNKNOWN condition",
            "3 IDENTITY_MISSING vin",
            "3 YEAR_MISSING year"
        ]
    );
}

#[test]
fn a_finding_says_where_and_what() {
    let checked = check(&with("Sale Price", "24.9k"), &config());
    let told = &checked.report.warnings[0];
    assert_eq!(told.finding.column.as_deref(), Some("Sale Price"));
    assert_eq!(told.finding.value.as_deref(), Some("24.9k"));
    assert_eq!(told.finding.vin.as_deref(), Some(vin(1).as_str()));
    assert_eq!(told.finding.stock.as_deref(), Some("S1"));
    assert!(told.sentence.contains("24.9k") && told.sentence.contains("Sale Price"), "{}", told.sentence);
    assert!(!told.advice.is_empty());
}

#[test]
fn amounts_are_kept_by_column_and_what_was_paid_is_not() {
    let settings = Config {
        columns: BTreeMap::from([
            ("Invoice".to_owned(), "asking_price".to_owned()),
            ("MiscPrice7".to_owned(), "amount".to_owned()),
        ]),
        ..config()
    };
    let header = "Selling Price|Internet Price|MSRP|Invoice|Book Value|MiscPrice7|Doc Fee";
    let checked = check(&with(header, "20000|19500|23,000|15000|14000|100|Call"), &settings);
    let unit = &checked.units[0];
    assert_eq!((unit.asking_price, unit.msrp), (Some(19500), Some(23000)));
    let amounts: Vec<(&str, i64)> =
        unit.amounts.iter().map(|(column, value)| (column.as_str(), *value)).collect();
    assert_eq!(
        amounts,
        [("Internet Price", 19500), ("MSRP", 23000), ("MiscPrice7", 100), ("Selling Price", 20000)]
    );
    assert_eq!(checked.file_codes(), ["FEED_COLUMN_REFUSED"]);
    assert!(checked.report.file_warnings.is_empty());
    let told = &checked.report.file_findings[0].finding;
    assert_eq!((told.column.as_deref(), told.field.as_deref()), (Some("Invoice"), Some("asking_price")));
}

#[test]
fn one_item_with_several_stores_has_an_owner() {
    let stores = ["NORTH", "SOUTH"].map(str::to_owned).to_vec();
    let settings = Config { known_rooftop_keys: Some(stores), ..config() };
    for (header, cells, owner, also) in [
        ("store_code", "NORTH,SOUTH", Some("NORTH"), json!(["SOUTH"])),
        ("store_code|store_code", "SOUTH|NORTH", Some("SOUTH"), json!(["NORTH"])),
        ("store_code", "NORTH", Some("NORTH"), Value::Null),
        ("Dealer Name|Dealer ID", "Smith, Jones Motors|SOUTH", Some("SOUTH"), Value::Null),
    ] {
        let checked = check(&with(header, cells), &settings);
        let unit = &checked.units[0];
        assert_eq!(unit.rooftop_key.as_deref(), owner, "{cells}");
        assert_eq!(unit.other_attributes.get("also_at").cloned().unwrap_or(Value::Null), also, "{cells}");
    }
    assert_eq!(check(&with("store_code", "WEST"), &settings).rows(), ["1 ROOFTOP_UNKNOWN rooftop_key"]);
    let name = check(&with("Dealer Name", "Smith, Jones Motors"), &config());
    assert_eq!(name.units[0].rooftop_key.as_deref(), Some("Smith, Jones Motors"));
}

#[test]
fn changes_are_applied_in_their_order() {
    let settings =
        Config { mode: Mode::Delta, previous_active_vins: Some([vin(1), vin(2), vin(3)].into()), ..config() };
    let mut file = String::from("action,vin,stock,year,make,model,type,miles,price,status\n");
    for (action, number, status) in [
        ("U", 1, "A"),
        ("D", 2, "A"),
        ("", 9, "A"),
        ("U", 3, "Sold"),
        ("D", 8, ""),
        ("X", 7, "A"),
        ("U", 1, "P"),
    ] {
        file.push_str(&format!(
            "{action},{},S{number},2020,Ford,Escape,Used,41000,9000,{status}\n",
            vin(number)
        ));
    }
    let checked = check(&file, &settings);
    assert_eq!(
        checked.rows(),
        ["1 SUPERSEDED_IN_FILE vin kept 7", "5 DELETE_UNKNOWN vin", "6 ACTION_UNKNOWN action"]
    );
    assert_eq!(checked.excluded(), ["delete_action 2", "sold 4", "delete_action 5"]);
    let rows: Vec<u32> = checked.units.iter().map(|unit| unit.source_row).collect();
    assert_eq!(rows, [3, 7]);
    assert_eq!(checked.units[1].status, "pending");
    assert_eq!(checked.report.resulting_active, Some(2));
    assert_eq!(checked.report.verdict_reasons, []);
}

#[test]
fn the_settings_of_a_source_say_how_it_is_read() {
    let words = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
    };
    let settings = Config { status_words: words(&[("RS7", "pending"), ("A", "removed")]), ..config() };
    assert_eq!(check(&with("status", "RS7"), &settings).units[0].status, "pending");
    assert_eq!(check(&with("status", "A"), &settings).excluded(), ["removed 1"]);
    let dmy: Config =
        serde_json::from_value(json!({"today": "2026-11-30", "date_order": "dmy", "decimal": ","})).unwrap();
    let dated = check(&with("Date In Stock", "03/11/2026"), &dmy);
    assert_eq!(dated.units[0].inventory_date.unwrap().to_string(), "2026-11-03");
    let zone = Config { timezone: "America/Chicago".into(), ..config() };
    let stamped = |settings: &Config| {
        check(&with("Last Update", "11/29/2026 11:45 PM"), settings).units[0].updated_at.clone()
    };
    assert_eq!(stamped(&zone).as_deref(), Some("2026-11-29T23:45:00-06:00"));
    assert_eq!(stamped(&config()), None);
    let header = ["vin", "stock", "year", "make", "model", "type", "miles"].map(str::to_owned).to_vec();
    let bare = format!("{},S1,2020,Ford,Escape,Used,41000\n", vin(1));
    assert_eq!(check(&bare, &config()).report.verdict_reasons.len(), 1);
    assert_eq!(check(&bare, &Config { header: Some(header), ..config() }).report.counts.published, 1);
}

#[test]
fn documents_are_read_by_the_last_steps_of_their_paths() {
    let document = json!({
        "generated_at": "2026-11-29T05:00:00Z",
        "count": 1,
        "vehicles": [{
            "id": "J1", "vin": vin(1), "year": 2020, "make": "Ford", "model": "Escape", "condition": "used",
            "pricing": {"price": 18990, "cost": 15000, "currency": "USD"},
            "options": [{"name": "Tow Package", "price": 900}, {"name": "Roof, glass", "price": 1200}],
            "odometer": {"value": 61000, "unit": "km"},
            "colors": {"exterior": "Red", "interior": "Black"},
            "photos": [
                {"url": "https://x.example/b.jpg", "order": 1},
                {"url": "https://x.example/a.jpg", "order": 0},
                {"order": 2}
            ],
            "locationId": "north"
        }]
    });
    let checked = check(&document.to_string(), &config());
    assert_eq!(checked.rows(), ["1 MILEAGE_CONVERTED_KM mileage", "1 PHOTO_URL_INVALID photos"]);
    let unit = &checked.units[0];
    assert_eq!((unit.asking_price, unit.mileage), (Some(18990), Some(37904)));
    assert_eq!(unit.stock.as_deref(), Some("J1"));
    assert_eq!(unit.exterior_color.as_deref(), Some("Red"));
    assert_eq!(unit.photos, ["https://x.example/a.jpg", "https://x.example/b.jpg"]);
    assert_eq!(unit.features, ["Tow Package", "Roof, glass"]);
    assert_eq!(unit.rooftop_key.as_deref(), Some("north"));
    assert_eq!(checked.report.generated_at.as_deref(), Some("2026-11-29T05:00:00Z"));
    assert_eq!(unit.amounts.keys().collect::<Vec<_>>(), ["pricing.price"]);
}

#[test]
fn the_json_report_has_all_units_and_no_inner_amounts() {
    let bytes = format!("{}{}", table::lot(3), table::lot(1).lines().nth(1).unwrap());
    let source = InMemory { name: "lot.csv".to_owned(), bytes };
    let (settings, limits) = (config(), feeds::Limits::default());
    let check = Check { source: &source, config: &settings, limits: &limits };
    let (report, _) = check.report(0, &mut |_, _| {}).unwrap();
    let mut out = Vec::new();
    check.write_json(&report, &mut out, &mut |_, _| {}).unwrap();
    let report: Value = serde_json::from_slice(&out).unwrap();
    let rows: Vec<u64> = report["vehicles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|unit| unit["source_row"].as_u64().unwrap())
        .collect();
    assert_eq!(rows, [1, 2, 3]);
    assert!(report["vehicles"][0].get("amounts").is_none());
    assert_eq!(report["counts"]["duplicates_dropped"], 1);
    assert_eq!(report["warnings"][0]["code"], "DUPLICATE_ROW");
    assert_eq!(report["warnings"][0]["kept_row"], 1);
    assert_eq!(report["finding_counts"]["DUPLICATE_ROW"], 1);
    assert_eq!(report["feed"], "lot.csv");
}

#[test]
fn a_file_that_is_none_is_a_report_that_refuses() {
    let mut png = vec![0x89];
    png.extend_from_slice(b"PNG\r\n\x1a\n\0\0\0\rIHDR");
    let checked = table::check_bytes(&png, &config());
    assert_eq!(serde_json::to_value(checked.report.verdict).unwrap(), "refuse");
    assert_eq!(checked.report.verdict_reasons[0].as_str(), "FEED_NOT_A_FEED");
    let mut text = Vec::new();
    feeds::check::write_report(&checked.report, &[], feeds::check::Extent { findings: 10 }, &mut text)
        .unwrap();
    assert!(String::from_utf8(text).unwrap().contains("REFUSE"));
}

#[test]
fn the_report_for_people_names_rows_sums_and_what_to_do() {
    let mut file = String::from("vin,stock,year,make,model,type,miles,price\n");
    for row in 1..=5 {
        file.push_str(&format!("{},S{row},2020,Ford,Escape,Used,,Call\n", vin(row)));
    }
    let checked = check(&file, &config());
    let mut text = Vec::new();
    feeds::check::write_report(
        &checked.report,
        &checked.units[..2],
        feeds::check::Extent { findings: 3 },
        &mut text,
    )
    .unwrap();
    let text = String::from_utf8(text).unwrap();
    for part in [
        "An import would apply this file.",
        "PRICE_NOT_DISCLOSED × 5",
        "Row 3 (stock S3",
        "… and 2 more",
        "→ ",
        "2020 Ford Escape",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("Row 4"), "{text}");
}

#[test]
fn a_source_that_only_fills_in_needs_no_more_than_which_unit_it_is_about() {
    let config = Config { fills_in: true, ..config() };
    let checked = check(&format!("vin,photos\n{},https://photos.example/1.jpg\n", vin(1)), &config);
    assert_eq!(checked.rows(), [""; 0]);
    let unit = &checked.units[0];
    assert_eq!(unit.photos, ["https://photos.example/1.jpg"]);
    // Nothing that another source knows better is guessed.
    assert_eq!((unit.status.as_str(), unit.year, &unit.condition), ("", None, &None));

    let checked = check("stock,miles,price,new/used\nS1,TMU,24.9k,Good\n", &config);
    // What it does say is held to the same rules.
    assert_eq!(checked.rows(), ["1 CONDITION_UNKNOWN condition"]);
}
