//! Table `vehicle_history`: the story of every unit.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, from_bigint, to_bigint};

/// Something that became of a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRow {
    /// Of which unit.
    pub vehicle_id: String,
    /// When.
    pub at: DateTime<Utc>,
    /// The inventory version that shows it.
    pub version: u64,
    /// `listed`, `changed`, `removed`, `returned`, `edited`, `unlocked`, `moved` …
    pub kind: String,
    /// The member that changed.
    pub field: Option<String>,
    /// What it was; `None`: nothing.
    pub old: Option<Value>,
    /// What it is; `None`: nothing.
    pub new: Option<Value>,
    /// Why: the rule that decided, the reason of a removal, a person's note.
    pub reason: Option<String>,
    /// The source that said so.
    pub source_id: Option<Uuid>,
    /// The run that did it.
    pub run_id: Option<Uuid>,
    /// The person who did it.
    pub actor: Option<String>,
}

/// Rows a statement carries.
const CHUNK: usize = 2000;

impl TenantTx {
    /// Adds to the stories of units, in this order.
    #[instrument(name = "store.add_history", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert vehicle_history", rows = rows.len()))]
    pub async fn add_history(&mut self, rows: &[HistoryRow]) -> Result<(), Error> {
        let id = self.id();
        for chunk in rows.chunks(CHUNK) {
            let maybe =
                |of: fn(&HistoryRow) -> Option<&str>| -> Vec<Option<&str>> { chunk.iter().map(of).collect() };
            let json = |of: fn(&HistoryRow) -> Option<&Value>| -> Vec<Option<String>> {
                chunk.iter().map(|row| of(row).map(Value::to_string)).collect()
            };
            let ids: Vec<&str> = chunk.iter().map(|row| row.vehicle_id.as_str()).collect();
            let times: Vec<DateTime<Utc>> = chunk.iter().map(|row| row.at).collect();
            let versions: Vec<i64> = chunk.iter().map(|row| to_bigint(row.version)).collect();
            let kinds: Vec<&str> = chunk.iter().map(|row| row.kind.as_str()).collect();
            let sources: Vec<Option<Uuid>> = chunk.iter().map(|row| row.source_id).collect();
            let runs: Vec<Option<Uuid>> = chunk.iter().map(|row| row.run_id).collect();
            sqlx::query!(
                "insert into vehicle_history (tenant_id, vehicle_id, at, version, kind, field, old, new, reason,
                                              source_id, run_id, actor)
                 select $1, h.vehicle_id, h.at, h.version, h.kind, h.field, h.old, h.new, h.reason, h.source_id,
                        h.run_id, h.actor
                 from unnest($2::text[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                             $8::text[], $9::text[], $10::uuid[], $11::uuid[], $12::text[])
                      with ordinality as h (vehicle_id, at, version, kind, field, old, new, reason, source_id, run_id,
                                            actor, place)
                 order by h.place",
                id.0,
                &ids as &[&str],
                &times,
                &versions,
                &kinds as &[&str],
                &maybe(|row| row.field.as_deref()) as &[Option<&str>],
                &json(|row| row.old.as_ref()) as &[Option<String>],
                &json(|row| row.new.as_ref()) as &[Option<String>],
                &maybe(|row| row.reason.as_deref()) as &[Option<&str>],
                &sources as &[Option<Uuid>],
                &runs as &[Option<Uuid>],
                &maybe(|row| row.actor.as_deref()) as &[Option<&str>],
            )
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    /// The story of a unit in its order, as far as it is kept.
    #[instrument(name = "store.history", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicle_history"))]
    pub async fn history(&mut self, vehicle_id: &str) -> Result<Vec<HistoryRow>, Error> {
        let id = self.id();
        sqlx::query!(
            "select vehicle_id, at, version, kind, field, old, new, reason, source_id, run_id, actor
             from vehicle_history where tenant_id = $1 and vehicle_id = $2 order by seq",
            id.0,
            vehicle_id
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let json = |text: Option<String>, column| {
                text.map(|text| {
                    serde_json::from_str(&text).map_err(|_| Error::Corrupt {
                        table: "vehicle_history",
                        column,
                        id: format!("{id}/{vehicle_id}"),
                    })
                })
                .transpose()
            };
            Ok(HistoryRow {
                old: json(row.old, "old")?,
                new: json(row.new, "new")?,
                vehicle_id: row.vehicle_id,
                at: row.at,
                version: from_bigint(row.version),
                kind: row.kind,
                field: row.field,
                reason: row.reason,
                source_id: row.source_id,
                run_id: row.run_id,
                actor: row.actor,
            })
        })
        .collect()
    }
}

impl PlatformTx {
    /// Deletes what became of units before `before`. Answers how many rows there were.
    #[instrument(name = "store.sweep_history", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete vehicle_history"))]
    pub async fn sweep_history(&mut self, before: DateTime<Utc>) -> Result<u64, Error> {
        let done =
            sqlx::query!("delete from vehicle_history where at < $1", before).execute(self.conn()).await?;
        Ok(done.rows_affected())
    }
}
