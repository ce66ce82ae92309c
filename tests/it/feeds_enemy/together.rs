//! Two workers, imports, edits and decisions on one dealer at once: one version after the other, every answer wholly of
//! one run, and the lot in the end what was applied last.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use dealer::feeds::{self, Bench, Wish};
use serde_json::{Value, json};
use store::RunState;
use testkit::{Platform, cluster, soak};

use super::{PATIENCE, dealers, documents, hand_in, lot, rows, settled, stored, worker};

const CARS: u32 = 90;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_hands_on_one_lot_take_turns_and_no_answer_mixes_two_runs() {
    let files = u32::try_from(soak(24)).unwrap();
    let platform = Platform::start().await;
    let slugs = ["harbor".to_owned()];
    platform.provision(&documents(&slugs)).await;
    let store = platform.application().store().clone();
    let (tenant, source) = dealers(&store, &slugs).await[0];
    let url = cluster().url(&platform.database);
    let mut workers = [worker(&url), worker(&url)];
    for working in &mut workers {
        working.wait_for("worker is ready", PATIENCE);
    }
    hand_in(&store, tenant, source, lot(CARS, 0)).await.unwrap();
    settled(&store, &[tenant], "at first").await;
    platform.catch_up().await;
    let first = store.tenant(tenant).await.unwrap().inventory_version().await.unwrap();
    let over = AtomicBool::new(false);
    let (published, answers) = (AtomicU32::new(0), AtomicU32::new(0));

    let importing = async {
        for version in 1..=files {
            // Every sixth file has lost most of its cars and waits for a person.
            let cars = if version % 6 == 0 { 20 } else { CARS };
            hand_in(&store, tenant, source, lot(cars, version)).await.unwrap();
            tokio::time::sleep(Duration::from_millis(u64::from(version * 37 % 200))).await;
        }
        settled(&store, &[tenant], "the imports").await;
        over.store(true, Ordering::Release);
    };
    let editing = async {
        let mut turn = 0;
        while !over.load(Ordering::Acquire) {
            turn += 1;
            // Cars that are in every file.
            let key = format!("S{}", 10 + turn % 10);
            let value = json!(format!("Trim {turn}"));
            let wish = Wish { key: &key, field: "trim", value, actor: "ana", expires_at: None, note: None };
            let edited = feeds::edit(&store, tenant, &wish).await.unwrap();
            published.fetch_add(u32::from(edited.version.is_some()), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    };
    let deciding = async {
        loop {
            // Looked at once more when all is over, so that nobody is left waiting.
            let ended = over.load(Ordering::Acquire);
            let held = super::runs(&store, tenant).await.unwrap();
            for (place, run) in held.iter().filter(|run| run.state == RunState::Held).enumerate() {
                if place % 2 == 0 {
                    let _ = feeds::reject(&store, tenant, run.run_id, "ben", "cut short").await;
                } else {
                    let _ = feeds::approve(&store, tenant, run.run_id, "ben", &Bench::default()).await;
                }
            }
            if ended {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let asking = async {
        let request = json!({"type": "inventory.search.request", "pagination": {"limit": 100}});
        while !over.load(Ordering::Acquire) {
            let found = platform.call("harbor", request.clone()).await;
            let cars = found["vehicles"].as_array().unwrap();
            let prices: BTreeSet<u64> = cars.iter().map(|car| car["price"].as_u64().unwrap()).collect();
            assert_eq!(prices.len(), 1, "an answer of several runs: {prices:?}");
            let version = u32::try_from(prices.first().unwrap() - 20_000).unwrap();
            let of_run = if version % 6 == 0 && version > 0 { 20 } else { CARS };
            assert_eq!(found["total"], of_run, "{version}");
            let stocks: BTreeSet<String> =
                cars.iter().map(|car| car["stock"].as_str().unwrap().to_owned()).collect();
            assert_eq!(stocks, rows(of_run, version).into_keys().collect(), "{version}");
            answers.fetch_add(1, Ordering::Relaxed);
        }
    };
    let began = Instant::now();
    tokio::join!(importing, editing, deciding, asking);

    let all = settled(&store, &[tenant], "all").await.remove(0);
    let applied: Vec<_> = all.iter().filter(|run| run.state == RunState::Applied).collect();
    let last = store.tenant(tenant).await.unwrap().inventory_version().await.unwrap();
    let runs = u64::try_from(applied.len()).unwrap() - 1;
    let edits = u64::from(published.load(Ordering::Relaxed));
    assert_eq!(last - first, runs + edits, "{runs} runs and {edits} edits were published");
    let versions: BTreeSet<u64> = applied.iter().map(|run| run.inventory_version.unwrap()).collect();
    assert_eq!(versions.len(), applied.len(), "two runs made one version");
    let newest = applied.iter().max_by_key(|run| run.inventory_version).unwrap();
    // What is stored is what the run of the newest version brought.
    let found = stored(&store, tenant).await.unwrap();
    let version = u32::try_from(found.values().next().unwrap().0 - 20_000).unwrap();
    let of_run = if version % 6 == 0 && version > 0 { 20 } else { CARS };
    assert_eq!(found, rows(of_run, version));
    assert_eq!(newest.counts.as_ref().unwrap()["published"], Value::from(of_run), "{newest:#?}");
    assert!(
        all.iter().all(|run| run.state.is_end()),
        "{:?}",
        all.iter().map(|run| run.state).collect::<Vec<_>>()
    );
    println!("{} answers, {runs} runs, {edits} edits in {:?}", answers.into_inner(), began.elapsed());
    platform.stop().await;
}
