//! What is forgotten for good, and who is asked most.

use store::{PlatformTx, TenantId, TenantState};

use super::model::{Dealer, check_between, check_delta, check_lot, random};
use crate::lots::unit;
use crate::support::{Ground, run};

#[tokio::test]
async fn a_forgotten_unit_makes_holders_of_older_lots_read_anew() {
    let ground = Ground::new().await;
    let mut random = random("forget");
    let mut dealer = Dealer::new(&ground, "a").await;
    let mut other = Dealer::new(&ground, "b").await;
    for _ in 0..15 {
        dealer.change(&ground, &mut random).await;
        other.change(&ground, &mut random).await;
    }
    let mut tx = ground.store.tenant(dealer.id).await.unwrap();
    let version = tx.lock_inventory().await.unwrap() + 1;
    tx.upsert_listings(version, &[unit("forgettable")]).await.unwrap();
    tx.remove_listings(version, &["forgettable"], "feed").await.unwrap();
    assert_eq!(tx.forget_removed(&["forgettable", "unheard of"]).await.unwrap(), 1);
    tx.publish_inventory(version).await.unwrap();
    tx.commit().await.unwrap();
    dealer.versions.push(dealer.versions.last().unwrap().clone());
    for since in 0..version {
        assert!(!check_delta(&ground, &dealer, since).await, "since {since}");
        // Pages of former versions go on: what is on offer is known to the end.
        assert!(check_between(&ground, &dealer, version, since).await);
        assert!(check_delta(&ground, &other, since.min(other.newest())).await);
    }
    assert!(check_delta(&ground, &dealer, version).await);
    for _ in 0..3 {
        dealer.change(&ground, &mut random).await;
    }
    assert!(!check_delta(&ground, &dealer, version - 1).await);
    assert!(check_delta(&ground, &dealer, version).await);
    check_lot(&ground, &dealer).await;

    // Nothing forgotten, nothing lost.
    let mut tx = ground.store.tenant(dealer.id).await.unwrap();
    assert_eq!(tx.forget_removed(&["unheard of"]).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert!(check_delta(&ground, &dealer, version).await);
}

#[tokio::test]
async fn forgetting_without_a_new_version_does_not_hide_the_current_one() {
    let ground = Ground::new().await;
    let dealer = Dealer::new(&ground, "a").await;
    let mut tx = ground.store.tenant(dealer.id).await.unwrap();
    tx.lock_inventory().await.unwrap();
    tx.upsert_removed(1, &[store::Removed { vehicle_id: "x".into(), vin: None, stock: None }], "sold")
        .await
        .unwrap();
    tx.publish_inventory(1).await.unwrap();
    tx.forget_removed(&["x"]).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = ground.store.tenant(dealer.id).await.unwrap();
    assert_eq!(tx.lot_delta(0).await.unwrap(), None);
    drop(tx);
    let mut tx = ground.store.tenant(dealer.id).await.unwrap();
    tx.lock_inventory().await.unwrap();
    tx.upsert_listings(2, &[unit("a")]).await.unwrap();
    tx.publish_inventory(2).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = ground.store.tenant(dealer.id).await.unwrap();
    assert_eq!(tx.lot_delta(1).await.unwrap(), None, "version 1 was read with the unit or without it");
    assert_eq!(tx.lot_delta(2).await.unwrap().unwrap().changed, []);
}

#[tokio::test]
async fn purging_removed_units_makes_only_those_read_anew_who_have_not_heard_of_the_removal() {
    let ground = Ground::new().await;
    let mut random = random("removed");
    let mut dealer = Dealer::new(&ground, "a").await;
    let mut other = Dealer::new(&ground, "b").await;
    for _ in 0..20 {
        dealer.change(&ground, &mut random).await;
        other.change(&ground, &mut random).await;
    }
    let mut admin = ground.superuser().await;
    let bound = 10;
    let sql = format!(
        "update removed_vehicles set removed_at = now() - interval '181 days'
         where tenant_id = '{}' and row_version <= {bound}",
        dealer.id
    );
    run(&mut admin, &sql).await;
    let newest: Option<i64> = sqlx::query_scalar(
        "select max(row_version) from removed_vehicles where removed_at < now() - interval '180 days'",
    )
    .fetch_one(&mut admin)
    .await
    .unwrap();
    let Some(newest) = newest else { return };
    let mut tx = ground.store.platform().await.unwrap();
    assert!(tx.purge_removed().await.unwrap() > 0);
    tx.commit().await.unwrap();
    let rows =
        "select min_delta_version from tenant_inventory i join tenants t using (tenant_id) order by slug";
    let bounds: Vec<i64> = sqlx::query_scalar(rows).fetch_all(&mut admin).await.unwrap();
    assert_eq!(bounds, [newest, 0]);
    for since in 0..=20 {
        let mut tx = ground.store.tenant_snapshot(dealer.id).await.unwrap();
        let delta = tx.lot_delta(since).await.unwrap();
        assert_eq!(delta.is_some(), i64::try_from(since).unwrap() >= newest, "since {since}");
        if let Some(delta) = delta {
            let led = dealer.at(since).clone().after(delta);
            assert!(led.offered == dealer.versions.last().unwrap().offered, "since {since}");
        }
        assert!(check_delta(&ground, &other, since).await);
    }
    // It never goes down again.
    run(&mut admin, "update removed_vehicles set removed_at = now() - interval '181 days'").await;
    let mut tx = ground.store.platform().await.unwrap();
    tx.purge_removed().await.unwrap();
    tx.commit().await.unwrap();
    let after: Vec<i64> = sqlx::query_scalar(rows).fetch_all(&mut admin).await.unwrap();
    assert!(after[0] >= newest && after.iter().all(|bound| *bound <= 20), "{after:?}");
}

async fn hottest(ground: &Ground, limit: u32) -> Vec<TenantId> {
    ground.store.platform().await.unwrap().hottest(limit).await.unwrap()
}

async fn ask(ground: &Ground, asked: &[(TenantId, u64)]) {
    let mut tx: PlatformTx = ground.store.platform().await.unwrap();
    tx.add_heat(asked).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn heat_halves_every_day_and_orders_dealers() {
    let ground = Ground::new().await;
    let mut ids = Vec::new();
    for slug in ["a", "b", "c", "d"] {
        let id = ground.tenant(slug).await;
        let mut tx = ground.store.tenant(id).await.unwrap();
        tx.lock_inventory().await.unwrap();
        tx.upsert_listings(1, &[unit("x")]).await.unwrap();
        tx.publish_inventory(1).await.unwrap();
        tx.commit().await.unwrap();
        ids.push(id);
    }
    let [a, b, c, d] = ids[..] else { panic!() };
    assert_eq!(hottest(&ground, 9).await, []);
    ask(&ground, &[]).await;
    // Twice in one report; a dealer that is not there; nothing.
    ask(&ground, &[(a, 60), (b, 150), (a, 40), (TenantId::new(), 1_000), (c, u64::MAX), (d, 0)]).await;
    assert_eq!(hottest(&ground, 9).await[..3], [c, b, a]);
    assert_eq!(hottest(&ground, 2).await, [c, b]);
    assert_eq!(hottest(&ground, 0).await, []);
    assert_eq!(hottest(&ground, u32::MAX).await[..3], [c, b, a]);

    let mut admin = ground.superuser().await;
    let heat = async |id: TenantId, admin: &mut sqlx::PgConnection| -> f64 {
        sqlx::query_scalar("select heat from tenant_heat where tenant_id = $1")
            .bind(id.0)
            .fetch_one(admin)
            .await
            .unwrap()
    };
    assert!((heat(a, &mut admin).await - 100.0).abs() < 0.1);
    // 150 of yesterday are 75 today, and those of three days ago an eighth.
    let back = |days: u32, id: TenantId| {
        format!(
            "update tenant_heat set noted_at = noted_at - interval '{days} days' where tenant_id = '{id}'"
        )
    };
    run(&mut admin, &back(1, b)).await;
    assert_eq!(hottest(&ground, 3).await, [c, a, b]);
    ask(&ground, &[(b, 30)]).await;
    assert!((heat(b, &mut admin).await - 105.0).abs() < 0.1);
    assert_eq!(hottest(&ground, 3).await, [c, b, a]);
    run(&mut admin, &back(3, a)).await;
    ask(&ground, &[(a, 1)]).await;
    assert!((heat(a, &mut admin).await - 13.5).abs() < 0.1);

    // Years without a question, or a clock that was put back, are no failure.
    run(&mut admin, &back(20_000, a)).await;
    run(
        &mut admin,
        &format!(
            "update tenant_heat set noted_at = noted_at + interval '20000 days' where tenant_id = '{d}'"
        ),
    )
    .await;
    assert_eq!(hottest(&ground, 9).await[..2], [c, b]);
    ask(&ground, &[(a, 0), (d, 1)]).await;
    run(&mut admin, &back(20_000, a)).await;
    ask(&ground, &[(a, 7)]).await;
    assert!((heat(a, &mut admin).await - 7.0).abs() < 0.1);

    // Suspended or without stock: not worth loading.
    let mut tx = ground.store.tenant(c).await.unwrap();
    let mut row = tx.lock().await.unwrap().unwrap();
    row.state = TenantState::Suspended;
    tx.save_tenant(&row).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = ground.store.tenant(b).await.unwrap();
    tx.lock_inventory().await.unwrap();
    tx.remove_listings(2, &["x"], "sold").await.unwrap();
    tx.publish_inventory(2).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(hottest(&ground, 9).await[..1], [a]);
    assert!(!hottest(&ground, 9).await.contains(&b));
}
