//! Lots past the widths that small ones are packed in.

use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::{Builder, Delta, Found, OutOfOrder, Snapshot, Start, facets, find, search};

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
        (page.total, page.rows.iter().map(|row| row.vehicle_id().to_owned()).collect::<Vec<_>>())
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

/// Over the edge of two bytes and back: rows, codes and terms widen and narrow as units come and go.
#[test]
fn versions_cross_the_width_of_their_numbers() {
    let mut rng = lots::rng(65_536);
    let template = lots::unit(&mut rng, 0, &Taste { filled: 0.0, prices: 1 });
    let unit = |i: u32| {
        let mut unit = template.clone();
        unit.vehicle_id = format!("{i:05}");
        unit.exterior_color = Some(format!("Tint {i:05}"));
        unit.price = Some(i64::from(i) * 7919 % 70_001);
        unit.stock = Some(format!("S{i}"));
        unit.vin = Some(format!("V{}", i / 2));
        unit
    };
    let built = |range: std::ops::Range<u32>| Snapshot::build(2, range.map(unit).collect(), Vec::new());
    let small = built(0..65_500);
    let large = small.apply(2, Delta { changed: (65_500..65_560).map(unit).collect(), ..Delta::default() });
    let dropped = (0..60).map(|i| unit(i).vehicle_id).collect();
    let shrunk = large.apply(2, Delta { dropped, ..Delta::default() });
    for (made, built, last) in [
        (&large, built(0..65_560), 65_559),
        (&shrunk, built(60..65_560), 65_559),
        (&small, built(0..65_500), 65_499),
    ] {
        assert!(*facets(made, &Filters::default()) == *facets(&built, &Filters::default()));
        let narrowed = Filters { price_max: Some(9_000), ..Filters::default() };
        assert!(*facets(made, &narrowed) == *facets(&built, &narrowed));
        for field in [SortField::Price, SortField::Stock] {
            for order in [SortOrder::Asc, SortOrder::Desc] {
                let page = |snapshot: &Snapshot| {
                    let sort = Sort { field, order };
                    let page =
                        search(snapshot, &Filters::default(), sort, Start::Beginning, usize::MAX).unwrap();
                    page.rows.iter().map(|row| row.vehicle_id().to_owned()).collect::<Vec<_>>()
                };
                assert!(page(made) == page(&built));
            }
        }
        for number in [0, 59, 60, 61, 255, 65_499, 65_500, 65_535, 65_536, last] {
            let unit = unit(number);
            for (vin, id, stock) in [
                (unit.vin.as_deref(), None, None),
                (None, Some(unit.vehicle_id.as_str()), None),
                (None, None, unit.stock.as_deref()),
            ] {
                assert_eq!(find(made, vin, id, stock), find(&built, vin, id, stock), "{number}");
            }
        }
        let color = Filters { exterior_color: vec![format!("tint {last:05}")], ..Filters::default() };
        let page = search(made, &color, Sort::DEFAULT, Start::Beginning, 3).unwrap();
        assert_eq!((page.total, page.rows[0].vehicle_id()), (1, format!("{last:05}").as_str()));
    }
    let index = |snapshot: &Snapshot| snapshot.weight() - snapshot.documents();
    assert!(index(&shrunk) * 100 <= index(&built(60..65_560)) * 110);
}

/// A lot that is built while its units come is the lot that is built of all of them; also where a second thread helps.
#[test]
fn a_builder_makes_what_building_at_once_makes() {
    let mut rng = lots::rng(9);
    let taste = Taste { filled: 0.7, prices: 40 };
    let mut units: Vec<_> = (0..5_000).map(|i| lots::unit(&mut rng, i, &taste)).collect();
    units.sort_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
    units.dedup_by(|a, b| a.vehicle_id == b.vehicle_id);
    for count in [0, 1, 130, units.len()] {
        let units = &units[..count];
        let at_once = Snapshot::build(3, units.to_vec(), Vec::new());
        let mut builder = Builder::new(7);
        units.iter().for_each(|unit| builder.push(unit.clone()).unwrap());
        if let Some(first) = units.first() {
            assert_eq!(builder.push(first.clone()), Err(OutOfOrder));
        }
        let built = builder.finish(3, &[]);
        assert_eq!((built.version(), built.len(), built.weight()), (3, count, at_once.weight()));
        for query in [None, Some("the"), Some("a")] {
            let filters = Filters { query: query.map(str::to_owned), ..Filters::default() };
            assert_eq!(facets(&built, &filters), facets(&at_once, &filters));
            let page = |snapshot| {
                let page = search(snapshot, &filters, Sort::DEFAULT, Start::Beginning, 50).unwrap();
                let rows = page.rows.iter().map(|row| row.vehicle_id().to_owned());
                (page.total, rows.collect::<Vec<_>>())
            };
            assert_eq!(page(&built), page(&at_once));
        }
        for unit in units {
            let detail = unit.detail.as_ref().unwrap_or(&unit.listing);
            let found = find(&built, None, Some(&unit.vehicle_id), None);
            assert_eq!(found, Found::Live { vehicle_id: &unit.vehicle_id, document: detail });
        }
    }
}
