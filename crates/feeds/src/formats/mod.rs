//! The kinds of file that are read. A new one is a file here and a line in [`FORMATS`].

mod course;
mod delimited;
mod flat;
mod foreign;
mod json;
mod lexer;
mod lines;
mod ndjson;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};

use crate::code::Code;
use crate::config::Config;
use crate::container::{Bytes, Unpacked, fill};
use crate::encoding::{Encoding, Fallbacks, Utf8Reader, census, decode_head};
use crate::finding::Finding;
use crate::limits::Limits;
use crate::raw::{Columns, Detected, Opened, RawRow, Refused, Rows, Stopped};
use crate::source::Source;

/// Bytes of the beginning that decide what kind of file it is.
const HEAD_BYTES: usize = 1 << 20;

/// A kind of file.
struct Format {
    /// Whether a file that begins so is one.
    is: fn(&Opening<'_, '_>) -> bool,
    /// Its rows.
    open: for<'s> fn(Opening<'s, '_>) -> Result<Opened<'s>, Refused>,
}

/// All of them; the first that fits is taken.
const FORMATS: &[Format] = &[xml::FORMAT, ndjson::FORMAT, json::FORMAT, delimited::FORMAT];

/// A file whose kind is not known yet.
struct Opening<'s, 'c> {
    bytes: Unpacked<'s>,
    /// Its beginning.
    head: Vec<u8>,
    /// The same as text.
    text: String,
    /// Encoding, where the first bytes say it, and the length of the mark that says so.
    encoding: Option<Encoding>,
    mark: usize,
    config: &'c Config,
    limits: Limits,
    detected: Detected,
}

impl<'s> Opening<'s, '_> {
    /// Settles the encoding of a document, which takes a look at all of it.
    fn settle_encoding(&mut self) -> Result<Encoding, Refused> {
        let wide = self.encoding.filter(|encoding| *encoding != Encoding::Utf8);
        let encoding = match wide {
            Some(encoding) => encoding,
            None => census(self.bytes.open()?)?.encoding(),
        };
        self.detected.encoding = encoding.as_str().to_owned();
        self.encoding = Some(encoding);
        Ok(encoding)
    }

    /// The document as UTF-8, where Windows-1252 had to step in, and how many bytes of the file have been taken.
    fn read(&self, encoding: Encoding) -> Result<Text<'s>, Refused> {
        let bytes = self.bytes.open()?;
        let taken = bytes.taken();
        let fallbacks = (encoding == Encoding::Mixed).then(Fallbacks::default);
        let reader = Utf8Reader::new(bytes, encoding, self.mark, fallbacks.clone());
        Ok(Text { reader, fallbacks: FellBack(fallbacks), taken })
    }

    /// What is known of the file from its encoding.
    fn findings(encoding: Encoding) -> Vec<Finding> {
        (encoding == Encoding::Mixed).then(|| about_file(Code::FeedEncodingMixed)).into_iter().collect()
    }
}

/// A document that is being read.
struct Text<'s> {
    reader: Utf8Reader<Bytes<'s>>,
    fallbacks: FellBack,
    taken: Arc<AtomicU64>,
}

/// Where Windows-1252 had to step in.
struct FellBack(Option<Fallbacks>);

impl FellBack {
    /// Whether it was between two places, the first of them not behind that of the last call.
    fn between(&self, start: u64, end: u64) -> bool {
        let Some(places) = &self.0 else { return false };
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fell_back = false;
        while let Some(place) = places.front().copied().filter(|place| *place < end) {
            fell_back |= place >= start;
            places.pop_front();
        }
        fell_back
    }
}

pub(crate) fn open<'s>(
    source: &'s dyn Source,
    config: &Config,
    limits: &Limits,
) -> Result<Opened<'s>, Refused> {
    let bytes = Unpacked::find(source, limits)?;
    let mut head = vec![0; HEAD_BYTES];
    let read = fill(&mut bytes.open()?, &mut head)?;
    head.truncate(read);
    foreign::refuse(&head, bytes.container().is_some())?;
    let (encoding, mark) = Encoding::of_beginning(&head);
    let text = decode_head(&head, encoding, mark);
    let detected = Detected {
        container: bytes.container().map(str::to_owned),
        encoding: encoding.unwrap_or(Encoding::Utf8).as_str().to_owned(),
        bom: mark > 0,
        ..Detected::default()
    };
    let opening = Opening { bytes, head, text, encoding, mark, config, limits: *limits, detected };
    if opening.text.chars().all(|sign| sign.is_whitespace() || sign.is_control()) {
        return Ok(without_rows(opening.detected, Code::FeedEmpty));
    }
    match FORMATS.iter().find(|format| (format.is)(&opening)) {
        Some(format) => (format.open)(opening),
        None => Ok(without_rows(opening.detected, Code::FeedHeaderUnknown)),
    }
}

/// A file that is held because nothing can be had out of it.
fn without_rows<'s>(detected: Detected, code: Code) -> Opened<'s> {
    Opened { detected, findings: vec![about_file(code)], rows: Box::new(NoRows::default()) }
}

/// A finding about the file as a whole.
fn about_file(code: Code) -> Finding {
    Finding {
        code,
        row: None,
        field: None,
        column: None,
        value: None,
        vin: None,
        stock: None,
        kept_row: None,
    }
}

#[derive(Default)]
struct NoRows {
    columns: Columns,
    top: BTreeMap<String, String>,
}

impl Rows for NoRows {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn next(&mut self) -> Result<Option<RawRow>, Stopped> {
        Ok(None)
    }

    fn progress(&self) -> u64 {
        0
    }

    fn top(&self) -> &BTreeMap<String, String> {
        &self.top
    }

    fn end(&mut self) -> Vec<Finding> {
        Vec::new()
    }
}

/// Whether a text has signs that [`cleaned`] takes out.
fn is_dirty(text: &str) -> bool {
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    text.as_bytes().iter().any(control) || memchr::memmem::find(text.as_bytes(), b"\xc2\xa0").is_some()
}

/// A text without control characters other than tab and line ends; a no-break space is a space (FEEDS.md 3.3).
fn cleaned(text: &str) -> Cow<'_, str> {
    if !is_dirty(text) {
        return Cow::Borrowed(text);
    }
    let kept = |sign: &char| *sign >= ' ' || matches!(sign, '\t' | '\n' | '\r');
    let sign = |sign: char| if sign == '\u{a0}' { ' ' } else { sign };
    Cow::Owned(text.chars().filter(kept).map(sign).collect())
}

/// The beginning of a row that is lost, for its finding.
fn excerpt(text: &str) -> String {
    cleaned(text).trim().chars().take(crate::finding::VALUE_CHARS).collect()
}
