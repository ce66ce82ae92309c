//! What a demo dealer is made of, and the small builders of its public profile.

use serde_json::{Value, json};

use super::catalog::Kind;

/// One tenant of the demo.
pub(super) struct Dealer {
    pub(super) slug: &'static str,
    pub(super) name: &'static str,
    pub(super) welcome: &'static str,
    /// Distinguishes ids of this dealer from those of the others.
    pub(super) code: &'static str,
    pub(super) website: &'static str,
    pub(super) seed: u64,
    pub(super) policy: Value,
    pub(super) rooftops: Vec<Rooftop>,
}

/// One location and what stands on it.
pub(super) struct Rooftop {
    pub(super) name: &'static str,
    /// First letter of its stock numbers.
    pub(super) letter: char,
    pub(super) profile: Value,
    pub(super) charges: Charges,
    pub(super) lots: Vec<Lot>,
    /// Units that were sold lately.
    pub(super) sold: usize,
}

/// A mandatory dealer charge.
#[derive(Clone)]
pub(super) struct Fee {
    pub(super) name: &'static str,
    pub(super) amount: i64,
}

/// The mandatory charges of a rooftop.
pub(super) struct Charges {
    /// On every unit but trailers.
    pub(super) always: Vec<Fee>,
    /// On new units besides.
    pub(super) on_new: Vec<Fee>,
    /// Whether the breakdown is published; `price` includes the charges either way.
    pub(super) published: bool,
}

impl Charges {
    /// All charges of one unit. Trailers have none.
    pub(super) fn of(&self, kind: Kind, condition: &str) -> Vec<Fee> {
        match (kind, condition) {
            (Kind::Trailer, _) => Vec::new(),
            (_, "new") => self.always.iter().chain(&self.on_new).cloned().collect(),
            _ => self.always.clone(),
        }
    }
}

/// So many units of one condition and these makes.
pub(super) struct Lot {
    pub(super) count: usize,
    pub(super) condition: &'static str,
    pub(super) kind: Kind,
    pub(super) makes: &'static [&'static str],
}

pub(super) fn lot(count: usize, condition: &'static str, kind: Kind, makes: &'static [&'static str]) -> Lot {
    Lot { count, condition, kind, makes }
}

pub(super) fn fee(name: &'static str, amount: i64) -> Fee {
    Fee { name, amount }
}

pub(super) fn contacts<const N: usize>(entries: [(&str, &str); N]) -> Value {
    entries.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

pub(super) fn address(state: &str, city: &str, street: &str, zip: &str) -> Value {
    json!({"country": "US", "state": state, "city": city, "address_line_1": street, "zip": zip})
}

pub(super) fn hours(open: &str, close: &str) -> Value {
    json!({"open": open, "close": close})
}

pub(super) type Hours<'a> = (&'a str, &'a str);

pub(super) fn schedule(
    name: &str,
    weekday: Hours<'_>,
    saturday: Option<Hours<'_>>,
    sunday: Option<Hours<'_>>,
) -> Value {
    let weekday = hours(weekday.0, weekday.1);
    let weekend = |day: Option<Hours<'_>>| day.map_or(Value::Null, |(open, close)| hours(open, close));
    json!({"name": name, "value": {
        "monday": weekday, "tuesday": weekday, "wednesday": weekday, "thursday": weekday, "friday": weekday,
        "saturday": weekend(saturday), "sunday": weekend(sunday),
    }})
}

/// The days off, some of them half ones where the store stays `open_on_eves`.
pub(super) fn holidays(open_on_eves: bool) -> Value {
    let mut days: Vec<Value> = [
        ("2026-12-25", "Christmas Day"),
        ("2027-01-01", "New Year's Day"),
        ("2027-05-31", "Memorial Day"),
        ("2027-07-05", "Independence Day (observed)"),
        ("2027-09-06", "Labor Day"),
        ("2027-11-25", "Thanksgiving Day"),
        ("2027-12-25", "Christmas Day"),
    ]
    .iter()
    .map(|(date, name)| json!({"date": date, "name": name}))
    .collect();
    for date in ["2026-12-24", "2026-12-31", "2027-12-24"] {
        days.push(if open_on_eves {
            json!({"date": date, "name": "Short day", "open": "09:00", "close": "14:00"})
        } else {
            json!({"date": date, "name": "Closed"})
        });
    }
    days.into()
}
