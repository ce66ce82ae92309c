//! Reading HTTP/1.1 answers: status, length, and as much of the body as tells whether it is good.

use memchr::memmem;

/// What a good answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Good {
    /// Status 200 and a JSON-RPC result.
    Result,
    /// This status, whatever comes with it.
    Status(u16),
}

/// What is known of an answer so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Incomplete,
    Good,
    /// Whole and not good; a few words of it.
    Bad(String),
}

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Told(usize),
    Chunked,
}

/// The head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Where the body begins.
    end: usize,
    length: Length,
}

impl Head {
    /// `None` until it is whole.
    pub(super) fn read(bytes: &[u8]) -> Option<Head> {
        let end = memmem::find(bytes, b"\r\n\r\n")? + 4;
        let head = bytes.get(..end)?;
        let status = head.get(9..12).and_then(number).and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
        let bodiless = matches!(status, 204 | 304);
        let length = if bodiless { Length::Told(0) } else { length(head) };
        Some(Head { status, end, length })
    }

    /// The body, once it is whole.
    pub(super) fn body(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let rest = bytes.get(self.end..)?;
        match self.length {
            Length::Told(length) => rest.get(..length).map(<[u8]>::to_vec),
            Length::Chunked => unchunked(rest),
        }
    }

    /// The header lines.
    pub(super) fn lines(&self, bytes: &[u8]) -> Vec<(String, String)> {
        let head = String::from_utf8_lossy(bytes.get(..self.end).unwrap_or_default()).into_owned();
        let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
    }

    /// Whether the body is whole, read as little as possible.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        match self.length {
            Length::Told(length) => bytes.len() >= self.end + length,
            Length::Chunked => bytes.ends_with(b"0\r\n\r\n"),
        }
    }
}

/// `content-length` or chunks; names of headers are compared without case.
fn length(head: &[u8]) -> Length {
    const NAME: &[u8] = b"content-length:";
    let mut lines = head;
    while let Some(end) = memmem::find(lines, b"\r\n") {
        let (line, rest) = lines.split_at(end);
        if let Some((name, value)) = line.split_at_checked(NAME.len())
            && name.eq_ignore_ascii_case(NAME)
        {
            return Length::Told(number(value.trim_ascii()).unwrap_or(0));
        }
        lines = rest.get(2..).unwrap_or_default();
    }
    Length::Chunked
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = memmem::find(rest, b"\r\n")?;
        let size = std::str::from_utf8(rest.get(..end)?).ok()?.split(';').next()?.trim().to_owned();
        let size = usize::from_str_radix(&size, 16).ok()?;
        let begin = end + 2;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(begin..begin + size)?);
        rest = rest.get(begin + size + 2..)?;
    }
}

/// How far into a body `"result"` has to come.
const NEAR: usize = 512;

/// Judges an answer that may not be whole yet.
pub(super) fn judge(bytes: &[u8], good: &Good) -> Verdict {
    let Some(head) = Head::read(bytes) else { return Verdict::Incomplete };
    if !head.is_whole(bytes) {
        return Verdict::Incomplete;
    }
    let body = bytes.get(head.end..).unwrap_or_default();
    let fine = match good {
        Good::Status(status) => head.status == *status,
        Good::Result => head.status == 200 && is_result(body),
    };
    if fine {
        return Verdict::Good;
    }
    let words: String = String::from_utf8_lossy(body).chars().take(400).collect();
    Verdict::Bad(format!("{}: {words}", head.status))
}

fn is_result(body: &[u8]) -> bool {
    let near = body.get(..NEAR.min(body.len())).unwrap_or_default();
    if memmem::find(near, b"\"result\":").is_some() {
        return true;
    }
    // Some servers write the members in another order.
    memmem::find(body, b"\"error\":").is_none() && memmem::rfind(body, b"\"result\":").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(status: &str, headers: &str, body: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status} X\r\n{headers}\r\n{body}").into_bytes()
    }

    #[test]
    fn an_answer_is_good_when_it_is_whole_and_a_result() {
        let body = r#"{"jsonrpc":"2.0","id":"a","result":{"x":1}}"#;
        let answer = whole("200", &format!("Content-LENGTH: {}\r\nDate: now\r\n", body.len()), body);
        for cut in 0..answer.len() {
            assert_eq!(judge(&answer[..cut], &Good::Result), Verdict::Incomplete, "{cut}");
        }
        assert_eq!(judge(&answer, &Good::Result), Verdict::Good);
        assert_eq!(judge(&answer, &Good::Status(200)), Verdict::Good);
        assert!(matches!(judge(&answer, &Good::Status(304)), Verdict::Bad(_)));
        assert_eq!(Head::read(&answer).unwrap().body(&answer).unwrap(), body.as_bytes());
    }

    #[test]
    fn errors_are_told() {
        let body = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"no \"result\" here"}}"#;
        let answer = whole("200", &format!("content-length: {}\r\n", body.len()), body);
        assert!(matches!(judge(&answer, &Good::Result), Verdict::Bad(text) if text.contains("-32602")));
        let answer = whole("503", "content-length: 4\r\n", "away");
        assert_eq!(judge(&answer, &Good::Result), Verdict::Bad("503: away".into()));
    }

    #[test]
    fn a_304_has_no_body_whatever_length_it_names() {
        let answer = whole("304", "content-length: 7000\r\netag: \"x\"\r\n", "");
        assert_eq!(judge(&answer, &Good::Status(304)), Verdict::Good);
        assert_eq!(Head::read(&answer).unwrap().lines(&answer)[1], ("etag".to_owned(), "\"x\"".to_owned()));
    }

    #[test]
    fn chunks_are_put_together() {
        let answer =
            whole("200", "transfer-encoding: chunked\r\n", "5\r\n{\"res\r\n8\r\nult\":{}}\r\n0\r\n\r\n");
        assert_eq!(judge(&answer[..answer.len() - 1], &Good::Result), Verdict::Incomplete);
        assert_eq!(Head::read(&answer).unwrap().body(&answer).unwrap(), b"{\"result\":{}}");
        let small =
            whole("200", "transfer-encoding: chunked\r\n", "b\r\n{\"result\":0\r\n1\r\n}\r\n0\r\n\r\n");
        assert_eq!(judge(&small, &Good::Result), Verdict::Good);
    }
}
