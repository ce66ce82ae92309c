//! An element of a document as a row: each single value under its path.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::code::Code;
use crate::limits::Limits;
use crate::raw::{ColumnId, Columns, RawRow, Stopped};

use super::{cleaned, excerpt};

/// Places that a document may have in all, as a multiple of its columns: `photos[0].url` to `photos[99].url` are one
/// column in a hundred places.
const PLACES: usize = 40;
/// A row may hold so many times the largest field.
const ROW_FIELDS: usize = 4;

/// Collects the row that is being read, and the columns of all rows.
pub(super) struct Flat {
    limits: Limits,
    pub(super) columns: Columns,
    /// Columns without the numbers in them.
    bases: HashSet<String>,
    /// Where each column has its cell in this row, with the row that this is from.
    cells: Vec<(ColumnId, String)>,
    last: Vec<(u32, usize)>,
    row: u32,
    bytes: usize,
    too_large: bool,
    /// Hashes of the paths of this row, to find names that come twice.
    paths: HashSet<u64>,
    hasher: RandomState,
}

impl Flat {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            columns: Columns::default(),
            bases: HashSet::new(),
            cells: Vec::new(),
            last: Vec::new(),
            row: 0,
            bytes: 0,
            too_large: false,
            paths: HashSet::new(),
            hasher: RandomState::new(),
        }
    }

    /// Rows so far.
    pub(super) fn rows(&self) -> u32 {
        self.row
    }

    /// Begins a row.
    pub(super) fn begin(&mut self) -> Result<(), Stopped> {
        if self.row >= self.limits.records {
            let what = format!("there are more than {} records", self.limits.records);
            return Err(Stopped::File { code: Code::FeedTooManyRecords, what });
        }
        self.row += 1;
        self.cells.clear();
        self.paths.clear();
        self.bytes = 0;
        self.too_large = false;
        Ok(())
    }

    /// The row cannot be held.
    pub(super) fn too_large(&mut self) {
        self.too_large = true;
    }

    /// A member of an object begins. One with that path before it in this row is forgotten: the last one wins.
    pub(super) fn member(&mut self, path: &str) {
        if self.paths.insert(self.hasher.hash_one(path)) {
            return;
        }
        let columns = &self.columns;
        for (place, text) in &mut self.cells {
            let below = columns.name(*place).strip_prefix(path);
            if below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '['])) {
                text.clear();
            }
        }
    }

    /// The value at a path.
    pub(super) fn set(&mut self, path: &str, text: &str) -> Result<(), Stopped> {
        let text = cleaned(text);
        let text = text.trim();
        if text.is_empty() || self.too_large {
            return Ok(());
        }
        self.bytes += text.len();
        if text.len() > self.limits.field_bytes || self.bytes > self.limits.field_bytes * ROW_FIELDS {
            self.too_large = true;
            return Ok(());
        }
        let known = self.columns.names().len();
        let place = self.columns.place(path);
        if self.columns.names().len() > known {
            self.last.push((0, 0));
            self.bases.insert(without_numbers(path));
            if self.bases.len() > self.limits.columns || known > self.limits.columns * PLACES {
                let what = format!("there are more than {} columns", self.limits.columns);
                return Err(Stopped::File { code: Code::FeedTooManyColumns, what });
            }
        }
        let Some(last) = self.last.get_mut(place) else { return Ok(()) };
        if last.0 == self.row
            && let Some((_, cell)) = self.cells.get_mut(last.1)
        {
            text.clone_into(cell);
        } else {
            *last = (self.row, self.cells.len());
            self.cells.push((place, text.to_owned()));
        }
        Ok(())
    }

    /// The row is complete.
    pub(super) fn finish(&mut self, fell_back: bool) -> RawRow {
        if self.too_large {
            let beginning: Vec<&str> = self.cells.iter().take(8).map(|(_, text)| text.as_str()).collect();
            return self.lost(Code::FieldTooLarge, &beginning.join(" "));
        }
        let mut cells = std::mem::take(&mut self.cells);
        cells.retain(|(_, text)| !text.is_empty());
        let notes = if fell_back { vec![(Code::EncodingFallback, None)] } else { Vec::new() };
        RawRow::Read { row: self.row, cells, notes }
    }

    /// The row that was begun is lost.
    pub(super) fn lost(&self, code: Code, beginning: &str) -> RawRow {
        RawRow::Lost { row: self.row, code, excerpt: excerpt(beginning) }
    }
}

/// A path without the numbers of arrays.
fn without_numbers(path: &str) -> String {
    let mut base = String::with_capacity(path.len());
    let mut inside = false;
    for sign in path.chars() {
        inside |= sign == '[';
        if !inside {
            base.push(sign);
        }
        inside &= sign != ']';
    }
    base
}
