//! Reading a tenant's lot (tables `tenant_inventory`, `vehicles`, `removed_vehicles`).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use contract::Listing;
use contract::listing::RENDER_VERSION;
use futures_util::TryStreamExt;
use tracing::instrument;

use crate::error::Error;
use crate::listing_row::{ListingRow, select_listings};
use crate::tenant::{TenantTx, from_bigint, hash_from, to_bigint};

/// A unit that is no longer offered; it stays known for 180 days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The id it had.
    pub vehicle_id: String,
    /// Its VIN, if it had one.
    pub vin: Option<String>,
    /// Its stock number, if it had one.
    pub stock: Option<String>,
}

/// Everything that a snapshot of a lot is built from, of one version.
#[derive(Debug, Clone, PartialEq)]
pub struct Lot {
    /// The inventory version.
    pub version: u64,
    /// The units on offer, by `vehicle_id` (byte order).
    pub listings: Vec<Listing>,
    /// Units removed in the last 180 days, by `vehicle_id`. None of them is in `listings`.
    pub removed: Vec<Removed>,
}

/// What is kept of a removed unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRow {
    /// Its VIN, if it had one.
    pub vin: Option<String>,
    /// Its stock number, if it had one.
    pub stock: Option<String>,
    /// Why it was removed: `sold`, `feed` …
    pub reason: String,
    /// Since when.
    pub removed_at: DateTime<Utc>,
}

/// A unit on offer as it is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedRow {
    /// Its id.
    pub vehicle_id: String,
    /// Its whole document, JSON.
    pub document: String,
    /// Of the document; zeros where it has to be made anew.
    pub content_hash: [u8; 32],
}

impl TenantTx {
    /// The version of the tenant's lot; 0 before the first import.
    #[instrument(name = "store.inventory_version", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenant_inventory"))]
    pub async fn inventory_version(&mut self) -> Result<u64, Error> {
        let id = self.id();
        let version = sqlx::query_scalar!("select version from tenant_inventory where tenant_id = $1", id.0)
            .fetch_optional(self.conn())
            .await?;
        Ok(version.map_or(0, from_bigint))
    }

    /// The whole lot, all of it of one version, whatever is written meanwhile.
    #[instrument(name = "store.lot", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot(&mut self) -> Result<Lot, Error> {
        loop {
            // A writer raises the version in the transaction that changes the rows, so rows read between two
            // equal versions are of that version. In a transaction that reads one state
            // ([`crate::Store::tenant_snapshot`]) the first round always suffices.
            let version = self.inventory_version().await?;
            let mut listings = Vec::new();
            self.listings(|unit| listings.push(unit)).await?;
            let removed = self.removed().await?;
            if self.inventory_version().await? == version {
                return Ok(Lot { version, listings, removed });
            }
        }
    }

    /// The whole lot like [`TenantTx::lot`], each unit given to `take` as soon as it was read; in the answer
    /// there are none.
    ///
    /// Read it in a transaction of one state ([`crate::Store::tenant_snapshot`]): only there version and rows
    /// belong together.
    #[instrument(name = "store.lot", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot_by_unit(&mut self, take: impl FnMut(Listing)) -> Result<Lot, Error> {
        let version = self.inventory_version().await?;
        self.listings(take).await?;
        Ok(Lot { version, listings: Vec::new(), removed: self.removed().await? })
    }

    async fn listings(&mut self, mut take: impl FnMut(Listing)) -> Result<(), Error> {
        let id = self.id();
        let mut rows = select_listings!("detail", "vehicles where tenant_id = $1 order by vehicle_id", id.0)
            .fetch(self.conn());
        while let Some(row) = rows.try_next().await? {
            take(row.listing(id)?);
        }
        Ok(())
    }

    async fn removed(&mut self) -> Result<Vec<Removed>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            Removed,
            "select vehicle_id, vin, stock from removed_vehicles
             where tenant_id = $1 and removed_at > now() - interval '180 days' order by vehicle_id",
            id.0
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// The content hash of every unit on offer, to find out what an import changes.
    ///
    /// A unit that an older program rendered answers zeros, so that it counts as changed and is rendered anew.
    #[instrument(name = "store.lot_hashes", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot_hashes(&mut self) -> Result<HashMap<String, [u8; 32]>, Error> {
        let id = self.id();
        sqlx::query!(
            r#"select vehicle_id, case when render_version = $2 then content_hash end as "content_hash?"
               from vehicles where tenant_id = $1"#,
            id.0,
            RENDER_VERSION
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let hash = match &row.content_hash {
                Some(bytes) => {
                    hash_from(bytes, "vehicles", "content_hash", || format!("{id}/{}", row.vehicle_id))?
                }
                None => [0; 32],
            };
            Ok((row.vehicle_id, hash))
        })
        .collect()
    }

    /// Those of these units that are on offer, as they are published. A unit that an older program rendered has a hash
    /// of zeros, as in [`TenantTx::lot_hashes`].
    #[instrument(name = "store.published", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles", rows = vehicle_ids.len()))]
    pub async fn published<S: AsRef<str> + Sync>(
        &mut self,
        vehicle_ids: &[S],
    ) -> Result<Vec<PublishedRow>, Error> {
        let id = self.id();
        let ids: Vec<&str> = vehicle_ids.iter().map(AsRef::as_ref).collect();
        sqlx::query!(
            r#"select vehicle_id, coalesce(detail, listing) as "document!",
                      case when render_version = $3 then content_hash end as "content_hash?"
               from vehicles where tenant_id = $1 and vehicle_id = any($2)"#,
            id.0,
            &ids as &[&str],
            RENDER_VERSION
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let key = || format!("{id}/{}", row.vehicle_id);
            let hash = row.content_hash.as_deref();
            let hash = hash.map(|bytes| hash_from(bytes, "vehicles", "content_hash", key)).transpose()?;
            Ok(PublishedRow {
                content_hash: hash.unwrap_or_default(),
                vehicle_id: row.vehicle_id,
                document: row.document,
            })
        })
        .collect()
    }

    /// The identifiers of those units on offer that have one of these ids, VINs or stock numbers.
    #[instrument(name = "store.lot_units", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot_units(
        &mut self,
        ids: &[&str],
        vins: &[&str],
        stocks: &[&str],
    ) -> Result<Vec<Removed>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            Removed,
            "select vehicle_id, vin, stock from vehicles
             where tenant_id = $1 and (vehicle_id = any($2) or vin = any($3) or stock = any($4))
             order by vehicle_id",
            id.0,
            ids as &[&str],
            vins as &[&str],
            stocks as &[&str]
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// The rooftops that units on offer name, each once.
    #[instrument(name = "store.lot_rooftops", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot_rooftops(&mut self) -> Result<Vec<String>, Error> {
        let id = self.id();
        Ok(sqlx::query_scalar!(
            r#"select distinct rooftop as "rooftop!" from vehicles
               where tenant_id = $1 and rooftop is not null order by 1"#,
            id.0
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Whether any unit is on offer.
    #[instrument(name = "store.has_lot", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn has_lot(&mut self) -> Result<bool, Error> {
        let id = self.id();
        Ok(sqlx::query_scalar!(
            r#"select exists (select from vehicles where tenant_id = $1) as "exists!""#,
            id.0
        )
        .fetch_one(self.conn())
        .await?)
    }

    /// Every removed unit that is still stored, also those older than 180 days that were not purged yet.
    #[instrument(name = "store.removed_ids", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select removed_vehicles"))]
    pub async fn removed_ids(&mut self) -> Result<HashMap<String, RemovedRow>, Error> {
        let id = self.id();
        Ok(sqlx::query!(
            "select vehicle_id, vin, stock, reason, removed_at from removed_vehicles where tenant_id = $1",
            id.0
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let removed =
                RemovedRow { vin: row.vin, stock: row.stock, reason: row.reason, removed_at: row.removed_at };
            (row.vehicle_id, removed)
        })
        .collect())
    }

    /// The version of the lot, locked: writers of one tenant's lot take turns until they commit.
    ///
    /// What changes the lot uses the answer plus one as its version and ends with
    /// [`TenantTx::publish_inventory`].
    #[instrument(name = "store.lock_inventory", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenant_inventory"))]
    pub async fn lock_inventory(&mut self) -> Result<u64, Error> {
        let id = self.id();
        let version =
            sqlx::query_scalar!("select version from tenant_inventory where tenant_id = $1 for update", id.0)
                .fetch_optional(self.conn())
                .await?
                .ok_or_else(|| no_inventory(id.to_string()))?;
        Ok(from_bigint(version))
    }

    /// Makes `version`, which must be the next one, the version of the lot and tells every process of it once this
    /// transaction is committed.
    #[instrument(name = "store.publish_inventory", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update tenant_inventory"))]
    pub async fn publish_inventory(&mut self, version: u64) -> Result<(), Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update tenant_inventory set version = $2, changed_at = clock_timestamp(),
                 units = (select count(*) from vehicles where tenant_id = $1)
             where tenant_id = $1 and version + 1 = $2",
            id.0,
            to_bigint(version)
        )
        .execute(self.conn())
        .await?;
        if done.rows_affected() != 1 {
            // A reader that has a newer one would never see this change, and former rows are kept under the
            // number that follows.
            return Err(no_inventory(id.to_string()));
        }
        sqlx::query!("select pg_notify('forecourt_inventory', $1)", format!("{id}:{version}"))
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Says when the sources of the lot last confirmed it, and until when answers need not say how old it is (`None`:
    /// for ever). No version and no notice: every process finds it in its poll.
    #[instrument(name = "store.set_freshness", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update tenant_inventory"))]
    pub async fn set_freshness(
        &mut self,
        confirmed_at: Option<DateTime<Utc>>,
        fresh_until: Option<DateTime<Utc>>,
    ) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "update tenant_inventory set confirmed_at = $2, fresh_until = $3 where tenant_id = $1",
            id.0,
            confirmed_at,
            fresh_until
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

fn no_inventory(id: String) -> Error {
    Error::Corrupt { table: "tenant_inventory", column: "version", id }
}
