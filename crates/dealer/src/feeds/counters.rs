//! What feeds came to, counted since the process began.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feeds::outcome::Counts;
use store::RunState;

use super::run::Timings;

static COUNTERS: Counters = Counters::new();

/// All only grow.
struct Counters {
    files: AtomicU64,
    bytes: AtomicU64,
    /// By [`RunState::ALL`].
    ended: [AtomicU64; RunState::ALL.len()],
    retries: AtomicU64,
    published: AtomicU64,
    excluded: AtomicU64,
    rejected: AtomicU64,
    duplicates: AtomicU64,
    written: AtomicU64,
    removed: AtomicU64,
    read_ms: AtomicU64,
    checked_ms: AtomicU64,
    applied_ms: AtomicU64,
}

impl Counters {
    const fn new() -> Counters {
        Counters {
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            ended: [const { AtomicU64::new(0) }; RunState::ALL.len()],
            retries: AtomicU64::new(0),
            published: AtomicU64::new(0),
            excluded: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            written: AtomicU64::new(0),
            removed: AtomicU64::new(0),
            read_ms: AtomicU64::new(0),
            checked_ms: AtomicU64::new(0),
            applied_ms: AtomicU64::new(0),
        }
    }
}

/// The counters of this process at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedCounts {
    /// Files taken in.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Runs by the state that they came to; `held` are those that began to wait, whatever became of them.
    pub ended: Vec<(RunState, u64)>,
    /// Transactions that were done again because another writer was in the way.
    pub retries: u64,
    /// Records that were read, by what became of them: `published`, `excluded`, `rejected`, `duplicates`.
    pub records: Vec<(&'static str, u64)>,
    /// Listings written.
    pub written: u64,
    /// Listings removed.
    pub removed: u64,
    /// Time by step: `read`, `check`, `apply`.
    pub took: Vec<(&'static str, Duration)>,
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

pub(super) fn received(bytes: u64) {
    add(&COUNTERS.files, 1);
    add(&COUNTERS.bytes, bytes);
}

pub(super) fn ended(state: RunState) {
    let place = RunState::ALL.iter().position(|one| *one == state);
    if let Some(counter) = place.and_then(|place| COUNTERS.ended.get(place)) {
        add(counter, 1);
    }
}

pub(super) fn retried() {
    add(&COUNTERS.retries, 1);
}

pub(super) fn records(counts: Counts, timings: &Timings) {
    add(&COUNTERS.published, counts.published.into());
    add(&COUNTERS.excluded, counts.excluded.into());
    add(&COUNTERS.rejected, counts.rejected.into());
    add(&COUNTERS.duplicates, counts.duplicates_dropped.into());
    add(&COUNTERS.read_ms, timings.read_ms);
    add(&COUNTERS.checked_ms, timings.checked_ms);
}

pub(super) fn applied(written: u64, removed: u64, took_ms: u64) {
    add(&COUNTERS.written, written);
    add(&COUNTERS.removed, removed);
    add(&COUNTERS.applied_ms, took_ms);
}

/// What feeds came to in this process, for metrics.
pub fn counts() -> FeedCounts {
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let took = |counter: &AtomicU64| Duration::from_millis(of(counter));
    let c = &COUNTERS;
    FeedCounts {
        files: of(&c.files),
        bytes: of(&c.bytes),
        ended: RunState::ALL
            .into_iter()
            .zip(c.ended.iter().map(of))
            .filter(|(state, _)| state.is_end() || *state == RunState::Held)
            .collect(),
        retries: of(&c.retries),
        records: vec![
            ("published", of(&c.published)),
            ("excluded", of(&c.excluded)),
            ("rejected", of(&c.rejected)),
            ("duplicates", of(&c.duplicates)),
        ],
        written: of(&c.written),
        removed: of(&c.removed),
        took: vec![
            ("read", took(&c.read_ms)),
            ("check", took(&c.checked_ms)),
            ("apply", took(&c.applied_ms)),
        ],
    }
}
