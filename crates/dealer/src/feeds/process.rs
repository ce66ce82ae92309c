//! Carrying out a run, from whatever state it is in: a worker that dies leaves nothing that the next one cannot take up.

mod doubts;
mod endings;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chrono::{TimeDelta, Utc};
use feeds::Finding;
use feeds::config::{Config, Mode};
use feeds::guard::{self, Verdict};
use feeds::outcome::Outcome;
use feeds::raw::Refused;
use store::{Job, RunRow, RunState, Store, TenantId, TenantTx};
use uuid::Uuid;

use super::apply::{self, Applied, Applying, Fence};
use super::compare::{self, Compared};
use super::counters;
use super::findings;
use super::reading::{self, Progress, ReadFile, Trouble};
use super::run::{self, Judgement, Timings, since};
use super::scene::{Known, NoScene, Scene};
use super::spool::{Named, Spooled};
use super::tell;
use super::units::{self, Trailer};

/// Where a worker does its work, and who looks on.
#[derive(Debug, Clone)]
pub struct Bench {
    /// Where large files are put while they are read. They have no name there and vanish with the process.
    pub spool: PathBuf,
    /// How far the reading is.
    pub progress: Arc<Progress>,
}

impl Default for Bench {
    fn default() -> Self {
        Self { spool: std::env::temp_dir(), progress: Arc::default() }
    }
}

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its state: an end, or [`RunState::Held`].
    pub state: RunState,
    /// The inventory version that it made.
    pub version: Option<u64>,
}

/// Why a run was not carried out. It is as it was, and can be tried again.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// Somebody else has the job by now.
    #[error("another worker has taken the run over")]
    LostLease,
    /// There is no such run.
    #[error("there is no such run")]
    NoRun,
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Something on this machine did.
    #[error("{0}")]
    Trouble(String),
}

impl From<Trouble> for ProcessError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Store(error) => Self::Store(error),
            other => Self::Trouble(other.to_string()),
        }
    }
}

/// A run that is being carried out.
struct Work<'w> {
    store: &'w Store,
    tenant: TenantId,
    job: &'w Job,
    bench: &'w Bench,
    run: RunRow,
    timings: Timings,
}

/// What a file came to, from reading it or from what was stored of that.
struct Parsed {
    outcome: Outcome,
    trailer: Arc<Trailer>,
    units: Spooled,
}

/// Carries out a run, up to an end or until it waits for a person, and ends its job with it. The caller renews the
/// lease meanwhile; where it is lost, nothing is written.
///
/// # Errors
/// [`ProcessError`]: the job goes on to be tried again.
pub async fn process(
    store: &Store,
    tenant: TenantId,
    run_id: Uuid,
    job: &Job,
    bench: &Bench,
) -> Result<Ended, ProcessError> {
    let mut tx = store.tenant(tenant).await?;
    let Some(mut run) = tx.run(run_id).await? else {
        tx.finish_job(job).await?;
        tx.commit().await?;
        return Err(ProcessError::NoRun);
    };
    if run.state.is_end() || run.state == RunState::Held {
        // Decided about meanwhile, or the worker before died between the end and hearing of it.
        let ended = Ended { state: run.state, version: run.inventory_version };
        tx.finish_job(job).await?;
        tx.commit().await?;
        return Ok(ended);
    }
    let mut timings: Timings = run::read(run.timings.as_ref());
    if run.started_at.is_none() {
        run.started_at = Some(Utc::now());
        let waited = (Utc::now() - run.received_at).num_milliseconds();
        timings.waited_ms = u64::try_from(waited).unwrap_or(0);
    }
    drop(tx);
    let mut work = Work { store, tenant, job, bench, run, timings };
    if job.is_exhausted() {
        let last = job.last_error.as_deref().unwrap_or("the worker died each time");
        let why = format!("given up after {} tries; the last one: {last}", job.max_attempts);
        return work.fail(&why, &[]).await;
    }
    match work.carry_out().await {
        Err(Stopped::Scene(NoScene::Store(error))) => Err(error.into()),
        Err(Stopped::Scene(NoScene::NoRun)) => Err(ProcessError::NoRun),
        // Nothing of this passes by itself.
        Err(Stopped::Scene(error)) => work.fail(&error.to_string(), &[]).await,
        Err(Stopped::Process(error)) => Err(error),
        Ok(ended) => Ok(ended),
    }
}

enum Stopped {
    Scene(NoScene),
    Process(ProcessError),
}

impl From<NoScene> for Stopped {
    fn from(error: NoScene) -> Self {
        Self::Scene(error)
    }
}

impl From<store::Error> for Stopped {
    fn from(error: store::Error) -> Self {
        Self::Process(error.into())
    }
}

impl From<Trouble> for Stopped {
    fn from(error: Trouble) -> Self {
        Self::Process(error.into())
    }
}

impl From<ProcessError> for Stopped {
    fn from(error: ProcessError) -> Self {
        Self::Process(error)
    }
}

impl Work<'_> {
    async fn carry_out(&mut self) -> Result<Ended, Stopped> {
        let parsed = match self.run.state {
            RunState::Received => match self.read().await? {
                Ok(parsed) => parsed,
                Err(ended) => return Ok(ended),
            },
            _ => self.take_up().await?,
        };
        // What a person or another run did in between is looked at again, a few times.
        for _ in 0..5 {
            let (base, compared) = match self.check(&parsed).await? {
                Checked::Ended(ended) => return Ok(ended),
                Checked::Apply { base, compared } => (base, compared),
            };
            let applying = Applying {
                run_id: self.run.run_id,
                source: self.run.source_id,
                units: &parsed.units,
                trailer: Arc::clone(&parsed.trailer),
                base,
                compared: Some(&compared),
                fence: Fence::Job(self.job),
            };
            match apply::apply(self.store, self.tenant, &applying).await? {
                Applied::Done { state, version, .. } => return Ok(Ended { state, version }),
                Applied::LostLease => return Err(ProcessError::LostLease.into()),
                Applied::NotWaiting(state) => return Ok(Ended { state, version: None }),
                Applied::Moved => {}
            }
        }
        Err(ProcessError::Trouble("the source changes faster than it can be applied".into()).into())
    }

    /// Reads the file, unless it is known already what comes of it.
    async fn read(&mut self) -> Result<Result<Parsed, Ended>, Stopped> {
        let mut tx = self.store.tenant(self.tenant).await?;
        let scene = Scene::load(&mut tx).await?;
        let Some(known) = scene.sources.get(&self.run.source_id).cloned() else {
            return Err(NoScene::NoSource.into());
        };
        let file = match self.run.file_id {
            Some(file) => tx.file(file).await?,
            None => None,
        };
        let Some(file) = file else {
            drop(tx);
            return Ok(Err(self.fail("the file is not kept any more", &[]).await?));
        };
        let last = compare::latest_good(&mut tx, self.run.source_id).await?;
        let judged = run::judgement(&self.run);
        if let Some(last) = &last
            && self.is_known(last, &judged, &scene)
        {
            return Ok(Err(self.confirm(tx, &scene, last.clone()).await?));
        }
        let last_full = tx.last_good_run(self.run.source_id).await?;
        let config = self.config(&mut tx, &scene, &known, last_full.as_ref()).await?;
        drop(tx);

        let began = Instant::now();
        let bytes = reading::fetch(self.store, self.tenant, &file, &self.bench.spool, true).await?;
        self.timings.fetched_ms = since(began);
        let began = Instant::now();
        let ends_in_break = doubts::ends_in_break(&bytes).map_err(Trouble::Io)?;
        let keep_until = Utc::now() + TimeDelta::days(i64::from(known.settings.keep_days));
        let named = Named { name: self.run.file_name.clone(), bytes };
        let read = reading::read(
            self.store,
            self.tenant,
            named,
            config,
            known.settings.limits(),
            &self.bench.progress,
            keep_until,
        );
        let read = match read.await? {
            Ok(read) => read,
            Err(Refused::File { code, what }) => {
                let finding = findings::about_file(code, &what);
                let why = code.sentence(&finding);
                return Ok(Err(self.fail(why.trim_end_matches('.'), &[finding]).await?));
            }
            Err(Refused::Io(error)) => return Err(Trouble::Io(error).into()),
        };
        self.timings.read_ms = since(began);
        Ok(Ok(self.store_parsed(read, &judged, ends_in_break).await?))
    }

    /// Whether the file is what the source has on the lot already, read as it would be read now.
    fn is_known(&self, last: &RunRow, judged: &Judgement, scene: &Scene) -> bool {
        last.file_id == self.run.file_id
            && last.mode == "full"
            && self.run.mode == "full"
            && judged.stopped.is_empty()
            && compare::is_current(&run::judgement(last), scene, self.run.source_id)
    }

    async fn config(
        &self,
        tx: &mut TenantTx,
        scene: &Scene,
        known: &Known,
        last_full: Option<&RunRow>,
    ) -> Result<Config, store::Error> {
        let mode = run::mode(&self.run);
        let (mut previous, mut vins) = (run::baseline(last_full, None, 0), None);
        if mode == Mode::Delta {
            let held = tx.unit_hashes(self.run.source_id).await?;
            // Files of changes have columns that those of whole lots lack.
            let last = compare::latest_good_of(tx, self.run.source_id, "delta").await?;
            previous = run::baseline(last.as_ref(), Some(0), held.len());
            vins = Some(held.into_values().filter_map(|key| key.vin.or(key.stock)).collect());
        }
        let config = known.settings.config(
            scene.today(Utc::now()),
            &scene.rooftops,
            scene.timezone.as_deref(),
            previous,
        );
        Ok(Config { mode, previous_active_vins: vins, ..config })
    }

    /// Writes down what the file came to.
    async fn store_parsed(
        &mut self,
        read: ReadFile,
        judged: &Judgement,
        ends_in_break: bool,
    ) -> Result<Parsed, Stopped> {
        let ReadFile { mut outcome, trailer, file, end, at_hand } = read;
        for code in &judged.stopped {
            if !outcome.stopped.contains(code) {
                outcome.stopped.push(*code);
                outcome
                    .findings
                    .add(findings::about_file(*code, "other than the announced number of bytes came"));
            }
        }
        let mut tx = self.store.tenant(self.tenant).await?;
        let file = tx.finish_file(file, &end).await?;
        let run = &mut self.run;
        run::note_outcome(run, &outcome);
        if outcome.delimiter.is_some() && outcome.detected.container.is_none() {
            let signature: run::Signature = run::read(run.signature.as_ref());
            run.signature = run::json(&run::Signature { ends_in_break: Some(ends_in_break), ..signature });
        }
        run.state = RunState::Parsed;
        run.units_file_id = Some(file.file_id);
        run.verdict = run::json(&Judgement { stopped: outcome.stopped.clone(), ..judged.clone() });
        run.timings = run::json(&self.timings);
        findings::store(&mut tx, run.run_id, outcome.findings.kept()).await?;
        save_open(&mut tx, run, &[RunState::Received]).await?;
        tx.commit().await?;
        counters::records(outcome.counts, &self.timings);
        let units = match at_hand {
            Some(units) => units,
            None => reading::fetch(self.store, self.tenant, &file, &self.bench.spool, false).await?,
        };
        Ok(Parsed { outcome, trailer: Arc::new(trailer), units })
    }

    /// What an earlier worker read.
    async fn take_up(&mut self) -> Result<Parsed, Stopped> {
        let began = Instant::now();
        let units = stored_units(self.store, self.tenant, &self.run, self.bench).await?;
        let trailer = read_trailer(&units).await?;
        self.timings.fetched_ms = since(began);
        let run = &self.run;
        let signature: run::Signature = run::read(run.signature.as_ref());
        let outcome = Outcome {
            detected: run::read(run.detected.as_ref()),
            counts: run::counts(run),
            by_rooftop: run::read(run.by_rooftop.as_ref()),
            deletes: if trailer.delta {
                trailer.gone.iter().map(units::Gone::excluded).collect()
            } else {
                Vec::new()
            },
            header: signature.header,
            delimiter: signature.delimiter,
            stopped: run::judgement(run).stopped,
            ..Outcome::default()
        };
        Ok(Parsed { outcome, trailer: Arc::new(trailer), units })
    }

    /// Compares and judges.
    async fn check(&mut self, parsed: &Parsed) -> Result<Checked, Stopped> {
        let began = Instant::now();
        let mut tx = self.store.tenant(self.tenant).await?;
        let scene = Scene::load(&mut tx).await?;
        let source = self.run.source_id;
        let Some(known) = scene.sources.get(&source) else { return Err(NoScene::NoSource.into()) };
        let last = compare::latest_good(&mut tx, source).await?;
        if last.as_ref().is_some_and(|last| doubts::is_older(&self.run, last)) {
            return Ok(Checked::Ended(self.too_late(tx, known).await?));
        }
        let last_full = tx.last_good_run(source).await?;
        let compared =
            compare::compare(&mut tx, &scene, source, &parsed.trailer, last_full.is_none()).await?;
        let mut config = self.config(&mut tx, &scene, known, last_full.as_ref()).await?;
        if last_full.is_none() && !parsed.trailer.delta {
            config.previous_full_run = run::baseline(None, compared.provisioned, compared.active);
        }
        let verdict = guard::judge(&parsed.outcome, &config, Some(&compared.plan.prices));
        let base = compare::lot_of(last.as_ref());
        let Verdict { mut hold, mut reasons, mut sentences, tell: told } = verdict;
        let more = [
            doubts::cut_short(&self.run, last_full.as_ref()),
            last.as_ref().and_then(|_| doubts::gone_from_the_lot(&compared, &known.settings, &self.run)),
        ];
        // What is held already has its reasons.
        for (code, sentence) in more.into_iter().flatten().filter(|_| reasons.is_empty()).collect::<Vec<_>>()
        {
            reasons.push(code);
            sentences.push(sentence);
            hold = true;
        }
        let sentence = |finding: &Finding| finding.code.sentence(finding);
        let judged = Judgement {
            hold,
            reasons,
            sentences,
            base,
            read_with: Some((known.row.revision, scene.row.revision)),
            told: told.iter().map(sentence).collect(),
            ..run::judgement(&self.run)
        };
        self.run.verdict = run::json(&judged);
        let difference = if hold {
            compare::explain(&mut tx, source, &compared.plan, &parsed.units).await?
        } else {
            compared.plan.counts()
        };
        self.run.diff = run::json(&difference);
        self.timings.checked_ms = since(began);
        self.run.timings = run::json(&self.timings);
        self.run.state = if hold { RunState::Held } else { RunState::Checked };
        save_open(&mut tx, &self.run, &[RunState::Parsed, RunState::Checked]).await?;
        if !hold {
            tx.commit().await?;
            return Ok(Checked::Apply { base, compared: Box::new(compared) });
        }
        tell::held(&mut tx, &known.row.name, &self.run).await?;
        if !tx.finish_job(self.job).await? {
            return Err(ProcessError::LostLease.into());
        }
        tx.commit().await?;
        counters::ended(RunState::Held);
        Ok(Checked::Ended(Ended { state: RunState::Held, version: None }))
    }
}

enum Checked {
    Ended(Ended),
    Apply { base: Option<Uuid>, compared: Box<Compared> },
}

/// Stores a run that nobody else has ended meanwhile.
async fn save_open(tx: &mut TenantTx, run: &RunRow, from: &[RunState]) -> Result<(), ProcessError> {
    match tx.lock_run(run.run_id).await? {
        Some(now) if from.contains(&now.state) => {
            tx.save_run(run).await?;
            Ok(())
        }
        Some(_) => Err(ProcessError::LostLease),
        None => Err(ProcessError::NoRun),
    }
}

/// The units file of a run.
pub(super) async fn stored_units(
    store: &Store,
    tenant: TenantId,
    run: &RunRow,
    bench: &Bench,
) -> Result<Spooled, Trouble> {
    let mut tx = store.tenant(tenant).await?;
    let file = match run.units_file_id {
        Some(file) => tx.file(file).await?,
        None => None,
    };
    drop(tx);
    let gone =
        || std::io::Error::new(std::io::ErrorKind::NotFound, "the units of the run are not kept any more");
    let file = file.ok_or_else(gone)?;
    reading::fetch(store, tenant, &file, &bench.spool, false).await
}

/// The trailer of a units file, read where reading may take a while.
pub(super) async fn read_trailer(units: &Spooled) -> Result<Trailer, Trouble> {
    let file = units.clone();
    let read = tokio::task::spawn_blocking(move || units::trailer(&file));
    Ok(read.await.map_err(|_| Trouble::Broken)??)
}
