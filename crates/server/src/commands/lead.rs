//! `forecourt lead list`: what shoppers asked of a dealer.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use store::{Store, StoredAppointment, StoredLead, StoredNote};
use uuid::Uuid;

use crate::commands::{explain, open_store, run_on_data};
use crate::failure::Failure;
use crate::output::say;
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
        tx.commit().await?;
        Ok(Some(Leads { leads, notes, appointments }))
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
        let customer =
            ["first_name", "last_name", "email", "phone"].map(|key| text(&format!("/customer/{key}")));
        let mut lines = vec![
            format!(
                "{}  lead_{}  {}",
                time(lead.received_at),
                lead.lead_id.simple(),
                printable(&lead.caller)
            ),
            format!("  {}", joined(&customer)),
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
            let at = one.start_at.map_or(String::new(), |at| format!(" {}", time(at)));
            lines.push(format!("  {} at {}: {}{at}", one.kind, printable(&one.rooftop), one.status));
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
        let said = notes.iter().map(|one| read(&one.request));
        for message in std::iter::once(request.clone()).chain(said) {
            if let Some(message) = message.get("message").and_then(Value::as_str) {
                lines.push(format!("  says: {}", printable(message)));
            }
        }
        lines
    }
}

fn read(request: &str) -> Value {
    serde_json::from_str(request).unwrap_or(Value::Null)
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn joined<T: AsRef<str>>(words: &[T]) -> String {
    let words = words.iter().map(|word| printable(word.as_ref())).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A stranger's text on one line, and nothing in it that a terminal would obey.
fn printable(text: &str) -> String {
    let line: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    harmless(line.trim())
}

/// The text with signs that nobody sees, or that turn others round, as the escapes of JSON; in a JSON document it is
/// the same document.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_hidden(char) {
            let mut units = [0; 2];
            out.extend(char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(char);
        }
    }
    out
}

/// Whether a character is of Unicode's categories Cc or Cf, or breaks a line.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_shown_in_lines_that_no_text_of_a_shopper_breaks() {
        let id = Uuid::now_v7();
        let at = "2026-11-30T09:15:00Z".parse().unwrap();
        let request = json!({
            "customer": {"first_name": "No\u{1b}[2Jor", "last_name": "Had\u{202e}dad\u{0}", "email": "noor@mail.example"},
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
            request: json!({"message": "Three\u{e0041}", "appointment": {"appointment_type": "sales"}})
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
        };
        let leads = Leads { leads: vec![lead.clone()], notes: vec![note], appointments: vec![appointment] };
        let lines = leads.lines(&lead);
        assert_eq!(
            lines[1..],
            [
                "  No [2Jor Had\\u202edad noor@mail.example",
                "  wants: 2024 Honda CR-V",
                "  test_drive at Main: confirmed 2026-11-30T09:15:00Z",
                "  also from agent:cuckoo asks for: sales",
                "  says: One Two",
                "  says: Three\\udb40\\udc41",
            ]
        );
        assert!(lines[0].starts_with(&format!("2026-11-30T09:15:00Z  lead_{}", id.simple())), "{}", lines[0]);
        let document = leads.document(&lead);
        assert_eq!(document["request"], request);
        assert_eq!(document["sent_again"][0]["request"]["message"], "Three\u{e0041}");
        // On a terminal it is harmless, and it is the same document.
        let shown = harmless(&document.to_string());
        assert!(!shown.contains(is_hidden), "{shown}");
        assert_eq!(read(&shown), document);
        assert_eq!(document["appointments"][0]["status"], "confirmed");
    }
}
