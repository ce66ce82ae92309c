//! Takes jobs off the queue and sees each through: signs of life, panics, further tries, and giving them back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::Utc;
use store::{Job, NewJob};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tracing::Instrument;

use crate::context::Context;
use crate::jobs::{self, Done, Kind, Next, Pool, Trouble};
use crate::settings::backoff;

/// From this weight on a job is heavy. One place of a worker is never taken by heavy ones, so that a large import
/// leaves room for small ones.
const HEAVY: i32 = dealer::feeds::HEAVY_WEIGHT;
/// No job waits longer for another try, unless it says so itself.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// Giving jobs back may take so long, when a worker stops.
const GIVING_BACK: Duration = Duration::from_secs(5);

/// Tells the parts of a worker to come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Take jobs.
    Work,
    /// Take none; those that run may end.
    Drain,
    /// Give back what still runs.
    Stop,
}

/// Waits until the worker is that far, or gone.
pub(crate) async fn told(phase: &mut watch::Receiver<Phase>, to: Phase) {
    // What it answers locks the value, and must not be held.
    drop(phase.wait_for(|now| *now >= to).await);
}

/// Serves the kinds of one pool until it is told to stop, and all its jobs have ended or are given back.
pub(crate) async fn serve(context: Arc<Context>, pool: Pool, mut phase: watch::Receiver<Phase>) {
    let kinds = jobs::names(pool);
    let slots = match pool {
        Pool::Work => context.settings.slots,
        Pool::Foreign => context.settings.fetches,
    }
    .max(1);
    let mut running = JoinSet::new();
    let mut heavy = 0;
    let mut troubled = false;
    while *phase.borrow() == Phase::Work {
        while running.len() < slots && *phase.borrow() == Phase::Work {
            let most = if heavy < (slots - 1).max(1) { i32::MAX } else { HEAVY - 1 };
            let lease = context.settings.pace.lease;
            match context.store.claim_job(&kinds, &context.settings.name, lease, most).await {
                Ok(Some(job)) => {
                    let is_heavy = job.weight >= HEAVY;
                    heavy += usize::from(is_heavy);
                    let (context, phase) = (Arc::clone(&context), phase.clone());
                    running.spawn(async move {
                        see_through(context, Arc::new(job), phase).await;
                        is_heavy
                    });
                    troubled = false;
                }
                Ok(None) => {
                    troubled = false;
                    break;
                }
                Err(error) => {
                    // Said once, not with every look.
                    if !std::mem::replace(&mut troubled, true) {
                        tracing::warn!(%error, "the queue cannot be read; trying again");
                    }
                    break;
                }
            }
        }
        let room = running.len() < slots;
        tokio::select! {
            _ = phase.changed() => {}
            Some(ended) = running.join_next() => heavy -= usize::from(ended.unwrap_or_default()),
            () = context.stirred(pool), if room => {}
            () = sleep(context.settings.pace.poll), if room => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Does one job, or one try of it.
async fn see_through(context: Arc<Context>, job: Arc<Job>, phase: watch::Receiver<Phase>) {
    let Some(kind) = jobs::kind(&job.kind) else { return };
    let tenant = job.tenant.map(|tenant| tenant.to_string()).unwrap_or_default();
    let span = tracing::info_span!("job", kind = kind.name, tenant, job = job.job_no, attempt = job.attempts);
    async {
        let began = Instant::now();
        let outcome = attempt(&context, kind, &job, phase).await;
        context.meters.job(kind.name, outcome, began.elapsed());
    }
    .instrument(span)
    .await;
}

/// One try; how it went, in a word.
async fn attempt(
    context: &Arc<Context>,
    kind: &'static Kind,
    job: &Arc<Job>,
    phase: watch::Receiver<Phase>,
) -> &'static str {
    let trouble = if job.is_exhausted() && !kind.records_failure {
        let died = "every try ended without a word: the worker died over it";
        Trouble::lasting(job.last_error.as_deref().unwrap_or(died))
    } else {
        match watched(context, kind, job, phase).await {
            Watched::Ended(Ok(done)) => return finish(context, kind, job, done).await,
            Watched::Ended(Err(trouble)) => trouble,
            Watched::Lost => {
                tracing::warn!("the job belongs to another worker by now; this one's work on it is undone");
                return "lost";
            }
            Watched::GivenBack => {
                let given = timeout(GIVING_BACK, context.store.release_job(job)).await;
                if !matches!(given, Ok(Ok(_))) {
                    tracing::warn!("the job cannot be given back; it is free when its lease ends");
                }
                return "given_back";
            }
        }
    };
    after(context, kind, job, trouble).await
}

/// Ends a job that was done.
async fn finish(context: &Context, kind: &Kind, job: &Job, done: Done) -> &'static str {
    if done == Done::Finished {
        return "done";
    }
    match take_off(context, kind, job).await {
        Ok(true) => "done",
        Ok(false) => "lost",
        Err(error) => {
            // It is done again when its lease ends: every kind may be.
            tracing::warn!(%error, "a job is done and cannot be taken off the queue");
            "lost"
        }
    }
}

async fn take_off(context: &Context, kind: &Kind, job: &Job) -> Result<bool, store::Error> {
    if let Some(tenant) = job.tenant {
        let mut tx = context.store.tenant(tenant).await?;
        let ours = tx.finish_job(job).await?;
        tx.commit().await?;
        return Ok(ours);
    }
    let mut tx = context.store.platform().await?;
    let ours = tx.finish_job(job).await?;
    if let Some(every) = kind.every.filter(|_| ours) {
        tx.enqueue_once(None, &recurring(kind, Utc::now() + every), kind.name).await?;
    }
    tx.commit().await?;
    Ok(ours)
}

/// The next turn of a kind that the platform does again and again.
pub(crate) fn recurring(kind: &Kind, at: chrono::DateTime<Utc>) -> NewJob<'static> {
    NewJob {
        kind: kind.name,
        lane: kind.name,
        payload: serde_json::json!({}),
        weight: 1,
        run_at: Some(at),
        max_attempts: 3,
    }
}

/// What becomes of a job whose try failed.
async fn after(
    context: &Arc<Context>,
    kind: &'static Kind,
    job: &Arc<Job>,
    trouble: Trouble,
) -> &'static str {
    let Trouble { cause, next } = trouble;
    if next == Next::Nothing {
        tracing::warn!("the job belongs to another worker by now; this one's work on it is undone");
        return "lost";
    }
    let last = next == Next::GiveUp || job.is_last_attempt();
    let again = match next {
        Next::GiveUp | Next::Nothing => None,
        // Its failure is still to be recorded, which may fail, too, for as long as the database is away.
        _ if last && kind.records_failure => {
            let tries = job.attempts - job.max_attempts;
            Some(Utc::now() + if tries > 0 { wait(context, tries) } else { Duration::ZERO })
        }
        _ if last => None,
        Next::At(at) => Some(at),
        Next::Again => Some(Utc::now() + wait(context, job.attempts)),
    };
    let (given, word) = match again {
        Some(at) => {
            tracing::warn!(cause, again_at = %at, "a job failed and is tried again");
            (context.store.retry_job(job, Some(at), &cause).await, "failed")
        }
        None => {
            tracing::error!(cause, "a job failed and is not tried again");
            (context.store.give_up_job(job, &cause).await, "given_up")
        }
    };
    if let Err(error) = given {
        tracing::warn!(%error, "the job cannot be given back; it is free when its lease ends");
    }
    word
}

fn wait(context: &Context, failures: i32) -> Duration {
    backoff(context.settings.pace.retry, failures, LONGEST_WAIT)
}

enum Watched {
    Ended(Result<Done, Trouble>),
    Lost,
    GivenBack,
}

/// Runs a job on a task of its own, so that its panic is only its own, and gives signs of life meanwhile.
async fn watched(
    context: &Arc<Context>,
    kind: &'static Kind,
    job: &Arc<Job>,
    mut phase: watch::Receiver<Phase>,
) -> Watched {
    let pace = context.settings.pace;
    let work = (kind.run)(Arc::clone(context), Arc::clone(job));
    let mut work = OwnTask(tokio::spawn(work.in_current_span()));
    let mut beats = interval(pace.heartbeat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first is at once.
    beats.tick().await;
    let mut alive_at = Instant::now();
    loop {
        tokio::select! {
            ended = &mut work.0 => return Watched::Ended(match ended {
                Ok(ended) => ended,
                Err(error) => Err(Trouble { cause: panic_of(error), next: Next::Again }),
            }),
            _ = beats.tick() => {
                let beat = timeout(pace.heartbeat, context.store.heartbeat(job, pace.lease)).await;
                match beat {
                    Ok(Ok(true)) => alive_at = Instant::now(),
                    Ok(Ok(false)) => {
                        // Also when the job has just been finished by its own work.
                        return work.end().await.map_or(Watched::Lost, Watched::Ended);
                    }
                    // Nobody heard of us for as long as the lease is: somebody else may have it.
                    _ if alive_at.elapsed() >= pace.lease => {
                        return work.end().await.map_or(Watched::Lost, Watched::Ended);
                    }
                    _ => {}
                }
            }
            () = told(&mut phase, Phase::Stop) => {
                return work.end().await.map_or(Watched::GivenBack, Watched::Ended);
            }
        }
    }
}

/// A task that ends with its owner.
struct OwnTask(JoinHandle<Result<Done, Trouble>>);

impl OwnTask {
    /// Ends it, and waits until everything that it held is given back; what it came to, if it was done already.
    async fn end(&mut self) -> Option<Result<Done, Trouble>> {
        self.0.abort();
        (&mut self.0).await.ok()
    }
}

impl Drop for OwnTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn panic_of(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "the job was cut off".to_owned() };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("a fault of the platform ended it: {text}")
}
