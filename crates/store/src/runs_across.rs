//! Runs of all dealers (table `feed_runs`), for operators and the sweep.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::run_row::RunState;

/// A run as operators see it among those of all dealers.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOfTenant {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// The dealer's name in addresses.
    pub slug: String,
    /// The source, also a removed one.
    pub source_name: String,
    /// Which run.
    pub run_id: Uuid,
    /// How far it is.
    pub state: String,
    /// What brought it.
    pub cause: String,
    /// The name of its file.
    pub file_name: String,
    /// When it was received.
    pub received_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// As in [`crate::RunRow`].
    pub counts: Option<Value>,
    /// As in [`crate::RunRow`].
    pub verdict: Option<Value>,
    /// As in [`crate::RunRow`].
    pub diff: Option<Value>,
    /// As in [`crate::RunRow`].
    pub failure: Option<String>,
}

impl PlatformTx {
    /// Whose run it is.
    #[instrument(name = "store.run_owner", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn run_owner(&mut self, run: Uuid) -> Result<Option<TenantId>, Error> {
        let id = sqlx::query_scalar!("select r.tenant_id from feed_runs r where r.run_id = $1", run)
            .fetch_optional(self.conn())
            .await?;
        Ok(id.map(TenantId))
    }

    /// Runs of all dealers, the latest first; with `state`, only those that are in it; with `before`, those received
    /// before that run.
    #[instrument(name = "store.recent_runs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn recent_runs(
        &mut self,
        state: Option<RunState>,
        limit: u32,
        before: Option<Uuid>,
    ) -> Result<Vec<RunOfTenant>, Error> {
        Ok(sqlx::query!(
            r#"select r.tenant_id as "tenant_id!", t.slug as "slug!", s.name as "source_name?",
                      r.run_id as "run_id!", r.state as "state!", r.cause as "cause!", r.file_name as "file_name!",
                      r.received_at as "received_at!", r.finished_at, r.counts, r.verdict, r.diff, r.failure
               from feed_runs r join tenants t on t.tenant_id = r.tenant_id
                    left join feed_sources s on s.tenant_id = r.tenant_id and s.source_id = r.source_id
               where ($1::text is null or r.state = $1) and ($2::uuid is null or r.run_id < $2)
               order by r.run_id desc limit $3"#,
            state.map(RunState::as_str),
            before,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| RunOfTenant {
            tenant_id: TenantId(row.tenant_id),
            slug: row.slug,
            source_name: row.source_name.unwrap_or_default(),
            run_id: row.run_id,
            state: row.state,
            cause: row.cause,
            file_name: row.file_name,
            received_at: row.received_at,
            finished_at: row.finished_at,
            counts: row.counts,
            verdict: row.verdict,
            diff: row.diff,
            failure: row.failure,
        })
        .collect())
    }

    /// Deletes findings of runs received before `findings_before`, and ended runs received before `runs_before` but
    /// each source's last good one. At most a thousand runs each: call it again until it answers 0. Answers how many
    /// runs it touched.
    #[instrument(name = "store.sweep_runs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete feed_runs"))]
    pub async fn sweep_runs(
        &mut self,
        findings_before: DateTime<Utc>,
        runs_before: DateTime<Utc>,
    ) -> Result<u64, Error> {
        let bare = sqlx::query!(
            "with due as (
                 select r.tenant_id, r.run_id from feed_runs r
                 where r.findings_kept and r.received_at < $1
                   and r.state not in ('received', 'parsed', 'checked', 'held')
                 limit 1000
             ), gone as (
                 delete from feed_findings f using due where f.tenant_id = due.tenant_id and f.run_id = due.run_id
             )
             update feed_runs r set findings_kept = false from due
             where r.tenant_id = due.tenant_id and r.run_id = due.run_id",
            findings_before
        )
        .execute(self.conn())
        .await?;
        let gone = sqlx::query!(
            "delete from feed_runs r using (
                 select o.tenant_id, o.run_id from feed_runs o
                 where o.received_at < $1 and not o.findings_kept
                   and o.state not in ('received', 'parsed', 'checked', 'held')
                   and o.run_id is distinct from (
                       select g.run_id from feed_runs g
                       where g.tenant_id = o.tenant_id and g.source_id = o.source_id and g.mode = 'full'
                         and g.state in ('applied', 'unchanged')
                       order by g.finished_at desc, g.run_id desc limit 1)
                 limit 1000
             ) due
             where r.tenant_id = due.tenant_id and r.run_id = due.run_id",
            runs_before
        )
        .execute(self.conn())
        .await?;
        Ok(bare.rows_affected() + gone.rows_affected())
    }
}
