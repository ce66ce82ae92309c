//! From every version to every other.

use contract::Listing;
use rand::RngExt;

use super::model::{Dealer, State, check_between, check_delta, check_lot, random, soak};
use crate::lots::{full, unit};
use crate::support::Ground;

#[tokio::test]
async fn any_version_leads_to_any_other() {
    let ground = Ground::new().await;
    let mut random = random("pairs");
    // The same ids in both.
    let mut dealers = [Dealer::new(&ground, "a").await, Dealer::new(&ground, "b").await];
    for _ in 0..2 * 75 {
        let one = usize::from(random.random::<bool>());
        dealers[one].change(&ground, &mut random).await;
        if random.random_ratio(1, 10) {
            for dealer in &dealers {
                check_lot(&ground, dealer).await;
            }
        }
    }
    for dealer in &dealers {
        check_lot(&ground, dealer).await;
        let newest = dealer.newest();
        let empty = dealer.versions.iter().skip(1).filter(|state| state.offered.is_empty()).count();
        eprintln!("{newest} versions, {empty} of them empty");
        for since in 0..=newest {
            assert!(check_delta(&ground, dealer, since).await, "since {since}");
            assert!(check_between(&ground, dealer, since, since).await);
            assert!(check_between(&ground, dealer, newest, since).await);
            assert!(check_between(&ground, dealer, since, newest).await);
        }
        for _ in 0..400 * soak() {
            let (held, wanted) = (random.random_range(0..=newest), random.random_range(0..=newest));
            assert!(check_between(&ground, dealer, held, wanted).await, "{held} to {wanted}");
        }
        // What was never there.
        let mut tx = ground.store.tenant_snapshot(dealer.id).await.unwrap();
        for (held, wanted) in
            [(newest, newest + 1), (newest + 1, newest), (0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)]
        {
            assert_eq!(tx.lot_between(held, wanted).await.unwrap(), None, "{held} to {wanted}");
        }
        for since in [newest + 1, u64::MAX] {
            assert_eq!(tx.lot_delta(since).await.unwrap(), None);
        }
    }
    let mut nobody = ground.store.tenant_snapshot(store::TenantId::new()).await.unwrap();
    assert_eq!(nobody.lot_between(0, 0).await.unwrap(), None);
    assert_eq!(nobody.lot_delta(0).await.unwrap(), None);
}

#[tokio::test]
async fn versions_of_several_chunks() {
    let ground = Ground::new().await;
    let mut dealer = Dealer::new(&ground, "a").await;
    let plain = |price: i64| -> Vec<Listing> {
        (0..2_100).map(|number| Listing { price: Some(price), ..unit(&format!("{number:04}")) }).collect()
    };
    for version in 1..=4_u64 {
        let mut tx = ground.store.tenant(dealer.id).await.unwrap();
        assert_eq!(tx.lock_inventory().await.unwrap() + 1, version);
        let mut state = dealer.versions.last().unwrap().clone();
        if version == 3 {
            let ids: Vec<String> = state.offered.keys().cloned().collect();
            tx.remove_listings(version, &ids, "cleared").await.unwrap();
            state = State { removed: state.offered.values().map(trace).collect(), ..State::default() };
        } else {
            // Twice each in one version: the first of them was never part of any.
            for price in [7_000, i64::try_from(version).unwrap()] {
                tx.upsert_listings(version, &plain(price)).await.unwrap();
            }
            tx.upsert_listings(version, &[full(1)]).await.unwrap();
            plain(i64::try_from(version).unwrap()).into_iter().for_each(|unit| state.upsert(unit));
            state.upsert(full(1));
        }
        tx.publish_inventory(version).await.unwrap();
        tx.commit().await.unwrap();
        dealer.versions.push(state);
    }
    check_lot(&ground, &dealer).await;
    for held in 0..=4 {
        assert!(check_delta(&ground, &dealer, held).await);
        for wanted in 0..=4 {
            assert!(check_between(&ground, &dealer, held, wanted).await);
        }
    }
}

fn trace(unit: &Listing) -> (String, store::Removed) {
    let (vin, stock) = (unit.vin.clone(), unit.stock.clone());
    (unit.vehicle_id.clone(), store::Removed { vehicle_id: unit.vehicle_id.clone(), vin, stock })
}
