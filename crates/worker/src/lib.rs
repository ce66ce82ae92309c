//! Runs what can wait: feed imports, fetches, watched folders, schedules.
//!
//! Any number of workers share one queue, the table `jobs`. What a worker has in hand is leased; one that dies gives
//! everything back when its lease ends. What kinds of work there are is the table [`jobs`].

mod context;
mod fetch;
mod folder;
mod jobs;
mod meters;
pub mod outbound;
mod queue;
mod schedule;
mod settings;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use store::Store;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use context::Context;
use jobs::Pool;
use queue::Phase;

pub use folder::folder_name;
pub use settings::{Pace, WorkerSettings};

/// After jobs are told to end, the worker waits so long for them.
const ENDING: Duration = Duration::from_secs(10);

/// A worker.
#[derive(Debug)]
pub struct Worker;

impl Worker {
    /// Works until `shutdown` is ready. Then it takes no more jobs, lets those that run end within
    /// [`WorkerSettings::drain`], and gives back the others.
    pub async fn run(store: Store, settings: WorkerSettings, shutdown: impl Future<Output = ()>) {
        let drain = settings.drain;
        let mut calls = store.listen_jobs();
        let context = Arc::new(Context::new(store, settings));
        let (phase, told) = watch::channel(Phase::Work);
        let mut parts = JoinSet::new();
        for pool in [Pool::Work, Pool::Foreign] {
            parts.spawn(queue::serve(Arc::clone(&context), pool, told.clone()));
        }
        parts.spawn(schedule::follow(Arc::clone(&context), told.clone()));
        parts.spawn(folder::follow(Arc::clone(&context), told));
        let hearing = Arc::clone(&context);
        let heard = tokio::spawn(async move {
            while calls.next().await.is_ok() {
                hearing.stir();
            }
        });
        let name = &context.settings.name;
        tracing::info!(
            name,
            slots = context.settings.slots,
            fetches = context.settings.fetches,
            "worker is ready"
        );
        shutdown.await;
        heard.abort();
        let _ = phase.send(Phase::Drain);
        let ended = async { while parts.join_next().await.is_some() {} };
        let mut ended = std::pin::pin!(ended);
        if timeout(drain, &mut ended).await.is_err() {
            tracing::info!("jobs that still run are given back");
            let _ = phase.send(Phase::Stop);
            let _ = timeout(ENDING, &mut ended).await;
        }
        tracing::info!(name, "worker has stopped");
    }
}
