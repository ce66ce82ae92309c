//! Table `feed_runs`: what became of each file that a source sent.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, from_bigint, to_bigint};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// The file is there.
    Received,
    /// It was read.
    Parsed,
    /// The guard had a look.
    Checked,
    /// It waits for a person.
    Held,
    /// The lot is as the file says; the end.
    Applied,
    /// The lot was so already and is confirmed; the end.
    Unchanged,
    /// It could not be applied; the end.
    Failed,
    /// A person did not want it; the end.
    Rejected,
    /// A later one came in the way; the end.
    Superseded,
}

impl RunState {
    /// All of them.
    pub const ALL: [RunState; 9] = [
        RunState::Received,
        RunState::Parsed,
        RunState::Checked,
        RunState::Held,
        RunState::Applied,
        RunState::Unchanged,
        RunState::Failed,
        RunState::Rejected,
        RunState::Superseded,
    ];

    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Received => "received",
            RunState::Parsed => "parsed",
            RunState::Checked => "checked",
            RunState::Held => "held",
            RunState::Applied => "applied",
            RunState::Unchanged => "unchanged",
            RunState::Failed => "failed",
            RunState::Rejected => "rejected",
            RunState::Superseded => "superseded",
        }
    }

    /// The state that `text` names.
    pub fn from_name(text: &str) -> Option<RunState> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more will become of it.
    pub fn is_end(self) -> bool {
        !matches!(self, RunState::Received | RunState::Parsed | RunState::Checked | RunState::Held)
    }

    /// Whether the lot is, or was, as the file says.
    pub fn is_good(self) -> bool {
        matches!(self, RunState::Applied | RunState::Unchanged)
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A run to begin, in state [`RunState::Received`].
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun<'a> {
    /// Whose file it is.
    pub source_id: Uuid,
    /// `full` or `delta`.
    pub mode: &'a str,
    /// `import`, `fetch`, `folder`, `push`, `rollback` …
    pub cause: &'a str,
    /// Who or what did it.
    pub actor: &'a str,
    /// The run that this one repeats.
    pub of_run: Option<Uuid>,
    /// The file as it came.
    pub file_id: Option<Uuid>,
    /// The name it came with.
    pub file_name: &'a str,
    /// Its size.
    pub file_bytes: u64,
    /// The units that were read from it, if they are known already.
    pub units_file_id: Option<Uuid>,
    /// By which the sender knows it; unique within the source.
    pub idempotency_key: Option<&'a str>,
    /// When it was received.
    pub received_at: DateTime<Utc>,
}

/// A run. JSON members are the callers' own.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Its id; ids ascend with the time of receipt.
    pub run_id: Uuid,
    /// Whose file it is.
    pub source_id: Uuid,
    /// How far it is.
    pub state: RunState,
    /// `full` or `delta`.
    pub mode: String,
    /// As in [`NewRun`]. Not changed later.
    pub cause: String,
    /// As in [`NewRun`]. Not changed later.
    pub actor: String,
    /// As in [`NewRun`]. Not changed later.
    pub of_run: Option<Uuid>,
    /// As in [`NewRun`].
    pub file_id: Option<Uuid>,
    /// As in [`NewRun`]. Not changed later.
    pub file_name: String,
    /// As in [`NewRun`]. Not changed later.
    pub file_bytes: u64,
    /// The units that were read from it.
    pub units_file_id: Option<Uuid>,
    /// As in [`NewRun`]. Not changed later.
    pub idempotency_key: Option<String>,
    /// As in [`NewRun`]. Not changed later.
    pub received_at: DateTime<Utc>,
    /// When its sender made it, by the file's own word.
    pub generated_at: Option<DateTime<Utc>>,
    /// When the work on it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When a person decided about it.
    pub decided_at: Option<DateTime<Utc>>,
    /// Who that was.
    pub decided_by: Option<String>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// The inventory version that it made.
    pub inventory_version: Option<u64>,
    /// What kind of file it is.
    pub detected: Option<Value>,
    /// Separator and columns.
    pub signature: Option<Value>,
    /// Records, published, excluded, rejected, duplicates …
    pub counts: Option<Value>,
    /// Publishable units by rooftop key.
    pub by_rooftop: Option<Value>,
    /// Findings by code.
    pub by_code: Option<Value>,
    /// What the guard says.
    pub verdict: Option<Value>,
    /// What it changes, or would change.
    pub diff: Option<Value>,
    /// How long each step took.
    pub timings: Option<Value>,
    /// Why it failed, or was rejected.
    pub failure: Option<String>,
    /// Whether its findings are still there: they go earlier than the run.
    pub findings_kept: bool,
}

/// A row before its texts are understood.
struct Raw {
    run_id: Uuid,
    source_id: Uuid,
    state: String,
    mode: String,
    cause: String,
    actor: String,
    of_run: Option<Uuid>,
    file_id: Option<Uuid>,
    file_name: String,
    file_bytes: i64,
    units_file_id: Option<Uuid>,
    idempotency_key: Option<String>,
    received_at: DateTime<Utc>,
    generated_at: Option<DateTime<Utc>>,
    started_at: Option<DateTime<Utc>>,
    decided_at: Option<DateTime<Utc>>,
    decided_by: Option<String>,
    finished_at: Option<DateTime<Utc>>,
    inventory_version: Option<i64>,
    detected: Option<Value>,
    signature: Option<Value>,
    counts: Option<Value>,
    by_rooftop: Option<Value>,
    by_code: Option<Value>,
    verdict: Option<Value>,
    diff: Option<Value>,
    timings: Option<Value>,
    failure: Option<String>,
    findings_kept: bool,
}

impl Raw {
    fn into_row(self) -> Result<RunRow, Error> {
        Ok(RunRow {
            state: RunState::from_name(&self.state).ok_or_else(|| Error::Corrupt {
                table: "feed_runs",
                column: "state",
                id: self.run_id.to_string(),
            })?,
            run_id: self.run_id,
            source_id: self.source_id,
            mode: self.mode,
            cause: self.cause,
            actor: self.actor,
            of_run: self.of_run,
            file_id: self.file_id,
            file_name: self.file_name,
            file_bytes: from_bigint(self.file_bytes),
            units_file_id: self.units_file_id,
            idempotency_key: self.idempotency_key,
            received_at: self.received_at,
            generated_at: self.generated_at,
            started_at: self.started_at,
            decided_at: self.decided_at,
            decided_by: self.decided_by,
            finished_at: self.finished_at,
            inventory_version: self.inventory_version.map(from_bigint),
            detected: self.detected,
            signature: self.signature,
            counts: self.counts,
            by_rooftop: self.by_rooftop,
            by_code: self.by_code,
            verdict: self.verdict,
            diff: self.diff,
            timings: self.timings,
            failure: self.failure,
            findings_kept: self.findings_kept,
        })
    }
}

/// A query for whole runs: `select_runs!("where …", arguments…)`, checked like any other.
macro_rules! select_runs {
    ($which:tt, $($argument:expr),+) => {
        sqlx::query_as!(
            Raw,
            "select run_id, source_id, state, mode, cause, actor, of_run, file_id, file_name, file_bytes,
                    units_file_id, idempotency_key, received_at, generated_at, started_at, decided_at, decided_by,
                    finished_at, inventory_version, detected, signature, counts, by_rooftop, by_code, verdict, diff,
                    timings, failure, findings_kept from feed_runs " + $which,
            $($argument),+
        )
    };
}

impl TenantTx {
    /// Begins a run.
    ///
    /// # Errors
    /// [`Error::Constraint`] `feed_runs_key` when the source has a run with that idempotency key.
    #[instrument(name = "store.insert_run", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_runs"))]
    pub async fn insert_run(&mut self, run: &NewRun<'_>) -> Result<RunRow, Error> {
        let id = self.id();
        let run_id = Uuid::now_v7();
        sqlx::query!(
            "insert into feed_runs (tenant_id, run_id, source_id, state, mode, cause, actor, of_run, file_id,
                                    file_name, file_bytes, units_file_id, idempotency_key, received_at)
             values ($1, $2, $3, 'received', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            id.0,
            run_id,
            run.source_id,
            run.mode,
            run.cause,
            run.actor,
            run.of_run,
            run.file_id,
            run.file_name,
            to_bigint(run.file_bytes),
            run.units_file_id,
            run.idempotency_key,
            run.received_at
        )
        .execute(self.conn())
        .await?;
        self.run(run_id).await?.ok_or_else(|| no_run(run_id))
    }

    /// A run.
    #[instrument(name = "store.run", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn run(&mut self, run: Uuid) -> Result<Option<RunRow>, Error> {
        let id = self.id();
        let raw = select_runs!("where tenant_id = $1 and run_id = $2", id.0, run)
            .fetch_optional(self.conn())
            .await?;
        raw.map(Raw::into_row).transpose()
    }

    /// The same, locked until the end of the transaction: of two that decide about a run the second sees what the
    /// first did.
    #[instrument(name = "store.lock_run", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn lock_run(&mut self, run: Uuid) -> Result<Option<RunRow>, Error> {
        let id = self.id();
        let raw = select_runs!("where tenant_id = $1 and run_id = $2 for update", id.0, run)
            .fetch_optional(self.conn())
            .await?;
        raw.map(Raw::into_row).transpose()
    }

    /// Runs of a source, or of all, the latest first; with `before`, those received before that run.
    #[instrument(name = "store.runs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn runs(
        &mut self,
        source: Option<Uuid>,
        limit: u32,
        before: Option<Uuid>,
    ) -> Result<Vec<RunRow>, Error> {
        let id = self.id();
        select_runs!(
            "where tenant_id = $1 and ($2::uuid is null or source_id = $2) and ($3::uuid is null or run_id < $3)
             order by run_id desc limit $4",
            id.0,
            source,
            before,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(Raw::into_row)
        .collect()
    }

    /// Stores a run as it is now, but what never changes ([`RunRow`] says which members). `false` when it is not there.
    #[instrument(name = "store.save_run", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_runs"))]
    pub async fn save_run(&mut self, run: &RunRow) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_runs set state = $3, mode = $4, file_id = $5, units_file_id = $6, generated_at = $7,
                    started_at = $8, decided_at = $9, decided_by = $10, finished_at = $11, inventory_version = $12,
                    detected = $13, signature = $14, counts = $15, by_rooftop = $16, by_code = $17, verdict = $18,
                    diff = $19, timings = $20, failure = $21
             where tenant_id = $1 and run_id = $2",
            id.0,
            run.run_id,
            run.state.as_str(),
            run.mode,
            run.file_id,
            run.units_file_id,
            run.generated_at,
            run.started_at,
            run.decided_at,
            run.decided_by,
            run.finished_at,
            run.inventory_version.map(to_bigint),
            run.detected,
            run.signature,
            run.counts,
            run.by_rooftop,
            run.by_code,
            run.verdict,
            run.diff,
            run.timings,
            run.failure
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// The full run of a source that ended well last: what the next one is compared with.
    #[instrument(name = "store.last_good_run", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn last_good_run(&mut self, source: Uuid) -> Result<Option<RunRow>, Error> {
        let id = self.id();
        let raw = select_runs!(
            "where tenant_id = $1 and source_id = $2 and mode = 'full' and state in ('applied', 'unchanged')
             order by finished_at desc, run_id desc limit 1",
            id.0,
            source
        )
        .fetch_optional(self.conn())
        .await?;
        raw.map(Raw::into_row).transpose()
    }

    /// Runs that did not end, of a source or of all, the oldest first.
    #[instrument(name = "store.open_runs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn open_runs(&mut self, source: Option<Uuid>) -> Result<Vec<RunRow>, Error> {
        let id = self.id();
        select_runs!(
            "where tenant_id = $1 and ($2::uuid is null or source_id = $2)
                and state in ('received', 'parsed', 'checked', 'held') order by run_id",
            id.0,
            source
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(Raw::into_row)
        .collect()
    }

    /// Runs of a source that wait for a person, the oldest first.
    #[instrument(name = "store.held_runs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn held_runs(&mut self, source: Uuid) -> Result<Vec<RunRow>, Error> {
        let runs = self.open_runs(Some(source)).await?;
        Ok(runs.into_iter().filter(|run| run.state == RunState::Held).collect())
    }

    /// The run that a source's sender knows by a key.
    #[instrument(name = "store.run_by_key", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn run_by_key(&mut self, source: Uuid, key: &str) -> Result<Option<RunRow>, Error> {
        let id = self.id();
        let raw = select_runs!(
            "where tenant_id = $1 and source_id = $2 and idempotency_key = $3",
            id.0,
            source,
            key
        )
        .fetch_optional(self.conn())
        .await?;
        raw.map(Raw::into_row).transpose()
    }
}

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
    /// As in [`RunRow`].
    pub counts: Option<Value>,
    /// As in [`RunRow`].
    pub verdict: Option<Value>,
    /// As in [`RunRow`].
    pub diff: Option<Value>,
    /// As in [`RunRow`].
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

fn no_run(run: Uuid) -> Error {
    Error::Corrupt { table: "feed_runs", column: "run_id", id: run.to_string() }
}
