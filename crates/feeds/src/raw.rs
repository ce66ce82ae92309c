//! Rows of a file before anything is understood of them: names of columns and texts of cells.

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::Code;

/// Place of a name in [`Columns`].
pub type ColumnId = usize;

/// The columns of a file. Tables have theirs from the header on; documents (XML, JSON) add those that appear, by path
/// (`pricing.price`, `image[0].url`).
#[derive(Debug, Clone, Default)]
pub struct Columns {
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, ColumnId>,
}

impl Columns {
    /// The place of a name, which is added where it is new. Of two columns with one name each keeps its own place when
    /// added by [`Columns::push`].
    pub fn place(&mut self, name: &str) -> ColumnId {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.push(name)
    }

    /// Adds a column, also one whose name is there already.
    pub fn push(&mut self, name: &str) -> ColumnId {
        let name: Arc<str> = name.into();
        let place = self.names.len();
        self.names.push(Arc::clone(&name));
        self.places.entry(name).or_insert(place);
        place
    }

    /// The name as it came.
    pub fn name(&self, place: ColumnId) -> &str {
        self.names.get(place).map_or("", |name| name)
    }

    /// All names, in order of their places.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub enum RawRow {
    /// It could be read.
    Read {
        /// From 1; header, blank, title, repeated-header and total lines are not counted.
        row: u32,
        /// Non-empty cells, by column, in the order of the file.
        cells: Vec<(ColumnId, String)>,
        /// What had to be done to read it: `CSV_QUOTES_REPAIRED`, `ENCODING_FALLBACK`, `ENCODING_REPAIRED`, with the
        /// column where it is about one.
        notes: Vec<(Code, Option<ColumnId>)>,
    },
    /// It could not: `ROW_FIELD_COUNT` or `ROW_UNPARSEABLE`.
    Lost {
        /// From 1.
        row: u32,
        /// Why.
        code: Code,
        /// The beginning of it as it came.
        excerpt: String,
    },
}
