//! One page of the units that match, in order.

use std::hint::black_box;
use std::ops::Range;

use contract::payload::{Filters, Sort, SortField, SortOrder};

use crate::Snapshot;
use crate::bitset::Bits;
use crate::column::Column;
use crate::filter;
use crate::unit::Unit;

/// A page of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'a> {
    /// How many units match, on all pages.
    pub total: u64,
    /// The units of this page, in order.
    pub rows: Vec<Row<'a>>,
    /// Whether further matching units come after the last row.
    pub more: bool,
}

impl Page<'_> {
    /// Bytes of the listing documents together. Reads a little of each, so that whoever copies them afterwards
    /// waits for their memory once and not for one after the other.
    pub fn documents(&self) -> usize {
        let (mut bytes, mut read) = (0, 0);
        for row in &self.rows {
            let listing = row.listing();
            bytes += listing.len();
            for at in [0, listing.len() / 2, listing.len().saturating_sub(1)] {
                read ^= listing.get(at).copied().unwrap_or(0);
            }
        }
        black_box(read);
        bytes
    }
}

/// A unit on a page. Its texts are not looked at before they are asked for: they lie far apart in memory, and who
/// waits for one after the other waits longer than all of the search took.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    unit: &'a Unit,
}

impl<'a> Row<'a> {
    /// The dealer's id of the unit; where the next page starts after.
    pub fn vehicle_id(self) -> &'a str {
        self.unit.vehicle_id()
    }

    /// The unit's listing document, a JSON object in UTF-8.
    pub fn listing(self) -> &'a [u8] {
        self.unit.listing()
    }
}

impl PartialEq for Row<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.vehicle_id() == other.vehicle_id() && self.listing() == other.listing()
    }
}

impl Eq for Row<'_> {}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start<'s> {
    /// At the first match.
    Beginning,
    /// After this many matches; past the end gives an empty page.
    Skip(u64),
    /// Behind the unit with this `vehicle_id`, whether it matches or not.
    After(&'s str),
}

/// A page was to start behind a unit that this version of the lot does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the unit that the page starts behind is not in this version of the lot")]
pub struct UnknownRow;

/// Finds units (AAP.md 7.4.1), orders them (7.4.2) and gives at most `limit` of them.
///
/// Units without the sorted value come last in both directions, ties are in the order of `vehicle_id`.
///
/// # Errors
///
/// [`UnknownRow`] if `start` names a unit that is not in the lot.
pub fn search<'a>(
    snapshot: &'a Snapshot,
    filters: &Filters,
    sort: Sort,
    start: Start<'_>,
    limit: usize,
) -> Result<Page<'a>, UnknownRow> {
    let (skip, after) = match start {
        Start::Beginning => (0, None),
        Start::Skip(skip) => (usize::try_from(skip).unwrap_or(usize::MAX), None),
        Start::After(id) => (0, Some(snapshot.row_of(id).ok_or(UnknownRow)?)),
    };
    let (matching, bounds) = filter::matching(snapshot, filters);
    let matching = matching.unwrap_or_else(|| Bits::full(snapshot.rows));
    let total = matching.count();
    // One more than asked for tells whether there is more.
    let wanted = Wanted { after, skip, take: limit.saturating_add(1) };
    let codes = match sort.field {
        SortField::Price => bounds.price,
        SortField::Mileage => bounds.mileage,
        SortField::Year => bounds.year,
        _ => None,
    };
    let order =
        Order { column: snapshot.columns.of(sort.field), codes, descending: sort.order == SortOrder::Desc };
    let mut rows = order.page(&matching, total, &wanted);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut page = Vec::with_capacity(rows.len());
    page.extend(rows.iter().filter_map(|row| snapshot.units.get(*row)).map(|unit| Row { unit }));
    Ok(Page { total: total as u64, rows: page, more })
}

/// Which part of the matches, in order.
struct Wanted {
    after: Option<u32>,
    skip: usize,
    take: usize,
}

struct Order<'c> {
    column: &'c Column,
    /// The codes that matches have, if the filters say.
    codes: Option<Range<u32>>,
    descending: bool,
}

impl Order<'_> {
    /// The wanted rows of `matching`, of which there are `total`.
    fn page(&self, matching: &Bits, total: usize, wanted: &Wanted) -> Vec<u32> {
        if wanted.skip >= total {
            return Vec::new();
        }
        // Two ways to the same rows: along the order until enough matches are found, or all matches by their
        // keys. Which one is shorter is a guess (matches may crowd at the far end), so the walk has a limit.
        let span = self.column.span(self.codes.as_ref());
        let guess = wanted.skip.saturating_add(wanted.take).saturating_mul(span.len()) / total;
        if guess <= 2 * total + 64 {
            let steps = (16 * guess).clamp(64, 2 * total + 64);
            let walk = Walk { matching, skip: wanted.skip, take: wanted.take, steps, rows: Vec::new() };
            if let Some(rows) = self.walk(walk, span, wanted.after) {
                return rows;
            }
        }
        self.select(matching, total, wanted)
    }

    fn walk(&self, mut walk: Walk<'_>, span: Range<usize>, after: Option<u32>) -> Option<Vec<u32>> {
        let (column, order) = (self.column, self.column.order());
        let mut rest_from = 0;
        let going = match after {
            // The sorted part lies behind us.
            Some(row) if column.code(row) >= column.card() => {
                rest_from = row as usize + 1;
                true
            }
            Some(row) => {
                let next = column.place_of(row) + 1;
                if self.descending {
                    let run_end = column.start_of(column.code(row) + 1).min(span.end);
                    order.visit(next.max(span.start)..run_end, |row| walk.meet(row))
                        && self.back(span.start..column.run_start(next).min(span.end), &mut walk)
                } else {
                    order.visit(next.max(span.start)..span.end, |row| walk.meet(row))
                }
            }
            None if self.descending => self.back(span, &mut walk),
            None => order.visit(span, |row| walk.meet(row)),
        };
        // Where the filters bound the column, units without a value do not match.
        if going && self.codes.is_none() {
            walk.matching.visit_without(rest_from, column.has(), |row| walk.take(row));
        }
        (walk.steps > 0).then_some(walk.rows)
    }

    /// Runs of equal values from the largest to the smallest, each from its first row to its last.
    fn back(&self, mut span: Range<usize>, walk: &mut Walk<'_>) -> bool {
        while !span.is_empty() {
            let start = self.column.run_start(span.end);
            if !self.column.order().visit(start..span.end, |row| walk.meet(row)) {
                return false;
            }
            span.end = start;
        }
        true
    }

    /// Smaller keys come first; the row makes them unique.
    fn key(&self, row: u32) -> u64 {
        let (code, none) = (self.column.code(row), self.column.card());
        let rank = if self.descending && code < none { none - 1 - code } else { code };
        u64::from(rank) << 32 | u64::from(row)
    }

    fn select(&self, matching: &Bits, total: usize, wanted: &Wanted) -> Vec<u32> {
        let after = wanted.after.map(|row| self.key(row));
        let needed = wanted.skip.saturating_add(wanted.take);
        // More keys than that are cut down to the smallest now and then; most then never get in.
        let room = needed.saturating_mul(2).clamp(256, total.max(256));
        let mut keys: Vec<u64> = Vec::with_capacity(room.min(total));
        let mut largest = u64::MAX;
        matching.each(|row| {
            let key = self.key(row);
            if key < largest && after.is_none_or(|after| key > after) {
                keys.push(key);
                if keys.len() == room && room < total {
                    let (_, cut, _) = keys.select_nth_unstable(needed.min(room - 1));
                    largest = *cut;
                    keys.truncate(needed);
                }
            }
        });
        if wanted.skip >= keys.len() {
            return Vec::new();
        }
        if wanted.skip > 0 {
            keys.select_nth_unstable(wanted.skip);
            keys.drain(..wanted.skip);
        }
        if wanted.take < keys.len() {
            keys.select_nth_unstable(wanted.take);
            keys.truncate(wanted.take);
        }
        keys.sort_unstable();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the row")]
        keys.into_iter().map(|key| key as u32).collect()
    }
}

/// A walk along an order.
struct Walk<'m> {
    matching: &'m Bits,
    skip: usize,
    take: usize,
    steps: usize,
    rows: Vec<u32>,
}

impl Walk<'_> {
    /// A row that may match; says whether to go on.
    #[inline]
    fn meet(&mut self, row: u32) -> bool {
        self.steps -= 1;
        (!self.matching.has(row) || self.take(row)) && self.steps > 0
    }

    /// A row that matches; says whether to go on.
    #[inline]
    fn take(&mut self, row: u32) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.rows.len() < self.take {
            self.rows.push(row);
        }
        self.rows.len() < self.take
    }
}

impl crate::Columns {
    fn of(&self, field: SortField) -> &Column {
        match field {
            SortField::Price => &self.price,
            SortField::ListPrice => &self.list_price,
            SortField::Msrp => &self.msrp,
            SortField::Mileage => &self.mileage,
            SortField::Year => &self.year,
            SortField::Make => &self.make,
            SortField::Model => &self.model,
            SortField::Stock => &self.stock,
            SortField::UpdatedAt => &self.updated_at,
        }
    }
}
