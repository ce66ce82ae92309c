//! Workers: fetching, drop folders, the queue, and workers that die.

mod fetching;
mod folders;
mod killed;
mod queue;
mod server;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::worker::outbound::Allowed;
use ::worker::{Pace, Worker, WorkerSettings};
use chrono::Utc;
use dealer::vault::{MasterKey, Vault};
use serde_json::{Value, json};
use store::{NewJob, NoticeRow, RunRow, SourceKind, SourceRow, Store, TenantId, fetch_key};
use testkit::{Platform, scratch};
use tokio::sync::oneshot;
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(60);

/// A platform with dealers, and what its workers are told.
struct Scene {
    platform: Platform,
    store: Store,
    vault: Vault,
    folder: PathBuf,
}

/// A worker that works until it is stopped.
struct Working {
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Working {
    async fn stop(self) {
        let _ = self.stop.send(());
        tokio::time::timeout(Duration::from_secs(30), self.task).await.expect("it stops").unwrap();
    }
}

impl Scene {
    async fn start(dealers: &[&str]) -> Scene {
        let platform = Platform::start().await;
        for slug in dealers {
            let document = testkit::dealer_document(slug, json!([]));
            platform.provision(&json!({ *slug: document })).await;
        }
        let store = Store::connect(&platform.database, 12).await.unwrap();
        let vault = Vault::new(&MasterKey::random().unwrap(), &[]);
        Scene { platform, store, vault, folder: scratch("worker") }
    }

    /// Fast enough for tests.
    fn pace() -> Pace {
        Pace {
            lease: Duration::from_secs(20),
            heartbeat: Duration::from_secs(2),
            poll: Duration::from_millis(100),
            schedule: Duration::from_millis(100),
            settle: Duration::from_millis(400),
            retry: Duration::from_millis(50),
            fetch_retry: Duration::from_millis(100),
        }
    }

    fn told(&self, allowed: &str) -> WorkerSettings {
        WorkerSettings {
            name: format!("test-{}", Uuid::new_v4().simple()),
            slots: 2,
            fetches: 4,
            drop_folder: self.folder.join("inbox"),
            temp_folder: self.folder.clone(),
            vault: self.vault.clone(),
            allowed: Allowed::parse(allowed).unwrap(),
            drain: Duration::from_secs(10),
            pace: Scene::pace(),
        }
    }

    fn work(&self, told: WorkerSettings) -> Working {
        let (stop, stopped) = oneshot::channel::<()>();
        let store = self.store.clone();
        let task = tokio::spawn(async move { Worker::run(store, told, async { drop(stopped.await) }).await });
        Working { stop, task }
    }

    async fn tenant(&self, slug: &str) -> TenantId {
        let mut tx = self.store.platform().await.unwrap();
        tx.tenant_by_slug(slug).await.unwrap().unwrap()
    }

    async fn source(&self, slug: &str, kind: SourceKind, settings: Value) -> (TenantId, SourceRow) {
        let tenant = self.tenant(slug).await;
        let source = SourceRow {
            source_id: Uuid::now_v7(),
            name: "DMS".to_owned(),
            kind,
            enabled: true,
            settings,
            revision: 1,
            push_token_hash: None,
            signature: None,
            etag: None,
            last_modified: None,
            next_fetch_at: (kind == SourceKind::Https).then(Utc::now),
            last_full_fetch_at: None,
            last_good_at: None,
            silent_after_s: 36 * 3600,
            created_at: Utc::now(),
            created_by: "test".into(),
            has_credentials: false,
            removed_at: None,
        };
        let mut tx = self.store.tenant(tenant).await.unwrap();
        tx.insert_source(&source).await.unwrap();
        tx.commit().await.unwrap();
        (tenant, source)
    }

    async fn stored(&self, tenant: TenantId, source: &SourceRow) -> SourceRow {
        self.store.tenant(tenant).await.unwrap().source(source.source_id).await.unwrap().unwrap()
    }

    /// Has a source fetched now, not when it is due.
    async fn fetch_now(&self, tenant: TenantId, source: &SourceRow, full: bool) {
        let key = fetch_key(source.source_id);
        let job = NewJob {
            kind: "fetch",
            lane: &key,
            payload: json!({ "source": source.source_id, "full": full }),
            weight: 1,
            run_at: None,
            max_attempts: 5,
        };
        let added = async {
            let mut tx = self.store.tenant(tenant).await.unwrap();
            let added = tx.enqueue_once(&job, &key).await.unwrap();
            tx.commit().await.unwrap();
            added
        };
        assert!(added.await.is_some(), "the fetch before it is still on the queue");
    }

    /// The runs, the oldest first.
    async fn runs(&self, tenant: TenantId) -> Vec<RunRow> {
        let mut runs = self.store.tenant(tenant).await.unwrap().runs(None, 200, None).await.unwrap();
        runs.reverse();
        runs
    }

    /// The states of the runs, once there are so many and none is under way, and no job that could run.
    async fn settled(&self, tenant: TenantId, count: usize) -> Vec<RunRow> {
        let until = Instant::now() + PATIENCE;
        loop {
            let runs = self.runs(tenant).await;
            let over = runs.iter().all(|run| run.state.is_end() || run.state.as_str() == "held");
            let mut tx = self.store.platform().await.unwrap();
            let jobs = tx.job_counts().await.unwrap();
            drop(tx);
            if runs.len() >= count && over && jobs.ready + jobs.running == 0 {
                return runs;
            }
            let seen: Vec<_> = runs.iter().map(|run| (run.state, run.failure.clone())).collect();
            assert!(Instant::now() < until, "{count} runs do not come to an end: {seen:?} {jobs:?}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    async fn stocks(&self, tenant: TenantId) -> BTreeSet<String> {
        let lot = self.store.tenant_snapshot(tenant).await.unwrap().lot().await.unwrap();
        lot.listings.iter().filter_map(|unit| unit.stock.clone()).collect()
    }

    async fn notices(&self, tenant: TenantId) -> Vec<NoticeRow> {
        self.store.tenant(tenant).await.unwrap().notices(true, 50).await.unwrap()
    }
}

fn states(runs: &[RunRow]) -> Vec<&'static str> {
    runs.iter().map(|run| run.state.as_str()).collect()
}

/// A lot of so many cars, from that number on.
fn lot(from: u32, count: u32) -> String {
    let mut csv = "Stock,Year,Make,Model,Condition,Mileage,Price\n".to_owned();
    for i in from..from + count {
        writeln!(csv, "S{i},2022,Honda,Civic,Used,{},{}", 10_000 + i, 20_000 + i).unwrap();
    }
    csv
}

fn stock_numbers(from: u32, count: u32) -> BTreeSet<String> {
    (from..from + count).map(|i| format!("S{i}")).collect()
}
