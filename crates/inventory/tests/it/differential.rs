//! Thousands of random requests: whatever the engine answers, the oracle answers too.
//!
//! `FORECOURT_SOAK=n` runs n times as many.

use contract::Listing;
use inventory::{Found, Snapshot, Start, facets, find, search};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::{lots, oracle};

fn soak() -> u64 {
    std::env::var("FORECOURT_SOAK").ok().and_then(|times| times.parse().ok()).unwrap_or(1).max(1)
}

/// Four tests, so that they run side by side.
#[test]
fn random_lots_agree_with_the_oracle_1() {
    compare(0);
}

#[test]
fn random_lots_agree_with_the_oracle_2() {
    compare(1);
}

#[test]
fn random_lots_agree_with_the_oracle_3() {
    compare(2);
}

#[test]
fn random_lots_agree_with_the_oracle_4() {
    compare(3);
}

fn compare(part: u64) {
    let (mut asked, mut found, mut facets_told) = (0, 0, 0);
    for seed in (part..400 * soak()).step_by(4) {
        let mut rng = lots::rng(seed);
        let (lot, removed) = lots::lot(&mut rng);
        let snapshot = Snapshot::build(seed, lot.clone(), removed.clone());
        assert_eq!((snapshot.version(), snapshot.len()), (seed, lot.len()));
        for _ in 0..12 {
            let filters = lots::filters(&mut rng, &lot);
            let matching: Vec<&Listing> = lot.iter().filter(|unit| oracle::matches(unit, &filters)).collect();
            let told = String::from_utf8(facets(&snapshot, &filters).into_owned()).unwrap();
            assert_eq!(told, oracle::facets(&lot, &matching), "seed {seed}, {filters:?}");
            facets_told += usize::from(!matching.is_empty() && matching.len() < lot.len());
            for _ in 0..3 {
                let sort = lots::sort(&mut rng);
                let expected = oracle::sorted(&matching, sort);
                let expected: Vec<&str> = expected.iter().map(|unit| unit.vehicle_id.as_str()).collect();
                let context = format!("seed {seed}, {sort:?}, {filters:?}");
                check_walk(&mut rng, &snapshot, &filters, sort, &expected, &context);
                check_skips(&mut rng, &snapshot, &filters, sort, &expected, &context);
                asked += 1;
            }
        }
        found += (0..20).filter(|_| check_find(&mut rng, &snapshot, &lot, &removed)).count();
    }
    // Agreement on nothing would be no agreement.
    assert!(facets_told * 5 > asked / 3, "{facets_told} of {} facets were of a part of the lot", asked / 3);
    assert!(found > 300, "{found} units were found");
}

/// Lots with the parts that only larger ones have (steps along an order, runs of bytes, lists in code): many
/// requests, one page each.
#[test]
fn larger_lots_agree_with_the_oracle() {
    for seed in 0..8 * soak() {
        let mut rng = lots::rng(1_000_000 + seed);
        let size = *[300, 700, 2100, 2600].choose(&mut rng).unwrap();
        let taste = lots::Taste { filled: 0.9, prices: *[40, 100_000].choose(&mut rng).unwrap() };
        let lot: Vec<Listing> = (0..size).map(|number| lots::unit(&mut rng, number, &taste)).collect();
        let snapshot = Snapshot::build(seed, lot.clone(), Vec::new());
        for _ in 0..150 {
            let filters = lots::filters(&mut rng, &lot);
            let matching: Vec<&Listing> = lot.iter().filter(|unit| oracle::matches(unit, &filters)).collect();
            let sort = lots::sort(&mut rng);
            let expected = oracle::sorted(&matching, sort);
            let (start, from) = match expected.choose(&mut rng) {
                Some(unit) if rng.random_bool(0.5) => {
                    let place = expected.iter().position(|other| other.vehicle_id == unit.vehicle_id);
                    (Start::After(&unit.vehicle_id), place.unwrap() + 1)
                }
                _ => (Start::Beginning, 0),
            };
            let page = search(&snapshot, &filters, sort, start, 20).unwrap();
            let ids: Vec<&str> = page.rows.iter().map(|row| row.vehicle_id()).collect();
            let wanted: Vec<&str> =
                expected[from..].iter().take(20).map(|unit| unit.vehicle_id.as_str()).collect();
            assert_eq!(ids, wanted, "seed {seed}, {sort:?}, {start:?}, {filters:?}");
            assert_eq!(page.total, expected.len() as u64, "seed {seed}, {filters:?}");
        }
    }
}

/// Follows the pages from the first to the last, with a new limit on each.
fn check_walk(
    rng: &mut StdRng,
    snapshot: &Snapshot,
    filters: &contract::payload::Filters,
    sort: contract::payload::Sort,
    expected: &[&str],
    context: &str,
) {
    let mut seen: Vec<String> = Vec::new();
    let most = *[1, 7, 100, 100_000].choose(rng).unwrap();
    loop {
        let start = seen.last().map_or(Start::Beginning, |id| Start::After(id));
        // A lot of thousands is not walked one by one.
        let limit = rng.random_range(1..=most).max(expected.len() / 50);
        let page = search(snapshot, filters, sort, start, limit).unwrap();
        assert_eq!(page.total, expected.len() as u64, "{context}");
        assert!(page.rows.len() == limit || !page.more, "{context}");
        let ids: Vec<String> = page.rows.iter().map(|row| row.vehicle_id().to_owned()).collect();
        assert_eq!(page.documents(), page.rows.iter().map(|row| row.listing().len()).sum::<usize>());
        for row in &page.rows {
            let document: serde_json::Value = serde_json::from_slice(row.listing()).unwrap();
            assert_eq!(document["vehicle_id"], row.vehicle_id());
        }
        let (more, empty) = (page.more, ids.is_empty());
        seen.extend(ids);
        assert_eq!(seen, expected[..seen.len()], "{context}");
        assert_eq!(more, seen.len() < expected.len(), "{context}");
        if !more {
            break;
        }
        assert!(!empty, "{context}");
    }
    assert_eq!(seen, expected, "{context}");
}

fn check_skips(
    rng: &mut StdRng,
    snapshot: &Snapshot,
    filters: &contract::payload::Filters,
    sort: contract::payload::Sort,
    expected: &[&str],
    context: &str,
) {
    let skips = [0, rng.random_range(0..=expected.len() as u64 + 2), u64::MAX];
    for skip in skips {
        let limit = *[0, 1, 5, 20, usize::MAX].choose(rng).unwrap();
        let page = search(snapshot, filters, sort, Start::Skip(skip), limit).unwrap();
        let from = expected.len().min(usize::try_from(skip).unwrap());
        let to = from.saturating_add(limit).min(expected.len());
        let ids: Vec<&str> = page.rows.iter().map(|row| row.vehicle_id()).collect();
        assert_eq!(ids, expected[from..to], "skip {skip} limit {limit}, {context}");
        assert_eq!((page.total, page.more), (expected.len() as u64, to < expected.len()), "{context}");
    }
}

fn check_find(
    rng: &mut StdRng,
    snapshot: &Snapshot,
    lot: &[Listing],
    removed: &[inventory::Removed],
) -> bool {
    let unknown = || Some("nothing like it".to_owned());
    let mut pick = |live: &dyn Fn(&Listing) -> Option<String>,
                    gone: &dyn Fn(&inventory::Removed) -> Option<String>| {
        match rng.random_range(0..5) {
            0 => lot.choose(rng).and_then(live),
            1 => removed.choose(rng).and_then(gone),
            2 => lot.choose(rng).and_then(live).map(|key| key.to_lowercase()),
            3 => unknown(),
            _ => None,
        }
    };
    let vin = pick(&|unit| unit.vin.clone(), &|unit| unit.vin.clone());
    let id = pick(&|unit| Some(unit.vehicle_id.clone()), &|unit| Some(unit.vehicle_id.clone()));
    let stock = pick(&|unit| unit.stock.clone(), &|unit| unit.stock.clone());
    let (vin, id, stock) = (vin.as_deref(), id.as_deref(), stock.as_deref());
    let expected = oracle::find(lot, removed, vin, id, stock);
    let found = match find(snapshot, vin, id, stock) {
        Found::Live { vehicle_id, document } => {
            let unit = lot.iter().find(|unit| unit.vehicle_id == vehicle_id).unwrap();
            assert_eq!(document, unit.detail.as_ref().unwrap_or(&unit.listing));
            Some(Some(vehicle_id.to_owned()))
        }
        Found::Removed => Some(None),
        Found::Nothing => None,
    };
    assert_eq!(found, expected, "{vin:?} {id:?} {stock:?}");
    matches!(found, Some(Some(_)))
}
