//! Approving and rejecting runs that the guard held. Approval applies exactly what was shown.

use std::sync::Arc;

use chrono::Utc;
use store::{RunRow, RunState, Store, TenantId};
use uuid::Uuid;

use super::apply::{self, Applied, Applying, Fence};
use super::compare;
use super::counters;
use super::difference::Difference;
use super::process::{Bench, Ended, read_trailer, stored_units};
use super::reading::Trouble;
use super::run;
use super::scene::{NoScene, Scene};
use super::tell;

/// Why a decision was not carried out. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// The dealer has no such run.
    #[error("there is no such run")]
    NoRun,
    /// The run is not in a state in which this can be decided about it.
    #[error("the run is {0}")]
    State(RunState),
    /// The source was heard from since the run was looked at: approving it now would do this instead. Whoever wants
    /// that approves it again.
    #[error("the lot has changed since the run was held; look at what it would change now")]
    Changed(Box<Difference>),
    /// It cannot be done; the reason.
    #[error("{0}")]
    Impossible(String),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<NoScene> for DecideError {
    fn from(error: NoScene) -> Self {
        match error {
            NoScene::Store(error) => Self::Store(error),
            NoScene::NoRun => Self::NoRun,
            other => Self::Impossible(other.to_string()),
        }
    }
}

impl From<Trouble> for DecideError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Store(error) => Self::Store(error),
            other => Self::Impossible(other.to_string()),
        }
    }
}

/// Applies a held run: exactly the units that were read when it was held.
///
/// # Errors
/// [`DecideError::Changed`] where the source has been heard from since; the run then shows what it would change now.
pub async fn approve(
    store: &Store,
    tenant: TenantId,
    run_id: Uuid,
    actor: &str,
    bench: &Bench,
) -> Result<Ended, DecideError> {
    let run = held(store, tenant, run_id).await?;
    let units = stored_units(store, tenant, &run, bench).await?;
    let trailer = Arc::new(read_trailer(&units).await?);
    let applying = Applying {
        run_id,
        source: run.source_id,
        units: &units,
        trailer: Arc::clone(&trailer),
        base: run::judgement(&run).base,
        compared: None,
        fence: Fence::Approval { actor },
    };
    match apply::apply(store, tenant, &applying).await? {
        Applied::Done { state, version, .. } => Ok(Ended { state, version }),
        Applied::NotWaiting(state) => Err(DecideError::State(state)),
        Applied::LostLease => Err(DecideError::State(run.state)),
        Applied::Moved => {
            let mut tx = store.tenant(tenant).await?;
            tx.lock_inventory().await?;
            let mut run = tx.lock_run(run_id).await?.ok_or(DecideError::NoRun)?;
            if run.state != RunState::Held {
                return Err(DecideError::State(run.state));
            }
            let scene = Scene::load(&mut tx).await?;
            let last = compare::latest_good(&mut tx, run.source_id).await?;
            let is_first = tx.last_good_run(run.source_id).await?.is_none();
            let compared = compare::compare(&mut tx, &scene, run.source_id, &trailer, is_first).await?;
            let difference = compare::explain(&mut tx, run.source_id, &compared.plan, &units).await?;
            let mut judged = run::judgement(&run);
            judged.base = compare::lot_of(last.as_ref());
            run.verdict = run::json(&judged);
            run.diff = run::json(&difference);
            tx.save_run(&run).await?;
            tx.commit().await?;
            Err(DecideError::Changed(Box::new(difference)))
        }
    }
}

async fn held(store: &Store, tenant: TenantId, run_id: Uuid) -> Result<RunRow, DecideError> {
    let mut tx = store.tenant(tenant).await?;
    let run = tx.run(run_id).await?.ok_or(DecideError::NoRun)?;
    if run.state == RunState::Held { Ok(run) } else { Err(DecideError::State(run.state)) }
}

/// Puts a held run aside for good. The lot stays as it is.
///
/// # Errors
/// [`DecideError`]: the run is not held.
pub async fn reject(
    store: &Store,
    tenant: TenantId,
    run_id: Uuid,
    actor: &str,
    reason: &str,
) -> Result<Ended, DecideError> {
    let mut tx = store.tenant(tenant).await?;
    let mut run = tx.lock_run(run_id).await?.ok_or(DecideError::NoRun)?;
    if run.state != RunState::Held {
        return Err(DecideError::State(run.state));
    }
    let now = Utc::now();
    run.state = RunState::Rejected;
    (run.decided_at, run.decided_by) = (Some(now), Some(actor.to_owned()));
    run.finished_at = Some(now);
    run.failure = Some(reason.trim()).filter(|reason| !reason.is_empty()).map(str::to_owned);
    tx.save_run(&run).await?;
    tx.resolve_run_notices(run_id, None).await?;
    let name = tx.source(run.source_id).await?.map_or_else(String::new, |source| source.name);
    tell::decided(&mut tx, &name, &run, "run_rejected", actor).await?;
    tx.commit().await?;
    counters::ended(RunState::Rejected);
    Ok(Ended { state: RunState::Rejected, version: None })
}
