//! When keys were last used: noted in memory, written down in batches.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use store::TenantId;
use uuid::Uuid;

use super::CallerKey;
use crate::unix_now;

/// A use so soon after one that was noted is not noted: the lock below is for once in a while, not for requests.
const APART: i64 = 30;

/// Uses since they were last written down.
#[derive(Debug, Default)]
pub(crate) struct KeyUses {
    noted: Mutex<HashMap<(TenantId, Uuid), i64>>,
}

impl KeyUses {
    /// Notes that a key is used now.
    pub(super) fn note(&self, tenant: TenantId, key: &CallerKey) {
        let Some(stored) = &key.stored else { return };
        let now = i64::try_from(unix_now()).unwrap_or(i64::MAX);
        let last = stored.noted.load(Ordering::Relaxed);
        if now.saturating_sub(last) < APART {
            return;
        }
        stored.noted.store(now, Ordering::Relaxed);
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).insert((tenant, stored.id), now);
    }

    /// Everything that is not written down yet.
    pub(crate) fn take(&self) -> Vec<(TenantId, Uuid, DateTime<Utc>)> {
        let noted = std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        let times = noted.into_iter();
        times
            .filter_map(|((tenant, key), at)| Some((tenant, key, DateTime::from_timestamp(at, 0)?)))
            .collect()
    }
}
