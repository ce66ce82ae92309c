//! Table `feed_runs`: what became of each file that a source sent.

use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::run_row::{NewRun, RawRun, RunRow, RunState, select_runs};
use crate::tenant::{TenantTx, to_bigint};

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
        raw.map(RawRun::into_row).transpose()
    }

    /// The same, locked until the end of the transaction: of two that decide about a run the second sees what the
    /// first did.
    #[instrument(name = "store.lock_run", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_runs"))]
    pub async fn lock_run(&mut self, run: Uuid) -> Result<Option<RunRow>, Error> {
        let id = self.id();
        let raw = select_runs!("where tenant_id = $1 and run_id = $2 for update", id.0, run)
            .fetch_optional(self.conn())
            .await?;
        raw.map(RawRun::into_row).transpose()
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
        .map(RawRun::into_row)
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
        raw.map(RawRun::into_row).transpose()
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
        .map(RawRun::into_row)
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
        raw.map(RawRun::into_row).transpose()
    }
}

fn no_run(run: Uuid) -> Error {
    Error::Corrupt { table: "feed_runs", column: "run_id", id: run.to_string() }
}
