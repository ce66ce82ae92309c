//! G18 to G20: what is left to do once a file is read, beside copying finished rows into a table without index.
//!
//! Inside are: comparing the units of the file with what the source said before, the guard's judgement, merging,
//! rendering, checking against the contracts, and the transaction with everything that is kept of it: what the source
//! says, listings, their stories, the run, the version and its notice. Outside are: receiving and reading the file,
//! and storing the units that it came to.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use sqlx::Row;
use sqlx::postgres::PgListener;
use store::{RunState, TenantId};

use super::Dealers;
use super::ground::{Done, Ground, Place, is_applied};
use crate::data::{Feed, Lot};
use crate::goals::{Board, Only};
use crate::rounds::{Pace, median};
use crate::world::INGEST;

pub(super) async fn run(
    ground: &mut Ground,
    dealers: &Dealers,
    pace: Pace,
    only: &Only,
    board: &mut Board,
) -> Result<()> {
    if only.wants("G18") {
        first(ground, &dealers.first, pace, board).await?;
    }
    for (lot, part) in dealers.again.iter().zip(["10k", "50k"]) {
        if only.wants("G19") || (only.wants("G20") && part == "10k") {
            let place = ground.place(lot).await?;
            let files = [Feed::first(lot).csv(), Feed::later(lot).csv()];
            let mut read = Vec::new();
            for file in &files {
                read.push((place.clone(), ground.import(&place, file).await?.run.run_id));
            }
            if only.wants("G19") {
                again(ground, &place, &read, (lot, part), pace, board).await?;
            }
            if only.wants("G20") && part == "10k" {
                unchanged(ground, &place, lot, &files, board).await?;
            }
        }
    }
    Ok(())
}

/// Pairs of the two variants that are measured in turn.
#[derive(Default)]
struct Pairs {
    applied: Vec<Done>,
    copied: Vec<(Duration, u64)>,
}

impl Pairs {
    /// How many rows a second are applied for each that is copied.
    fn speed(&self) -> f64 {
        let pairs = self.applied.iter().zip(&self.copied);
        median(pairs.map(|(done, (copy, _))| copy.as_secs_f64() / done.applying().as_secs_f64()))
    }

    fn wal(&self) -> f64 {
        let pairs = self.applied.iter().zip(&self.copied);
        median(pairs.map(|(done, (_, wal))| done.wal as f64 / (*wal).max(1) as f64))
    }

    fn note(&self, board: &mut Board, name: String, units: u32) {
        let of = |figure: &dyn Fn(&Done) -> f64| median(self.applied.iter().map(figure));
        let units = f64::from(units);
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let figures = json!({
            "applying_ms": of(&|done| millis(done.applying())),
            "comparing_and_judging_ms": of(&|done| done.timings.checked_ms as f64),
            "transaction_ms": of(&|done| done.timings.applied_ms as f64),
            "rows_a_second": of(&|done| units / done.applying().as_secs_f64()),
            "wal_bytes_a_row": of(&|done| done.wal as f64) / units,
            "copy_ms": median(self.copied.iter().map(|(took, _)| millis(*took))),
            "copy_rows_a_second": median(self.copied.iter().map(|(took, _)| units / took.as_secs_f64())),
            "copy_wal_bytes_a_row": median(self.copied.iter().map(|(_, wal)| *wal as f64)) / units,
        });
        board.note(name, figures);
    }
}

/// First loads, each of another dealer that never had a vehicle.
async fn first(ground: &mut Ground, lots: &[Lot], pace: Pace, board: &mut Board) -> Result<()> {
    let (model, others) = lots.split_first().context("a dealer")?;
    let place = ground.place(model).await?;
    let read = ground.import(&place, &Feed::first(model).csv()).await?;
    let copied = ground.copied(place.tenant).await?;
    let like = (place, read.run.run_id);
    let mut pairs = Pairs::default();
    for (number, lot) in others.iter().take(pace.rounds + 1).enumerate() {
        let place = ground.place(lot).await?;
        let done = ground.import_read(&place, &like).await?;
        ensure!(
            is_applied(&done) && units(ground, place.tenant).await? == i64::from(lot.units),
            "not all was loaded"
        );
        let copy = copied.write(ground).await?;
        // The first of each makes room for those that are measured.
        if number > 0 {
            pairs.applied.push(done);
            pairs.copied.push(copy);
        }
    }
    board.settle("G18", "10k", pairs.speed());
    pairs.note(board, "first load 10k".into(), model.units);
    Ok(())
}

/// The two files of a lot in turn: each changes as much of the other.
async fn again(
    ground: &mut Ground,
    place: &Place,
    read: &[(Place, uuid::Uuid)],
    (lot, part): (&Lot, &str),
    pace: Pace,
    board: &mut Board,
) -> Result<()> {
    let copied = ground.copied(place.tenant).await?;
    let mut pairs = Pairs::default();
    // The source has the second one.
    for number in 0..2 * pace.rounds.div_ceil(2) + 2 {
        let like = read.get(number % 2).context("a file")?;
        let done = ground.import_read(place, like).await?;
        let changed = done.run.diff.clone().unwrap_or_default();
        let count = |what: &str| changed.get(what).and_then(serde_json::Value::as_u64).unwrap_or(0);
        let hundredth = u64::from(lot.units / 100);
        ensure!(
            is_applied(&done)
                && count("added") == hundredth
                && count("removed") == hundredth
                && count("changed").abs_diff(2 * hundredth) <= hundredth / 10,
            "the file changed something else: {changed}"
        );
        let copy = copied.write(ground).await?;
        if number > 1 {
            pairs.applied.push(done);
            pairs.copied.push(copy);
        }
    }
    board.settle("G19", part, pairs.speed());
    board.settle("G19", &format!("WAL {part}"), pairs.wal());
    pairs.note(board, format!("full feed {part}, 2 % changed"), lot.units);
    Ok(())
}

/// What comes of files that say nothing new: the same bytes, and other bytes with the same units.
async fn unchanged(
    ground: &mut Ground,
    place: &Place,
    lot: &Lot,
    files: &[String],
    board: &mut Board,
) -> Result<()> {
    // Whichever came last before.
    let file = files.first().context("a file")?;
    ground.import(place, file).await?;
    let before = Seen::of(ground, place.tenant).await?;
    let mut listener = PgListener::connect_with(&ground.cluster.pool(INGEST, 1).await?).await?;
    listener.listen("forecourt_inventory").await?;
    let same = ground.import(place, file).await?;
    let turned = ground.import(place, &Feed::first(lot).turned()).await?;
    let states = [same.run.state, turned.run.state];
    ensure!(states == [RunState::Unchanged; 2], "the runs are {states:?}");
    let after = Seen::of(ground, place.tenant).await?;
    let mut notices = 0;
    while tokio::time::timeout(Duration::from_millis(500), listener.recv()).await.is_ok() {
        notices += 1;
    }
    let written = after.rows.iter().filter(|(id, row)| before.rows.get(*id) != Some(row)).count();
    board.settle("G20", "rows", (written + before.rows.len().abs_diff(after.rows.len())) as f64);
    board.settle("G20", "version", (after.version - before.version) as f64);
    board.settle("G20", "notices", f64::from(notices));
    let millis = |done: &Done| done.took.as_secs_f64() * 1e3;
    board.note(
        "unchanged file of 10k, ms and bytes of WAL",
        json!({
            "same_bytes_ms": millis(&same), "same_bytes_wal": same.wal,
            "other_order_ms": millis(&turned), "of_that_reading_ms": turned.timings.read_ms,
            "other_order_wal": turned.wal,
        }),
    );
    Ok(())
}

/// What can be seen of writing to a lot: rows with where they lie and who wrote them.
struct Seen {
    rows: HashMap<String, String>,
    version: i64,
}

impl Seen {
    async fn of(ground: &mut Ground, tenant: TenantId) -> Result<Seen> {
        let tenant = tenant.to_string();
        let rows: Vec<(String, String)> = sqlx::query_as(
            "select vehicle_id, xmin::text || ctid::text from vehicles where tenant_id = $1::uuid",
        )
        .bind(&tenant)
        .fetch_all(&mut ground.admin)
        .await?;
        let version = sqlx::query("select version from tenant_inventory where tenant_id = $1::uuid")
            .bind(&tenant)
            .fetch_one(&mut ground.admin)
            .await?
            .try_get(0)?;
        Ok(Seen { rows: rows.into_iter().collect(), version })
    }
}

async fn units(ground: &mut Ground, tenant: TenantId) -> Result<i64> {
    let row = sqlx::query("select count(*) from vehicles where tenant_id = $1::uuid")
        .bind(tenant.to_string())
        .fetch_one(&mut ground.admin)
        .await?;
    Ok(row.try_get(0)?)
}
