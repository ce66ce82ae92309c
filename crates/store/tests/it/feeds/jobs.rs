//! Jobs: turns of tenants, lanes, leases, and that nobody ends what is not theirs any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use store::{Job, NewJob, Store, TenantId};

use crate::support::Ground;

const LEASE: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn import(lane: &str) -> NewJob<'_> {
    NewJob { kind: "import", lane, payload: json!({}), weight: 1, run_at: None, max_attempts: 3 }
}

async fn enqueue(store: &Store, tenant: TenantId, job: &NewJob<'_>) -> i64 {
    let mut tx = store.tenant(tenant).await.unwrap();
    let number = tx.enqueue(job).await.unwrap();
    tx.commit().await.unwrap();
    number
}

async fn claim(store: &Store, owner: &str) -> Option<Job> {
    store.claim_job(&["import"], owner, LEASE, 10).await.unwrap()
}

async fn finish(store: &Store, job: &Job) -> bool {
    let mut tx = store.tenant(job.tenant.unwrap()).await.unwrap();
    let done = tx.finish_job(job).await.unwrap();
    if done {
        tx.commit().await.unwrap();
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_claimers_do_every_job_once_and_never_two_of_a_lane() {
    let ground = Ground::with_connections(40).await;
    let mut lanes = Vec::new();
    for tenant in 0..4 {
        let id = ground.tenant(&format!("t{tenant}")).await;
        for lane in 0..5 {
            lanes.push((id, format!("lane-{lane}")));
        }
    }
    // Jobs come while others are done, from several sides at once.
    let mut adders = tokio::task::JoinSet::new();
    for part in 0..4 {
        let (store, lanes) = (ground.store.clone(), lanes.clone());
        adders.spawn(async move {
            for number in 0..50 {
                let (tenant, lane) = &lanes[(number * 4 + part) % lanes.len()];
                enqueue(&store, *tenant, &import(lane)).await;
            }
        });
    }
    let running = Arc::new(Mutex::new(HashMap::<(TenantId, String), i64>::new()));
    let done = Arc::new(Mutex::new(Vec::<(TenantId, String, i64)>::new()));
    let mut claimers = tokio::task::JoinSet::new();
    for claimer in 0..16 {
        let (store, running, done) = (ground.store.clone(), running.clone(), done.clone());
        claimers.spawn(async move {
            let owner = format!("claimer-{claimer}");
            let until = Instant::now() + Duration::from_secs(90);
            while done.lock().unwrap().len() < 200 {
                assert!(Instant::now() < until, "{} of 200 are done", done.lock().unwrap().len());
                let Some(job) = claim(&store, &owner).await else {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    continue;
                };
                assert_eq!(job.attempts, 1);
                let key = (job.tenant.unwrap(), job.lane.clone());
                let other = running.lock().unwrap().insert(key.clone(), job.job_no);
                assert_eq!(other, None, "two of one lane: {job:?}");
                tokio::time::sleep(Duration::from_millis(3)).await;
                // Out of the table before its row is gone: the next of the lane may come at once.
                running.lock().unwrap().remove(&key);
                done.lock().unwrap().push((key.0, key.1, job.job_no));
                assert!(finish(&store, &job).await);
            }
        });
    }
    while let Some(ended) = adders.join_next().await {
        ended.unwrap();
    }
    while let Some(ended) = claimers.join_next().await {
        ended.unwrap();
    }
    let mut numbers: Vec<i64> = done.lock().unwrap().iter().map(|one| one.2).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 200, "each once");
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.job_counts().await.unwrap(), store::JobCounts::default());
}

#[tokio::test]
async fn a_lane_keeps_its_order_and_tenants_take_turns() {
    let ground = Ground::new().await;
    let (big, small) = (ground.tenant("big").await, ground.tenant("small").await);
    let mut of_big = Vec::new();
    for _ in 0..5 {
        of_big.push(enqueue(&ground.store, big, &import("imports")).await);
    }
    for lane in ["a", "b", "c"] {
        enqueue(&ground.store, big, &import(lane)).await;
    }
    let of_small = [enqueue(&ground.store, small, &import("imports")).await, {
        enqueue(&ground.store, small, &import("imports")).await
    }];

    let first = claim(&ground.store, "w").await.unwrap();
    assert_eq!((first.tenant, first.job_no), (Some(big), of_big[0]), "the oldest of all");
    let second = claim(&ground.store, "w").await.unwrap();
    assert_eq!(
        (second.tenant, second.job_no),
        (Some(small), of_small[0]),
        "who had no turn comes before lane a"
    );
    let third = claim(&ground.store, "w").await.unwrap();
    assert_eq!((third.tenant, third.lane.as_str()), (Some(big), "a"), "another lane of the same");
    // Both lanes named imports are busy.
    assert!(finish(&ground.store, &first).await);
    assert!(finish(&ground.store, &second).await);
    let fourth = claim(&ground.store, "w").await.unwrap();
    assert_eq!((fourth.tenant, fourth.job_no), (Some(small), of_small[1]), "served longer ago");
    let fifth = claim(&ground.store, "w").await.unwrap();
    assert_eq!((fifth.tenant, fifth.job_no), (Some(big), of_big[1]), "the oldest lane first");
    let lanes: Vec<String> = [claim(&ground.store, "w").await, claim(&ground.store, "w").await]
        .map(|job| job.unwrap().lane)
        .to_vec();
    assert_eq!(lanes, ["b", "c"]);
    assert_eq!(claim(&ground.store, "w").await, None, "every lane is busy");
}

#[tokio::test]
async fn a_lease_that_ended_is_given_out_again_and_its_former_holder_ends_nothing() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let number = enqueue(&ground.store, tenant, &import("imports")).await;
    let next = enqueue(&ground.store, tenant, &import("imports")).await;

    let killed = ground.store.claim_job(&["import"], "w1", SHORT, 10).await.unwrap().unwrap();
    assert_eq!((killed.job_no, killed.attempts), (number, 1));
    assert_eq!(claim(&ground.store, "w2").await, None, "the lane is busy");
    // As long as it is renewed it stays.
    for _ in 0..4 {
        tokio::time::sleep(SHORT / 2).await;
        assert!(ground.store.heartbeat(&killed, SHORT).await.unwrap());
        assert_eq!(claim(&ground.store, "w2").await, None);
    }
    tokio::time::sleep(SHORT * 2).await;
    // The same name again: a process that lost its lease and claims anew is not the one that it was.
    let again = claim(&ground.store, "w1").await.unwrap();
    assert_eq!((again.job_no, again.attempts), (number, 2), "before the one behind it");
    assert!(!ground.store.heartbeat(&killed, LEASE).await.unwrap());
    assert!(!finish(&ground.store, &killed).await);
    assert!(!ground.store.retry_job(&killed, None, "late").await.unwrap());
    assert!(!ground.store.give_up_job(&killed, "late").await.unwrap());
    assert!(!ground.store.release_job(&killed).await.unwrap());

    // While it is being finished, nobody waits for it and nobody takes what is behind it.
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert!(tx.finish_job(&again).await.unwrap());
    let asked = Instant::now();
    assert!(ground.store.heartbeat(&again, LEASE).await.unwrap());
    assert_eq!(claim(&ground.store, "w2").await, None);
    assert!(asked.elapsed() < Duration::from_secs(5));
    tx.commit().await.unwrap();
    assert!(!ground.store.heartbeat(&again, LEASE).await.unwrap(), "it is done");
    assert_eq!(claim(&ground.store, "w2").await.unwrap().job_no, next);
}

#[tokio::test]
async fn work_undone_with_its_transaction_is_still_to_be_done() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    enqueue(&ground.store, tenant, &import("imports")).await;
    let job = ground.store.claim_job(&["import"], "w1", SHORT, 10).await.unwrap().unwrap();
    let mut tx = ground.store.tenant(tenant).await.unwrap();
    assert!(tx.finish_job(&job).await.unwrap());
    tx.rollback().await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    // Its lease ended, but nobody has claimed it: the work of its holder is as good as ever.
    assert!(finish(&ground.store, &job).await);
}

#[tokio::test]
async fn a_job_that_fails_again_and_again_comes_back_once_to_be_buried() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let number = enqueue(&ground.store, tenant, &import("imports")).await;
    let behind = enqueue(&ground.store, tenant, &import("imports")).await;

    let job = claim(&ground.store, "w").await.unwrap();
    let soon = chrono::Utc::now() + SHORT;
    assert!(ground.store.retry_job(&job, Some(soon), "the disk is full").await.unwrap());
    assert_eq!(claim(&ground.store, "w").await, None, "it waits, and who is behind it as well");
    tokio::time::sleep(SHORT * 2).await;
    let job = claim(&ground.store, "w").await.unwrap();
    assert_eq!((job.job_no, job.attempts, job.last_error.as_deref()), (number, 2, Some("the disk is full")));
    // One that is told to stop gives it back without harm to the job.
    assert!(ground.store.release_job(&job).await.unwrap());
    let job = claim(&ground.store, "w").await.unwrap();
    assert_eq!((job.attempts, job.max_attempts, job.is_last_attempt()), (3, 4, false));
    assert!(ground.store.retry_job(&job, None, "again").await.unwrap());
    // Killed without a word.
    let job = ground.store.claim_job(&["import"], "w", Duration::ZERO, 10).await.unwrap().unwrap();
    assert!(job.is_last_attempt() && !job.is_exhausted());
    let job = claim(&ground.store, "w").await.unwrap();
    assert!(job.is_exhausted());
    assert!(ground.store.give_up_job(&job, "tried too often").await.unwrap());

    let mut tx = ground.store.platform().await.unwrap();
    let failed = tx.failed_jobs(10).await.unwrap();
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].job_no, failed[0].last_error.as_deref()), (number, Some("tried too often")));
    let counts = tx.job_counts().await.unwrap();
    assert_eq!((counts.ready, counts.running, counts.failed), (1, 0, 1));
    assert!(counts.ready_since.is_some());
    drop(tx);
    assert_eq!(claim(&ground.store, "w").await.unwrap().job_no, behind);
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.sweep_jobs(failed[0].failed_at).await.unwrap(), 0);
    assert_eq!(tx.sweep_jobs(chrono::Utc::now() + LEASE).await.unwrap(), 1);
}

#[tokio::test]
async fn kinds_weights_and_times_are_heeded() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let later = NewJob { run_at: Some(chrono::Utc::now() + LEASE), ..import("imports") };
    enqueue(&ground.store, tenant, &later).await;
    let heavy = enqueue(&ground.store, tenant, &NewJob { weight: 5, ..import("imports") }).await;
    enqueue(&ground.store, tenant, &import("imports")).await;
    let fetch = NewJob { kind: "fetch", payload: json!({"source": 1}), ..import("fetches") };
    enqueue(&ground.store, tenant, &fetch).await;

    let light = ground.store.claim_job(&["import"], "w", LEASE, 4).await.unwrap();
    assert_eq!(
        light, None,
        "a lane's oldest goes first, not its lightest; the one of later is in nobody's way"
    );
    let job = ground.store.claim_job(&["fetch"], "w", LEASE, 4).await.unwrap().unwrap();
    assert_eq!((job.kind.as_str(), &job.payload), ("fetch", &json!({"source": 1})));
    let job = ground.store.claim_job(&["import", "fetch"], "w", LEASE, 5).await.unwrap().unwrap();
    assert_eq!(job.job_no, heavy);
}

#[tokio::test]
async fn one_key_one_job() {
    let ground = Ground::with_connections(20).await;
    let (a, b) = (ground.tenant("a").await, ground.tenant("b").await);
    let mut adders = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let store = ground.store.clone();
        adders.spawn(async move {
            let mut tx = store.tenant(a).await.unwrap();
            let number = tx.enqueue_once(&import("imports"), "fetch:1").await.unwrap();
            tx.commit().await.unwrap();
            number
        });
    }
    let mut added = Vec::new();
    while let Some(number) = adders.join_next().await {
        added.extend(number.unwrap());
    }
    assert_eq!(added.len(), 1);
    // Another dealer, and the platform, have keys of their own.
    let mut tx = ground.store.platform().await.unwrap();
    assert!(tx.enqueue_once(Some(b), &import("imports"), "fetch:1").await.unwrap().is_some());
    assert!(tx.enqueue_once(None, &import("imports"), "fetch:1").await.unwrap().is_some());
    assert_eq!(tx.enqueue_once(Some(a), &import("imports"), "fetch:1").await.unwrap(), None);
    tx.commit().await.unwrap();

    let job = claim(&ground.store, "w").await.unwrap();
    assert_eq!(job.job_no, added[0]);
    let once = async || {
        let mut tx = ground.store.tenant(a).await.unwrap();
        let number = tx.enqueue_once(&import("imports"), "fetch:1").await.unwrap();
        tx.commit().await.unwrap();
        number
    };
    assert_eq!(once().await, None, "it runs");
    assert!(finish(&ground.store, &job).await);
    assert!(once().await.is_some());

    let of_b = claim(&ground.store, "w").await.unwrap();
    assert_eq!(of_b.tenant, Some(b));
    let ours = claim(&ground.store, "w").await.unwrap();
    assert_eq!(ours.tenant, None);
    let mut tx = ground.store.platform().await.unwrap();
    assert!(tx.finish_job(&ours).await.unwrap());
    tx.commit().await.unwrap();
    // What was given up is in the way of nothing.
    let job = claim(&ground.store, "w").await.unwrap();
    assert!(ground.store.give_up_job(&job, "no").await.unwrap());
    assert!(once().await.is_some());
}

#[tokio::test]
async fn idle_workers_hear_of_jobs() {
    let ground = Ground::new().await;
    let tenant = ground.tenant("a").await;
    let mut calls = ground.store.listen_jobs();
    let soon = Duration::from_secs(20);
    tokio::time::timeout(soon, calls.next()).await.unwrap().unwrap();
    for _ in 0..3 {
        enqueue(&ground.store, tenant, &import("imports")).await;
        tokio::time::timeout(soon, calls.next()).await.unwrap().unwrap();
    }
    let quiet = tokio::time::timeout(Duration::from_millis(200), calls.next()).await;
    assert!(quiet.is_err(), "nothing was added");
}
