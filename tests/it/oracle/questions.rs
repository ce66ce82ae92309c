//! Random searches: what people ask for, spelled in every way they may spell it.

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Map, Value, json};
use unicode_normalization::UnicodeNormalization;

use super::lots::Lot;

/// One search, without the page.
pub(crate) struct Question {
    pub(crate) filters: Option<Value>,
    pub(crate) sort: Option<Value>,
}

const SORTED: [&str; 9] =
    ["price", "list_price", "msrp", "mileage", "year", "make", "model", "stock", "updated_at"];
/// Filter and the member whose values it is made of.
const LISTS: [(&str, &str); 12] = [
    ("make", "make"),
    ("model", "model"),
    ("trim", "trim"),
    ("body", "body"),
    ("fuel", "fuel"),
    ("driveline", "driveline"),
    ("transmission", "transmission"),
    ("exterior_color", "exterior_color"),
    ("interior_color", "interior_color"),
    ("charge_port", "charge_port"),
    ("rooftops", "rooftop"),
    ("features", "feature"),
];
const CHOICES: [(&str, &[&str]); 3] = [
    ("condition", &["new", "used", "cpo"]),
    ("status", &["available", "intransit", "pending"]),
    ("vehicle_type", &["car", "motorcycle", "trailer", "rv", "other"]),
];
const BOUNDS: [(&str, &str); 9] = [
    ("year_min", "year"),
    ("year_max", "year"),
    ("price_min", "price"),
    ("price_max", "price"),
    ("mileage_max", "mileage"),
    ("displacement_cc_min", "displacement_cc"),
    ("displacement_cc_max", "displacement_cc"),
    ("electric_range_mi_min", "electric_range_mi"),
    ("electric_range_mi_max", "electric_range_mi"),
];
/// Where a free-text query looks (AAP.md 7.4.1).
const SEARCHED: [&str; 14] = [
    "make",
    "model",
    "trim",
    "year",
    "body",
    "fuel",
    "driveline",
    "transmission",
    "engine",
    "exterior_color",
    "interior_color",
    "feature",
    "description",
    "stock",
];

impl Question {
    pub(crate) fn random(lot: &Lot, random: &mut StdRng) -> Question {
        let mut filters = Map::new();
        // Mostly one or two conditions: with more, nothing is left to compare.
        for _ in 0..*[0, 1, 1, 1, 2, 2, 2, 3, 4, 6].choose(random).unwrap() {
            let (name, value) = condition(lot, random);
            filters.insert(name, value);
        }
        let filters = (!filters.is_empty() || random.random_ratio(1, 4)).then_some(Value::Object(filters));
        let sort = random.random_ratio(5, 6).then(|| {
            let (field, order) = (SORTED.choose(random), ["asc", "desc"].choose(random));
            json!({"field": field, "order": order})
        });
        Question { filters, sort }
    }

    /// A page's size; sometimes none is named, sometimes more than anybody gets.
    pub(crate) fn limit(&self, random: &mut StdRng, whole: bool) -> Option<i64> {
        match random.random_range(0..20) {
            0 => None,
            1 => Some(1000),
            2 => Some(random.random_range(20..=120)),
            _ if whole => Some(random.random_range(30..=100)),
            _ => Some(random.random_range(1..=6)),
        }
    }

    pub(crate) fn request(&self, limit: Option<i64>, cursor: Option<&str>) -> Value {
        let mut request = json!({"type": "inventory.search.request"});
        if let Some(filters) = &self.filters {
            request["filters"] = filters.clone();
        }
        if let Some(sort) = &self.sort {
            request["sort"] = sort.clone();
        }
        if let Some(limit) = limit {
            request["pagination"]["limit"] = limit.into();
        }
        if let Some(cursor) = cursor {
            request["pagination"]["cursor"] = cursor.into();
        }
        request
    }

    pub(crate) fn effective_sort(&self, lot: &Lot) -> Value {
        self.sort.clone().unwrap_or_else(|| lot.default_sort.clone())
    }

    /// The filters as the answer repeats them: without empty lists, whole numbers spelled as such.
    pub(crate) fn applied(&self) -> Value {
        let said = self.filters.as_ref().and_then(Value::as_object).into_iter().flatten();
        let plain = |value: &Value| match value.as_f64() {
            Some(number) if value.is_f64() => json!(number as i64),
            _ => value.clone(),
        };
        said.filter(|(_, value)| **value != json!([]))
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect()
    }
}

fn condition(lot: &Lot, random: &mut StdRng) -> (String, Value) {
    match random.random_range(0..20) {
        0..8 => {
            let (name, member) = *LISTS.choose(random).unwrap();
            let terms = *[0, 1, 1, 1, 2, 3].choose(random).unwrap();
            (name.into(), (0..terms).map(|_| Value::from(term(lot, name, member, random))).collect())
        }
        8..11 => {
            let (name, all) = *CHOICES.choose(random).unwrap();
            let some: Vec<&str> = all.iter().copied().filter(|_| random.random_bool(0.5)).collect();
            (name.into(), json!(some))
        }
        11..15 => {
            let (name, member) = *BOUNDS.choose(random).unwrap();
            (name.into(), bound(lot, name, member, random))
        }
        15 => ("dc_fast_charge".into(), random.random_bool(0.7).into()),
        16 => {
            let vin = pick(lot, "vin", random).filter(|_| random.random_ratio(3, 4));
            ("vin".into(), vin.unwrap_or_else(|| json!("4S4BTGUD5R3217409")))
        }
        17 => {
            let stock = pick(lot, "stock", random).unwrap_or_else(|| json!("none"));
            let stock = stock.as_str().unwrap();
            // Exact and case-sensitive, so another case finds another unit or nothing.
            (
                "stock".into(),
                if random.random_ratio(1, 4) { stock.to_uppercase().into() } else { stock.into() },
            )
        }
        _ => ("query".into(), query(lot, random).into()),
    }
}

fn pick(lot: &Lot, member: &str, random: &mut StdRng) -> Option<Value> {
    lot.values.get(member)?.choose(random).cloned()
}

/// A term that is, or is nearly, a value of the lot.
fn term(lot: &Lot, filter: &str, member: &str, random: &mut StdRng) -> String {
    let Some(value) = pick(lot, member, random).filter(|_| random.random_ratio(9, 10)) else {
        return ["nothing", "", " ", "é"].choose(random).unwrap().to_string();
    };
    let mut text = value.as_str().expect("a text").to_owned();
    let in_parts = ["transmission", "exterior_color", "interior_color"].contains(&filter);
    if in_parts && random.random_bool(0.5) {
        text = part(&text, random);
    }
    spelled(&text, random)
}

/// A piece of a text: from one place to another, or a word.
fn part(text: &str, random: &mut StdRng) -> String {
    if random.random_bool(0.5)
        && let Some(word) = text.split([' ', '-', '/']).collect::<Vec<_>>().choose(random)
    {
        return (*word).to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return String::new();
    }
    let from = random.random_range(0..letters.len());
    let until = random.random_range(from..letters.len()) + 1;
    letters[from..until].iter().collect()
}

/// The same text in another spelling.
fn spelled(text: &str, random: &mut StdRng) -> String {
    match random.random_range(0..8) {
        0 => text.to_uppercase(),
        1 => text.to_lowercase(),
        2 => format!(" {text}\u{a0}"),
        3 => text.nfd().collect(),
        4 => text.chars().rev().collect(),
        _ => text.to_owned(),
    }
}

/// At, just below, or just above a value of the lot; sometimes spelled with a fraction.
fn bound(lot: &Lot, filter: &str, member: &str, random: &mut StdRng) -> Value {
    let value = pick(lot, member, random).and_then(|value| value.as_f64()).unwrap_or(2020.0);
    let mut whole = value as i64 + random.random_range(-1..=1);
    if filter.starts_with("year") {
        whole = whole.clamp(1900, 2100);
    }
    let whole = whole.max(0);
    if random.random_ratio(1, 5) && whole < 1 << 53 { json!(whole as f64) } else { json!(whole) }
}

/// Words and pieces of words of one unit or of several.
fn query(lot: &Lot, random: &mut StdRng) -> String {
    let mut tokens = Vec::new();
    for _ in 0..*[0, 1, 1, 2, 2, 3].choose(random).unwrap() {
        let member = if random.random_ratio(1, 12) { "vin" } else { SEARCHED.choose(random).unwrap() };
        let value = pick(lot, member, random).unwrap_or_else(|| json!("nothing"));
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let words: Vec<&str> = text.split_whitespace().collect();
        let word = words.choose(random).copied().unwrap_or("x");
        let piece = if random.random_bool(0.4) { part(word, random) } else { word.to_owned() };
        // A mark that lost its letter is no word of anybody.
        let piece: String = piece.nfc().collect();
        tokens.push(if random.random_bool(0.5) { spelled(&piece, random) } else { piece });
    }
    let blank = ["  ", " ", "\t", "\u{2003}"].choose(random).unwrap();
    tokens.join(blank).chars().take(200).collect()
}
