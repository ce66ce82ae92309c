//! From a lot's units to its snapshot.

use std::collections::HashMap;

use contract::Listing;
use contract::text::fold;

use crate::bitset::Bits;
use crate::column::Column;
use crate::dictionary::{Dictionary, NONE, Spellings};
use crate::facets;
use crate::find::Gone;
use crate::hash::Seed;
use crate::keys::KeyIndex;
use crate::lines::{Lines, LinesBuilder};
use crate::terms::{Field, Multi, Source, Terms};
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
        snapshot.facets = facets::count(&snapshot, &Bits::full(rows), rows).into();
        snapshot.weight = snapshot.parts().iter().map(|part| part.1).sum();
        snapshot
    }
}

fn columns(listings: &[Listing], source: &Source) -> Columns {
    fn each<T>(listings: &[Listing], value: impl Fn(&Listing) -> Option<T>) -> Vec<Option<T>> {
        listings.iter().map(value).collect()
    }
    // The codes of a dictionary are in folded order and equal where the folded texts are.
    let folded = |dictionary: &Dictionary| {
        let keys: Vec<_> = dictionary.codes.iter().map(|code| (*code != NONE).then_some(*code)).collect();
        Column::sorted(&keys)
    };
    let stocks = Dictionary::of_texts(listings.iter().map(|unit| unit.stock.as_deref()));
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
        stock: folded(&stocks),
        updated_at: Column::sorted(&each(listings, |unit| Some(unit.updated_at))),
    }
}

fn source(listings: &[Listing]) -> Source {
    let texts = |value: fn(&Listing) -> Option<&str>| Dictionary::of_texts(listings.iter().map(value));
    let years: Vec<_> = listings.iter().map(|unit| unit.year.map(i64::from)).collect();
    Source {
        // In the order of `Field`.
        faceted: [
            texts(|unit| Some(&unit.status)),
            texts(|unit| unit.condition.as_deref()),
            texts(|unit| Some(&unit.vehicle_type)),
            texts(|unit| unit.rooftop.as_deref()),
            texts(|unit| unit.charge_port.as_deref()),
            texts(|unit| unit.dc_fast_charge.map(|fast| if fast { "true" } else { "false" })),
            texts(|unit| unit.make.as_deref()),
            texts(|unit| unit.model.as_deref()),
            texts(|unit| unit.trim.as_deref()),
            Dictionary::of_numbers(&years),
            texts(|unit| unit.body.as_deref()),
            texts(|unit| unit.fuel.as_deref()),
            texts(|unit| unit.driveline.as_deref()),
            texts(|unit| unit.transmission.as_deref()),
            texts(|unit| unit.exterior_color.as_deref()),
            texts(|unit| unit.interior_color.as_deref()),
        ],
        features: features(listings),
        engine: texts(|unit| unit.engine.as_deref()),
        words: words(listings),
    }
}

fn features(listings: &[Listing]) -> Multi {
    let mut spellings = Spellings::new();
    let lists: Vec<Vec<u32>> = listings
        .iter()
        .map(|unit| unit.features.iter().map(|feature| spellings.note(feature)).collect())
        .collect();
    let (terms, codes) = spellings.terms();
    let mut multi = Multi {
        texts: terms.into_iter().map(|term| term.folded.into_bytes().into()).collect(),
        values: Vec::new(),
        ends: Vec::with_capacity(listings.len()),
        rows: Vec::with_capacity(listings.len()),
    };
    for mut list in lists {
        for value in &mut list {
            *value = codes.get(*value as usize).copied().unwrap_or(NONE);
        }
        list.sort_unstable();
        list.dedup();
        multi.rows.push(count(multi.ends.len()));
        multi.values.append(&mut list);
        multi.ends.push(count(multi.values.len()));
    }
    multi
}

/// The words of the descriptions. A text that many units share, as new cars do, is read once.
fn words(listings: &[Listing]) -> Multi {
    let described = listings.iter().filter(|unit| unit.description.is_some()).count();
    let mut known: HashMap<&str, u32, Seed> = HashMap::with_capacity_and_hasher(described, Seed::random());
    let mut vocabulary: HashMap<Box<[u8]>, u32, Seed> = HashMap::with_hasher(Seed::random());
    // For each word the last list it was put on.
    let mut last: Vec<u32> = Vec::new();
    let mut multi = Multi { texts: Vec::new(), values: Vec::new(), ends: Vec::new(), rows: Vec::new() };
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
            let value = vocabulary.get(word).copied().unwrap_or_else(|| {
                let value = count(multi.texts.len());
                vocabulary.insert(word.into(), value);
                multi.texts.push(word.into());
                last.push(NONE);
                value
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

/// VIN and stock number of every unit, folded: what free text finds besides the terms.
fn names(listings: &[Listing]) -> Lines {
    let mut lines = LinesBuilder::default();
    for unit in listings {
        let vin = unit.vin.as_deref().map(fold).unwrap_or_default();
        let stock = unit.stock.as_deref().map(fold).unwrap_or_default();
        lines.push([vin.as_bytes(), stock.as_bytes()]);
    }
    lines.build()
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(NONE)
}
