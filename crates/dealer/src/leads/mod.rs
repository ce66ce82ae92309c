//! Leads: taken once, kept whole, answered the same however often they are sent (AAP.md 7.6, 9 to 11).
//!
//! What a lead stands for is decided in one transaction that holds the turns of its key, its shopper with this
//! vehicle, and the agenda that it wants to be in. Nobody else can decide about the same meanwhile, on any node.

mod answer;
mod appointment;
mod consent;
mod fingerprint;
mod hours;
mod lanes;
mod rooftop;
mod visit;
mod wording;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use contract::payload::LeadSubmitRequest;
use contract::{Fault, FaultCode, SkillId, Violation, canonical, refusal};
use serde_json::Value;
use store::{Agenda, AgendaWanted, KeyWrite, KnownKey, LeadWrite, TenantTx, TurnWanted};
use uuid::Uuid;

use crate::policy::Policy;
use crate::{Call, Dealer};
use visit::{SettledVisit, Visit};

use lanes::{Held, Told};

pub(crate) use lanes::Lanes;
pub(crate) use rooftop::Rooftop;

/// How long a lead may wait for its turn and the database, which is a matter of milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// No window is longer, whatever a policy says.
const LONGEST_WINDOW: u32 = 10 * 365 * 24;
/// Most characters that are kept of who sent a lead; all of it stands in the request.
const MOST_OF_A_NAME: usize = 200;

/// What is wrong with a lead beyond its schema; also for one that breaks it, since all problems are told at once.
pub(crate) fn problems(payload: &Value, policy: &Policy) -> Vec<Violation> {
    consent::problems(payload, policy, policy.now())
}

/// Everything about a request that does not depend on what is stored.
struct Lead<'a> {
    call: &'a Call,
    request: &'a LeadSubmitRequest,
    hash: [u8; 32],
    now: DateTime<Utc>,
}

/// Takes a lead and appends the payload of its answer.
///
/// # Errors
/// `IDEMPOTENCY_CONFLICT`, the codes of the consent gate, of the vehicle and of the appointment; nothing is stored
/// then, and the key stays free. Internal ones may be repeated.
pub(crate) async fn submit(
    dealer: &Dealer,
    call: &Call,
    request: &LeadSubmitRequest,
    payload: &Value,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let lead = Lead { call, request, hash: canonical::hash(payload), now: call.tenant.policy.now() };
    let answer = match lead.judged(dealer, payload).await {
        Ok((visit, stands_at)) => {
            let taken = lead.taken(dealer, payload, visit, stands_at.as_deref());
            // Whether it was stored is not known then; the same again finds out.
            tokio::time::timeout(PATIENCE, taken)
                .await
                .map_err(|_| Fault::internal("the database did not store a lead in time"))??
        }
        // What was answered once is answered again, also when it would be refused today.
        Err(fault) => lead.answered_before(dealer).await?.ok_or(fault)?,
    };
    out.extend_from_slice(answer.as_bytes());
    Ok(())
}

impl<'a> Lead<'a> {
    /// What the skill demands of a lead, and what it asks for.
    async fn judged(
        &self,
        dealer: &Dealer,
        payload: &Value,
    ) -> Result<(Option<Visit<'a>>, Option<String>), Fault> {
        let found = consent::problems(payload, &self.call.tenant.policy, self.now);
        if !found.is_empty() {
            return Err(refusal::of(SkillId::LeadSubmit.spec(), payload, found));
        }
        let stands_at = visit::stands_at(dealer, self.call, self.request).await?;
        let visit = match &self.request.appointment {
            Some(asked) => Some(Visit::of(&self.call.tenant, asked, stands_at.as_deref())?),
            None => None,
        };
        Ok((visit, stands_at))
    }

    fn key(&self) -> Option<&'a [u8]> {
        self.request.idempotency_key.as_deref().map(str::as_bytes)
    }

    /// The former answer to the key of this request, if there is one.
    async fn answered_before(&self, dealer: &Dealer) -> Result<Option<String>, Fault> {
        let Some(key) = self.key() else { return Ok(None) };
        let mut tx = dealer.inner.store.tenant(self.call.tenant.id).await.map_err(Fault::internal)?;
        let known =
            tx.known_key(self.call.contract.as_str(), key, self.now).await.map_err(Fault::internal)?;
        // Nothing was changed: what was read is good, however the transaction ends.
        tx.rollback().await.ok();
        known.map(|known| self.replayed(known)).transpose()
    }

    fn replayed(&self, known: KnownKey) -> Result<String, Fault> {
        if known.request_hash == self.hash {
            return Ok(known.answer);
        }
        Err(Fault::new(
            FaultCode::IdempotencyConflict,
            "This idempotency key came before, with another content. Use a new key for a new lead.",
        ))
    }

    /// Stores the lead, or finds that it is there; the payload of the answer.
    async fn taken(
        &self,
        dealer: &Dealer,
        payload: &Value,
        visit: Option<Visit<'a>>,
        stands_at: Option<&str>,
    ) -> Result<String, Fault> {
        let tenant = &self.call.tenant;
        let contract = self.call.contract.as_str();
        let fingerprint = fingerprint::of(tenant.id, self.request);
        let key = self.request.idempotency_key.as_deref().map(|key| (contract, key));
        let agenda = visit.as_ref().and_then(Visit::agenda);
        let turns = fingerprint::turns(tenant.id, key, &fingerprint, agenda);
        let key_turn = key.map(|(contract, key)| fingerprint::turn_of_key(tenant.id, contract, key));
        let mut held = dealer.inner.lanes.enter(&turns).await;
        let told = key_turn.and_then(|turn| held.told(turn));
        if let Some(known) = told.filter(|told| self.is_key_of(told)) {
            let known = KnownKey { request_hash: known.hash, answer: known.answer.clone() };
            return self.replayed(known);
        }
        let mut tx = dealer.inner.store.tenant(tenant.id).await.map_err(Fault::internal)?;
        let wanted = TurnWanted {
            turns: &turns,
            contract,
            key: self.key(),
            fingerprint,
            at: self.now,
            since: self.now - hours(tenant.policy.duplicate_hours),
        };
        let turn = tx.lead_turn(&wanted).await.map_err(Fault::internal)?;
        if let Some(known) = turn.known {
            tx.rollback().await.ok();
            let answer = self.replayed(known)?;
            self.tell(&mut held, key_turn, &answer);
            return Ok(answer);
        }
        let lead_id = turn.earlier.unwrap_or_else(Uuid::now_v7);
        let settled = match visit {
            Some(visit) => Some(self.settled(&mut tx, visit, turn.earlier).await?),
            None => None,
        };
        let answer =
            answer::payload(tenant, self.request, lead_id, turn.earlier.is_none(), settled.as_ref())?;

        let caller = self.call.caller.name(Some(&self.request.source_agent.name));
        let of_unit =
            || tenant.rooftops.iter().find(|rooftop| stands_at.is_some_and(|n| rooftop.is_called(n)));
        let rooftop = settled.as_ref().and_then(|settled| settled.visit.rooftop).or_else(of_unit);
        let write = LeadWrite {
            lead_id,
            contract,
            door: self.call.caller.door,
            caller: &storable(&caller),
            received_at: self.now,
            rooftop: rooftop.map(|rooftop| rooftop.name.as_str()),
            request: &payload.to_string(),
            request_hash: self.hash,
            consent: &payload.get("consent").unwrap_or(&Value::Null).to_string(),
            fingerprint,
        };
        let expires_at = self.now + hours(tenant.policy.idempotency_hours);
        let kept = self.key().map(|key| KeyWrite { key, answer: &answer, expires_at });
        match turn.earlier {
            None => tx.add_lead(&write, kept.as_ref()).await,
            Some(_) => tx.add_note(&write, kept.as_ref()).await,
        }
        .map_err(Fault::internal)?;
        if let Some(settled) = &settled {
            settled.book(&mut tx, lead_id, self.now).await.map_err(Fault::internal)?;
        }
        tx.commit().await.map_err(Fault::internal)?;
        self.tell(&mut held, key_turn, &answer);
        Ok(answer)
    }

    fn is_key_of(&self, told: &Told) -> bool {
        told.tenant == self.call.tenant.id
            && told.contract == self.call.contract.as_str()
            && self.key() == Some(told.key.as_bytes())
    }

    /// Tells copies of this request that wait in this process.
    fn tell(&self, held: &mut Held, key_turn: Option<i64>, answer: &str) {
        if let (Some(turn), Some(key)) = (key_turn, &self.request.idempotency_key) {
            held.tell(
                turn,
                Told {
                    tenant: self.call.tenant.id,
                    contract: self.call.contract.as_str(),
                    key: key.clone(),
                    hash: self.hash,
                    answer: answer.to_owned(),
                },
            );
        }
    }

    async fn settled(
        &self,
        tx: &mut TenantTx,
        visit: Visit<'a>,
        earlier: Option<Uuid>,
    ) -> Result<SettledVisit<'a>, Fault> {
        let policy = &self.call.tenant.policy;
        let agenda = match visit.rooftop {
            // Nothing is booked, and nothing of this lead is there yet.
            _ if visit.agenda().is_none() && earlier.is_none() => Agenda::default(),
            rooftop => {
                let wanted = AgendaWanted {
                    rooftop: rooftop.map_or("", |rooftop| &rooftop.name),
                    department: visit.department.as_str(),
                    from: self.now,
                    lead_id: earlier,
                    kind: visit.kind.as_str(),
                };
                tx.agenda(wanted).await.map_err(Fault::internal)?
            }
        };
        let settled = visit.settle(&agenda, policy, self.now)?;
        Ok(SettledVisit { id: visit::id_of(&agenda), visit, settled, agenda })
    }
}

fn hours(window: u32) -> TimeDelta {
    TimeDelta::hours(i64::from(window.min(LONGEST_WINDOW)))
}

/// A name as PostgreSQL can hold it, and not endless.
fn storable(name: &str) -> String {
    name.chars().take(MOST_OF_A_NAME).map(|char| if char == '\0' { '\u{2400}' } else { char }).collect()
}
