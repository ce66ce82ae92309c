//! The payload that answers a lead.

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use contract::payload::LeadSubmitRequest;
use contract::{Fault, SkillId};
use serde::Serialize;
use uuid::Uuid;

use super::visit::{Settled, SettledVisit};
use super::{consent, wording};
use crate::tenant::Tenant;

#[derive(Serialize)]
struct Payload<'a> {
    r#type: &'a str,
    data: Data<'a>,
    message: String,
}

#[derive(Serialize)]
struct Data<'a> {
    lead_id: String,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    appointment: Option<Appointment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dealer: Option<Contact<'a>>,
}

#[derive(Serialize)]
struct Appointment<'a> {
    appointment_id: String,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_times: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Contact<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<&'a str>,
}

/// The payload `{"type", "data", "message"}`, JSON.
pub(super) fn payload(
    tenant: &Tenant,
    request: &LeadSubmitRequest,
    lead_id: Uuid,
    is_new: bool,
    visit: Option<&SettledVisit<'_>>,
) -> Result<String, Fault> {
    let rooftop = visit.and_then(|visit| visit.visit.rooftop);
    let name = rooftop.map_or(tenant.name.as_str(), |rooftop| &rooftop.name);
    let phone = visit.and_then(|visit| rooftop?.phone(visit.visit.department));
    let payload = Payload {
        r#type: SkillId::LeadSubmit.spec().response_type,
        data: Data {
            lead_id: format!("lead_{}", lead_id.simple()),
            status: if is_new { "received" } else { "duplicate" },
            appointment: visit.map(appointment),
            dealer: visit.map(|_| Contact { name, phone }),
        },
        message: wording::note(
            name,
            is_new,
            visit.map(|visit| (visit.visit.kind, visit.wording())),
            consent::way(request, &tenant.policy),
            tenant.sandbox,
        ),
    };
    serde_json::to_string(&payload).map_err(Fault::internal)
}

fn appointment<'a>(visit: &SettledVisit<'_>) -> Appointment<'a> {
    let (confirmed_at, proposed_times) = match &visit.settled {
        Settled::Confirmed(span, zone) => (Some(written(span.start, *zone)), None),
        Settled::Proposed(times, zone) => {
            (None, Some(times.iter().map(|time| written(*time, *zone)).collect()))
        }
        Settled::Requested | Settled::Rejected => (None, None),
    };
    Appointment {
        appointment_id: format!("appt_{}", visit.id.simple()),
        status: visit.settled.as_str(),
        confirmed_at,
        proposed_times,
    }
}

fn written(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::AutoSi, false)
}
