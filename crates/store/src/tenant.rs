//! The only door to the rows of a tenant.

use sqlx::{AssertSqlSafe, PgConnection, Postgres, Transaction};
use tracing::instrument;

use crate::error::Error;
use crate::ids::TenantId;

/// A transaction of one tenant.
///
/// PostgreSQL knows the tenant as well and shows and accepts no row of another. Dropped without
/// [`commit`](TenantTx::commit) it rolls back.
#[derive(Debug)]
pub struct TenantTx {
    tx: Transaction<'static, Postgres>,
    id: TenantId,
}

impl TenantTx {
    pub(crate) fn new(tx: Transaction<'static, Postgres>, id: TenantId) -> TenantTx {
        TenantTx { tx, id }
    }

    /// The statement that opens such a transaction; a UUID needs no quoting.
    pub(crate) fn opening(id: TenantId) -> AssertSqlSafe<String> {
        AssertSqlSafe(format!("begin; set local app.tenant = '{id}'"))
    }

    /// The same for reading one state of the database throughout.
    pub(crate) fn opening_snapshot(id: TenantId) -> AssertSqlSafe<String> {
        AssertSqlSafe(format!(
            "begin isolation level repeatable read read only; set local app.tenant = '{id}'"
        ))
    }

    /// Whose transaction it is.
    pub fn id(&self) -> TenantId {
        self.id
    }

    pub(crate) fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    /// Makes everything since the beginning lasting and sends its notices.
    #[instrument(name = "store.commit", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "commit"))]
    pub async fn commit(self) -> Result<(), Error> {
        Ok(self.tx.commit().await?)
    }

    /// Undoes everything since the beginning. Dropping does so too, without waiting for it.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.tx.rollback().await?)
    }
}

/// A version as PostgreSQL stores it.
pub(crate) fn to_bigint(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// A version as we count it; the schema never lets one become negative.
pub(crate) fn from_bigint(version: i64) -> u64 {
    u64::try_from(version).unwrap_or(0)
}

/// A stored SHA-256.
pub(crate) fn hash_from(
    bytes: &[u8],
    table: &'static str,
    column: &'static str,
    id: impl FnOnce() -> String,
) -> Result<[u8; 32], Error> {
    <[u8; 32]>::try_from(bytes).map_err(|_| Error::Corrupt { table, column, id: id() })
}
