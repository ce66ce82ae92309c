//! Tells people of sources that have sent nothing good for too long.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures_util::FutureExt;
use serde_json::json;
use store::{Job, NewNotice, SilentRow};

use super::{Done, Kind, Pool, Trouble};
use crate::context::Context;

pub(crate) const KIND: Kind = Kind {
    name: "silence",
    pool: Pool::Work,
    run: |context, job| run(context, job).boxed(),
    records_failure: false,
    every: Some(Duration::from_secs(60)),
};

async fn run(context: Arc<Context>, _job: Arc<Job>) -> Result<Done, Trouble> {
    let mut tx = context.store.platform().await?;
    let silent = tx.silent_sources(Utc::now()).await?;
    tx.commit().await?;
    for source in &silent {
        let sentence = sentence(source);
        let key = format!("source_silent:{}", source.source_id);
        let mut tx = context.store.tenant(source.tenant_id).await?;
        let told = tx
            .add_notice(&NewNotice {
                kind: "source_silent",
                severity: "warning",
                source_id: Some(source.source_id),
                run_id: None,
                sentence: &sentence,
                data: json!({ "source": source.name, "last_good_at": source.last_good_at }),
                once_key: Some(&key),
            })
            .await?;
        tx.commit().await?;
        if told.is_some() {
            tracing::warn!(tenant = %source.tenant_id, source = %source.source_id, "{sentence}");
        }
    }
    context.meters.silent(silent.len() as u64);
    Ok(Done::Finish)
}

fn sentence(source: &SilentRow) -> String {
    match source.last_good_at {
        Some(at) => format!(
            "The feed {} has sent no good file since {}. Until it does, buyers are told how old the cars' data is. \
             Look at its latest runs, or ask whoever sends it.",
            source.name,
            at.format("%Y-%m-%d %H:%M UTC")
        ),
        None => format!(
            "The feed {} has not sent a single good file yet. Look at its latest runs, or ask whoever sends it.",
            source.name
        ),
    }
}
