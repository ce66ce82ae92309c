//! Deletes what has been kept long enough.

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::FutureExt;
use store::Job;

use super::{Done, Kind, Pool, Trouble};
use crate::context::Context;

pub(crate) const KIND: Kind = Kind {
    name: "sweep",
    pool: Pool::Work,
    run: |context, job| run(context, job).boxed(),
    records_failure: false,
    every: Some(Duration::from_secs(3600)),
};

/// Findings of runs that are over.
const FINDINGS: TimeDelta = TimeDelta::days(90);
/// Runs that are over.
const RUNS: TimeDelta = TimeDelta::days(400);
/// The stories of units.
const HISTORY: TimeDelta = TimeDelta::days(400);
/// Notices of what is no longer so.
const NOTICES: TimeDelta = TimeDelta::days(90);
/// Jobs that were given up.
const JOBS: TimeDelta = TimeDelta::days(30);
/// A sweep that deletes in pieces goes on for so many of them; what is left comes with the next one.
const PIECES: usize = 50;

async fn run(context: Arc<Context>, _job: Arc<Job>) -> Result<Done, Trouble> {
    let now = Utc::now();
    let (mut files, mut bytes) = (0, 0);
    for _ in 0..PIECES {
        let mut tx = context.store.platform().await?;
        let swept = tx.sweep_files(now).await?;
        tx.commit().await?;
        files += swept.files;
        bytes += swept.packed_bytes;
        if swept.files == 0 {
            break;
        }
    }
    let mut runs = 0;
    for _ in 0..PIECES {
        let mut tx = context.store.platform().await?;
        let swept = tx.sweep_runs(now - FINDINGS, now - RUNS).await?;
        tx.commit().await?;
        runs += swept;
        if swept == 0 {
            break;
        }
    }
    let mut tx = context.store.platform().await?;
    let notices = tx.sweep_notices(now - NOTICES).await?;
    let jobs = tx.sweep_jobs(now - JOBS).await?;
    let stories = tx.sweep_history(now - HISTORY).await?;
    tx.commit().await?;
    if files + runs + notices + jobs + stories > 0 {
        tracing::info!(files, bytes, runs, notices, jobs, stories, "what was kept long enough is deleted");
    }
    Ok(Done::Finish)
}
