//! How old what a dealer's sources said is, and what answers say of it past the dealer's limit.
//!
//! Read by every answer about a lot: as long as the lot is fresh that is one comparison of two integers. The sentence is
//! written when the numbers change, not when it is said.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, Utc};

/// For ever: a dealer without sources, whose lot nobody has to confirm.
const FOREVER: i64 = i64::MAX;

/// Of one dealer. All revisions of a dealer share one, since it changes without them.
#[derive(Debug)]
pub(crate) struct Freshness {
    /// Unix seconds from which on answers say that the lot is old.
    until: AtomicI64,
    /// Unix seconds of the last confirmation that `sentence` names.
    confirmed: AtomicI64,
    sentence: RwLock<Arc<str>>,
}

impl Default for Freshness {
    fn default() -> Self {
        Self {
            until: AtomicI64::new(FOREVER),
            confirmed: AtomicI64::new(0),
            sentence: RwLock::new("".into()),
        }
    }
}

impl Freshness {
    /// Takes over what the database says. Called for every dealer with every poll.
    pub(crate) fn set(&self, confirmed_at: Option<DateTime<Utc>>, fresh_until: Option<DateTime<Utc>>) {
        let (Some(confirmed), Some(until)) = (confirmed_at, fresh_until) else {
            // Nearly always so already: reading does not take the line from other threads.
            if self.until.load(Ordering::Relaxed) != FOREVER {
                self.until.store(FOREVER, Ordering::Release);
            }
            return;
        };
        if self.confirmed.load(Ordering::Relaxed) != confirmed.timestamp() {
            let sentence = format!(
                "Inventory data last confirmed {} UTC; availability may have changed.",
                confirmed.format("%Y-%m-%d %H:%M")
            );
            *self.sentence.write().unwrap_or_else(PoisonError::into_inner) = sentence.into();
            self.confirmed.store(confirmed.timestamp(), Ordering::Relaxed);
        }
        if self.until.load(Ordering::Relaxed) != until.timestamp() {
            self.until.store(until.timestamp(), Ordering::Release);
        }
    }

    /// What answers must say at a time, if anything. Nothing in it has to be escaped in JSON.
    pub(crate) fn sentence(&self, now: i64) -> Option<Arc<str>> {
        if now < self.until.load(Ordering::Acquire) {
            return None;
        }
        Some(Arc::clone(&self.sentence.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// When the lot was last confirmed (unix seconds), where it is old.
    pub(crate) fn old_since(&self, now: i64) -> Option<i64> {
        (now >= self.until.load(Ordering::Acquire)).then(|| self.confirmed.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lot_is_old_from_its_limit_on_until_it_is_confirmed_again() {
        let at = |text: &str| Some(DateTime::parse_from_rfc3339(text).unwrap().with_timezone(&Utc));
        let freshness = Freshness::default();
        assert_eq!(freshness.sentence(i64::MAX - 1), None, "nobody has to confirm it");
        freshness.set(at("2026-11-27T06:00:59Z"), at("2026-11-28T18:00:59Z"));
        let limit = at("2026-11-28T18:00:59Z").unwrap().timestamp();
        assert_eq!((freshness.sentence(limit - 1), freshness.old_since(limit - 1)), (None, None));
        assert_eq!(
            freshness.sentence(limit).as_deref(),
            Some("Inventory data last confirmed 2026-11-27 06:00 UTC; availability may have changed.")
        );
        assert!(freshness.old_since(limit).is_some());
        freshness.set(at("2026-11-28T18:30:00Z"), at("2026-11-30T06:30:00Z"));
        assert_eq!(freshness.sentence(limit), None);
        freshness.set(None, None);
        assert_eq!(freshness.sentence(i64::MAX - 1), None);
    }
}
