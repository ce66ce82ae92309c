//! Tables `caller_keys` and `key_sets`.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::platform::PlatformTx;
use crate::tenant::{TenantTx, hash_from};

/// A bearer key of a tenant. The key itself is nowhere.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerKeyRow {
    /// Its id, for counting its use.
    pub key_id: Uuid,
    /// What the dealer calls its caller.
    pub name: String,
    /// The part of the key that may be shown.
    pub prefix: String,
    /// SHA-256 of the key.
    pub secret_hash: [u8; 32],
    /// Skill ids; empty means all.
    pub scopes: Vec<String>,
    /// `{"requests", "per_seconds"}`, or `None` for the dealer's own rule.
    pub rate_limit: Option<Value>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Who made it.
    pub created_by: String,
    /// When it was last used, to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Since when it opens nothing any more.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// A key to store.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerKeyWrite {
    /// What the dealer calls its caller; unique among the keys that are not revoked.
    pub name: String,
    /// The part of the key that may be shown.
    pub prefix: String,
    /// SHA-256 of the key.
    pub secret_hash: [u8; 32],
    /// Skill ids; empty means all.
    pub scopes: Vec<String>,
    /// `{"requests", "per_seconds"}`, or `None` for the dealer's own rule.
    pub rate_limit: Option<Value>,
    /// Who makes it.
    pub created_by: String,
}

/// The public keys of an issuer, as somebody fetched them.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySetRow {
    /// From where.
    pub url: String,
    /// `{"keys": […]}`; `None` until it was fetched once.
    pub document: Option<Value>,
    /// When it was last fetched.
    pub fetched_at: Option<DateTime<Utc>>,
}

impl TenantTx {
    /// The tenant's keys, revoked ones too, in the order in which they were made.
    #[instrument(name = "store.caller_keys", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select caller_keys"))]
    pub async fn caller_keys(&mut self) -> Result<Vec<CallerKeyRow>, Error> {
        let id = self.id();
        sqlx::query!(
            "select key_id, name, prefix, secret_hash, scopes, rate_limit, created_at, created_by, last_used_at,
                    revoked_at
             from caller_keys where tenant_id = $1 order by created_at, key_id",
            id.0
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            Ok(CallerKeyRow {
                secret_hash: hash_from(&row.secret_hash, "caller_keys", "secret_hash", || {
                    row.key_id.to_string()
                })?,
                key_id: row.key_id,
                name: row.name,
                prefix: row.prefix,
                scopes: row.scopes,
                rate_limit: row.rate_limit,
                created_at: row.created_at,
                created_by: row.created_by,
                last_used_at: row.last_used_at,
                revoked_at: row.revoked_at,
            })
        })
        .collect()
    }

    /// Stores a key; `false` when a key of that name, or with that prefix, is there already.
    #[instrument(name = "store.add_caller_key", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert caller_keys"))]
    pub async fn add_caller_key(&mut self, key: &CallerKeyWrite) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "insert into caller_keys (tenant_id, key_id, name, prefix, secret_hash, scopes, rate_limit, created_by)
             values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing",
            id.0,
            Uuid::now_v7(),
            key.name,
            key.prefix,
            &key.secret_hash[..],
            &key.scopes,
            key.rate_limit,
            key.created_by,
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Revokes the key of a name or prefix; `false` when there is none that was not revoked.
    #[instrument(name = "store.revoke_caller_key", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update caller_keys"))]
    pub async fn revoke_caller_key(&mut self, name_or_prefix: &str) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!(
            "update caller_keys set revoked_at = clock_timestamp()
             where tenant_id = $1 and revoked_at is null and (name = $2 or prefix = $2)",
            id.0,
            name_or_prefix,
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() > 0)
    }
}

impl PlatformTx {
    /// Notes when keys were last used; an earlier time than the one known changes nothing.
    #[instrument(name = "store.note_key_use", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update caller_keys"))]
    pub async fn note_key_use(&mut self, used: &[(TenantId, Uuid, DateTime<Utc>)]) -> Result<(), Error> {
        let mut used = used.to_vec();
        // In one order, so that two processes never wait for each other's rows.
        used.sort_unstable_by_key(|(tenant, key, _)| (tenant.0, *key));
        let tenants: Vec<Uuid> = used.iter().map(|(tenant, _, _)| tenant.0).collect();
        let keys: Vec<Uuid> = used.iter().map(|(_, key, _)| *key).collect();
        let times: Vec<DateTime<Utc>> = used.iter().map(|(_, _, at)| *at).collect();
        sqlx::query!(
            "update caller_keys k set last_used_at = u.at
             from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as u (tenant_id, key_id, at)
             where k.tenant_id = u.tenant_id and k.key_id = u.key_id
               and (k.last_used_at is null or k.last_used_at < u.at)",
            &tenants,
            &keys,
            &times,
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// The key sets of these addresses, as far as there are rows for them.
    #[instrument(name = "store.key_sets", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select key_sets"))]
    pub async fn key_sets(&mut self, urls: &[String]) -> Result<Vec<KeySetRow>, Error> {
        Ok(sqlx::query_as!(
            KeySetRow,
            "select url, document, fetched_at from key_sets where url = any($1)",
            urls
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Takes it upon this process to fetch those of `urls` that are due, and answers them. Those never fetched or
    /// named in `wanted` are due when nobody has tried for `pause_s` seconds; those last confirmed `max_age_s` seconds
    /// ago, which are good meanwhile, when nobody has for ten times as long.
    #[instrument(name = "store.claim_key_sets", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert key_sets"))]
    pub async fn claim_key_sets(
        &mut self,
        urls: &[String],
        wanted: &[String],
        max_age_s: f64,
        pause_s: f64,
    ) -> Result<Vec<String>, Error> {
        Ok(sqlx::query_scalar!(
            "insert into key_sets as k (url, tried_at)
             select u.url, clock_timestamp() from unnest($1::text[]) as u (url) order by u.url
             on conflict (url) do update set tried_at = excluded.tried_at
                 where k.tried_at is null
                    or ((k.fetched_at is null or k.url = any($2))
                        and k.tried_at < clock_timestamp() - make_interval(secs => $4))
                    or (k.fetched_at < clock_timestamp() - make_interval(secs => $3)
                        and k.tried_at < clock_timestamp() - make_interval(secs => $4 * 10))
             returning k.url",
            urls,
            wanted,
            max_age_s,
            pause_s,
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Stores what fetching a key set brought: the document, or why there is none; then the former one stays.
    #[instrument(name = "store.save_key_set", level = "debug", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "update key_sets"))]
    pub async fn save_key_set(&mut self, url: &str, fetched: Result<&Value, &str>) -> Result<(), Error> {
        sqlx::query!(
            "update key_sets set
                 document = coalesce($2, document), failure = $3,
                 fetched_at = case when $2::jsonb is null then fetched_at else clock_timestamp() end
             where url = $1",
            url,
            fetched.ok(),
            fetched.err(),
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
