//! Each row of the tables of FEEDS.md 5 and 6, and what must hold for any text at all.

use super::*;

mod amounts;
mod any;
mod identity;
mod places;
mod words;

/// A table of cells and what comes out, checked as one so that all of its faults are seen.
#[track_caller]
fn table<T: PartialEq + std::fmt::Debug>(rows: &[(&str, T)], of: impl Fn(&str) -> T) {
    let faults: Vec<String> = rows
        .iter()
        .filter_map(|(cell, wanted)| {
            let found = of(cell);
            (found != *wanted).then(|| format!("{cell:?}: {found:?} instead of {wanted:?}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
