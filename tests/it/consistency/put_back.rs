//! The database is put back to an earlier state while nodes serve, and goes another way from there.

use std::time::{Duration, Instant};

use sqlx::PgConnection;
use testkit::{Platform, cluster};

use super::asking::Client;
use super::lots::Question;
use super::writing::{Dealer, Writer, dealers, documents};

const ALL: Question = Question { make: None, descending: false, limit: 20 };
const TABLES: [&str; 3] = ["vehicles", "removed_vehicles", "tenant_inventory"];

async fn run(admin: &mut PgConnection, sql: String) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(admin).await.unwrap();
}

/// What a node answers once it has had time to learn of everything.
async fn settled(node: &Platform, dealer: &Dealer) {
    let began = Instant::now();
    loop {
        let outcome = Client::new().ask(&node.origin, &dealer.slug, ALL.search(None), None).await;
        let (version, page) = outcome.answer();
        if version == dealer.begun() || began.elapsed() > Duration::from_secs(3) {
            assert_eq!(version, dealer.begun(), "the node holds a version that is not there any more");
            ALL.check_page(dealer.salt, version, 0, &page);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lot_of_a_time_that_never_was_is_not_mixed_into_the_new_one() {
    let node = Platform::start().await;
    node.provision(&documents(&["back"])).await;
    let dealer = dealers(node.application().store(), &["back"]).await.remove(0);
    let mut writer = Writer::new(&node.database).await;
    let mut admin = cluster().superuser(&node.database).await;
    dealer.write(&mut writer, true).await;
    let kept = dealer.branch();
    for table in TABLES {
        run(&mut admin, format!("create table public.kept_{table} as select * from {table}")).await;
    }
    for _ in 0..4 {
        dealer.write(&mut writer, true).await;
    }
    settled(&node, &dealer).await;

    let mut restore = "begin; set local session_replication_role = replica;".to_owned();
    for table in TABLES {
        restore.push_str(&format!(
            "delete from {table}; insert into {table} select * from public.kept_{table};"
        ));
    }
    restore.push_str("delete from superseded_vehicles; delete from inventory_versions; commit");
    run(&mut admin, restore).await;
    settled(&node, &kept).await;
    // Another way from here, beyond the numbers of the first.
    for _ in 0..6 {
        kept.write_whole(&mut writer, 1_000).await;
    }
    let other = kept.with_salt(1_000);
    settled(&node, &other).await;
    node.stop().await;
}
