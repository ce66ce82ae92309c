//! `kill -9` of the worker or of the database at random while lots of 2,000 rows come in: each lot is its old or its new
//! file, row for row, and every run comes to an end. `FORECOURT_SOAK=10` makes it two hundred imports.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sqlx::Row;
use testkit::{Options, OwnServer, Platform, soak};

use super::{PATIENCE, dealers, documents, hand_in, lot, rows, settled, store_on, stored, worker};

const SEED: u64 = 0xF00D_F00D;
const DEALERS: usize = 5;
const CARS: u32 = 2000;

/// A session of the database that works for the worker; killed with -9, PostgreSQL ends all others and recovers.
async fn backend(server: &OwnServer) -> Option<i32> {
    let mut admin = server.superuser(server.database()).await;
    let busy =
        "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
                order by (state = 'active') desc, random() limit 1";
    sqlx::query(busy).fetch_optional(&mut admin).await.unwrap().map(|row| row.get::<i32, _>(0))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_kill_9_each_lot_is_its_old_or_its_new_file() {
    let rounds = soak(4);
    let mut random = StdRng::seed_from_u64(SEED);
    let server = OwnServer::start("feeds-killed");
    let database = server.database().clone();
    let platform =
        Platform::start_with(Options { database: Some(database.clone()), ..Options::default() }).await;
    let slugs: Vec<String> = (0..DEALERS).map(|dealer| format!("dealer-{dealer}")).collect();
    platform.provision(&documents(&slugs)).await;
    platform.stop().await;
    let store = store_on(&database).await;
    let dealers = dealers(&store, &slugs).await;
    let tenants: Vec<_> = dealers.iter().map(|(tenant, _)| *tenant).collect();
    let url = server.url(&database, "postgres");
    let mut working = worker(&url);
    working.wait_for("worker is ready", PATIENCE);

    let began = Instant::now();
    for (tenant, source) in &dealers {
        hand_in(&store, *tenant, *source, lot(CARS, 0)).await.unwrap();
    }
    settled(&store, &tenants, "at first").await;
    let usual = began.elapsed();
    let mut old = [0; DEALERS];
    let (mut imports, mut unfinished, mut mixed) = (DEALERS, 0, 0);
    for round in 1..=rounds {
        let version = u32::try_from(round).unwrap();
        let kills_database = random.random_ratio(1, 2);
        let wait = usual.mul_f64(random.random_range(0.0..1.0));
        let context = format!("seed {SEED:#x}, round {round}, database {kills_database}, after {wait:?}");
        let handing = async {
            for (tenant, source) in &dealers {
                // The database may be killed while the file comes in: then it is there, or it is not.
                let _ = hand_in(&store, *tenant, *source, lot(CARS, version)).await;
            }
        };
        let killing = async {
            tokio::time::sleep(wait).await;
            if kills_database {
                if let Some(pid) = backend(&server).await {
                    // SAFETY: a process of the server that this test started.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                }
            } else {
                working.kill();
            }
        };
        tokio::join!(handing, killing);
        imports += DEALERS;

        // At once, before anybody has gone on with anything: old or new, and nothing between.
        let mut renewed = 0;
        for ((tenant, _), old) in dealers.iter().zip(&old) {
            let until = Instant::now() + Duration::from_secs(30);
            let found = loop {
                match stored(&store, *tenant).await {
                    Ok(found) => break found,
                    Err(why) => assert!(Instant::now() < until, "{why}. {context}"),
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            };
            let is_new = found == rows(CARS, version);
            assert!(
                is_new || found == rows(CARS, *old),
                "a lot is neither its old nor its new file. {context}"
            );
            renewed += usize::from(is_new);
        }
        println!("{context}: {renewed} of {DEALERS} lots were new");
        mixed += usize::from(renewed > 0 && renewed < DEALERS);
        unfinished += DEALERS - renewed;

        if kills_database {
            assert!(working.has_ended().is_none(), "{:#?} {context}", working.lines());
        } else {
            working = worker(&url);
            working.wait_for("worker is ready", PATIENCE);
        }
        let all = settled(&store, &tenants, &context).await;
        for (((tenant, _), old), runs) in dealers.iter().zip(&mut old).zip(&all) {
            let found = stored(&store, *tenant).await.unwrap();
            let of_now = runs.last().unwrap();
            assert!(of_now.state.is_good(), "{of_now:#?} {context}");
            if found == rows(CARS, version) {
                *old = version;
            } else {
                // Its file did not come in, and nothing says that it did.
                assert!(
                    found == rows(CARS, *old),
                    "a lot is neither its old nor its new file in the end. {context}"
                );
                assert!(kills_database, "{context}");
            }
        }
    }
    println!(
        "{imports} imports of {CARS} rows, {rounds} kills: {unfinished} lots were still old at the kill, {mixed} rounds had \
         old and new ones, {:?} in all",
        began.elapsed()
    );
}
