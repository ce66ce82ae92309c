//! Reading a lot's texts: what its terms are made of.

use contract::Listing;

use crate::dictionary::{Dictionary, NONE, Reading, Spellings};
use crate::terms::{FACETED, Field};

/// The values of every field, and who has which.
#[derive(Debug)]
pub(crate) struct Source {
    /// In the order of [`Field`].
    pub(crate) faceted: [Dictionary; FACETED],
    pub(crate) features: Multi,
    pub(crate) engine: Dictionary,
    /// No term of the lot: only its order is of use.
    pub(crate) stock: Dictionary,
}

/// A field with several values a row.
#[derive(Debug, Default)]
pub(crate) struct Multi {
    /// The folded text of every value.
    pub(crate) texts: Vec<Box<[u8]>>,
    /// Lists of different values, one after the other.
    values: Vec<u32>,
    /// Where each list ends.
    ends: Vec<u32>,
    /// The list of every row; [`NONE`] where it has none.
    rows: Vec<u32>,
}

impl Multi {
    /// Adds a value to the list that the next [`Multi::end_list`] ends.
    pub(crate) fn push_value(&mut self, value: u32) {
        self.values.push(value);
    }

    /// Ends a list; its number.
    pub(crate) fn end_list(&mut self) -> u32 {
        self.ends.push(count(self.values.len()));
        self.lists() - 1
    }

    /// How many lists have ended.
    pub(crate) fn lists(&self) -> u32 {
        count(self.ends.len())
    }

    /// Gives the next row a list, or [`NONE`].
    pub(crate) fn push_row(&mut self, list: u32) {
        self.rows.push(list);
    }

    /// Visits every (value, row), the rows ascending.
    pub(crate) fn each(&self, mut visit: impl FnMut(u32, u32)) {
        for (row, list) in (0_u32..).zip(&self.rows) {
            let Some(end) = self.ends.get(*list as usize) else { continue };
            let start = list.checked_sub(1).and_then(|before| self.ends.get(before as usize)).unwrap_or(&0);
            for value in self.values.get(*start as usize..*end as usize).unwrap_or_default() {
                visit(*value, row);
            }
        }
    }
}

/// A unit's texts in the order of [`Field`].
pub(crate) fn faceted_texts(unit: &Listing) -> [Option<&str>; FACETED] {
    [
        Some(unit.status.as_str()),
        unit.condition.as_deref(),
        Some(unit.vehicle_type.as_str()),
        unit.dc_fast_charge.map(|fast| if fast { "true" } else { "false" }),
        unit.charge_port.as_deref(),
        unit.rooftop.as_deref(),
        unit.driveline.as_deref(),
        unit.fuel.as_deref(),
        unit.body.as_deref(),
        unit.transmission.as_deref(),
        // Numbers have an order of their own.
        None,
        unit.make.as_deref(),
        unit.interior_color.as_deref(),
        unit.exterior_color.as_deref(),
        unit.trim.as_deref(),
        unit.model.as_deref(),
    ]
}

impl Source {
    /// Reads a lot; the row of a unit is its place in `listings`.
    pub(crate) fn read(listings: &[Listing]) -> Source {
        let reading = || Reading::new(listings.len());
        let mut faceted: [_; FACETED] = std::array::from_fn(|_| reading());
        let (mut engine, mut stock) = (reading(), reading());
        // One unit after the other: its texts lie together in memory, those of a field do not.
        for unit in listings {
            let texts = faceted_texts(unit);
            faceted.iter_mut().zip(texts).for_each(|(field, text)| field.push(text));
            engine.push(unit.engine.as_deref());
            stock.push(unit.stock.as_deref());
        }
        let mut faceted = faceted.map(Reading::finish);
        if let Some(years) = faceted.get_mut(Field::Year as usize) {
            let all: Vec<_> = listings.iter().map(|unit| unit.year.map(i64::from)).collect();
            *years = Dictionary::of_numbers(&all);
        }
        Source { faceted, features: features(listings), engine: engine.finish(), stock: stock.finish() }
    }

    /// A faceted field.
    pub(crate) fn dictionary(&self, field: Field) -> &Dictionary {
        let [first, ..] = &self.faceted;
        self.faceted.get(field as usize).unwrap_or(first)
    }
}

fn features(listings: &[Listing]) -> Multi {
    let mut spellings = Spellings::new();
    let numbers: Vec<u32> =
        listings.iter().flat_map(|unit| &unit.features).map(|feature| spellings.note(feature)).collect();
    let (terms, codes) = spellings.terms();
    let mut numbers = numbers.iter().map(|number| codes.get(*number as usize).copied().unwrap_or(NONE));
    let mut multi = Multi {
        texts: terms.into_iter().map(|term| term.folded.into_bytes().into()).collect(),
        ..Multi::default()
    };
    let mut list = Vec::new();
    for unit in listings {
        list.clear();
        list.extend(numbers.by_ref().take(unit.features.len()));
        list.sort_unstable();
        list.dedup();
        list.iter().for_each(|value| multi.push_value(*value));
        let list = multi.end_list();
        multi.push_row(list);
    }
    multi
}

/// Lists and values stay far below 2^32: a node's memory ends long before.
fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(NONE)
}
