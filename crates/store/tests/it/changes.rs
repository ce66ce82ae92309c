//! Hearing of changes, also after the connection was lost; and pools that outlive a restart.

use std::time::Duration;

use store::{Change, Changes, Store, TenantId};
use tokio::time::timeout;

use crate::support::{Ground, OwnServer, run};

async fn next(changes: &mut Changes) -> Change {
    timeout(Duration::from_secs(20), changes.next()).await.expect("nothing was heard").unwrap()
}

async fn touch(store: &Store, id: TenantId) {
    let mut tx = store.tenant(id).await.unwrap();
    tx.bump_revision().await.unwrap();
    let version = tx.lock_inventory().await.unwrap() + 1;
    tx.publish_inventory(version).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn changes_are_heard_at_commit_and_after_the_connection_was_lost() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let mut changes = ground.store.listen().await.unwrap();
    assert_eq!(next(&mut changes).await, Change::Reconnected);

    let mut undone = ground.store.tenant(id).await.unwrap();
    undone.bump_revision().await.unwrap();
    undone.rollback().await.unwrap();
    touch(&ground.store, id).await;
    assert_eq!(next(&mut changes).await, Change::Tenant(id));
    assert_eq!(next(&mut changes).await, Change::Inventory(id, 1));

    let mut admin = ground.superuser().await;
    for round in 2..4 {
        run(
            &mut admin,
            "select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and query ilike 'listen%'",
        )
        .await;
        assert_eq!(next(&mut changes).await, Change::Reconnected);
        touch(&ground.store, id).await;
        assert_eq!(next(&mut changes).await, Change::Tenant(id));
        assert_eq!(next(&mut changes).await, Change::Inventory(id, round));
    }
    // A notice that is not ours disturbs nothing.
    run(&mut admin, "notify forecourt_tenant, 'x'; notify forecourt_inventory, 'x:y'").await;
    touch(&ground.store, id).await;
    assert_eq!(next(&mut changes).await, Change::Tenant(id));
}

#[tokio::test]
async fn every_dead_connection_of_the_pools_is_replaced() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let mut admin = ground.superuser().await;
    // Four idle connections of the application's pool.
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(ground.store.tenant(id).await.unwrap());
    }
    for tx in open {
        tx.rollback().await.unwrap();
    }
    run(
        &mut admin,
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()",
    )
    .await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    for _ in 0..6 {
        let mut tx = ground.store.tenant(id).await.unwrap();
        assert!(tx.row().await.unwrap().is_some());
        let mut platform = ground.store.platform().await.unwrap();
        assert_eq!(platform.directory().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_interrupted_read_is_done_again() {
    let ground = Ground::new().await;
    let id = ground.tenant("a").await;
    let times = std::sync::atomic::AtomicU32::new(0);
    let name = ground.name.clone();
    let row = ground
        .store
        .read(id, |tx| {
            let first = times.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
            let name = name.clone();
            Box::pin(async move {
                tx.row().await?;
                if first {
                    let mut admin = crate::support::superuser(crate::support::server(), &name).await;
                    run(&mut admin, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()").await;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                tx.row().await
            })
        })
        .await
        .unwrap();
    assert_eq!(row.unwrap().slug, "a");
    assert_eq!(times.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_comes_back_and_everything_goes_on() {
    let own = OwnServer::durable();
    let database = own.database("shop");
    store::setup::prepare(&database).await.unwrap();
    let store = Store::connect(&database, 4).await.unwrap();
    let mut tx = store.platform().await.unwrap();
    let id = tx.create_tenant("a").await.unwrap();
    tx.commit().await.unwrap();
    let mut changes = store.listen().await.unwrap();
    assert_eq!(next(&mut changes).await, Change::Reconnected);

    let before = own.server.pid();
    // SAFETY: the number is that of a server this test started.
    unsafe { libc::kill(i32::try_from(before).unwrap(), libc::SIGKILL) };
    assert_eq!(next(&mut changes).await, Change::Reconnected);
    assert_ne!(own.server.pid(), before);
    touch(&store, id).await;
    assert_eq!(next(&mut changes).await, Change::Tenant(id));
}

#[tokio::test]
async fn a_database_that_is_away_is_an_error_that_says_so() {
    let database = store::Database::from_url("postgres://nobody@127.0.0.1:1/none").unwrap();
    let error = Store::connect(&database, 2).await.unwrap_err();
    assert!(error.is_broken_connection(), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}
