//! What is due by the clock: fetches, and the work that the platform does again and again.
//!
//! Every worker looks; that each thing is done once is the queue's doing.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use serde_json::json;
use store::{NewJob, fetch_key};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::context::Context;
use crate::jobs::{JOBS, fetch_source};
use crate::queue::{Phase, recurring};

/// So many fetches are put on the queue at a time.
const AT_A_TIME: u32 = 200;

/// Looks until the worker is told to stop.
pub(crate) async fn follow(context: Arc<Context>, mut phase: watch::Receiver<Phase>) {
    let mut troubled = false;
    while *phase.borrow() == Phase::Work {
        match look(&context).await {
            Ok(()) => troubled = false,
            Err(error) if !troubled => {
                troubled = true;
                tracing::warn!(%error, "what is due cannot be read; trying again");
            }
            Err(_) => {}
        }
        tokio::select! {
            _ = phase.changed() => {}
            () = sleep(context.settings.pace.schedule) => {}
        }
    }
}

async fn look(context: &Context) -> Result<(), store::Error> {
    let now = Utc::now();
    let mut tx = context.store.platform().await?;
    for (tenant, source) in tx.sources_due(now, AT_A_TIME).await? {
        let lane = fetch_key(source.source_id);
        let job = NewJob {
            kind: fetch_source::KIND.name,
            lane: &lane,
            payload: json!({ "source": source.source_id }),
            weight: 1,
            run_at: None,
            max_attempts: fetch_source::ATTEMPTS,
        };
        tx.enqueue_once(Some(tenant), &job, &lane).await?;
    }
    for kind in JOBS {
        if kind.every.is_some() {
            // The first turn soon after a platform's first start; then each turn makes the next.
            tx.enqueue_once(None, &recurring(kind, now + FIRST_TURN), kind.name).await?;
        }
    }
    let counts = tx.job_counts().await?;
    tx.commit().await?;
    context.meters.queue(&counts, now);
    Ok(())
}

/// Not at once: a platform that starts has other things to do.
const FIRST_TURN: Duration = Duration::from_secs(10);
