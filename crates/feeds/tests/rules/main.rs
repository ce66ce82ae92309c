//! The tables of FEEDS.md 4 to 7, row by row: one car each, and what must come of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod columns;
mod identity;
#[path = "../table/mod.rs"]
mod table;
mod values;
mod variants;
mod vins;

use feeds::Unit;
use table::{Checked, check, config, vin};

/// A car that nothing is to be said about, as columns and cells, with some of them replaced or added. An empty name
/// takes nothing; a column that is given replaces the one of that name.
fn file(changes: &[(&str, &str)]) -> String {
    let one = vin(1);
    let mut cells: Vec<(&str, &str)> = vec![
        ("vin", &one),
        ("stock", "S1"),
        ("year", "2020"),
        ("make", "Ford"),
        ("model", "Escape"),
        ("new/used", "U"),
        ("miles", "41000"),
        ("price", "18990"),
    ];
    for (name, cell) in changes {
        match cells.iter_mut().find(|(known, _)| known == name) {
            Some(place) => place.1 = cell,
            None => cells.push((name, cell)),
        }
    }
    let line = |pick: fn(&(&str, &str)) -> String| cells.iter().map(pick).collect::<Vec<_>>().join("\t");
    format!("{}\n{}\n", line(|(name, _)| (*name).to_owned()), line(|(_, cell)| (*cell).to_owned()))
}

fn row(changes: &[(&str, &str)]) -> Checked {
    check(&file(changes), &config())
}

/// The one unit of a row, and the codes that were said about it.
fn unit(changes: &[(&str, &str)]) -> (Unit, Vec<&'static str>) {
    let checked = row(changes);
    let codes = codes(&checked);
    (
        checked.units.into_iter().next().unwrap_or_else(|| panic!("{changes:?} is not published: {codes:?}")),
        codes,
    )
}

/// The codes of all findings about rows, in their order.
fn codes(checked: &Checked) -> Vec<&'static str> {
    let report = &checked.report;
    let all = report.errors.iter().chain(&report.warnings);
    all.map(|told| told.finding.code.as_str()).collect()
}
