//! `forecourt demo`: brings the demo dealers in as `forecourt provision` would, and their vehicles as `forecourt feed
//! import` would.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use dealer::Addresses;
use dealer::feeds::{
    self, Bench, DecideError, IMPORT_JOB, ProcessError, ReceiveError, Received, SourceSettings,
};
use dealer::provision::{self, Outcome};
use futures_util::future::try_join_all;
use futures_util::stream;
use store::{RunRow, RunState, SourceKind, SourceRow, Store, TenantId};
use uuid::Uuid;

use crate::commands::{fallback_addresses, open_store, run_once};
use crate::demo::{Feed, File};
use crate::failure::{Failure, chain};
use crate::output::say;
use crate::settings::Settings;

/// Who is named in the history of the demo dealers' cards, and as the one who imports their files.
const ACTOR: &str = "demo";
/// How long the job of a file stays this process's: they take far less.
const LEASE: Duration = Duration::from_secs(60);
/// How long a file may wait for another one of its dealer that somebody imports at this moment.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a run that a worker has taken.
const LOOK: Duration = Duration::from_millis(20);
/// A file is handed over in pieces of this size.
const PIECE: usize = 64 * 1024;
/// How often a file is approved again where the lot changed meanwhile.
const APPROVALS: usize = 3;

/// Loads the demo dealers and prints a line for each, and one for each file.
///
/// # Errors
/// The database refuses.
pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    let fallback = fallback_addresses(settings)?;
    run_once(settings, "forecourt demo", |database| async move {
        let store = open_store(&database, settings).await?;
        let loaded = load(&store, &fallback).await?;
        store.close().await;
        for (slug, outcome, runs) in loaded {
            let changed = runs.iter().any(|(_, run)| run.state == RunState::Applied);
            let outcome = if changed && outcome == Outcome::Unchanged { Outcome::Updated } else { outcome };
            say(format_args!("{slug}: {}", super::provision::word(outcome)));
            for (source, run) in runs {
                say(format_args!("  {source}: {}", words(&run)));
            }
        }
        Ok(())
    })
}

fn words(run: &RunRow) -> String {
    let name = &run.file_name;
    match run.state {
        RunState::Held => format!("{name} is held; see why with: forecourt feed show {}", run.run_id),
        RunState::Unchanged => format!("{name}, as before"),
        RunState::Applied => format!("{name}, {} vehicles", feeds::run_counts(run).published),
        other => format!("{name} is {other}"),
    }
}

/// A dealer, what became of its profile, and the newest runs of its sources.
pub(crate) type Loaded = (String, Outcome, Vec<(&'static str, RunRow)>);

/// Brings the demo dealers in; a second time changes nothing.
///
/// # Errors
/// The database refuses, or the generator made what the platform does not take.
pub(crate) async fn load(store: &Store, fallback: &Addresses) -> Result<Vec<Loaded>, Failure> {
    let addresses = provision::addresses(store, fallback).await.map_err(refused)?;
    let origin = addresses.origin.as_str();
    let (document, feeds) = crate::demo::with_feeds(origin);
    let document = provision::read(&document.to_string()).map_err(|error| Failure::new(chain(&error)))?;
    let mut provisioned = Vec::new();
    let mut failed = Vec::new();
    let done = |slug: &str, outcome| match outcome {
        Ok(outcome) => provisioned.push((slug.to_owned(), outcome)),
        Err(error) => failed.extend(super::provision::reasons(slug, &error)),
    };
    provision::apply(store, fallback, document, ACTOR, done).await.map_err(refused)?;
    if !failed.is_empty() {
        let mut failure = Failure::new("the demo dealers were not loaded");
        failure.advice = failed;
        return Err(failure);
    }
    provisioned.sort_by(|(a, _), (b, _)| a.cmp(b));
    // One file of a dealer after the other, in their order; the dealers do not wait for one another.
    try_join_all(provisioned.into_iter().map(async |(slug, outcome)| {
        let mut runs = Vec::new();
        for feed in feeds.iter().filter(|feed| feed.dealer == slug) {
            runs.extend(bring(store, feed, origin).await?.into_iter().map(|run| (feed.name, run)));
        }
        Ok((slug, outcome, runs))
    }))
    .await
}

fn refused(error: impl std::error::Error + 'static) -> Failure {
    Failure::new(format!("the demo dealers were not loaded: {}", chain(&error)))
}

/// Sees to it that a source is there and has brought its files; answers their runs. Nothing is done where somebody has
/// switched the source off, or while the doubtful file waits for somebody: another good one would take its place.
async fn bring(store: &Store, feed: &Feed, origin: &str) -> Result<Vec<RunRow>, Failure> {
    let mut tx = store.platform().await.map_err(refused)?;
    let tenant = tx.tenant_by_slug(feed.dealer).await.map_err(refused)?;
    drop(tx);
    let tenant = tenant.ok_or_else(|| Failure::new(format!("{} was removed meanwhile", feed.dealer)))?;
    let mut tx = store.tenant(tenant).await.map_err(refused)?;
    let source = tx.source_named(feed.name).await.map_err(refused)?;
    drop(tx);
    let source = match source {
        Some(source) => source,
        None => {
            let settings = SourceSettings::read(&feed.settings).map_err(Failure::new)?;
            feeds::add_source(store, tenant, feed.name, SourceKind::File, settings, ACTOR)
                .await
                .map_err(refused)?
        }
    };
    if !source.enabled {
        return Ok(Vec::new());
    }
    // What is in the file follows from the origin.
    let key = format!("demo {origin}");
    if feed.doubtful.is_some()
        && let Some(waiting) = waiting(store, tenant, &source, feed, &key).await?
    {
        return Ok(vec![waiting]);
    }
    let mut runs = Vec::new();
    let run = import(store, tenant, &source, &feed.file, None).await?;
    runs.extend(match run {
        Some(run) if run.state == RunState::Held => Some(approve(store, tenant, &run).await?),
        other => other,
    });
    if let Some(doubtful) = &feed.doubtful {
        runs.extend(import(store, tenant, &source, doubtful, Some(key)).await?);
    }
    // One that is superseded found a newer file of somebody's there, which stays.
    match runs.iter().find(|run| run.state == RunState::Failed) {
        Some(run) => Err(Failure::new(format!(
            "{} of {} did not come in: {}",
            run.file_name,
            feed.dealer,
            run.failure.as_deref().unwrap_or(run.state.as_str())
        ))),
        None => Ok(runs),
    }
}

/// The run of the doubtful file, while it is held and the good one before it is what it would be now.
async fn waiting(
    store: &Store,
    tenant: TenantId,
    source: &SourceRow,
    feed: &Feed,
    key: &str,
) -> Result<Option<RunRow>, Failure> {
    let mut tx = store.tenant(tenant).await.map_err(refused)?;
    let doubtful = tx.run_by_key(source.source_id, key).await.map_err(refused)?;
    let good = tx.last_good_run(source.source_id).await.map_err(refused)?;
    let same = good.is_some_and(|good| good.file_bytes == feed.file.bytes.len() as u64);
    Ok(doubtful.filter(|run| same && run.state == RunState::Held))
}

/// Receives a file and sees its run through. `None` where the key says that it came before.
async fn import(
    store: &Store,
    tenant: TenantId,
    source: &SourceRow,
    file: &File,
    key: Option<String>,
) -> Result<Option<RunRow>, Failure> {
    let mut received = Received::new(file.name, "import", ACTOR);
    received.idempotency_key = key;
    let pieces = file.bytes.chunks(PIECE).map(|piece| io::Result::Ok(Bytes::copy_from_slice(piece)));
    let pieces: Vec<_> = pieces.collect();
    let receipt = match feeds::receive(store, tenant, source, received, stream::iter(pieces)).await {
        Ok(receipt) if receipt.repeated => return Ok(None),
        // An older release made another file with this key.
        Err(ReceiveError::KeyUsed { .. }) => return Ok(None),
        receipt => receipt.map_err(refused)?,
    };
    see_through(store, tenant, receipt.run_id).await.map(Some)
}

/// Does the work of a worker until the run has come to an end or is held. Where there are workers, one of them may be
/// faster.
async fn see_through(store: &Store, tenant: TenantId, id: Uuid) -> Result<RunRow, Failure> {
    let owner = format!("demo-{}-{}", std::process::id(), id.simple());
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let mut tx = store.tenant(tenant).await.map_err(refused)?;
        let run = tx.run(id).await.map_err(refused)?;
        drop(tx);
        match run {
            None => return Err(Failure::new("a run of the demo dealers is gone")),
            Some(run) if run.state.is_end() || run.state == RunState::Held => return Ok(run),
            Some(_) => {}
        }
        // It may be that of another file, which is in turn before ours.
        let Some(job) = store.claim_job(&[IMPORT_JOB], &owner, LEASE, 1).await.map_err(refused)? else {
            tokio::time::sleep(LOOK).await;
            continue;
        };
        let run = job.payload.get("run").and_then(|run| run.as_str()).and_then(|run| run.parse().ok());
        let (Some(run), Some(tenant)) = (run, job.tenant) else {
            store.give_up_job(&job, "it names no run").await.map_err(refused)?;
            continue;
        };
        match feeds::process(store, tenant, run, &job, &Bench::default()).await {
            Ok(_) | Err(ProcessError::LostLease | ProcessError::NoRun) => {}
            Err(error) => {
                store.retry_job(&job, None, &chain(&error)).await.map_err(refused)?;
            }
        }
    }
    Err(Failure::new("the demo dealers were not loaded: another import is in the way")
        .advise("`forecourt feed runs` shows what is under way"))
}

/// The demo's own file makes the lot, whatever was there before it.
async fn approve(store: &Store, tenant: TenantId, run: &RunRow) -> Result<RunRow, Failure> {
    for _ in 0..APPROVALS {
        match feeds::approve(store, tenant, run.run_id, ACTOR, &Bench::default()).await {
            Ok(_) | Err(DecideError::State(_)) => break,
            Err(DecideError::Changed(_)) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    see_through(store, tenant, run.run_id).await
}
