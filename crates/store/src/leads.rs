//! Tables `leads` and `lead_notes`.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::lead_keys::KeyWrite;
use crate::tenant::{TenantTx, hash_from};

/// By what an equivalent lead is known; each is a hash of a normalised value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the mail address, if there is one.
    pub email: Option<[u8; 16]>,
    /// Of the phone number, if there is one.
    pub phone: Option<[u8; 16]>,
    /// Of the vehicle, and of there being none.
    pub vehicle: [u8; 16],
}

/// What has to be known before a lead is stored.
#[derive(Debug, Clone)]
pub struct TurnWanted<'a> {
    /// What nobody else may be at meanwhile: numbers in ascending order. Held until the transaction ends.
    pub turns: &'a [i64],
    /// By which contract the lead came.
    pub contract: &'a str,
    /// Its idempotency key, if it has one.
    pub key: Option<&'a [u8]>,
    /// What equivalent leads look like.
    pub fingerprint: Fingerprint,
    /// Now: a key that expired is not known any more.
    pub at: DateTime<Utc>,
    /// Older leads are no duplicates.
    pub since: DateTime<Utc>,
}

/// What was answered to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    /// Hash of the canonical request.
    pub request_hash: [u8; 32],
    /// The payload, JSON.
    pub answer: String,
}

/// What was there when the turn came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The key, if it was used before.
    pub known: Option<KnownKey>,
    /// The earliest equivalent lead.
    pub earlier: Option<Earlier>,
}

/// A lead that was there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// Its id.
    pub lead_id: Uuid,
    /// Who sent it.
    pub caller: String,
}

/// A lead, or what is added to one. Texts must not hold U+0000, which JSON escapes.
#[derive(Debug, Clone)]
pub struct LeadWrite<'a> {
    /// Id of the lead.
    pub lead_id: Uuid,
    /// By which contract it came.
    pub contract: &'a str,
    /// By which interface.
    pub door: &'a str,
    /// From whom.
    pub caller: &'a str,
    /// When.
    pub received_at: DateTime<Utc>,
    /// The rooftop that it is about, where that is known.
    pub rooftop: Option<&'a str>,
    /// The request, JSON.
    pub request: &'a str,
    /// Hash of its canonical form.
    pub request_hash: [u8; 32],
    /// The ConsentGrant, JSON.
    pub consent: &'a str,
    /// By what it is known.
    pub fingerprint: Fingerprint,
}

impl TenantTx {
    /// Waits until nobody else is at the same, then looks what is there. One round trip.
    #[instrument(name = "store.lead_turn", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select leads"))]
    pub async fn lead_turn(&mut self, wanted: &TurnWanted<'_>) -> Result<Turn, Error> {
        let id = self.id();
        let row = sqlx::query!(
            r#"select known_hash as "known_hash?", known_answer as "known_answer?", earlier_lead as "earlier_lead?",
                      earlier_caller as "earlier_caller?"
               from lead_turn($1, $2, $3, $4, $5, $6, $7, $8, $9)"#,
            id.0,
            wanted.turns,
            wanted.contract,
            wanted.key,
            wanted.fingerprint.email.as_ref().map(|hash| &hash[..]),
            wanted.fingerprint.phone.as_ref().map(|hash| &hash[..]),
            &wanted.fingerprint.vehicle[..],
            wanted.at,
            wanted.since,
        )
        .fetch_one(self.conn())
        .await?;
        let known = match (row.known_hash, row.known_answer) {
            (Some(hash), Some(answer)) => Some(KnownKey {
                request_hash: hash_from(&hash, "lead_keys", "request_hash", || id.to_string())?,
                answer,
            }),
            _ => None,
        };
        let earlier = row.earlier_lead.zip(row.earlier_caller);
        Ok(Turn { known, earlier: earlier.map(|(lead_id, caller)| Earlier { lead_id, caller }) })
    }

    /// Stores a lead, and with it the key by which its request is known again. One round trip.
    #[instrument(name = "store.add_lead", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert leads"))]
    pub async fn add_lead(&mut self, lead: &LeadWrite<'_>, key: Option<&KeyWrite<'_>>) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "with kept as (
                 insert into lead_keys as k (tenant_id, contract, key, request_hash, lead_id, answer, expires_at)
                 select $1, $3, $14, $9, $2, $15, $16 where $14::bytea is not null
                 on conflict (tenant_id, contract, key) do update set
                     request_hash = excluded.request_hash, lead_id = excluded.lead_id, answer = excluded.answer,
                     expires_at = excluded.expires_at
                 where k.expires_at <= $6
             )
             insert into leads (tenant_id, lead_id, contract, door, caller, received_at, rooftop, request,
                                request_hash, consent, email_hash, phone_hash, vehicle_hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            id.0,
            lead.lead_id,
            lead.contract,
            lead.door,
            lead.caller,
            lead.received_at,
            lead.rooftop,
            lead.request,
            &lead.request_hash[..],
            lead.consent,
            lead.fingerprint.email.as_ref().map(|hash| &hash[..]),
            lead.fingerprint.phone.as_ref().map(|hash| &hash[..]),
            &lead.fingerprint.vehicle[..],
            key.map(|key| key.key),
            key.map(|key| key.answer),
            key.map(|key| key.expires_at),
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Adds what was sent again to the lead `lead.lead_id`, unless it was said before, and stores the key.
    #[instrument(name = "store.add_note", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert lead_notes"))]
    pub async fn add_note(&mut self, lead: &LeadWrite<'_>, key: Option<&KeyWrite<'_>>) -> Result<(), Error> {
        let id = self.id();
        sqlx::query!(
            "with kept as (
                 insert into lead_keys as k (tenant_id, contract, key, request_hash, lead_id, answer, expires_at)
                 select $1, $3, $11, $8, $2, $12, $13 where $11::bytea is not null
                 on conflict (tenant_id, contract, key) do update set
                     request_hash = excluded.request_hash, lead_id = excluded.lead_id, answer = excluded.answer,
                     expires_at = excluded.expires_at
                 where k.expires_at <= $6
             )
             insert into lead_notes (tenant_id, lead_id, contract, door, caller, received_at, request, request_hash,
                                     consent, note_id, email_hash, phone_hash, vehicle_hash)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
                    nullif($14::bytea, l.email_hash), nullif($15::bytea, l.phone_hash), $16
             from leads l where l.tenant_id = $1 and l.lead_id = $2 and l.request_hash <> $8
             on conflict (tenant_id, lead_id, request_hash) do nothing",
            id.0,
            lead.lead_id,
            lead.contract,
            lead.door,
            lead.caller,
            lead.received_at,
            lead.request,
            &lead.request_hash[..],
            lead.consent,
            Uuid::now_v7(),
            key.map(|key| key.key),
            key.map(|key| key.answer),
            key.map(|key| key.expires_at),
            lead.fingerprint.email.as_ref().map(|hash| &hash[..]),
            lead.fingerprint.phone.as_ref().map(|hash| &hash[..]),
            &lead.fingerprint.vehicle[..],
        )
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

/// A lead as it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLead {
    /// Its id.
    pub lead_id: Uuid,
    /// By which contract it came.
    pub contract: String,
    /// By which interface.
    pub door: String,
    /// From whom.
    pub caller: String,
    /// When.
    pub received_at: DateTime<Utc>,
    /// `received` or `rejected`.
    pub status: String,
    /// The rooftop that it is about, where that is known.
    pub rooftop: Option<String>,
    /// The request, JSON.
    pub request: String,
}

/// What was sent again for a lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNote {
    /// For which lead.
    pub lead_id: Uuid,
    /// When.
    pub received_at: DateTime<Utc>,
    /// From whom.
    pub caller: String,
    /// The request, JSON.
    pub request: String,
}

impl TenantTx {
    /// The newest leads, newest first.
    #[instrument(name = "store.newest_leads", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select leads"))]
    pub async fn newest_leads(&mut self, limit: u32) -> Result<Vec<StoredLead>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            StoredLead,
            "select lead_id, contract, door, caller, received_at, status, rooftop, request from leads
             where tenant_id = $1 order by lead_id desc limit $2",
            id.0,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// What was sent again for these leads, in the order in which it came.
    #[instrument(name = "store.notes_of", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select lead_notes"))]
    pub async fn notes_of(&mut self, leads: &[Uuid]) -> Result<Vec<StoredNote>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            StoredNote,
            "select lead_id, received_at, caller, request from lead_notes
             where tenant_id = $1 and lead_id = any($2) order by note_id",
            id.0,
            leads
        )
        .fetch_all(self.conn())
        .await?)
    }
}
