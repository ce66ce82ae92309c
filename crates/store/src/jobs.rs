//! Table `jobs`: work that is done once, by whichever process has a turn.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::types::PgInterval;
use tracing::instrument;
use uuid::Uuid;

use crate::Store;
use crate::changes::JOBS;
use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, from_bigint};

/// Work to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob<'a> {
    /// What it is; a worker claims the kinds that it knows.
    pub kind: &'a str,
    /// Of the jobs of one lane of a tenant one runs at a time, the oldest first.
    pub lane: &'a str,
    /// What the kind needs to know.
    pub payload: Value,
    /// How much room of a worker it takes; see [`Store::claim_job`].
    pub weight: i32,
    /// Not before; `None`: at once. Until then it is not in the way of those behind it.
    pub run_at: Option<DateTime<Utc>>,
    /// How often it is tried; at least 1.
    pub max_attempts: i32,
}

/// A job that was claimed.
///
/// It is held until its lease ends or is renewed by [`Store::heartbeat`]. Whoever holds it is known by the pair of
/// `owner` and `attempts`, which is never given out twice: what a holder does after it lost its lease is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Whose work it is; `None`: the platform's.
    pub tenant: Option<TenantId>,
    /// Its number, which ascends; with the tenant it is the key.
    pub job_no: i64,
    /// As in [`NewJob`].
    pub kind: String,
    /// As in [`NewJob`].
    pub lane: String,
    /// As in [`NewJob`].
    pub payload: Value,
    /// As in [`NewJob`].
    pub weight: i32,
    /// Which attempt this is, from 1.
    pub attempts: i32,
    /// As in [`NewJob`].
    pub max_attempts: i32,
    /// Who claimed it.
    pub owner: String,
    /// Why the last attempt failed, if it said so; one that was killed did not.
    pub last_error: Option<String>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
}

impl Job {
    /// Whether it was tried as often as it may be: the work is not to be tried again. The holder records the failure
    /// where it belongs and calls [`TenantTx::finish_job`] or [`Store::give_up_job`].
    pub fn is_exhausted(&self) -> bool {
        self.attempts > self.max_attempts
    }

    /// Whether this attempt is the last one.
    pub fn is_last_attempt(&self) -> bool {
        self.attempts >= self.max_attempts
    }

    fn tenant_key(&self) -> Uuid {
        self.tenant.map_or(Uuid::nil(), |tenant| tenant.0)
    }
}

/// How many jobs there are, for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Could run now.
    pub ready: u64,
    /// Are leased.
    pub running: u64,
    /// Are not due yet.
    pub later: u64,
    /// Were given up.
    pub failed: u64,
    /// Since when the oldest of the ready ones could run.
    pub ready_since: Option<DateTime<Utc>>,
}

/// A job that was given up.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedJob {
    /// Whose it was.
    pub tenant: Option<TenantId>,
    /// Its number.
    pub job_no: i64,
    /// What it was.
    pub kind: String,
    /// What it was about.
    pub payload: Value,
    /// How often it was tried.
    pub attempts: i32,
    /// Why it was given up.
    pub last_error: Option<String>,
    /// When.
    pub failed_at: DateTime<Utc>,
}

/// The `once_key` of the job that fetches a source: [`PlatformTx::sources_due`] leaves out sources that have one.
pub fn fetch_key(source: Uuid) -> String {
    format!("fetch:{source}")
}

impl TenantTx {
    /// Adds a job of the tenant; idle workers hear of it once this transaction is committed. Answers its number.
    #[instrument(name = "store.enqueue", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert jobs"))]
    pub async fn enqueue(&mut self, job: &NewJob<'_>) -> Result<i64, Error> {
        let id = self.id();
        let added = add(self.conn(), id.0, job, None).await?;
        added.ok_or_else(|| Error::Corrupt { table: "jobs", column: "job_no", id: id.to_string() })
    }

    /// The same, unless a job with this key waits or runs already; then `None`.
    #[instrument(name = "store.enqueue_once", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert jobs"))]
    pub async fn enqueue_once(&mut self, job: &NewJob<'_>, key: &str) -> Result<Option<i64>, Error> {
        let id = self.id();
        add(self.conn(), id.0, job, Some(key)).await
    }

    /// Ends a job with what this transaction did: `false` when somebody else has it by now, then roll back. Best the
    /// last statement before the commit.
    #[instrument(name = "store.finish_job", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete jobs"))]
    pub async fn finish_job(&mut self, job: &Job) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "delete from jobs where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4
                 and failed_at is null",
            id.0,
            job.job_no,
            job.owner,
            job.attempts
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

impl PlatformTx {
    /// Adds a job of a tenant, or of the platform; as [`TenantTx::enqueue`].
    #[instrument(name = "store.enqueue", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert jobs"))]
    pub async fn enqueue(&mut self, tenant: Option<TenantId>, job: &NewJob<'_>) -> Result<i64, Error> {
        let id = tenant.map_or(Uuid::nil(), |tenant| tenant.0);
        let added = add(self.conn(), id, job, None).await?;
        added.ok_or_else(|| Error::Corrupt { table: "jobs", column: "job_no", id: id.to_string() })
    }

    /// The same, unless a job of that tenant with this key waits or runs already; then `None`.
    #[instrument(name = "store.enqueue_once", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert jobs"))]
    pub async fn enqueue_once(
        &mut self,
        tenant: Option<TenantId>,
        job: &NewJob<'_>,
        key: &str,
    ) -> Result<Option<i64>, Error> {
        let id = tenant.map_or(Uuid::nil(), |tenant| tenant.0);
        add(self.conn(), id, job, Some(key)).await
    }

    /// Ends a job with what this transaction did; as [`TenantTx::finish_job`].
    #[instrument(name = "store.finish_job", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete jobs"))]
    pub async fn finish_job(&mut self, job: &Job) -> Result<bool, Error> {
        let done = sqlx::query!(
            "delete from jobs where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4
                 and failed_at is null",
            job.tenant_key(),
            job.job_no,
            job.owner,
            job.attempts
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// How many jobs there are.
    #[instrument(name = "store.job_counts", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select jobs"))]
    pub async fn job_counts(&mut self) -> Result<JobCounts, Error> {
        let row = sqlx::query!(
            r#"select count(*) filter (where ready) as "ready!", count(*) filter (where running) as "running!",
                      count(*) filter (where not ready and not running and failed_at is null) as "later!",
                      count(*) filter (where failed_at is not null) as "failed!",
                      min(run_at) filter (where ready) as ready_since
               from (select failed_at, run_at,
                            failed_at is null and leased_until is not null and leased_until > now() as running,
                            failed_at is null and run_at <= now()
                                and (leased_until is null or leased_until <= now()) as ready
                     from jobs) j"#
        )
        .fetch_one(self.conn())
        .await?;
        Ok(JobCounts {
            ready: from_bigint(row.ready),
            running: from_bigint(row.running),
            later: from_bigint(row.later),
            failed: from_bigint(row.failed),
            ready_since: row.ready_since,
        })
    }

    /// Jobs that were given up, the latest first.
    #[instrument(name = "store.failed_jobs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select jobs"))]
    pub async fn failed_jobs(&mut self, limit: u32) -> Result<Vec<FailedJob>, Error> {
        Ok(sqlx::query!(
            r#"select tenant_id, job_no, kind, payload, attempts, last_error, failed_at as "failed_at!"
               from jobs where failed_at is not null order by failed_at desc limit $1"#,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| FailedJob {
            tenant: tenant_from(row.tenant_id),
            job_no: row.job_no,
            kind: row.kind,
            payload: row.payload,
            attempts: row.attempts,
            last_error: row.last_error,
            failed_at: row.failed_at,
        })
        .collect())
    }

    /// Deletes jobs that were given up before `before`. Answers how many.
    #[instrument(name = "store.sweep_jobs", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete jobs"))]
    pub async fn sweep_jobs(&mut self, before: DateTime<Utc>) -> Result<u64, Error> {
        let done = sqlx::query!("delete from jobs where failed_at < $1", before).execute(self.conn()).await?;
        Ok(done.rows_affected())
    }
}

impl Store {
    /// The next job for `owner`, which must name this process and no other, leased for so long.
    ///
    /// Tenants take turns: the one served longest ago is next. A lane never has two jobs running, and its oldest job
    /// goes first, also while that one waits for another try. Lanes whose oldest job is of another kind, or heavier than
    /// `max_weight`, are left alone. A job whose lease ended is given out again; see [`Job::is_exhausted`].
    #[instrument(name = "store.claim_job", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update jobs"))]
    pub async fn claim_job(
        &self,
        kinds: &[&str],
        owner: &str,
        lease: Duration,
        max_weight: i32,
    ) -> Result<Option<Job>, Error> {
        let mut tx = self.platform().await?;
        let row = sqlx::query!(
            r#"select tenant_id as "tenant_id!", job_no as "job_no!", kind as "kind!", lane as "lane!",
                      payload as "payload!", weight as "weight!", attempts as "attempts!",
                      max_attempts as "max_attempts!", owner as "owner!", last_error,
                      created_at as "created_at!"
               from claim_job($1, $2, $3, $4)"#,
            kinds as &[&str],
            owner,
            interval(lease),
            max_weight
        )
        .fetch_optional(tx.conn())
        .await?;
        tx.commit().await?;
        Ok(row.map(|row| Job {
            tenant: tenant_from(row.tenant_id),
            job_no: row.job_no,
            kind: row.kind,
            lane: row.lane,
            payload: row.payload,
            weight: row.weight,
            attempts: row.attempts,
            max_attempts: row.max_attempts,
            owner: row.owner,
            last_error: row.last_error,
            created_at: row.created_at,
        }))
    }

    /// Renews the lease from now on. `false`: somebody else has the job by now, or it is done; stop working on it.
    ///
    /// Waits for nobody: while a transaction of the holder is finishing the job, the answer is `true`.
    #[instrument(name = "store.heartbeat", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update jobs"))]
    pub async fn heartbeat(&self, job: &Job, lease: Duration) -> Result<bool, Error> {
        let mut tx = self.platform().await?;
        let held = sqlx::query_scalar!(
            r#"with beat as (
                   update jobs set leased_until = clock_timestamp() + $5
                   where tenant_id = $1 and job_no = (
                       select job_no from jobs
                       where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4 and failed_at is null
                       for update skip locked)
               )
               select exists (select from jobs where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4
                                  and failed_at is null) as "held!""#,
            job.tenant_key(),
            job.job_no,
            job.owner,
            job.attempts,
            interval(lease)
        )
        .fetch_one(tx.conn())
        .await?;
        tx.commit().await?;
        Ok(held)
    }

    /// Gives the job back, to be tried again at `at` (`None`: at once). After its last attempt it comes back once more
    /// so that its failure can be recorded ([`Job::is_exhausted`]). `false` when somebody else has it.
    #[instrument(name = "store.retry_job", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update jobs"))]
    pub async fn retry_job(&self, job: &Job, at: Option<DateTime<Utc>>, error: &str) -> Result<bool, Error> {
        let mut tx = self.platform().await?;
        let done = sqlx::query!(
            "update jobs set owner = null, leased_until = null, last_error = $6,
                    run_at = coalesce($5, clock_timestamp())
             where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4 and failed_at is null",
            job.tenant_key(),
            job.job_no,
            job.owner,
            job.attempts,
            at,
            error
        )
        .execute(tx.conn())
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives the job back, and this attempt does not count: for a process that is told to stop.
    #[instrument(name = "store.release_job", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update jobs"))]
    pub async fn release_job(&self, job: &Job) -> Result<bool, Error> {
        let mut tx = self.platform().await?;
        // One more may follow, rather than this one not having been: an attempt's number is never given twice.
        let done = sqlx::query!(
            "update jobs set owner = null, leased_until = null, max_attempts = max_attempts + 1
             where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4 and failed_at is null",
            job.tenant_key(),
            job.job_no,
            job.owner,
            job.attempts
        )
        .execute(tx.conn())
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives the job up: it is not tried again and out of the way, and stays to be seen
    /// ([`PlatformTx::failed_jobs`]). `false` when somebody else has it.
    #[instrument(name = "store.give_up_job", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update jobs"))]
    pub async fn give_up_job(&self, job: &Job, error: &str) -> Result<bool, Error> {
        let mut tx = self.platform().await?;
        let done = sqlx::query!(
            "update jobs set owner = null, leased_until = null, last_error = $5, failed_at = clock_timestamp()
             where tenant_id = $1 and job_no = $2 and owner = $3 and attempts = $4 and failed_at is null",
            job.tenant_key(),
            job.job_no,
            job.owner,
            job.attempts,
            error
        )
        .execute(tx.conn())
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected() == 1)
    }
}

async fn add(
    conn: &mut sqlx::PgConnection,
    tenant: Uuid,
    job: &NewJob<'_>,
    once_key: Option<&str>,
) -> Result<Option<i64>, Error> {
    let added = sqlx::query_scalar!(
        "insert into jobs (tenant_id, kind, lane, payload, weight, run_at, max_attempts, once_key)
         values ($1, $2, $3, $4, $5, coalesce($6, clock_timestamp()), $7, $8)
         on conflict do nothing returning job_no",
        tenant,
        job.kind,
        job.lane,
        job.payload,
        job.weight,
        job.run_at,
        job.max_attempts,
        once_key
    )
    .fetch_optional(&mut *conn)
    .await?;
    if added.is_some() {
        sqlx::query!("select pg_notify($1, $2)", JOBS, job.kind).execute(conn).await?;
    }
    Ok(added)
}

fn tenant_from(id: Uuid) -> Option<TenantId> {
    (!id.is_nil()).then_some(TenantId(id))
}

fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
