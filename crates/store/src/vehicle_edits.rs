//! Table `vehicle_edits`: fields that a person set.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::tenant::TenantTx;

/// A field that a person set. No source changes it until the lock is lifted or expires.
#[derive(Debug, Clone, PartialEq)]
pub struct EditRow {
    /// Of which unit.
    pub vehicle_id: String,
    /// Which member.
    pub field: String,
    /// Its value; null: blank on purpose.
    pub value: Value,
    /// Who set it.
    pub author: String,
    /// Why.
    pub note: Option<String>,
    /// When.
    pub edited_at: DateTime<Utc>,
    /// From when on it does not count any more. It stays stored until it is cleared.
    pub expires_at: Option<DateTime<Utc>>,
}

impl TenantTx {
    /// All edits, also expired ones, by unit and field.
    #[instrument(name = "store.edits", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicle_edits"))]
    pub async fn edits(&mut self) -> Result<Vec<EditRow>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            EditRow,
            "select vehicle_id, field, value, author, note, edited_at, expires_at from vehicle_edits
             where tenant_id = $1 order by vehicle_id, field",
            id.0
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// The edits of these units, also expired ones, by unit and field.
    #[instrument(name = "store.edits_of", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicle_edits"))]
    pub async fn edits_of<S: AsRef<str> + Sync>(&mut self, vehicle_ids: &[S]) -> Result<Vec<EditRow>, Error> {
        let id = self.id();
        let ids: Vec<&str> = vehicle_ids.iter().map(AsRef::as_ref).collect();
        Ok(sqlx::query_as!(
            EditRow,
            "select vehicle_id, field, value, author, note, edited_at, expires_at from vehicle_edits
             where tenant_id = $1 and vehicle_id = any($2) order by vehicle_id, field",
            id.0,
            &ids as &[&str]
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Sets a field; an edit of it that was there is replaced and answered.
    #[instrument(name = "store.set_edit", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert vehicle_edits"))]
    pub async fn set_edit(&mut self, edit: &EditRow) -> Result<Option<EditRow>, Error> {
        let before = self.clear_edit(&edit.vehicle_id, &edit.field).await?;
        let id = self.id();
        sqlx::query!(
            "insert into vehicle_edits (tenant_id, vehicle_id, field, value, author, note, edited_at, expires_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (tenant_id, vehicle_id, field) do update set
                 value = excluded.value, author = excluded.author, note = excluded.note,
                 edited_at = excluded.edited_at, expires_at = excluded.expires_at",
            id.0,
            edit.vehicle_id,
            edit.field,
            edit.value,
            edit.author,
            edit.note,
            edit.edited_at,
            edit.expires_at
        )
        .execute(self.conn())
        .await?;
        Ok(before)
    }

    /// Lifts the lock of a field; answers the edit that was there.
    #[instrument(name = "store.clear_edit", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete vehicle_edits"))]
    pub async fn clear_edit(&mut self, vehicle_id: &str, field: &str) -> Result<Option<EditRow>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            EditRow,
            "delete from vehicle_edits where tenant_id = $1 and vehicle_id = $2 and field = $3
             returning vehicle_id, field, value, author, note, edited_at, expires_at",
            id.0,
            vehicle_id,
            field
        )
        .fetch_optional(self.conn())
        .await?)
    }
}

impl PlatformTx {
    /// Units with edits that expired, to be rendered anew without them.
    #[instrument(name = "store.expired_edits", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicle_edits"))]
    pub async fn expired_edits(
        &mut self,
        now: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<(TenantId, String)>, Error> {
        Ok(sqlx::query!(
            "select distinct e.tenant_id, e.vehicle_id from vehicle_edits e
             where e.expires_at <= $1 order by e.tenant_id, e.vehicle_id limit $2",
            now,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| (TenantId(row.tenant_id), row.vehicle_id))
        .collect())
    }
}
