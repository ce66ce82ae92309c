//! Versions made from the version before: whatever they answer, a lot built at once answers too.
//!
//! `FORECOURT_SOAK=n` takes n times as many steps.

use std::collections::BTreeMap;

use contract::Listing;
use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::{Delta, Found, Removed, Snapshot, Start, facets, find, search};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::lots::{self, Taste};

fn soak() -> u64 {
    std::env::var("FORECOURT_SOAK").ok().and_then(|times| times.parse().ok()).unwrap_or(1).max(1)
}

/// A lot and what is known of removed units, as plainly as possible.
#[derive(Clone, Default)]
struct Yard {
    lot: BTreeMap<String, Listing>,
    removed: Vec<Removed>,
}

impl Yard {
    fn after(&self, delta: &Delta) -> Yard {
        let mut next = self.clone();
        let fresh: Vec<&str> = delta.changed.iter().map(|unit| unit.vehicle_id.as_str()).collect();
        let mut without: Vec<&str> = fresh.clone();
        without.extend(delta.removed.iter().map(|unit| unit.vehicle_id.as_str()));
        without.extend(delta.dropped.iter().map(String::as_str));
        next.lot.retain(|id, _| !without.contains(&id.as_str()));
        next.removed.retain(|unit| !without.contains(&unit.vehicle_id.as_str()));
        for unit in &delta.changed {
            next.lot.insert(unit.vehicle_id.clone(), unit.clone());
        }
        let gone = delta.removed.iter().filter(|unit| !fresh.contains(&unit.vehicle_id.as_str()));
        next.removed.extend(gone.cloned());
        next
    }

    fn units(&self) -> Vec<Listing> {
        self.lot.values().cloned().collect()
    }

    fn built(&self, version: u64) -> Snapshot {
        Snapshot::build(version, self.units(), self.removed.clone())
    }
}

fn page(snapshot: &Snapshot, filters: &Filters, sort: Sort, start: Start<'_>, limit: usize) -> String {
    match search(snapshot, filters, sort, start, limit) {
        Ok(page) => {
            let rows: Vec<_> = page.rows.iter().map(|row| (row.vehicle_id(), row.listing())).collect();
            format!("{} {} {rows:?}", page.total, page.more)
        }
        Err(unknown) => unknown.to_string(),
    }
}

fn told<'a>(snapshot: &'a Snapshot, vin: Option<&str>, id: Option<&str>, stock: Option<&str>) -> Found<'a> {
    find(snapshot, vin, id, stock)
}

/// Everything that can be asked about every unit, and some of what can be asked of the lot.
fn agree(
    rng: &mut StdRng,
    made: &Snapshot,
    built: &Snapshot,
    yard: &Yard,
    known: &[Listing],
    questions: usize,
) {
    assert_eq!((made.version(), made.len()), (built.version(), built.len()));
    assert_eq!(made.documents(), built.documents());
    let all = Filters::default();
    let whole = |snapshot: &Snapshot| String::from_utf8(facets(snapshot, &all).into_owned()).unwrap();
    assert_eq!(whole(made), whole(built));
    for field in SortField::ALL {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            let sort = Sort { field, order };
            let both = [made, built].map(|snapshot| page(snapshot, &all, sort, Start::Beginning, usize::MAX));
            assert_eq!(both[0], both[1], "{sort:?}");
        }
    }
    let units = yard.units();
    for _ in 0..questions {
        // What units had that are gone is asked for as well.
        let from = if rng.random_bool(0.5) { &units } else { known };
        let filters = lots::filters(rng, from);
        let both = [made, built].map(|s| String::from_utf8(facets(s, &filters).into_owned()).unwrap());
        assert_eq!(both[0], both[1], "{filters:?}");
        let sort = lots::sort(rng);
        let start = match known.choose(rng) {
            Some(unit) if rng.random_bool(0.4) => Start::After(&unit.vehicle_id),
            _ => Start::Skip(rng.random_range(0..4)),
        };
        for limit in [7, usize::MAX] {
            let both = [made, built].map(|snapshot| page(snapshot, &filters, sort, start, limit));
            assert_eq!(both[0], both[1], "{sort:?}, {start:?}, {filters:?}");
        }
    }
    let step = known.len() / 40 + 1;
    let first = rng.random_range(0..step);
    for unit in known.iter().skip(first).step_by(step).chain(units.iter().rev().take(3)) {
        let (vin, id, stock) = (unit.vin.as_deref(), Some(unit.vehicle_id.as_str()), unit.stock.as_deref());
        for (vin, id, stock) in
            [(vin, None, None), (None, id, None), (None, None, stock), (vin, id, stock), (None, id, stock)]
        {
            assert_eq!(told(made, vin, id, stock), told(built, vin, id, stock), "{vin:?} {id:?} {stock:?}");
        }
        for filters in [
            Filters { vin: unit.vin.clone(), ..Filters::default() },
            Filters { stock: unit.stock.clone(), ..Filters::default() },
        ] {
            let both =
                [made, built].map(|snapshot| page(snapshot, &filters, Sort::DEFAULT, Start::Beginning, 50));
            assert_eq!(both[0], both[1], "{filters:?}");
        }
    }
}

fn leaving(unit: &Listing) -> Removed {
    Removed { vehicle_id: unit.vehicle_id.clone(), vin: unit.vin.clone(), stock: unit.stock.clone() }
}

/// What is changed about a unit: one member, or all of them.
fn changed(rng: &mut StdRng, unit: &Listing, taste: &Taste) -> Listing {
    let mut other = lots::unit(rng, 7, taste);
    let mut unit = unit.clone();
    let swap = std::mem::swap::<Option<String>>;
    match rng.random_range(0..26) {
        0..8 => unit.price = other.price,
        8 => unit.updated_at = other.updated_at,
        9 => unit.description = other.description,
        10 => swap(&mut unit.stock, &mut other.stock),
        11 => swap(&mut unit.vin, &mut other.vin),
        12 => swap(&mut unit.make, &mut other.make),
        13 => swap(&mut unit.exterior_color, &mut other.exterior_color),
        14 => unit.exterior_color = Some(format!("Färbe {} \u{1f697} \"\\", rng.random_range(0..30))),
        15 => unit.features = other.features,
        16 => unit.year = other.year,
        17 => unit.list_price = other.list_price,
        18 => unit.msrp = other.msrp,
        19 => unit.electric_range_mi = other.electric_range_mi,
        20 => unit.engine = other.engine.map(|engine| format!("{engine} {}", rng.random_range(0..4))),
        // The same value in another spelling.
        21 => unit.model = unit.model.map(|model| model.to_uppercase()),
        22 => unit.fuel = unit.fuel.map(|fuel| format!(" {}", fuel.to_lowercase())),
        23 => unit.description = unit.description.map(|text| format!("{text} {}", rng.random_range(0..99))),
        // Nothing at all.
        24 => {}
        _ => {
            other.vehicle_id.clone_from(&unit.vehicle_id);
            unit = other;
        }
    }
    let listing = serde_json::json!({
        "vehicle_id": unit.vehicle_id, "status": "available", "price": unit.price, "n": rng.random::<u16>()
    });
    unit.listing = listing.to_string();
    unit
}

fn delta(rng: &mut StdRng, yard: &Yard, known: &[Listing], taste: &Taste, numbers: usize) -> Delta {
    let units = yard.units();
    let mut delta = Delta::default();
    let few =
        |rng: &mut StdRng, most: usize| if rng.random_bool(0.4) { 0 } else { rng.random_range(0..=most) };
    for _ in 0..few(rng, 1 + units.len() / 12) {
        if let Some(unit) = units.choose(rng) {
            delta.changed.push(changed(rng, unit, taste));
        }
    }
    for _ in 0..few(rng, 1 + numbers / 40) {
        let number = rng.random_range(0..numbers);
        delta.changed.push(lots::unit(rng, number, taste));
    }
    // Some that come back as they were.
    for _ in 0..few(rng, 2) {
        delta.changed.extend(known.choose(rng).cloned());
    }
    for _ in 0..few(rng, 1 + units.len() / 25) {
        delta.removed.extend(units.choose(rng).map(leaving));
    }
    for _ in 0..few(rng, 1) {
        delta.removed.extend(known.choose(rng).map(leaving));
        delta.removed.push(leaving(&lots::unit(rng, 500_000, taste)));
    }
    for _ in 0..few(rng, 1 + units.len() / 40) {
        delta.dropped.extend(known.choose(rng).map(|unit| unit.vehicle_id.clone()));
        delta.dropped.push(format!("nobody {}", rng.random_range(0..9)));
    }
    match rng.random_range(0..120) {
        // All at once, and the other way.
        0 => {
            delta.changed.clear();
            delta.dropped.extend(yard.lot.keys().cloned());
        }
        1 => {
            delta.changed.clear();
            delta.removed.extend(units.iter().map(leaving));
        }
        2 => delta.changed.extend((0..numbers / 2).map(|number| lots::unit(rng, number, taste))),
        3 => delta = Delta::default(),
        _ => {}
    }
    delta
}

fn copy(delta: &Delta) -> Delta {
    Delta { changed: delta.changed.clone(), removed: delta.removed.clone(), dropped: delta.dropped.clone() }
}

/// A chain of versions, each compared with the lot built at once; now and then one is made from an older one.
fn chain(seed: u64, steps: u64, numbers: usize, questions: usize) {
    let mut rng = lots::rng(seed);
    let mut taste = Taste {
        filled: *[0.3, 0.8, 0.95, 1.0].choose(&mut rng).unwrap(),
        prices: *[3, 50, 100_000].choose(&mut rng).unwrap(),
    };
    let mut yard = Yard::default();
    if rng.random_bool(0.7) {
        let units = (0..numbers).filter(|number| number % 3 > 0).map(|n| lots::unit(&mut rng, n, &taste));
        yard.lot.extend(units.map(|unit| (unit.vehicle_id.clone(), unit)));
    }
    let mut known: Vec<Listing> = yard.units();
    let mut current = yard.built(0);
    let mut older: Option<(Yard, Snapshot)> = None;
    for step in 1..=steps {
        if rng.random_bool(0.05) {
            // A feed that fills other members than before.
            taste.filled = *[0.0, 0.3, 0.8, 1.0].choose(&mut rng).unwrap();
        }
        let delta = delta(&mut rng, &yard, &known, &taste, numbers);
        let next = yard.after(&delta);
        let made = current.apply(step, copy(&delta));
        known.extend(delta.changed);
        let built = next.built(step);
        agree(&mut rng, &made, &built, &next, &known, questions);
        // What it was made from answers as before.
        if step % 16 == 0 {
            let before = yard.built(step - 1);
            agree(&mut rng, &current, &before, &yard, &known, questions);
        }
        match older.take() {
            Some((yard, snapshot)) if rng.random_bool(0.1) => {
                agree(&mut rng, &snapshot, &yard.built(snapshot.version()), &yard, &known, questions);
            }
            kept => older = kept,
        }
        if older.is_none() {
            older = Some((yard, current));
        }
        (yard, current) = (next, made);
        if known.len() > 4 * numbers {
            known.drain(..numbers);
        }
    }
}

#[test]
fn small_lots_agree_after_every_delta() {
    for seed in 0..12 * soak() {
        chain(seed, 120, 30, 3);
    }
}

#[test]
fn middle_lots_agree_after_every_delta() {
    for seed in 100..103 * soak().max(1) {
        chain(seed, 60, 400, 6);
    }
}

/// With steps along the orders, runs of bytes, coded lists, more than one chunk of units.
#[test]
fn larger_lots_agree_after_every_delta() {
    for seed in 0..soak() {
        chain(2_000 + seed, 16, 3_000, 12);
    }
}

/// A day of changes: what is of no use any more does not stay.
#[test]
fn a_long_chain_weighs_what_a_lot_built_at_once_weighs() {
    for (seed, numbers, steps) in [(7, 300, 1200), (8, 2_600, 120)] {
        let mut rng = lots::rng(seed);
        let taste = Taste { filled: 0.95, prices: 100_000 };
        let mut yard = Yard::default();
        let units = (0..numbers).map(|number| lots::unit(&mut rng, number, &taste));
        yard.lot.extend(units.map(|unit| (unit.vehicle_id.clone(), unit)));
        let mut current = yard.built(0);
        for step in 1..=steps {
            let units = yard.units();
            let mut delta = Delta::default();
            for n in 0..rng.random_range(1..20) {
                let mut unit = units.choose(&mut rng).unwrap().clone();
                unit.price = Some(rng.random_range(1_000..90_000));
                if n == 0 {
                    // Words, colors and features that nobody has had and that soon nobody has.
                    unit.description = Some(format!("word{step} other{step} {}", "more ".repeat(9)));
                    unit.exterior_color = Some(format!("Color {step}"));
                    unit.features.push(format!("Feature {step}"));
                    unit.trim = Some(format!("Trim {}", "x".repeat(step as usize % 50)));
                }
                delta.changed.push(unit);
            }
            if step % 3 == 0 {
                let gone = units.choose(&mut rng).unwrap();
                delta.changed.retain(|unit| unit.vehicle_id != gone.vehicle_id);
                delta.removed.push(leaving(gone));
                let mut unit = lots::unit(&mut rng, numbers + step as usize, &taste);
                unit.vehicle_id = format!("new {step}");
                delta.changed.push(unit);
            }
            // A removed unit is forgotten after a while.
            if yard.removed.len() > 60 {
                delta.dropped.extend(yard.removed.iter().take(2).map(|unit| unit.vehicle_id.clone()));
            }
            yard = yard.after(&delta);
            current = current.apply(step, delta);
        }
        let built = yard.built(steps);
        let index = |snapshot: &Snapshot| snapshot.weight() - snapshot.documents();
        assert_eq!(current.documents(), built.documents());
        assert!(
            index(&current) * 100 <= index(&built) * 112 && current.weight() * 100 <= built.weight() * 110,
            "{} and {}: {:?} and {:?}",
            current.weight(),
            built.weight(),
            current.parts(),
            built.parts()
        );
        agree(&mut rng, &current, &built, &yard, &yard.units(), 40);
    }
}

#[test]
fn a_version_beside_another_costs_what_it_does_not_share() {
    let mut rng = lots::rng(11);
    let taste = Taste { filled: 1.0, prices: 100_000 };
    let units: Vec<Listing> = (0..2_000)
        .map(|number| {
            let mut unit = lots::unit(&mut rng, number, &taste);
            unit.listing = format!("{{\"vehicle_id\":\"{}\",\"pad\":\"{}\"}}", number, "p".repeat(900));
            unit
        })
        .collect();
    let first = Snapshot::build(1, units.clone(), Vec::new());
    let weight = first.weight();
    assert_eq!(first.weight(), first.parts().iter().map(|part| part.1).sum::<usize>());
    let itself = first.weight_beside(&first);
    assert!(itself < 2_000, "{itself}");

    // Nothing happened: all is shared.
    let same = first.apply(2, Delta::default());
    assert!(same.weight_beside(&first) < 8_000, "{}", same.weight_beside(&first));
    assert_eq!(same.weight(), weight);

    // A price: one document, the column, a chunk of units.
    let mut unit = units[700].clone();
    unit.price = Some(1);
    unit.listing.push(' ');
    let priced = first.apply(3, Delta { changed: vec![unit], ..Delta::default() });
    let cost = first.weight_beside(&priced);
    assert!(cost > 900 && cost < 40_000, "{cost}");
    assert_eq!(first.weight(), weight);

    // A unit less: rows move, so most of the index is written anew, but no document, and no word.
    let fewer = first.apply(4, Delta { dropped: vec![units[5].vehicle_id.clone()], ..Delta::default() });
    let cost = first.weight_beside(&fewer);
    let index = weight - first.documents();
    assert!(cost < index * 7 / 10, "{cost} of {index}");
    // Each way: what one has alone and what both have is what it weighs.
    assert!(fewer.weight_beside(&first) < index * 7 / 10);

    // Strangers share nothing.
    let stranger = Snapshot::build(1, units, Vec::new());
    assert_eq!(first.weight_beside(&stranger), weight);
}

#[test]
fn what_a_delta_says_twice() {
    let mut rng = lots::rng(3);
    let taste = Taste { filled: 1.0, prices: 50 };
    let mut unit = lots::unit(&mut rng, 1, &taste);
    (unit.vehicle_id, unit.vin, unit.stock) = ("a".into(), Some("VIN-A".into()), Some("S1".into()));
    let with_make = |make: &str| {
        let mut unit = unit.clone();
        unit.make = Some(make.into());
        unit
    };
    let makes = |snapshot: &Snapshot, make: &str| {
        let filters = Filters { make: vec![make.into()], ..Filters::default() };
        search(snapshot, &filters, Sort::DEFAULT, Start::Beginning, 9).unwrap().total
    };
    let empty = Snapshot::build(1, Vec::new(), Vec::new());
    // Of two with one id the later counts; changed wins over removed and dropped.
    let first = empty.apply(
        2,
        Delta {
            changed: vec![with_make("Early"), with_make("Late")],
            removed: vec![leaving(&unit)],
            dropped: vec!["a".into(), "unknown".into()],
        },
    );
    assert_eq!((first.len(), makes(&first, "early"), makes(&first, "late")), (1, 0, 1));
    assert!(matches!(find(&first, None, Some("a"), None), Found::Live { .. }));
    // Removed wins over dropped, and is answered by all its identifiers.
    let second = first
        .apply(3, Delta { removed: vec![leaving(&unit)], dropped: vec!["a".into()], ..Delta::default() });
    assert!(second.is_empty());
    for (vin, id, stock) in [(Some("VIN-A"), None, None), (None, Some("a"), None), (None, None, Some("S1"))] {
        assert_eq!(find(&second, vin, id, stock), Found::Removed);
        assert!(matches!(find(&first, vin, id, stock), Found::Live { .. }));
        assert_eq!(find(&empty, vin, id, stock), Found::Nothing);
    }
    // Back under other numbers: the old ones lead nowhere.
    let mut back = unit.clone();
    (back.vin, back.stock) = (None, Some("S2".into()));
    let third = second.apply(4, Delta { changed: vec![back], ..Delta::default() });
    assert_eq!(find(&third, Some("VIN-A"), None, None), Found::Nothing);
    assert_eq!(find(&third, None, None, Some("S1")), Found::Nothing);
    assert!(matches!(find(&third, None, None, Some("S2")), Found::Live { .. }));
    // Dropped leaves no trace; so does dropping a removed one.
    let fourth = third.apply(5, Delta { dropped: vec!["a".into()], ..Delta::default() });
    assert_eq!((fourth.len(), find(&fourth, None, Some("a"), None)), (0, Found::Nothing));
    let fifth = second.apply(5, Delta { dropped: vec!["a".into()], ..Delta::default() });
    assert_eq!(find(&fifth, Some("VIN-A"), None, None), Found::Nothing);
    assert_eq!(fifth.version(), 5);
}
