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
use serde_json::{Value, json};
use store::{Agenda, AgendaWanted, KeyWrite, KnownKey, LeadWrite, TenantTx, TurnWanted};
use tokio::time::Instant;
use uuid::Uuid;

use crate::policy::Policy;
use crate::{Call, Dealer};
use visit::{SettledVisit, Visit};

use lanes::{Copies, Held, Told};

pub(crate) use fingerprint::turns_of_agendas;
pub(crate) use lanes::Lanes;
pub(crate) use rooftop::Rooftop;

/// How long a lead may take, which is a matter of milliseconds: its turn, a connection and the database. Clients
/// give up after five seconds, and are to be told before that they may send it again.
const PATIENCE: Duration = Duration::from_millis(4500);
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
    /// Who sent it, as it is stored.
    caller: String,
    now: DateTime<Utc>,
    arrived: Instant,
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
    let caller = storable(&call.caller.name(Some(&request.source_agent.name)));
    let (hash, now, arrived) = (canonical::hash(payload), call.tenant.policy.now(), Instant::now());
    let lead = Lead { call, request, hash, caller, now, arrived };
    // Whether it was stored is not known then; the same again finds out.
    let answer = tokio::time::timeout(PATIENCE, lead.answer(dealer, payload))
        .await
        .map_err(|_| Fault::internal("the database did not store a lead in time"))??;
    out.extend_from_slice(answer.as_bytes());
    Ok(())
}

impl<'a> Lead<'a> {
    async fn answer(&self, dealer: &Dealer, payload: &Value) -> Result<String, Fault> {
        match self.judged(dealer, payload).await {
            Ok((visit, stands_at)) => self.taken(dealer, payload, visit, stands_at.as_deref()).await,
            // What was answered once is answered again, also when it would be refused today.
            Err(fault) => self.answered_before(dealer).await?.ok_or(fault),
        }
    }

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
        // By which copies of this request meet in this process.
        let meeting = match key {
            Some((contract, key)) => Some(fingerprint::turn_of_key(tenant.id, contract, key)),
            None => fingerprint::turn_of_copies(&fingerprint),
        };
        let mut held = dealer.inner.lanes.enter(&turns).await;
        let told = meeting.and_then(|turn| held.told(turn));
        if let Some(known) = told.filter(|told| self.is_told_by(told)) {
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
            self.tell(&mut held, meeting, &answer);
            return Ok(answer);
        }
        let earlier = turn.earlier.as_ref().map(|earlier| earlier.lead_id);
        // Whoever knows a shopper's address may add to what was asked for, and learns and moves nothing of it.
        let is_stranger = turn.earlier.as_ref().is_some_and(|earlier| earlier.caller != self.caller);
        let lead_id = earlier.unwrap_or_else(Uuid::now_v7);
        let settled = match visit {
            Some(visit) if is_stranger => Some(self.unseen(visit, lead_id)?),
            Some(visit) => Some(self.settled(&mut tx, visit, earlier).await?),
            None => None,
        };
        let written = |is_new: bool| answer::payload(tenant, self.request, lead_id, is_new, settled.as_ref());
        let answer = written(earlier.is_none())?;

        let of_unit =
            || tenant.rooftops.iter().find(|rooftop| stands_at.is_some_and(|n| rooftop.is_called(n)));
        let rooftop = settled.as_ref().and_then(|settled| settled.visit.rooftop).or_else(of_unit);
        let write = LeadWrite {
            lead_id,
            contract,
            door: self.call.caller.door,
            caller: &self.caller,
            received_at: self.now,
            rooftop: rooftop.map(|rooftop| rooftop.name.as_str()),
            request: &payload.to_string(),
            request_hash: self.hash,
            consent: &payload.get("consent").unwrap_or(&Value::Null).to_string(),
            fingerprint,
        };
        let expires_at = self.now + hours(tenant.policy.idempotency_hours);
        let kept = self.key().map(|key| KeyWrite { key, answer: &answer, expires_at });
        match earlier {
            None => tx.add_lead(&write, kept.as_ref()).await,
            Some(_) => tx.add_note(&write, kept.as_ref()).await,
        }
        .map_err(Fault::internal)?;
        if let Some(settled) = settled.as_ref().filter(|_| !is_stranger) {
            settled.book(&mut tx, lead_id, self.now).await.map_err(Fault::internal)?;
        }
        tx.commit().await.map_err(Fault::internal)?;
        match key {
            Some(_) => self.tell(&mut held, meeting, &answer),
            // Without a key the next one is a duplicate of this.
            None => self.tell(&mut held, meeting, &written(false)?),
        }
        Ok(answer)
    }

    fn is_told_by(&self, told: &Told) -> bool {
        let is_copy = match &told.copies {
            Copies::Key(key) => self.key() == Some(key.as_bytes()),
            Copies::Content { caller, until } => {
                told.hash == self.hash
                    && *caller == self.caller
                    && until.is_none_or(|until| self.arrived <= until)
            }
        };
        is_copy && told.tenant == self.call.tenant.id && told.contract == self.call.contract.as_str()
    }

    /// Tells copies of this request that wait in this process.
    fn tell(&self, held: &mut Held, meeting: Option<i64>, answer: &str) {
        let Some(turn) = meeting else { return };
        let copies = match &self.request.idempotency_key {
            Some(key) => Copies::Key(key.clone()),
            // What is booked may be moved by others; everything else stays as it is.
            None => Copies::Content {
                caller: self.caller.clone(),
                until: self.request.appointment.as_ref().map(|_| Instant::now()),
            },
        };
        let (tenant, contract) = (self.call.tenant.id, self.call.contract.as_str());
        held.tell(turn, Told { tenant, contract, copies, hash: self.hash, answer: answer.to_owned() });
    }

    /// A visit that somebody else than the sender of the lead asks for. It has an id that it always gets, which says
    /// nothing of a visit that is there.
    fn unseen(&self, visit: Visit<'a>, lead_id: Uuid) -> Result<SettledVisit<'a>, Fault> {
        let settled = visit.settle_unseen()?;
        let id = fingerprint::id(&json!([lead_id, self.caller, visit.kind.as_str()]));
        Ok(SettledVisit { id, visit, settled, agenda: Agenda::default() })
    }

    async fn settled(
        &self,
        tx: &mut TenantTx,
        mut visit: Visit<'a>,
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
        if agenda.is_gone && visit.agenda().is_some() {
            return Err(Fault::internal("the dealer's rooftops changed meanwhile"));
        }
        if visit.at.is_none()
            && let Some(own) = agenda.own.as_ref().filter(|own| own.booked.is_some())
        {
            // It is where it was booked.
            let booked_at = self.call.tenant.rooftops.iter().find(|rooftop| rooftop.name == own.rooftop);
            visit.rooftop = booked_at.or(visit.rooftop);
        }
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
