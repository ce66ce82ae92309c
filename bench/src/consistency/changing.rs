//! A lot that changes, and what it was in each of its versions.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use store::{Store, TenantId};

use crate::data::{Dice, Lot, Unit};
use crate::world::{MAIN, World};

/// Writes changes, and remembers what a search finds in every version.
pub(super) struct Changing {
    lot: Lot,
    store: Store,
    plain: sqlx::PgConnection,
    tenant: TenantId,
    dice: Dice,
    /// The units on offer, and how often each was changed.
    offered: BTreeMap<u32, Unit>,
    changes: BTreeMap<u32, u32>,
    gone: BTreeSet<u32>,
}

impl Changing {
    /// Puts the lot back to its first state.
    pub(super) async fn begin(world: &World, lot: Lot) -> Result<Changing> {
        let store = world.cluster.store(MAIN).await?;
        let plain = world.cluster.superuser(MAIN).await?;
        let mut tx = store.platform().await?;
        let tenant = tx.tenant_by_slug(&lot.slug).await?.context("the lot that changes")?;
        tx.rollback().await?;
        let offered = (0..lot.units).map(|number| (number, lot.unit(number))).collect();
        let mut changing = Changing {
            store,
            plain,
            tenant,
            dice: Dice::new(23),
            offered,
            changes: BTreeMap::new(),
            gone: BTreeSet::new(),
            lot,
        };
        let all: Vec<u32> = changing.offered.keys().copied().collect();
        changing.write(&all, &[]).await?;
        Ok(changing)
    }

    pub(super) fn lot(&self) -> &Lot {
        &self.lot
    }

    /// New prices for a few units of the search, and now and then one that leaves or comes back. Answers the version.
    pub(super) async fn change(&mut self) -> Result<u64> {
        let mut touched = Vec::new();
        for _ in 0..3 {
            let number = self.dice.below(self.lot.units);
            if self.offered.contains_key(&number) && !touched.contains(&number) {
                self.raise(number);
                touched.push(number);
            }
        }
        let mut leaving = Vec::new();
        if self.dice.chance(50) {
            let number = self.dice.below(self.lot.units);
            if !touched.contains(&number) && self.offered.remove(&number).is_some() {
                self.gone.insert(number);
                leaving.push(number);
            }
        } else if let Some(number) = self.gone.pop_first() {
            self.offered.insert(number, self.lot.unit(number));
            self.raise(number);
            touched.push(number);
        }
        self.write(&touched, &leaving).await
    }

    fn raise(&mut self, number: u32) {
        let changes = self.changes.entry(number).or_insert(0);
        // A few hundred dollars, so that the unit moves among the others.
        *changes += 371;
        self.offered.insert(number, Unit::new(&self.lot, number, *changes));
    }

    /// What a search for new cars by price finds now.
    pub(super) fn found(&self) -> Vec<String> {
        let mut found: Vec<(bool, u32, &str)> = self
            .offered
            .values()
            .filter(|unit| unit.condition == "new")
            .map(|unit| (unit.price.is_none(), unit.price.unwrap_or(0), unit.id.as_str()))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, _, id)| id.to_owned()).collect()
    }

    async fn write(&mut self, changed: &[u32], leaving: &[u32]) -> Result<u64> {
        let mut tx = self.store.tenant(self.tenant).await?;
        let version = tx.lock_inventory().await? + 1;
        let listing = |number: &u32| self.offered.get(number)?.listing(&self.lot.slug);
        let listings: Vec<_> = changed.iter().filter_map(listing).collect();
        tx.upsert_listings(version, &listings).await?;
        let ids: Vec<String> = leaving.iter().map(|number| self.lot.unit(*number).id).collect();
        tx.remove_listings(version, &ids, "sold").await?;
        tx.publish_inventory(version).await?;
        tx.commit().await?;
        Ok(version)
    }

    /// A new price, by a transaction that tells nobody. Answers the unit's VIN and the price.
    pub(super) async fn change_silently(&mut self) -> Result<(String, u32)> {
        let priced: Vec<u32> =
            self.offered.iter().filter(|(_, unit)| unit.price.is_some()).map(|(n, _)| *n).collect();
        let number = self.dice.pick(&priced);
        self.raise(number);
        let unit = self.offered.get(&number).context("a unit")?;
        let listing = unit.listing(&self.lot.slug).context("a listing")?;
        let mut tx = sqlx::Connection::begin(&mut self.plain).await?;
        let version: i64 =
            sqlx::query_scalar("select version + 1 from tenant_inventory where tenant_id = $1 for update")
                .bind(self.tenant.0)
                .fetch_one(&mut *tx)
                .await?;
        sqlx::query(
            "update vehicles set price_usd = $3, list_price_usd = $4, updated_at = $5, listing = $6, detail = $7,
                    content_hash = $8, row_version = $9
             where tenant_id = $1 and vehicle_id = $2",
        )
        .bind(self.tenant.0)
        .bind(&listing.vehicle_id)
        .bind(listing.price)
        .bind(listing.list_price)
        .bind(listing.updated_at)
        .bind(&listing.listing)
        .bind(&listing.detail)
        .bind(listing.content_hash.to_vec())
        .bind(version)
        .execute(&mut *tx)
        .await?;
        sqlx::query("update tenant_inventory set version = $2, changed_at = now() where tenant_id = $1")
            .bind(self.tenant.0)
            .bind(version)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok((unit.vin.clone(), unit.price.context("a price")?))
    }
}
