//! The plain way: columns of numbers, read from the first row to the last. What the index has to beat.

use std::collections::HashMap;

use serde_json::Value;

use crate::data::Lot;

/// Values of a text column: one small number each.
#[derive(Debug, Default)]
struct Texts {
    codes: Vec<u16>,
    known: HashMap<String, u16>,
}

impl Texts {
    fn code(&mut self, text: &str) -> u16 {
        let next = u16::try_from(self.known.len()).unwrap_or(u16::MAX);
        *self.known.entry(text.to_lowercase()).or_insert(next)
    }

    fn push(&mut self, text: &str) {
        let code = self.code(text);
        self.codes.push(code);
    }

    /// Which codes a filter wants.
    fn wanted(&self, values: &Value) -> Vec<bool> {
        let mut wanted = vec![false; self.known.len()];
        for text in values.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let code = self.known.get(&text.to_lowercase()).map(|code| usize::from(*code));
            if let Some(place) = code.and_then(|code| wanted.get_mut(code)) {
                *place = true;
            }
        }
        wanted
    }
}

/// A lot as columns.
#[derive(Debug, Default)]
pub(crate) struct Table {
    texts: HashMap<&'static str, Texts>,
    /// One bit a feature.
    features: Vec<u64>,
    feature_bits: HashMap<String, u64>,
    year: Vec<i64>,
    /// Missing ones are never below a bound and come last.
    price: Vec<Option<i64>>,
    mileage: Vec<i64>,
    updated_at: Vec<i64>,
}

/// What a search finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) total: usize,
    /// Rows of the first page, in order.
    pub(crate) rows: Vec<u32>,
}

/// One condition, made ready for being asked of every row.
enum Test<'t> {
    OneOf(&'t [u16], Vec<bool>),
    AtLeast(&'t [i64], i64),
    AtMost(&'t [i64], i64),
    PriceAtMost(&'t [Option<i64>], i64),
    Features(&'t [u64], u64),
}

impl Test<'_> {
    fn holds(&self, row: usize) -> bool {
        match self {
            Test::OneOf(codes, wanted) => {
                codes.get(row).is_some_and(|code| wanted.get(usize::from(*code)) == Some(&true))
            }
            Test::AtLeast(values, bound) => values.get(row).is_some_and(|value| value >= bound),
            Test::AtMost(values, bound) => values.get(row).is_some_and(|value| value <= bound),
            Test::PriceAtMost(values, bound) => {
                values.get(row).copied().flatten().is_some_and(|value| value <= *bound)
            }
            Test::Features(bits, wanted) => bits.get(row).is_some_and(|bits| bits & wanted == *wanted),
        }
    }
}

impl Table {
    /// The columns of a lot.
    pub(crate) fn build(lot: &Lot) -> Table {
        let mut table = Table::default();
        for number in 0..lot.units {
            let unit = lot.unit(number);
            for (name, value) in [
                ("make", unit.make),
                ("model", &unit.model),
                ("trim", unit.trim),
                ("condition", unit.condition),
                ("body", unit.body),
                ("fuel", unit.fuel),
                ("driveline", unit.driveline),
                ("exterior_color", unit.exterior),
            ] {
                table.texts.entry(name).or_default().push(value);
            }
            let mut bits = 0;
            for feature in &unit.features {
                let next = 1 << table.feature_bits.len();
                bits |= *table.feature_bits.entry((*feature).to_owned()).or_insert(next);
            }
            table.features.push(bits);
            table.year.push(unit.year.into());
            table.price.push(unit.price.map(i64::from));
            table.mileage.push(unit.mileage.into());
            table.updated_at.push(unit.updated_at.timestamp());
        }
        table
    }

    fn test<'t>(&'t self, name: &str, value: &Value) -> Option<Test<'t>> {
        let bound = || value.as_i64().unwrap_or(0);
        Some(match name {
            "year_min" => Test::AtLeast(&self.year, bound()),
            "mileage_max" => Test::AtMost(&self.mileage, bound()),
            "price_max" => Test::PriceAtMost(&self.price, bound()),
            "features" => {
                let names = value.as_array()?.iter().filter_map(Value::as_str);
                let bits = names.map(|name| self.feature_bits.get(name).copied().unwrap_or(1 << 63));
                Test::Features(&self.features, bits.fold(0, |all, bit| all | bit))
            }
            _ => {
                let texts = self.texts.get(name)?;
                Test::OneOf(&texts.codes, texts.wanted(value))
            }
        })
    }

    /// Answers the filters, the order and the limit of a search; those of [`crate::data::search`] are all known.
    pub(crate) fn search(&self, data: &Value, limit: usize) -> Found {
        let filters = data.get("filters").and_then(Value::as_object);
        let tests: Vec<Test<'_>> =
            filters.into_iter().flatten().filter_map(|(name, value)| self.test(name, value)).collect();
        let said =
            |key: &str| data.pointer(&format!("/sort/{key}")).and_then(Value::as_str).unwrap_or_default();
        let descending = said("order") == "desc";
        let field = said("field");
        let key = |row: usize| -> Option<i64> {
            match field {
                "price" => self.price.get(row).copied().flatten(),
                "mileage" => self.mileage.get(row).copied(),
                "year" => self.year.get(row).copied(),
                _ => self.updated_at.get(row).copied(),
            }
        };
        let mut found: Vec<(bool, i64, u32)> = Vec::new();
        for row in 0..self.year.len() {
            if tests.iter().all(|test| test.holds(row)) {
                let value = key(row);
                let order = value.map_or(0, |value| if descending { -value } else { value });
                found.push((value.is_none(), order, u32::try_from(row).unwrap_or(u32::MAX)));
            }
        }
        let total = found.len();
        if total > limit {
            found.select_nth_unstable(limit);
            found.truncate(limit);
        }
        found.sort_unstable();
        Found { total, rows: found.into_iter().map(|(_, _, row)| row).collect() }
    }
}
