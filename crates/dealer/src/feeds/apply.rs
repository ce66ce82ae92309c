//! Writing what a run changes, in one transaction: buyers see the lot as it was or as the file says, never a mix.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use feeds::Unit;
use feeds::config::Mode;
use store::{Job, NewRun, RunRow, RunState, SourceUnitRow, Store, TenantId, TenantTx};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::compare::{self, Compared};
use super::counters;
use super::difference::Plan;
use super::findings;
use super::run::{self, Judgement, Timings};
use super::scene::{NoScene, Scene};
use super::spool::Spooled;
use super::tell;
use super::units::{Trailer, Units};
use super::write::{Because, CHUNK, Desk, Fresh, Pending, Written};

/// How often a transaction is begun again where another writer was in the way.
const TRIES: u32 = 5;
/// Bytes of units that are held at once, whatever their number.
const CHUNK_BYTES: usize = 8 << 20;

/// Whose leave the writing has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fence<'a> {
    /// A worker's that holds this job: once somebody else has it, nothing is written.
    Job(&'a Job),
    /// A person's, who approved a held run.
    Approval { actor: &'a str },
    /// A person's, who goes back to this run: another one is made that repeats it.
    Rollback { to: &'a RunRow, actor: &'a str },
}

impl Fence<'_> {
    fn actor(&self) -> Option<&str> {
        match self {
            Fence::Job(_) => None,
            Fence::Approval { actor } | Fence::Rollback { actor, .. } => Some(actor),
        }
    }
}

/// What is applied.
pub(super) struct Applying<'a> {
    /// The run; for a rollback the one that is gone back to.
    pub(super) run_id: Uuid,
    pub(super) source: Uuid,
    pub(super) units: &'a Spooled,
    pub(super) trailer: Arc<Trailer>,
    /// The run whose units the source had when the guard or a person had a look.
    pub(super) base: Option<Uuid>,
    /// What it changes, where that was found out just before.
    pub(super) compared: Option<&'a Compared>,
    pub(super) fence: Fence<'a>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applied {
    /// The lot is as the file says; the inventory version where that changed it.
    Done { run_id: Uuid, state: RunState, version: Option<u64> },
    /// Somebody else does this job now.
    LostLease,
    /// The run is not in the state that it was decided about.
    NotWaiting(RunState),
    /// The source was heard from in between: what was judged is not what would be written now.
    Moved,
}

/// Applies a run.
pub(super) async fn apply(
    store: &Store,
    tenant: TenantId,
    applying: &Applying<'_>,
) -> Result<Applied, NoScene> {
    for attempt in 1.. {
        match once(store, tenant, applying).await {
            Err(NoScene::Store(error)) if error.is_transient() && attempt < TRIES => {
                counters::retried();
                tracing::debug!(%error, %tenant, run = %applying.run_id, "another writer was in the way; trying again");
                tokio::time::sleep(Duration::from_millis(50 << attempt)).await;
            }
            ended => return ended,
        }
    }
    Ok(Applied::Moved)
}

async fn once(store: &Store, tenant: TenantId, applying: &Applying<'_>) -> Result<Applied, NoScene> {
    let began = Instant::now();
    let mut tx = store.tenant(tenant).await?;
    // From here on nobody else changes this lot, nor decides about its runs.
    let version = tx.lock_inventory().await? + 1;
    let mut run = match applying.fence {
        Fence::Rollback { to, actor } => repeat(&mut tx, to, actor).await?,
        Fence::Job(_) | Fence::Approval { .. } => {
            tx.lock_run(applying.run_id).await?.ok_or(NoScene::NoRun)?
        }
    };
    let wanted = match applying.fence {
        Fence::Job(_) => RunState::Checked,
        Fence::Approval { .. } => RunState::Held,
        Fence::Rollback { .. } => RunState::Received,
    };
    if run.state != wanted {
        return Ok(Applied::NotWaiting(run.state));
    }
    let scene = Arc::new(Scene::load(&mut tx).await?);
    let Some(known) = scene.sources.get(&applying.source) else { return Err(NoScene::NoSource) };
    let last = compare::latest_good(&mut tx, applying.source).await?;
    if compare::lot_of(last.as_ref()) != applying.base {
        return Ok(Applied::Moved);
    }
    let last_full = match &last {
        Some(last) if last.mode == "full" => Some(last.clone()),
        Some(_) => tx.last_good_run(applying.source).await?,
        None => None,
    };
    let anew;
    let compared = match applying.compared {
        Some(known) if known.still_holds(&scene, applying.source, version - 1) => known,
        _ => {
            let is_first = last_full.is_none();
            anew = compare::compare(&mut tx, &scene, applying.source, &applying.trailer, is_first).await?;
            &anew
        }
    };
    let renders_anew = last
        .as_ref()
        .is_some_and(|last| !compare::is_current(&run::judgement(last), &scene, applying.source));

    let now = Utc::now();
    let said_at = run.generated_at.unwrap_or(run.received_at).min(now);
    let actor = applying.fence.actor().map(str::to_owned);
    let read_with = Some((known.row.revision, scene.row.revision));
    let diff = match applying.fence {
        Fence::Rollback { .. } => {
            compare::explain(&mut tx, applying.source, &compared.plan, applying.units).await?
        }
        // Examples that a person saw stay.
        _ => super::Difference { examples: run::difference(&run).examples, ..compared.plan.counts() },
    };
    let mut desk = Desk {
        tx: &mut tx,
        scene: Arc::clone(&scene),
        version,
        now,
        because: Because { source: Some(applying.source), run: Some(run.run_id), actor, said_at },
        virgin: compared.virgin,
        returning: compared.returning.clone(),
        written: Written::default(),
    };
    let nothing = compared.plan.is_empty();
    if !nothing {
        write_units(&mut desk, applying, run.run_id, &compared.plan).await?;
    }
    if renders_anew {
        desk.republish(compared.plan.same.clone(), &HashMap::new()).await?;
    }
    let written = std::mem::take(&mut desk.written);

    run.state = if nothing && !written.changes_the_lot() { RunState::Unchanged } else { RunState::Applied };
    if written.changes_the_lot() {
        tx.publish_inventory(version).await?;
        run.inventory_version = Some(version);
    }
    let mut judged = run::judgement(&run);
    judged.lot_of = match run.state {
        RunState::Unchanged => compare::lot_of(last.as_ref()).or(Some(run.run_id)),
        _ => Some(run.run_id),
    };
    judged.base = applying.base;
    judged.read_with = read_with;
    run.diff = run::json(&diff);
    findings::add_rendered(&mut tx, &mut run, &written).await?;
    if let Some(actor) = applying.fence.actor() {
        run.decided_at = Some(now);
        run.decided_by = Some(actor.to_owned());
        let kind = if run.of_run.is_some() { "run_rolled_back" } else { "run_approved" };
        tell::decided(&mut tx, &known.row.name, &run, kind, actor).await?;
    }
    good(&mut tx, &scene, &mut run, judged, said_at, now, began).await?;
    tell::applied(&mut tx, &scene, &run, &written).await?;
    if let Fence::Job(job) = applying.fence
        && !tx.finish_job(job).await?
    {
        return Ok(Applied::LostLease);
    }
    tx.commit().await?;
    counters::applied(written.listings, written.removed, run::since(began));
    counters::ended(run.state);
    tracing::info!(
        %tenant, source = %applying.source, run = %run.run_id, state = %run.state, cause = run.cause,
        version = run.inventory_version, added = diff.added, changed = diff.changed,
        removed = diff.removed, same = diff.same, written = written.listings,
        took_ms = run::since(began), "a feed was applied"
    );
    Ok(Applied::Done { run_id: run.run_id, state: run.state, version: run.inventory_version })
}

/// A run that repeats another one, by the units that were read then.
async fn repeat(tx: &mut TenantTx, to: &RunRow, actor: &str) -> Result<RunRow, store::Error> {
    let new = NewRun {
        source_id: to.source_id,
        mode: &to.mode,
        cause: "rollback",
        actor,
        of_run: Some(to.run_id),
        file_id: to.file_id,
        file_name: &to.file_name,
        file_bytes: to.file_bytes,
        units_file_id: to.units_file_id,
        idempotency_key: None,
        received_at: Utc::now(),
    };
    let made = tx.insert_run(&new).await?;
    Ok(RunRow {
        started_at: Some(made.received_at),
        generated_at: to.generated_at,
        detected: to.detected.clone(),
        signature: to.signature.clone(),
        counts: to.counts.clone(),
        by_rooftop: to.by_rooftop.clone(),
        by_code: to.by_code.clone(),
        ..made
    })
}

/// Writes down that a run ended well: its state must be what it ended as.
pub(super) async fn good(
    tx: &mut TenantTx,
    scene: &Scene,
    run: &mut RunRow,
    judged: Judgement,
    said_at: DateTime<Utc>,
    now: DateTime<Utc>,
    began: Instant,
) -> Result<(), NoScene> {
    run.finished_at = Some(now);
    run.verdict = run::json(&judged);
    let mut timings: Timings = run::read(run.timings.as_ref());
    timings.applied_ms = run::since(began);
    run.timings = run::json(&timings);
    tx.save_run(run).await?;
    let signature = (run::mode(run) == Mode::Full).then_some(run.signature.as_ref()).flatten();
    tx.note_good(run.source_id, said_at, signature).await?;
    let mut scene = scene.clone();
    if let Some(known) = scene.sources.get_mut(&run.source_id) {
        known.row.last_good_at = known.row.last_good_at.max(Some(said_at));
    }
    let (confirmed_at, fresh_until) = scene.freshness();
    tx.set_freshness(confirmed_at, fresh_until).await?;
    // What waited is older than what the source has said now.
    for mut held in tx.held_runs(run.source_id).await? {
        if held.run_id == run.run_id || held.received_at > run.received_at {
            continue;
        }
        held.state = RunState::Superseded;
        held.finished_at = Some(now);
        held.failure = Some("a later file of the source is good".to_owned());
        tx.save_run(&held).await?;
        tx.resolve_run_notices(held.run_id, None).await?;
        counters::ended(RunState::Superseded);
    }
    tell::good(tx, run).await
}

/// Units of a file that are written, as they are read from it.
struct Batch {
    ids: Vec<String>,
    fresh: Vec<Fresh>,
    rows: Vec<SourceUnitRow>,
}

/// Writes what the source says now, and the listings that follow from it.
async fn write_units(
    desk: &mut Desk<'_>,
    applying: &Applying<'_>,
    run: Uuid,
    plan: &Plan,
) -> Result<(), NoScene> {
    for (name, vehicle_id) in &plan.aliases {
        desk.tx.add_alias(name, vehicle_id).await?;
    }
    let reasons: HashMap<String, &'static str> =
        plan.removed.iter().cloned().chain(plan.replaced.iter().map(|id| (id.clone(), "feed"))).collect();
    let gone: Vec<&str> = plan.removed.iter().map(|(id, _)| id.as_str()).collect();
    for chunk in gone.chunks(CHUNK) {
        desk.tx.delete_units(applying.source, chunk).await?;
    }
    // Before the others: one of them may take over a number of one that left.
    let mut leaving: Vec<String> = reasons.keys().cloned().collect();
    leaving.sort_unstable();
    desk.republish(leaving, &reasons).await?;

    let (to, mut batches) = mpsc::channel(1);
    let (file, trailer) = (applying.units.clone(), Arc::clone(&applying.trailer));
    let (written, source) = (plan.written.clone(), applying.source);
    let reading =
        tokio::task::spawn_blocking(move || read_batches(&file, &trailer, &written, source, run, &to));
    let mut pending: Option<Pending> = None;
    while let Some(batch) = batches.recv().await {
        let Batch { ids, fresh, rows } = batch;
        let next = desk.begin(ids, fresh).await?;
        desk.tx.upsert_units(applying.source, run, &rows).await?;
        drop(rows);
        if let Some(before) = pending.replace(next) {
            desk.finish(before, &reasons).await?;
        }
    }
    if let Some(last) = pending {
        desk.finish(last, &reasons).await?;
    }
    match reading.await {
        Ok(Ok(count)) if count == plan.written.len() => Ok(()),
        _ => Err(NoScene::Units),
    }
}

/// Reads the units that are written, batch by batch; answers how many there were.
fn read_batches(
    file: &Spooled,
    trailer: &Trailer,
    written: &HashMap<u32, (String, bool)>,
    source: Uuid,
    run: Uuid,
    to: &mpsc::Sender<Batch>,
) -> std::io::Result<usize> {
    let hashes: HashMap<u32, [u8; 32]> = trailer
        .briefs
        .iter()
        .filter(|brief| written.contains_key(&brief.row))
        .map(|brief| (brief.row, brief.hash))
        .collect();
    let empty = || Batch { ids: Vec::new(), fresh: Vec::new(), rows: Vec::new() };
    let (mut batch, mut bytes, mut count) = (empty(), 0, 0);
    let mut units = Units::of(file);
    while count < written.len()
        && let Some(unit) = units.next(|row| written.contains_key(&row))?
    {
        let (Some((id, _)), Some(hash)) = (written.get(&unit.source_row), hashes.get(&unit.source_row))
        else {
            continue;
        };
        let row = row_of(id, &unit, *hash, source, run)?;
        count += 1;
        bytes += row.unit.len();
        batch.rows.push(row);
        batch.ids.push(id.clone());
        batch.fresh.push(Fresh { vehicle_id: id.clone(), unit });
        if batch.ids.len() == CHUNK || bytes > CHUNK_BYTES {
            bytes = 0;
            if to.blocking_send(std::mem::replace(&mut batch, empty())).is_err() {
                return Ok(count);
            }
        }
    }
    if !batch.ids.is_empty() && to.blocking_send(batch).is_err() {
        return Ok(count);
    }
    Ok(count)
}

fn row_of(
    vehicle_id: &str,
    unit: &Unit,
    hash: [u8; 32],
    source_id: Uuid,
    run_id: Uuid,
) -> std::io::Result<SourceUnitRow> {
    Ok(SourceUnitRow {
        source_id,
        vehicle_id: vehicle_id.to_owned(),
        vin: unit.vin.clone(),
        stock: unit.stock.clone(),
        rooftop_key: unit.rooftop_key.clone(),
        price: unit.asking_price,
        hash,
        run_id,
        source_row: i32::try_from(unit.source_row).unwrap_or(i32::MAX),
        unit: serde_json::to_string(unit)?,
    })
}
