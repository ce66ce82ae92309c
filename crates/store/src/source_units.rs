//! Tables `source_units` and `vehicle_aliases`: what each source last said of each unit, and which unit is which.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::packed;
use crate::tenant::{TenantTx, hash_from};

/// What a source says of a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceUnitRow {
    /// Which source. Of rows to be written the argument counts.
    pub source_id: Uuid,
    /// The id that the unit has with us.
    pub vehicle_id: String,
    /// Its VIN.
    pub vin: Option<String>,
    /// Its stock number.
    pub stock: Option<String>,
    /// The rooftop as the source names it.
    pub rooftop_key: Option<String>,
    /// What the source asks for it.
    pub price: Option<i64>,
    /// Hash of what the source says, without what changes by itself.
    pub hash: [u8; 32],
    /// The run that said so last. Of rows to be written the argument counts.
    pub run_id: Uuid,
    /// The record in that run's file.
    pub source_row: i32,
    /// The unit, JSON.
    pub unit: String,
}

/// By what a unit of a source is recognised, and whether it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitKey {
    /// As in [`SourceUnitRow`].
    pub hash: [u8; 32],
    /// As in [`SourceUnitRow`].
    pub vin: Option<String>,
    /// As in [`SourceUnitRow`].
    pub stock: Option<String>,
    /// As in [`SourceUnitRow`].
    pub rooftop_key: Option<String>,
    /// As in [`SourceUnitRow`].
    pub price: Option<i64>,
}

/// A unit that is or was on offer, and by what it is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LotIdentity {
    /// Its id.
    pub vehicle_id: String,
    /// Its VIN.
    pub vin: Option<String>,
    /// Its stock number.
    pub stock: Option<String>,
    /// The rooftop that it is published at; `None` also where it is not on offer.
    pub rooftop: Option<String>,
    /// Its content hash; `None` where it is not on offer.
    pub hash: Option<[u8; 32]>,
}

/// An id that a unit keeps although its VIN or stock number would make another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasRow {
    /// What it would be called.
    pub identity: String,
    /// What it is called.
    pub vehicle_id: String,
    /// Since when.
    pub created_at: DateTime<Utc>,
}

/// A unit that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundVehicle {
    /// Its id.
    pub vehicle_id: String,
    /// Its VIN.
    pub vin: Option<String>,
    /// Its stock number.
    pub stock: Option<String>,
    /// Whether it is on offer.
    pub on_offer: bool,
}

/// Rows a statement carries.
const CHUNK: usize = 2000;

/// The statement that writes units of a source, with what is to be done about those that are there.
macro_rules! insert_units {
    ($conflict:tt, $id:expr, $source:expr, $run:expr, $chunk:expr) => {
        sqlx::query!(
            "insert into source_units (tenant_id, source_id, run_id, vehicle_id, vin, stock, rooftop_key, price,
                                       unit_hash, source_row, unit)
             select $1, $2, $3, u.vehicle_id, u.vin, u.stock, u.rooftop_key, u.price, u.unit_hash, u.source_row,
                    u.unit
             from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bytea[],
                         $10::integer[], $11::bytea[])
                  as u (vehicle_id, vin, stock, rooftop_key, price, unit_hash, source_row, unit)"
                + $conflict,
            $id.0,
            $source,
            $run,
            &$chunk.iter().map(|unit| unit.vehicle_id.as_str()).collect::<Vec<_>>() as &[&str],
            &$chunk.iter().map(|unit| unit.vin.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
            &$chunk.iter().map(|unit| unit.stock.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
            &$chunk.iter().map(|unit| unit.rooftop_key.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
            &$chunk.iter().map(|unit| unit.price).collect::<Vec<_>>() as &[Option<i64>],
            &$chunk.iter().map(|unit| &unit.hash[..]).collect::<Vec<_>>() as &[&[u8]],
            &$chunk.iter().map(|unit| unit.source_row).collect::<Vec<_>>() as &[i32],
            &$chunk.iter().map(|unit| packed::pack(&unit.unit)).collect::<Vec<_>>(),
        )
    };
}

impl TenantTx {
    /// What is known of each unit of a source, to find out what a file changes.
    #[instrument(name = "store.unit_hashes", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select source_units"))]
    pub async fn unit_hashes(&mut self, source: Uuid) -> Result<HashMap<String, UnitKey>, Error> {
        let id = self.id();
        sqlx::query!(
            "select vehicle_id, unit_hash, vin, stock, rooftop_key, price from source_units
             where tenant_id = $1 and source_id = $2",
            id.0,
            source
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let key = UnitKey {
                hash: hash_from(&row.unit_hash, "source_units", "unit_hash", || {
                    format!("{id}/{source}/{}", row.vehicle_id)
                })?,
                vin: row.vin,
                stock: row.stock,
                rooftop_key: row.rooftop_key,
                price: row.price,
            };
            Ok((row.vehicle_id, key))
        })
        .collect()
    }

    /// What every source says of these units, by unit and source.
    #[instrument(name = "store.units_of", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select source_units", rows = vehicle_ids.len()))]
    pub async fn units_of<S: AsRef<str> + Sync>(
        &mut self,
        vehicle_ids: &[S],
    ) -> Result<Vec<SourceUnitRow>, Error> {
        let id = self.id();
        let mut units = Vec::with_capacity(vehicle_ids.len());
        for chunk in vehicle_ids.chunks(CHUNK) {
            let ids: Vec<&str> = chunk.iter().map(AsRef::as_ref).collect();
            // By source, as the key of the table is.
            let rows = sqlx::query_as!(
                Raw,
                r#"select u.source_id, u.vehicle_id, u.vin, u.stock, u.rooftop_key, u.price, u.unit_hash, u.run_id,
                          u.source_row, u.unit
                   from feed_sources s join source_units u on u.tenant_id = s.tenant_id and u.source_id = s.source_id
                   where s.tenant_id = $1 and u.vehicle_id = any($2)
                   order by u.vehicle_id, u.source_id"#,
                id.0,
                &ids as &[&str]
            )
            .fetch_all(self.conn())
            .await?;
            for row in rows {
                units.push(row.into_row()?);
            }
        }
        Ok(units)
    }

    /// Units of a source in the order of their ids, those after the id `after` (`None`: from the first).
    #[instrument(name = "store.source_units", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select source_units"))]
    pub async fn source_units(
        &mut self,
        source: Uuid,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SourceUnitRow>, Error> {
        let id = self.id();
        sqlx::query_as!(
            Raw,
            "select source_id, vehicle_id, vin, stock, rooftop_key, price, unit_hash, run_id, source_row, unit
             from source_units
             where tenant_id = $1 and source_id = $2 and vehicle_id > $3
             order by vehicle_id limit $4",
            id.0,
            source,
            after.unwrap_or(""),
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(Raw::into_row)
        .collect()
    }

    /// Writes what a source says now of these units, each id at most once. Answers how many rows were written.
    ///
    /// The caller holds [`TenantTx::lock_inventory`]: whether the source has units already is looked at once.
    #[instrument(name = "store.upsert_units", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert source_units", rows = units.len()))]
    pub async fn upsert_units(
        &mut self,
        source: Uuid,
        run: Uuid,
        units: &[SourceUnitRow],
    ) -> Result<u64, Error> {
        let id = self.id();
        let known = sqlx::query_scalar!(
            r#"select exists (select from source_units where tenant_id = $1 and source_id = $2) as "known!""#,
            id.0,
            source
        )
        .fetch_one(self.conn())
        .await?;
        let mut written = 0;
        for chunk in units.chunks(CHUNK) {
            let done = if known {
                insert_units!(
                    " on conflict (tenant_id, source_id, vehicle_id) do update set
                          run_id = excluded.run_id, vin = excluded.vin, stock = excluded.stock,
                          rooftop_key = excluded.rooftop_key, price = excluded.price,
                          unit_hash = excluded.unit_hash, source_row = excluded.source_row, unit = excluded.unit",
                    id,
                    source,
                    run,
                    chunk
                )
                .execute(self.conn())
                .await?
            } else {
                // A first load: to be ready for a conflict would nearly double its cost.
                insert_units!("", id, source, run, chunk).execute(self.conn()).await?
            };
            written += done.rows_affected();
        }
        Ok(written)
    }

    /// Forgets what a source said of these units. Answers how many rows there were.
    #[instrument(name = "store.delete_units", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete source_units", rows = vehicle_ids.len()))]
    pub async fn delete_units<S: AsRef<str> + Sync>(
        &mut self,
        source: Uuid,
        vehicle_ids: &[S],
    ) -> Result<u64, Error> {
        let id = self.id();
        let ids: Vec<&str> = vehicle_ids.iter().map(AsRef::as_ref).collect();
        let done = sqlx::query!(
            "delete from source_units where tenant_id = $1 and source_id = $2 and vehicle_id = any($3)",
            id.0,
            source,
            &ids as &[&str]
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Every unit on offer and every removed one, by id.
    #[instrument(name = "store.lot_identity", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn lot_identity(&mut self) -> Result<Vec<LotIdentity>, Error> {
        let id = self.id();
        sqlx::query!(
            r#"select vehicle_id as "vehicle_id!", vin, stock, rooftop, content_hash
               from (select vehicle_id, vin, stock, rooftop, content_hash from vehicles where tenant_id = $1
                     union all
                     select vehicle_id, vin, stock, null, null from removed_vehicles where tenant_id = $1) u
               order by vehicle_id"#,
            id.0
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let hash = row.content_hash.as_deref();
            Ok(LotIdentity {
                hash: hash
                    .map(|hash| {
                        hash_from(hash, "vehicles", "content_hash", || format!("{id}/{}", row.vehicle_id))
                    })
                    .transpose()?,
                vehicle_id: row.vehicle_id,
                vin: row.vin,
                stock: row.stock,
                rooftop: row.rooftop,
            })
        })
        .collect()
    }

    /// Ids that units keep.
    #[instrument(name = "store.aliases", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicle_aliases"))]
    pub async fn aliases(&mut self) -> Result<Vec<AliasRow>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            AliasRow,
            "select identity, vehicle_id, created_at from vehicle_aliases where tenant_id = $1 order by identity",
            id.0
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Lets a unit keep its id under another identity; one that was another unit's is this one's from now on.
    #[instrument(name = "store.add_alias", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert vehicle_aliases"))]
    pub async fn add_alias(&mut self, identity: &str, vehicle_id: &str) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "insert into vehicle_aliases (tenant_id, identity, vehicle_id, created_at)
             values ($1, $2, $3, clock_timestamp())
             on conflict (tenant_id, identity) do update set
                 vehicle_id = excluded.vehicle_id, created_at = excluded.created_at",
            id.0,
            identity,
            vehicle_id
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Units by id, VIN or stock number, in whichever case, those on offer first: on offer, removed, only said by a
    /// source (held back or lower in rank), or known from their story alone.
    #[instrument(name = "store.find_vehicle", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select vehicles"))]
    pub async fn find_vehicle(&mut self, key: &str) -> Result<Vec<FoundVehicle>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            FoundVehicle,
            r#"select vehicle_id as "vehicle_id!", vin, stock, on_offer as "on_offer!"
               from (select distinct on (vehicle_id) vehicle_id, vin, stock, place, place = 0 as on_offer
                     from (select vehicle_id, vin, stock, 0 as place from vehicles
                           where tenant_id = $1
                             and (vehicle_id = $2 or upper(vin) = upper($2) or upper(stock) = upper($2))
                           union all
                           select vehicle_id, vin, stock, 1 from removed_vehicles
                           where tenant_id = $1
                             and (vehicle_id = $2 or upper(vin) = upper($2) or upper(stock) = upper($2))
                           union all
                           select vehicle_id, vin, stock, 2 from source_units
                           where tenant_id = $1
                             and (vehicle_id = $2 or upper(vin) = upper($2) or upper(stock) = upper($2))
                           union all
                           select vehicle_id, null, null, 3 from vehicle_aliases
                           where tenant_id = $1 and identity in ($2, 'vin-' || upper($2))
                           union all
                           (select vehicle_id, null, null, 4 from vehicle_history
                            where tenant_id = $1 and vehicle_id in ($2, 'vin-' || upper($2), 'stock-' || $2) limit 1)
                     ) every
                     order by vehicle_id, place) found
               order by place, vehicle_id limit 100"#,
            id.0,
            key
        )
        .fetch_all(self.conn())
        .await?)
    }
}

/// A row as it is read.
struct Raw {
    source_id: Uuid,
    vehicle_id: String,
    vin: Option<String>,
    stock: Option<String>,
    rooftop_key: Option<String>,
    price: Option<i64>,
    unit_hash: Vec<u8>,
    run_id: Uuid,
    source_row: i32,
    unit: Vec<u8>,
}

impl Raw {
    fn into_row(self) -> Result<SourceUnitRow, Error> {
        let key = || format!("{}/{}", self.source_id, self.vehicle_id);
        Ok(SourceUnitRow {
            hash: hash_from(&self.unit_hash, "source_units", "unit_hash", key)?,
            unit: packed::unpack(&self.unit).ok_or_else(|| Error::Corrupt {
                table: "source_units",
                column: "unit",
                id: format!("{}/{}", self.source_id, self.vehicle_id),
            })?,
            source_id: self.source_id,
            vehicle_id: self.vehicle_id,
            vin: self.vin,
            stock: self.stock,
            rooftop_key: self.rooftop_key,
            price: self.price,
            run_id: self.run_id,
            source_row: self.source_row,
        })
    }
}
