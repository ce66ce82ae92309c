//! Lots past the widths that small ones are packed in.

use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::{Snapshot, Start, facets, search};

use crate::lots::{self, Taste};
use crate::oracle;

/// More than 65,536 units, of which each has a color and a model of its own: codes and row numbers must not wrap.
#[test]
fn seventy_thousand_units_with_a_color_each() {
    let mut rng = lots::rng(70_000);
    let template = lots::unit(&mut rng, 0, &Taste { filled: 0.0, prices: 1 });
    let units: Vec<_> = (0..70_000_u32)
        .map(|i| {
            let mut unit = template.clone();
            unit.vehicle_id = format!("{i:05}");
            unit.exterior_color = Some(format!("Tint {i:05}"));
            unit.model = Some(format!("M{}", i % 35_000));
            unit.price = Some(i64::from(i) * 7919 % 70_001);
            unit.stock = Some(format!("S{}", i / 2));
            unit.description = Some(format!("described {}", i % 1000));
            unit
        })
        .collect();
    let snapshot = Snapshot::build(1, units.clone(), Vec::new());
    let price = |order| Sort { field: SortField::Price, order };
    let find = |filters: &Filters, sort: Sort| {
        let page = search(&snapshot, filters, sort, Start::Beginning, 3).unwrap();
        (page.total, page.rows.iter().map(|row| row.vehicle_id.to_owned()).collect::<Vec<_>>())
    };
    let color = Filters { exterior_color: vec!["tint 69999".into()], ..Filters::default() };
    assert_eq!(find(&color, Sort::DEFAULT), (1, vec!["69999".into()]));
    let stock = Filters { stock: Some("S34999".into()), ..Filters::default() };
    assert_eq!(find(&stock, Sort::DEFAULT), (2, vec!["69998".into(), "69999".into()]));
    let query = Filters { query: Some("described 999".into()), ..Filters::default() };
    let expected: Vec<_> = units.iter().filter(|unit| oracle::matches(unit, &query)).collect();
    for order in [SortOrder::Asc, SortOrder::Desc] {
        let (total, ids) = find(&query, price(order));
        assert_eq!(total, expected.len() as u64);
        let sorted = oracle::sorted(&expected, price(order));
        assert!(ids.iter().zip(&sorted).all(|(id, unit)| *id == unit.vehicle_id));
    }
    // One filter for each way of counting: few units, about half, nearly all.
    for price_max in [20, 36_000, 69_990] {
        let filters = Filters { price_max: Some(price_max), ..Filters::default() };
        let matching: Vec<_> = units.iter().filter(|unit| oracle::matches(unit, &filters)).collect();
        let told: serde_json::Value = serde_json::from_slice(&facets(&snapshot, &filters)).unwrap();
        let colors = told["exterior_colors"].as_array().unwrap();
        assert_eq!(colors.len(), matching.len());
        assert!(colors.iter().all(|term| term["count"] == 1));
        let models = told["models"].as_array().unwrap();
        let counted: u64 = models.iter().map(|term| term["count"].as_u64().unwrap()).sum();
        assert_eq!(counted, matching.len() as u64);
        let distinct: std::collections::HashSet<_> = matching.iter().map(|unit| &unit.model).collect();
        assert_eq!(models.len(), distinct.len());
        let (low, high) = (&told["price_range"]["min"], &told["price_range"]["max"]);
        assert_eq!(matching.iter().filter_map(|unit| unit.price).min(), low.as_i64());
        assert_eq!(matching.iter().filter_map(|unit| unit.price).max(), high.as_i64());
    }
}
