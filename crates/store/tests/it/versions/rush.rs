//! Many at once: writers of one lot, readers of every version, purges beside them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::{Store, TenantId};

use super::model::{State, random, scribble, soak};
use crate::support::{Ground, run};

/// Every version as its writer meant it; of one that was rolled back the next writer's stays.
type Record = Mutex<HashMap<u64, Arc<State>>>;

async fn write(store: &Store, id: TenantId, record: &Record, random: &mut StdRng) {
    let mut tx = store.tenant(id).await.unwrap();
    let held = tx.lock_inventory().await.unwrap();
    let base = Arc::clone(&record.lock().unwrap()[&held]);
    let former: Vec<State> = [held, held / 2]
        .iter()
        .filter_map(|v| record.lock().unwrap().get(v).map(|s| (**s).clone()))
        .collect();
    let mut state = (*base).clone();
    scribble(&mut tx, held + 1, &mut state, &former, random).await;
    record.lock().unwrap().insert(held + 1, Arc::new(state));
    if random.random_ratio(1, 8) {
        return;
    }
    tx.publish_inventory(held + 1).await.unwrap();
    tx.commit().await.unwrap();
}

/// Whether the question could be answered; if so it was exact.
async fn read(store: &Store, id: TenantId, record: &Record, random: &mut StdRng) -> bool {
    let mut tx = store.tenant_snapshot(id).await.unwrap();
    let newest = tx.inventory_version().await.unwrap();
    let near = newest.saturating_sub(random.random_range(0..40));
    let (held, wanted) = if random.random() {
        (newest, near)
    } else {
        (near, newest.saturating_sub(random.random_range(0..40)))
    };
    let between = tx.lot_between(held, wanted).await.unwrap();
    let delta = tx.lot_delta(near).await.unwrap();
    drop(tx);
    let state = |version: u64| Arc::clone(&record.lock().unwrap()[&version]);
    if let Some(delta) = delta {
        assert_eq!(delta.version, newest);
        let led = (*state(near)).clone().after(delta);
        assert!(led.offered == state(newest).offered, "since {near} to {newest}");
    }
    let Some(between) = between else { return false };
    let led = (*state(held)).clone().after(between);
    assert!(led.paged() == state(wanted).paged(), "{held} to {wanted}, newest {newest}");
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_readers_and_purges_at_once() {
    let ground = Ground::with_connections(16).await;
    let id = ground.tenant("a").await;
    let record: Arc<Record> = Arc::new(Mutex::new(HashMap::from([(0, Arc::new(State::default()))])));
    let done = Arc::new(AtomicBool::new(false));
    let mut seeds = random("rush");
    let mut writers = Vec::new();
    let mut readers = Vec::new();
    for _ in 0..4 {
        let (store, record, done) = (ground.store.clone(), Arc::clone(&record), Arc::clone(&done));
        let mut random = StdRng::seed_from_u64(seeds.random());
        writers.push(tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                write(&store, id, &record, &mut random).await;
            }
        }));
    }
    for _ in 0..3 {
        let (store, record, done) = (ground.store.clone(), Arc::clone(&record), Arc::clone(&done));
        let mut random = StdRng::seed_from_u64(seeds.random());
        readers.push(tokio::spawn(async move {
            let mut answered = [0_u32; 2];
            while !done.load(Ordering::Relaxed) {
                answered[usize::from(read(&store, id, &record, &mut random).await)] += 1;
            }
            answered
        }));
    }
    // Time passes quickly for what is kept, and three nodes clear up at once.
    let aging = {
        let done = Arc::clone(&done);
        let mut admin = ground.superuser().await;
        tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                run(
                    &mut admin,
                    "update inventory_versions v set published_at = published_at - interval '1 hour'
                     from tenant_inventory i where i.tenant_id = v.tenant_id and v.version < i.version - 25",
                )
                .await;
                run(
                    &mut admin,
                    "update removed_vehicles r set removed_at = removed_at - interval '200 days'
                     where ctid = (select ctid from removed_vehicles order by removed_at limit 1 for update skip locked)",
                )
                .await;
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        })
    };
    let mut purges = Vec::new();
    for _ in 0..3 {
        let (store, done) = (ground.store.clone(), Arc::clone(&done));
        purges.push(tokio::spawn(async move {
            let mut gone = (0, 0);
            while !done.load(Ordering::Relaxed) {
                let mut tx = store.platform().await.unwrap();
                gone.0 += tx.purge_superseded().await.unwrap();
                tx.commit().await.unwrap();
                let mut tx = store.platform().await.unwrap();
                gone.1 += tx.purge_removed().await.unwrap();
                tx.commit().await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            gone
        }));
    }
    let until = Instant::now() + Duration::from_secs(4) * u32::try_from(soak()).unwrap();
    while Instant::now() < until && !writers.iter().any(tokio::task::JoinHandle::is_finished) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    done.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    aging.await.unwrap();
    let (mut answered, mut gone) = ([0, 0], (0, 0));
    for reader in readers {
        let one = reader.await.unwrap();
        answered = [answered[0] + one[0], answered[1] + one[1]];
    }
    for purge in purges {
        let one = purge.await.unwrap();
        gone = (gone.0 + one.0, gone.1 + one.1);
    }
    let versions = ground.store.tenant(id).await.unwrap().inventory_version().await.unwrap();
    eprintln!("{versions} versions; refused and answered {answered:?}; purged versions and units {gone:?}");
    assert!(versions > 20 && answered[1] > 20 && gone.0 > 0, "too little happened");
    // Nothing stays of versions that are gone.
    let orphans: i64 = sqlx::query_scalar(
        "select count(*) from superseded_vehicles s where not exists
             (select from inventory_versions v where v.tenant_id = s.tenant_id and v.version = s.replaced_by)",
    )
    .fetch_one(&mut ground.superuser().await)
    .await
    .unwrap();
    assert_eq!(orphans, 0);
}
