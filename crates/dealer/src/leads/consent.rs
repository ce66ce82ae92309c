//! The consent gate (AAP.md 9), as far as no schema states it.

use chrono::{DateTime, TimeDelta, Utc};
use contract::Violation;
use contract::payload::{ContactChannel, LeadSubmitRequest, PreferredContact, instant};
use contract::refusal::CONSENT;
use serde_json::Value;

use crate::policy::{Channel, Policy};

/// Everything that is wrong with the consent of a lead, and a vehicle that a test drive lacks. Reads the payload and
/// not its type, since a payload that breaks its schema is to be told all of its problems too.
pub(crate) fn problems(payload: &Value, policy: &Policy, now: DateTime<Utc>) -> Vec<Violation> {
    let mut found = Vec::new();
    consent(payload, policy, now, &mut found);
    channels(payload, policy, &mut found);
    // It stands for what no text can hold, such as half of a surrogate pair: several keys would be taken for one.
    if payload.get("idempotency_key").and_then(Value::as_str).is_some_and(|key| key.contains('\u{fffd}')) {
        found.push(Violation::new(
            "/idempotency_key",
            "format",
            "must be of whole characters other than U+FFFD",
        ));
    }
    let visit = payload.pointer("/appointment/appointment_type").and_then(Value::as_str);
    if policy.test_drive_requires_vehicle
        && visit == Some("test_drive")
        && payload.get("vehicle_of_interest").is_none()
    {
        found.push(Violation::new("/vehicle_of_interest", "required", "is required for a test drive"));
    }
    found
}

fn consent(payload: &Value, policy: &Policy, now: DateTime<Utc>, found: &mut Vec<Violation>) {
    let text = |key: &str| payload.get("consent")?.get(key)?.as_str();
    let mut add = |key: &str, keyword: &'static str, message: &str| {
        found.push(Violation::new(format!("/consent/{key}"), keyword, message));
    };
    // What is empty breaks the schema already.
    if text("consent_text").is_some_and(|text| !text.is_empty() && text.chars().all(is_blank)) {
        add("consent_text", CONSENT, "must not be blank");
    }
    let granted = text("granted_at").and_then(instant);
    let skew = TimeDelta::seconds(i64::from(policy.consent_clock_skew_seconds));
    if granted.is_some_and(|granted| granted.to_utc() > now + skew) {
        add("granted_at", CONSENT, "must not be in the future");
    }
    if let Some(expires) = text("expires_at").and_then(instant) {
        if expires.to_utc() <= now {
            add("expires_at", CONSENT, "has passed");
        } else if granted.is_some_and(|granted| expires <= granted) {
            add("expires_at", CONSENT, "must be after granted_at");
        }
    }
}

/// Whether a character leaves nothing to be read: blanks, and the signs without width or form.
fn is_blank(char: char) -> bool {
    char.is_whitespace()
        || char.is_control()
        || matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Whether the dealer may get in touch by the channel that the shopper prefers, or by any at all.
fn channels(payload: &Value, policy: &Policy, found: &mut Vec<Violation>) {
    let allowed = payload.pointer("/consent/allowed_channels").and_then(Value::as_array);
    let Some(allowed) = allowed.filter(|list| !list.is_empty()) else { return };
    let is_allowed = |channel: &str| allowed.iter().any(|entry| entry.as_str() == Some(channel));
    let customer = |key: &str| payload.get("customer")?.get(key)?.as_str();
    match customer("preferred_contact") {
        Some(preferred @ ("email" | "phone" | "sms")) => {
            if !is_allowed(preferred) {
                let message = "must be one of the channels that the consent allows";
                found.push(Violation::new("/customer/preferred_contact", CONSENT, message));
            }
        }
        // Without any contact data the payload breaks its schema already.
        _ if customer("email").is_none() && customer("phone").is_none() => {}
        _ => {
            let usable = policy.follow_up_channels.iter().any(|channel| {
                let (name, contact) = match channel {
                    Channel::Email => ("email", "email"),
                    Channel::Phone => ("phone", "phone"),
                    Channel::Sms => ("sms", "phone"),
                };
                is_allowed(name) && customer(contact).is_some()
            });
            if !usable {
                let message =
                    "has no contact data for a channel that the consent allows and the dealer works";
                found.push(Violation::new("/customer", CONSENT, message));
            }
        }
    }
}

/// How the dealer will get in touch: as the shopper prefers if the dealer works that way and has what it takes, else
/// by the first way that is open. `None` where people have to see.
pub(crate) fn way(request: &LeadSubmitRequest, policy: &Policy) -> Option<ContactChannel> {
    let customer = &request.customer;
    let mut open = policy.follow_up_channels.iter().filter_map(|channel| {
        let (way, contact) = match channel {
            Channel::Email => (ContactChannel::Email, &customer.email),
            Channel::Phone => (ContactChannel::Phone, &customer.phone),
            Channel::Sms => (ContactChannel::Sms, &customer.phone),
        };
        (contact.is_some() && request.consent.allowed_channels.contains(&way)).then_some(way)
    });
    let first = open.next();
    let preferred = customer.preferred_contact.and_then(PreferredContact::channel);
    preferred.filter(|preferred| first == Some(*preferred) || open.any(|way| way == *preferred)).or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: &str = "2026-12-01T18:00:00Z";

    fn lead() -> Value {
        json!({
            "customer": {"first_name": "Noor", "last_name": "Haddad", "email": "noor@mail.example"},
            "consent": {"granted_at": "2026-12-01T17:00:00Z", "allowed_channels": ["email"],
                "consent_text": "Write to me.", "scope": ["lead_submission"]},
        })
    }

    fn found(payload: &Value, policy: &Policy) -> Vec<String> {
        let all = problems(payload, policy, NOW.parse().unwrap());
        all.into_iter().map(|violation| format!("{} {}", violation.location, violation.keyword)).collect()
    }

    #[track_caller]
    fn with(pointer: &str, value: Value, expected: &[&str]) {
        let mut payload = lead();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        payload.pointer_mut(parent).unwrap()[key] = value;
        assert_eq!(found(&payload, &Policy::default()), expected, "{payload}");
    }

    #[test]
    fn a_consent_holds_from_when_it_was_given_until_it_expires() {
        assert!(found(&lead(), &Policy::default()).is_empty());
        with("/consent/granted_at", json!("2026-12-01T18:05:00Z"), &[]);
        with("/consent/granted_at", json!("2026-12-01T18:05:01Z"), &["/consent/granted_at x-consent"]);
        with("/consent/granted_at", json!("2026-12-01T20:04:00+02:00"), &[]);
        with("/consent/granted_at", json!("2026-12-01T18:00:00-08:00"), &["/consent/granted_at x-consent"]);
        with("/consent/expires_at", json!("2026-12-01T18:00:01Z"), &[]);
        with("/consent/expires_at", json!(NOW), &["/consent/expires_at x-consent"]);
        with("/consent/expires_at", json!("2020-01-01T00:00:00Z"), &["/consent/expires_at x-consent"]);
        with("/consent/consent_text", json!(" \t\n\u{a0}"), &["/consent/consent_text x-consent"]);
        with("/consent/consent_text", json!("\u{feff}\u{200b}\0"), &["/consent/consent_text x-consent"]);
        with("/consent/consent_text", json!("\u{feff}Yes."), &[]);
        let mut late = lead();
        late["consent"]["granted_at"] = json!("2026-12-01T18:04:00Z");
        late["consent"]["expires_at"] = json!("2026-12-01T18:04:00Z");
        assert_eq!(found(&late, &Policy::default()), ["/consent/expires_at x-consent"]);
        let patient = Policy { consent_clock_skew_seconds: u32::MAX, ..Policy::default() };
        late["consent"]["granted_at"] = json!("2026-12-02T18:00:00Z");
        late["consent"]["expires_at"] = json!("2027-12-01T18:04:00Z");
        assert!(found(&late, &patient).is_empty());
    }

    #[test]
    fn a_key_is_of_characters_that_are_told_apart() {
        with("/idempotency_key", json!("\u{0}é🚗"), &[]);
        with("/idempotency_key", json!("a\u{fffd}"), &["/idempotency_key format"]);
    }

    #[test]
    fn everything_that_is_wrong_is_listed() {
        let mut payload = lead();
        payload["consent"]["granted_at"] = json!("2027-12-01T18:04:00Z");
        payload["consent"]["expires_at"] = json!("2025-12-01T18:04:00Z");
        payload["consent"]["consent_text"] = json!(" ");
        payload["customer"]["preferred_contact"] = json!("sms");
        payload["appointment"] = json!({"appointment_type": "test_drive"});
        let all = found(&payload, &Policy::default());
        assert_eq!(
            all,
            [
                "/consent/consent_text x-consent",
                "/consent/granted_at x-consent",
                "/consent/expires_at x-consent",
                "/customer/preferred_contact x-consent",
                "/vehicle_of_interest required",
            ]
        );
        // Of what breaks the schema nothing is said here.
        let broken = json!({"consent": {"granted_at": 7, "allowed_channels": "email", "consent_text": ""}});
        assert!(found(&broken, &Policy::default()).is_empty());
        assert!(found(&json!({}), &Policy::default()).is_empty());
        let mut nobody = lead();
        nobody["customer"] = json!({});
        assert!(found(&nobody, &Policy::default()).is_empty());
    }

    #[test]
    fn the_dealer_must_have_a_way_to_get_in_touch() {
        with("/customer/preferred_contact", json!("email"), &[]);
        with("/customer/preferred_contact", json!("any"), &[]);
        for preferred in ["phone", "sms"] {
            let expected = ["/customer/preferred_contact x-consent"];
            with("/customer/preferred_contact", json!(preferred), &expected);
        }
        // Without contact data for what is allowed.
        with("/consent/allowed_channels", json!(["phone", "sms"]), &["/customer x-consent"]);
        let mut payload = lead();
        payload["customer"]["phone"] = json!("+13105550199");
        payload["consent"]["allowed_channels"] = json!(["sms"]);
        assert!(found(&payload, &Policy::default()).is_empty());
        // The dealer does not write texts.
        let policy = Policy { follow_up_channels: vec![Channel::Phone, Channel::Email], ..Policy::default() };
        assert_eq!(found(&payload, &policy), ["/customer x-consent"]);
        // What is preferred is asked for by name.
        payload["customer"]["preferred_contact"] = json!("sms");
        assert!(found(&payload, &policy).is_empty());
    }

    #[test]
    fn a_test_drive_needs_a_vehicle_unless_the_dealer_says_otherwise() {
        let mut payload = lead();
        payload["appointment"] = json!({"appointment_type": "test_drive"});
        assert_eq!(found(&payload, &Policy::default()), ["/vehicle_of_interest required"]);
        let lenient = Policy { test_drive_requires_vehicle: false, ..Policy::default() };
        assert!(found(&payload, &lenient).is_empty());
        payload["vehicle_of_interest"] = json!({});
        assert!(found(&payload, &Policy::default()).is_empty());
        payload["appointment"]["appointment_type"] = json!("sales");
        assert!(found(&payload, &Policy::default()).is_empty());
    }

    #[test]
    fn contact_is_made_as_preferred_else_as_the_dealer_works() {
        use ContactChannel::{Email, Phone, Sms};
        let way = |preferred: Option<&str>, allowed: &[&str], contacts: &[&str], policy: &Policy| {
            let mut payload = lead();
            payload["source_agent"] = json!({"name": "pelican"});
            payload["consent"]["allowed_channels"] = json!(allowed);
            let customer = payload["customer"].as_object_mut().unwrap();
            customer.remove("email");
            customer.extend(contacts.iter().map(|key| ((*key).to_owned(), json!("+13105550199"))));
            customer.extend(preferred.map(|word| ("preferred_contact".to_owned(), json!(word))));
            super::way(&serde_json::from_value(payload).unwrap(), policy)
        };
        let policy = Policy::default();
        let both = ["email", "phone"];
        assert_eq!(way(Some("sms"), &["sms", "email"], &both, &policy), Some(Sms));
        assert_eq!(way(None, &both, &both, &policy), Some(Phone));
        assert_eq!(way(Some("any"), &both, &["email"], &policy), Some(Email));
        // Without a number there is no text, and a dealer that writes none does not promise one.
        assert_eq!(way(Some("sms"), &["sms", "email"], &["email"], &policy), Some(Email));
        let few = Policy { follow_up_channels: vec![Channel::Email], ..Policy::default() };
        assert_eq!(way(Some("sms"), &["sms", "email"], &both, &few), Some(Email));
        assert_eq!(way(Some("sms"), &["sms"], &both, &few), None);
    }
}
