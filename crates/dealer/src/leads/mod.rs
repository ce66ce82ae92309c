//! Leads: taken once, kept whole, answered the same however often they are sent (AAP.md 7.6, 9 to 11).
//!
//! What a lead stands for is decided in one transaction that holds the turns of its key, its shopper with this
//! vehicle, and the agenda that it wants to be in. Nobody else can decide about the same meanwhile, on any node.

mod appointment;
mod consent;
mod fingerprint;
mod hours;
mod lanes;
mod rooftop;
mod visit;
mod wording;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use chrono_tz::Tz;
use contract::payload::{LeadSubmitRequest, PreferredContact};
use contract::{Fault, FaultCode, SkillId, Violation, canonical, refusal};
use serde_json::{Value, json};
use store::{Agenda, AgendaWanted, AppointmentWrite, KeyWrite, KnownKey, LeadWrite, TenantTx, TurnWanted};
use uuid::Uuid;

use crate::policy::Policy;
use crate::{Call, Dealer};
use visit::{Settled, Visit};

pub(crate) use lanes::Lanes;
pub(crate) use rooftop::Rooftop;

/// No window is longer, whatever a policy says.
const LONGEST_WINDOW: u32 = 10 * 365 * 24;
/// Most characters that are kept of who sent a lead; all of it stands in the request.
const MOST_OF_A_NAME: usize = 200;

/// What is wrong with a lead beyond its schema; also for one that breaks it, since all problems are told at once.
pub(crate) fn problems(payload: &Value, policy: &Policy) -> Vec<Violation> {
    consent::problems(payload, policy, Utc::now())
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
    let lead = Lead { call, request, hash: canonical::hash(payload), now: Utc::now() };
    let answer = match lead.judged(dealer, payload).await {
        Ok((visit, stands_at)) => lead.taken(dealer, payload, visit, stands_at.as_deref()).await?,
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
        tx.rollback().await.map_err(Fault::internal)?;
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
        let _held = dealer.inner.lanes.enter(&turns).await;
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
            tx.rollback().await.map_err(Fault::internal)?;
            return self.replayed(known);
        }
        let lead_id = turn.earlier.unwrap_or_else(Uuid::now_v7);
        let settled = match visit {
            Some(visit) => Some(self.settled(&mut tx, visit, turn.earlier).await?),
            None => None,
        };
        let answer = self.answer(lead_id, turn.earlier.is_none(), settled.as_ref());

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
        Ok(answer)
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

    /// The payload `{"type", "data", "message"}`.
    fn answer(&self, lead_id: Uuid, is_new: bool, visit: Option<&SettledVisit<'_>>) -> String {
        let tenant = &self.call.tenant;
        let mut data = json!({
            "lead_id": format!("lead_{}", lead_id.simple()),
            "status": if is_new { "received" } else { "duplicate" },
        });
        let mut name = tenant.name.as_str();
        if let Some(visit) = visit {
            data["appointment"] = visit.wire();
            if let Some(rooftop) = visit.visit.rooftop {
                name = &rooftop.name;
            }
            data["dealer"] = json!({ "name": name });
            if let Some(phone) = visit.visit.rooftop.and_then(|rooftop| rooftop.phone(visit.visit.department))
            {
                data["dealer"]["phone"] = phone.into();
            }
        }
        let customer = &self.request.customer;
        let way = consent::way(
            customer.preferred_contact.and_then(PreferredContact::channel),
            &self.request.consent.allowed_channels,
            customer.email.is_some(),
            customer.phone.is_some(),
            &tenant.policy,
        );
        let wording = visit.map(|visit| (visit.visit.kind, visit.wording()));
        json!({
            "type": SkillId::LeadSubmit.spec().response_type,
            "data": data,
            "message": wording::note(name, is_new, wording, way, tenant.sandbox),
        })
        .to_string()
    }
}

/// A visit and what became of it.
struct SettledVisit<'a> {
    visit: Visit<'a>,
    settled: Settled,
    /// Its id, which it keeps when it is moved.
    id: Uuid,
    agenda: Agenda,
}

impl SettledVisit<'_> {
    /// When the same visit is booked already.
    fn booked(&self) -> Option<DateTime<Utc>> {
        self.agenda.own.as_ref().and_then(|own| own.booked).map(|(start, _)| start)
    }

    fn wording(&self) -> wording::Visit {
        self.settled.wording(self.booked(), self.visit.rooftop.and_then(|rooftop| rooftop.zone))
    }

    /// As it is answered.
    fn wire(&self) -> Value {
        let mut wire = json!({
            "appointment_id": format!("appt_{}", self.id.simple()),
            "status": self.settled.as_str(),
        });
        match &self.settled {
            Settled::Confirmed(span, zone) => wire["confirmed_at"] = written(span.start, *zone).into(),
            Settled::Proposed(times, zone) => {
                wire["proposed_times"] = times.iter().map(|time| written(*time, *zone)).collect();
            }
            Settled::Requested | Settled::Rejected => {}
        }
        wire
    }

    /// Stores it. What is booked stays booked until another time of the same visit is.
    async fn book(&self, tx: &mut TenantTx, lead_id: Uuid, now: DateTime<Utc>) -> Result<(), store::Error> {
        let (span, proposed) = match &self.settled {
            Settled::Confirmed(span, _) => (Some((span.start, span.end)), &[][..]),
            _ if self.booked().is_some() => return Ok(()),
            Settled::Proposed(times, _) => (self.visit.asked(), times.as_slice()),
            Settled::Requested | Settled::Rejected => (self.visit.asked(), &[][..]),
        };
        tx.book(&AppointmentWrite {
            appointment_id: self.id,
            lead_id,
            rooftop: self.visit.rooftop.map_or("", |rooftop| &rooftop.name),
            department: self.visit.department.as_str(),
            kind: self.visit.kind.as_str(),
            status: self.settled.as_str(),
            span,
            proposed,
            asked_at: now,
        })
        .await
    }
}

fn written(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

fn hours(window: u32) -> TimeDelta {
    TimeDelta::hours(i64::from(window.min(LONGEST_WINDOW)))
}

/// A name as PostgreSQL can hold it, and not endless.
fn storable(name: &str) -> String {
    name.chars().take(MOST_OF_A_NAME).map(|char| if char == '\0' { '\u{2400}' } else { char }).collect()
}
