//! Sources of all dealers (table `feed_sources`): what is due, dropped, silent, or sealed under an old key.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::source_row::{RawSource, SourceKind, SourceRow, kind_from, select_sources};

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
        raw.map(RawSource::with_owner).transpose()
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
        .map(RawSource::with_owner)
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
        .map(RawSource::with_owner)
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

    /// All encrypted credentials, to put them under another key ([`crate::TenantTx::reseal_credentials`]).
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
