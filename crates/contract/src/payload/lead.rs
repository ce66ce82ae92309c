//! The request of `lead.submit`, as far as it decides anything. What is only passed on stays in the payload.

use chrono::{DateTime, FixedOffset, TimeDelta, Timelike};
use serde::Deserialize;

use super::whole;

/// `lead.submit.request` (AAP.md 7.6).
#[derive(Debug, Clone, Deserialize)]
pub struct LeadSubmitRequest {
    /// Who wants to be contacted.
    pub customer: Customer,
    /// The permission.
    pub consent: ConsentGrant,
    /// The vehicle that the shopper wants.
    pub vehicle_of_interest: Option<WantedVehicle>,
    /// A visit to arrange.
    pub appointment: Option<AppointmentRequest>,
    /// Who sent the lead.
    pub source_agent: SourceAgent,
    /// By what the request is known again.
    pub idempotency_key: Option<String>,
}

/// How the shopper can be reached.
#[derive(Debug, Clone, Deserialize)]
pub struct Customer {
    /// Mail address.
    pub email: Option<String>,
    /// E.164.
    pub phone: Option<String>,
    /// How the shopper would like to be contacted.
    pub preferred_contact: Option<PreferredContact>,
}

/// How the shopper would like to be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreferredContact {
    /// By mail.
    Email,
    /// By a call.
    Phone,
    /// By a text to `phone`.
    Sms,
    /// However it suits.
    Any,
}

/// A way of reaching the shopper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContactChannel {
    /// Mail.
    Email,
    /// A call.
    Phone,
    /// A text message.
    Sms,
}

impl PreferredContact {
    /// The one channel that it names; `any` names none.
    pub const fn channel(self) -> Option<ContactChannel> {
        match self {
            Self::Email => Some(ContactChannel::Email),
            Self::Phone => Some(ContactChannel::Phone),
            Self::Sms => Some(ContactChannel::Sms),
            Self::Any => None,
        }
    }
}

/// The permission to be contacted (AAP.md 9). Times are as they were written; see [`instant`].
#[derive(Debug, Clone, Deserialize)]
pub struct ConsentGrant {
    /// When it was given.
    pub granted_at: String,
    /// Every channel but these is off limits.
    pub allowed_channels: Vec<ContactChannel>,
    /// The words that the shopper saw.
    pub consent_text: String,
    /// From when on it holds no longer.
    pub expires_at: Option<String>,
}

/// What a vehicle of a lead is known by. It may be much more or nothing at all.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct WantedVehicle {
    /// Vehicle identification number.
    pub vin: Option<String>,
    /// The dealer's stock number.
    pub stock: Option<String>,
    /// The dealer's id.
    pub vehicle_id: Option<String>,
    /// Model year.
    #[serde(default, deserialize_with = "whole")]
    pub year: Option<i64>,
    /// Make.
    pub make: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Name of the rooftop where it stands.
    pub rooftop: Option<String>,
}

impl WantedVehicle {
    /// Whether it names one unit.
    pub fn has_identifier(&self) -> bool {
        self.vin.is_some() || self.stock.is_some() || self.vehicle_id.is_some()
    }
}

/// A visit that is asked for (AAP.md 10).
#[derive(Debug, Clone, Deserialize)]
pub struct AppointmentRequest {
    /// What for.
    pub appointment_type: AppointmentType,
    /// When it should begin, as it was written; see [`instant`].
    pub appointment_at: Option<String>,
    /// How long it should last.
    #[serde(default, deserialize_with = "whole")]
    pub duration_minutes: Option<i64>,
}

/// What an appointment is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppointmentType {
    /// To talk about buying.
    Sales,
    /// At the workshop.
    Service,
    /// To drive the vehicle of interest.
    TestDrive,
    /// To have the trade-in appraised.
    TradeIn,
}

impl AppointmentType {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sales => "sales",
            Self::Service => "service",
            Self::TestDrive => "test_drive",
            Self::TradeIn => "trade_in",
        }
    }
}

/// The agent that sent the lead.
#[derive(Debug, Clone, Deserialize)]
pub struct SourceAgent {
    /// What it calls itself.
    pub name: String,
}

/// The moment that an RFC 3339 text names. A leap second is the second after it.
///
/// The schema's format check accepts nothing else; whoever gets `None` all the same refuses the text by the keyword
/// `format`.
pub fn instant(text: &str) -> Option<DateTime<FixedOffset>> {
    let at = DateTime::parse_from_rfc3339(text).ok()?;
    // A leap second is read as the second before it with more than a second's nanoseconds.
    match at.nanosecond().checked_sub(1_000_000_000) {
        None => Some(at),
        Some(nanos) => at.checked_add_signed(TimeDelta::seconds(1))?.with_nanosecond(nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_lead_is_read_whatever_else_stands_in_it() {
        let request: LeadSubmitRequest = serde_json::from_value(json!({
            "type": "lead.submit.request",
            "customer": {"first_name": "A", "last_name": "B\u{0}", "phone": "+13105550199", "preferred_contact": "any"},
            "consent": {"granted_at": "2026-11-30T08:55:00Z", "allowed_channels": ["sms"], "consent_text": "Yes.",
                "scope": ["lead_submission"]},
            "source_agent": {"name": "pelican", "url": "https://pelican.example/"},
            "vehicle_of_interest": {"year": 2024.0, "rooftop": null, "charge_port": null, "carfax": {"x": [1]}},
            "trade_in": {"make": "Mazda"},
            "appointment": {"appointment_type": "test_drive", "duration_minutes": 1e30, "notes": "…"},
            "submitted_at": "2026-11-30T08:55:09Z",
        }))
        .unwrap();
        let vehicle = request.vehicle_of_interest.unwrap();
        assert_eq!((vehicle.year, vehicle.has_identifier()), (Some(2024), false));
        let appointment = request.appointment.unwrap();
        assert_eq!(appointment.duration_minutes, Some(i64::MAX));
        assert_eq!(appointment.appointment_type.as_str(), "test_drive");
        assert_eq!(request.customer.preferred_contact.unwrap().channel(), None);
    }

    #[test]
    fn a_leap_second_is_the_second_after_it() {
        for (text, at) in [
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
            ("2016-12-31T15:59:60.25-08:00", "2017-01-01T00:00:00.25Z"),
            ("2016-12-31T23:59:59.999999999Z", "2016-12-31T23:59:59.999999999Z"),
        ] {
            let read = instant(text).unwrap();
            assert_eq!(read, instant(at).unwrap(), "{text}");
            assert!(read.nanosecond() < 1_000_000_000);
            assert!(!read.to_rfc3339().contains(":60"), "{read}");
        }
    }

    #[test]
    fn every_time_that_the_schemas_accept_is_a_moment() {
        let contract = crate::Contract::load(crate::ContractVersion::V3_0).unwrap();
        let accepted = |text: &str| {
            let appointment = json!({"appointment_type": "sales", "appointment_at": text});
            contract.check("appointment.schema.json", &appointment).is_ok()
        };
        let mut both = 0;
        for date in ["2026-12-08", "0000-01-01", "9999-12-31", "2024-02-29", "2026-02-29", "2016-12-31"] {
            for time in ["11:00:00", "23:59:60", "23:59:59.123456789012", "24:00:00", "00:00:00.5", "11:00"] {
                for offset in ["Z", "z", "-08:00", "+23:59", "-00:00", "+24:00", "", "+0800"] {
                    for between in ["T", "t", " ", "_"] {
                        let text = format!("{date}{between}{time}{offset}");
                        if accepted(&text) {
                            assert!(instant(&text).is_some(), "{text} is accepted and not read");
                            both += 1;
                        }
                    }
                }
            }
        }
        assert!(both > 50, "{both}");
    }
}
