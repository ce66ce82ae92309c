//! What lies between two versions of a lot (tables `vehicles`, `removed_vehicles`, `superseded_vehicles`,
//! `inventory_versions`).

use contract::Listing;
use tracing::instrument;

use crate::error::Error;
use crate::listing_row::{ListingRow, select_listings};
use crate::lots::Removed;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, from_bigint, to_bigint};

/// The way from one version of a lot to another.
#[derive(Debug, Clone, PartialEq)]
pub struct LotDelta {
    /// The version it leads to.
    pub version: u64,
    /// Units that are new there or different.
    pub changed: Vec<Listing>,
    /// Units that are known there to have been removed.
    pub removed: Vec<Removed>,
    /// Ids of units that are not there, with no trace left.
    pub dropped: Vec<String>,
}

impl TenantTx {
    /// What changed after version `since`, up to the current one. `None` where that cannot be told any more and
    /// the lot has to be read whole.
    ///
    /// Read it in a transaction of one state ([`crate::Store::tenant_snapshot`]): only there version and rows
    /// belong together.
    #[instrument(name = "store.lot_delta", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot_delta(&mut self, since: u64) -> Result<Option<LotDelta>, Error> {
        let id = self.id();
        let since = to_bigint(since);
        let known = sqlx::query!(
            "select version, min_delta_version from tenant_inventory where tenant_id = $1",
            id.0
        )
        .fetch_optional(self.conn())
        .await?;
        // A version from the future is that of a database that was put back to an earlier state.
        let Some(known) = known.filter(|known| (known.min_delta_version..=known.version).contains(&since))
        else {
            return Ok(None);
        };
        // No row is newer than the lot. Said all the same, since statistics are of all lots together: a lot with
        // fewer versions than most seems to have changed as a whole, and would be read as a whole.
        let changed = select_listings!(
            "detail",
            "vehicles where tenant_id = $1 and row_version > $2 and row_version <= $3 order by vehicle_id",
            id.0,
            since,
            known.version
        )
        .fetch_all(self.conn())
        .await?;
        let removed = sqlx::query_as!(
            Removed,
            "select vehicle_id, vin, stock from removed_vehicles
             where tenant_id = $1 and row_version > $2 and row_version <= $3 order by vehicle_id",
            id.0,
            since,
            known.version
        )
        .fetch_all(self.conn())
        .await?;
        Ok(Some(LotDelta {
            version: from_bigint(known.version),
            changed: changed.into_iter().map(|row| row.listing(id)).collect::<Result<_, _>>()?,
            removed,
            dropped: Vec::new(),
        }))
    }

    /// What leads from version `held` to version `wanted`, either of which may be the older, for as long as former
    /// rows are kept. `None` where `wanted` cannot be rebuilt (any more).
    ///
    /// Of removed units nothing is said, and units as they were have no detail document: former versions are only
    /// paged through. Read it in a transaction of one state.
    #[instrument(name = "store.lot_between", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select superseded_vehicles"))]
    pub async fn lot_between(&mut self, held: u64, wanted: u64) -> Result<Option<LotDelta>, Error> {
        let id = self.id();
        let (held, target) = (to_bigint(held), to_bigint(wanted));
        let oldest = held.min(target);
        let kept = sqlx::query_scalar!(
            r#"select i.version >= greatest($2::bigint, $3::bigint)
                      and i.version - $4 = (select count(*) from inventory_versions n
                                            where n.tenant_id = $1 and n.version > $4 and n.version <= i.version)
                      as "kept!"
               from tenant_inventory i where i.tenant_id = $1"#,
            id.0,
            held,
            target,
            oldest
        )
        .fetch_optional(self.conn())
        .await?;
        if kept != Some(true) {
            return Ok(None);
        }
        // A unit is the same in both versions unless it was written or replaced between them.
        let mut changed = select_listings!(
            "detail",
            "vehicles where tenant_id = $1 and row_version <= $2 and row_version > $3",
            id.0,
            target,
            held
        )
        .fetch_all(self.conn())
        .await?;
        changed.extend(
            select_listings!(
                r#"null::text as "detail?""#,
                "superseded_vehicles where tenant_id = $1 and replaced_by > $2 and written_by <= $2
                        and (written_by > $3 or replaced_by <= $3)",
                id.0,
                target,
                held
            )
            .fetch_all(self.conn())
            .await?,
        );
        let dropped = sqlx::query_scalar!(
            r#"with state (vehicle_id, written_by, replaced_by) as (
                   select vehicle_id, row_version, 9223372036854775807 from vehicles
                   where tenant_id = $1 and row_version > $4 and row_version <= greatest($2::bigint, $3::bigint)
                   union all
                   select vehicle_id, written_by, replaced_by from superseded_vehicles
                   where tenant_id = $1 and replaced_by > $4
               )
               select vehicle_id as "vehicle_id!" from state where written_by <= $3 and replaced_by > $3
               except
               select vehicle_id from state where written_by <= $2 and replaced_by > $2"#,
            id.0,
            target,
            held,
            oldest
        )
        .fetch_all(self.conn())
        .await?;
        Ok(Some(LotDelta {
            version: wanted,
            changed: changed.into_iter().map(|row| row.listing(id)).collect::<Result<_, _>>()?,
            removed: Vec::new(),
            dropped,
        }))
    }
}

impl PlatformTx {
    /// Deletes former rows that no living cursor can need: of versions that were published more than 16 minutes
    /// ago. Answers how many versions there were.
    #[instrument(name = "store.purge_superseded", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete superseded_vehicles"))]
    pub async fn purge_superseded(&mut self) -> Result<u64, Error> {
        let gone = sqlx::query_scalar!(
            r#"with gone as (
                   delete from inventory_versions
                   where published_at < clock_timestamp() - interval '16 minutes'
                   returning tenant_id, version
               ), rows as (
                   delete from superseded_vehicles s using gone
                   where s.tenant_id = gone.tenant_id and s.replaced_by = gone.version
               )
               select count(*) as "versions!" from gone"#
        )
        .fetch_one(self.conn())
        .await?;
        Ok(from_bigint(gone))
    }
}
