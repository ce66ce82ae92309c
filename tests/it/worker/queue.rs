//! Who does which job, and what becomes of jobs that fail.

use std::time::Instant;

use bytes::Bytes;
use dealer::feeds::{self, Received};
use serde_json::json;
use store::{SourceKind, SourceRow, TenantId};
use testkit::cluster;

use super::{Scene, lot, states, stock_numbers};

async fn receive(scene: &Scene, tenant: TenantId, source: &SourceRow, text: &str) -> uuid::Uuid {
    let body = futures_util::stream::iter([Ok(Bytes::copy_from_slice(text.as_bytes()))]);
    let received = Received::new("lot.csv", "import", "test");
    feeds::receive(&scene.store, tenant, source, received, body).await.unwrap().run_id
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_do_each_run_once_and_in_order() {
    let slugs = ["harbor", "bay", "cove"];
    let scene = Scene::start(&slugs).await;
    let mut sources = Vec::new();
    for slug in slugs {
        sources.push(scene.source(slug, SourceKind::File, json!({})).await);
    }
    for number in 0..8 {
        for (tenant, source) in &sources {
            receive(&scene, *tenant, source, &lot(number, 12)).await;
        }
    }
    let workers = [scene.work(scene.told("")), scene.work(scene.told(""))];
    for (tenant, _) in &sources {
        let runs = scene.settled(*tenant, 8).await;
        assert!(runs.iter().all(|run| run.state.as_str() == "applied"), "{:?}", states(&runs));
        let versions: Vec<_> = runs.iter().map(|run| run.inventory_version.unwrap()).collect();
        let first = versions[0];
        assert_eq!(versions, (first..first + 8).collect::<Vec<_>>(), "out of turn, or twice");
        assert_eq!(scene.stocks(*tenant).await, stock_numbers(7, 12));
    }
    for worker in workers {
        worker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_run_fails_after_three_tries_and_blocks_nobody() {
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, source) = scene.source("harbor", SourceKind::File, json!({})).await;
    let poisoned = receive(&scene, tenant, &source, &lot(0, 12)).await;
    // What is packed in the database is damaged.
    let mut database = cluster().superuser(&scene.platform.database).await;
    let damaged =
        sqlx::query("update feed_file_chunks set body = '\\x1f8b0800'::bytea").execute(&mut database).await;
    assert_eq!(damaged.unwrap().rows_affected(), 1);
    let good = receive(&scene, tenant, &source, &lot(0, 13)).await;
    let working = scene.work(scene.told(""));
    let runs = scene.settled(tenant, 2).await;
    assert_eq!((runs[0].run_id, runs[1].run_id), (poisoned, good));
    assert_eq!(states(&runs), ["failed", "applied"], "{runs:#?}");
    let why = runs[0].failure.clone().unwrap_or_default();
    assert!(why.contains("3 tries"), "{why}");
    assert_eq!(scene.stocks(tenant).await, stock_numbers(0, 13));
    assert!(!scene.notices(tenant).await.is_empty() || runs[1].state.is_good());
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_dealer_does_not_keep_another_waiting() {
    let scene = Scene::start(&["harbor", "bay"]).await;
    let (busy, source) = scene.source("harbor", SourceKind::File, json!({})).await;
    for number in 0..20 {
        receive(&scene, busy, &source, &lot(number, 400)).await;
    }
    let working = scene.work(scene.told(""));
    let began = Instant::now();
    while scene.runs(busy).await.iter().filter(|run| run.state.is_end()).count() < 2 {
        assert!(began.elapsed() < super::PATIENCE);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let (other, source) = scene.source("bay", SourceKind::File, json!({})).await;
    receive(&scene, other, &source, &lot(0, 12)).await;
    let served = scene.settled(other, 1);
    // It does not wait for the queue to be empty, as that helper does.
    let until = Instant::now() + super::PATIENCE;
    let left = loop {
        if scene.runs(other).await.iter().all(|run| run.state.is_end()) {
            break scene.runs(busy).await.iter().filter(|run| !run.state.is_end()).count();
        }
        assert!(Instant::now() < until, "the small dealer waits");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert!(left >= 8, "only {left} runs of the busy dealer were left when the small one was served");
    assert_eq!(states(&served.await), ["applied"]);
    scene.settled(busy, 20).await;
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_source_is_told_of_once() {
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, source) = scene.source("harbor", SourceKind::File, json!({})).await;
    let mut database = cluster().superuser(&scene.platform.database).await;
    let aged =
        sqlx::query("update feed_sources set created_at = now() - interval '3 days'").execute(&mut database);
    assert_eq!(aged.await.unwrap().rows_affected(), 1);
    for _ in 0..2 {
        let mut tx = scene.store.platform().await.unwrap();
        let job = store::NewJob {
            kind: "silence",
            lane: "now",
            payload: json!({}),
            weight: 1,
            run_at: None,
            max_attempts: 1,
        };
        tx.enqueue(None, &job).await.unwrap();
        tx.commit().await.unwrap();
        let working = scene.work(scene.told(""));
        scene.settled(tenant, 0).await;
        working.stop().await;
        let silent: Vec<_> = scene.notices(tenant).await;
        assert_eq!(silent.len(), 1, "{silent:?}");
        assert_eq!((silent[0].kind.as_str(), silent[0].source_id), ("source_silent", Some(source.source_id)));
    }
    // What it sends afterwards ends it.
    receive(&scene, tenant, &source, &lot(0, 12)).await;
    let working = scene.work(scene.told(""));
    scene.settled(tenant, 1).await;
    assert!(scene.notices(tenant).await.iter().all(|notice| notice.kind != "source_silent"));
    working.stop().await;
}
