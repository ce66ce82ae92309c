//! Going back to an older file, and giving up a source.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::Utc;
use store::{RunRow, RunState, Store, TenantId, TenantTx};
use uuid::Uuid;

use super::apply::{self, Applied, Applying, Fence};
use super::compare;
use super::decide::DecideError;
use super::difference::Difference;
use super::process::{Bench, read_trailer, stored_units};
use super::run;
use super::scene::{NoScene, Scene};
use super::write::{Because, Desk, Written};

/// What going back to a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledBack {
    /// The new run that repeats the older one.
    pub run_id: Uuid,
    /// [`RunState::Applied`], or [`RunState::Unchanged`] where the source says just that already.
    pub state: RunState,
    /// The inventory version that it made.
    pub version: Option<u64>,
    /// What it changed.
    pub difference: Difference,
}

/// What going back to a run would change.
///
/// # Errors
/// [`DecideError`]: there is no such run, or it cannot be gone back to.
pub async fn rollback_preview(
    store: &Store,
    tenant: TenantId,
    to_run: Uuid,
    bench: &Bench,
) -> Result<Difference, DecideError> {
    let to = kept(store, tenant, to_run).await?;
    let units = stored_units(store, tenant, &to, bench).await?;
    let trailer = read_trailer(&units).await?;
    let mut tx = store.tenant_snapshot(tenant).await?;
    let scene = Scene::load(&mut tx).await?;
    let compared = compare::compare(&mut tx, &scene, to.source_id, &trailer, false).await?;
    Ok(compare::explain(&mut tx, to.source_id, &compared.plan, &units).await?)
}

/// Goes back to an older run: another run is made that applies the units which were read then. The guard is not asked.
///
/// # Errors
/// [`DecideError`]: there is no such run, or it cannot be gone back to.
pub async fn rollback(
    store: &Store,
    tenant: TenantId,
    to_run: Uuid,
    actor: &str,
    bench: &Bench,
) -> Result<RolledBack, DecideError> {
    let to = kept(store, tenant, to_run).await?;
    let units = stored_units(store, tenant, &to, bench).await?;
    let trailer = Arc::new(read_trailer(&units).await?);
    for _ in 0..5 {
        let mut tx = store.tenant(tenant).await?;
        let last = compare::latest_good(&mut tx, to.source_id).await?;
        drop(tx);
        let applying = Applying {
            run_id: to.run_id,
            source: to.source_id,
            units: &units,
            trailer: Arc::clone(&trailer),
            base: compare::lot_of(last.as_ref()),
            compared: None,
            fence: Fence::Rollback { to: &to, actor },
        };
        if let Applied::Done { run_id, state, version } = apply::apply(store, tenant, &applying).await? {
            let mut tx = store.tenant(tenant).await?;
            let run = tx.run(run_id).await?.ok_or(DecideError::NoRun)?;
            return Ok(RolledBack { run_id, state, version, difference: run::difference(&run) });
        }
    }
    Err(DecideError::Impossible("the source changes faster than it can be gone back".into()))
}

/// A run that can be gone back to: a whole lot that was on offer.
async fn kept(store: &Store, tenant: TenantId, run_id: Uuid) -> Result<RunRow, DecideError> {
    let mut tx = store.tenant(tenant).await?;
    let run = tx.run(run_id).await?.ok_or(DecideError::NoRun)?;
    if !run.state.is_good() {
        return Err(DecideError::State(run.state));
    }
    if run.mode != "full" {
        let why = "the run brought changes only, which is no lot to go back to";
        return Err(DecideError::Impossible(why.into()));
    }
    Ok(run)
}

/// What giving up a source did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceRemoved {
    /// Units that it had.
    pub units: u64,
    /// Those of them that are not on offer any more.
    pub removed: u64,
    /// The inventory version that it made.
    pub version: Option<u64>,
}

/// Gives up a source. Its units leave unless another source has them; with `keep` they stay on offer as they are,
/// until the first whole lot of another source replaces them.
///
/// # Errors
/// [`DecideError`]: there is no such source, or the database refused.
pub async fn remove_source(
    store: &Store,
    tenant: TenantId,
    source: Uuid,
    actor: &str,
    keep: bool,
) -> Result<SourceRemoved, DecideError> {
    let mut tx = store.tenant(tenant).await?;
    let version = tx.lock_inventory().await? + 1;
    let mut scene = Scene::load(&mut tx).await?;
    let Some(known) = scene.sources.remove(&source) else {
        return Err(DecideError::Impossible("there is no such source".into()));
    };
    let now = Utc::now();
    let mut ids: Vec<String> = tx.unit_hashes(source).await?.into_keys().collect();
    ids.sort_unstable();
    let units = tx.delete_units(source, &ids).await?;
    let reasons: HashMap<String, &'static str> =
        if keep { HashMap::new() } else { ids.iter().map(|id| (id.clone(), "feed")).collect() };
    let because = Because { source: Some(source), run: None, actor: Some(actor.to_owned()), said_at: now };
    let written = write(&mut tx, scene.clone(), version, because, ids, &reasons).await?;
    for mut open in tx.open_runs(Some(source)).await? {
        open.state = RunState::Superseded;
        open.finished_at = Some(now);
        open.failure = Some("the source was removed".to_owned());
        tx.save_run(&open).await?;
        tx.resolve_run_notices(open.run_id, None).await?;
    }
    for kind in ["run_failed", "source_silent", "price_meaning_unanswered", "drop_noted"] {
        tx.resolve_notices(kind, Some(source)).await?;
    }
    tx.delete_source(source).await?;
    let (confirmed_at, fresh_until) = scene.freshness();
    tx.set_freshness(confirmed_at, fresh_until).await?;
    tx.commit().await?;
    tracing::info!(
        %tenant, %source, name = known.row.name, actor, units, removed = written.removed, "a source was removed"
    );
    let version = written.changes_the_lot().then_some(version);
    Ok(SourceRemoved { units, removed: written.removed, version })
}

/// Renders units anew, in a transaction of the caller's, who commits it: after an edit, or when what is known of the
/// dealer or its sources has changed. `ids` are the units; `None`: all that sources have. Answers the inventory version
/// where buyers see something else now.
///
/// # Errors
/// [`DecideError`]: the database refused, or settings cannot be understood.
pub async fn republish(
    tx: &mut TenantTx,
    ids: Option<Vec<String>>,
    actor: Option<&str>,
) -> Result<Option<u64>, DecideError> {
    let version = tx.lock_inventory().await? + 1;
    let scene = Scene::load(tx).await?;
    let ids = match ids {
        Some(ids) => ids,
        None => {
            let mut all = std::collections::BTreeSet::new();
            for source in scene.sources.keys() {
                all.extend(tx.unit_hashes(*source).await?.into_keys());
            }
            all.into_iter().collect()
        }
    };
    let because = Because { source: None, run: None, actor: actor.map(str::to_owned), said_at: Utc::now() };
    let written = write(tx, scene, version, because, ids, &HashMap::new()).await?;
    Ok(written.changes_the_lot().then_some(version))
}

/// Renders and publishes units of which no file says anything new.
async fn write(
    tx: &mut TenantTx,
    scene: Scene,
    version: u64,
    because: Because,
    ids: Vec<String>,
    reasons: &HashMap<String, &'static str>,
) -> Result<Written, NoScene> {
    let mut desk = Desk {
        tx,
        scene: Arc::new(scene),
        version,
        now: Utc::now(),
        because,
        virgin: false,
        returning: None,
        written: Written::default(),
    };
    desk.republish(ids, reasons).await?;
    let written = std::mem::take(&mut desk.written);
    if written.changes_the_lot() {
        tx.publish_inventory(version).await?;
    }
    Ok(written)
}
