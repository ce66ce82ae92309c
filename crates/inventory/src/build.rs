//! From a lot's units to its snapshot.

use std::sync::Arc;

use contract::Listing;

use crate::bitset::Bits;
use crate::column::Column;
use crate::dictionary::{Dictionary, NONE};
use crate::facets;
use crate::filter::Bounds;
use crate::gone::Gone;
use crate::keys::KeyIndex;
use crate::source::Source;
use crate::terms::{Field, Terms};
use crate::texts::{LayerBuilder, Texts};
use crate::unit::Unit;
use crate::units::{Units, UnitsBuilder};
use crate::values::Moment;
use crate::{Columns, Removed, Snapshot};

/// From this many units on a second thread helps to build.
const SHARED: usize = 4_096;

/// Builds the snapshot of a lot while its units still come in, so that little is left to do after the last.
pub struct Builder {
    /// What is still needed of the units: all but their long texts.
    listings: Vec<Listing>,
    units: UnitsBuilder,
    texts: LayerBuilder,
    /// Room to work in.
    text: String,
}

/// A unit came after one whose id is not smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("units of a lot must come in the order of their ids, each once")]
pub struct OutOfOrder;

impl Builder {
    /// For a lot of about so many units.
    pub fn new(units: usize) -> Builder {
        Builder {
            listings: Vec::with_capacity(units),
            units: UnitsBuilder::default(),
            texts: LayerBuilder::new(),
            text: String::new(),
        }
    }

    /// Takes the next unit.
    ///
    /// # Errors
    /// Its `vehicle_id` does not follow (in byte order) that of the unit before.
    pub fn push(&mut self, mut unit: Listing) -> Result<(), OutOfOrder> {
        if self.listings.last().is_some_and(|last| last.vehicle_id >= unit.vehicle_id) {
            return Err(OutOfOrder);
        }
        // Row numbers are u32 and the last one is taken by "none"; a node's memory ends long before.
        if self.listings.len() < u32::MAX as usize - 1 {
            self.take(&mut unit);
            self.listings.push(unit);
        }
        Ok(())
    }

    /// Takes over the long texts of a unit, which go at once, so that the lot is not in memory twice.
    fn take(&mut self, unit: &mut Listing) {
        self.texts.push(unit);
        self.units.push(Unit::new(unit, &mut self.text));
        unit.listing = String::new();
        unit.detail = None;
        unit.description = None;
    }

    /// The snapshot of all units that came.
    pub fn finish(self, version: u64, removed: &[Removed]) -> Snapshot {
        let Builder { listings, units, texts, .. } = self;
        let rows = listings.len();
        let units = units.finish();
        let of_fields = || {
            let source = Source::read(&listings);
            (Arc::new(Terms::build(rows, &source)), columns(&listings, &source))
        };
        let ((terms, columns), (texts, ids, vins, stocks)) = beside(rows >= SHARED, of_fields, || {
            (Texts::new(texts), ids(&units), vins(&units), stocks(&units))
        });
        Snapshot {
            version,
            rows,
            terms,
            columns,
            texts,
            ids: Arc::new(ids),
            vins: Arc::new(vins),
            stocks: Arc::new(stocks),
            gone: Gone::new(removed),
            facets: Arc::default(),
            units,
            weight: 0,
        }
        .finished()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Builder({} units)", self.listings.len())
    }
}

/// Does both, the first on another thread where that is `worth` it and one can be had.
fn beside<A: Send, B>(worth: bool, first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = || std::thread::Builder::new().name("lot".into()).spawn_scoped(scope, &first).ok();
        let running = worth.then(thread).flatten();
        let second = second();
        let done = running.and_then(|running| running.join().ok());
        (done.unwrap_or_else(&first), second)
    })
}

fn ids(units: &Units) -> KeyIndex {
    let keys = (0_u32..).zip(units.iter()).map(|(row, unit)| (row, unit.vehicle_id()));
    KeyIndex::build(keys, |row| units.get(row).map(Unit::vehicle_id))
}

fn vins(units: &Units) -> KeyIndex {
    let keys = (0_u32..).zip(units.iter()).filter_map(|(row, unit)| Some((row, unit.vin()?)));
    KeyIndex::build(keys, |row| units.get(row)?.vin())
}

fn stocks(units: &Units) -> KeyIndex {
    let keys = (0_u32..).zip(units.iter()).filter_map(|(row, unit)| Some((row, unit.stock()?)));
    KeyIndex::build(keys, |row| units.get(row)?.stock())
}

impl Snapshot {
    /// Builds the snapshot of one version of a lot.
    ///
    /// Units may come in any order. `vehicle_id` is unique in a lot; if two units share one, the later counts.
    /// `removed` are the units that were listed once and are not any more. Takes about 3 µs a unit, and 6 µs more
    /// where it has a description of eighty words that no other unit has. A [`Builder`] takes them one by one.
    pub fn build(version: u64, mut listings: Vec<Listing>, removed: Vec<Removed>) -> Snapshot {
        listings.sort_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
        listings.truncate(u32::MAX as usize - 1);
        listings.dedup_by(|later, kept| {
            let same = later.vehicle_id == kept.vehicle_id;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        let mut builder = Builder::new(0);
        listings.iter_mut().for_each(|unit| builder.take(unit));
        builder.listings = listings;
        builder.finish(version, &removed)
    }

    /// With what follows from the rest.
    pub(crate) fn finished(mut self) -> Snapshot {
        self.facets = facets::count(&self, &Bits::full(self.rows), self.rows, &Bounds::default()).into();
        self.weight = self.parts().iter().map(|part| part.1).sum();
        self
    }
}

fn columns(listings: &[Listing], source: &Source) -> Columns {
    // The codes of a dictionary are in folded order and equal where the folded texts are.
    let folded = |dictionary: &Dictionary| {
        let keys: Vec<_> = dictionary.codes.iter().map(|code| (*code != NONE).then_some(*code)).collect();
        Arc::new(Column::sorted(&keys))
    };
    let whole = |keys: &[Option<i64>]| Arc::new(Column::whole(keys));
    Columns {
        price: whole(&each(listings, |unit| unit.price)),
        list_price: Arc::new(Column::listed(&each(listings, |unit| unit.list_price))),
        msrp: Arc::new(Column::listed(&each(listings, |unit| unit.msrp))),
        mileage: whole(&each(listings, |unit| unit.mileage)),
        year: whole(&each(listings, |unit| unit.year.map(i64::from))),
        displacement: whole(&each(listings, |unit| unit.displacement_cc)),
        electric_range: Arc::new(Column::real(&each(listings, |unit| unit.electric_range_mi))),
        make: folded(source.dictionary(Field::Make)),
        model: folded(source.dictionary(Field::Model)),
        stock: folded(&source.stock),
        updated_at: Arc::new(Column::moments(&each(listings, |unit| Some(moment(unit))))),
    }
}

/// When a unit last changed.
pub(crate) fn moment(unit: &Listing) -> Moment {
    (unit.updated_at.timestamp(), unit.updated_at.timestamp_subsec_nanos())
}

fn each<T>(listings: &[Listing], value: impl Fn(&Listing) -> Option<T>) -> Vec<Option<T>> {
    listings.iter().map(value).collect()
}
