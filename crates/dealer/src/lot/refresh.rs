//! Who brings which lot up to date, and how often.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use store::TenantId;

/// A lot is brought up to date at most this often, whatever comes in: the first change at once, those that follow
/// together.
pub(crate) fn pause(units: usize) -> Duration {
    if units <= 10_000 { Duration::from_millis(250) } else { Duration::from_secs(1) }
}

/// Lots that are being brought up to date, and the newest version that anybody has heard of meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    newest: Mutex<HashMap<TenantId, u64>>,
}

impl Wanted {
    /// The right to bring a lot up to date. `None` if somebody is at it already; they hear of the version and go
    /// on until they have it.
    pub(crate) fn begin(&self, tenant: TenantId, version: u64) -> Option<Refreshing<'_>> {
        let mut known = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        match known.entry(tenant) {
            Entry::Occupied(mut newest) => {
                let newest = newest.get_mut();
                *newest = version.max(*newest);
                None
            }
            Entry::Vacant(place) => {
                place.insert(version);
                Some(Refreshing { wanted: self, tenant, given_back: false })
            }
        }
    }
}

/// The right to bring a lot up to date; given back when dropped, however that comes about.
pub(crate) struct Refreshing<'a> {
    wanted: &'a Wanted,
    tenant: TenantId,
    given_back: bool,
}

impl Refreshing<'_> {
    /// The version to reach, if that is newer than `reached`; else the right is given back in the same moment, so
    /// that nobody relies on us any more.
    pub(crate) fn beyond(&mut self, reached: u64) -> Option<u64> {
        let mut known = self.wanted.newest.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.wanted.newest.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.tenant);
    }
}

/// Lots of which a newer version is known and could not be read, and since when: what is answered from them is
/// that old, however recently the database confirmed everything else.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    since: Mutex<HashMap<TenantId, Instant>>,
    /// How many there are, so that nobody looks where there is nothing.
    count: std::sync::atomic::AtomicUsize,
}

impl Behind {
    pub(crate) fn note(&self, tenant: TenantId) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.entry(tenant).or_insert_with(Instant::now);
        self.count.store(since.len(), std::sync::atomic::Ordering::Relaxed);
    }

    pub(crate) fn clear(&self, tenant: TenantId) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.remove(&tenant);
        self.count.store(since.len(), std::sync::atomic::Ordering::Relaxed);
    }

    pub(crate) fn clear_all(&self) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.clear();
        self.count.store(0, std::sync::atomic::Ordering::Relaxed);
    }

    /// For how long a newer version of the lot has been known.
    pub(crate) fn of(&self, tenant: TenantId) -> Duration {
        if self.count.load(std::sync::atomic::Ordering::Relaxed) == 0 {
            return Duration::ZERO;
        }
        let since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.get(&tenant).map_or(Duration::ZERO, Instant::elapsed)
    }

    /// How many lots are behind, and the one that is so longest.
    pub(crate) fn worst(&self) -> (usize, Duration) {
        let since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        (since.len(), since.values().map(Instant::elapsed).max().unwrap_or_default())
    }
}
