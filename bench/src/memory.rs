//! G17 and the two thousand dealers: what lots take of a process's memory, and whether many of them slow it down.

use anyhow::{Result, ensure};
use inventory::Snapshot;
use serde_json::json;
use sqlx::Row;

use crate::data::{self, Asked, Lot};
use crate::goals::{Board, Only};
use crate::http::ask_all;
use crate::load::Good;
use crate::rounds::{self, Pace, Variant};
use crate::world::{Child, DEALERS, MAIN, Metrics, THREE, World, usage};

/// Index bytes of one unit in two lots, and the memory of a process that holds two hundred.
///
/// # Errors
/// Something does not start, fails, or answers wrongly.
pub(crate) fn run(world: &World, only: &Only, board: &mut Board) -> Result<()> {
    if !only.wants("G17") {
        return Ok(());
    }
    for (units, part) in [(10_000, "10k"), (50_000, "50k")] {
        let lot = data::measured(units);
        let listings = (0..units).filter_map(|number| lot.unit(number).listing(&lot.slug)).collect();
        let snapshot = Snapshot::build(1, listings, Vec::new());
        let parts: serde_json::Map<String, serde_json::Value> =
            snapshot.parts().iter().map(|(name, bytes)| ((*name).to_owned(), (*bytes).into())).collect();
        board.note(format!("bytes of a snapshot {part}"), parts.into());
        let index = snapshot.weight() - snapshot.documents();
        board.settle("G17", part, index as f64 / f64::from(units));
    }
    let mut lots = data::mixed(200);
    lots.extend(data::MEASURED.map(data::measured));
    world.runtime.block_on(world.cluster.ensure(MAIN, &lots, world.forecourt()))?;
    let product = world.product(MAIN, &[])?;
    let (resident, accounted) = filled(&product, &lots)?;
    board.settle("G17", "memory", resident as f64 / accounted as f64);
    board.note("memory of 204 dealers, bytes", json!({"resident": resident, "accounted": accounted}));
    Ok(())
}

/// Asks every lot once, so that all are in memory; what the process then takes, and what it accounts for.
fn filled(product: &Child, lots: &[Lot]) -> Result<(u64, u64)> {
    let asked: Vec<Asked> = lots.iter().flat_map(|lot| data::search(lot, 1)).collect();
    ask_all(product.address(), &asked)?;
    let metrics = Metrics::read(product.address())?;
    let held = metrics.sum("lots_loaded")?;
    ensure!(held as usize == lots.len(), "{held} of {} lots are in memory", lots.len());
    let accounted = metrics.sum("lots_bytes")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of bytes")]
    Ok((usage(product.pid())?.resident, accounted as u64))
}

/// How many dealers, and how many vehicles each has.
const MANY: (u32, u32) = (2_000, 300);
/// Bytes of index, allocation and bookkeeping for a vehicle, beside its documents.
const BESIDE: f64 = 440.0;

/// Two thousand dealers in one process, beside one that has three.
///
/// # Errors
/// Something does not start, fails, or answers wrongly.
pub(crate) fn dealers(world: &World, pace: Pace, only: &Only, board: &mut Board) -> Result<()> {
    if !only.wants("dealers") {
        return Ok(());
    }
    let many = data::alike(MANY.0, MANY.1);
    let few = data::alike(3, MANY.1);
    world.runtime.block_on(async {
        world.cluster.ensure(DEALERS, &many, world.forecourt()).await?;
        world.cluster.ensure(THREE, &few, world.forecourt()).await
    })?;
    let large = world.product(DEALERS, &[])?;
    let small = world.product(THREE, &[])?;
    let (resident, accounted) = filled(&large, &many)?;
    ask_all(small.address(), &few.iter().flat_map(|lot| data::search(lot, 20)).collect::<Vec<_>>())?;
    let (vehicles, documents) = world.runtime.block_on(documents(world))?;
    let formula = 1.25 * vehicles * (BESIDE + documents);
    board.settle("dealers", "memory", resident as f64 / formula);
    let figures = json!({"resident": resident, "accounted": accounted, "formula": formula, "vehicles": vehicles,
        "bytes_of_documents_a_vehicle": documents});
    board.note("memory of 2,000 dealers, bytes", figures);

    // As many requests either way, so that the load generator has the same to do.
    let requests = |lots: &[Lot], each: u32| -> Vec<Vec<u8>> {
        let asked: Vec<Vec<Asked>> = lots.iter().map(|lot| data::search(lot, each)).collect();
        let turn =
            |n: usize| asked.iter().filter_map(move |of_lot| of_lot.get(n)).map(|asked| asked.bytes.clone());
        (0..each as usize).flat_map(turn).collect()
    };
    let (over_many, over_few) = (requests(&many, 3), requests(&few, 2_000));
    let variant = |name, server: &Child, requests| Variant {
        name,
        server: server.address(),
        pids: vec![server.pid()],
        requests,
        good: Good::Result,
    };
    let variants = [variant("2,000 dealers", &large, &over_many), variant("3 dealers", &small, &over_few)];
    let measured = rounds::measure(pace, &variants)?;
    if let [many, few] = measured.as_slice() {
        board.settle("dealers", "rate", rounds::ratio(many, few, |round| round.rate));
    }
    board.keep("search, 300 vehicles a dealer", measured);
    Ok(())
}

/// How many vehicles there are, and how many bytes of documents one has in memory.
async fn documents(world: &World) -> Result<(f64, f64)> {
    let mut connection = world.cluster.superuser(DEALERS).await?;
    let row = sqlx::query(
        "select count(*)::float8, avg(octet_length(listing) + coalesce(octet_length(detail), 0))::float8 from vehicles",
    )
    .fetch_one(&mut connection)
    .await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}
