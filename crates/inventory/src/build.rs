//! From a lot's units to its snapshot.

use contract::Listing;
use contract::text::fold;

use crate::bitset::Bits;
use crate::column::Column;
use crate::dictionary::{Dictionary, NONE};
use crate::facets;
use crate::filter::Bounds;
use crate::find::Gone;
use crate::keys::KeyIndex;
use crate::lines::{Lines, LinesBuilder};
use crate::source::Source;
use crate::terms::{Field, Terms};
use crate::unit::Unit;
use crate::{Columns, Removed, Snapshot};

impl Snapshot {
    /// Builds the snapshot of one version of a lot.
    ///
    /// Units may come in any order. `vehicle_id` is unique in a lot; if two units share one, the later counts.
    /// `removed` are the units that were listed once and are not any more. Takes about 3 µs a unit, and 6 µs more
    /// where it has a description of eighty words that no other unit has.
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
        let kept = std::sync::Arc::new((listings.clone(), removed.clone()));
        let source = Source::read(&listings);
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
            source: kept,
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

fn each<T>(listings: &[Listing], value: impl Fn(&Listing) -> Option<T>) -> Vec<Option<T>> {
    listings.iter().map(value).collect()
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
