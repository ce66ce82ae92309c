//! G9 and G10: the index by itself, in this process, beside the plain way of searching columns.

pub(crate) mod scan;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use contract::payload::InventorySearchRequest;
use inventory::{Snapshot, Start};
use serde::Deserialize;
use serde_json::json;

use crate::data::{self, Asked, Lot};
use crate::goals::{Board, Only};
use crate::load::Histogram;
use crate::rounds::{Pace, median};
use scan::Table;

/// Measures both goals at both sizes.
///
/// # Errors
/// The index and the plain search disagree.
pub(crate) fn run(pace: Pace, only: &Only, board: &mut Board) -> Result<()> {
    for (units, part) in [(10_000, "10k"), (50_000, "50k")] {
        if !only.wants("G9") && !only.wants("G10") {
            continue;
        }
        let lot = data::measured(units);
        let subject = Subject::build(&lot)?;
        subject.check()?;
        let mut rounds: [Vec<f64>; 3] = Default::default();
        for _ in 0..pace.rounds {
            let timed = subject.time(pace.round / 3);
            for (all, one) in rounds.iter_mut().zip(timed) {
                all.push(one.quantile(0.5).as_secs_f64() * 1e6);
            }
        }
        let [search, facets, scan] = rounds;
        let ratio = |of: &[f64], over: &[f64]| median(of.iter().zip(over).map(|(of, over)| of / over));
        if only.wants("G9") {
            board.settle("G9", part, ratio(&facets, &search));
        }
        if only.wants("G10") {
            board.settle("G10", part, ratio(&search, &scan));
        }
        let micros = json!({"search": median(search), "facets": median(facets), "scan": median(scan)});
        board.note(format!("in process {part}, p50 in µs"), micros);
    }
    Ok(())
}

/// A lot in both forms, and what is asked of it.
struct Subject {
    snapshot: Snapshot,
    table: Table,
    asked: Vec<(Asked, InventorySearchRequest)>,
}

const LIMIT: usize = 20;

impl Subject {
    fn build(lot: &Lot) -> Result<Subject> {
        let listings = (0..lot.units).filter_map(|number| lot.unit(number).listing(&lot.slug)).collect();
        let snapshot = Snapshot::build(1, listings, Vec::new());
        let mut asked = Vec::new();
        for search in data::search(lot, 200) {
            let typed = InventorySearchRequest::deserialize(&search.data)?;
            asked.push((search, typed));
        }
        Ok(Subject { snapshot, table: Table::build(lot), asked })
    }

    /// Both find the same units in the same order.
    fn check(&self) -> Result<()> {
        for (asked, typed) in &self.asked {
            let sort = typed.sort.context("an order")?;
            let page = inventory::search(&self.snapshot, &typed.filters, sort, Start::Beginning, LIMIT)?;
            let found = self.table.search(&asked.data, LIMIT);
            let ids: Vec<String> = found.rows.iter().map(|row| format!("veh_{row:06}")).collect();
            let same =
                page.total == found.total as u64 && page.rows.iter().map(|row| row.vehicle_id()).eq(&ids);
            ensure!(same, "index and scan differ about {}", asked.data);
        }
        Ok(())
    }

    /// Search, facets and scan, in turn for each request, so that none has the caches to itself.
    fn time(&self, duration: Duration) -> [Histogram; 3] {
        let mut times: [Histogram; 3] = Default::default();
        let end = Instant::now() + duration;
        while Instant::now() < end {
            for (asked, typed) in &self.asked {
                let sort = typed.sort.unwrap_or(contract::payload::Sort::DEFAULT);
                let [search, facets, scan] = &mut times;
                timed(search, || {
                    inventory::search(&self.snapshot, &typed.filters, sort, Start::Beginning, LIMIT).ok()
                });
                timed(facets, || inventory::facets(&self.snapshot, &typed.filters));
                timed(scan, || self.table.search(&asked.data, LIMIT));
            }
        }
        times
    }
}

fn timed<T>(times: &mut Histogram, work: impl FnOnce() -> T) {
    let began = Instant::now();
    black_box(work());
    times.record(began.elapsed());
}
