//! What a server calls the state of its file, and whether that can be believed.
//!
//! Both validators are stored from every answer 200, each for itself: servers change one and not the other. Neither is
//! believed blindly. Once a day a file is fetched without them; if its bytes are others and a validator is still the
//! same, that validator says nothing and is not sent again until the server gives another one.

use chrono::{DateTime, Duration, Utc};
use reqwest::header::{ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};

/// Before a stored validator that was found out to lie. Neither an entity tag nor a date begins like this.
const LIE: &str = "disproved ";
/// Longer ones are not stored.
const LONGEST: usize = 1024;
/// Clocks differ by so much.
const CLOCKS: Duration = Duration::minutes(5);

/// `ETag` and `Last-Modified`, as they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Validators {
    /// The entity tag.
    pub(crate) etag: Option<String>,
    /// The date.
    pub(crate) last_modified: Option<String>,
}

/// Which validators a fetch has disproved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Disproved {
    /// The entity tag stayed although the bytes changed.
    pub(crate) etag: bool,
    /// The date did.
    pub(crate) last_modified: bool,
}

impl Disproved {
    /// Whether any.
    pub(crate) fn any(self) -> bool {
        self.etag || self.last_modified
    }
}

impl Validators {
    /// Those of an answer.
    pub(crate) fn of(headers: &HeaderMap, now: DateTime<Utc>) -> Validators {
        let text = |name| {
            let value: &HeaderValue = headers.get(name)?;
            let text = value.to_str().ok()?.trim();
            (!text.is_empty() && text.len() <= LONGEST).then(|| text.to_owned())
        };
        Validators {
            etag: text(ETAG).filter(|etag| is_entity_tag(etag)),
            // A file that changes in the future has not changed until then, says such a server.
            last_modified: text(LAST_MODIFIED)
                .filter(|date| http_date(date).is_some_and(|date| date <= now + CLOCKS)),
        }
    }

    /// The headers that ask for the file only if it has changed; none where nothing is believed.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, stored) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            let believed = stored.as_deref().filter(|text| !text.starts_with(LIE));
            if let Some(value) = believed.and_then(|text| HeaderValue::from_str(text).ok()) {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// What is to be stored after an answer with other or the same bytes, given what was stored before.
    pub(crate) fn after(&self, answered: &Validators, bytes_changed: bool) -> (Validators, Disproved) {
        let next = |stored: &Option<String>, answered: &Option<String>| -> (Option<String>, bool) {
            let Some(new) = answered else { return (None, false) };
            let before = stored.as_deref();
            if before.and_then(|before| before.strip_prefix(LIE)) == Some(new) {
                return (stored.clone(), false);
            }
            if bytes_changed && before == Some(new) {
                return (Some(format!("{LIE}{new}")), true);
            }
            (Some(new.clone()), false)
        };
        let (etag, etag_lied) = next(&self.etag, &answered.etag);
        let (last_modified, date_lied) = next(&self.last_modified, &answered.last_modified);
        let disproved = Disproved { etag: etag_lied, last_modified: date_lied };
        (Validators { etag, last_modified }, disproved)
    }
}

/// `"x"` or `W/"x"`.
fn is_entity_tag(text: &str) -> bool {
    let quoted = text.strip_prefix("W/").unwrap_or(text);
    quoted.len() >= 2 && quoted.starts_with('"') && quoted.ends_with('"')
}

/// A date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http_date(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc2822(text).ok().map(|date| date.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(etag: Option<&str>, date: Option<&str>) -> Validators {
        let mut headers = HeaderMap::new();
        for (name, text) in [(ETAG, etag), (LAST_MODIFIED, date)] {
            if let Some(text) = text {
                headers.insert(name, HeaderValue::from_str(text).unwrap());
            }
        }
        Validators::of(&headers, http_date("Mon, 30 Nov 2026 12:00:00 GMT").unwrap())
    }

    const DATE: &str = "Sun, 29 Nov 2026 02:00:00 GMT";

    fn sent(validators: &Validators) -> (Option<String>, Option<String>) {
        let headers = validators.headers();
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        (text(IF_NONE_MATCH), text(IF_MODIFIED_SINCE))
    }

    #[test]
    fn both_are_stored_from_every_answer_each_for_itself() {
        let first = answer(Some("\"a\""), Some(DATE));
        let (stored, disproved) = first.after(&answer(Some("\"b\""), Some(DATE)), true);
        assert_eq!(disproved, Disproved { etag: false, last_modified: true });
        assert_eq!(stored.etag.as_deref(), Some("\"b\""));
        // The date stayed though the bytes changed: a server that looks at it first would keep them from us.
        assert_eq!(sent(&stored), (Some("\"b\"".into()), None));
        let (stored, _) = first.after(&answer(Some("\"b\""), Some(DATE)), false);
        assert_eq!(sent(&stored), (Some("\"b\"".into()), Some(DATE.into())));
        // One that a server no longer sends is not sent to it.
        let (stored, _) = stored.after(&answer(None, Some(DATE)), false);
        assert_eq!(sent(&stored), (None, Some(DATE.into())));
    }

    #[test]
    fn a_tag_that_stays_while_the_bytes_change_is_not_sent_until_there_is_another() {
        let first = answer(Some("\"a\""), Some(DATE));
        let (stored, disproved) = first.after(&first, true);
        assert!(disproved.etag && disproved.last_modified);
        assert_eq!(sent(&stored), (None, None));
        let (still, disproved) = stored.after(&first, true);
        assert_eq!((sent(&still), disproved), ((None, None), Disproved::default()), "found out once");
        let (still, _) = still.after(&first, false);
        assert_eq!(sent(&still), (None, None), "the same bytes prove nothing");
        let (again, _) = still.after(&answer(Some("\"b\""), Some(DATE)), true);
        assert_eq!(sent(&again).0, Some("\"b\"".into()));
    }

    #[test]
    fn what_makes_no_sense_is_not_stored() {
        assert_eq!(answer(None, Some("Tue, 01 Jan 2041 00:00:00 GMT")).last_modified, None);
        assert_eq!(answer(None, Some("yesterday")).last_modified, None);
        assert_eq!(answer(Some("unquoted"), None).etag, None);
        assert_eq!(answer(Some("W/\"weak\""), None).etag.as_deref(), Some("W/\"weak\""));
        let long = format!("\"{}\"", "x".repeat(2000));
        assert_eq!(answer(Some(&long), None).etag, None);
    }
}
