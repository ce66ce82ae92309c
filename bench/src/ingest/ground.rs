//! Where files are brought in: a server that writes durably, dealers that have nothing yet, and the worker's work done
//! by hand, so that each part of it can be timed.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use dealer::feeds::{self, Bench, IMPORT_JOB, Received, SourceSettings, Timings};
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, Row};
use store::{RunRow, RunState, SourceKind, SourceRow, Store, TenantId};
use uuid::Uuid;

use crate::data::Lot;
use crate::world::{Cluster, INGEST, World};

/// Bytes that are handed over at once, as they come off a network.
const PIECE: usize = 64 * 1024;
/// Bytes that a copy sends at once.
const COPIED: usize = 1 << 20;

/// Everything that is needed to bring files in.
pub(super) struct Ground {
    pub(super) cluster: Cluster,
    pub(super) store: Store,
    /// A connection that no policy binds.
    pub(super) admin: PgConnection,
    spool: std::path::PathBuf,
}

/// A dealer with one source.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) tenant: TenantId,
    pub(super) source: SourceRow,
}

/// A run that has ended, and what it took.
pub(super) struct Done {
    pub(super) run: RunRow,
    pub(super) timings: Timings,
    /// The whole of it.
    pub(super) took: Duration,
    /// Bytes of write-ahead log meanwhile.
    pub(super) wal: u64,
}

impl Done {
    /// Comparing, judging and writing, once the units of the file are at hand.
    pub(super) fn applying(&self) -> Duration {
        self.took.saturating_sub(Duration::from_millis(self.timings.fetched_ms))
    }
}

impl Ground {
    /// Begins anew, with these dealers.
    pub(super) async fn begin(world: &World, lots: &[Lot]) -> Result<Ground> {
        let cluster = world.durable()?;
        cluster.afresh(INGEST, lots, world.forecourt()).await?;
        let store = cluster.store(INGEST).await?;
        let admin = cluster.superuser(INGEST).await?;
        Ok(Ground { cluster, store, admin, spool: world.folder().to_owned() })
    }

    /// Gives back the disk.
    pub(super) async fn end(self) -> Result<()> {
        self.store.close().await;
        self.admin.close().await?;
        self.cluster.drop(INGEST).await
    }

    pub(super) async fn tenant(&self, lot: &Lot) -> Result<TenantId> {
        let mut tx = self.store.platform().await?;
        tx.tenant_by_slug(&lot.slug).await?.context("a provisioned dealer")
    }

    /// The dealer of a lot, with a source whose prices are explained.
    pub(super) async fn place(&self, lot: &Lot) -> Result<Place> {
        let tenant = self.tenant(lot).await?;
        let settings = json!({ "prices": { "asking_price": { "meaning": "advertised_all_in" } } });
        let settings = SourceSettings::read(&settings).map_err(anyhow::Error::msg)?;
        let source =
            feeds::add_source(&self.store, tenant, "main", SourceKind::File, settings, "bench").await?;
        Ok(Place { tenant, source })
    }

    /// Takes a file in; its run, and how long that took.
    pub(super) async fn receive(
        &self,
        place: &Place,
        mode: feeds::Mode,
        file: &str,
    ) -> Result<(Uuid, Duration)> {
        let pieces: Vec<std::io::Result<Bytes>> =
            file.as_bytes().chunks(PIECE).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let received = Received { mode: Some(mode), ..Received::new("lot.csv", "import", "bench") };
        let body = futures_util::stream::iter(pieces);
        let began = Instant::now();
        let receipt = feeds::receive(&self.store, place.tenant, &place.source, received, body).await?;
        Ok((receipt.run_id, began.elapsed()))
    }

    /// Carries out the one run that waits.
    pub(super) async fn work(&mut self, place: &Place) -> Result<Done> {
        let job = self.store.claim_job(&[IMPORT_JOB], "bench", Duration::from_secs(600), i32::MAX).await?;
        let job = job.context("a job")?;
        let run = job.payload.get("run").and_then(Value::as_str).context("its run")?.parse()?;
        let bench = Bench { spool: self.spool.clone(), ..Bench::default() };
        let before = self.wal().await?;
        let began = Instant::now();
        let ended = feeds::process(&self.store, place.tenant, run, &job, &bench).await?;
        let took = began.elapsed();
        let wal = self.wal().await? - before;
        ensure!(
            ended.state.is_good(),
            "the run {run} is {}: {:?}",
            ended.state,
            self.run(place, run).await?.failure
        );
        let run = self.run(place, run).await?;
        let timings = run.timings.clone().map(serde_json::from_value).transpose()?.unwrap_or_default();
        Ok(Done { run, timings, took, wal })
    }

    /// Takes a file in and carries its run out.
    pub(super) async fn import(&mut self, place: &Place, file: &str) -> Result<Done> {
        self.receive(place, feeds::Mode::Full, file).await?;
        self.work(place).await
    }

    /// Carries out a run as if a worker had died after it had read the file of `like`: what is left is comparing and
    /// writing.
    pub(super) async fn import_read(&mut self, place: &Place, like: &(Place, Uuid)) -> Result<Done> {
        let (of, model) = like;
        let (run, _) = self.receive(place, feeds::Mode::Full, &format!("VIN\n{}\n", Uuid::new_v4())).await?;
        if of.tenant != place.tenant {
            self.copy_units(place, of.tenant, *model).await?;
        }
        let done = sqlx::query(
            "update feed_runs r set state = 'parsed', units_file_id = m.units_file_id, detected = m.detected,
                    signature = m.signature, counts = m.counts, by_rooftop = m.by_rooftop, by_code = m.by_code
             from feed_runs m where r.run_id = $1 and m.run_id = $2",
        )
        .bind(run)
        .bind(model)
        .execute(&mut self.admin)
        .await?;
        ensure!(done.rows_affected() == 1, "the run is not there");
        let done = self.work(place).await?;
        ensure!(done.timings.read_ms == 0, "the file was read again");
        Ok(done)
    }

    /// Gives a dealer the units that another one's file came to.
    async fn copy_units(&mut self, to: &Place, from: TenantId, run: Uuid) -> Result<()> {
        for statement in [
            "insert into feed_files (tenant_id, file_id, sha256, bytes, packed_bytes, created_at, keep_until)
             select $1::uuid, f.file_id, f.sha256, f.bytes, f.packed_bytes, f.created_at, f.keep_until
             from feed_files f join feed_runs r on r.tenant_id = f.tenant_id and r.units_file_id = f.file_id
             where r.tenant_id = $2::uuid and r.run_id = $3 on conflict do nothing",
            "insert into feed_file_chunks (tenant_id, file_id, no, body)
             select $1::uuid, c.file_id, c.no, c.body
             from feed_file_chunks c join feed_runs r on r.tenant_id = c.tenant_id and r.units_file_id = c.file_id
             where r.tenant_id = $2::uuid and r.run_id = $3 on conflict do nothing",
        ] {
            sqlx::query(statement)
                .bind(to.tenant.to_string())
                .bind(from.to_string())
                .bind(run)
                .execute(&mut self.admin)
                .await?;
        }
        Ok(())
    }

    pub(super) async fn run(&self, place: &Place, run: Uuid) -> Result<RunRow> {
        self.store.tenant(place.tenant).await?.run(run).await?.context("a run")
    }

    /// Bytes of write-ahead log that were ever written.
    pub(super) async fn wal(&mut self) -> Result<u64> {
        let bytes: i64 = sqlx::query("select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint")
            .fetch_one(&mut self.admin)
            .await?
            .try_get(0)?;
        Ok(u64::try_from(bytes)?)
    }

    /// How many runs have not ended.
    pub(super) async fn open_runs(&mut self) -> Result<u64> {
        let open: i64 =
            sqlx::query("select count(*) from feed_runs where state in ('received', 'parsed', 'checked')")
                .fetch_one(&mut self.admin)
                .await?
                .try_get(0)?;
        Ok(u64::try_from(open)?)
    }

    /// Waits until every run has ended well; a worker is at it.
    pub(super) async fn all_done(&mut self, patience: Duration) -> Result<()> {
        let end = Instant::now() + patience;
        while self.open_runs().await? > 0 {
            ensure!(Instant::now() < end, "runs are not carried out");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let bad: Vec<(String,)> = sqlx::query_as(
            "select distinct state || ' ' || coalesce(failure, verdict::text, '') from feed_runs
             where state not in ('applied', 'unchanged')",
        )
        .fetch_all(&mut self.admin)
        .await?;
        ensure!(bad.is_empty(), "runs ended otherwise than well: {bad:?}");
        Ok(())
    }

    /// A table without index that has the columns of `vehicles`, and the rows of a dealer as `COPY` sends them.
    pub(super) async fn copied(&mut self, of: TenantId) -> Result<Copied> {
        sqlx::raw_sql(
            "create table if not exists bare_vehicles
                 (like vehicles including defaults including storage including compression)",
        )
        .execute(&mut self.admin)
        .await?;
        let statement =
            format!("copy (select * from vehicles where tenant_id = '{of}') to stdout (format binary)");
        let mut stream = self.admin.copy_out_raw(&statement).await?;
        let mut bytes = Vec::new();
        while let Some(part) = stream.try_next().await? {
            bytes.extend_from_slice(&part);
        }
        Ok(Copied { bytes })
    }
}

/// The ceiling: rows that are ready, written where nothing else has to be.
pub(super) struct Copied {
    bytes: Vec<u8>,
}

impl Copied {
    /// Copies all rows in, in one transaction; what that took, and its write-ahead log.
    pub(super) async fn write(&self, ground: &mut Ground) -> Result<(Duration, u64)> {
        sqlx::raw_sql("truncate bare_vehicles").execute(&mut ground.admin).await?;
        let before = ground.wal().await?;
        let began = Instant::now();
        let mut copy = ground.admin.copy_in_raw("copy bare_vehicles from stdin (format binary)").await?;
        for piece in self.bytes.chunks(COPIED) {
            copy.send(piece).await?;
        }
        copy.finish().await?;
        let took = began.elapsed();
        Ok((took, ground.wal().await? - before))
    }
}

/// Whether a run has ended with a lot that buyers see changed.
pub(super) fn is_applied(done: &Done) -> bool {
    done.run.state == RunState::Applied
}
