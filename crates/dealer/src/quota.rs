//! The dealer's own limit on skill calls (policy `rate_limit`), counted in this process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use store::TenantId;

use crate::policy::RateLimit;

/// One window per limited dealer: it begins with the first call and lasts `per_seconds`.
///
/// A window, not a leaking bucket, because the policy is stated as a window and the waiting time is then exact.
#[derive(Debug, Default)]
pub(crate) struct Quota {
    windows: Mutex<HashMap<TenantId, Window>>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    began: Instant,
    length: Duration,
    used: u32,
}

impl Quota {
    /// Takes one call from the dealer's window, or says how long to wait.
    pub(crate) fn take(&self, tenant: TenantId, limit: RateLimit, now: Instant) -> Result<(), Duration> {
        let length = Duration::from_secs(u64::from(limit.per_seconds));
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        // Dealers come and go; windows that are over say nothing any more.
        if windows.len() >= 1024 && !windows.contains_key(&tenant) {
            windows.retain(|_, window| now.duration_since(window.began) < window.length);
        }
        let window = windows.entry(tenant).or_insert(Window { began: now, length, used: 0 });
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_window_holds_its_calls_and_then_opens_again() {
        let quota = Quota::default();
        let tenant = TenantId(Uuid::from_u128(1));
        let other = TenantId(Uuid::from_u128(2));
        let limit = RateLimit { requests: 2, per_seconds: 10 };
        let start = Instant::now();
        assert!(quota.take(tenant, limit, start).is_ok());
        assert!(quota.take(tenant, limit, start + Duration::from_secs(4)).is_ok());
        let wait = quota.take(tenant, limit, start + Duration::from_secs(4)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(6));
        assert!(quota.take(other, limit, start).is_ok(), "dealers do not share a window");
        assert!(quota.take(tenant, limit, start + Duration::from_secs(10)).is_ok());
    }
}
