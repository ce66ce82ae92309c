//! Table `lead_keys`: requests that were answered. Written with their leads ([`crate::TenantTx::add_lead`]).

use chrono::{DateTime, Utc};
use tracing::instrument;

use crate::error::Error;
use crate::leads::KnownKey;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, hash_from};

/// By what a request is known again.
#[derive(Debug, Clone, Copy)]
pub struct KeyWrite<'a> {
    /// What the sender calls it, UTF-8.
    pub key: &'a [u8],
    /// The payload that is answered, JSON.
    pub answer: &'a str,
    /// Until when it is known.
    pub expires_at: DateTime<Utc>,
}

impl TenantTx {
    /// What was answered to a key, if it is known. Waits for nobody.
    #[instrument(name = "store.known_key", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select lead_keys"))]
    pub async fn known_key(
        &mut self,
        contract: &str,
        key: &[u8],
        at: DateTime<Utc>,
    ) -> Result<Option<KnownKey>, Error> {
        let id = self.id();
        let row = sqlx::query!(
            "select request_hash, answer from lead_keys
             where tenant_id = $1 and contract = $2 and key = $3 and expires_at > $4",
            id.0,
            contract,
            key,
            at
        )
        .fetch_optional(self.conn())
        .await?;
        row.map(|row| {
            let request_hash = hash_from(&row.request_hash, "lead_keys", "request_hash", || id.to_string())?;
            Ok(KnownKey { request_hash, answer: row.answer })
        })
        .transpose()
    }
}

impl PlatformTx {
    /// Deletes keys that expired, a while ago because clocks differ. Answers how many.
    #[instrument(name = "store.purge_lead_keys", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete lead_keys"))]
    pub async fn purge_lead_keys(&mut self) -> Result<u64, Error> {
        let done =
            sqlx::query!("delete from lead_keys where expires_at < clock_timestamp() - interval '5 minutes'")
                .execute(self.conn())
                .await?;
        Ok(done.rows_affected())
    }
}
