//! What the head of a push says of its body.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};
use dealer::feeds::Mode;

/// Longest `Idempotency-Key` and snapshot id, in characters.
const LONGEST: usize = 200;
/// Most parts of a snapshot.
const MOST_PARTS: u32 = 1000;

/// One part of a whole lot that comes in several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The sender's name for all of it.
    pub(super) snapshot: String,
    /// Which one, from 1.
    pub(super) no: u32,
    /// Of how many.
    pub(super) of: u32,
}

/// What a request says of its body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// A whole lot, or changes; `None`: as the source is set up.
    pub(super) mode: Option<Mode>,
    /// By which the sender knows it.
    pub(super) key: Option<String>,
    /// It is one part of several.
    pub(super) part: Option<Part>,
    /// It is packed for the way.
    pub(super) gzip: bool,
    /// It says that it is JSON.
    pub(super) is_json: bool,
    /// Its length, unpacked or not.
    pub(super) length: Option<u64>,
    /// The end of the name that it gets, by its type.
    extension: &'static str,
}

impl Head {
    /// Reads it, or says what cannot be meant.
    pub(super) fn read(request: &HttpRequest) -> Result<Head, String> {
        Self::of(request.headers(), request.query_string())
    }

    fn of(headers: &HeaderMap, query: &str) -> Result<Head, String> {
        let mut head = Head {
            mode: None,
            key: None,
            part: None,
            gzip: false,
            is_json: false,
            length: None,
            extension: "feed",
        };
        let (mut snapshot, mut part, mut parts) = (None, None, None);
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "mode" if value == "full" => head.mode = Some(Mode::Full),
                "mode" if value == "delta" => head.mode = Some(Mode::Delta),
                "mode" => return Err("mode must be full or delta.".into()),
                "snapshot" => snapshot = Some(value.into_owned()),
                "part" => part = Some(number("part", &value)?),
                "parts" => parts = Some(number("parts", &value)?),
                other => {
                    return Err(format!("This address takes mode, snapshot, part and parts, not {other:?}."));
                }
            }
        }
        head.part = match (snapshot, part, parts) {
            (None, None, None) => None,
            (Some(snapshot), Some(no), Some(of)) => {
                named("snapshot", &snapshot)?;
                if no > of {
                    return Err("part must not be larger than parts.".into());
                }
                Some(Part { snapshot, no, of })
            }
            _ => return Err("snapshot, part and parts belong together.".into()),
        };
        if head.part.is_some() && head.mode == Some(Mode::Delta) {
            return Err("A snapshot is a whole lot: mode=delta has no parts.".into());
        }
        if let Some(key) = headers.get("idempotency-key") {
            let key = key.to_str().map_err(|_| "Idempotency-Key must be of printable ASCII.".to_owned())?;
            named("Idempotency-Key", key)?;
            head.key = Some(key.to_owned());
        }
        if head.key.is_some() && head.part.is_some() {
            return Err("A part of a snapshot is known by its snapshot; leave out Idempotency-Key.".into());
        }
        let text = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
        match text(header::CONTENT_ENCODING).map(str::trim) {
            None | Some("" | "identity") => {}
            Some(coding) if coding.eq_ignore_ascii_case("gzip") => head.gzip = true,
            Some(_) => return Err("Content-Encoding must be gzip or left out.".into()),
        }
        head.length = text(header::CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let media =
            text(header::CONTENT_TYPE).unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let media = media.to_ascii_lowercase();
        head.is_json = media == "application/json" || (media.ends_with("+json") && !media.contains("ndjson"));
        head.extension = match media.as_str() {
            "text/csv" => "csv",
            "application/xml" | "text/xml" => "xml",
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => "ndjson",
            "application/zip" => "zip",
            "application/gzip" | "application/x-gzip" => "gz",
            _ if head.is_json => "json",
            _ => "feed",
        };
        Ok(head)
    }

    /// What the file is called with us.
    pub(super) fn file_name(&self) -> String {
        format!("push.{}", self.extension)
    }
}

fn named(what: &str, text: &str) -> Result<(), String> {
    let fits = (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits {
        Ok(())
    } else {
        Err(format!("{what} must be 1 to {LONGEST} printable ASCII characters, no blanks."))
    }
}

fn number(what: &str, text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|number| (1..=MOST_PARTS).contains(number));
    number.ok_or_else(|| format!("{what} must be a number from 1 to {MOST_PARTS}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn head(query: &str, headers: &[(&'static str, &str)]) -> Result<Head, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        Head::of(&map, query)
    }

    #[test]
    fn what_is_meant_is_read() {
        let plain = head("", &[]).unwrap();
        assert_eq!((plain.mode, &plain.key, &plain.part, plain.gzip), (None, &None, &None, false));
        let all = head(
            "mode=delta",
            &[("idempotency-key", "k-1"), ("content-type", "application/json; charset=utf-8")],
        );
        let all = all.unwrap();
        assert_eq!((all.mode, all.key.as_deref(), all.is_json), (Some(Mode::Delta), Some("k-1"), true));
        assert_eq!(all.file_name(), "push.json");
        let part =
            head("snapshot=s1&part=2&parts=3", &[("content-encoding", "gzip"), ("content-type", "text/csv")]);
        let part = part.unwrap();
        assert_eq!(part.part, Some(Part { snapshot: "s1".into(), no: 2, of: 3 }));
        assert!(part.gzip && part.file_name() == "push.csv");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for query in [
            "mode=some",
            "mod=full",
            "snapshot=s",
            "snapshot=s&part=1",
            "snapshot=s&part=2&parts=1",
            "snapshot=s&part=0&parts=1",
            "snapshot=s&part=1&parts=1001",
            "snapshot=a%20b&part=1&parts=1",
            "snapshot=s&part=1&parts=2&mode=delta",
        ] {
            assert!(head(query, &[]).is_err(), "{query}");
        }
        for headers in [[("content-encoding", "br")], [("idempotency-key", "a b")], [("idempotency-key", "")]]
        {
            assert!(head("", &headers).is_err(), "{headers:?}");
        }
        assert!(head("snapshot=s&part=1&parts=1", &[("idempotency-key", "k")]).is_err());
    }
}
