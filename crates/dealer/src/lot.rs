//! Lots in memory: loaded once, refreshed when they change, and older versions kept while a cursor can live.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inventory::{Removed, Snapshot};
use moka::future::Cache;
use store::{Store, TenantId};
use tokio::sync::Semaphore;

/// How long a cursor lives, in seconds; a version from which one was issued is kept that long.
pub(crate) const CURSOR_SECONDS: u64 = 15 * 60;

/// How many superseded versions of one lot are kept at most; beyond it the oldest cursors end early.
const MAX_OLDER: usize = 32;

/// How long reading a lot may take. The largest take a few seconds.
const LOAD: Duration = Duration::from_secs(30);

/// A snapshot, and until when a cursor issued from it is alive.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) snapshot: Snapshot,
    cursors_until: AtomicU64,
}

/// In the place of a time: the version was given up, and no cursor may be issued from it any more.
const GIVEN_UP: u64 = u64::MAX;

impl Held {
    /// Keeps the version until `until` (unix seconds), for a cursor that is about to be issued; `false` when it has
    /// been given up meanwhile.
    pub(crate) fn keep_until(&self, until: u64) -> bool {
        let kept = |now: u64| (now != GIVEN_UP).then(|| now.max(until));
        self.cursors_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, kept).is_ok()
    }

    /// Gives the version up unless a cursor needs it. One step, so that no cursor is issued in between.
    fn give_up(&self, now: u64) -> bool {
        let unneeded = |until: u64| (until <= now || until == GIVEN_UP).then_some(GIVEN_UP);
        self.cursors_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, unneeded).is_ok()
    }
}

/// One lot at one time: the current version and those that living cursors need. Immutable; a refresh makes a
/// new one, so that the cache weighs it anew.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) current: Arc<Held>,
    older: Vec<Arc<Held>>,
}

impl View {
    /// The version a cursor names, if it is still held.
    pub(crate) fn at(&self, version: u64) -> Option<&Arc<Held>> {
        std::iter::once(&self.current).chain(&self.older).find(|held| held.snapshot.version() == version)
    }

    fn weight(&self) -> u32 {
        let bytes: usize =
            std::iter::once(&self.current).chain(&self.older).map(|held| held.snapshot.weight()).sum();
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    fn superseded(&self, next: Arc<Held>, now: u64) -> View {
        let mut older: Vec<_> = std::iter::once(&self.current)
            .chain(&self.older)
            .filter(|held| !held.give_up(now))
            .cloned()
            .collect();
        older.truncate(MAX_OLDER);
        View { current: next, older }
    }
}

/// All lots that are in memory.
#[derive(Debug)]
pub(crate) struct Lots {
    store: Store,
    views: Cache<TenantId, Arc<View>>,
    loads: Semaphore,
    /// Lots that are being brought up to date, and the newest version that anybody has heard of meanwhile.
    wanted: Mutex<HashMap<TenantId, u64>>,
}

/// A lot could not be loaded. Shared by everyone who waited for it.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("loading the lot failed: {0}")]
    Store(#[source] Arc<store::Error>),
    #[error("building the lot failed: {0}")]
    Build(Arc<str>),
    #[error("the database did not tell the lot within {} seconds", LOAD.as_secs())]
    TooSlow,
}

impl From<store::Error> for LoadError {
    fn from(error: store::Error) -> Self {
        Self::Store(Arc::new(error))
    }
}

impl Lots {
    pub(crate) fn new(store: Store, bytes: u64) -> Lots {
        let views = Cache::builder().max_capacity(bytes).weigher(|_, view: &Arc<View>| view.weight()).build();
        // Loading is mostly waiting for the database, building is work: a few at once keep both busy.
        Lots { store, views, loads: Semaphore::new(4), wanted: Mutex::default() }
    }

    /// The dealer's lot; loaded by the first of all that ask at once.
    pub(crate) async fn view(&self, tenant: TenantId) -> Result<Arc<View>, LoadError> {
        if let Some(view) = self.views.get(&tenant).await {
            return Ok(view);
        }
        let load = async {
            let held = self.load(tenant).await?;
            Ok::<_, LoadError>(Arc::new(View { current: held, older: Vec::new() }))
        };
        self.views.try_get_with(tenant, load).await.map_err(|shared| (*shared).clone())
    }

    /// Brings a held lot to `version` or newer, in one reading at a time whoever asks for it. Lots that nobody
    /// asked for stay out of memory.
    pub(crate) async fn refresh(&self, tenant: TenantId, version: u64, now: u64) -> Result<(), LoadError> {
        let Some(mut refreshing) = Refreshing::begin(&self.wanted, tenant, version) else { return Ok(()) };
        let mut reached = 0;
        while let Some(version) = refreshing.beyond(reached) {
            self.refresh_once(tenant, version, now).await?;
            reached = version;
        }
        Ok(())
    }

    async fn refresh_once(&self, tenant: TenantId, version: u64, now: u64) -> Result<(), LoadError> {
        let Some(view) = self.views.get(&tenant).await else { return Ok(()) };
        if view.current.snapshot.version() >= version {
            return Ok(());
        }
        let next = self.load(tenant).await?;
        let entry = self.views.entry(tenant);
        entry
            .and_compute_with(|found| {
                let op = match found.map(moka::Entry::into_value) {
                    // Evicted meanwhile: the next question loads it.
                    None => moka::ops::compute::Op::Nop,
                    Some(view) if view.current.snapshot.version() >= next.snapshot.version() => {
                        moka::ops::compute::Op::Nop
                    }
                    Some(view) => moka::ops::compute::Op::Put(Arc::new(view.superseded(next, now))),
                };
                std::future::ready(op)
            })
            .await;
        Ok(())
    }

    /// Forgets a lot, for a dealer that is gone.
    pub(crate) async fn forget(&self, tenant: TenantId) {
        self.views.invalidate(&tenant).await;
    }

    /// The lots in memory, with their versions.
    pub(crate) fn held(&self) -> Vec<(TenantId, u64)> {
        self.views.iter().map(|(id, view)| (*id, view.current.snapshot.version())).collect()
    }

    /// Bytes accounted for, and lots held. Counted: the cache's own figures lag behind until it has something to do.
    pub(crate) fn weight(&self) -> (u64, u64) {
        let add = |(bytes, lots), view: Arc<View>| (bytes + u64::from(view.weight()), lots + 1);
        self.views.iter().map(|(_, view)| view).fold((0, 0), add)
    }

    #[tracing::instrument(name = "lot.load", skip_all)]
    async fn load(&self, tenant: TenantId) -> Result<Arc<Held>, LoadError> {
        // A closed semaphore would only mean that nothing limits us any more.
        let _permit = self.loads.acquire().await.ok();
        let read = async {
            let mut tx = self.store.tenant_snapshot(tenant).await?;
            tx.lot().await
        };
        // Whoever waits for a server that says nothing would keep others from trying, also when it is back.
        let lot = tokio::time::timeout(LOAD, read).await.map_err(|_| LoadError::TooSlow)??;
        let build = move || {
            let removed = lot.removed.into_iter().map(|unit| Removed {
                vehicle_id: unit.vehicle_id,
                vin: unit.vin,
                stock: unit.stock,
            });
            Snapshot::build(lot.version, lot.listings, removed.collect())
        };
        let snapshot = tokio::task::spawn_blocking(build)
            .await
            .map_err(|join| LoadError::Build(join.to_string().into()))?;
        Ok(Arc::new(Held { snapshot, cursors_until: AtomicU64::new(0) }))
    }
}

/// The right to bring a lot up to date; given back when dropped, however that comes about.
struct Refreshing<'a> {
    wanted: &'a Mutex<HashMap<TenantId, u64>>,
    tenant: TenantId,
    given_back: bool,
}

impl<'a> Refreshing<'a> {
    /// `None` if somebody is at it already; they hear of the version and go on until they have it.
    fn begin(wanted: &'a Mutex<HashMap<TenantId, u64>>, tenant: TenantId, version: u64) -> Option<Self> {
        let mut known = wanted.lock().unwrap_or_else(PoisonError::into_inner);
        match known.entry(tenant) {
            Entry::Occupied(mut newest) => {
                let newest = newest.get_mut();
                *newest = version.max(*newest);
                None
            }
            Entry::Vacant(place) => {
                place.insert(version);
                Some(Refreshing { wanted, tenant, given_back: false })
            }
        }
    }

    /// The version to reach, if that is newer than `reached`; else the right is given back in the same moment, so
    /// that nobody relies on us any more.
    fn beyond(&mut self, reached: u64) -> Option<u64> {
        let mut known = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = known.get(&self.tenant).copied().filter(|version| *version > reached);
        if newest.is_none() {
            known.remove(&self.tenant);
            self.given_back = true;
        }
        newest
    }
}

impl Drop for Refreshing<'_> {
    fn drop(&mut self) {
        if self.given_back {
            return;
        }
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.tenant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_given_up_or_kept_and_never_both() {
        let held = |version| {
            let snapshot = Snapshot::build(version, Vec::new(), Vec::new());
            Arc::new(Held { snapshot, cursors_until: AtomicU64::new(0) })
        };
        let first = View { current: held(1), older: Vec::new() };
        assert!(first.current.keep_until(100));
        let second = first.superseded(held(2), 50);
        assert!(second.at(1).is_some(), "a cursor needs it");
        // A search that began on the second version wants to issue a cursor after it was superseded.
        let third = second.superseded(held(3), 99);
        assert!(third.at(2).is_none() && !second.current.keep_until(200));
        let fourth = third.superseded(held(4), 100);
        assert!(fourth.at(1).is_none() && !first.current.keep_until(200));
    }
}
