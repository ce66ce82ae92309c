//! `forecourt feed import`: a file by hand, seen through to what came of it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use dealer::feeds::{self, Bench, HEAVY_WEIGHT, IMPORT_JOB, Mode, ReceiveError, Received};
use futures_util::{Stream, StreamExt, stream};
use store::{Job, RunRow, RunState, SourceKind, SourceRow, Store, TenantId};
use tokio::io::AsyncReadExt;
use uuid::Uuid;

use super::progress::Progress;
use super::{Trouble, dealer, on_data, quoted, source, words};
use crate::failure::{FAILED, Failure, UNUSABLE, chain, io_reason};
use crate::output::{harmless, say};
use crate::settings::Settings;

/// What a dealer's first source is called.
const FIRST: &str = "import";
/// Exit status for a file that waits for a person.
const HELD: u8 = 3;
/// How long workers may take to begin before this process does the work.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Between two looks at a run.
const LOOK: Duration = Duration::from_millis(200);
/// How long a job stays this process's without a sign of life.
const LEASE: Duration = Duration::from_secs(60);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// What is to be imported.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// For which dealer.
    pub(crate) dealer: String,
    /// Which file.
    pub(crate) file: PathBuf,
    /// Of which source.
    pub(crate) source: Option<String>,
    /// It holds changes only.
    pub(crate) delta: bool,
    /// See it through.
    pub(crate) wait: bool,
    /// Tell of it in JSON.
    pub(crate) json: bool,
    /// Who does so.
    pub(crate) by: String,
}

/// Imports it.
///
/// # Errors
/// Status 2 where the file cannot be read.
pub(crate) fn run(settings: &Settings, wanted: Wanted) -> Result<ExitCode, Failure> {
    // Before the database is touched.
    let bytes = readable(&wanted.file)?;
    on_data(settings, "forecourt feed import", |store| async move {
        import(settings, &store, &wanted, bytes).await
    })
}

fn readable(file: &Path) -> Result<u64, Failure> {
    let unreadable = |reason: String| {
        Failure::new(format!("{} cannot be read: {reason}", file.display())).status(UNUSABLE)
    };
    let facts = std::fs::metadata(file).map_err(|error| unreadable(io_reason(&error)))?;
    if !facts.is_file() {
        return Err(unreadable("it is no file".to_owned()));
    }
    std::fs::File::open(file).map_err(|error| unreadable(io_reason(&error)))?;
    Ok(facts.len())
}

async fn import(
    settings: &Settings,
    store: &Store,
    wanted: &Wanted,
    bytes: u64,
) -> Result<ExitCode, Trouble> {
    let slug = &wanted.dealer;
    let tenant = dealer(store, slug).await?;
    let source = source_of(store, tenant, wanted).await?;
    let name = wanted.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut received = Received::new(name, "import", &wanted.by);
    received.mode = wanted.delta.then_some(Mode::Delta);
    received.announced = Some(bytes);
    let mut progress = Progress::on_terminal(bytes);
    let mut sent = 0;
    let body = pieces(&wanted.file).await?.inspect(|piece| {
        sent += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        progress.at(sent, 0);
    });
    let receipt = feeds::receive(store, tenant, &source, received, Box::pin(body)).await;
    progress.clear();
    let receipt = receipt.map_err(not_received)?;
    let id = receipt.run_id;
    if !wanted.wait {
        if wanted.json {
            say(serde_json::json!({ "run_id": id, "state": receipt.state.as_str() }));
        } else {
            say(format_args!("run {id}: received; a worker carries it out"));
            eprintln!("See what came of it with: forecourt feed show {id}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let run = see_through(settings, store, tenant, id, bytes).await?;
    if wanted.json {
        say(harmless(&feeds::run_document_for_dealer(&run, Some(&source.name)).to_string()));
    } else {
        words::outcome(&run, &source.name).iter().for_each(say);
        if run.by_code.as_ref().and_then(|by_code| by_code.as_object()).is_some_and(|found| !found.is_empty())
        {
            eprintln!("What was found, row by row: forecourt feed show {id} --findings all");
        }
    }
    source::lacks(slug, &source);
    Ok(match run.state {
        RunState::Held => ExitCode::from(HELD),
        state if state.is_good() => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

/// The source that the file is of. The first file of a dealer makes one: a dealer with sources has to say which, for
/// two that bring whole lots add up.
async fn source_of(store: &Store, tenant: TenantId, wanted: &Wanted) -> Result<SourceRow, Trouble> {
    let slug = &wanted.dealer;
    let mut tx = store.tenant(tenant).await?;
    let mut sources = tx.sources().await?;
    drop(tx);
    if sources.is_empty() {
        let name = wanted.source.as_deref().unwrap_or(FIRST);
        let settings = feeds::SourceSettings::default();
        let made = feeds::add_source(store, tenant, name, SourceKind::File, settings, &wanted.by).await;
        let made = made.map_err(source::unset)?;
        eprintln!("{slug} had no sources; it has {name:?} now, of kind file.");
        return Ok(made);
    }
    let Some(name) = &wanted.source else {
        sources.retain(|source| source.kind == SourceKind::File);
        return match (sources.pop(), sources.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(Failure::new(format!("{slug} has no source of kind file"))
                .advise("say which source the file is of with --source NAME")
                .advise(format!("`forecourt feed source list {slug}` shows them"))
                .status(UNUSABLE)
                .into()),
            _ => Err(Failure::new(format!("{slug} has several sources of kind file"))
                .advise("say which one the file is of with --source NAME")
                .advise(format!("`forecourt feed source list {slug}` shows them"))
                .status(UNUSABLE)
                .into()),
        };
    };
    let folded = name.to_lowercase();
    match sources.into_iter().find(|source| source.name.to_lowercase() == folded) {
        Some(found) => Ok(found),
        None => Err(Failure::new(format!("{slug} has no source {name:?}"))
            .advise(format!("`forecourt feed source list {slug}` shows those it has"))
            .advise(format!(
                "another one adds its vehicles to theirs; if that is meant: forecourt feed source add {slug} {}",
                quoted(name)
            ))
            .status(UNUSABLE)
            .into()),
    }
}

async fn pieces(file: &Path) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + use<>, Failure> {
    let opened = tokio::fs::File::open(file).await.map_err(|error| {
        Failure::new(format!("{} cannot be read: {}", file.display(), io_reason(&error))).status(UNUSABLE)
    })?;
    Ok(stream::try_unfold(opened, |mut file| async move {
        let mut piece = vec![0; PIECE];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| (Bytes::from(piece), file)))
    }))
}

fn not_received(error: ReceiveError) -> Trouble {
    match error {
        ReceiveError::Store(error) => error.into(),
        ReceiveError::TooLarge { .. } => Failure::new(error.to_string())
            .advise("what a source may send at most is its setting /limits/file_bytes, up to 1 GiB")
            .status(UNUSABLE)
            .into(),
        other => Failure::new(chain(&other)).into(),
    }
}

/// Waits for the end of a run. Where no worker is at work on anything, this process takes it up.
async fn see_through(
    settings: &Settings,
    store: &Store,
    tenant: TenantId,
    id: Uuid,
    bytes: u64,
) -> Result<RunRow, Trouble> {
    let owner = format!("import-{}-{}", std::process::id(), Uuid::new_v4().simple());
    let began = Instant::now();
    loop {
        let mut tx = store.tenant(tenant).await?;
        let run = tx.run(id).await?;
        drop(tx);
        let run = run.ok_or_else(|| Failure::new(format!("the run {id} is not there any more")))?;
        if run.state.is_end() || run.state == RunState::Held {
            return Ok(run);
        }
        if began.elapsed() >= PATIENCE && nobody_works(store).await? {
            // It may be another one, which comes before ours in its lane or its dealer's turn.
            if let Some(job) = store.claim_job(&[IMPORT_JOB], &owner, LEASE, HEAVY_WEIGHT).await? {
                carry_out(settings, store, &job, bytes).await?;
                continue;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn nobody_works(store: &Store) -> Result<bool, store::Error> {
    let mut tx = store.platform().await?;
    let jobs = tx.job_counts().await?;
    tx.commit().await?;
    Ok(jobs.running == 0)
}

/// Does a job, and keeps it meanwhile.
async fn carry_out(settings: &Settings, store: &Store, job: &Job, bytes: u64) -> Result<(), Trouble> {
    let run = job.payload.get("run").and_then(|run| run.as_str()).and_then(|run| run.parse::<Uuid>().ok());
    let (Some(run), Some(tenant)) = (run, job.tenant) else {
        store.give_up_job(job, "it names no run").await?;
        return Ok(());
    };
    let spool = settings.data_dir.join("spool");
    let spool = if std::fs::create_dir_all(&spool).is_ok() { spool } else { std::env::temp_dir() };
    let bench = Bench { spool, ..Bench::default() };
    let mut progress = Progress::on_terminal(bytes);
    let mut beat = Instant::now();
    let mut work = std::pin::pin!(feeds::process(store, tenant, run, job, &bench));
    let done = loop {
        match tokio::time::timeout(LOOK, work.as_mut()).await {
            Ok(done) => break done,
            Err(_) => {
                progress.at(
                    bench.progress.bytes.load(Ordering::Relaxed),
                    bench.progress.records.load(Ordering::Relaxed),
                );
                if beat.elapsed() > LEASE / 4 {
                    beat = Instant::now();
                    if !store.heartbeat(job, LEASE).await? {
                        break Err(feeds::ProcessError::LostLease);
                    }
                }
            }
        }
    };
    progress.clear();
    match done {
        Ok(_) | Err(feeds::ProcessError::LostLease | feeds::ProcessError::NoRun) => Ok(()),
        Err(error) => {
            tracing::warn!(%run, error = chain(&error), "a try failed; there may be others");
            store.retry_job(job, None, &chain(&error)).await?;
            Ok(())
        }
    }
}
