//! One dealer's lot in memory: built once per version, then searched, counted and looked up without a lock.
//!
//! A [`Snapshot`] is immutable. Everything an answer consists of (total, page, facets, documents) comes from one
//! snapshot, so an answer is never a mix of two versions. How texts compare is [`contract::text`]'s to say; what a
//! filter means is AAP.md 7.3 to 7.5. No JSON tree is built on the way to an answer: documents were rendered
//! when the unit was stored, and facet values when the snapshot was built.

mod apply;
mod bitset;
mod build;
mod coded;
mod column;
pub mod cursor;
mod dictionary;
mod facets;
mod filter;
mod find;
mod hash;
mod keys;
mod lines;
mod packed;
mod search;
mod sets;
mod source;
mod terms;
mod text;
mod unit;
mod values;
mod words;

use column::Column;
use keys::KeyIndex;
use lines::Lines;
use terms::Terms;
use unit::Unit;

pub use apply::Delta;
pub use facets::facets;
pub use find::{Found, find};
pub use search::{Page, Row, Start, UnknownRow, search};

/// A unit that was listed and is not any more: sold, wholesaled, withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The dealer's id of the unit.
    pub vehicle_id: String,
    /// Its VIN, if it had one.
    pub vin: Option<String>,
    /// Its stock number, if it had one.
    pub stock: Option<String>,
}

/// One version of a lot.
pub struct Snapshot {
    version: u64,
    rows: usize,
    /// In the order of `vehicle_id`; a unit's place is its row number.
    units: Box<[Unit]>,
    terms: Terms,
    columns: Columns,
    /// A line a row: VIN and stock number, folded.
    names: Lines,
    ids: KeyIndex,
    vins: KeyIndex,
    stocks: KeyIndex,
    gone: find::Gone,
    /// What the snapshot was built from, until the next version can do without.
    source: std::sync::Arc<(Vec<contract::Listing>, Vec<Removed>)>,
    /// The facets of the whole lot.
    facets: Box<[u8]>,
    weight: usize,
}

/// What units are sorted by and bounded by.
#[derive(Debug)]
struct Columns {
    price: Column,
    list_price: Column,
    msrp: Column,
    mileage: Column,
    year: Column,
    displacement: Column,
    electric_range: Column,
    make: Column,
    model: Column,
    stock: Column,
    updated_at: Column,
}

impl Snapshot {
    /// The version of the lot.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How many units are listed.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no unit is listed.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes that this snapshot takes, documents included. Plan a quarter more for the allocator.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Bytes of the documents alone; what is left of [`Snapshot::weight`] is the index.
    pub fn documents(&self) -> usize {
        self.units.iter().map(Unit::documents).sum()
    }

    fn row_of(&self, vehicle_id: &str) -> Option<u32> {
        self.ids.first(vehicle_id, |row| self.units.get(row as usize).map(Unit::vehicle_id))
    }

    /// Where the bytes go; the sum is [`Snapshot::weight`].
    pub fn parts(&self) -> [(&'static str, usize); 9] {
        let columns = &self.columns;
        let columns = [
            &columns.price,
            &columns.list_price,
            &columns.msrp,
            &columns.mileage,
            &columns.year,
            &columns.displacement,
            &columns.electric_range,
            &columns.make,
            &columns.model,
            &columns.stock,
            &columns.updated_at,
        ];
        let documents = self.documents();
        let units: usize = self.units.iter().map(|unit| size_of::<Unit>() + unit.weight()).sum();
        let (cells, sets, texts) = self.terms.weights();
        [
            ("documents", documents),
            ("units", units - documents),
            ("cells", cells),
            ("sets", sets),
            ("texts", texts),
            ("columns", columns.into_iter().map(Column::weight).sum()),
            ("names", self.names.weight()),
            ("keys", self.ids.weight() + self.vins.weight() + self.stocks.weight() + self.gone.weight()),
            ("rest", size_of::<Snapshot>() + self.facets.len()),
        ]
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A lot in a log line would drown it.
        f.debug_struct("Snapshot")
            .field("version", &self.version)
            .field("rows", &self.rows)
            .field("weight", &self.weight)
            .finish_non_exhaustive()
    }
}
