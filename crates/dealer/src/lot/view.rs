//! One lot at one time: the current version, and former ones that cursors name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use inventory::Snapshot;
use tokio::sync::Mutex;

/// How many former versions of one lot are kept at most. Others are rebuilt when a cursor names them.
const MAX_OLDER: usize = 32;
/// Former versions of a lot may take this much, or a quarter of the lot where that is more.
const OLDER_BYTES: usize = 1024 * 1024;
/// What a lot takes besides its versions.
const OWN_BYTES: usize = 512;

/// A snapshot, and until when a cursor issued from it is alive.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) snapshot: Snapshot,
    cursors_until: AtomicU64,
}

impl Held {
    pub(crate) fn new(snapshot: Snapshot) -> Arc<Held> {
        Arc::new(Held { snapshot, cursors_until: AtomicU64::new(0) })
    }

    /// Notes that a cursor of this version is alive until `until` (unix seconds), so that the version is kept.
    pub(crate) fn keep_until(&self, until: u64) {
        // Nearly every question finds it noted already: reading does not take the line from other threads.
        if self.cursors_until.load(Ordering::Relaxed) < until {
            self.cursors_until.fetch_max(until, Ordering::Relaxed);
        }
    }

    fn cursors_until(&self) -> u64 {
        self.cursors_until.load(Ordering::Relaxed)
    }
}

/// A former version, and what it takes beside the current one.
#[derive(Debug, Clone)]
struct Older {
    held: Arc<Held>,
    bytes: usize,
}

impl Older {
    /// Documents that two former versions share and the current one lacks are counted for both: too much, never
    /// too little. Large lots have few former versions and small ones are soon compared.
    fn beside(held: &Arc<Held>, current: &Held) -> Older {
        Older { held: Arc::clone(held), bytes: held.snapshot.weight_beside(&current.snapshot) }
    }
}

/// What belongs to a lot whatever its version.
#[derive(Debug)]
pub(crate) struct Lasting {
    /// Questions since they were last counted, see [`super::Lots::take_heat`].
    pub(crate) asked: AtomicU64,
    /// Held by whoever brings the lot up to date.
    pub(crate) refreshing: Mutex<()>,
    /// When all of it was read; changes since were added to that.
    read_whole: Instant,
}

/// One lot at one time. Immutable; a refresh makes a new one, so that the cache weighs it anew.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) current: Arc<Held>,
    /// Newest first.
    older: Vec<Older>,
    pub(crate) lasting: Arc<Lasting>,
}

impl View {
    /// A lot that was just read whole.
    pub(crate) fn new(current: Arc<Held>) -> View {
        let lasting =
            Lasting { asked: AtomicU64::new(0), refreshing: Mutex::new(()), read_whole: Instant::now() };
        View { current, older: Vec::new(), lasting: Arc::new(lasting) }
    }

    /// A version, if it is held.
    pub(crate) fn at(&self, version: u64) -> Option<&Arc<Held>> {
        self.versions().find(|held| held.snapshot.version() == version)
    }

    /// The held version that is nearest to another: what that one is rebuilt from.
    pub(crate) fn nearest(&self, version: u64) -> &Arc<Held> {
        self.versions().min_by_key(|held| held.snapshot.version().abs_diff(version)).unwrap_or(&self.current)
    }

    fn versions(&self) -> impl Iterator<Item = &Arc<Held>> {
        std::iter::once(&self.current).chain(self.older.iter().map(|older| &older.held))
    }

    /// How many former versions are held.
    pub(crate) fn older(&self) -> usize {
        self.older.len()
    }

    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        let older: usize = self.older.iter().map(|older| older.bytes).sum();
        OWN_BYTES + self.current.snapshot.weight() + older
    }

    /// Whether it was read whole so long ago that the next change is a reason to do so again: what is only
    /// forgotten with time (removed units, after 180 days) is in no list of changes.
    pub(crate) fn is_worn(&self, after: Duration) -> bool {
        self.lasting.read_whole.elapsed() > after
    }

    /// The lot with a newer version; `whole` if that was read and not made from this one.
    pub(crate) fn superseded(&self, next: Arc<Held>, whole: bool, now: u64) -> View {
        let older = std::iter::once(&self.current)
            .chain(self.older.iter().map(|older| &older.held))
            .filter(|held| held.cursors_until() > now)
            .map(|held| Older::beside(held, &next))
            .collect();
        let lasting = if whole {
            Arc::new(Lasting {
                asked: AtomicU64::new(self.lasting.asked.swap(0, Ordering::Relaxed)),
                refreshing: Mutex::new(()),
                read_whole: Instant::now(),
            })
        } else {
            Arc::clone(&self.lasting)
        };
        View { current: next, older, lasting }.bounded()
    }

    /// The lot with a former version that was rebuilt.
    pub(crate) fn with_older(&self, rebuilt: Arc<Held>) -> View {
        let mut older = self.older.clone();
        older.push(Older::beside(&rebuilt, &self.current));
        older.sort_by_key(|older| std::cmp::Reverse(older.held.snapshot.version()));
        View { current: Arc::clone(&self.current), older, lasting: Arc::clone(&self.lasting) }.bounded()
    }

    /// The lot without former versions whose cursors have all ended; `None` if there are none such.
    pub(crate) fn swept(&self, now: u64) -> Option<View> {
        let living: Vec<Older> =
            self.older.iter().filter(|older| older.held.cursors_until() > now).cloned().collect();
        (living.len() < self.older.len()).then(|| View {
            current: Arc::clone(&self.current),
            older: living,
            lasting: Arc::clone(&self.lasting),
        })
    }

    /// Lets go of the former versions that were used longest ago, until the others fit.
    fn bounded(mut self) -> View {
        let room = (self.current.snapshot.weight() / 4).max(OLDER_BYTES);
        let mut bytes: usize = self.older.iter().map(|older| older.bytes).sum();
        while self.older.len() > MAX_OLDER || (bytes > room && self.older.len() > 1) {
            let oldest = self
                .older
                .iter()
                .enumerate()
                .min_by_key(|(_, older)| (older.held.cursors_until(), older.held.snapshot.version()))
                .map(|(at, _)| at);
            let Some(at) = oldest else { break };
            bytes -= self.older.remove(at).bytes;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(version: u64) -> Arc<Held> {
        Held::new(Snapshot::build(version, Vec::new(), Vec::new()))
    }

    #[test]
    fn a_version_is_kept_for_as_long_as_a_cursor_of_it_lives() {
        let first = View::new(held(1));
        first.current.keep_until(100);
        first.current.keep_until(90);
        let second = first.superseded(held(2), false, 50);
        assert!(second.at(1).is_some() && second.at(2).is_some());
        let third = second.superseded(held(3), false, 99);
        assert!(third.at(1).is_some(), "its cursor lives until 100");
        assert!(third.at(2).is_none(), "nobody has a cursor of it");
        assert!(third.superseded(held(4), false, 100).at(1).is_none());
        // The same where no newer version comes.
        assert!(third.swept(99).is_none(), "nothing to let go of");
        let swept = third.swept(100).unwrap();
        assert!(swept.at(1).is_none() && swept.at(3).is_some());
    }

    #[test]
    fn those_used_longest_ago_go_first_when_there_are_too_many() {
        let mut view = View::new(held(0));
        for version in 1..=60 {
            view.current.keep_until(if version == 1 { 2000 } else { 1000 + version });
            view = view.superseded(held(version), false, 0);
        }
        assert_eq!(view.older(), MAX_OLDER);
        assert!(view.at(0).is_some(), "it was used last");
        assert!(view.at(1).is_none() && view.at(59).is_some());
        let nearest = |version| view.nearest(version).snapshot.version();
        assert_eq!((nearest(3), nearest(50), nearest(99)), (0, 50, 60));
    }

    #[test]
    fn questions_counted_outlive_every_refresh() {
        let view = View::new(held(1));
        view.lasting.asked.fetch_add(3, Ordering::Relaxed);
        let view = view.superseded(held(2), false, 0).superseded(held(3), true, 0);
        assert_eq!(view.lasting.asked.load(Ordering::Relaxed), 3);
    }
}
