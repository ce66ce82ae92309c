//! `forecourt feed approve|reject|rollback`: what people decide about runs.

use dealer::feeds::{self, Bench, DecideError};
use store::{RunRow, RunState, Store, TenantId};
use uuid::Uuid;

use super::{Trouble, confirmed, dealer, on_data, owner, source_named, time, words};
use crate::failure::Failure;
use crate::output::{printable, say};
use crate::settings::Settings;

/// Runs that are looked through for one to go back to.
const LOOKED_THROUGH: u32 = 200;

/// What is decided.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Apply it.
    Approve { run: Uuid, by: String },
    /// Put it aside.
    Reject { run: Uuid, reason: String, by: String },
    /// Go back to an earlier one.
    Rollback { dealer: String, source: String, to: Option<Uuid>, yes: bool, by: String },
}

/// Carries it out.
///
/// # Errors
/// The run is not there or not held, or the database refuses.
pub(crate) fn run(settings: &Settings, decision: Decision) -> Result<(), Failure> {
    let command = match decision {
        Decision::Approve { .. } => "forecourt feed approve",
        Decision::Reject { .. } => "forecourt feed reject",
        Decision::Rollback { .. } => "forecourt feed rollback",
    };
    on_data(settings, command, |store| async move {
        match decision {
            Decision::Approve { run, by } => approve(&store, run, &by).await,
            Decision::Reject { run, reason, by } => {
                let tenant = owner(&store, run).await?;
                feeds::reject(&store, tenant, run, &by, &reason)
                    .await
                    .map_err(|error| not_done(run, error))?;
                say(format_args!("run {run} is rejected; the vehicles on offer stay as they were"));
                Ok(())
            }
            Decision::Rollback { dealer: slug, source, to, yes, by } => {
                rollback(&store, (&slug, &source), to, yes, &by).await
            }
        }
    })
}

async fn approve(store: &Store, run: Uuid, by: &str) -> Result<(), Trouble> {
    let tenant = owner(store, run).await?;
    let ended = feeds::approve(store, tenant, run, by, &Bench::default()).await;
    let ended = ended.map_err(|error| not_done(run, error))?;
    match (ended.state, ended.version) {
        (RunState::Unchanged, _) => say(format_args!("run {run} is approved; it changes nothing any more")),
        (_, Some(version)) => say(format_args!("run {run} is applied, inventory version {version}")),
        (_, None) => say(format_args!("run {run} is applied; buyers see nothing else than before")),
    }
    let mut tx = store.tenant(tenant).await?;
    if let Some(row) = tx.run(run).await? {
        say(format_args!("  {}", words::changes(&feeds::difference(&row), "")));
    }
    Ok(())
}

async fn rollback(
    store: &Store,
    (slug, name): (&str, &str),
    to: Option<Uuid>,
    yes: bool,
    by: &str,
) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let source = source_named(store, tenant, slug, name).await?;
    let mut tx = store.tenant(tenant).await?;
    let runs = tx.runs(Some(source.source_id), LOOKED_THROUGH, None).await?;
    drop(tx);
    let to = match to {
        Some(id) => of_source(store, tenant, source.source_id, id).await?,
        None => before_last(&runs).cloned().ok_or_else(|| {
            Failure::new(format!("{:?} of {slug} has no earlier file to go back to", source.name))
                .advise(format!("`forecourt feed runs {slug}` shows what there is"))
        })?,
    };
    let id = to.run_id;
    let would = feeds::rollback_preview(store, tenant, id, &Bench::default()).await;
    let would = would.map_err(|error| not_done(id, error))?;
    eprintln!("Going back to run {id}, {} of {}:", printable(&to.file_name), time(to.received_at));
    if would.is_empty() {
        say("nothing is different; the source says just that now");
        return Ok(());
    }
    eprintln!("  {}", words::changes(&would, "would be "));
    words::examples(&would).iter().for_each(|line| eprintln!("{line}"));
    confirmed(yes, "Do it?")?;
    let done = feeds::rollback(store, tenant, id, by, &Bench::default()).await;
    let done = done.map_err(|error| not_done(id, error))?;
    match done.version {
        Some(version) => {
            say(format_args!("run {} goes back to it, inventory version {version}", done.run_id))
        }
        None => say(format_args!("run {} goes back to it; buyers see nothing else than before", done.run_id)),
    }
    say(format_args!("  {}", words::changes(&done.difference, "")));
    eprintln!("The next file of {:?} changes the lot again as it says.", source.name);
    Ok(())
}

async fn of_source(store: &Store, tenant: TenantId, source: Uuid, id: Uuid) -> Result<RunRow, Trouble> {
    let mut tx = store.tenant(tenant).await?;
    let found = tx.run(id).await?.filter(|run| run.source_id == source);
    found.ok_or_else(|| Failure::new(format!("the source has no run {id}")).into())
}

/// The whole lot that was on offer before the present one.
fn before_last(runs: &[RunRow]) -> Option<&RunRow> {
    let mut good = runs.iter().filter(|run| run.state == RunState::Applied && run.mode == "full");
    let last = good.next()?;
    // Going back twice goes back two files, and not to where one came from.
    let from = last.of_run.filter(|_| last.cause == "rollback");
    match from {
        None => good.next(),
        Some(from) => good.filter(|run| run.cause != "rollback").find(|run| run.run_id < from),
    }
}

fn not_done(run: Uuid, error: DecideError) -> Trouble {
    match error {
        DecideError::NoRun => Failure::new(format!("there is no run {run}")).into(),
        DecideError::State(state) => {
            Failure::new(format!("run {run} is {state}, so there is nothing to decide"))
                .advise(format!("`forecourt feed show {run}` tells its story"))
                .into()
        }
        DecideError::Changed(difference) => Failure::new(
            "the source was heard from since the run was held, so it would do something else now",
        )
        .advise(words::changes(&difference, "would be "))
        .advise(format!("look at it: forecourt feed show {run} --diff"))
        .advise(format!("if that is right, approve it again: forecourt feed approve {run}"))
        .into(),
        other => other.into(),
    }
}
