//! `forecourt lead list`: what shoppers asked of a dealer.

use std::collections::HashMap;

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use store::{Store, StoredAppointment, StoredLead, StoredNote};
use uuid::Uuid;

use crate::commands::{explain, open_store, run_on_data};
use crate::failure::Failure;
use crate::output::{harmless, printable, say};
use crate::settings::Settings;

/// What is to be shown.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Of which dealer.
    pub(crate) slug: String,
    /// At most so many, the newest.
    pub(crate) limit: u32,
    /// As JSON, one lead a line.
    pub(crate) json: bool,
}

/// Shows them, newest first.
///
/// # Errors
/// The dealer is not there, or the database refuses.
pub(crate) fn run(settings: &Settings, wanted: Wanted) -> Result<(), Failure> {
    run_on_data(settings, "forecourt lead", |database| async move {
        let store = open_store(&database, settings).await?;
        let read = Leads::read(&store, &wanted).await;
        store.close().await;
        match read.map_err(|error| explain(&database, &error))? {
            Some(leads) => {
                leads.show(&wanted);
                Ok(())
            }
            None => Err(Failure::new(format!("there is no dealer {}", wanted.slug))
                .advise("dealers are brought in with `forecourt provision`")),
        }
    })
}

struct Leads {
    leads: Vec<StoredLead>,
    notes: Vec<StoredNote>,
    appointments: Vec<StoredAppointment>,
    /// Zones of the rooftops, by name: visits are shown as the dealer's clocks show them.
    zones: HashMap<String, Tz>,
}

impl Leads {
    async fn read(store: &Store, wanted: &Wanted) -> Result<Option<Leads>, store::Error> {
        let mut platform = store.platform().await?;
        let id = platform.tenant_by_slug(&wanted.slug).await?;
        platform.commit().await?;
        let Some(id) = id else { return Ok(None) };
        let mut tx = store.tenant_snapshot(id).await?;
        let leads = tx.newest_leads(wanted.limit).await?;
        let ids: Vec<Uuid> = leads.iter().map(|lead| lead.lead_id).collect();
        let notes = tx.notes_of(&ids).await?;
        let appointments = tx.appointments_of(&ids).await?;
        let rooftops = tx.rooftops().await?;
        tx.commit().await?;
        let zones = rooftops.into_iter().filter_map(|rooftop| {
            let zone = rooftop.profile.get("timezone").and_then(Value::as_str)?.parse().ok()?;
            Some((rooftop.name, zone))
        });
        Ok(Some(Leads { leads, notes, appointments, zones: zones.collect() }))
    }

    fn show(&self, wanted: &Wanted) {
        if self.leads.is_empty() && !wanted.json {
            say(format_args!("{} has no leads", wanted.slug));
        }
        for lead in &self.leads {
            if wanted.json {
                say(harmless(&self.document(lead).to_string()));
            } else {
                self.lines(lead).iter().for_each(say);
            }
        }
    }

    fn document(&self, lead: &StoredLead) -> Value {
        let appointments = self.appointments.iter().filter(|one| one.lead_id == lead.lead_id);
        let notes = self.notes.iter().filter(|one| one.lead_id == lead.lead_id);
        json!({
            "lead_id": format!("lead_{}", lead.lead_id.simple()),
            "received_at": time(lead.received_at),
            "contract": lead.contract,
            "door": lead.door,
            "caller": lead.caller,
            "status": lead.status,
            "rooftop": lead.rooftop,
            "request": read(&lead.request),
            "appointments": appointments.map(|one| json!({
                "appointment_id": format!("appt_{}", one.appointment_id.simple()),
                "appointment_type": one.kind,
                "status": one.status,
                "rooftop": one.rooftop,
                "start_at": one.start_at.map(time),
                "end_at": one.end_at.map(time),
                "proposed_times": one.proposed.iter().copied().map(time).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "sent_again": notes.map(|one| json!({
                "received_at": time(one.received_at),
                "caller": one.caller,
                "request": read(&one.request),
            })).collect::<Vec<_>>(),
        })
    }

    fn lines(&self, lead: &StoredLead) -> Vec<String> {
        let request = read(&lead.request);
        let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let allowed = Consent::of(&request);
        let contact = |key: &str, channels: &[&str]| {
            let contact = printable(text(&format!("/customer/{key}")));
            let is_open = contact.is_empty() || allowed.covers(channels);
            if is_open { contact } else { format!("{contact} (not to be used: no consent)") }
        };
        let customer = [
            printable(text("/customer/first_name")),
            printable(text("/customer/last_name")),
            contact("email", &["email"]),
            contact("phone", &["phone", "sms"]),
        ];
        let mut lines = vec![
            format!(
                "{}  lead_{}  {}",
                time(lead.received_at),
                lead.lead_id.simple(),
                printable(&lead.caller)
            ),
            format!("  {}", spaced(customer)),
            format!("  agreed to be contacted by: {}", allowed.words()),
        ];
        for (title, member) in [("wants", "vehicle_of_interest"), ("trades in", "trade_in")] {
            let Some(vehicle) = request.get(member) else { continue };
            let known = ["year", "make", "model", "trim", "stock", "vin", "vehicle_id"].map(|key| {
                let value = vehicle.get(key);
                value.map_or(String::new(), |value| value.as_str().map_or(value.to_string(), str::to_owned))
            });
            lines.push(format!("  {title}: {}", joined(&known)));
        }
        for one in self.appointments.iter().filter(|one| one.lead_id == lead.lead_id) {
            lines.push(format!("  {} at {}: {}", one.kind, printable(&one.rooftop), self.visit(one)));
        }
        let notes: Vec<_> = self.notes.iter().filter(|one| one.lead_id == lead.lead_id).collect();
        for note in notes.iter().filter(|note| note.caller != lead.caller) {
            // Nothing is booked for anybody but the sender of the lead.
            let asked = read(&note.request);
            let word = |pointer: &str| asked.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let visit = ["/appointment/appointment_type", "/appointment/appointment_at"].map(word);
            let visit = joined(&visit);
            let wish = if visit.is_empty() { String::new() } else { format!(" asks for: {visit}") };
            lines.push(format!("  also from {}{wish}", printable(&note.caller)));
        }
        let mut agreed = vec![allowed.words()];
        let mut said: Vec<String> = Vec::new();
        for request in std::iter::once(request.clone()).chain(notes.iter().map(|one| read(&one.request))) {
            let consent = Consent::of(&request).words();
            if !agreed.contains(&consent) {
                lines.push(format!("  sent again, agreed to be contacted by: {consent}"));
                agreed.push(consent);
            }
            // The same words sent again are the same words.
            let message = request.get("message").and_then(Value::as_str).map(printable);
            said.extend(message.filter(|message| !said.contains(message)).into_iter().collect::<Vec<_>>());
        }
        lines.extend(said.iter().map(|message| format!("  says: {message}")));
        lines
    }

    /// What became of a visit: booked when, or what was asked for and what could be had instead.
    fn visit(&self, one: &StoredAppointment) -> String {
        let zone = self.zones.get(&one.rooftop).copied().unwrap_or(Tz::UTC);
        let local = |at: DateTime<Utc>| at.with_timezone(&zone).format("%Y-%m-%d %H:%M %Z").to_string();
        let asked = one.start_at.map(local);
        match (one.status.as_str(), asked) {
            ("confirmed", Some(at)) => format!("confirmed {at}"),
            (status, asked) => {
                let times: Vec<String> = one.proposed.iter().copied().map(local).collect();
                let times = if times.is_empty() { String::new() } else { format!(" {}", times.join(", ")) };
                let asked = asked.map_or(String::new(), |at| format!("; asked for {at}"));
                format!("{status}{times}{asked}")
            }
        }
    }
}

/// How a shopper agreed to be contacted.
struct Consent {
    channels: Vec<String>,
    until: Option<String>,
}

impl Consent {
    fn of(request: &Value) -> Consent {
        let listed = request.pointer("/consent/allowed_channels").and_then(Value::as_array);
        let channels = listed.into_iter().flatten().filter_map(Value::as_str).map(printable).collect();
        let until = request.pointer("/consent/expires_at").and_then(Value::as_str).map(printable);
        Consent { channels, until }
    }

    fn covers(&self, any: &[&str]) -> bool {
        self.channels.iter().any(|channel| any.contains(&channel.as_str()))
    }

    fn words(&self) -> String {
        let channels = if self.channels.is_empty() { "nothing".to_owned() } else { self.channels.join(", ") };
        self.until.as_ref().map_or_else(|| channels.clone(), |until| format!("{channels} (until {until})"))
    }
}

fn read(request: &str) -> Value {
    serde_json::from_str(request).unwrap_or(Value::Null)
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn joined<T: AsRef<str>>(words: &[T]) -> String {
    spaced(words.iter().map(|word| printable(word.as_ref())))
}

/// Printable words, without those that are empty.
fn spaced(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::is_hidden;

    #[test]
    fn a_lead_is_shown_in_lines_that_no_text_of_a_shopper_breaks() {
        let id = Uuid::now_v7();
        let at = "2026-11-30T09:15:00Z".parse().unwrap();
        let request = json!({
            "customer": {"first_name": "No\u{1b}[2Jor", "last_name": "Had\u{202e}dad\u{0}", "email": "noor@mail.example",
                         "phone": "+13105550147"},
            "consent": {"allowed_channels": ["email"]},
            "vehicle_of_interest": {"year": 2024, "make": "Honda", "model": "CR-V"},
            "message": "One\nTwo",
        });
        let lead = StoredLead {
            lead_id: id,
            contract: "v3.0".into(),
            door: "a2a".into(),
            caller: "agent:pelican".into(),
            received_at: at,
            status: "received".into(),
            rooftop: Some("Main".into()),
            request: request.to_string(),
        };
        let note = StoredNote {
            lead_id: id,
            received_at: at,
            caller: "agent:cuckoo".into(),
            request: json!({"message": "Three\u{e0041}", "appointment": {"appointment_type": "sales"},
                            "consent": {"allowed_channels": ["email"]}})
            .to_string(),
        };
        let appointment = StoredAppointment {
            appointment_id: id,
            lead_id: id,
            rooftop: "Main".into(),
            kind: "test_drive".into(),
            status: "confirmed".into(),
            start_at: Some(at),
            end_at: None,
            proposed: Vec::new(),
        };
        let declined = StoredAppointment {
            kind: "sales".into(),
            status: "proposed".into(),
            proposed: vec!["2026-11-30T17:00:00Z".parse().unwrap(), "2026-11-30T17:30:00Z".parse().unwrap()],
            ..appointment.clone()
        };
        let again = StoredNote {
            caller: lead.caller.clone(),
            request: json!({"message": "One\nTwo", "consent": {"allowed_channels": ["email", "sms"],
                            "expires_at": "2027-01-01T00:00:00Z"}})
            .to_string(),
            ..note.clone()
        };
        let leads = Leads {
            leads: vec![lead.clone()],
            notes: vec![again, note],
            appointments: vec![appointment, declined],
            zones: HashMap::from([("Main".to_owned(), Tz::America__Los_Angeles)]),
        };
        let lines = leads.lines(&lead);
        assert_eq!(
            lines[1..],
            [
                "  No [2Jor Had\\u202edad noor@mail.example +13105550147 (not to be used: no consent)",
                "  agreed to be contacted by: email",
                "  wants: 2024 Honda CR-V",
                "  test_drive at Main: confirmed 2026-11-30 01:15 PST",
                "  sales at Main: proposed 2026-11-30 09:00 PST, 2026-11-30 09:30 PST; asked for 2026-11-30 01:15 PST",
                "  also from agent:cuckoo asks for: sales",
                "  sent again, agreed to be contacted by: email, sms (until 2027-01-01T00:00:00Z)",
                "  says: One Two",
                "  says: Three\\udb40\\udc41",
            ]
        );
        assert!(lines[0].starts_with(&format!("2026-11-30T09:15:00Z  lead_{}", id.simple())), "{}", lines[0]);
        let document = leads.document(&lead);
        assert_eq!(document["request"], request);
        assert_eq!(document["sent_again"][1]["request"]["message"], "Three\u{e0041}");
        // On a terminal it is harmless, and it is the same document.
        let shown = harmless(&document.to_string());
        assert!(!shown.contains(is_hidden), "{shown}");
        assert_eq!(read(&shown), document);
        assert_eq!(document["appointments"][0]["status"], "confirmed");
        assert_eq!(document["appointments"][1]["proposed_times"][0], "2026-11-30T17:00:00Z");
    }
}
