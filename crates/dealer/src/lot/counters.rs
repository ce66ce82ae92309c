//! What loading and refreshing lots cost, counted since the process began.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Why a lot could not be had, or not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// So many lots were being loaded that the question gave up waiting.
    Busy,
    /// The cache had no room for a lot that was just loaded.
    NoRoom,
    /// The lot is larger than the whole cache.
    TooLarge,
}

/// The counters. All only grow.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    loads: AtomicU64,
    refreshes: AtomicU64,
    rebuilds: AtomicU64,
    failures: AtomicU64,
    micros: AtomicU64,
    evictions: AtomicU64,
    busy: AtomicU64,
    no_room: AtomicU64,
    too_large: AtomicU64,
}

/// Their values at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LotCounts {
    /// Lots that were read whole.
    pub loads: u64,
    /// Lots that were brought up to date from what had changed.
    pub refreshes: u64,
    /// Former versions that were rebuilt for a cursor.
    pub rebuilds: u64,
    /// Any of these three that failed.
    pub failures: u64,
    /// Time that those which succeeded took, together.
    pub took: Duration,
    /// Lots that gave way to others.
    pub evictions: u64,
    /// Questions that gave up waiting for a load.
    pub refused_busy: u64,
    /// Lots that were loaded and not kept, for lack of room.
    pub refused_room: u64,
    /// Lots that were loaded and are larger than the cache.
    pub refused_large: u64,
}

/// What was done to have a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Load,
    Refresh,
    Rebuild,
}

impl Counters {
    pub(crate) fn done(&self, work: Work, took: Duration) {
        let counter = match work {
            Work::Load => &self.loads,
            Work::Refresh => &self.refreshes,
            Work::Rebuild => &self.rebuilds,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn evicted(&self) {
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, why: Refusal) {
        let counter = match why {
            Refusal::Busy => &self.busy,
            Refusal::NoRoom => &self.no_room,
            Refusal::TooLarge => &self.too_large,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> LotCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LotCounts {
            loads: of(&self.loads),
            refreshes: of(&self.refreshes),
            rebuilds: of(&self.rebuilds),
            failures: of(&self.failures),
            took: Duration::from_micros(of(&self.micros)),
            evictions: of(&self.evictions),
            refused_busy: of(&self.busy),
            refused_room: of(&self.no_room),
            refused_large: of(&self.too_large),
        }
    }
}
