//! Work across tenants, by name: addresses, the directory, settings and secrets of the platform.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection, Postgres, Transaction};
use tracing::instrument;

use crate::database::APP;
use crate::error::Error;
use crate::ids::{TenantId, TenantState};
use crate::tenant::{TenantTx, from_bigint};
use crate::tenants::state_from;

/// A transaction of the platform role. It may see every tenant and change little.
#[derive(Debug)]
pub struct PlatformTx {
    tx: Transaction<'static, Postgres>,
}

/// What routing needs to know of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryRow {
    /// Which tenant.
    pub tenant_id: TenantId,
    /// Its name in addresses.
    pub slug: String,
    /// Its own domains, the first is canonical.
    pub domains: Vec<String>,
    /// Whether it answers.
    pub state: TenantState,
    /// Changes with everything that other processes must learn of.
    pub revision: i64,
    /// Version of its lot.
    pub inventory_version: i64,
    /// How many units that lot has.
    pub units: i64,
    /// When its sources last confirmed the lot; `None` for a dealer without sources. A change of this and of the next
    /// raises no version and sends no notice: it is found by polling.
    pub confirmed_at: Option<DateTime<Utc>>,
    /// Until when answers need not say how old the lot is; `None`: for ever.
    pub fresh_until: Option<DateTime<Utc>>,
}

/// The version numbers of a tenant: all that a poll compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionRow {
    /// Which tenant.
    pub tenant_id: TenantId,
    /// As in [`DirectoryRow`].
    pub revision: i64,
    /// As in [`DirectoryRow`].
    pub state: TenantState,
    /// As in [`DirectoryRow`].
    pub inventory_version: i64,
    /// As in [`DirectoryRow`].
    pub units: i64,
    /// As in [`DirectoryRow`].
    pub confirmed_at: Option<DateTime<Utc>>,
    /// As in [`DirectoryRow`].
    pub fresh_until: Option<DateTime<Utc>>,
}

impl PlatformTx {
    pub(crate) fn new(tx: Transaction<'static, Postgres>) -> PlatformTx {
        PlatformTx { tx }
    }

    pub(crate) fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    /// Every tenant, by slug.
    #[instrument(name = "store.directory", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenants"))]
    pub async fn directory(&mut self) -> Result<Vec<DirectoryRow>, Error> {
        sqlx::query!(
            r#"select t.tenant_id as "tenant_id!", t.slug as "slug!", t.state as "state!", t.revision as "revision!",
                      coalesce(i.version, 0) as "inventory_version!", coalesce(i.units, 0) as "units!",
                      i.confirmed_at as "confirmed_at?", i.fresh_until as "fresh_until?",
                      array(select d.domain from tenant_domains d where d.tenant_id = t.tenant_id
                            order by d.position, d.domain) as "domains!"
               from tenants t left join tenant_inventory i on i.tenant_id = t.tenant_id
               order by t.slug"#
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let tenant_id = TenantId(row.tenant_id);
            Ok(DirectoryRow {
                tenant_id,
                slug: row.slug,
                domains: row.domains,
                state: state_from(&row.state, tenant_id)?,
                revision: row.revision,
                inventory_version: row.inventory_version,
                units: row.units,
                confirmed_at: row.confirmed_at,
                fresh_until: row.fresh_until,
            })
        })
        .collect()
    }

    /// One tenant of the directory.
    #[instrument(name = "store.directory_of", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenants"))]
    pub async fn directory_of(&mut self, id: TenantId) -> Result<Option<DirectoryRow>, Error> {
        sqlx::query!(
            r#"select t.slug as "slug!", t.state as "state!", t.revision as "revision!",
                      coalesce(i.version, 0) as "inventory_version!", coalesce(i.units, 0) as "units!",
                      i.confirmed_at as "confirmed_at?", i.fresh_until as "fresh_until?",
                      array(select d.domain from tenant_domains d where d.tenant_id = t.tenant_id
                            order by d.position, d.domain) as "domains!"
               from tenants t left join tenant_inventory i on i.tenant_id = t.tenant_id
               where t.tenant_id = $1"#,
            id.0
        )
        .fetch_optional(self.conn())
        .await?
        .map(|row| {
            Ok(DirectoryRow {
                tenant_id: id,
                slug: row.slug,
                domains: row.domains,
                state: state_from(&row.state, id)?,
                revision: row.revision,
                inventory_version: row.inventory_version,
                units: row.units,
                confirmed_at: row.confirmed_at,
                fresh_until: row.fresh_until,
            })
        })
        .transpose()
    }

    /// The numbers of every tenant: what a poll reads each second (a few milliseconds for 10,000).
    #[instrument(name = "store.versions", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenants"))]
    pub async fn versions(&mut self) -> Result<Vec<VersionRow>, Error> {
        sqlx::query!(
            r#"select t.tenant_id as "tenant_id!", t.revision as "revision!", t.state as "state!",
                      coalesce(i.version, 0) as "inventory_version!", coalesce(i.units, 0) as "units!",
                      i.confirmed_at as "confirmed_at?", i.fresh_until as "fresh_until?"
               from tenants t left join tenant_inventory i on i.tenant_id = t.tenant_id"#
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let tenant_id = TenantId(row.tenant_id);
            Ok(VersionRow {
                tenant_id,
                revision: row.revision,
                state: state_from(&row.state, tenant_id)?,
                inventory_version: row.inventory_version,
                units: row.units,
                confirmed_at: row.confirmed_at,
                fresh_until: row.fresh_until,
            })
        })
        .collect()
    }

    /// Whose slug it is, in whatever state that tenant is.
    #[instrument(name = "store.tenant_by_slug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select tenant_slugs"))]
    pub async fn tenant_by_slug(&mut self, slug: &str) -> Result<Option<TenantId>, Error> {
        let id = sqlx::query_scalar!("select tenant_id from tenant_slugs where slug = $1", slug)
            .fetch_optional(self.conn())
            .await?;
        Ok(id.map(TenantId))
    }

    /// Keeps the work on one tenant to this transaction until its end, whether the tenant exists already or not:
    /// whoever comes second waits here and then sees what the first one did.
    #[instrument(name = "store.lock_slug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "lock slug"))]
    pub async fn lock_slug(&mut self, slug: &str) -> Result<(), Error> {
        // Two slugs with one hash only wait for each other without need.
        sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, 20260101))", slug)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Makes an active tenant with an empty lot of version 0, or answers the one that has the slug already.
    ///
    /// Nobody hears of it before [`TenantTx::bump_revision`].
    #[instrument(name = "store.create_tenant", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert tenants"))]
    pub async fn create_tenant(&mut self, slug: &str) -> Result<TenantId, Error> {
        let id = TenantId::new();
        // One statement, so that the slug decides: whoever gets it makes the tenant.
        let done = sqlx::query!(
            "with claimed as (
                 insert into tenant_slugs (slug, tenant_id) values ($2, $1)
                 on conflict (slug) do nothing returning tenant_id
             ), made as (
                 insert into tenants (tenant_id, slug, dealer_id, name, default_contract)
                 select tenant_id, $2, $2, $2, 'v3.0' from claimed returning tenant_id
             )
             insert into tenant_inventory (tenant_id) select tenant_id from made",
            id.0,
            slug
        )
        .execute(self.conn())
        .await?;
        if done.rows_affected() == 1 {
            return Ok(id);
        }
        self.tenant_by_slug(slug).await?.ok_or_else(|| Error::Corrupt {
            table: "tenant_slugs",
            column: "tenant_id",
            id: slug.to_owned(),
        })
    }

    /// Makes `domains` the tenant's own, in this order: the first is canonical. Others it had are given up.
    ///
    /// # Errors
    /// [`Error::DomainTaken`] when another tenant has one; then roll back, for part of it was done.
    #[instrument(name = "store.claim_domains", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert tenant_domains"))]
    pub async fn claim_domains(&mut self, id: TenantId, domains: &[String]) -> Result<(), Error> {
        let mut seen = HashSet::new();
        let domains: Vec<&str> =
            domains.iter().map(String::as_str).filter(|domain| seen.insert(*domain)).collect();
        sqlx::query!(
            "delete from tenant_domains where tenant_id = $1 and domain <> all($2)",
            id.0,
            &domains as &[&str]
        )
        .execute(self.conn())
        .await?;
        // In the order of their names: two tenants that claim the same ones wait for each other in one order
        // and cannot deadlock.
        let claimed = sqlx::query_scalar!(
            "insert into tenant_domains as own (tenant_id, domain, position)
             select $1, d.domain, d.position - 1
             from unnest($2::text[]) with ordinality as d (domain, position) order by d.domain
             on conflict (domain) do update set position = excluded.position
                 where own.tenant_id = excluded.tenant_id
             returning own.domain",
            id.0,
            &domains as &[&str]
        )
        .fetch_all(self.conn())
        .await?;
        match domains.iter().find(|domain| !claimed.iter().any(|own| own == *domain)) {
            Some(domain) => Err(Error::DomainTaken { domain: (*domain).to_owned() }),
            None => Ok(()),
        }
    }

    /// A setting of the platform.
    #[instrument(name = "store.setting", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select settings"))]
    pub async fn setting(&mut self, key: &str) -> Result<Option<Value>, Error> {
        Ok(sqlx::query_scalar!("select value from settings where key = $1", key)
            .fetch_optional(self.conn())
            .await?)
    }

    /// A setting of the platform that must not change before the end of this transaction; who wants to change it
    /// waits. Transactions that only hold it like this do not wait for each other.
    #[instrument(name = "store.setting_held", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select settings"))]
    pub async fn setting_held(&mut self, key: &str) -> Result<Option<Value>, Error> {
        Ok(sqlx::query_scalar!("select value from settings where key = $1 for share", key)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Stores a setting of the platform.
    #[instrument(name = "store.set_setting", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert settings"))]
    pub async fn set_setting(&mut self, key: &str, value: &Value) -> Result<(), Error> {
        sqlx::query!(
            "insert into settings (key, value) values ($1, $2)
             on conflict (key) do update set value = excluded.value",
            key,
            value
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// 32 random bytes under a name, made when first asked for and the same for every process from then on.
    #[instrument(name = "store.secret", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select secrets"))]
    pub async fn secret(&mut self, name: &str) -> Result<[u8; 32], Error> {
        let fresh: [u8; 32] = rand::random();
        sqlx::query!(
            "insert into secrets (name, value) values ($1, $2) on conflict (name) do nothing",
            name,
            &fresh[..]
        )
        .execute(self.conn())
        .await?;
        let value = sqlx::query_scalar!("select value from secrets where name = $1", name)
            .fetch_one(self.conn())
            .await?;
        <[u8; 32]>::try_from(value.as_slice()).map_err(|_| Error::Corrupt {
            table: "secrets",
            column: "value",
            id: name.to_owned(),
        })
    }

    /// Deletes removed units that are older than the 180 days they are kept. Answers how many.
    #[instrument(name = "store.purge_removed", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete removed_vehicles"))]
    pub async fn purge_removed(&mut self) -> Result<u64, Error> {
        // Readers that have not seen the removal would never hear of it: they load the lot whole.
        let purged = sqlx::query_scalar!(
            r#"with due as (
                   -- Before their units, as writers do; a lot that is being written has its turn next time.
                   select i.tenant_id from tenant_inventory i
                   where exists (select from removed_vehicles r where r.tenant_id = i.tenant_id
                                 and r.removed_at <= now() - interval '180 days')
                   for update skip locked
               ), gone as (
                   delete from removed_vehicles r using due
                   where r.tenant_id = due.tenant_id and r.removed_at <= now() - interval '180 days'
                   returning r.tenant_id, r.row_version
               ), bound as (
                   update tenant_inventory i set min_delta_version = g.newest
                   from (select tenant_id, max(row_version) as newest from gone group by tenant_id) g
                   where i.tenant_id = g.tenant_id and i.min_delta_version < g.newest
               )
               select count(*) as "purged!" from gone"#
        )
        .fetch_one(self.conn())
        .await?;
        Ok(from_bigint(purged))
    }

    /// Goes on as a transaction of one tenant, so that making a tenant and filling it is one transaction.
    ///
    /// From here on the wall holds as in every other [`TenantTx`]: role and tenant stay until the end of the
    /// transaction.
    #[instrument(name = "store.into_tenant", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "set role"))]
    pub async fn into_tenant(mut self, id: TenantId) -> Result<TenantTx, Error> {
        sqlx::raw_sql(AssertSqlSafe(format!("set local role {APP}; set local app.tenant = '{id}'")))
            .execute(self.conn())
            .await?;
        Ok(TenantTx::new(self.tx, id))
    }

    /// Makes everything since the beginning lasting.
    #[instrument(name = "store.commit", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "commit"))]
    pub async fn commit(self) -> Result<(), Error> {
        Ok(self.tx.commit().await?)
    }

    /// Undoes everything since the beginning. Dropping does so too, without waiting for it.
    pub async fn rollback(self) -> Result<(), Error> {
        Ok(self.tx.rollback().await?)
    }
}
