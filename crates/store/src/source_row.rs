//! A source of table `feed_sources`, as it is written and read.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::tenant::hash_from;

/// How files of a source arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// Imported by hand.
    File,
    /// Fetched.
    Https,
    /// Dropped into a folder.
    Folder,
    /// Sent to us.
    Push,
}

impl SourceKind {
    /// All of them.
    pub const ALL: [SourceKind; 4] =
        [SourceKind::File, SourceKind::Https, SourceKind::Folder, SourceKind::Push];

    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::File => "file",
            SourceKind::Https => "https",
            SourceKind::Folder => "folder",
            SourceKind::Push => "push",
        }
    }

    /// The kind that `text` names.
    pub fn from_name(text: &str) -> Option<SourceKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A source. Its credentials have functions of their own, so that they are not read by the way.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRow {
    /// Its id, also in the address of a push.
    pub source_id: Uuid,
    /// What the dealer calls it; unique whatever the case of its letters.
    pub name: String,
    /// How files arrive. Not changed later.
    pub kind: SourceKind,
    /// Whether files are taken from it.
    pub enabled: bool,
    /// How it is read, fetched, ranked …
    pub settings: Value,
    /// Raised by [`crate::TenantTx::save_source`]; whatever is given to [`crate::TenantTx::insert_source`] becomes 1.
    pub revision: i64,
    /// SHA-256 of the token of a push.
    pub push_token_hash: Option<[u8; 32]>,
    /// Separator and columns of the first good file. Written by [`crate::TenantTx::note_good`], and by
    /// [`crate::TenantTx::save_source`].
    pub signature: Option<Value>,
    /// As the last answer of 200 had it. Written by [`crate::TenantTx::note_fetch`], like the next three.
    pub etag: Option<String>,
    /// As the last answer of 200 had it.
    pub last_modified: Option<String>,
    /// When it is to be fetched again. [`crate::TenantTx::save_source`] writes it too.
    pub next_fetch_at: Option<DateTime<Utc>>,
    /// When it was last fetched without conditions.
    pub last_full_fetch_at: Option<DateTime<Utc>>,
    /// When it last sent something good. Written by [`crate::TenantTx::note_good`].
    pub last_good_at: Option<DateTime<Utc>>,
    /// After so many seconds without anything good it counts as silent; at least 1.
    pub silent_after_s: i64,
    /// When it was made. Not changed later.
    pub created_at: DateTime<Utc>,
    /// Who made it. Not changed later.
    pub created_by: String,
    /// Whether there are credentials. Not written from here.
    pub has_credentials: bool,
    /// Since when it is no source any more. Not written from here.
    pub removed_at: Option<DateTime<Utc>>,
}

/// A row before its texts are understood.
pub(crate) struct RawSource {
    pub(crate) tenant_id: Uuid,
    pub(crate) source_id: Uuid,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) enabled: bool,
    pub(crate) settings: Value,
    pub(crate) revision: i64,
    pub(crate) push_token_hash: Option<Vec<u8>>,
    pub(crate) signature: Option<Value>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    pub(crate) next_fetch_at: Option<DateTime<Utc>>,
    pub(crate) last_full_fetch_at: Option<DateTime<Utc>>,
    pub(crate) last_good_at: Option<DateTime<Utc>>,
    pub(crate) silent_after_s: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) created_by: String,
    pub(crate) has_credentials: bool,
    pub(crate) removed_at: Option<DateTime<Utc>>,
}

impl RawSource {
    pub(crate) fn into_row(self) -> Result<SourceRow, Error> {
        let id = self.source_id;
        Ok(SourceRow {
            source_id: id,
            kind: kind_from(&self.kind, id)?,
            push_token_hash: self
                .push_token_hash
                .map(|hash| hash_from(&hash, "feed_sources", "push_token_hash", || id.to_string()))
                .transpose()?,
            name: self.name,
            enabled: self.enabled,
            settings: self.settings,
            revision: self.revision,
            signature: self.signature,
            etag: self.etag,
            last_modified: self.last_modified,
            next_fetch_at: self.next_fetch_at,
            last_full_fetch_at: self.last_full_fetch_at,
            last_good_at: self.last_good_at,
            silent_after_s: self.silent_after_s,
            created_at: self.created_at,
            created_by: self.created_by,
            has_credentials: self.has_credentials,
            removed_at: self.removed_at,
        })
    }

    pub(crate) fn with_owner(self) -> Result<(TenantId, SourceRow), Error> {
        Ok((TenantId(self.tenant_id), self.into_row()?))
    }
}

pub(crate) fn kind_from(text: &str, source: Uuid) -> Result<SourceKind, Error> {
    SourceKind::from_name(text).ok_or_else(|| Error::Corrupt {
        table: "feed_sources",
        column: "kind",
        id: source.to_string(),
    })
}

/// A query for whole sources: `select_sources!("where …", arguments…)`, checked like any other.
macro_rules! select_sources {
    ($which:tt $(, $argument:expr)*) => {
        sqlx::query_as!(
            RawSource,
            r#"select s.tenant_id, s.source_id, s.name, s.kind, s.enabled, s.settings, s.revision, s.push_token_hash,
                      s.signature, s.etag, s.last_modified, s.next_fetch_at, s.last_full_fetch_at, s.last_good_at,
                      s.silent_after_s, s.created_at, s.created_by, s.credentials is not null as "has_credentials!",
                      s.removed_at from feed_sources s "# + $which
            $(, $argument)*
        )
    };
}
pub(crate) use select_sources;
