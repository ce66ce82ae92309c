//! Table `feed_sources`: where a dealer's units come from.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, hash_from};

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
    /// Raised by [`TenantTx::save_source`]; whatever is given to [`TenantTx::insert_source`] becomes 1.
    pub revision: i64,
    /// SHA-256 of the token of a push.
    pub push_token_hash: Option<[u8; 32]>,
    /// Separator and columns of the first good file. Written by [`TenantTx::note_good`], and by
    /// [`TenantTx::save_source`].
    pub signature: Option<Value>,
    /// As the last answer of 200 had it. Written by [`TenantTx::note_fetch`], like the next three.
    pub etag: Option<String>,
    /// As the last answer of 200 had it.
    pub last_modified: Option<String>,
    /// When it is to be fetched again. [`TenantTx::save_source`] writes it too.
    pub next_fetch_at: Option<DateTime<Utc>>,
    /// When it was last fetched without conditions.
    pub last_full_fetch_at: Option<DateTime<Utc>>,
    /// When it last sent something good. Written by [`TenantTx::note_good`].
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

/// A source that has been silent for too long.
#[derive(Debug, Clone, PartialEq)]
pub struct SilentRow {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Which source.
    pub source_id: Uuid,
    /// What the dealer calls it.
    pub name: String,
    /// How its files arrive.
    pub kind: SourceKind,
    /// When it last sent something good.
    pub last_good_at: Option<DateTime<Utc>>,
    /// Since when it counts as silent.
    pub silent_since: DateTime<Utc>,
}

/// A row before its texts are understood.
struct Raw {
    tenant_id: Uuid,
    source_id: Uuid,
    name: String,
    kind: String,
    enabled: bool,
    settings: Value,
    revision: i64,
    push_token_hash: Option<Vec<u8>>,
    signature: Option<Value>,
    etag: Option<String>,
    last_modified: Option<String>,
    next_fetch_at: Option<DateTime<Utc>>,
    last_full_fetch_at: Option<DateTime<Utc>>,
    last_good_at: Option<DateTime<Utc>>,
    silent_after_s: i64,
    created_at: DateTime<Utc>,
    created_by: String,
    has_credentials: bool,
    removed_at: Option<DateTime<Utc>>,
}

impl Raw {
    fn into_row(self) -> Result<SourceRow, Error> {
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

    fn with_owner(self) -> Result<(TenantId, SourceRow), Error> {
        Ok((TenantId(self.tenant_id), self.into_row()?))
    }
}

fn kind_from(text: &str, source: Uuid) -> Result<SourceKind, Error> {
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
            Raw,
            r#"select s.tenant_id, s.source_id, s.name, s.kind, s.enabled, s.settings, s.revision, s.push_token_hash,
                      s.signature, s.etag, s.last_modified, s.next_fetch_at, s.last_full_fetch_at, s.last_good_at,
                      s.silent_after_s, s.created_at, s.created_by, s.credentials is not null as "has_credentials!",
                      s.removed_at from feed_sources s "# + $which
            $(, $argument)*
        )
    };
}

impl TenantTx {
    /// The sources, by name.
    #[instrument(name = "store.sources", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn sources(&mut self) -> Result<Vec<SourceRow>, Error> {
        let id = self.id();
        select_sources!(
            "where s.tenant_id = $1 and s.removed_at is null order by lower(s.name), s.source_id",
            id.0
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(Raw::into_row)
        .collect()
    }

    /// Whether there is any source.
    #[instrument(name = "store.has_sources", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn has_sources(&mut self) -> Result<bool, Error> {
        let id = self.id();
        Ok(sqlx::query_scalar!(
            r#"select exists (select from feed_sources where tenant_id = $1 and removed_at is null) as "exists!""#,
            id.0
        )
        .fetch_one(self.conn())
        .await?)
    }

    /// A source, also a removed one.
    #[instrument(name = "store.source", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn source(&mut self, source: Uuid) -> Result<Option<SourceRow>, Error> {
        let id = self.id();
        let raw = select_sources!("where s.tenant_id = $1 and s.source_id = $2", id.0, source)
            .fetch_optional(self.conn())
            .await?;
        raw.map(Raw::into_row).transpose()
    }

    /// The source of that name, whatever the case of its letters.
    #[instrument(name = "store.source_named", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn source_named(&mut self, name: &str) -> Result<Option<SourceRow>, Error> {
        let id = self.id();
        let raw = select_sources!(
            "where s.tenant_id = $1 and lower(s.name) = lower($2) and s.removed_at is null",
            id.0,
            name
        )
        .fetch_optional(self.conn())
        .await?;
        raw.map(Raw::into_row).transpose()
    }

    /// Adds a source.
    ///
    /// # Errors
    /// [`Error::Constraint`] `feed_sources_name` when there is one of that name.
    #[instrument(name = "store.insert_source", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_sources"))]
    pub async fn insert_source(&mut self, source: &SourceRow) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "insert into feed_sources (tenant_id, source_id, name, kind, enabled, settings, push_token_hash,
                                       signature, etag, last_modified, next_fetch_at, last_full_fetch_at,
                                       last_good_at, silent_after_s, created_at, created_by)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            id.0,
            source.source_id,
            source.name,
            source.kind.as_str(),
            source.enabled,
            source.settings,
            source.push_token_hash.as_ref().map(|hash| &hash[..]),
            source.signature,
            source.etag,
            source.last_modified,
            source.next_fetch_at,
            source.last_full_fetch_at,
            source.last_good_at,
            source.silent_after_s,
            source.created_at,
            source.created_by
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Stores what a person may change: name, enabled, settings, token, signature, next fetch and silence. `false` when
    /// the source is no longer of revision `if_revision`; afterwards it is one higher.
    ///
    /// # Errors
    /// [`Error::Constraint`] `feed_sources_name` when there is another of that name.
    #[instrument(name = "store.save_source", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_sources"))]
    pub async fn save_source(&mut self, source: &SourceRow, if_revision: i64) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_sources set revision = revision + 1, name = $4, enabled = $5, settings = $6,
                    push_token_hash = $7, signature = $8, next_fetch_at = $9, silent_after_s = $10
             where tenant_id = $1 and source_id = $2 and revision = $3 and removed_at is null",
            id.0,
            source.source_id,
            if_revision,
            source.name,
            source.enabled,
            source.settings,
            source.push_token_hash.as_ref().map(|hash| &hash[..]),
            source.signature,
            source.next_fetch_at,
            source.silent_after_s
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Removes a source with its credentials and its token; its name is free again. Its units must be gone before.
    /// `false` when there is none.
    #[instrument(name = "store.delete_source", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_sources"))]
    pub async fn delete_source(&mut self, source: Uuid) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_sources set removed_at = clock_timestamp(), enabled = false, credentials = null,
                    push_token_hash = null, next_fetch_at = null, revision = revision + 1
             where tenant_id = $1 and source_id = $2 and removed_at is null",
            id.0,
            source
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// The encrypted credentials of a source.
    #[instrument(name = "store.source_credentials", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn source_credentials(&mut self, source: Uuid) -> Result<Option<Vec<u8>>, Error> {
        let id = self.id();
        let found = sqlx::query_scalar!(
            "select credentials from feed_sources where tenant_id = $1 and source_id = $2",
            id.0,
            source
        )
        .fetch_optional(self.conn())
        .await?;
        Ok(found.flatten())
    }

    /// Stores encrypted credentials of a source, or drops them. `false` when there is no such source.
    #[instrument(name = "store.set_source_credentials", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_sources"))]
    pub async fn set_source_credentials(
        &mut self,
        source: Uuid,
        sealed: Option<&[u8]>,
    ) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_sources set credentials = $3
             where tenant_id = $1 and source_id = $2 and removed_at is null",
            id.0,
            source,
            sealed
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Replaces encrypted credentials by the same under another key, unless they were changed meanwhile.
    #[instrument(name = "store.reseal_credentials", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_sources"))]
    pub async fn reseal_credentials(
        &mut self,
        source: Uuid,
        old: &[u8],
        sealed: &[u8],
    ) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_sources set credentials = $4
             where tenant_id = $1 and source_id = $2 and credentials = $3",
            id.0,
            source,
            old,
            sealed
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Notes what a fetch brought: the validators as they are to be sent next time, when that is, and when the last one
    /// without conditions was.
    #[instrument(name = "store.note_fetch", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_sources"))]
    pub async fn note_fetch(
        &mut self,
        source: Uuid,
        etag: Option<&str>,
        last_modified: Option<&str>,
        next_fetch_at: Option<DateTime<Utc>>,
        last_full_fetch_at: Option<DateTime<Utc>>,
    ) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "update feed_sources set etag = $3, last_modified = $4, next_fetch_at = $5, last_full_fetch_at = $6
             where tenant_id = $1 and source_id = $2 and removed_at is null",
            id.0,
            source,
            etag,
            last_modified,
            next_fetch_at,
            last_full_fetch_at
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Notes that the source sent something good at that time, and the signature of the first good file: one that is
    /// known already stays. An earlier time than the one known changes nothing.
    #[instrument(name = "store.note_good", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_sources"))]
    pub async fn note_good(
        &mut self,
        source: Uuid,
        at: DateTime<Utc>,
        signature: Option<&Value>,
    ) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "update feed_sources set last_good_at = greatest(last_good_at, $3), signature = coalesce(signature, $4)
             where tenant_id = $1 and source_id = $2",
            id.0,
            source,
            at,
            signature
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

impl PlatformTx {
    /// A source by its id alone, with its owner; not a removed one, and none of a removed dealer.
    #[instrument(name = "store.source_owner", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn source_owner(&mut self, source: Uuid) -> Result<Option<(TenantId, SourceRow)>, Error> {
        let raw = select_sources!(
            "join tenants t on t.tenant_id = s.tenant_id and t.state <> 'removed'
             where s.source_id = $1 and s.removed_at is null",
            source
        )
        .fetch_optional(self.conn())
        .await?;
        raw.map(Raw::with_owner).transpose()
    }

    /// Sources to be fetched now, the longest due first. Those that have a job for it ([`crate::fetch_key`]) are left
    /// out.
    #[instrument(name = "store.sources_due", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn sources_due(
        &mut self,
        now: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<(TenantId, SourceRow)>, Error> {
        select_sources!(
            "join tenants t on t.tenant_id = s.tenant_id and t.state <> 'removed'
             where s.next_fetch_at <= $1 and s.kind = 'https' and s.enabled and s.removed_at is null
               and not exists (select from jobs j where j.tenant_id = s.tenant_id and j.failed_at is null
                                   and j.once_key = 'fetch:' || s.source_id)
             order by s.next_fetch_at, s.source_id limit $2",
            now,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(Raw::with_owner)
        .collect()
    }

    /// Sources whose files are dropped into folders.
    #[instrument(name = "store.folder_sources", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn folder_sources(&mut self) -> Result<Vec<(TenantId, SourceRow)>, Error> {
        select_sources!(
            "join tenants t on t.tenant_id = s.tenant_id and t.state <> 'removed'
             where s.kind = 'folder' and s.enabled and s.removed_at is null order by s.tenant_id, s.source_id"
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(Raw::with_owner)
        .collect()
    }

    /// Sources without anything good for longer than they may be, counted from when they were made where nothing good
    /// ever came.
    #[instrument(name = "store.silent_sources", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn silent_sources(&mut self, now: DateTime<Utc>) -> Result<Vec<SilentRow>, Error> {
        sqlx::query!(
            r#"select s.tenant_id as "tenant_id!", s.source_id as "source_id!", s.name as "name!", s.kind as "kind!",
                      s.last_good_at,
                      coalesce(s.last_good_at, s.created_at) + make_interval(secs => s.silent_after_s) as "since!"
               from feed_sources s join tenants t on t.tenant_id = s.tenant_id and t.state <> 'removed'
               where s.enabled and s.removed_at is null
                 and coalesce(s.last_good_at, s.created_at) + make_interval(secs => s.silent_after_s) < $1
               order by s.tenant_id, s.source_id"#,
            now
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            Ok(SilentRow {
                tenant_id: TenantId(row.tenant_id),
                source_id: row.source_id,
                name: row.name,
                kind: kind_from(&row.kind, row.source_id)?,
                last_good_at: row.last_good_at,
                silent_since: row.since,
            })
        })
        .collect()
    }

    /// All encrypted credentials, to put them under another key ([`TenantTx::reseal_credentials`]).
    #[instrument(name = "store.sealed_credentials", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_sources"))]
    pub async fn sealed_credentials(&mut self) -> Result<Vec<(TenantId, Uuid, Vec<u8>)>, Error> {
        Ok(sqlx::query!(
            r#"select s.tenant_id, s.source_id, s.credentials as "credentials!" from feed_sources s
               where s.credentials is not null order by s.tenant_id, s.source_id"#
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| (TenantId(row.tenant_id), row.source_id, row.credentials))
        .collect())
    }
}
