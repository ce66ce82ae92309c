//! A visit that a lead asks for: to which rooftop and department, and what becomes of it.

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use chrono_tz::Tz;
use contract::payload::{AppointmentRequest, AppointmentType, LeadSubmitRequest, WantedVehicle, instant};
use contract::{Fault, FaultCode, Violation};
use inventory::Found;
use serde::Deserialize;
use store::{Agenda, AppointmentWrite, TenantTx};
use uuid::Uuid;

use super::appointment::{Outcome, Rules};
use super::hours::{Hours, Span};
use super::rooftop::{Department, Hosting, Rooftop};
use super::wording;
use crate::policy::{Appointments, Policy};
use crate::tenant::Tenant;
use crate::{Call, Dealer};

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    pub(crate) kind: AppointmentType,
    pub(crate) department: Department,
    /// `None` where the dealer has no rooftop at all.
    pub(crate) rooftop: Option<&'a Rooftop>,
    /// Begin, and how long.
    pub(crate) at: Option<DateTime<Utc>>,
    pub(crate) length: TimeDelta,
    plan: Plan<'a>,
}

/// How it will be decided.
#[derive(Debug)]
enum Plan<'a> {
    /// Nobody is there for it.
    Reject,
    /// People decide.
    Ask,
    /// It cannot be had, and the dealer proposes nothing.
    Refuse,
    /// By hours and agenda.
    Look(Hours<'a>, DateTime<Utc>),
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// People decide.
    Requested,
    /// Nobody is there for it.
    Rejected,
    /// Booked.
    Confirmed(Span, Tz),
    /// These can be had instead.
    Proposed(Vec<DateTime<Utc>>, Tz),
}

impl<'a> Visit<'a> {
    /// Reads what a lead asks for; `stands_at` is the rooftop of the unit that it is about, where that is known.
    ///
    /// # Errors
    /// A time that cannot be read.
    pub(crate) fn of(
        tenant: &'a Tenant,
        asked: &AppointmentRequest,
        stands_at: Option<&str>,
    ) -> Result<Visit<'a>, Fault> {
        let policy = &tenant.policy;
        let at = match asked.appointment_at.as_deref().map(instant) {
            Some(None) => {
                let violation =
                    Violation::new("/appointment/appointment_at", "format", "is no moment in time");
                return Err(Fault::validation(vec![violation]));
            }
            // No more of it than is kept.
            Some(Some(at)) => Some(at.to_utc().trunc_subsecs(6)),
            None => None,
        };
        let department = Department::of(asked.appointment_type);
        let rooftop = rooftop(&tenant.rooftops, stands_at, department);
        let hosting = rooftop.map_or(Hosting::HoursUnknown, |rooftop| rooftop.hosting(department));
        let plan = match (hosting, policy.appointments, at) {
            (Hosting::Nobody, ..) => Plan::Reject,
            (_, Appointments::Manual, _) | (_, _, None) => Plan::Ask,
            (Hosting::Hours(week), _, Some(at)) => match rooftop.and_then(|r| Some((r, r.zone?))) {
                Some((rooftop, zone)) => Plan::Look(Hours { rooftop, week, zone }, at),
                None => Plan::without_hours(policy),
            },
            (Hosting::HoursUnknown, ..) => Plan::without_hours(policy),
        };
        let length = Rules::length(policy, asked.duration_minutes);
        Ok(Visit { kind: asked.appointment_type, department, rooftop, at, length, plan })
    }

    /// The rooftop whose agenda decides, if one does.
    pub(crate) fn agenda(&self) -> Option<(&'a str, Department)> {
        match &self.plan {
            Plan::Look(hours, _) => Some((&hours.rooftop.name, self.department)),
            _ => None,
        }
    }

    /// Decides, by what is booked.
    ///
    /// # Errors
    /// `APPOINTMENT_TIME_UNAVAILABLE` at a dealer that proposes nothing.
    pub(crate) fn settle(
        &self,
        agenda: &Agenda,
        policy: &Policy,
        now: DateTime<Utc>,
    ) -> Result<Settled, Fault> {
        let (hours, at) = match &self.plan {
            Plan::Reject => return Ok(Settled::Rejected),
            Plan::Ask => return Ok(self.standing(agenda).unwrap_or(Settled::Requested)),
            Plan::Refuse => return unavailable(),
            Plan::Look(hours, at) => (*hours, *at),
        };
        let taken: Vec<_> = agenda.taken.iter().map(|&(start, end)| Span { start, end }).collect();
        let is_strict = policy.appointments == Appointments::Strict;
        match Rules::new(policy, now).settle(hours, &taken, at, self.length) {
            Outcome::Free(span) => Ok(Settled::Confirmed(span, hours.zone)),
            Outcome::Others(_) | Outcome::Nothing if is_strict => unavailable(),
            Outcome::Others(times) => Ok(Settled::Proposed(times, hours.zone)),
            Outcome::Nothing => Ok(Settled::Requested),
        }
    }

    /// The visit that is booked already, for a wish that names no time.
    fn standing(&self, agenda: &Agenda) -> Option<Settled> {
        let (start, end) = agenda.own.as_ref()?.booked.filter(|_| self.at.is_none())?;
        let zone = self.rooftop.and_then(|rooftop| rooftop.zone).unwrap_or(Tz::UTC);
        Some(Settled::Confirmed(Span { start, end }, zone))
    }

    /// Decides for somebody who must not learn what is booked for the lead: people do.
    ///
    /// # Errors
    /// `APPOINTMENT_TIME_UNAVAILABLE` where that does not depend on what is booked.
    pub(crate) fn settle_unseen(&self) -> Result<Settled, Fault> {
        match &self.plan {
            Plan::Reject => Ok(Settled::Rejected),
            Plan::Ask | Plan::Look(..) => Ok(Settled::Requested),
            Plan::Refuse => unavailable(),
        }
    }

    /// Begin and end that were asked for, as far as there are such moments.
    pub(crate) fn asked(&self) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let at = self.at?;
        Some((at, at.checked_add_signed(self.length)?))
    }
}

fn unavailable<T>() -> Result<T, Fault> {
    let message = "This dealer cannot keep that time; nothing was booked and nothing was stored.";
    Err(Fault::new(FaultCode::AppointmentTimeUnavailable, message))
}

impl Plan<'_> {
    /// Without hours, or a zone that says when they are, no time can be promised.
    fn without_hours(policy: &Policy) -> Self {
        match policy.appointments {
            Appointments::Strict => Plan::Refuse,
            Appointments::Auto | Appointments::Manual => Plan::Ask,
        }
    }
}

impl Settled {
    /// The name on the wire.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Settled::Requested => "requested",
            Settled::Rejected => "rejected",
            Settled::Confirmed(..) => "confirmed",
            Settled::Proposed(..) => "proposed",
        }
    }

    /// For a sentence about it, beside what the same lead has booked before.
    pub(crate) fn wording(&self, booked: Option<DateTime<Utc>>, zone: Option<Tz>) -> wording::Visit {
        let stands = booked.zip(zone);
        match self {
            Settled::Requested => wording::Visit::Requested(stands),
            Settled::Rejected => wording::Visit::Rejected,
            Settled::Confirmed(span, zone) => wording::Visit::Confirmed(span.start, *zone),
            Settled::Proposed(times, _) => wording::Visit::Proposed(times.len(), stands),
        }
    }
}

/// A visit and what became of it.
pub(crate) struct SettledVisit<'a> {
    pub(crate) visit: Visit<'a>,
    pub(crate) settled: Settled,
    /// Its id, which it keeps when it is moved.
    pub(crate) id: Uuid,
    pub(crate) agenda: Agenda,
}

impl SettledVisit<'_> {
    /// When the same visit is booked already.
    fn booked(&self) -> Option<DateTime<Utc>> {
        self.agenda.own.as_ref().and_then(|own| own.booked).map(|(start, _)| start)
    }

    pub(crate) fn wording(&self) -> wording::Visit {
        self.settled.wording(self.booked(), self.visit.rooftop.and_then(|rooftop| rooftop.zone))
    }

    /// Stores it. What is booked stays booked until another time of the same visit is.
    pub(crate) async fn book(
        &self,
        tx: &mut TenantTx,
        lead_id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<(), store::Error> {
        let (span, proposed) = match &self.settled {
            Settled::Confirmed(span, _) if self.visit.at.is_some() => (Some((span.start, span.end)), &[][..]),
            _ if self.booked().is_some() => return Ok(()),
            Settled::Proposed(times, _) => (self.visit.asked(), times.as_slice()),
            Settled::Confirmed(..) | Settled::Requested | Settled::Rejected => (self.visit.asked(), &[][..]),
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

/// The vehicle's rooftop; else the first that has the department, else the first.
fn rooftop<'a>(
    rooftops: &'a [Rooftop],
    stands_at: Option<&str>,
    department: Department,
) -> Option<&'a Rooftop> {
    let of_vehicle = stands_at.and_then(|name| rooftops.iter().find(|rooftop| rooftop.is_called(name)));
    of_vehicle
        .or_else(|| rooftops.iter().find(|rooftop| rooftop.hosting(department) != Hosting::Nobody))
        .or_else(|| rooftops.first())
}

/// The name of the rooftop where the vehicle of interest stands, if that can be told.
///
/// # Errors
/// For a test drive with an identifier (AAP.md 7.6): `VEHICLE_NOT_FOUND`, `VEHICLE_UNAVAILABLE`. Any other lead is
/// taken, whatever is known of its vehicle.
pub(crate) async fn stands_at(
    dealer: &Dealer,
    call: &Call,
    request: &LeadSubmitRequest,
) -> Result<Option<String>, Fault> {
    let Some(vehicle) = &request.vehicle_of_interest else { return Ok(None) };
    let named = vehicle.rooftop.clone();
    let Some(visit) = request.appointment.as_ref().filter(|_| vehicle.has_identifier()) else {
        return Ok(named);
    };
    let must_be_there = visit.appointment_type == AppointmentType::TestDrive;
    let view = match dealer.inner.lot(call).await {
        Ok(view) => view,
        Err(fault) if must_be_there => return Err(fault),
        Err(_) => return Ok(named),
    };
    let WantedVehicle { vin, vehicle_id, stock, .. } = vehicle;
    match inventory::find(&view.current.snapshot, vin.as_deref(), vehicle_id.as_deref(), stock.as_deref()) {
        Found::Live { document, .. } => {
            #[derive(Deserialize)]
            struct Place {
                rooftop: Option<String>,
            }
            let place: Option<Place> = serde_json::from_str(document).ok();
            Ok(place.and_then(|place| place.rooftop).or(named))
        }
        Found::Removed if must_be_there => Err(Fault::new(
            FaultCode::VehicleUnavailable,
            "That vehicle is no longer offered by this dealer.",
        )),
        Found::Nothing if must_be_there => {
            Err(Fault::new(FaultCode::VehicleNotFound, "No listing matches the given identifiers."))
        }
        Found::Removed | Found::Nothing => Ok(named),
    }
}

/// The id of an appointment, new or that of the visit which is moved.
pub(crate) fn id_of(agenda: &Agenda) -> Uuid {
    agenda.own.as_ref().map_or_else(Uuid::now_v7, |own| own.appointment_id)
}
