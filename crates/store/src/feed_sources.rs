//! Table `feed_sources`: where a dealer's units come from.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::source_row::{RawSource, SourceRow, select_sources};
use crate::tenant::TenantTx;

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
        .map(RawSource::into_row)
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
        raw.map(RawSource::into_row).transpose()
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
        raw.map(RawSource::into_row).transpose()
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
