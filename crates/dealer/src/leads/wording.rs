//! What an answer says to the shopper: what happens next.

use chrono::{DateTime, TimeZone, Utc};
use chrono_tz::Tz;
use contract::payload::{AppointmentType, ContactChannel};

/// Most characters of a note (AAP.md 4.4).
const MOST: usize = 2000;

/// What became of a visit, for a sentence about it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Visit {
    /// Booked.
    Confirmed(DateTime<Utc>, Tz),
    /// Other times were named; an earlier booking of the same visit may stand meanwhile.
    Proposed(usize, Option<(DateTime<Utc>, Tz)>),
    /// People will settle it; an earlier booking of the same visit may stand meanwhile.
    Requested(Option<(DateTime<Utc>, Tz)>),
    /// Not there.
    Rejected,
}

/// The note of an answer.
pub(crate) fn note(
    dealer: &str,
    is_new: bool,
    visit: Option<(AppointmentType, Visit)>,
    way: Option<ContactChannel>,
    sandbox: bool,
) -> String {
    let by = match way {
        Some(ContactChannel::Email) => " by email",
        Some(ContactChannel::Phone) => " by phone",
        Some(ContactChannel::Sms) => " by text message",
        None => "",
    };
    let stands = |booked: Option<(DateTime<Utc>, Tz)>| match booked {
        Some((at, zone)) => format!(" Your booking for {} stands until then.", spoken(at, zone)),
        None => String::new(),
    };
    let mut text = match visit {
        None if is_new => format!("Thank you. {dealer} will get in touch{by}."),
        None => format!(
            "{dealer} has this request already; what is new in it was added. They will get in touch{by}."
        ),
        Some((kind, Visit::Confirmed(at, zone))) => {
            format!("Your {} at {dealer} is booked for {}.", name(kind), spoken(at, zone))
        }
        Some((kind, Visit::Proposed(times, booked))) => format!(
            "That time is not free for a {}. {} To book one, send the lead again with that time.{}",
            name(kind),
            if times == 1 { "One other time is proposed." } else { "The nearest free times are proposed." },
            stands(booked)
        ),
        Some((kind, Visit::Requested(booked))) => {
            format!(
                "{dealer} will get in touch{by} to settle the time of your {}.{}",
                name(kind),
                stands(booked)
            )
        }
        Some((kind, Visit::Rejected)) => {
            format!(
                "There is no {} at {dealer}. Your request was passed on; they will get in touch{by}.",
                name(kind)
            )
        }
    };
    if sandbox {
        text.push_str(" Sandbox dealer: this is for trying out, and nothing leaves the platform.");
    }
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

fn name(kind: AppointmentType) -> &'static str {
    match kind {
        AppointmentType::Sales => "sales appointment",
        AppointmentType::Service => "service appointment",
        AppointmentType::TestDrive => "test drive",
        AppointmentType::TradeIn => "trade-in appraisal",
    }
}

fn spoken(at: DateTime<Utc>, zone: Tz) -> String {
    let local = at.with_timezone(&zone);
    // Of an hour that the clock shows twice it has to be said which.
    let is_twice = zone.from_local_datetime(&local.naive_local()).single().is_none();
    local.format(if is_twice { "%A, %-d %B %Y, %H:%M (UTC%:z)" } else { "%A, %-d %B %Y, %H:%M" }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: Tz = chrono_tz::America::Los_Angeles;

    fn at() -> DateTime<Utc> {
        "2026-12-08T19:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_note_says_what_happens_next() {
        let test_drive = |visit| Some((AppointmentType::TestDrive, visit));
        let say = |visit| note("Harbor", true, visit, Some(ContactChannel::Email), false);
        assert_eq!(say(None), "Thank you. Harbor will get in touch by email.");
        assert_eq!(
            say(test_drive(Visit::Confirmed(at(), ZONE))),
            "Your test drive at Harbor is booked for Tuesday, 8 December 2026, 11:00."
        );
        let kept = say(test_drive(Visit::Proposed(3, Some((at(), ZONE)))));
        assert!(
            kept.ends_with("Your booking for Tuesday, 8 December 2026, 11:00 stands until then."),
            "{kept}"
        );
        assert!(say(test_drive(Visit::Requested(None))).contains("settle the time of your test drive"));
        assert!(say(test_drive(Visit::Rejected)).starts_with("There is no test drive at Harbor."));
        assert!(
            note("Harbor", false, None, None, true).contains("added. They will get in touch. Sandbox dealer")
        );
    }

    #[test]
    fn of_an_hour_that_comes_twice_it_is_said_which() {
        for (at, text) in [
            ("2026-11-01T07:30:00Z", "Sunday, 1 November 2026, 00:30"),
            ("2026-11-01T08:30:00Z", "Sunday, 1 November 2026, 01:30 (UTC-07:00)"),
            ("2026-11-01T09:30:00Z", "Sunday, 1 November 2026, 01:30 (UTC-08:00)"),
            ("2026-11-01T10:00:00Z", "Sunday, 1 November 2026, 02:00"),
        ] {
            assert_eq!(spoken(at.parse().unwrap(), ZONE), text);
        }
    }

    #[test]
    fn a_note_has_no_more_characters_than_may_be() {
        let long = note(&"ü".repeat(3000), true, None, None, true);
        assert_eq!(long.chars().count(), 2000);
    }
}
