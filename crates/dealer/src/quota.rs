//! Limits on skill calls (policy `rate_limit` and `caller_rate_limit`, and those of keys), counted in this process.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Fault, FaultCode};
use serde_json::Value;
use sha2::{Digest, Sha256};
use store::TenantId;

use crate::callers;
use crate::policy::RateLimit;
use crate::{Call, Dealer};

/// From so many windows on, those that are over are thrown away.
const MANY: usize = 1024;
/// So many callers of one dealer have windows of their own; whoever comes beyond them shares one. Declared names cost
/// nothing, and must not cost us memory, or other dealers anything.
const MOST_OF_A_DEALER: usize = 10_000;
/// The same for all dealers together.
const MOST: usize = 300_000;
/// Longest name, in bytes, that is kept as it is.
const LONGEST_NAME: usize = 100;
/// How often it is looked for windows that are over, where there are too many: it takes a while.
const LOOK: Duration = Duration::from_secs(1);

/// One window per limited dealer and per limited caller: it begins with the first call and lasts `per_seconds`.
///
/// A window, not a leaking bucket, because the policy is stated as a window and the waiting time is then exact.
#[derive(Debug, Default)]
pub(crate) struct Quota {
    dealers: Mutex<Windows<TenantId>>,
    callers: Mutex<Callers>,
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
}

/// Windows of callers, and how many each dealer has of them.
#[derive(Debug, Default)]
struct Callers {
    windows: Windows<(TenantId, String)>,
    of_dealer: HashMap<TenantId, usize>,
    looked: Option<Instant>,
}

impl<K> Default for Windows<K> {
    fn default() -> Self {
        Self { open: HashMap::new(), look_at: MANY }
    }
}

impl Quota {
    /// Takes one call from the dealer's window, or says how long to wait.
    pub(crate) fn take(&self, tenant: TenantId, limit: RateLimit, now: Instant) -> Result<(), Duration> {
        let mut windows = self.dealers.lock().unwrap_or_else(PoisonError::into_inner);
        windows.make_room(&tenant, now);
        windows.take(tenant, limit, now)
    }

    /// Takes one call from a caller's window at a dealer, or says how long to wait.
    pub(crate) fn take_from_caller(
        &self,
        tenant: TenantId,
        caller: String,
        limit: RateLimit,
        now: Instant,
    ) -> Result<(), Duration> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner).take((tenant, caller), limit, now)
    }
}

impl Dealer {
    /// Takes the call from the caller's own window and then from the dealer's, where they are limited.
    pub(crate) fn take_from_quotas(&self, call: &Call, data: &Value) -> Result<(), Fault> {
        let refused = |wait: Duration| {
            let seconds = wait.as_secs() + 1;
            Fault::new(FaultCode::RateLimited, format!("Too many calls; wait {seconds} seconds."))
                .retry_after(wait)
        };
        let tenant = &call.tenant;
        if let Some(limit) = call.caller.rate_limit(tenant) {
            let name = counted_as(call.caller.counted_as(callers::declared_agent(data)));
            self.inner.quota.take_from_caller(tenant.id, name, limit, Instant::now()).map_err(refused)?;
        }
        match tenant.policy.rate_limit {
            Some(limit) => self.inner.quota.take(tenant.id, limit, Instant::now()).map_err(refused),
            None => Ok(()),
        }
    }
}

/// A caller's name as its window is kept under. Nothing bounds a declared name, or the id in a token, and a window
/// outlives the request: of a long one only the hash is kept.
fn counted_as(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let hash: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("long:{hash}")
}

impl Callers {
    fn take(&mut self, mut key: (TenantId, String), limit: RateLimit, now: Instant) -> Result<(), Duration> {
        if !self.windows.open.contains_key(&key) {
            if self.windows.make_room(&key, now) {
                self.count();
            }
            if self.is_full(key.0) && self.looked.is_none_or(|at| now.duration_since(at) >= LOOK) {
                self.looked = Some(now);
                self.windows.forget_those_over(now);
                self.count();
            }
            if self.is_full(key.0) {
                key.1 = String::new();
            }
            if !self.windows.open.contains_key(&key) {
                *self.of_dealer.entry(key.0).or_default() += 1;
            }
        }
        self.windows.take(key, limit, now)
    }

    fn is_full(&self, dealer: TenantId) -> bool {
        let own = self.of_dealer.get(&dealer).copied().unwrap_or_default();
        own >= MOST_OF_A_DEALER || self.windows.open.len() >= MOST
    }

    fn count(&mut self) {
        self.of_dealer.clear();
        for (dealer, _) in self.windows.open.keys() {
            *self.of_dealer.entry(*dealer).or_default() += 1;
        }
    }
}

impl<K: Eq + Hash> Windows<K> {
    /// Forgets windows that are over before there are very many; whether it looked for them.
    fn make_room(&mut self, key: &K, now: Instant) -> bool {
        let looks = self.open.len() >= self.look_at && !self.open.contains_key(key);
        if looks {
            self.forget_those_over(now);
            // Where most are still open a look at every call would find nothing, and take long.
            self.look_at = (self.open.len() * 2).max(MANY);
        }
        looks
    }

    fn take(&mut self, key: K, limit: RateLimit, now: Instant) -> Result<(), Duration> {
        let length = Duration::from_secs(u64::from(limit.per_seconds));
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
    fn a_window_keeps_little_of_a_long_name() {
        let long = |end: &str| counted_as(format!("agent:{}{end}", "x".repeat(1 << 20)));
        assert!(long("a").len() <= LONGEST_NAME);
        assert_eq!(long("a"), long("a"));
        assert_ne!(long("a"), long("b"));
        assert_eq!(counted_as("agent:pelican".to_owned()), "agent:pelican");
    }

    #[test]
    fn callers_without_end_cost_no_memory_without_end_and_other_dealers_nothing() {
        let quota = Quota::default();
        let (flooded, other) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        let now = Instant::now();
        let once = RateLimit { requests: 1, per_seconds: 3600 };
        for i in 0..MOST_OF_A_DEALER + 10 {
            let answer = quota.take_from_caller(flooded, format!("agent:{i}"), once, now);
            assert_eq!(answer.is_ok(), i <= MOST_OF_A_DEALER, "{i}");
        }
        let windows = || quota.callers.lock().unwrap().windows.open.len();
        assert_eq!(windows(), MOST_OF_A_DEALER + 1);
        for i in 0..10 {
            assert!(quota.take_from_caller(other, format!("agent:{i}"), once, now).is_ok(), "{i}");
        }
        // Whoever has a window keeps it.
        assert!(quota.take_from_caller(flooded, "agent:5".into(), once, now).is_err());
        let later = now + Duration::from_secs(3600);
        assert!(quota.take_from_caller(flooded, "agent:new".into(), once, later).is_ok());
        assert_eq!(windows(), 1);
        assert_eq!(quota.callers.lock().unwrap().of_dealer, HashMap::from([(flooded, 1)]));
    }
}
