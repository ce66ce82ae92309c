//! Table `feed_notices`: what people are told.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::tenant::TenantTx;

/// A notice to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNotice<'a> {
    /// `run_held`, `source_silent` …
    pub kind: &'a str,
    /// `info`, `warning` or `error`.
    pub severity: &'a str,
    /// The source that it is about.
    pub source_id: Option<Uuid>,
    /// The run that it is about.
    pub run_id: Option<Uuid>,
    /// What a person reads.
    pub sentence: &'a str,
    /// The same for programs.
    pub data: Value,
    /// At most one open notice has this key: while there is one, another is not added.
    pub once_key: Option<&'a str>,
}

/// A notice.
#[derive(Debug, Clone, PartialEq)]
pub struct NoticeRow {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Its id; ids ascend with time.
    pub notice_id: Uuid,
    /// As in [`NewNotice`].
    pub kind: String,
    /// As in [`NewNotice`].
    pub severity: String,
    /// As in [`NewNotice`].
    pub source_id: Option<Uuid>,
    /// As in [`NewNotice`].
    pub run_id: Option<Uuid>,
    /// As in [`NewNotice`].
    pub sentence: String,
    /// As in [`NewNotice`].
    pub data: Value,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
    /// When a person saw it.
    pub seen_at: Option<DateTime<Utc>>,
    /// When it stopped being so.
    pub resolved_at: Option<DateTime<Utc>>,
}

/// A row as it is read.
struct Raw {
    tenant_id: Uuid,
    notice_id: Uuid,
    kind: String,
    severity: String,
    source_id: Option<Uuid>,
    run_id: Option<Uuid>,
    sentence: String,
    data: Value,
    created_at: DateTime<Utc>,
    seen_at: Option<DateTime<Utc>>,
    resolved_at: Option<DateTime<Utc>>,
}

impl From<Raw> for NoticeRow {
    fn from(raw: Raw) -> NoticeRow {
        NoticeRow {
            tenant_id: TenantId(raw.tenant_id),
            notice_id: raw.notice_id,
            kind: raw.kind,
            severity: raw.severity,
            source_id: raw.source_id,
            run_id: raw.run_id,
            sentence: raw.sentence,
            data: raw.data,
            created_at: raw.created_at,
            seen_at: raw.seen_at,
            resolved_at: raw.resolved_at,
        }
    }
}

impl TenantTx {
    /// Stores a notice. `None` when an open one has its `once_key`.
    #[instrument(name = "store.add_notice", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_notices"))]
    pub async fn add_notice(&mut self, notice: &NewNotice<'_>) -> Result<Option<Uuid>, Error> {
        let id = self.id();
        Ok(sqlx::query_scalar!(
            "insert into feed_notices (tenant_id, notice_id, kind, severity, source_id, run_id, sentence, data,
                                       created_at, once_key)
             values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), $9)
             on conflict do nothing returning notice_id",
            id.0,
            Uuid::now_v7(),
            notice.kind,
            notice.severity,
            notice.source_id,
            notice.run_id,
            notice.sentence,
            notice.data,
            notice.once_key
        )
        .fetch_optional(self.conn())
        .await?)
    }

    /// Notices, the latest first; only those that are not resolved, where asked for.
    #[instrument(name = "store.notices", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_notices"))]
    pub async fn notices(&mut self, only_open: bool, limit: u32) -> Result<Vec<NoticeRow>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            Raw,
            "select tenant_id, notice_id, kind, severity, source_id, run_id, sentence, data, created_at, seen_at,
                    resolved_at
             from feed_notices where tenant_id = $1 and (resolved_at is null or not $2)
             order by notice_id desc limit $3",
            id.0,
            only_open,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(NoticeRow::from)
        .collect())
    }

    /// Resolves the open notices of a kind about a source (`None`: about none). Answers how many there were.
    #[instrument(name = "store.resolve_notices", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_notices"))]
    pub async fn resolve_notices(&mut self, kind: &str, source: Option<Uuid>) -> Result<u64, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_notices set resolved_at = clock_timestamp()
             where tenant_id = $1 and kind = $2 and source_id is not distinct from $3 and resolved_at is null",
            id.0,
            kind,
            source
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Resolves the open notices about a run, of one kind or of all. Answers how many there were.
    #[instrument(name = "store.resolve_run_notices", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_notices"))]
    pub async fn resolve_run_notices(&mut self, run: Uuid, kind: Option<&str>) -> Result<u64, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_notices set resolved_at = clock_timestamp()
             where tenant_id = $1 and run_id = $2 and ($3::text is null or kind = $3) and resolved_at is null",
            id.0,
            run,
            kind
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Notes that a person saw these notices.
    #[instrument(name = "store.notices_seen", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_notices"))]
    pub async fn notices_seen(&mut self, notices: &[Uuid]) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "update feed_notices set seen_at = clock_timestamp()
             where tenant_id = $1 and notice_id = any($2) and seen_at is null",
            id.0,
            notices
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

impl PlatformTx {
    /// Notices of all dealers, the latest first; only those that are not resolved, where asked for.
    #[instrument(name = "store.notices", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_notices"))]
    pub async fn recent_notices(&mut self, only_open: bool, limit: u32) -> Result<Vec<NoticeRow>, Error> {
        Ok(sqlx::query_as!(
            Raw,
            "select n.tenant_id, n.notice_id, n.kind, n.severity, n.source_id, n.run_id, n.sentence, n.data,
                    n.created_at, n.seen_at, n.resolved_at
             from feed_notices n where n.resolved_at is null or not $1 order by n.notice_id desc limit $2",
            only_open,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(NoticeRow::from)
        .collect())
    }

    /// Deletes notices that were resolved before `before`. Answers how many.
    #[instrument(name = "store.sweep_notices", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete feed_notices"))]
    pub async fn sweep_notices(&mut self, before: DateTime<Utc>) -> Result<u64, Error> {
        let done = sqlx::query!("delete from feed_notices where resolved_at < $1", before)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected())
    }
}
