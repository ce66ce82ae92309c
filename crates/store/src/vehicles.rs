//! Writing a tenant's lot (tables `vehicles`, `removed_vehicles`).
//!
//! A writer holds [`TenantTx::lock_inventory`], writes what differs with the next version, and publishes it.
//! A unit is either on offer or removed, never both: each function here keeps that.

use chrono::{DateTime, Utc};
use contract::Listing;
use contract::listing::RENDER_VERSION;
use tracing::instrument;

use crate::error::Error;
use crate::lots::Removed;
use crate::tenant::{TenantTx, from_bigint, to_bigint};

/// Units a statement carries: more gain nothing and hold more memory.
const CHUNK: usize = 2000;

impl TenantTx {
    /// Writes units as they are now; those already there are replaced, removed ones come back. Answers how many
    /// rows were written.
    ///
    /// `updated_at` is kept to the microsecond. Of two units with one `vehicle_id` the last wins. The caller holds
    /// [`TenantTx::lock_inventory`]: whether the lot is empty is looked at once.
    #[instrument(name = "store.upsert_listings", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert vehicles", rows = listings.len()))]
    pub async fn upsert_listings(&mut self, version: u64, listings: &[Listing]) -> Result<u64, Error> {
        let id = self.id();
        let unique = last_of_each(listings, |listing| &listing.vehicle_id);
        let into_empty = !self.has_lot().await?;
        let mut written = 0;
        for chunk in unique.chunks(CHUNK) {
            let ids: Vec<&str> = chunk.iter().map(|unit| unit.vehicle_id.as_str()).collect();
            sqlx::query!(
                "delete from removed_vehicles where tenant_id = $1 and vehicle_id = any($2)",
                id.0,
                &ids as &[&str]
            )
            .execute(self.conn())
            .await?;
            written += self.upsert_chunk(version, chunk, into_empty).await?;
        }
        Ok(written)
    }

    async fn upsert_chunk(
        &mut self,
        version: u64,
        units: &[&Listing],
        into_empty: bool,
    ) -> Result<u64, Error> {
        let id = self.id();
        let separator = separator(units);
        // Rows of ragged arrays cannot be unnested: each list travels as one text. It begins with a separator,
        // so that no list and a list of one empty text differ.
        let features: Vec<String> = units
            .iter()
            .map(|unit| unit.features.iter().flat_map(|one| [separator.as_str(), one]).collect())
            .collect();
        let text = |of: fn(&Listing) -> &str| -> Vec<&str> { units.iter().map(|unit| of(unit)).collect() };
        let maybe = |of: fn(&Listing) -> Option<&str>| -> Vec<Option<&str>> {
            units.iter().map(|unit| of(unit)).collect()
        };
        let whole = |of: fn(&Listing) -> Option<i64>| -> Vec<Option<i64>> {
            units.iter().map(|unit| of(unit)).collect()
        };
        let years: Vec<Option<i32>> = units.iter().map(|unit| unit.year).collect();
        let dc_fast_charge: Vec<Option<bool>> = units.iter().map(|unit| unit.dc_fast_charge).collect();
        let ranges: Vec<Option<f64>> = units.iter().map(|unit| unit.electric_range_mi).collect();
        let updated_at: Vec<DateTime<Utc>> = units.iter().map(|unit| unit.updated_at).collect();
        let hashes: Vec<&[u8]> = units.iter().map(|unit| &unit.content_hash[..]).collect();

        macro_rules! insert {
            ($conflict:tt) => {
                sqlx::query!(
                    "insert into vehicles
                         (tenant_id, row_version, render_version, vehicle_id, vin, stock, status, condition, vehicle_type,
                          rooftop, year, make, model, trim, body, fuel, driveline, transmission, engine, exterior_color,
                          interior_color, charge_port, dc_fast_charge, price_usd, list_price_usd, msrp_usd, mileage_mi,
                          displacement_cc, electric_range_mi, description, updated_at, content_hash, listing, detail,
                          features)
                     select $1, $2, $3, u.vehicle_id, u.vin, u.stock, u.status, u.condition, u.vehicle_type,
                          u.rooftop, u.year, u.make, u.model, u.trim, u.body, u.fuel, u.driveline, u.transmission, u.engine,
                          u.exterior_color, u.interior_color, u.charge_port, u.dc_fast_charge, u.price_usd,
                          u.list_price_usd, u.msrp_usd, u.mileage_mi, u.displacement_cc, u.electric_range_mi,
                          u.description, u.updated_at, u.content_hash, u.listing, u.detail,
                          (string_to_array(u.features, $4))[2:]
                     from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
                                 $12::integer[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],
                                 $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[],
                                 $24::boolean[], $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[],
                                 $29::bigint[], $30::double precision[], $31::text[], $32::timestamptz[], $33::bytea[],
                                 $34::text[], $35::text[], $36::text[])
                          as u (vehicle_id, vin, stock, status, condition, vehicle_type, rooftop, year, make, model, trim,
                                body, fuel, driveline, transmission, engine, exterior_color, interior_color, charge_port,
                                dc_fast_charge, price_usd, list_price_usd, msrp_usd, mileage_mi, displacement_cc,
                                electric_range_mi, description, updated_at, content_hash, listing, detail, features)"
                        + $conflict,
                    id.0,
                    to_bigint(version),
                    RENDER_VERSION,
                    separator,
                    &text(|u| &u.vehicle_id) as &[&str],
                    &maybe(|u| u.vin.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.stock.as_deref()) as &[Option<&str>],
                    &text(|u| &u.status) as &[&str],
                    &maybe(|u| u.condition.as_deref()) as &[Option<&str>],
                    &text(|u| &u.vehicle_type) as &[&str],
                    &maybe(|u| u.rooftop.as_deref()) as &[Option<&str>],
                    &years as &[Option<i32>],
                    &maybe(|u| u.make.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.model.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.trim.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.body.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.fuel.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.driveline.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.transmission.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.engine.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.exterior_color.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.interior_color.as_deref()) as &[Option<&str>],
                    &maybe(|u| u.charge_port.as_deref()) as &[Option<&str>],
                    &dc_fast_charge as &[Option<bool>],
                    &whole(|u| u.price) as &[Option<i64>],
                    &whole(|u| u.list_price) as &[Option<i64>],
                    &whole(|u| u.msrp) as &[Option<i64>],
                    &whole(|u| u.mileage) as &[Option<i64>],
                    &whole(|u| u.displacement_cc) as &[Option<i64>],
                    &ranges as &[Option<f64>],
                    &maybe(|u| u.description.as_deref()) as &[Option<&str>],
                    &updated_at,
                    &hashes as &[&[u8]],
                    &text(|u| &u.listing) as &[&str],
                    &maybe(|u| u.detail.as_deref()) as &[Option<&str>],
                    &features,
                )
            };
        }
        let done = if into_empty {
            // To be ready for a conflict costs a first load about a third of its time.
            insert!("").execute(self.conn()).await?
        } else {
            insert!(
                " on conflict (tenant_id, vehicle_id) do update set
              row_version = excluded.row_version, render_version = excluded.render_version,
              vin = excluded.vin, stock = excluded.stock, status = excluded.status,
              condition = excluded.condition, vehicle_type = excluded.vehicle_type,
              rooftop = excluded.rooftop, year = excluded.year, make = excluded.make, model = excluded.model,
              trim = excluded.trim, body = excluded.body, fuel = excluded.fuel,
              driveline = excluded.driveline, transmission = excluded.transmission, engine = excluded.engine,
              exterior_color = excluded.exterior_color, interior_color = excluded.interior_color,
              charge_port = excluded.charge_port, dc_fast_charge = excluded.dc_fast_charge,
              price_usd = excluded.price_usd, list_price_usd = excluded.list_price_usd,
              msrp_usd = excluded.msrp_usd, mileage_mi = excluded.mileage_mi,
              displacement_cc = excluded.displacement_cc, electric_range_mi = excluded.electric_range_mi,
              description = excluded.description, updated_at = excluded.updated_at,
              content_hash = excluded.content_hash, listing = excluded.listing, detail = excluded.detail,
              features = excluded.features"
            )
            .execute(self.conn())
            .await?
        };
        Ok(done.rows_affected())
    }

    /// Takes units off the lot; what is needed to recognise them stays. Answers how many were on offer.
    #[instrument(name = "store.remove_listings", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete vehicles", rows = vehicle_ids.len()))]
    pub async fn remove_listings<S: AsRef<str> + Sync>(
        &mut self,
        version: u64,
        vehicle_ids: &[S],
        reason: &str,
    ) -> Result<u64, Error> {
        let id = self.id();
        let mut removed = 0;
        for chunk in vehicle_ids.chunks(CHUNK) {
            let ids: Vec<&str> = chunk.iter().map(AsRef::as_ref).collect();
            let done = sqlx::query!(
                "with gone as (
                     delete from vehicles where tenant_id = $1 and vehicle_id = any($3)
                     returning vehicle_id, vin, stock
                 )
                 insert into removed_vehicles (tenant_id, vehicle_id, vin, stock, reason, removed_at, row_version)
                 select $1, vehicle_id, vin, stock, $4, clock_timestamp(), $2 from gone
                 on conflict (tenant_id, vehicle_id) do update set
                     vin = excluded.vin, stock = excluded.stock, reason = excluded.reason,
                     removed_at = excluded.removed_at, row_version = excluded.row_version",
                id.0,
                to_bigint(version),
                &ids as &[&str],
                reason
            )
            .execute(self.conn())
            .await?;
            removed += done.rows_affected();
        }
        Ok(removed)
    }

    /// Records units as removed that need never have been on offer here, such as sold ones of an import. Those on
    /// offer are taken off the lot. Of two with one `vehicle_id` the last wins.
    #[instrument(name = "store.upsert_removed", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert removed_vehicles", rows = units.len()))]
    pub async fn upsert_removed(
        &mut self,
        version: u64,
        units: &[Removed],
        reason: &str,
    ) -> Result<(), Error> {
        let id = self.id();
        let unique = last_of_each(units, |unit| &unit.vehicle_id);
        for chunk in unique.chunks(CHUNK) {
            let ids: Vec<&str> = chunk.iter().map(|unit| unit.vehicle_id.as_str()).collect();
            let vins: Vec<Option<&str>> = chunk.iter().map(|unit| unit.vin.as_deref()).collect();
            let stocks: Vec<Option<&str>> = chunk.iter().map(|unit| unit.stock.as_deref()).collect();
            sqlx::query!(
                "with gone as (delete from vehicles where tenant_id = $1 and vehicle_id = any($3))
                 insert into removed_vehicles (tenant_id, vehicle_id, vin, stock, reason, removed_at, row_version)
                 select $1, u.vehicle_id, u.vin, u.stock, $6, clock_timestamp(), $2
                 from unnest($3::text[], $4::text[], $5::text[]) as u (vehicle_id, vin, stock)
                 on conflict (tenant_id, vehicle_id) do update set
                     vin = excluded.vin, stock = excluded.stock, reason = excluded.reason,
                     removed_at = excluded.removed_at, row_version = excluded.row_version",
                id.0,
                to_bigint(version),
                &ids as &[&str],
                &vins as &[Option<&str>],
                &stocks as &[Option<&str>],
                reason
            )
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    /// Forgets removed units, as if they had never been here. Answers how many there were.
    ///
    /// Leaves nothing that a reader of changes could find: from the next version on lots are read whole.
    #[instrument(name = "store.forget_removed", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete removed_vehicles", rows = vehicle_ids.len()))]
    pub async fn forget_removed<S: AsRef<str> + Sync>(&mut self, vehicle_ids: &[S]) -> Result<u64, Error> {
        let id = self.id();
        let ids: Vec<&str> = vehicle_ids.iter().map(AsRef::as_ref).collect();
        let forgotten = sqlx::query_scalar!(
            r#"with gone as (
                   delete from removed_vehicles where tenant_id = $1 and vehicle_id = any($2) returning vehicle_id
               ), bound as (
                   update tenant_inventory set min_delta_version = version + 1
                   where tenant_id = $1 and exists (select from gone)
               )
               select count(*) as "forgotten!" from gone"#,
            id.0,
            &ids as &[&str]
        )
        .fetch_one(self.conn())
        .await?;
        Ok(from_bigint(forgotten))
    }
}

/// One statement may touch a row only once: of entries with one key the last stays, in the order of the first.
fn last_of_each<'a, T>(all: &'a [T], key: impl Fn(&'a T) -> &'a str) -> Vec<&'a T> {
    let mut places = std::collections::HashMap::with_capacity(all.len());
    let mut kept: Vec<&T> = Vec::with_capacity(all.len());
    for one in all {
        let place = *places.entry(key(one)).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(slot) => *slot = one,
            None => kept.push(one),
        }
    }
    kept
}

/// A character that is in none of the lists: the usual one unless a dealer's text holds even that.
fn separator(units: &[&Listing]) -> String {
    let free = |candidate: char| {
        !units.iter().any(|unit| unit.features.iter().any(|feature| feature.contains(candidate)))
    };
    let mut candidates =
        std::iter::once('\u{1f}').chain('\u{e000}'..='\u{f8ff}').chain('\u{f0000}'..='\u{10fffd}');
    candidates.find(|candidate| free(*candidate)).unwrap_or('\u{1f}').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_key_wins_at_the_place_of_the_first() {
        let all = [("a", 1), ("b", 2), ("a", 3)];
        assert_eq!(last_of_each(&all, |one| one.0), [&("a", 3), &("b", 2)]);
    }
}
