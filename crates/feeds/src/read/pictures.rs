//! The cells of a row that hold pictures.

use std::collections::HashMap;

use super::say::Say;
use crate::aliases::Target;
use crate::mapping::{Cell, Picked};
use crate::values::photos;

/// The pictures of a row, in the order of the file; where names of columns say a place (`image[2].url`), in that one, and
/// `additional…` ones last, for columns may stand in any order. In a document a picture of which only a tag or a place is said is
/// one without an address; in a table empty cells are what rows with fewer pictures have.
pub(super) fn of<'p>(cells: &Picked<'p>, document: bool, say: &Say<'_>) -> Vec<photos::Cell<'p>> {
    // `photos[3].order` says where `photos[3].url` belongs.
    let orders: HashMap<&str, i64> = cells
        .all(Target::PhotoOrder)
        .filter_map(|cell| Some((picture(say.column(cell)), cell.text.parse().ok()?)))
        .collect();
    let of = |cell: Cell<'p>| {
        let order = orders.get(picture(say.column(cell))).copied();
        photos::Cell { order, ..photos::Cell::at_its_place(cell.text) }
    };
    let mut pictures: Vec<Cell<'p>> = cells.all(Target::Photos).collect();
    pictures.sort_by_key(|cell| place(say.column(*cell)));
    let mut found: Vec<photos::Cell<'p>> = pictures.into_iter().map(of).collect();
    let mut parts = cells.all(Target::PhotoPart).chain(cells.all(Target::PhotoOrder));
    let without_address = |part: Cell<'p>| {
        let picture = picture(say.column(part));
        !cells.all(Target::Photos).any(|cell| self::picture(say.column(cell)) == picture)
    };
    if document && parts.any(without_address) {
        found.push(photos::Cell::at_its_place(""));
    }
    found
}

/// Where the name of a column puts its picture: whether behind all main ones, and its number among its like.
fn place(name: &str) -> (bool, u32) {
    let number = name.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')?.0.parse().ok());
    let additional =
        name.trim_start().get(..10).is_some_and(|start| start.eq_ignore_ascii_case("additional"));
    (additional, number.unwrap_or(0))
}

/// What numbers a picture in the name of a column: `photos[3]` of `photos[3].order`.
fn picture(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(above, _)| above)
}
