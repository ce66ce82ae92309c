//! XML as a stream of events: no document type, no entities but the five, bounded depth and size (FEEDS.md 3.9).

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_xml::errors::{Error, IllFormedError};
use quick_xml::events::{BytesStart, Event as Raw};
use quick_xml::{Reader, XmlVersion, escape};

use crate::code::Code;
use crate::container::Fault as FileFault;
use crate::formats::lexer::Fault;
use crate::limits::Limits;

/// The namespace of Google's feeds, whatever prefix stands for it; some write it with https, or a slash behind it.
const GOOGLE: &str = "://base.google.com/ns/1.0";
/// Prefixes that may be declared at once, and attributes that an element may have.
const PREFIXES: usize = 100;
const ATTRIBUTES: usize = 200;
/// Bytes of a name.
const NAME: usize = 200;
/// A tag or a piece of text may have so many times the largest field.
const EVENT_FIELDS: u64 = 4;
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// What comes next.
#[derive(Debug)]
pub(super) enum Event {
    Open(Element),
    Close,
    Text(String),
    /// The document is complete.
    End,
}

/// A start tag.
#[derive(Debug)]
pub(super) struct Element {
    /// Without a prefix that stands for Google's namespace or for none that is known.
    pub(super) name: String,
    pub(super) google: bool,
    pub(super) attributes: Vec<(String, String)>,
}

/// The reader of events.
pub(super) struct Events<R> {
    reader: Reader<BufReader<Bounded<R>>>,
    buffer: Vec<u8>,
    allowed: Arc<AtomicU64>,
    event_bytes: u64,
    /// Prefixes, with the depth they were declared at and whether they are Google's.
    prefixes: Vec<(usize, String, bool)>,
    depth: usize,
    deepest: usize,
    closed: bool,
}

/// Stops an event that does not end.
struct Bounded<R> {
    input: R,
    read: u64,
    allowed: Arc<AtomicU64>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read > self.allowed.load(Ordering::Relaxed) {
            return Err(FileFault::error(
                Code::FeedTooLarge,
                "one tag or text is larger than a field may be",
            ));
        }
        let read = self.input.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

impl<R: Read> Events<R> {
    pub(super) fn new(input: R, limits: &Limits) -> Self {
        let allowed = Arc::new(AtomicU64::new(0));
        let bounded = Bounded { input, read: 0, allowed: Arc::clone(&allowed) };
        let mut reader = Reader::from_reader(BufReader::with_capacity(CHUNK, bounded));
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            buffer: Vec::new(),
            allowed,
            event_bytes: limits.field_bytes as u64 * EVENT_FIELDS,
            prefixes: Vec::new(),
            depth: 0,
            deepest: limits.depth,
            closed: false,
        }
    }

    /// Bytes read so far.
    pub(super) fn offset(&self) -> u64 {
        self.reader.buffer_position()
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<Event, Fault> {
        loop {
            self.buffer.clear();
            let allowed = self.reader.buffer_position() + self.event_bytes;
            self.allowed.store(allowed, Ordering::Relaxed);
            let outside = self.depth == 0;
            let text = match self.reader.read_event_into(&mut self.buffer) {
                Ok(Raw::Start(start)) => {
                    if self.closed || self.depth >= self.deepest {
                        let what =
                            if self.closed { "there is more behind its end" } else { "it nests too deep" };
                        return Err(Fault::Ill(what.to_owned()));
                    }
                    self.depth += 1;
                    return element(&start, self.depth, &mut self.prefixes).map(Event::Open);
                }
                Ok(Raw::End(_)) => {
                    self.prefixes.retain(|(depth, ..)| *depth < self.depth);
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                    return Ok(Event::Close);
                }
                Ok(Raw::Text(text)) => text.into_inner().into_owned(),
                Ok(Raw::CData(text)) => text.into_inner().into_owned(),
                Ok(Raw::GeneralRef(reference)) => match reference.resolve_char_ref() {
                    Ok(Some(sign)) => sign.to_string(),
                    _ => {
                        let name = reference.into_inner();
                        match escape::resolve_predefined_entity(&name) {
                            Some(text) => text.to_owned(),
                            None => {
                                let name: String = name.chars().take(40).collect();
                                return Err(Fault::Ill(format!("&{name}; is no entity of XML")));
                            }
                        }
                    }
                },
                Ok(Raw::DocType(_)) => {
                    return Err(Fault::Ill("it has a document type, which a feed may not have".to_owned()));
                }
                Ok(Raw::Eof) => return if self.closed { Ok(Event::End) } else { Err(Fault::Cut) },
                Ok(Raw::Empty(_) | Raw::Comment(_) | Raw::Decl(_) | Raw::PI(_)) => continue,
                Err(error) => return Err(self.fault(error)),
            };
            if !outside {
                return Ok(Event::Text(text));
            }
            if !text.trim_matches(|sign: char| sign.is_whitespace() || sign == '\0').is_empty() {
                return Err(Fault::Ill("there is text outside of its elements".to_owned()));
            }
        }
    }

    fn fault(&mut self, error: Error) -> Fault {
        let unfinished =
            matches!(error, Error::Syntax(_) | Error::IllFormed(IllFormedError::UnclosedReference));
        match error {
            Error::Io(error) => Fault::Io(match Arc::try_unwrap(error) {
                Ok(error) => error,
                Err(error) => io::Error::new(error.kind(), error),
            }),
            _ if unfinished && self.reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty) => Fault::Cut,
            error => Fault::Ill(format!("{error}, at byte {}", self.reader.error_position())),
        }
    }
}

fn element(
    start: &BytesStart<'_>,
    depth: usize,
    prefixes: &mut Vec<(usize, String, bool)>,
) -> Result<Element, Fault> {
    let mut attributes = Vec::new();
    // Looking for names that come twice takes the square of their number; the limit holds both down.
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| Fault::Ill(error.to_string()))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| Fault::Ill(error.to_string()))?;
        let key = attribute.key.0;
        let declared = if key == "xmlns" { Some("") } else { key.strip_prefix("xmlns:") };
        if let Some(prefix) = declared {
            prefixes.push((depth, prefix.to_owned(), value.trim_end_matches('/').ends_with(GOOGLE)));
        } else {
            let local = key.rsplit_once(':').map_or(key, |(_, local)| local);
            attributes.push((shortened(local), value.into_owned()));
        }
        if attributes.len() > ATTRIBUTES || prefixes.len() > PREFIXES {
            return Err(Fault::Ill("an element has too many attributes".to_owned()));
        }
    }
    let name = start.name().0;
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    let google = prefixes.iter().rev().find(|(_, known, _)| known == prefix).map(|(.., google)| *google);
    let own = prefix.is_empty() || google != Some(false);
    let google = google.unwrap_or(prefix == "g");
    Ok(Element { name: shortened(if own { local } else { name }), google, attributes })
}

fn shortened(name: &str) -> String {
    name.get(..name.floor_char_boundary(NAME)).unwrap_or_default().to_owned()
}
