//! Lines of a table that are no records.

use super::header::Header;
use super::split::{self, Cell};

/// Cells that a total line may have.
const TRAILER_CELLS: usize = 3;

/// A total or end line: few cells, the first of which says so.
pub(super) fn is_trailer(line: &str, cells: &[Cell]) -> bool {
    let filled = cells.iter().filter(|cell| cell.start < cell.end);
    if filled.take(TRAILER_CELLS + 1).count() > TRAILER_CELLS {
        return false;
    }
    let first = cells.first().map(|cell| split::text(line, *cell, true)).unwrap_or_default();
    let first = first.trim_start_matches(['"', ' ']).to_ascii_lowercase();
    first.starts_with("total")
        || first.strip_prefix("***").is_some_and(|rest| rest.trim_start().starts_with("end"))
}

/// The header once more, as at a page break.
pub(super) fn is_repeated_header(line: &str, cells: &[Cell], header: &Header) -> bool {
    let mut names = header.names.iter();
    let same = |cell: &Cell| match names.next() {
        Some(name) => split::text(line, *cell, true) == *name,
        None => cell.start == cell.end,
    };
    !cells.is_empty() && cells.iter().all(same) && names.all(String::is_empty)
}
