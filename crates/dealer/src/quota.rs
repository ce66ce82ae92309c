//! Limits on skill calls (policy `rate_limit` and `caller_rate_limit`, and those of keys), counted in this process.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use store::TenantId;

use crate::policy::RateLimit;

/// From so many windows on, those that are over are thrown away.
const MANY: usize = 1024;
/// So many callers have a window of their own; whoever comes beyond them at one dealer shares one. Declared names
/// cost nothing, and must not cost us memory either.
const MOST_CALLERS: usize = 50_000;

/// One window per limited dealer and per limited caller: it begins with the first call and lasts `per_seconds`.
///
/// A window, not a leaking bucket, because the policy is stated as a window and the waiting time is then exact.
#[derive(Debug, Default)]
pub(crate) struct Quota {
    dealers: Mutex<Windows<TenantId>>,
    callers: Mutex<Windows<(TenantId, String)>>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    began: Instant,
    length: Duration,
    used: u32,
}

#[derive(Debug)]
struct Windows<K> {
    open: HashMap<K, Window>,
    /// How many there may be before the next look for those that are over.
    look_at: usize,
    /// When it was last looked for them because there were too many.
    looked: Option<Instant>,
}

impl<K> Default for Windows<K> {
    fn default() -> Self {
        Self { open: HashMap::new(), look_at: MANY, looked: None }
    }
}

impl Quota {
    /// Takes one call from the dealer's window, or says how long to wait.
    pub(crate) fn take(&self, tenant: TenantId, limit: RateLimit, now: Instant) -> Result<(), Duration> {
        self.dealers.lock().unwrap_or_else(PoisonError::into_inner).take(tenant, limit, now)
    }

    /// Takes one call from a caller's window at a dealer, or says how long to wait.
    pub(crate) fn take_from_caller(
        &self,
        tenant: TenantId,
        caller: String,
        limit: RateLimit,
        now: Instant,
    ) -> Result<(), Duration> {
        let mut windows = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (tenant, caller);
        if windows.open.len() >= MOST_CALLERS && !windows.open.contains_key(&key) {
            // Not at every call: it takes a while.
            if windows.looked.is_none_or(|at| now.duration_since(at) >= Duration::from_secs(1)) {
                windows.looked = Some(now);
                windows.forget_those_over(now);
            }
            if windows.open.len() >= MOST_CALLERS {
                key.1 = String::new();
            }
        }
        windows.take(key, limit, now)
    }
}

impl<K: Eq + Hash> Windows<K> {
    fn take(&mut self, key: K, limit: RateLimit, now: Instant) -> Result<(), Duration> {
        let length = Duration::from_secs(u64::from(limit.per_seconds));
        if self.open.len() >= self.look_at && !self.open.contains_key(&key) {
            self.forget_those_over(now);
            // Where most are still open a look at every call would find nothing, and take long.
            self.look_at = (self.open.len() * 2).max(MANY);
        }
        let window = self.open.entry(key).or_insert(Window { began: now, length, used: 0 });
        // A changed policy counts from here on; the calls already made in the window still count.
        window.length = length;
        let age = now.duration_since(window.began);
        if age >= length {
            *window = Window { began: now, length, used: 0 };
        }
        if window.used < limit.requests {
            window.used += 1;
            return Ok(());
        }
        Err(length.saturating_sub(now.duration_since(window.began)))
    }

    /// Windows that are over say nothing any more.
    fn forget_those_over(&mut self, now: Instant) {
        self.open.retain(|_, window| now.duration_since(window.began) < window.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const LIMIT: RateLimit = RateLimit { requests: 2, per_seconds: 10 };

    #[test]
    fn a_window_holds_its_calls_and_then_opens_again() {
        let quota = Quota::default();
        let tenant = TenantId(Uuid::from_u128(1));
        let other = TenantId(Uuid::from_u128(2));
        let start = Instant::now();
        assert!(quota.take(tenant, LIMIT, start).is_ok());
        assert!(quota.take(tenant, LIMIT, start + Duration::from_secs(4)).is_ok());
        let wait = quota.take(tenant, LIMIT, start + Duration::from_secs(4)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(6));
        assert!(quota.take(other, LIMIT, start).is_ok(), "dealers do not share a window");
        assert!(quota.take(tenant, LIMIT, start + Duration::from_secs(10)).is_ok());
    }

    #[test]
    fn callers_have_windows_of_their_own_at_each_dealer() {
        let quota = Quota::default();
        let (a, b) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        let now = Instant::now();
        let take = |tenant, name: &str| quota.take_from_caller(tenant, name.to_owned(), LIMIT, now);
        assert!(take(a, "key:x").is_ok() && take(a, "key:x").is_ok());
        assert_eq!(take(a, "key:x"), Err(Duration::from_secs(10)));
        assert!(take(a, "key:y").is_ok());
        assert!(take(b, "key:x").is_ok());
    }

    #[test]
    fn callers_without_end_cost_no_memory_without_end() {
        let quota = Quota::default();
        let tenant = TenantId(Uuid::from_u128(1));
        let now = Instant::now();
        let once = RateLimit { requests: 1, per_seconds: 3600 };
        for i in 0..MOST_CALLERS + 10 {
            let answer = quota.take_from_caller(tenant, format!("agent:{i}"), once, now);
            assert_eq!(answer.is_ok(), i <= MOST_CALLERS, "{i}");
        }
        assert_eq!(quota.callers.lock().unwrap().open.len(), MOST_CALLERS + 1);
        let later = now + Duration::from_secs(3600);
        assert!(quota.take_from_caller(tenant, "agent:new".into(), once, later).is_ok());
        assert_eq!(quota.callers.lock().unwrap().open.len(), 1);
    }
}
