//! From a lot's units to its snapshot.

use std::collections::HashMap;

use contract::Listing;
use contract::text::fold;

use crate::bitset::Bits;
use crate::column::Column;
use crate::dictionary::{Dictionary, NONE, Reading, Spellings};
use crate::facets;
use crate::filter::Bounds;
use crate::find::Gone;
use crate::hash::Seed;
use crate::keys::KeyIndex;
use crate::lines::{Lines, LinesBuilder};
use crate::terms::{FACETED, Field, Multi, Source, Terms};
use crate::text;
use crate::unit::Unit;
use crate::{Columns, Removed, Snapshot};

impl Snapshot {
    /// Builds the snapshot of one version of a lot.
    ///
    /// Units may come in any order. `vehicle_id` is unique in a lot; if two units share one, the later counts.
    /// `removed` are the units that were listed once and are not any more. About 2 µs a unit, plus what its
    /// description costs.
    pub fn build(version: u64, mut listings: Vec<Listing>, removed: Vec<Removed>) -> Snapshot {
        listings.sort_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
        // Row numbers are u32 and the last one is taken by "none"; a node's memory ends long before.
        listings.truncate(u32::MAX as usize - 1);
        listings.dedup_by(|later, kept| {
            let same = later.vehicle_id == kept.vehicle_id;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        let rows = listings.len();
        let source = source(&listings);
        let terms = Terms::build(rows, &source);
        let columns = columns(&listings, &source);
        let names = names(&listings);
        drop(source);
        let mut text = String::new();
        // Each unit goes as soon as its documents are taken over, so that the lot is not in memory twice.
        let units: Box<[Unit]> = listings.into_iter().map(|unit| Unit::new(&unit, &mut text)).collect();

        let unit = |row: u32| units.get(row as usize);
        let numbered = || (0_u32..).zip(&units);
        let ids = KeyIndex::build(numbered().map(|(row, u)| (row, u.vehicle_id())), |row| {
            unit(row).map(Unit::vehicle_id)
        });
        let vins =
            KeyIndex::build(numbered().filter_map(|(row, u)| Some((row, u.vin()?))), |row| unit(row)?.vin());
        let stocks = KeyIndex::build(numbered().filter_map(|(row, u)| Some((row, u.stock()?))), |row| {
            unit(row)?.stock()
        });

        let mut snapshot = Snapshot {
            version,
            rows,
            terms,
            columns,
            names,
            ids,
            vins,
            stocks,
            gone: Gone::build(&removed),
            facets: Box::default(),
            units,
            weight: 0,
        };
        snapshot.facets = facets::count(&snapshot, &Bits::full(rows), rows, &Bounds::default()).into();
        snapshot.weight = snapshot.parts().iter().map(|part| part.1).sum();
        snapshot
    }
}

fn columns(listings: &[Listing], source: &Source) -> Columns {
    // The codes of a dictionary are in folded order and equal where the folded texts are.
    let folded = |dictionary: &Dictionary| {
        let keys: Vec<_> = dictionary.codes.iter().map(|code| (*code != NONE).then_some(*code)).collect();
        Column::sorted(&keys)
    };
    Columns {
        price: Column::whole(&each(listings, |unit| unit.price)),
        list_price: Column::sorted(&each(listings, |unit| unit.list_price)),
        msrp: Column::sorted(&each(listings, |unit| unit.msrp)),
        mileage: Column::whole(&each(listings, |unit| unit.mileage)),
        year: Column::whole(&each(listings, |unit| unit.year.map(i64::from))),
        displacement: Column::whole(&each(listings, |unit| unit.displacement_cc)),
        electric_range: Column::real(&each(listings, |unit| unit.electric_range_mi)),
        make: folded(source.dictionary(Field::Make)),
        model: folded(source.dictionary(Field::Model)),
        stock: folded(&source.stock),
        updated_at: Column::sorted(&each(listings, |unit| Some(unit.updated_at))),
    }
}

fn source(listings: &[Listing]) -> Source {
    let reading = || Reading::new(listings.len());
    let mut faceted: [_; FACETED] = std::array::from_fn(|_| reading());
    let (mut engine, mut stock) = (reading(), reading());
    // One unit after the other: its texts lie together in memory, those of a field do not.
    for unit in listings {
        // In the order of `Field`.
        let texts = [
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
        ];
        faceted.iter_mut().zip(texts).for_each(|(field, text)| field.push(text));
        engine.push(unit.engine.as_deref());
        stock.push(unit.stock.as_deref());
    }
    let mut faceted = faceted.map(Reading::finish);
    if let Some(years) = faceted.get_mut(Field::Year as usize) {
        *years = Dictionary::of_numbers(&each(listings, |unit| unit.year.map(i64::from)));
    }
    Source {
        faceted,
        features: features(listings),
        engine: engine.finish(),
        words: words(listings),
        stock: stock.finish(),
    }
}

fn each<T>(listings: &[Listing], value: impl Fn(&Listing) -> Option<T>) -> Vec<Option<T>> {
    listings.iter().map(value).collect()
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
        multi.values.extend_from_slice(&list);
        multi.rows.push(count(multi.ends.len()));
        multi.ends.push(count(multi.values.len()));
    }
    multi
}

/// The words of the descriptions. A text that many units share, as new cars do, is read once.
fn words(listings: &[Listing]) -> Multi {
    let described = listings.iter().filter(|unit| unit.description.is_some()).count();
    let mut known: HashMap<&str, u32, Seed> = HashMap::with_capacity_and_hasher(described, Seed::random());
    let mut vocabulary = Vocabulary::default();
    let mut multi = Multi::default();
    // For each word the last list it was put on.
    let mut last: Vec<u32> = Vec::new();
    for unit in listings {
        let Some(description) = unit.description.as_deref() else {
            multi.rows.push(NONE);
            continue;
        };
        if let Some(list) = known.get(description) {
            multi.rows.push(*list);
            continue;
        }
        let list = count(multi.ends.len());
        text::each_word(&fold(description), |word| {
            let value = vocabulary.number(word, || {
                multi.texts.push(word.into());
                last.push(NONE);
                count(multi.texts.len() - 1)
            });
            if let Some(last) = last.get_mut(value as usize).filter(|last| **last != list) {
                *last = list;
                multi.values.push(value);
            }
        });
        known.insert(description, list);
        multi.rows.push(list);
        multi.ends.push(count(multi.values.len()));
    }
    multi
}

/// Numbers for words. Nearly all words have at most fifteen bytes; those are compared where they lie in the table.
struct Vocabulary {
    short: HashMap<u128, u32, Seed>,
    long: HashMap<Box<[u8]>, u32, Seed>,
}

impl Default for Vocabulary {
    fn default() -> Self {
        let seed = Seed::random();
        Vocabulary { short: HashMap::with_hasher(seed), long: HashMap::with_hasher(seed) }
    }
}

impl Vocabulary {
    /// The number of a word; of a new one, the one that `new` gives.
    #[inline]
    fn number(&mut self, word: &[u8], new: impl FnOnce() -> u32) -> u32 {
        let mut bytes = [0; 15];
        if let (Some(place), Ok(length)) = (bytes.get_mut(..word.len()), u8::try_from(word.len())) {
            place.copy_from_slice(word);
            // The length keeps words apart that differ only by zero bytes at the end.
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = bytes;
            let key = u128::from_le_bytes([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, length]);
            return *self.short.entry(key).or_insert_with(new);
        }
        match self.long.get(word) {
            Some(number) => *number,
            None => *self.long.entry(word.into()).or_insert_with(new),
        }
    }
}

/// VIN and stock number of every unit, folded: what free text finds besides the terms.
fn names(listings: &[Listing]) -> Lines {
    let mut lines = LinesBuilder::default();
    for unit in listings {
        let vin = unit.vin.as_deref().map(fold).unwrap_or_default();
        let stock = unit.stock.as_deref().map(fold).unwrap_or_default();
        lines.push([vin.as_bytes(), stock.as_bytes()]);
    }
    // A group of VINs has many more different runs than one of words.
    lines.build(4096)
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(NONE)
}
