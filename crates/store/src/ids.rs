//! Identifiers as types, so that one cannot stand for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Which tenant. UUID v7, never shown to buyers (they know the slug).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TenantId(pub Uuid);

impl TenantId {
    /// A fresh id.
    pub fn new() -> TenantId {
        TenantId(Uuid::now_v7())
    }

    /// The 16 bytes, for keys of signatures and caches.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl Default for TenantId {
    fn default() -> Self {
        TenantId::new()
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TenantId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(TenantId)
    }
}

/// Whether a tenant answers. Strangers cannot tell the last two from an unknown one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TenantState {
    /// Answers.
    Active,
    /// Switched off for a while.
    Suspended,
    /// Gone; its slug stays taken.
    Removed,
}

impl TenantState {
    /// Every state.
    pub const ALL: [TenantState; 3] = [Self::Active, Self::Suspended, Self::Removed];

    /// `active`, `suspended` or `removed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Removed => "removed",
        }
    }

    /// The state that `text` names.
    pub fn from_name(text: &str) -> Option<TenantState> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

impl fmt::Display for TenantState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
