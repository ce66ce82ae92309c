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
mod gone;
mod hash;
mod keys;
mod lines;
mod merged;
mod packed;
mod renewed;
mod search;
mod sets;
mod shift;
mod source;
mod spellings;
mod terms;
mod text;
mod texts;
mod unit;
mod units;
mod values;
mod words;

use std::sync::Arc;

use column::Column;
use gone::Gone;
use keys::KeyIndex;
use terms::Terms;
use texts::Texts;
use unit::Unit;
use units::Units;

pub use apply::Delta;
pub use build::{Builder, OutOfOrder};
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

/// One version of a lot. Parts that did not change are shared with the version that it was made from.
pub struct Snapshot {
    version: u64,
    rows: usize,
    /// In the order of `vehicle_id`; a unit's place is its row number.
    units: Units,
    terms: Arc<Terms>,
    columns: Columns,
    texts: Texts,
    ids: Arc<KeyIndex>,
    vins: Arc<KeyIndex>,
    stocks: Arc<KeyIndex>,
    gone: Gone,
    /// The facets of the whole lot.
    facets: Arc<[u8]>,
    weight: usize,
}

/// What units are sorted by and bounded by.
#[derive(Debug)]
struct Columns {
    price: Arc<Column>,
    list_price: Arc<Column>,
    msrp: Arc<Column>,
    mileage: Arc<Column>,
    year: Arc<Column>,
    displacement: Arc<Column>,
    electric_range: Arc<Column>,
    make: Arc<Column>,
    model: Arc<Column>,
    stock: Arc<Column>,
    updated_at: Arc<Column>,
}

impl Columns {
    fn all(&self) -> [&Arc<Column>; 11] {
        [
            &self.price,
            &self.list_price,
            &self.msrp,
            &self.mileage,
            &self.year,
            &self.displacement,
            &self.electric_range,
            &self.make,
            &self.model,
            &self.stock,
            &self.updated_at,
        ]
    }
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
        self.units.documents()
    }

    fn row_of(&self, vehicle_id: &str) -> Option<u32> {
        self.ids.first(vehicle_id, |row| self.units.get(row).map(Unit::vehicle_id))
    }

    /// Where the bytes go; the sum is [`Snapshot::weight`].
    pub fn parts(&self) -> [(&'static str, usize); 9] {
        self.parts_beside(None)
    }

    /// Bytes that this snapshot holds and `other` does not, the documents of other units included: what an older
    /// version of a lot costs beside a newer one.
    pub fn weight_beside(&self, other: &Snapshot) -> usize {
        self.parts_beside(Some(other)).iter().map(|part| part.1).sum()
    }

    fn parts_beside(&self, other: Option<&Snapshot>) -> [(&'static str, usize); 9] {
        let alone = |shared: bool, weight: usize| if shared { 0 } else { weight };
        let shares = |same: fn(&Snapshot, &Snapshot) -> bool| other.is_some_and(|other| same(self, other));
        // All documents as long as nothing else is said; beside another version they are within the units.
        let (documents, units) = match other {
            None => (self.units.documents(), self.units.weight() - self.units.documents()),
            Some(other) => (0, self.units.weight_beside(&other.units)),
        };
        let (cells, sets, texts) = if shares(|a, b| Arc::ptr_eq(&a.terms, &b.terms)) {
            (0, 0, 0)
        } else {
            self.terms.weights(other.map(|other| &*other.terms))
        };
        let columns = self.columns.all().into_iter().enumerate().map(|(at, column)| {
            let others = other.map(|other| other.columns.all());
            let same = others.and_then(|all| all.get(at).map(|other| Arc::ptr_eq(column, other)));
            alone(same == Some(true), column.weight() + size_of::<Column>())
        });
        let ids = alone(shares(|a, b| Arc::ptr_eq(&a.ids, &b.ids)), self.ids.weight());
        let vins = alone(shares(|a, b| Arc::ptr_eq(&a.vins, &b.vins)), self.vins.weight());
        let stocks = alone(shares(|a, b| Arc::ptr_eq(&a.stocks, &b.stocks)), self.stocks.weight());
        let gone = self.gone.weight_beside(other.map(|other| &other.gone));
        let facets = alone(shares(|a, b| Arc::ptr_eq(&a.facets, &b.facets)), self.facets.len());
        [
            ("documents", documents),
            ("units", units),
            ("cells", cells),
            ("sets", sets),
            ("texts", texts),
            ("columns", columns.sum()),
            ("words", self.texts.weight_beside(other.map(|other| &other.texts))),
            ("keys", ids + vins + stocks + gone),
            ("rest", size_of::<Snapshot>() + facets),
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
