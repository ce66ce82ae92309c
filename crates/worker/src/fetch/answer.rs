//! What an answer's status means for a feed.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::validators::http_date;

/// Longer waits are not obeyed: the next fetch by schedule comes first.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// What to do about a fetch that brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Again {
    /// It may go better by itself, after this time if the server names one.
    Later(Option<Duration>),
    /// Somebody has to change something.
    NotByItself,
}

/// Why a fetch brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A short word for metrics.
    pub(crate) kind: &'static str,
    /// What happened and what to do, for the dealer.
    pub(crate) sentence: String,
    /// Whether to try again.
    pub(crate) again: Again,
}

/// What an answer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The file.
    File,
    /// It has not changed.
    NotModified,
    /// Neither.
    Nothing(Fault),
}

/// The meaning of a status. `conditional` tells whether the file was asked for only if it has changed.
pub(crate) fn meaning(
    status: StatusCode,
    headers: &HeaderMap,
    conditional: bool,
    now: DateTime<Utc>,
) -> Meaning {
    let code = status.as_u16();
    let (kind, sentence, again) = match code {
        200 | 203 => return Meaning::File,
        304 if conditional => return Meaning::NotModified,
        304 => (
            "status",
            "The server says that the file has not changed, although it was not asked that (304). Tell whoever runs it."
                .to_owned(),
            Again::Later(None),
        ),
        206 => (
            "status",
            "The server sends a part of the file although all of it was asked for (206). Tell whoever runs it.".to_owned(),
            Again::Later(None),
        ),
        401 | 403 => (
            "denied",
            format!(
                "The server does not let us in ({code}). Check the credentials of this source, and whether they still \
                 work there."
            ),
            Again::NotByItself,
        ),
        404 | 410 => (
            "missing",
            format!("There is no file at the address ({code}). Check the address, or ask the sender for the new one."),
            Again::NotByItself,
        ),
        408 | 425 | 429 | 500..=599 => {
            let sentence = match code {
                429 => "The server says that we ask too often (429).".to_owned(),
                408 | 425 => format!("The server gave up on our question ({code})."),
                _ => format!("The server has a fault of its own ({code})."),
            };
            ("server", format!("{sentence} It is asked again by itself."), Again::Later(retry_after(headers, now)))
        }
        _ => (
            "status",
            format!("The server answers with the status {code} and no file. Check the address of this source."),
            Again::NotByItself,
        ),
    };
    Meaning::Nothing(Fault { kind, sentence, again })
}

/// How long the server wants to be left alone: seconds, or a date.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => (http_date(text)? - now).to_std().ok()?,
    };
    Some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: u16, retry: Option<&str>) -> Meaning {
        let mut headers = HeaderMap::new();
        if let Some(retry) = retry {
            headers.insert(RETRY_AFTER, retry.parse().unwrap());
        }
        let now = http_date("Mon, 30 Nov 2026 12:00:00 GMT").unwrap();
        meaning(StatusCode::from_u16(code).unwrap(), &headers, true, now)
    }

    fn again(code: u16, retry: Option<&str>) -> Again {
        match of(code, retry) {
            Meaning::Nothing(fault) => {
                assert!(fault.sentence.contains(&code.to_string()), "{}", fault.sentence);
                fault.again
            }
            other => panic!("{code} is {other:?}"),
        }
    }

    #[test]
    fn statuses() {
        assert_eq!(of(200, None), Meaning::File);
        assert_eq!(of(304, None), Meaning::NotModified);
        for code in [401, 403, 404, 410, 400, 451] {
            assert_eq!(again(code, Some("5")), Again::NotByItself, "{code}");
        }
        for code in [408, 425, 429, 500, 502, 503, 504, 206] {
            assert!(matches!(again(code, None), Again::Later(None)), "{code}");
        }
    }

    #[test]
    fn the_time_that_a_server_asks_for() {
        let later = |seconds| Again::Later(Some(Duration::from_secs(seconds)));
        assert_eq!(again(503, Some("120")), later(120));
        assert_eq!(again(503, Some("Mon, 30 Nov 2026 12:10:00 GMT")), later(600));
        assert_eq!(again(503, Some("Mon, 30 Nov 2026 11:00:00 GMT")), Again::Later(None));
        assert_eq!(again(503, Some("999999999")), later(24 * 3600));
        assert_eq!(again(503, Some("soon")), Again::Later(None));
    }
}
