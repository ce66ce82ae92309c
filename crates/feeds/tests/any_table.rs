//! Whatever stands in the cells of a table, reading it ends, and its numbers add up.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod table;

use feeds::Config;
use feeds::config::Mode;
use proptest::collection::vec;
use proptest::prelude::*;
use table::{check_bytes, config, vin};

const NAMES: &[&str] = &[
    "VIN",
    "Stock #",
    "Year",
    "Make",
    "Model",
    "Trim",
    "Type",
    "Condition",
    "Title",
    "Status",
    "Certified",
    "Price",
    "Internet Price",
    "Special Price",
    "MSRP",
    "Cost",
    "Miles",
    "Mileage Unit",
    "Body",
    "Drivetrain",
    "Fuel",
    "Photos",
    "image[0].url",
    "URL",
    "Description",
    "Date In Stock",
    "Last Update",
    "store_code",
    "Dealer Name",
    "Action",
    "What",
];

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "", " ", "N/A", "0", "1", "2020", "20", "Ford", "New", "Used", "CPO", "Good", "Sold", "Pending", "D", "A",
            "24,990", "$1.00", "Call", "61,000 km", "TMU", "4x2", "https://x.example/1.jpg|//y.example/2.jpg",
            "{\"url\":", "11/29/2026 11:45 PM", "46329", "N,S", "1.23457E+16", "<b>x</b>&amp;amp;", "Dealerâ€™s", "true",
        ]).prop_map(str::to_owned),
        2 => (0u32..4).prop_map(vin),
        1 => "\\PC{0,24}",
        1 => any::<String>(),
    ]
}

/// A field as a careful writer gives it, or as a careless one does.
fn field(text: &str, careful: bool) -> String {
    if careful { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn numbers_add_up(
        columns in prop::sample::subsequence(NAMES, 4..NAMES.len()),
        rows in vec(vec(cell(), NAMES.len()), 0..12),
        careful in any::<bool>(),
        separator in prop::sample::select(vec![',', '|', '\t', ';']),
        delta in any::<bool>(),
        stores in any::<bool>(),
    ) {
        let mut file = columns.join(&separator.to_string());
        for row in &rows {
            let cells: Vec<String> = row.iter().take(columns.len()).map(|text| field(text, careful)).collect();
            file.push('\n');
            file.push_str(&cells.join(&separator.to_string()));
        }
        let settings = Config {
            mode: if delta { Mode::Delta } else { Mode::Full },
            known_rooftop_keys: stores.then(|| vec!["N".to_owned(), "S".to_owned()]),
            previous_active_vins: delta.then(|| [vin(1), vin(2)].into()),
            ..config()
        };
        // The sums are looked at inside.
        let checked = check_bytes(file.as_bytes(), &settings);
        let report = &checked.report;
        let mut seen = std::collections::BTreeSet::new();
        for unit in &checked.units {
            prop_assert!(seen.insert(unit.vin.clone().or_else(|| {
                Some(format!("{:?} {:?}", unit.rooftop_key, unit.stock))
            })), "one unit twice: {unit:?}");
            prop_assert!(unit.make.is_some() && unit.model.is_some() && unit.year.is_some());
            prop_assert!(unit.vin.is_some() || unit.stock.is_some());
            prop_assert!(unit.amounts.keys().all(|column| column != "Cost"));
            let row = Some(unit.source_row);
            prop_assert!(report.errors.iter().all(|told| told.finding.row != row), "published with an error");
        }
        for told in &report.warnings {
            let row = told.finding.row;
            prop_assert!(report.errors.iter().all(|error| error.finding.row != row), "a warning beside an error");
        }
        let rejected: std::collections::BTreeSet<_> = report.errors.iter().map(|told| told.finding.row).collect();
        prop_assert_eq!(rejected.len(), report.counts.rejected as usize);
    }

    #[test]
    fn any_bytes_come_to_a_report(bytes in vec(any::<u8>(), 0..2000)) {
        let source = feeds::source::InMemory { name: "any".to_owned(), bytes };
        let limits = feeds::Limits::default();
        let settings = config();
        let check = feeds::check::Check { source: &source, config: &settings, limits: &limits };
        let report = check.report(10, &mut |_, _| {});
        prop_assert!(report.is_ok());
    }
}
