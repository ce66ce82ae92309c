//! What the engine takes, in process: building a lot, making the next version of it, the questions.
//!
//! `cargo run --release -p inventory --example measure [rows …] [applies]`; with the last word a profiler sees
//! little else than the making of versions.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use contract::Listing;
use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::{Delta, Removed, Snapshot, Start, facets, search};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// A number below `n` where small ones are commoner.
fn low(rng: &mut StdRng, n: usize) -> usize {
    let a = rng.random_range(0..n);
    let b = rng.random_range(0..n);
    a.min(b)
}

fn words(rng: &mut StdRng, count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        let reach = *[40, 400, 3000].choose(rng).unwrap();
        text.push_str(&format!("w{:x}rd ", low(rng, reach) * 7919));
    }
    text
}

fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).unwrap()
}

fn unit(rng: &mut StdRng, number: usize) -> Listing {
    let model = low(rng, 480);
    let used = rng.random_bool(0.55);
    let vehicle_id = format!("veh_harbor_{number:06}");
    let vin = format!("2HKRW2H{:010}", number * 7919 + 13);
    let stock = format!("H{:02}{number:05}", rng.random_range(20..27));
    let price = rng.random_bool(0.95).then(|| 8_000 + 5 * rng.random_range(0..12_000));
    let description = if used {
        Some(words(rng, 60))
    } else {
        rng.random_bool(0.8).then(|| words(&mut StdRng::seed_from_u64(model as u64 % 300), 80))
    };
    let electric = rng.random_bool(0.15);
    let listing = format!(
        "{{\"vehicle_id\":\"{vehicle_id}\",\"vin\":\"{vin}\",\"stock\":\"{stock}\",\"rest\":\"{}\"}}",
        "x".repeat(840)
    );
    Listing {
        detail: Some(format!("{listing}{}", "y".repeat(440))),
        listing,
        status: ["available", "available", "available", "intransit", "pending"][rng.random_range(0..5)]
            .into(),
        condition: Some(if used { ["used", "cpo"][low(rng, 2)] } else { "new" }.into()),
        vehicle_type: "car".into(),
        rooftop: Some(format!("Rooftop {}", rng.random_range(0..4))),
        year: Some(if used { 2026 - i32::try_from(low(rng, 15)).unwrap() } else { 2027 }),
        make: Some(format!("Make {}", model % 40)),
        model: Some(format!("Model {model}")),
        trim: rng.random_bool(0.9).then(|| format!("Trim {}", low(rng, 120))),
        body: Some(["SUV", "Sedan", "Truck", "Coupe", "Van", "Wagon"][model % 6].into()),
        fuel: Some(if electric { "bev" } else { ["gas", "diesel", "hybrid"][low(rng, 3)] }.into()),
        driveline: Some(["AWD", "FWD", "RWD", "4WD"][low(rng, 4)].into()),
        transmission: Some(format!("{}-speed automatic", 1 + low(rng, 10))),
        engine: Some(format!("{:.1}L I{}", 1.0 + low(rng, 30) as f64 / 10.0, 4 + model % 3 * 2)),
        exterior_color: Some(format!("Color {} Pearl", low(rng, 150))),
        interior_color: Some(format!("Tone {}", low(rng, 30))),
        charge_port: electric.then(|| ["nacs", "ccs"][low(rng, 2)].into()),
        dc_fast_charge: electric.then(|| rng.random_bool(0.8)),
        price,
        list_price: price.map(|price| price - rng.random_range(0..2_000)),
        msrp: (!used).then(|| 20_000 + 5 * rng.random_range(0..8_000)),
        mileage: used.then(|| rng.random_range(500..180_000)),
        displacement_cc: None,
        electric_range_mi: electric.then(|| f64::from(rng.random_range(150..450))),
        features: (0..rng.random_range(4..14)).map(|_| format!("Feature {}", low(rng, 50))).collect(),
        description,
        updated_at: start() + TimeDelta::seconds(rng.random_range(0..5_000_000)),
        content_hash: [0; 32],
        vin: rng.random_bool(0.97).then_some(vin),
        stock: Some(stock),
        vehicle_id,
    }
}

fn filters(rng: &mut StdRng, lot: &[Listing]) -> Filters {
    let unit = lot.choose(rng).unwrap();
    let mut f = Filters::default();
    for kind in [0, 1, 2, 3, 4, 5, 6].sample(rng, 3) {
        match kind {
            0 => f.make = unit.make.iter().cloned().collect(),
            1 => f.condition = unit.condition.iter().cloned().collect(),
            2 => f.body = unit.body.iter().cloned().collect(),
            3 => f.price_max = unit.price.map(|price| price + 5_000),
            4 => f.year_min = unit.year.map(|year| i64::from(year) - 2),
            5 => f.driveline = unit.driveline.iter().cloned().collect(),
            _ => f.fuel = unit.fuel.iter().cloned().collect(),
        }
    }
    f
}

/// Half of the time something is passed over.
fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// What happens to a lot between two feeds: most units have another price.
fn delta(rng: &mut StdRng, lot: &mut Vec<Listing>, next: &mut usize, shifting: bool) -> Delta {
    let mut delta = Delta::default();
    for n in 0..if shifting { 16 } else { 20 } {
        let at = rng.random_range(0..lot.len());
        let unit = &mut lot[at];
        unit.price = Some(8_000 + 5 * rng.random_range(0..12_000));
        unit.updated_at += TimeDelta::seconds(rng.random_range(1..500_000));
        if n == 0 && rng.random_bool(0.3) {
            unit.exterior_color = Some(format!("Color {} Pearl", rng.random_range(0..400)));
        }
        delta.changed.push(unit.clone());
    }
    if shifting {
        for _ in 0..2 {
            let number = rng.random_range(100_000..1_000_000);
            let mut added = unit(rng, number);
            added.vehicle_id = format!("{}_{next}", added.vehicle_id);
            *next += 1;
            delta.changed.push(added.clone());
            lot.push(added);
            let gone = lot.swap_remove(rng.random_range(0..lot.len() - 1));
            delta.changed.retain(|unit| unit.vehicle_id != gone.vehicle_id);
            delta.removed.push(Removed { vehicle_id: gone.vehicle_id, vin: gone.vin, stock: gone.stock });
        }
    }
    delta
}

fn questions(name: &str, snapshot: &Snapshot, asked: &[(Filters, Sort)], texts: &[Filters]) {
    let p50 = |ask: &dyn Fn(usize), count: usize| {
        let times = (0..count * 20).map(|i| {
            let begun = Instant::now();
            ask(i % count);
            begun.elapsed()
        });
        micros(middle(times.collect()))
    };
    let searched = p50(
        &|i| {
            let (filters, sort) = &asked[i];
            let page = search(snapshot, filters, *sort, Start::Beginning, 20).unwrap();
            let mut out: Vec<u8> = Vec::with_capacity(page.documents());
            page.rows.iter().for_each(|row| out.extend_from_slice(row.listing()));
            black_box(&out);
        },
        asked.len(),
    );
    let core = p50(
        &|i| {
            let (filters, sort) = &asked[i];
            black_box(search(snapshot, filters, *sort, Start::Beginning, 20).unwrap());
        },
        asked.len(),
    );
    let counted = p50(&|i| drop(black_box(facets(snapshot, &asked[i].0))), asked.len());
    let text = p50(
        &|i| drop(black_box(search(snapshot, &texts[i], Sort::DEFAULT, Start::Beginning, 20))),
        texts.len(),
    );
    println!(
        "  {name}: search {searched:.1} µs (without bytes {core:.1}), facets {counted:.1} µs, ratio {:.2} \
         ({:.2}), text {text:.1} µs",
        counted / searched,
        counted / core
    );
}

fn main() {
    let applies = std::env::args().any(|arg| arg == "applies");
    let rows: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let rows = if rows.is_empty() { vec![300, 1_000, 10_000, 50_000] } else { rows };
    for rows in rows {
        let mut rng = StdRng::seed_from_u64(rows as u64);
        let mut lot: Vec<Listing> = (0..rows).map(|number| unit(&mut rng, number)).collect();
        let gone: Vec<Removed> = (0..rows / 8)
            .map(|number| unit(&mut rng, 2_000_000 + number))
            .map(|unit| Removed { vehicle_id: unit.vehicle_id, vin: unit.vin, stock: unit.stock })
            .collect();
        let copy = lot.clone();
        let begun = Instant::now();
        let built = Snapshot::build(1, copy, gone.clone());
        println!("{rows} units: built in {:.2} ms", micros(begun.elapsed()) / 1e3);
        let index = built.weight() - built.documents();
        println!("  {} B/unit beside the documents: {:?}", index / rows, built.parts());

        let sorts = [SortField::Price, SortField::Mileage, SortField::Year, SortField::UpdatedAt];
        let asked: Vec<(Filters, Sort)> = (0..200)
            .map(|_| {
                let order = if rng.random_bool(0.5) { SortOrder::Asc } else { SortOrder::Desc };
                (filters(&mut rng, &lot), Sort { field: *sorts.choose(&mut rng).unwrap(), order })
            })
            .collect();
        let texts: Vec<Filters> = (0..100)
            .map(|i| {
                let unit = lot.choose(&mut rng).unwrap();
                let word = words(&mut rng, 1);
                let query = match i % 4 {
                    0 => format!("{} {}", unit.make.clone().unwrap(), word.trim()),
                    1 => format!("{} {}", unit.model.clone().unwrap(), unit.exterior_color.clone().unwrap()),
                    2 => unit.stock.clone().unwrap(),
                    _ => words(&mut rng, 2),
                };
                Filters { query: Some(query), ..Filters::default() }
            })
            .collect();
        if !applies {
            questions("built", &built, &asked, &texts);
        }

        let steps = if applies { 3_000_000 / rows as u64 } else { (3_000_000 / rows as u64).clamp(60, 300) };
        let mut number = 0;
        for (name, shifting) in [("same units", false), ("mixed", true)] {
            let mut current = built.apply(2, Delta::default());
            let (mut lot, mut gone) = (lot.clone(), gone.clone());
            let mut times = Vec::new();
            let mut beside = Vec::new();
            for step in 0..steps {
                let delta = delta(&mut rng, &mut lot, &mut number, shifting);
                gone.extend(delta.removed.iter().cloned());
                let begun = Instant::now();
                let next = current.apply(step + 3, delta);
                times.push(begun.elapsed());
                beside.push(current.weight_beside(&next) / rows);
                drop(std::mem::replace(&mut current, next));
            }
            let most = times.iter().max().copied().unwrap_or_default();
            beside.sort_unstable();
            println!(
                "  {name}: applied in {:.3} ms (at most {:.3}), an older version costs {} B/unit",
                micros(middle(times)) / 1e3,
                micros(most) / 1e3,
                beside[beside.len() / 2]
            );
            let fresh = Snapshot::build(9, lot.clone(), gone.clone());
            println!(
                "  after {steps}: {} B/unit beside the documents, built anew {}",
                (current.weight() - current.documents()) / lot.len(),
                (fresh.weight() - fresh.documents()) / lot.len()
            );
            if !applies {
                questions(name, &current, &asked, &texts);
                questions("anew", &fresh, &asked, &texts);
            }
        }
        lot.clear();
    }
}
