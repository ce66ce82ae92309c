//! The record, and a writer that changes lots in every way there is.

use std::collections::BTreeMap;

use contract::Listing;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use store::{LotDelta, Removed, TenantId, TenantTx};

use crate::lots::full;
use crate::support::Ground;

/// A lot as it was: what is on offer and what is known to be gone, by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct State {
    pub(super) offered: BTreeMap<String, Listing>,
    pub(super) removed: BTreeMap<String, Removed>,
}

impl State {
    pub(super) fn upsert(&mut self, unit: Listing) {
        self.removed.remove(&unit.vehicle_id);
        self.offered.insert(unit.vehicle_id.clone(), unit);
    }

    fn remove(&mut self, id: &str) {
        if let Some(unit) = self.offered.remove(id) {
            let trace = Removed { vehicle_id: id.to_owned(), vin: unit.vin, stock: unit.stock };
            self.removed.insert(id.to_owned(), trace);
        }
    }

    fn sold(&mut self, unit: Removed) {
        self.offered.remove(&unit.vehicle_id);
        self.removed.insert(unit.vehicle_id.clone(), unit);
    }

    /// Without detail documents, which former versions do not have.
    pub(super) fn paged(&self) -> BTreeMap<String, Listing> {
        let plain = |unit: &Listing| Listing { detail: None, ..unit.clone() };
        self.offered.iter().map(|(id, unit)| (id.clone(), plain(unit))).collect()
    }

    /// What a holder of this lot makes of a delta.
    pub(super) fn after(mut self, delta: LotDelta) -> State {
        let mut touched = std::collections::HashSet::new();
        for id in delta.dropped {
            assert!(self.offered.remove(&id).is_some(), "{id} is dropped and was not there");
            touched.insert(id);
        }
        for unit in delta.removed {
            assert!(touched.insert(unit.vehicle_id.clone()), "{} twice", unit.vehicle_id);
            self.sold(unit);
        }
        for unit in delta.changed {
            assert!(touched.insert(unit.vehicle_id.clone()), "{} twice", unit.vehicle_id);
            self.upsert(unit);
        }
        self
    }
}

/// How many times as much is tried.
pub(super) fn soak() -> usize {
    std::env::var("FORECOURT_SOAK").ok().and_then(|times| times.parse().ok()).unwrap_or(1).max(1)
}

/// Numbers that a failure can be repeated with: `STORE_SEED`.
pub(super) fn random(name: &str) -> StdRng {
    let given = std::env::var("STORE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(rand::random);
    eprintln!("{name}: STORE_SEED={seed}");
    StdRng::seed_from_u64(seed)
}

/// A dealer and every version that its lot had.
pub(super) struct Dealer {
    pub(super) id: TenantId,
    /// By version; the first is the empty lot.
    pub(super) versions: Vec<State>,
}

impl Dealer {
    pub(super) async fn new(ground: &Ground, slug: &str) -> Dealer {
        Dealer { id: ground.tenant(slug).await, versions: vec![State::default()] }
    }

    pub(super) fn newest(&self) -> u64 {
        u64::try_from(self.versions.len() - 1).unwrap()
    }

    pub(super) fn at(&self, version: u64) -> &State {
        &self.versions[usize::try_from(version).unwrap()]
    }

    /// Makes the next version, now and then after a writer that gives up.
    pub(super) async fn change(&mut self, ground: &Ground, random: &mut StdRng) {
        while random.random_ratio(1, 6) {
            let mut tx = ground.store.tenant(self.id).await.unwrap();
            let version = tx.lock_inventory().await.unwrap() + 1;
            self.scribble(&mut tx, version, random).await;
            if random.random() {
                tx.publish_inventory(version).await.unwrap();
            }
            tx.rollback().await.unwrap();
        }
        let mut tx = ground.store.tenant(self.id).await.unwrap();
        let version = tx.lock_inventory().await.unwrap() + 1;
        assert_eq!(version, self.newest() + 1);
        let next = self.scribble(&mut tx, version, random).await;
        tx.publish_inventory(version).await.unwrap();
        tx.commit().await.unwrap();
        self.versions.push(next);
    }

    async fn scribble(&self, tx: &mut TenantTx, version: u64, random: &mut StdRng) -> State {
        let mut state = self.versions.last().unwrap().clone();
        scribble(tx, version, &mut state, &self.versions, random).await;
        state
    }
}

const IDS: i64 = 40;

fn id(random: &mut StdRng) -> String {
    format!("ид-{}", random.random_range(0..IDS))
}

/// Several steps of one version; `former` is what units may go back to.
pub(super) async fn scribble(
    tx: &mut TenantTx,
    version: u64,
    state: &mut State,
    former: &[State],
    random: &mut StdRng,
) {
    for _ in 0..random.random_range(1..5) {
        match random.random_range(0..12) {
            // New, changed, back from removal, back to what it was, the same again, the same id twice.
            0..7 => {
                let mut units: Vec<Listing> = Vec::new();
                for _ in 0..random.random_range(1..8) {
                    let id = id(random);
                    let old = former.choose(random).and_then(|state| state.offered.get(&id)).cloned();
                    let new = Listing { vehicle_id: id, ..full(random.random_range(0..500)) };
                    units.push(old.filter(|_| random.random()).unwrap_or(new));
                }
                tx.upsert_listings(version, &units).await.unwrap();
                units.into_iter().for_each(|unit| state.upsert(unit));
            }
            7..10 => {
                let ids: Vec<String> = (0..random.random_range(1..6)).map(|_| id(random)).collect();
                tx.remove_listings(version, &ids, "feed").await.unwrap();
                ids.iter().for_each(|id| state.remove(id));
            }
            10 => {
                let stock = Some(format!("sold {}", random.random_range(0..9)));
                let unit = Removed { vehicle_id: id(random), vin: None, stock };
                tx.upsert_removed(version, std::slice::from_ref(&unit), "sold").await.unwrap();
                state.sold(unit);
            }
            _ if random.random_ratio(1, 4) => {
                let all: Vec<String> = state.offered.keys().cloned().collect();
                tx.remove_listings(version, &all, "cleared").await.unwrap();
                all.iter().for_each(|id| state.remove(id));
            }
            _ => {}
        }
    }
}

/// `lot_between`, applied: exactly the wanted version, whichever was held. `false` where it cannot be told.
pub(super) async fn check_between(ground: &Ground, dealer: &Dealer, held: u64, wanted: u64) -> bool {
    let mut tx = ground.store.tenant_snapshot(dealer.id).await.unwrap();
    let Some(delta) = tx.lot_between(held, wanted).await.unwrap() else { return false };
    assert_eq!(delta.version, wanted);
    assert!(delta.removed.is_empty());
    let is = dealer.at(held).clone().after(delta);
    assert!(is.paged() == dealer.at(wanted).paged(), "{held} to {wanted} leads elsewhere");
    for (id, unit) in &is.offered {
        let was = &dealer.at(wanted).offered[id];
        let newest = wanted == dealer.newest() && held < wanted;
        assert!(unit.detail == was.detail || (unit.detail.is_none() && !newest), "detail of {id}");
    }
    true
}

/// `lot_delta`, applied: exactly the lot as it is. `false` where it cannot be told.
pub(super) async fn check_delta(ground: &Ground, dealer: &Dealer, since: u64) -> bool {
    let mut tx = ground.store.tenant_snapshot(dealer.id).await.unwrap();
    let Some(delta) = tx.lot_delta(since).await.unwrap() else { return false };
    assert_eq!(delta.version, dealer.newest());
    assert!(delta.dropped.is_empty());
    assert!(dealer.at(since).clone().after(delta) == *dealer.versions.last().unwrap(), "since {since}");
    true
}

/// The lot, read whole, is the newest version.
pub(super) async fn check_lot(ground: &Ground, dealer: &Dealer) {
    let lot = ground.store.read(dealer.id, |tx| Box::pin(async move { tx.lot().await })).await.unwrap();
    assert_eq!(lot.version, dealer.newest());
    let newest = dealer.versions.last().unwrap();
    assert!(
        lot.listings.iter().eq(newest.offered.values()) && lot.removed.iter().eq(newest.removed.values())
    );
    let mut platform = ground.store.platform().await.unwrap();
    let units = platform.directory_of(dealer.id).await.unwrap().unwrap().units;
    assert_eq!(units, i64::try_from(newest.offered.len()).unwrap());
}
