//! Table `feed_parts`: parts of whole lots that senders push one by one.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::tenant::TenantTx;

/// A part that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// Which one, from 1.
    pub no: u32,
    /// Of how many.
    pub of: u32,
    /// Its bytes.
    pub file_id: Uuid,
    /// When it came.
    pub created_at: DateTime<Utc>,
}

struct Raw {
    no: i32,
    of: i32,
    file_id: Uuid,
    created_at: DateTime<Utc>,
}

impl Raw {
    fn into_row(self) -> PartRow {
        let number = |number: i32| u32::try_from(number).unwrap_or_default();
        PartRow {
            no: number(self.no),
            of: number(self.of),
            file_id: self.file_id,
            created_at: self.created_at,
        }
    }
}

impl TenantTx {
    /// Notes a part, unless it is there; answers the one that is there then.
    #[instrument(name = "store.put_part", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_parts"))]
    pub async fn put_part(&mut self, source: Uuid, snapshot: &str, part: &PartRow) -> Result<PartRow, Error> {
        let id = self.id();
        let no = i32::try_from(part.no).unwrap_or(i32::MAX);
        // Of two parts that come at once, the one that commits last must see the other.
        sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, 7))", snapshot)
            .execute(self.conn())
            .await?;
        sqlx::query!(
            "insert into feed_parts (tenant_id, source_id, snapshot, no, of, file_id, created_at)
             values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
            id.0,
            source,
            snapshot,
            no,
            i32::try_from(part.of).unwrap_or(i32::MAX),
            part.file_id,
            part.created_at
        )
        .execute(self.conn())
        .await?;
        let raw = sqlx::query_as!(
            Raw,
            "select no, of, file_id, created_at from feed_parts
             where tenant_id = $1 and source_id = $2 and snapshot = $3 and no = $4",
            id.0,
            source,
            snapshot,
            no
        )
        .fetch_one(self.conn())
        .await?;
        Ok(raw.into_row())
    }

    /// The parts that are there, in their order.
    #[instrument(name = "store.parts", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_parts"))]
    pub async fn parts(&mut self, source: Uuid, snapshot: &str) -> Result<Vec<PartRow>, Error> {
        let id = self.id();
        let all = sqlx::query_as!(
            Raw,
            "select no, of, file_id, created_at from feed_parts
             where tenant_id = $1 and source_id = $2 and snapshot = $3 order by no",
            id.0,
            source,
            snapshot
        )
        .fetch_all(self.conn())
        .await?;
        Ok(all.into_iter().map(Raw::into_row).collect())
    }

    /// Forgets the parts of a snapshot.
    #[instrument(name = "store.drop_parts", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete feed_parts"))]
    pub async fn drop_parts(&mut self, source: Uuid, snapshot: &str) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "delete from feed_parts where tenant_id = $1 and source_id = $2 and snapshot = $3",
            id.0,
            source,
            snapshot
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Forgets the snapshots of a source that were begun before `before` and never became whole.
    #[instrument(name = "store.sweep_parts", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete feed_parts"))]
    pub async fn sweep_parts(&mut self, source: Uuid, before: DateTime<Utc>) -> Result<u64, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "delete from feed_parts p where p.tenant_id = $1 and p.source_id = $2 and p.snapshot in (
                 select snapshot from feed_parts where tenant_id = $1 and source_id = $2
                 group by snapshot having min(created_at) < $3)",
            id.0,
            source,
            before
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }
}
