//! Dealers whose lots change, with notices and without.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use chrono::Utc;
use contract::Listing;
use serde_json::{Map, Value, json};
use sqlx::{Connection, PgConnection};
use store::{Store, TenantId};
use testkit::{cluster, dealer_document};

use super::lots;

/// A dealer, and when which version of its lot was there for all to see.
#[derive(Debug)]
pub(super) struct Dealer {
    pub(super) slug: String,
    pub(super) salt: u64,
    id: TenantId,
    /// Versions from the first on: when writing it began and when it was committed.
    history: Mutex<Vec<(Instant, Option<Instant>)>>,
}

/// A document of dealers with lots of version 1.
pub(super) fn documents(slugs: &[&str]) -> Value {
    let one = |(salt, slug): (usize, &&str)| {
        let stock = json!(lots::lot(salt_of(salt), 1));
        ((*slug).to_owned(), dealer_document(slug, stock))
    };
    Value::Object(slugs.iter().enumerate().map(one).collect::<Map<_, _>>())
}

fn salt_of(place: usize) -> u64 {
    13 * u64::try_from(place).unwrap()
}

/// The dealers of such a document, which must have been provisioned.
pub(super) async fn dealers(store: &Store, slugs: &[&str]) -> Vec<Dealer> {
    let mut tx = store.platform().await.expect("the database answers");
    let mut dealers = Vec::new();
    for (place, slug) in slugs.iter().enumerate() {
        let id = tx.tenant_by_slug(slug).await.expect("the database answers").expect("it was provisioned");
        let history = Mutex::new(vec![(Instant::now(), Some(Instant::now()))]);
        dealers.push(Dealer { slug: (*slug).to_owned(), salt: salt_of(place), id, history });
    }
    dealers
}

impl Dealer {
    /// The newest version that may be seen.
    pub(super) fn begun(&self) -> u64 {
        self.history.lock().unwrap().len() as u64
    }

    /// How much too old a version was for a question that was sent at `asked`.
    pub(super) fn behind(&self, version: u64, asked: Instant) -> Duration {
        let history = self.history.lock().unwrap();
        // The version after it, which the history's first entry is version 1 of.
        let next = history.get(usize::try_from(version).unwrap()).and_then(|next| next.1);
        next.map_or(Duration::ZERO, |committed| asked.saturating_duration_since(committed))
    }

    /// The same dealer as it is now, to go another way.
    pub(super) fn branch(&self) -> Dealer {
        self.with_salt(self.salt)
    }

    /// The same dealer, whose lots from now on are of another salt.
    pub(super) fn with_salt(&self, salt: u64) -> Dealer {
        let history = Mutex::new(self.history.lock().unwrap().clone());
        Dealer { slug: self.slug.clone(), salt, id: self.id, history }
    }

    /// Makes the next version, that of another salt, whatever is there.
    pub(super) async fn write_whole(&self, writer: &mut Writer, salt: u64) {
        let version = self.begun() + 1;
        let units = lots::lot(salt, version);
        let listings: Vec<Listing> = units
            .iter()
            .map(|unit| Listing::from_vehicle(unit.as_object().unwrap(), &self.slug, Utc::now()).unwrap())
            .collect();
        let mut tx = writer.store.tenant(self.id).await.expect("the database answers");
        assert_eq!(tx.lock_inventory().await.unwrap() + 1, version);
        let held = tx.lot_hashes().await.unwrap();
        let gone: Vec<&String> =
            held.keys().filter(|id| !listings.iter().any(|unit| unit.vehicle_id == **id)).collect();
        // Only what differs, as any writer does.
        let changed: Vec<Listing> = listings
            .iter()
            .filter(|unit| held.get(&unit.vehicle_id) != Some(&unit.content_hash))
            .cloned()
            .collect();
        tx.upsert_listings(version, &changed).await.unwrap();
        tx.remove_listings(version, &gone, "feed").await.unwrap();
        tx.publish_inventory(version).await.unwrap();
        tx.commit().await.unwrap();
        self.history.lock().unwrap().push((Instant::now(), Some(Instant::now())));
    }

    /// Makes the next version. Only one writer of a dealer at a time.
    pub(super) async fn write(&self, writer: &mut Writer, notice: bool) -> u64 {
        let version = self.begun() + 1;
        let (changed, gone) = lots::step(self.salt, version);
        let listings: Vec<Listing> = changed
            .iter()
            .map(|unit| Listing::from_vehicle(unit, &self.slug, Utc::now()).expect("it has an id"))
            .collect();
        self.history.lock().unwrap().push((Instant::now(), None));
        if notice {
            let mut tx = writer.store.tenant(self.id).await.expect("the database answers");
            assert_eq!(tx.lock_inventory().await.unwrap() + 1, version);
            tx.upsert_listings(version, &listings).await.unwrap();
            tx.remove_listings(version, &gone, "feed").await.unwrap();
            tx.publish_inventory(version).await.unwrap();
            tx.commit().await.unwrap();
        } else {
            silently(&mut writer.admin, self.id, version, &listings, &gone).await.unwrap();
        }
        self.history.lock().unwrap().last_mut().unwrap().1 = Some(Instant::now());
        version
    }
}

/// Connections that write.
pub(super) struct Writer {
    store: Store,
    admin: PgConnection,
}

impl Writer {
    pub(super) async fn new(database: &store::Database) -> Writer {
        let store = Store::connect(database, 2).await.expect("the database answers");
        Writer { store, admin: cluster().superuser(database).await }
    }

    pub(super) fn over(store: Store, admin: PgConnection) -> Writer {
        Writer { store, admin }
    }
}

/// What the store does, but for the notice.
async fn silently(
    admin: &mut PgConnection,
    id: TenantId,
    version: u64,
    units: &[Listing],
    gone: &[String],
) -> sqlx::Result<()> {
    let mut tx = admin.begin().await?;
    let version = i64::try_from(version).unwrap();
    let held: i64 =
        sqlx::query_scalar("select version from tenant_inventory where tenant_id = $1 for update")
            .bind(id.0)
            .fetch_one(&mut *tx)
            .await?;
    assert_eq!(held + 1, version);
    let ids: Vec<&str> = units.iter().map(|unit| unit.vehicle_id.as_str()).collect();
    sqlx::query("delete from removed_vehicles where tenant_id = $1 and vehicle_id = any($2)")
        .bind(id.0)
        .bind(&ids)
        .execute(&mut *tx)
        .await?;
    let text = |of: fn(&Listing) -> Option<&str>| -> Vec<Option<&str>> { units.iter().map(of).collect() };
    sqlx::query(
        "insert into vehicles (tenant_id, row_version, render_version, vehicle_id, stock, status, condition,
             vehicle_type, year, make, model, price_usd, exterior_color, updated_at, content_hash, listing, detail,
             description)
         select $1, $2, $3, u.* from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[],
             $10::text[], $11::text[], $12::bigint[], $13::text[], $14::timestamptz[], $15::bytea[], $16::text[],
             $17::text[], $18::text[]) u
         on conflict (tenant_id, vehicle_id) do update set
             row_version = excluded.row_version, price_usd = excluded.price_usd, stock = excluded.stock,
             exterior_color = excluded.exterior_color, content_hash = excluded.content_hash,
             listing = excluded.listing, detail = excluded.detail, description = excluded.description",
    )
    .bind(id.0)
    .bind(version)
    .bind(contract::listing::RENDER_VERSION)
    .bind(&ids)
    .bind(text(|unit| unit.stock.as_deref()))
    .bind(text(|unit| Some(&unit.status)))
    .bind(text(|unit| unit.condition.as_deref()))
    .bind(text(|unit| Some(&unit.vehicle_type)))
    .bind(units.iter().map(|unit| unit.year).collect::<Vec<_>>())
    .bind(text(|unit| unit.make.as_deref()))
    .bind(text(|unit| unit.model.as_deref()))
    .bind(units.iter().map(|unit| unit.price).collect::<Vec<_>>())
    .bind(text(|unit| unit.exterior_color.as_deref()))
    .bind(units.iter().map(|unit| unit.updated_at).collect::<Vec<_>>())
    .bind(units.iter().map(|unit| &unit.content_hash[..]).collect::<Vec<_>>())
    .bind(text(|unit| Some(&unit.listing)))
    .bind(text(|unit| unit.detail.as_deref()))
    .bind(text(|unit| unit.description.as_deref()))
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "with gone as (delete from vehicles where tenant_id = $1 and vehicle_id = any($3) returning vehicle_id, vin, stock)
         insert into removed_vehicles (tenant_id, vehicle_id, vin, stock, reason, removed_at, row_version)
         select $1, vehicle_id, vin, stock, 'feed', now(), $2 from gone
         on conflict (tenant_id, vehicle_id) do update set
             removed_at = excluded.removed_at, row_version = excluded.row_version",
    )
    .bind(id.0)
    .bind(version)
    .bind(gone)
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "update tenant_inventory set version = $2, changed_at = now(),
             units = (select count(*) from vehicles where tenant_id = $1) where tenant_id = $1",
    )
    .bind(id.0)
    .bind(version)
    .execute(&mut *tx)
    .await?;
    tx.commit().await
}
