//! Tables `cards` and `card_revisions`.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::ids::TenantId;
use crate::tenant::{TenantTx, hash_from};

/// The published card of one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRow {
    /// `v3.0` and so on.
    pub contract: String,
    /// `params.id` of the card.
    pub params_id: Uuid,
    /// Counts the tenant's cards of this contract, from 1, and never goes back.
    pub revision: i32,
    /// SHA-256 of the canonical card without `params.id`.
    pub content_hash: [u8; 32],
    /// The card as it is served.
    pub body: String,
    /// When it was published.
    pub changed_at: DateTime<Utc>,
}

/// A card to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardWrite {
    /// `v3.0` and so on.
    pub contract: String,
    /// `params.id` inside `body`.
    pub params_id: Uuid,
    /// SHA-256 of the canonical card without `params.id`.
    pub content_hash: [u8; 32],
    /// The card as it shall be served.
    pub body: String,
    /// Why it changed, for the history: `provision`, `created` …
    pub cause: String,
    /// Who changed it: a command or a user.
    pub actor: String,
}

/// One card of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRevisionRow {
    /// `v3.0` and so on.
    pub contract: String,
    /// From 1.
    pub revision: i32,
    /// `params.id` of that card.
    pub params_id: Uuid,
    /// SHA-256 of the canonical card without `params.id`.
    pub content_hash: [u8; 32],
    /// The card as it was served.
    pub body: String,
    /// Why it was published.
    pub cause: String,
    /// Who published it.
    pub actor: String,
    /// When it was published.
    pub changed_at: DateTime<Utc>,
}

impl TenantTx {
    /// The tenant's cards, by contract.
    #[instrument(name = "store.cards", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select cards"))]
    pub async fn cards(&mut self) -> Result<Vec<CardRow>, Error> {
        let id = self.id();
        sqlx::query!(
            "select contract, params_id, revision, content_hash, body, changed_at
             from cards where tenant_id = $1 order by contract",
            id.0
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            Ok(CardRow {
                content_hash: hash_from(&row.content_hash, "cards", "content_hash", || {
                    key(id, &row.contract)
                })?,
                contract: row.contract,
                params_id: row.params_id,
                revision: row.revision,
                body: row.body,
                changed_at: row.changed_at,
            })
        })
        .collect()
    }

    /// Publishes a card and adds it to the history. Call it under [`TenantTx::lock`].
    #[instrument(name = "store.save_card", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "upsert cards"))]
    pub async fn save_card(&mut self, card: &CardWrite) -> Result<CardRow, Error> {
        let id = self.id();
        // The number goes on from the history, so that a contract which is dropped and offered again does not
        // use a number twice.
        let row = sqlx::query!(
            r#"with published as (
                   insert into card_revisions
                       (tenant_id, contract, revision, params_id, content_hash, body, cause, actor, changed_at)
                   select $1, $2, coalesce(max(past.revision), 0) + 1, $3, $4, $5, $6, $7, clock_timestamp()
                   from card_revisions past where past.tenant_id = $1 and past.contract = $2
                   returning tenant_id, contract, revision, params_id, content_hash, body, changed_at
               )
               insert into cards as c (tenant_id, contract, revision, params_id, content_hash, body, changed_at)
               select tenant_id, contract, revision, params_id, content_hash, body, changed_at from published
               on conflict (tenant_id, contract) do update
                   set revision = excluded.revision, params_id = excluded.params_id, body = excluded.body,
                       content_hash = excluded.content_hash, changed_at = excluded.changed_at
               returning c.revision, c.changed_at"#,
            id.0,
            card.contract,
            card.params_id,
            &card.content_hash[..],
            card.body,
            card.cause,
            card.actor,
        )
        .fetch_one(self.conn())
        .await?;
        Ok(CardRow {
            contract: card.contract.clone(),
            params_id: card.params_id,
            revision: row.revision,
            content_hash: card.content_hash,
            body: card.body.clone(),
            changed_at: row.changed_at,
        })
    }

    /// Withdraws the card of a contract; its history stays. Answers whether there was one.
    #[instrument(name = "store.drop_card", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "delete cards"))]
    pub async fn drop_card(&mut self, contract: &str) -> Result<bool, Error> {
        let id = self.id();
        let done = sqlx::query!("delete from cards where tenant_id = $1 and contract = $2", id.0, contract)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Every card of a contract that was ever published, the newest first.
    #[instrument(name = "store.card_history", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select card_revisions"))]
    pub async fn card_history(&mut self, contract: &str) -> Result<Vec<CardRevisionRow>, Error> {
        let id = self.id();
        sqlx::query!(
            "select contract, revision, params_id, content_hash, body, cause, actor, changed_at
             from card_revisions where tenant_id = $1 and contract = $2 order by revision desc",
            id.0,
            contract
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            Ok(CardRevisionRow {
                content_hash: hash_from(&row.content_hash, "card_revisions", "content_hash", || {
                    key(id, &row.contract)
                })?,
                contract: row.contract,
                revision: row.revision,
                params_id: row.params_id,
                body: row.body,
                cause: row.cause,
                actor: row.actor,
                changed_at: row.changed_at,
            })
        })
        .collect()
    }
}

fn key(id: TenantId, contract: &str) -> String {
    format!("{id}/{contract}")
}
