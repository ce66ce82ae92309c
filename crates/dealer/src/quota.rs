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
    /// Takes one call from the caller's window at a dealer and from the dealer's own, where they are limited: from
    /// both or from none. Otherwise says how long to wait until both have room.
    pub(crate) fn take(
        &self,
        tenant: TenantId,
        caller: Option<(String, RateLimit)>,
        dealer: Option<RateLimit>,
        now: Instant,
    ) -> Result<(), Duration> {
        // Always in this order. Neither is held by anything else.
        let mut callers =
            caller.map(|limited| (self.callers.lock().unwrap_or_else(PoisonError::into_inner), limited));
        let mut dealers =
            dealer.map(|limit| (self.dealers.lock().unwrap_or_else(PoisonError::into_inner), limit));
        let of_caller = callers
            .as_mut()
            .map(|(callers, (name, limit))| callers.find((tenant, std::mem::take(name)), *limit, now));
        let of_dealer = dealers.as_mut().map(|(windows, limit)| {
            windows.make_room(&tenant, now);
            windows.find(tenant, *limit, now)
        });
        let (of_caller, of_dealer) = match (of_caller.transpose(), of_dealer.transpose()) {
            (Ok(caller), Ok(dealer)) => (caller, dealer),
            (Err(one), Err(other)) => return Err(one.max(other)),
            (Err(wait), Ok(_)) | (Ok(_), Err(wait)) => return Err(wait),
        };
        for window in [of_caller, of_dealer].into_iter().flatten() {
            window.used += 1;
        }
        Ok(())
    }
}

impl Dealer {
    /// Takes the call from the caller's own window and from the dealer's, where they are limited.
    pub(crate) fn take_from_quotas(&self, call: &Call, data: &Value) -> Result<(), Fault> {
        let tenant = &call.tenant;
        let own = call
            .caller
            .rate_limit(tenant)
            .map(|limit| (counted_as(call.caller.counted_as(callers::declared_agent(data))), limit));
        self.inner.quota.take(tenant.id, own, tenant.policy.rate_limit, Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs() + 1;
            Fault::new(FaultCode::RateLimited, format!("Too many calls; wait {seconds} seconds."))
                .retry_after(wait)
        })
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
    fn find(
        &mut self,
        mut key: (TenantId, String),
        limit: RateLimit,
        now: Instant,
    ) -> Result<&mut Window, Duration> {
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
        self.windows.find(key, limit, now)
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

    /// The window of `key`, if it has room for one more call; else how long until it has.
    fn find(&mut self, key: K, limit: RateLimit, now: Instant) -> Result<&mut Window, Duration> {
        let length = Duration::from_secs(u64::from(limit.per_seconds));
        let window = self.open.entry(key).or_insert(Window { began: now, length, used: 0 });
        // A changed policy counts from here on; the calls already made in the window still count.
        window.length = length;
        let age = now.duration_since(window.began);
        // A window begins with the first call that was taken from it.
        if age >= length || window.used == 0 {
            *window = Window { began: now, length, used: 0 };
        }
        if window.used < limit.requests {
            return Ok(window);
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
        let take =
            |tenant, seconds| quota.take(tenant, None, Some(LIMIT), start + Duration::from_secs(seconds));
        assert!(take(tenant, 0).is_ok());
        assert!(take(tenant, 4).is_ok());
        assert_eq!(take(tenant, 4), Err(Duration::from_secs(6)));
        assert!(take(other, 0).is_ok(), "dealers do not share a window");
        assert!(take(tenant, 10).is_ok());
    }

    #[test]
    fn callers_have_windows_of_their_own_at_each_dealer() {
        let quota = Quota::default();
        let (a, b) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        let now = Instant::now();
        let take = |tenant, name: &str| quota.take(tenant, Some((name.to_owned(), LIMIT)), None, now);
        assert!(take(a, "key:x").is_ok() && take(a, "key:x").is_ok());
        assert_eq!(take(a, "key:x"), Err(Duration::from_secs(10)));
        assert!(take(a, "key:y").is_ok());
        assert!(take(b, "key:x").is_ok());
    }

    #[test]
    fn a_call_is_taken_from_both_windows_or_from_none() {
        let quota = Quota::default();
        let tenant = TenantId(Uuid::from_u128(1));
        let start = Instant::now();
        let all = RateLimit { requests: 3, per_seconds: 4 };
        let take = |name: &str, seconds| {
            let own = Some((name.to_owned(), LIMIT));
            quota.take(tenant, own, Some(all), start + Duration::from_secs(seconds))
        };
        assert!(take("heron", 0).is_ok() && take("heron", 1).is_ok());
        // Refused by its own limit: the dealer's last call is there for another.
        assert_eq!(take("heron", 1), Err(Duration::from_secs(9)));
        assert!(take("pelican", 1).is_ok());
        // Refused by the dealer's: it has one call left, and another window of its own begins with its first one.
        assert_eq!(take("pelican", 2), Err(Duration::from_secs(2)));
        assert_eq!(take("egret", 3), Err(Duration::from_secs(1)));
        assert!(take("pelican", 4).is_ok() && take("egret", 4).is_ok() && take("egret", 5).is_ok());
        // Refused by both: the longer wait is the true one.
        assert_eq!(take("egret", 6), Err(Duration::from_secs(8)));
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
        let take = |dealer, name: String, now| quota.take(dealer, Some((name, once)), None, now);
        for i in 0..MOST_OF_A_DEALER + 10 {
            let answer = take(flooded, format!("agent:{i}"), now);
            assert_eq!(answer.is_ok(), i <= MOST_OF_A_DEALER, "{i}");
        }
        let windows = || quota.callers.lock().unwrap().windows.open.len();
        assert_eq!(windows(), MOST_OF_A_DEALER + 1);
        for i in 0..10 {
            assert!(take(other, format!("agent:{i}"), now).is_ok(), "{i}");
        }
        // Whoever has a window keeps it.
        assert!(take(flooded, "agent:5".into(), now).is_err());
        let later = now + Duration::from_secs(3600);
        assert!(take(flooded, "agent:new".into(), later).is_ok());
        assert_eq!(windows(), 1);
        assert_eq!(quota.callers.lock().unwrap().of_dealer, HashMap::from([(flooded, 1)]));
    }
}
