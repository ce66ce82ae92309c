//! What the way between versions costs: small answers must not read whole lots, whatever the statistics say.

use std::time::{Duration, Instant};

use contract::Listing;
use sqlx::{AssertSqlSafe, PgConnection};
use store::TenantId;

use crate::lots::full;
use crate::support::{Ground, run};

/// A unit with documents of the usual size.
fn sized(number: i64, price: i64) -> Listing {
    let mut unit = full(number);
    unit.price = Some(price);
    let mut filler = String::new();
    while filler.len() < 2_500 {
        filler.push_str(&uuid::Uuid::new_v4().to_string());
    }
    unit.listing = filler[..900].to_owned();
    unit.detail = Some(filler[..2_300].to_owned());
    unit
}

async fn write(ground: &Ground, id: TenantId, units: &[Listing]) -> Duration {
    let mut tx = ground.store.tenant(id).await.unwrap();
    let version = tx.lock_inventory().await.unwrap() + 1;
    let began = Instant::now();
    tx.upsert_listings(version, units).await.unwrap();
    tx.publish_inventory(version).await.unwrap();
    tx.commit().await.unwrap();
    began.elapsed()
}

async fn number(admin: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(admin).await.unwrap()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Scans of whole tables, and rows that were read through an index.
async fn reads(admin: &mut PgConnection) -> [i64; 2] {
    run(admin, "select pg_stat_clear_snapshot()").await;
    let of = "from pg_stat_user_tables where relname in ('vehicles', 'superseded_vehicles')";
    [
        number(admin, &format!("select sum(seq_scan)::bigint {of}")).await,
        number(admin, &format!("select sum(idx_tup_fetch)::bigint {of}")).await,
    ]
}

#[tokio::test]
async fn small_questions_read_few_rows() {
    let ground = Ground::with_connections(2).await;
    let mut admin = ground.superuser().await;
    let mut ids = Vec::new();
    let units: Vec<Listing> = (0..200).map(full).collect();
    for number in 0..15 {
        let id = ground.tenant(&format!("t{number}")).await;
        write(&ground, id, &units).await;
        ids.push(id);
    }
    // The first one has few versions beside the others', and is the largest.
    let units: Vec<Listing> = (0..1_500).map(full).collect();
    write(&ground, ids[0], &units).await;
    for round in 0..8 {
        for id in &ids[1..] {
            let units: Vec<Listing> = (0..20).map(|number| sized(number * 7 + round, round)).collect();
            write(&ground, *id, &units).await;
        }
    }
    write(&ground, ids[0], &[sized(1, 7)]).await;
    ground.store.close().await;
    run(&mut admin, "analyze").await;

    let store = store::Store::connect(ground.store.database(), 2).await.unwrap();
    let before = reads(&mut admin).await;
    let mut questions = 0;
    // Often enough that the server plans for any arguments.
    for _ in 0..8 {
        for id in [ids[0], ids[1], ids[14]] {
            let mut tx = store.tenant_snapshot(id).await.unwrap();
            let newest = tx.inventory_version().await.unwrap();
            tx.lot_delta(newest - 1).await.unwrap().unwrap();
            tx.lot_between(newest - 1, newest).await.unwrap().unwrap();
            tx.lot_between(newest, newest - 1).await.unwrap().unwrap();
            questions += 3;
        }
    }
    // Connections hand in their counts when they end.
    store.close().await;
    let mut after = reads(&mut admin).await;
    let deadline = Instant::now() + Duration::from_secs(10);
    while after[1] == before[1] && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
        after = reads(&mut admin).await;
    }
    assert_eq!(after[0] - before[0], 0, "whole tables were read");
    let each = (after[1] - before[1]) / questions;
    eprintln!("{each} rows read for each question");
    assert!((1..=100).contains(&each), "{each} rows for each question");
}

#[tokio::test]
#[ignore = "a measurement"]
async fn measure_deltas() {
    let ground = Ground::with_connections(2).await;
    let mut admin = ground.superuser().await;
    let mut ids = Vec::new();
    for number in 0..50 {
        let id = ground.tenant(&format!("t{number}")).await;
        let units: Vec<Listing> = (0..300).map(|number| sized(number, 1)).collect();
        write(&ground, id, &units).await;
        ids.push(id);
    }
    // One whose versions are few beside the others', and large.
    let large = ground.tenant("large").await;
    let units: Vec<Listing> = (0..10_000).map(|number| sized(number, 1)).collect();
    write(&ground, large, &units).await;
    for round in 0..10 {
        for id in &ids {
            let units: Vec<Listing> = (0..20).map(|number| sized(number * 7 + round, round)).collect();
            write(&ground, *id, &units).await;
        }
    }
    for round in 0..3 {
        write(&ground, large, &[sized(round, 7)]).await;
    }
    for analysed in [false, true] {
        if analysed {
            run(&mut admin, "analyze").await;
        }
        eprintln!("analysed: {analysed}");
        for (name, id) in [("small", ids[3]), ("large", large)] {
            let newest = ground.store.tenant(id).await.unwrap().inventory_version().await.unwrap();
            for back in [0, 1, 3] {
                let (mut deltas, mut between, mut backward) = (Vec::new(), Vec::new(), Vec::new());
                for _ in 0..40 {
                    let mut tx = ground.store.tenant_snapshot(id).await.unwrap();
                    tx.inventory_version().await.unwrap();
                    let began = Instant::now();
                    tx.lot_delta(newest - back).await.unwrap().unwrap();
                    deltas.push(began.elapsed());
                    let began = Instant::now();
                    tx.lot_between(newest - back, newest).await.unwrap().unwrap();
                    between.push(began.elapsed());
                    let began = Instant::now();
                    tx.lot_between(newest, newest - back).await.unwrap().unwrap();
                    backward.push(began.elapsed());
                }
                eprintln!(
                    "{name} {back} back: delta {:?}, forward {:?}, backward {:?}",
                    median(deltas),
                    median(between),
                    median(backward)
                );
            }
        }
    }
}

#[tokio::test]
#[ignore = "a measurement"]
async fn measure_triggers() {
    let ground = Ground::with_connections(2).await;
    let mut admin = ground.superuser().await;
    let id = ground.tenant("large").await;
    let units: Vec<Listing> = (0..10_000).map(|number| sized(number, 1)).collect();
    write(&ground, id, &units).await;
    run(&mut admin, "vacuum analyze").await;
    let mut figures = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for round in 0..30 {
        let on = round % 2 == 0;
        let word = if on { "enable" } else { "disable" };
        run(&mut admin, &format!("alter table vehicles {word} trigger user; alter table tenant_inventory {word} trigger user; checkpoint")).await;
        // Full-page images once, before.
        let changed: Vec<Listing> =
            (0..200).map(|number| sized(number * 50 + 1 + round % 3, round)).collect();
        write(&ground, id, &changed).await;
        let changed: Vec<Listing> =
            (0..200).map(|number| sized(number * 50 + 1 + round % 3, round + 100)).collect();
        let before = number(&mut admin, "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").await;
        let took = write(&ground, id, &changed).await;
        let after = number(&mut admin, "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").await;
        figures[usize::from(on)].0.push(took);
        figures[usize::from(on)].1.push(Duration::from_nanos(u64::try_from(after - before).unwrap()));
    }
    for (word, (times, wal)) in ["without", "with"].iter().zip(figures) {
        eprintln!(
            "{word} triggers: {:?} and {} bytes of WAL for 200 rows",
            median(times),
            median(wal).as_nanos()
        );
    }
}
