//! Files from the first byte to the lot, brought in by `forecourt worker`; no floors, but figures to be held against
//! later ones.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dealer::feeds::{Mode, Timings};
use serde_json::json;

use super::ground::{Ground, Place};
use super::{Dealers, MANY};
use crate::data::{Feed, Lot};
use crate::goals::Board;
use crate::world::{Child, INGEST, World, peak, usage};

/// A run may take so long.
const PATIENCE: Duration = Duration::from_secs(300);

pub(super) fn run(world: &World, ground: &mut Ground, dealers: &Dealers, board: &mut Board) -> Result<()> {
    let runtime = &world.runtime;
    board.attempt("50,000 rows", |board| {
        let worker = world.worker(&ground.cluster, INGEST)?;
        let idle = usage(worker.pid())?.resident;
        runtime.block_on(whole(ground, &worker, &dealers.whole, board))?;
        memory(&worker, idle, "50k", board)
    });
    board.attempt("200,000 rows", |board| {
        let worker = world.worker(&ground.cluster, INGEST)?;
        let idle = usage(worker.pid())?.resident;
        runtime.block_on(large(ground, &dealers.large, board))?;
        memory(&worker, idle, "200k", board)
    });
    board.attempt("200 dealers at once", |board| {
        runtime.block_on(fill_queue(ground, &dealers.many))?;
        let worker = world.worker(&ground.cluster, INGEST)?;
        runtime.block_on(many(ground, &worker, board))
    });
    Ok(())
}

fn memory(worker: &Child, idle: u64, part: &str, board: &mut Board) -> Result<()> {
    let figures = json!({"idle": idle, "peak": peak(worker.pid())?});
    board.note(format!("memory of a worker, {part} rows, bytes"), figures);
    Ok(())
}

/// A file from its first byte until buyers see what it says.
async fn through(ground: &mut Ground, place: &Place, mode: Mode, file: &str) -> Result<serde_json::Value> {
    let began = Instant::now();
    let (run, received) = ground.receive(place, mode, file).await?;
    ground.all_done(PATIENCE).await?;
    let took = began.elapsed().as_secs_f64();
    let run = ground.run(place, run).await?;
    let timings: Timings = run.timings.map(serde_json::from_value).transpose()?.unwrap_or_default();
    let records =
        run.counts.as_ref().and_then(|counts| counts.get("records")).and_then(serde_json::Value::as_u64);
    let rows = records.context("how many records there were")? as f64;
    Ok(json!({
        "seconds": took, "rows_a_second": rows / took, "megabytes_a_second": file.len() as f64 / 1e6 / took,
        "bytes": file.len(), "receiving_ms": received.as_secs_f64() * 1e3, "waiting_ms": timings.waited_ms,
        "fetching_ms": timings.fetched_ms, "reading_and_storing_units_ms": timings.read_ms,
        "comparing_ms": timings.checked_ms, "applying_ms": timings.applied_ms,
    }))
}

async fn whole(ground: &mut Ground, worker: &Child, lot: &Lot, board: &mut Board) -> Result<()> {
    let place = ground.place(lot).await?;
    let feed = Feed::first(lot);
    let before = usage(worker.pid())?.cpu;
    let first = through(ground, &place, Mode::Full, &feed.csv()).await?;
    let cpu = usage(worker.pid())?.cpu.saturating_sub(before);
    board.note("CSV of 50,000 rows, first load", first);
    let micros = cpu.as_secs_f64() * 1e6 / f64::from(feed.units());
    board.note("CSV of 50,000 rows, first load: CPU of the worker a row, µs", json!(micros));
    let later = through(ground, &place, Mode::Full, &Feed::later(lot).csv()).await?;
    board.note("CSV of 50,000 rows, 2 % changed", later);
    let delta = through(ground, &place, Mode::Delta, &feed.some(100)).await?;
    board.note("delta of 1 %, 500 rows", delta);
    Ok(())
}

async fn large(ground: &mut Ground, lot: &Lot, board: &mut Board) -> Result<()> {
    let place = ground.place(lot).await?;
    let first = through(ground, &place, Mode::Full, &Feed::first(lot).csv()).await?;
    board.note("CSV of 200,000 rows, first load", first);
    Ok(())
}

async fn fill_queue(ground: &mut Ground, lots: &[Lot]) -> Result<()> {
    for lot in lots {
        let place = ground.place(lot).await?;
        ground.receive(&place, Mode::Full, &Feed::first(lot).csv()).await?;
    }
    Ok(())
}

async fn many(ground: &mut Ground, worker: &Child, board: &mut Board) -> Result<()> {
    let began = Instant::now();
    ground.all_done(PATIENCE).await?;
    let took = began.elapsed().as_secs_f64();
    let figures = json!({
        "seconds": took, "rows_a_second": f64::from(MANY.0 * MANY.1) / took,
        "files_a_second": f64::from(MANY.0) / took, "peak_memory": peak(worker.pid())?,
    });
    board.note("200 dealers at once, 1,000 rows each", figures);
    Ok(())
}
