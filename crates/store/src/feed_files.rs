//! Tables `feed_files` and `feed_file_chunks`: what was received, once for each content.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, from_bigint, hash_from, to_bigint};

/// A file that is there in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its id.
    pub file_id: Uuid,
    /// SHA-256 of its bytes before they were packed.
    pub sha256: [u8; 32],
    /// How many those are.
    pub bytes: u64,
    /// How many its chunks are together.
    pub packed_bytes: u64,
    /// When it began to arrive.
    pub created_at: DateTime<Utc>,
    /// Until when it is kept at least.
    pub keep_until: DateTime<Utc>,
}

/// What is said of a file once all of it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEnd {
    /// SHA-256 of its bytes before they were packed.
    pub sha256: [u8; 32],
    /// How many those are.
    pub bytes: u64,
    /// How many its chunks are together.
    pub packed_bytes: u64,
    /// Until when it is to be kept.
    pub keep_until: DateTime<Utc>,
}

/// What a sweep deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files.
    pub files: u64,
    /// Bytes of their chunks, as far as they were finished.
    pub packed_bytes: u64,
}

/// How long a file may take to arrive: an unfinished one older than a day is swept.
const UNFINISHED_HOURS: i32 = 24;

impl TenantTx {
    /// The file with this content, if it is there.
    #[instrument(name = "store.file_by_sha", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_files"))]
    pub async fn file_by_sha(&mut self, sha256: &[u8; 32]) -> Result<Option<FileRow>, Error> {
        let id = self.id();
        let row = sqlx::query!(
            "select file_id, bytes, packed_bytes, created_at, keep_until from feed_files
             where tenant_id = $1 and sha256 = $2",
            id.0,
            &sha256[..]
        )
        .fetch_optional(self.conn())
        .await?;
        Ok(row.map(|row| FileRow {
            file_id: row.file_id,
            sha256: *sha256,
            bytes: from_bigint(row.bytes),
            packed_bytes: from_bigint(row.packed_bytes),
            created_at: row.created_at,
            keep_until: row.keep_until,
        }))
    }

    /// A file by its id; `None` also while it is not finished.
    #[instrument(name = "store.file", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_files"))]
    pub async fn file(&mut self, file: Uuid) -> Result<Option<FileRow>, Error> {
        let id = self.id();
        let row = sqlx::query!(
            r#"select sha256 as "sha256!", bytes, packed_bytes, created_at, keep_until from feed_files
               where tenant_id = $1 and file_id = $2 and sha256 is not null"#,
            id.0,
            file
        )
        .fetch_optional(self.conn())
        .await?;
        row.map(|row| {
            Ok(FileRow {
                file_id: file,
                sha256: hash_from(&row.sha256, "feed_files", "sha256", || file.to_string())?,
                bytes: from_bigint(row.bytes),
                packed_bytes: from_bigint(row.packed_bytes),
                created_at: row.created_at,
                keep_until: row.keep_until,
            })
        })
        .transpose()
    }

    /// Begins a file, which is nobody's until [`TenantTx::finish_file`]; swept if that does not come within a day.
    #[instrument(name = "store.begin_file", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_files"))]
    pub async fn begin_file(&mut self) -> Result<Uuid, Error> {
        let id = self.id();
        let file = Uuid::now_v7();
        sqlx::query!(
            "insert into feed_files (tenant_id, file_id, created_at, keep_until)
             values ($1, $2, clock_timestamp(), clock_timestamp())",
            id.0,
            file
        )
        .execute(self.conn())
        .await?;
        Ok(file)
    }

    /// Adds a chunk, packed as the caller likes; numbers begin at 0. Transactions with chunks are best short, one for
    /// one or a few. The same chunk again changes nothing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the file was not begun, was swept, or is finished.
    #[instrument(name = "store.add_chunk", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_file_chunks"))]
    pub async fn add_chunk(&mut self, file: Uuid, no: i32, body: &[u8]) -> Result<(), Error> {
        let id = self.id();
        let open = sqlx::query_scalar!(
            r#"with open as (
                   select file_id from feed_files where tenant_id = $1 and file_id = $2 and sha256 is null for update
               ), added as (
                   insert into feed_file_chunks (tenant_id, file_id, no, body)
                   select $1, file_id, $3, $4 from open on conflict do nothing
               )
               select count(*) as "open!" from open"#,
            id.0,
            file,
            no,
            body
        )
        .fetch_one(self.conn())
        .await?;
        if open == 1 { Ok(()) } else { Err(no_file(file)) }
    }

    /// Ends a file. Where its content is there already, that file is answered, kept as long as both were to be, and
    /// the chunks of the new one are dropped.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the file was not begun or was swept.
    #[instrument(name = "store.finish_file", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_files"))]
    pub async fn finish_file(&mut self, file: Uuid, end: &FileEnd) -> Result<FileRow, Error> {
        let id = self.id();
        // Two that bring the same content take turns: the second one sees the first one's row.
        let [a, b, c, d, e, f, g, h, ..] = end.sha256;
        let turn = i64::from_be_bytes([a, b, c, d, e, f, g, h]);
        sqlx::query!("select pg_advisory_xact_lock($1)", turn).execute(self.conn()).await?;
        let known = sqlx::query!(
            "update feed_files set keep_until = greatest(keep_until, $3)
             where tenant_id = $1 and sha256 = $2
             returning file_id, packed_bytes, created_at, keep_until",
            id.0,
            &end.sha256[..],
            end.keep_until
        )
        .fetch_optional(self.conn())
        .await?;
        if let Some(known) = known {
            if known.file_id != file {
                self.drop_unfinished(file).await?;
            }
            return Ok(FileRow {
                file_id: known.file_id,
                sha256: end.sha256,
                bytes: end.bytes,
                packed_bytes: from_bigint(known.packed_bytes),
                created_at: known.created_at,
                keep_until: known.keep_until,
            });
        }
        let own = sqlx::query!(
            "update feed_files set sha256 = $3, bytes = $4, packed_bytes = $5, keep_until = $6
             where tenant_id = $1 and file_id = $2 and sha256 is null returning created_at",
            id.0,
            file,
            &end.sha256[..],
            to_bigint(end.bytes),
            to_bigint(end.packed_bytes),
            end.keep_until
        )
        .fetch_optional(self.conn())
        .await?
        .ok_or_else(|| no_file(file))?;
        Ok(FileRow {
            file_id: file,
            sha256: end.sha256,
            bytes: end.bytes,
            packed_bytes: end.packed_bytes,
            created_at: own.created_at,
            keep_until: end.keep_until,
        })
    }

    /// Drops a file that was begun and is not wanted any more; a finished one stays.
    #[instrument(name = "store.drop_unfinished", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete feed_files"))]
    pub async fn drop_unfinished(&mut self, file: Uuid) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "with gone as (
                 delete from feed_files where tenant_id = $1 and file_id = $2 and sha256 is null returning file_id
             )
             delete from feed_file_chunks c using gone where c.tenant_id = $1 and c.file_id = gone.file_id",
            id.0,
            file
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// A chunk; `None` after the last one.
    #[instrument(name = "store.file_chunk", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_file_chunks"))]
    pub async fn file_chunk(&mut self, file: Uuid, no: i32) -> Result<Option<Vec<u8>>, Error> {
        let id = self.id();
        Ok(sqlx::query_scalar!(
            "select body from feed_file_chunks where tenant_id = $1 and file_id = $2 and no = $3",
            id.0,
            file,
            no
        )
        .fetch_optional(self.conn())
        .await?)
    }

    /// Keeps a file at least until then; `false` when it is not there any more. A file found by its content is held like
    /// this before a run refers to it.
    #[instrument(name = "store.extend_file", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update feed_files"))]
    pub async fn extend_file(&mut self, file: Uuid, keep_until: DateTime<Utc>) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update feed_files set keep_until = greatest(keep_until, $3)
             where tenant_id = $1 and file_id = $2 and sha256 is not null",
            id.0,
            file,
            keep_until
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

impl PlatformTx {
    /// Deletes files whose time is over and that no open run and no source's last good run needs, and those that were
    /// begun a day ago and never finished. At most a hundred: call it again until it answers fewer.
    #[instrument(name = "store.sweep_files", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete feed_files"))]
    pub async fn sweep_files(&mut self, now: DateTime<Utc>) -> Result<Swept, Error> {
        let row = sqlx::query!(
            r#"with due as (
                   select f.tenant_id, f.file_id from feed_files f
                   where f.keep_until < $1
                     and (f.sha256 is not null or f.created_at < $1 - make_interval(hours => $2))
                     and not exists (
                         select from feed_runs r
                         where r.tenant_id = f.tenant_id and f.file_id in (r.file_id, r.units_file_id)
                           and r.state in ('received', 'parsed', 'checked', 'held'))
                     and not exists (
                         select from feed_sources s
                              join lateral (
                                  select r.file_id, r.units_file_id from feed_runs r
                                  where r.tenant_id = s.tenant_id and r.source_id = s.source_id
                                    and r.mode = 'full' and r.state in ('applied', 'unchanged')
                                  order by r.finished_at desc, r.run_id desc limit 1
                              ) good on true
                         where s.tenant_id = f.tenant_id and s.removed_at is null
                           and f.file_id in (good.file_id, good.units_file_id))
                   order by f.keep_until limit 100
                   for update of f skip locked
               ), chunks as (
                   delete from feed_file_chunks c using due
                   where c.tenant_id = due.tenant_id and c.file_id = due.file_id
               ), gone as (
                   delete from feed_files f using due
                   where f.tenant_id = due.tenant_id and f.file_id = due.file_id
                   returning f.packed_bytes
               )
               select count(*) as "files!", coalesce(sum(packed_bytes), 0)::bigint as "packed_bytes!" from gone"#,
            now,
            UNFINISHED_HOURS
        )
        .fetch_one(self.conn())
        .await?;
        Ok(Swept { files: from_bigint(row.files), packed_bytes: from_bigint(row.packed_bytes) })
    }
}

fn no_file(file: Uuid) -> Error {
    Error::Corrupt { table: "feed_files", column: "file_id", id: file.to_string() }
}
