//! Carries out a run: from a received file to a lot.

use std::sync::Arc;

use dealer::feeds::{Bench, IMPORT_JOB, ProcessError, Progress};
use futures_util::FutureExt;
use serde::Deserialize;
use store::Job;
use uuid::Uuid;

use super::{Done, Kind, Pool, Trouble};
use crate::context::Context;

pub(crate) const KIND: Kind = Kind {
    name: IMPORT_JOB,
    pool: Pool::Work,
    run: |context, job| run(context, job).boxed(),
    records_failure: true,
    every: None,
};

#[derive(Deserialize)]
struct Payload {
    run: Uuid,
}

async fn run(context: Arc<Context>, job: Arc<Job>) -> Result<Done, Trouble> {
    let payload = Payload::deserialize(&job.payload).map_err(|error| Trouble::lasting(error.to_string()))?;
    let tenant = job.tenant.ok_or_else(|| Trouble::lasting("a run without a dealer"))?;
    let bench =
        Bench { spool: context.settings.temp_folder.clone(), progress: Arc::new(Progress::default()) };
    match dealer::feeds::process(&context.store, tenant, payload.run, &job, &bench).await {
        Ok(ended) => {
            tracing::debug!(run = %payload.run, state = %ended.state, version = ended.version, "a run came to this");
            Ok(Done::Finished)
        }
        // What it was about is gone, and the job with it.
        Err(ProcessError::NoRun) => Ok(Done::Finished),
        Err(ProcessError::LostLease) => Err(Trouble::lost()),
        Err(error) => Err(Trouble::passing(&error)),
    }
}
