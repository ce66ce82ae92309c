//! Former versions that are gone are refused and never mistaken: purged, emptied, with gaps, after a crash.

use sqlx::AssertSqlSafe;
use store::{Store, TenantId};

use super::model::{Dealer, check_between, check_delta, check_lot, random};
use crate::support::{Ground, OwnServer, run};

async fn two_dealers(ground: &Ground, name: &str) -> [Dealer; 2] {
    let mut random = random(name);
    let mut dealers = [Dealer::new(ground, "a").await, Dealer::new(ground, "b").await];
    for _ in 0..30 {
        for dealer in &mut dealers {
            dealer.change(ground, &mut random).await;
        }
    }
    dealers
}

/// Exactly those pairs are answered, and rightly, that need nothing older than `oldest`.
async fn answers_from(ground: &Ground, dealer: &Dealer, oldest: u64) {
    let newest = dealer.newest();
    for one in (0..=newest).step_by(3).chain([newest, oldest, oldest.saturating_sub(1)]) {
        for (held, wanted) in [(newest, one), (one, newest), (one, (one + 4).min(newest)), (one, one)] {
            let answered = check_between(ground, dealer, held, wanted).await;
            assert_eq!(
                answered,
                held.min(wanted) >= oldest,
                "{held} to {wanted} with those from {oldest} on"
            );
        }
        // The current lot does not depend on former versions.
        assert!(check_delta(ground, dealer, one).await);
    }
}

async fn age(ground: &Ground, id: TenantId, up_to: u64, minutes: u32) {
    let sql = format!(
        "update inventory_versions set published_at = clock_timestamp() - interval '{minutes} minutes'
         where tenant_id = '{id}' and version <= {up_to}"
    );
    run(&mut ground.superuser().await, &sql).await;
}

async fn purge(ground: &Ground) -> u64 {
    let mut tx = ground.store.platform().await.unwrap();
    let gone = tx.purge_superseded().await.unwrap();
    tx.commit().await.unwrap();
    gone
}

async fn count(ground: &Ground, what: &str) -> i64 {
    let sql = AssertSqlSafe(format!("select count(*) from {what}"));
    sqlx::query_scalar(sql).fetch_one(&mut ground.superuser().await).await.unwrap()
}

#[tokio::test]
async fn what_was_purged_is_refused_and_the_rest_goes_on() {
    let ground = Ground::new().await;
    let [mut a, b] = two_dealers(&ground, "purge").await;
    assert_eq!(purge(&ground).await, 0);
    age(&ground, a.id, 12, 15).await;
    assert_eq!(purge(&ground).await, 0, "a cursor of these may still be alive");
    age(&ground, a.id, 12, 17).await;
    assert_eq!(purge(&ground).await, 12);
    assert_eq!(purge(&ground).await, 0);
    let kept = format!("superseded_vehicles where tenant_id = '{}' and replaced_by <= 12", a.id);
    assert_eq!(count(&ground, &kept).await, 0);
    answers_from(&ground, &a, 12).await;
    answers_from(&ground, &b, 0).await;

    // Work goes on over it.
    let mut random = random("after the purge");
    for _ in 0..10 {
        a.change(&ground, &mut random).await;
    }
    answers_from(&ground, &a, 12).await;
    age(&ground, a.id, a.newest(), 17).await;
    age(&ground, b.id, b.newest(), 17).await;
    assert_eq!(purge(&ground).await, 28 + 30);
    assert_eq!(count(&ground, "superseded_vehicles").await, 0);
    answers_from(&ground, &a, a.newest()).await;
    check_lot(&ground, &a).await;
}

#[tokio::test]
async fn a_gap_is_noticed() {
    let ground = Ground::new().await;
    let [a, b] = two_dealers(&ground, "gap").await;
    // The clock was put back, for one: a version in the middle was old when those before it were not.
    let sql = format!(
        "update inventory_versions set published_at = '2020-01-01' where tenant_id = '{}' and version = 9",
        a.id
    );
    run(&mut ground.superuser().await, &sql).await;
    assert_eq!(purge(&ground).await, 1);
    answers_from(&ground, &a, 9).await;
    // A program of before that noted nothing, or a note that was lost alone.
    let sql = format!("delete from inventory_versions where tenant_id = '{}' and version in (20, 28)", a.id);
    run(&mut ground.superuser().await, &sql).await;
    answers_from(&ground, &a, 28).await;
    answers_from(&ground, &b, 0).await;
}

#[tokio::test]
async fn emptied_tables_refuse_former_versions_and_new_ones_are_kept() {
    let ground = Ground::new().await;
    let [mut a, b] = two_dealers(&ground, "emptied").await;
    run(&mut ground.superuser().await, "truncate inventory_versions, superseded_vehicles").await;
    answers_from(&ground, &a, a.newest()).await;
    answers_from(&ground, &b, b.newest()).await;
    let emptied_at = a.newest();
    let mut random = random("after it was emptied");
    for _ in 0..12 {
        a.change(&ground, &mut random).await;
        answers_from(&ground, &a, emptied_at).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_empties_what_is_kept_of_former_versions_and_nothing_else() {
    let own = OwnServer::durable();
    let database = own.database("shop");
    store::setup::prepare(&database).await.unwrap();
    let ground = Ground { store: Store::connect(&database, 4).await.unwrap(), name: "shop".to_owned() };
    let mut dealer = Dealer::new(&ground, "a").await;
    let mut random = random("crash");
    for _ in 0..10 {
        dealer.change(&ground, &mut random).await;
    }
    let kept =
        "select (select count(*) from inventory_versions) + (select count(*) from superseded_vehicles)";
    let before: i64 = sqlx::query_scalar(kept).fetch_one(&mut own.superuser("shop").await).await.unwrap();
    assert!(before > 10);
    run(&mut own.superuser("shop").await, "checkpoint").await;
    dealer.change(&ground, &mut random).await;

    let old = own.server.pid();
    let mut changes = ground.store.listen().await.unwrap();
    changes.next().await.unwrap();
    // SAFETY: the number is that of a server this test started.
    unsafe { libc::kill(i32::try_from(old).unwrap(), libc::SIGKILL) };
    changes.next().await.unwrap();
    assert_ne!(own.server.pid(), old);
    let after: i64 = sqlx::query_scalar(kept).fetch_one(&mut own.superuser("shop").await).await.unwrap();
    assert_eq!(after, 0);
    check_lot(&ground, &dealer).await;
    let crashed_at = dealer.newest();
    answers_from(&ground, &dealer, crashed_at).await;
    for _ in 0..10 {
        dealer.change(&ground, &mut random).await;
        check_lot(&ground, &dealer).await;
    }
    answers_from(&ground, &dealer, crashed_at).await;
    let mut tx = ground.store.platform().await.unwrap();
    assert_eq!(tx.purge_superseded().await.unwrap(), 0);
}
