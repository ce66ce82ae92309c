//! Ends the locks of fields whose time is over.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures_util::FutureExt;
use store::Job;

use super::{Done, Kind, Pool, Trouble};
use crate::context::Context;

pub(crate) const KIND: Kind = Kind {
    name: "locks",
    pool: Pool::Work,
    run: |context, job| run(context, job).boxed(),
    records_failure: false,
    every: Some(Duration::from_secs(60)),
};

/// So many units at a time; the others come with the next turn.
const AT_A_TIME: u32 = 500;

async fn run(context: Arc<Context>, _job: Arc<Job>) -> Result<Done, Trouble> {
    let ended = dealer::feeds::end_expired(&context.store, Utc::now(), AT_A_TIME).await;
    let ended = ended.map_err(|error| Trouble::passing(&error))?;
    if ended > 0 {
        tracing::info!(ended, "locks of fields have expired");
    }
    Ok(Done::Finish)
}
