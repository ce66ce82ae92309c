//! Random lots and requests: few distinct values, so that everything collides, and every awkward spelling.

use chrono::{DateTime, TimeDelta, Utc};
use contract::Listing;
use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::Removed;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

const MAKES: [&str; 9] =
    ["Honda", "HONDA", "honda ", "Citroën", "Citroe\u{308}n", "Citroen", "Škoda", "", "Land Rover"];
const MODELS: [&str; 10] = ["CR-V", "cr-v", "Civic", "C3", "ΟΔΟΣ", "οδος", "İğne", "R\"1\\5", "Model 3", "3"];
const TRIMS: [&str; 6] = ["EX", "Ex-L", "ex", " ", "Sport Touring", "Ÿ"];
const BODIES: [&str; 5] = ["SUV", "suv", "Sedan", "cruiser", "Straße"];
const FUELS: [&str; 5] = ["gas", "Gas", "bev", "hybrid", "diesel"];
const DRIVELINES: [&str; 4] = ["AWD", "awd", "FWD", "4x4"];
const TRANSMISSIONS: [&str; 6] =
    ["8-speed automatic", "Automatic", "manual", "semiautomatic", "CVT automatic", "8-speed\nAUTOMATIC"];
const COLORS: [&str; 8] = [
    "Crystal Black Pearl",
    "black",
    "Blackish",
    "Noir Étoilé",
    "noir e\u{301}toile\u{301}",
    "Red",
    "",
    "red/black",
];
const ENGINES: [&str; 4] = ["2.0L I4", "3.5L V6", "électrique", "2.0l i4 Turbo"];
const PORTS: [&str; 3] = ["nacs", "CCS", "ccs"];
const ROOFTOPS: [&str; 3] = ["North", "NORTH", "Süd"];
const FEATURES: [&str; 9] = [
    "Heated Seats",
    "heated seats",
    "Sunroof",
    "Apple CarPlay",
    "Tow hitch",
    "Kühlbox",
    "",
    "360° camera",
    "Adaptive cruise control",
];
const WORDS: [&str; 16] = [
    "clean",
    "Title,",
    "one",
    "OWNER",
    "CarPlay",
    "Éclat",
    "e\u{301}clat",
    "price:",
    "24,990",
    "\t",
    "sunroof",
    "a",
    "HC-10",
    "\u{2003}",
    "naïve",
    "“fresh”",
];
const STATUSES: [&str; 3] = ["available", "intransit", "pending"];
const CONDITIONS: [&str; 3] = ["new", "used", "cpo"];
const TYPES: [&str; 5] = ["car", "motorcycle", "trailer", "rv", "other"];

fn maybe<T>(rng: &mut StdRng, chance: f64, value: impl FnOnce(&mut StdRng) -> T) -> Option<T> {
    rng.random_bool(chance).then(|| value(rng))
}

fn one(rng: &mut StdRng, of: &[&str]) -> String {
    (*of.choose(rng).unwrap()).to_owned()
}

fn epoch() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).unwrap()
}

fn vin(rng: &mut StdRng) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
    let tail: String = (0..10).map(|_| char::from(*ALPHABET.choose(rng).unwrap())).collect();
    format!("2HKRW2H{tail}")
}

/// How a lot is filled.
pub(crate) struct Taste {
    /// How often an optional member is there.
    pub(crate) filled: f64,
    /// How many distinct prices and mileages there are.
    pub(crate) prices: i64,
}

pub(crate) fn unit(rng: &mut StdRng, number: usize, taste: &Taste) -> Listing {
    let filled = taste.filled;
    let vehicle_id = match rng.random_range(0..4) {
        0 => format!("veh \"{number}\"\\é"),
        1 => format!("{number}"),
        _ => format!("unit-{number:05}"),
    };
    let description = maybe(rng, filled, |rng| {
        let words: Vec<_> = (0..rng.random_range(0..9)).map(|_| one(rng, &WORDS)).collect();
        words.join([" ", "\n", "  ", "\u{b}"].choose(rng).unwrap())
    });
    let price = maybe(rng, filled, |rng| 20_000 + 10 * rng.random_range(0..taste.prices));
    let listing = serde_json::json!({"vehicle_id": vehicle_id, "status": "available"}).to_string();
    let detail = description
        .as_ref()
        .map(|text| serde_json::json!({"vehicle_id": vehicle_id, "description": text}).to_string());
    Listing {
        vin: maybe(
            rng,
            filled,
            |rng| if rng.random_bool(0.05) { "2HKRW2H8SAME00000".into() } else { vin(rng) },
        ),
        stock: maybe(rng, filled, |rng| match rng.random_range(0..8) {
            0 => "N/A".into(),
            1 => "n/a".into(),
            2 => String::new(),
            3 => "HC 10\u{e9}".into(),
            _ => format!("HC-{}", rng.random_range(0..number + 2)),
        }),
        status: one(rng, &STATUSES),
        condition: maybe(rng, filled, |rng| one(rng, &CONDITIONS)),
        vehicle_type: if rng.random_bool(0.6) { "car".into() } else { one(rng, &TYPES) },
        rooftop: maybe(rng, filled, |rng| one(rng, &ROOFTOPS)),
        year: maybe(rng, filled, |rng| rng.random_range(1998..2027)),
        make: maybe(rng, filled, |rng| one(rng, &MAKES)),
        model: maybe(rng, filled, |rng| one(rng, &MODELS)),
        trim: maybe(rng, filled, |rng| one(rng, &TRIMS)),
        body: maybe(rng, filled, |rng| one(rng, &BODIES)),
        fuel: maybe(rng, filled, |rng| one(rng, &FUELS)),
        driveline: maybe(rng, filled, |rng| one(rng, &DRIVELINES)),
        transmission: maybe(rng, filled, |rng| one(rng, &TRANSMISSIONS)),
        engine: maybe(rng, filled, |rng| one(rng, &ENGINES)),
        exterior_color: maybe(rng, filled, |rng| one(rng, &COLORS)),
        interior_color: maybe(rng, filled, |rng| one(rng, &COLORS)),
        charge_port: maybe(rng, filled / 2.0, |rng| one(rng, &PORTS)),
        dc_fast_charge: maybe(rng, filled / 2.0, |rng| rng.random_bool(0.5)),
        price,
        // Goes with the price: a bound on one crowds the matches at one end of the other.
        list_price: price.map(|price| price - rng.random_range(0..30)),
        msrp: maybe(rng, filled / 2.0, |rng| 20_000 + rng.random_range(0..taste.prices)),
        mileage: maybe(rng, filled, |rng| rng.random_range(0..taste.prices * 100)),
        displacement_cc: maybe(rng, filled / 3.0, |rng| 100 * rng.random_range(1..20)),
        electric_range_mi: maybe(rng, filled / 2.0, |rng| f64::from(rng.random_range(0..600)) / 2.0),
        features: (0..rng.random_range(0..6)).map(|_| one(rng, &FEATURES)).collect(),
        description,
        updated_at: epoch() + TimeDelta::nanoseconds(rng.random_range(0..taste.prices * 3)),
        listing,
        detail,
        content_hash: [0; 32],
        vehicle_id,
    }
}

pub(crate) fn lot(rng: &mut StdRng) -> (Vec<Listing>, Vec<Removed>) {
    let size = match rng.random_range(0..40) {
        0 => 0,
        1 => 1,
        2..20 => rng.random_range(2..40),
        20..38 => rng.random_range(40..200),
        // Large enough for the parts that only large lots have.
        38 => rng.random_range(256..600),
        _ => rng.random_range(1000..2500),
    };
    let taste = Taste {
        filled: *[0.0, 0.3, 0.8, 0.95, 1.0].choose(rng).unwrap(),
        prices: *[1, 3, 50, 100_000].choose(rng).unwrap(),
    };
    let mut lot: Vec<Listing> = (0..size).map(|number| unit(rng, number, &taste)).collect();
    let mut removed: Vec<Removed> = Vec::new();
    for number in 0..rng.random_range(0..20) {
        let gone = unit(rng, 100_000 + number, &taste);
        removed.push(Removed { vehicle_id: gone.vehicle_id, vin: gone.vin, stock: gone.stock });
        // Some that are back.
        if let Some(back) = lot.choose(rng).filter(|_| number % 5 == 0) {
            removed.push(Removed {
                vehicle_id: back.vehicle_id.clone(),
                vin: back.vin.clone(),
                stock: back.stock.clone(),
            });
        }
    }
    // Feeds come in any order.
    for i in (1..lot.len()).rev() {
        let j = rng.random_range(0..=i);
        lot.swap(i, j);
    }
    (lot, removed)
}

/// Texts as a buyer's agent might write them: a value, in another case, with blanks around, or unknown.
fn wanted(rng: &mut StdRng, known: &[&str]) -> Vec<String> {
    let count = *[0, 1, 1, 1, 2, 3].choose(rng).unwrap();
    (0..count)
        .map(|_| {
            let value = one(rng, known);
            match rng.random_range(0..8) {
                0 => value.to_uppercase(),
                1 => format!("\u{a0} {value} "),
                2 => "unknown".into(),
                3 => value.chars().take(3).collect(),
                4 => value.split(' ').next_back().unwrap_or_default().into(),
                _ => value,
            }
        })
        .collect()
}

fn query(rng: &mut StdRng, lot: &[Listing]) -> String {
    let tokens: Vec<String> = (0..rng.random_range(0..4))
        .map(|_| {
            let pools: [&[&str]; 8] = [
                &MAKES,
                &MODELS,
                &TRIMS,
                &COLORS,
                &WORDS,
                &FEATURES,
                &TRANSMISSIONS,
                &["2024", "20", "zzz", "-"],
            ];
            let unit = lot.choose(rng);
            let text = match rng.random_range(0..12) {
                0 => unit.and_then(|u| u.vin.clone()).unwrap_or_default(),
                1 => unit.and_then(|u| u.stock.clone()).unwrap_or_default(),
                2 => unit.and_then(|u| u.description.clone()).unwrap_or_default(),
                _ => {
                    let pool = *pools.choose(rng).unwrap();
                    one(rng, pool)
                }
            };
            let chars: Vec<char> = text.chars().collect();
            let start = rng.random_range(0..=chars.len());
            let end = rng.random_range(start..=chars.len());
            let part: String =
                if rng.random_bool(0.5) { text.clone() } else { chars[start..end].iter().collect() };
            if rng.random_bool(0.3) { part.to_uppercase() } else { part }
        })
        .collect();
    tokens.join([" ", "  ", "\u{2003}", "\n"].choose(rng).unwrap())
}

fn bound(rng: &mut StdRng, low: i64, high: i64) -> i64 {
    match rng.random_range(0..12) {
        0 => i64::MAX,
        1 => 0,
        _ => rng.random_range(low..=high),
    }
}

fn price(rng: &mut StdRng) -> i64 {
    let high = *[20_050, 20_600, 1_020_000].choose(rng).unwrap();
    bound(rng, 19_990, high)
}

pub(crate) fn filters(rng: &mut StdRng, lot: &[Listing]) -> Filters {
    let mut f = Filters::default();
    for _ in 0..*[0, 1, 1, 2, 2, 3, 5].choose(rng).unwrap() {
        match rng.random_range(0..27) {
            0 => f.make = wanted(rng, &MAKES),
            1 => f.model = wanted(rng, &MODELS),
            2 => f.trim = wanted(rng, &TRIMS),
            3 => f.condition = wanted(rng, &CONDITIONS),
            4 => f.vehicle_type = wanted(rng, &TYPES),
            5 => f.transmission = wanted(rng, &TRANSMISSIONS),
            6 => f.fuel = wanted(rng, &FUELS),
            7 => f.driveline = wanted(rng, &DRIVELINES),
            8 => f.body = wanted(rng, &BODIES),
            9 => f.charge_port = wanted(rng, &PORTS),
            10 => f.exterior_color = wanted(rng, &COLORS),
            11 => f.interior_color = wanted(rng, &COLORS),
            12 => f.rooftops = wanted(rng, &ROOFTOPS),
            13 => f.status = wanted(rng, &STATUSES),
            14 => f.features = wanted(rng, &FEATURES),
            15 => f.dc_fast_charge = Some(rng.random_bool(0.7)),
            16 => f.year_min = Some(bound(rng, 1995, 2030)),
            17 => f.year_max = Some(bound(rng, 1995, 2030)),
            18 => f.price_min = Some(price(rng)),
            19 => f.price_max = Some(price(rng)),
            20 => {
                let high = *[300, 6_000, 10_000_000].choose(rng).unwrap();
                f.mileage_max = Some(bound(rng, 0, high));
            }
            21 => f.displacement_cc_min = Some(bound(rng, 0, 2_000)),
            22 => f.electric_range_mi_min = Some(bound(rng, 0, 310)),
            23 => f.electric_range_mi_max = Some(bound(rng, 0, 310)),
            24 => f.vin = lot.choose(rng).and_then(|u| u.vin.clone()).or(Some("none".into())),
            25 => f.stock = lot.choose(rng).and_then(|u| u.stock.clone()).or(Some(String::new())),
            _ => f.query = Some(query(rng, lot)),
        }
    }
    if rng.random_bool(0.1) {
        f.displacement_cc_max = Some(bound(rng, 0, 2_000));
    }
    f
}

pub(crate) fn sort(rng: &mut StdRng) -> Sort {
    let order = if rng.random_bool(0.5) { SortOrder::Asc } else { SortOrder::Desc };
    Sort { field: *SortField::ALL.choose(rng).unwrap(), order }
}
