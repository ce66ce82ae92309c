//! G14 and G15: a lot read and built from nothing, and brought up to date after a few changes.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use contract::Listing;
use futures_util::TryStreamExt;
use inventory::{Builder, Delta, Removed, Snapshot};
use serde_json::json;
use sqlx::{Connection, PgConnection};
use store::{LotDelta, Store, TenantId};

use crate::data;
use crate::goals::{Board, Only};
use crate::rounds::{Pace, median};
use crate::world::{MAIN, World};

/// What a lot is made from: the columns that [`store::TenantTx::lot`] reads.
const COLUMNS: &str = "vehicle_id, vin, stock, status, condition, vehicle_type, rooftop, year, make, model, trim, body, fuel, \
     driveline, transmission, engine, exterior_color, interior_color, charge_port, dc_fast_charge, price_usd, \
     list_price_usd, msrp_usd, mileage_mi, displacement_cc, electric_range_mi, features, description, updated_at, \
     content_hash, listing, detail";

/// Units that are handed over to the builder at once, as the product does.
const BATCH: usize = 32;

/// How many units a small change touches.
const CHANGED: u32 = 20;

/// Sizes that are measured; a small change to the smallest is not worth a goal.
const SIZES: [(u32, &str); 3] = [(1_000, "1k"), (10_000, "10k"), (50_000, "50k")];

/// Cold start beside a plain copy of the same bytes out of the database.
///
/// # Errors
/// The database refuses.
pub(crate) fn colds(world: &World, pace: Pace, only: &Only, rows: &[u32], board: &mut Board) -> Result<()> {
    ensure_lots(world)?;
    for (units, part) in SIZES {
        if only.wants("G14") && (rows.is_empty() || rows.contains(&units)) {
            world.runtime.block_on(cold(world, pace, units, part, board))?;
        }
    }
    Ok(())
}

/// Bringing a lot up to date beside a cold start.
///
/// # Errors
/// The database refuses.
pub(crate) fn refreshes(
    world: &World,
    pace: Pace,
    only: &Only,
    rows: &[u32],
    board: &mut Board,
) -> Result<()> {
    ensure_lots(world)?;
    for (units, part) in SIZES.into_iter().skip(1) {
        if only.wants("G15") && (rows.is_empty() || rows.contains(&units)) {
            world.runtime.block_on(refresh(world, pace, units, part, board))?;
        }
    }
    Ok(())
}

fn ensure_lots(world: &World) -> Result<()> {
    let lots = data::MEASURED.map(data::measured);
    world.runtime.block_on(world.cluster.ensure(MAIN, &lots, world.forecourt()))
}

/// A lot of the database, for reading it in whatever way.
struct Subject {
    store: Store,
    tenant: TenantId,
    units: usize,
    plain: PgConnection,
}

impl Subject {
    async fn open(world: &World, units: u32) -> Result<Subject> {
        let store = world.cluster.store(MAIN).await?;
        let mut tx = store.platform().await?;
        let tenant = tx.tenant_by_slug(&data::measured(units).slug).await?.context("a measured lot")?;
        tx.rollback().await?;
        // The same role under the same policies over the same socket.
        let options = world
            .cluster
            .options(MAIN)
            .options([("role", "forecourt_app"), ("app.tenant", tenant.to_string().as_str())]);
        let plain = PgConnection::connect_with(&options).await?;
        Ok(Subject { store, tenant, units: units as usize, plain })
    }

    /// Reads and builds as the product does: on one connection, units taken by a builder beside the reading.
    async fn load(&self) -> Result<Snapshot> {
        let mut tx = self.store.tenant_snapshot(self.tenant).await?;
        let units = self.units;
        let (sender, batches) = mpsc::channel::<Vec<Listing>>();
        let builder = tokio::task::spawn_blocking(move || {
            let mut builder = Builder::new(units);
            batches.into_iter().flatten().try_for_each(|unit| builder.push(unit)).map(|()| builder)
        });
        let mut batch = Vec::new();
        let take = |unit| {
            batch.push(unit);
            if batch.len() == BATCH {
                // A builder that has failed says so at the end.
                let _ = sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)));
            }
        };
        let lot = tx.lot_by_unit(take).await?;
        let _ = sender.send(batch);
        drop(sender);
        tx.rollback().await?;
        let gone: Vec<_> = lot.removed.into_iter().map(removed).collect();
        Ok(builder.await??.finish(lot.version, &gone))
    }

    /// The bytes of the same columns, thrown away: what the database takes at least.
    async fn copy(&mut self) -> Result<usize> {
        let tenant = self.tenant;
        let statement = format!(
            "copy (select {COLUMNS} from vehicles where tenant_id = '{tenant}' order by vehicle_id) to stdout (format binary)"
        );
        let mut chunks = self.plain.copy_out_raw(&statement).await?;
        let mut bytes = 0;
        while let Some(chunk) = chunks.try_next().await? {
            bytes += chunk.len();
        }
        Ok(bytes)
    }
}

fn removed(unit: store::Removed) -> Removed {
    Removed { vehicle_id: unit.vehicle_id, vin: unit.vin, stock: unit.stock }
}

/// As often as two rounds have time for; at least three times.
fn enough(times: usize, began: Instant, pace: Pace) -> bool {
    times >= 3 && began.elapsed() >= pace.round * 2 || times >= 40
}

async fn cold(world: &World, pace: Pace, units: u32, part: &str, board: &mut Board) -> Result<()> {
    let mut subject = Subject::open(world, units).await?;
    let (mut loads, mut copies) = (Vec::new(), Vec::new());
    // The first of each only warms the database's memory.
    subject.copy().await?;
    drop(subject.load().await?);
    let began = Instant::now();
    let mut bytes = 0;
    while !enough(loads.len(), began, pace) {
        let start = Instant::now();
        let snapshot = subject.load().await?;
        loads.push(millis(start));
        ensure!(snapshot.len() == units as usize, "the lot has {} units", snapshot.len());
        drop(snapshot);
        let start = Instant::now();
        bytes = subject.copy().await?;
        copies.push(millis(start));
    }
    board.settle("G14", part, median(loads.iter().zip(&copies).map(|(load, copy)| load / copy)));
    let figures = json!({"cold_ms": median(loads), "copy_ms": median(copies), "copied_bytes": bytes});
    board.note(format!("cold start {part}"), figures);
    Ok(())
}

async fn refresh(world: &World, pace: Pace, units: u32, part: &str, board: &mut Board) -> Result<()> {
    let subject = Subject::open(world, units).await?;
    let lot = data::measured(units);
    let mut held = subject.load().await?;
    let (mut colds, mut refreshes) = (Vec::new(), Vec::new());
    let began = Instant::now();
    while !enough(refreshes.len(), began, pace) {
        let round = u32::try_from(refreshes.len()).unwrap_or(0);
        change(&subject, &lot, round).await?;
        let start = Instant::now();
        let mut tx = subject.store.tenant_snapshot(subject.tenant).await?;
        let delta = tx.lot_delta(held.version()).await?.context("the change can be read")?;
        tx.rollback().await?;
        let LotDelta { version, changed, removed: gone, dropped } = delta;
        ensure!(changed.len() == CHANGED as usize, "{} units changed", changed.len());
        let delta = Delta { changed, removed: gone.into_iter().map(removed).collect(), dropped };
        let next = held.apply(version, delta);
        refreshes.push(millis(start));
        held = next;
        let start = Instant::now();
        let cold = subject.load().await?;
        colds.push(millis(start));
        ensure!((cold.version(), cold.len()) == (held.version(), held.len()), "both lead to the same lot");
    }
    board.settle("G15", part, median(refreshes.iter().zip(&colds).map(|(refresh, cold)| refresh / cold)));
    let figures = json!({"refresh_ms": median(refreshes), "cold_ms": median(colds)});
    board.note(format!("refresh {part}, {CHANGED} changed"), figures);
    Ok(())
}

/// Changes the prices of some units, spread over the lot; others each round.
async fn change(subject: &Subject, lot: &data::Lot, round: u32) -> Result<()> {
    let mut tx = subject.store.tenant(subject.tenant).await?;
    let version = tx.lock_inventory().await? + 1;
    let step = lot.units / CHANGED;
    let changed = (0..CHANGED).filter_map(|n| {
        let number = n * step + round % step;
        let changes = u32::try_from(version).unwrap_or(0) % 1_000;
        data::Unit::new(lot, number, changes).listing(&lot.slug)
    });
    let changed: Vec<_> = changed.collect();
    tx.upsert_listings(version, &changed).await?;
    tx.publish_inventory(version).await?;
    tx.commit().await?;
    Ok(())
}

fn millis(start: Instant) -> f64 {
    Duration::as_secs_f64(&start.elapsed()) * 1e3
}
