//! Workers that are killed, and workers that are told to stop.

use std::time::{Duration, Instant};

use bytes::Bytes;
use dealer::feeds::{self, Received};
use serde_json::json;
use store::SourceKind;
use testkit::{Process, cluster};

use super::{PATIENCE, Scene, lot, states, stock_numbers};

fn worker(scene: &Scene) -> Process {
    let mut command = Process::command(&["worker", "--worker-lease", "2s", "--worker-slots", "2"]);
    command.env("DATABASE_URL", cluster().url(&scene.platform.database));
    command.env("FORECOURT_DATA_DIR", scene.folder.join("data")).env("FORECOURT_LOG_FORMAT", "json");
    let mut process = Process::spawn(&mut command);
    process.wait_for("worker is ready", PATIENCE);
    process
}

/// Waits until a worker has the run in hand.
async fn in_hand(scene: &Scene) {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut tx = scene.store.platform().await.unwrap();
        if tx.job_counts().await.unwrap().running > 0 {
            return;
        }
        drop(tx);
        assert!(Instant::now() < until, "nobody takes the run");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_gives_its_run_back_and_one_that_is_stopped_at_once() {
    const CARS: u32 = 3000;
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, source) = scene.source("harbor", SourceKind::File, json!({})).await;
    let mut killed = worker(&scene);
    let body = futures_util::stream::iter([Ok(Bytes::from(lot(0, CARS)))]);
    let received = Received::new("lot.csv", "import", "test");
    feeds::receive(&scene.store, tenant, &source, received, body).await.unwrap();
    in_hand(&scene).await;
    killed.kill();
    let runs = scene.runs(tenant).await;
    assert!(!runs[0].state.is_end(), "it was killed too late to show anything: {:?}", states(&runs));
    let mut next = worker(&scene);
    let runs = scene.settled(tenant, 1).await;
    assert_eq!(states(&runs), ["applied"], "{runs:#?}");
    assert_eq!(scene.stocks(tenant).await, stock_numbers(0, CARS));
    next.signal(libc::SIGTERM);
    assert!(next.wait(Duration::from_secs(30)).success());
    let last = next.last_lines().join("\n");
    assert!(last.contains("worker has stopped"), "{last}");
}
