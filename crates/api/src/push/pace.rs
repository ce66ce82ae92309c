//! How often a source may send and ask, and how many bodies arrive at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// The time in which requests are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Files in that time.
const FILES: u32 = 120;
/// Questions about runs in that time.
const QUESTIONS: u32 = 600;
/// Bodies of one source that arrive at once.
const AT_ONCE: u32 = 8;
/// Bodies of all sources that arrive at once.
const ALL_AT_ONCE: u32 = 64;
/// Sources that are remembered before those that are quiet are forgotten.
const REMEMBERED: usize = 10_000;

/// Counts for this process.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    sources: Arc<Mutex<Sources>>,
}

#[derive(Debug, Default)]
struct Sources {
    by_id: HashMap<Uuid, Counted>,
    arriving: u32,
}

#[derive(Debug)]
struct Counted {
    since: Instant,
    files: u32,
    questions: u32,
    arriving: u32,
}

/// A body that arrives; its place is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    sources: Arc<Mutex<Sources>>,
    source: Uuid,
    arrives: bool,
}

impl Pace {
    /// Lets a request in, or says after how many seconds to come again.
    pub(super) fn enter(&self, source: Uuid, reads: bool) -> Result<Place, u64> {
        self.enter_at(source, reads, Instant::now())
    }

    fn enter_at(&self, source: Uuid, reads: bool, now: Instant) -> Result<Place, u64> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if sources.by_id.len() >= REMEMBERED {
            sources.by_id.retain(|_, one| one.arriving > 0 || now.duration_since(one.since) < WINDOW);
        }
        let busy = !reads && sources.arriving >= ALL_AT_ONCE;
        let one = sources.by_id.entry(source).or_insert(Counted {
            since: now,
            files: 0,
            questions: 0,
            arriving: 0,
        });
        if now.duration_since(one.since) >= WINDOW {
            (one.since, one.files, one.questions) = (now, 0, 0);
        }
        let rest = WINDOW.saturating_sub(now.duration_since(one.since)).as_secs().max(1);
        if reads {
            one.questions += 1;
            if one.questions > QUESTIONS {
                return Err(rest);
            }
        } else {
            one.files += 1;
            if one.files > FILES {
                return Err(rest);
            }
            if one.arriving >= AT_ONCE || busy {
                return Err(5);
            }
            one.arriving += 1;
            sources.arriving += 1;
        }
        Ok(Place { sources: Arc::clone(&self.sources), source, arrives: !reads })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.arrives {
            return;
        }
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.arriving = sources.arriving.saturating_sub(1);
        if let Some(one) = sources.by_id.get_mut(&self.source) {
            one.arriving = one.arriving.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_sends_too_fast_waits_and_others_do_not() {
        let (pace, now) = (Pace::default(), Instant::now());
        let (fast, other) = (Uuid::new_v4(), Uuid::new_v4());
        for _ in 0..FILES {
            assert!(pace.enter_at(fast, false, now).is_ok());
        }
        assert_eq!(pace.enter_at(fast, false, now).unwrap_err(), 60);
        assert!(pace.enter_at(fast, true, now).is_ok() && pace.enter_at(other, false, now).is_ok());
        assert!(pace.enter_at(fast, false, now + WINDOW).is_ok());
    }

    #[test]
    fn only_so_many_bodies_arrive_at_once() {
        let (pace, now) = (Pace::default(), Instant::now());
        let source = Uuid::new_v4();
        let mut places: Vec<_> = (0..AT_ONCE).map(|_| pace.enter_at(source, false, now).unwrap()).collect();
        assert_eq!(pace.enter_at(source, false, now).unwrap_err(), 5);
        places.pop();
        assert!(pace.enter_at(source, false, now).is_ok());
    }
}
