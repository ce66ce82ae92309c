//! JSON as a stream of events, in memory that does not grow with the document.

use std::io::{self, Read};

use memchr::memchr2;

/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// Signs of a number. Further ones make it no number.
const NUMBER: usize = 400;

/// What comes next in a document. The text of a key, a string or a number is in [`Lexer::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    Key,
    Text,
    Number,
    True,
    False,
    Null,
    /// The document is complete.
    End,
}

/// Why a document cannot be read on.
#[derive(Debug)]
pub(super) enum Fault {
    /// It stops before it is complete.
    Cut,
    /// It is not JSON, or nests too deep.
    Ill(String),
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In an object: at its beginning, behind a comma, behind a key, behind a member.
    ObjectStart,
    NextKey,
    Member,
    AfterMember,
    ArrayStart,
    NextElement,
    AfterElement,
}

/// The reader of events.
pub(super) struct Lexer<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    offset: u64,
    stack: Vec<Place>,
    begun: bool,
    depth: usize,
    longest: usize,
    bytes: Vec<u8>,
    too_long: bool,
}

impl<R: Read> Lexer<R> {
    /// Events of UTF-8 text. Of a string beyond `longest` bytes only the beginning is kept.
    pub(super) fn new(input: R, depth: usize, longest: usize) -> Self {
        Self {
            input,
            buffer: vec![0; CHUNK],
            at: 0,
            filled: 0,
            offset: 0,
            stack: Vec::new(),
            begun: false,
            depth,
            longest,
            bytes: Vec::new(),
            too_long: false,
        }
    }

    /// Text of the last key, string or number.
    pub(super) fn text(&self) -> &str {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = self.bytes.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(valid).unwrap_or_default()
            }
        }
    }

    /// Whether the last text was too long, so that only its beginning is there.
    pub(super) fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// Bytes read so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset + self.at as u64
    }

    /// How deep the next event is.
    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        if self.at == self.filled {
            self.offset += self.filled as u64;
            (self.at, self.filled) = (0, 0);
            loop {
                match self.input.read(&mut self.buffer) {
                    Ok(read) => {
                        self.filled = read;
                        break;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(self.buffer.get(..self.filled).and_then(|bytes| bytes.get(self.at)).copied())
    }

    fn must(&mut self) -> Result<u8, Fault> {
        self.peek()?.ok_or(Fault::Cut)
    }

    fn take(&mut self) -> Result<u8, Fault> {
        let byte = self.must()?;
        self.at += 1;
        Ok(byte)
    }

    fn blanks(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\n' | b'\r' | b'\t' | 0) => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    fn ill(&self, expected: &str) -> Fault {
        Fault::Ill(format!("{expected} is missing at byte {}", self.offset() + 1))
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<Event, Fault> {
        loop {
            let Some(byte) = self.blanks()? else {
                return if self.begun && self.stack.is_empty() { Ok(Event::End) } else { Err(Fault::Cut) };
            };
            let Some(place) = self.stack.last_mut() else {
                if self.begun {
                    return Err(self.ill("the end"));
                }
                self.begun = true;
                return self.value(byte);
            };
            match (*place, byte) {
                (Place::ObjectStart | Place::AfterMember, b'}') => {
                    self.at += 1;
                    self.stack.pop();
                    return Ok(Event::CloseObject);
                }
                (Place::ArrayStart | Place::AfterElement, b']') => {
                    self.at += 1;
                    self.stack.pop();
                    return Ok(Event::CloseArray);
                }
                (Place::AfterMember, b',') => {
                    *place = Place::NextKey;
                    self.at += 1;
                }
                (Place::AfterElement, b',') => {
                    *place = Place::NextElement;
                    self.at += 1;
                }
                (Place::ObjectStart | Place::NextKey, b'"') => {
                    *place = Place::Member;
                    self.at += 1;
                    self.string()?;
                    if self.blanks()?.ok_or(Fault::Cut)? != b':' {
                        return Err(self.ill("a colon"));
                    }
                    self.at += 1;
                    return Ok(Event::Key);
                }
                (Place::Member, _) => {
                    *place = Place::AfterMember;
                    return self.value(byte);
                }
                (Place::ArrayStart | Place::NextElement, _) => {
                    *place = Place::AfterElement;
                    return self.value(byte);
                }
                (Place::ObjectStart | Place::NextKey, _) => return Err(self.ill("a name in quotes")),
                (Place::AfterMember | Place::AfterElement, _) => return Err(self.ill("a comma")),
            }
        }
    }

    fn value(&mut self, byte: u8) -> Result<Event, Fault> {
        match byte {
            b'{' => self.open(Place::ObjectStart, Event::OpenObject),
            b'[' => self.open(Place::ArrayStart, Event::OpenArray),
            b'"' => {
                self.at += 1;
                self.string()?;
                Ok(Event::Text)
            }
            b't' => self.word("true", Event::True),
            b'f' => self.word("false", Event::False),
            b'n' => self.word("null", Event::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.ill("a value")),
        }
    }

    fn open(&mut self, place: Place, event: Event) -> Result<Event, Fault> {
        if self.stack.len() >= self.depth {
            return Err(Fault::Ill(format!("it nests deeper than {} levels", self.depth)));
        }
        self.at += 1;
        self.stack.push(place);
        Ok(event)
    }

    fn word(&mut self, word: &str, event: Event) -> Result<Event, Fault> {
        for expected in word.bytes() {
            if self.take()? != expected {
                return Err(self.ill("a value"));
            }
        }
        Ok(event)
    }

    fn number(&mut self) -> Result<Event, Fault> {
        self.bytes.clear();
        self.too_long = false;
        while let Some(byte @ (b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) = self.peek()? {
            if self.bytes.len() > NUMBER {
                return Err(self.ill("the end of a number"));
            }
            self.bytes.push(byte);
            self.at += 1;
        }
        if is_number(&self.bytes) {
            Ok(Event::Number)
        } else if self.peek()?.is_none() {
            Err(Fault::Cut)
        } else {
            Err(self.ill("a number"))
        }
    }

    /// A string, whose first quote is taken. Control characters are let pass: feeds have tabs and line breaks in
    /// them, which JSON would have escaped.
    fn string(&mut self) -> Result<(), Fault> {
        self.bytes.clear();
        self.too_long = false;
        loop {
            self.must()?;
            let unread = self.buffer.get(self.at..self.filled).unwrap_or_default();
            let length = memchr2(b'"', b'\\', unread).unwrap_or(unread.len());
            let room = self.longest.saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(unread.get(..length.min(room)).unwrap_or_default());
            self.too_long |= length > room;
            self.at += length;
            match self.peek()? {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let sign = match self.take()? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'u' => {
                let mut unit = self.hex()?;
                // Two of them make one sign; one that is alone stands for nothing.
                while (0xd800..0xdc00).contains(&unit) && self.must()? == b'\\' {
                    self.at += 1;
                    if self.must()? != b'u' {
                        self.push('\u{fffd}');
                        return self.escape();
                    }
                    self.at += 1;
                    let low = self.hex()?;
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        self.push('\u{fffd}');
                        unit = low;
                    }
                }
                char::from_u32(unit).unwrap_or('\u{fffd}')
            }
            _ => return Err(self.ill("an escape that JSON knows")),
        };
        self.push(sign);
        Ok(())
    }

    fn push(&mut self, sign: char) {
        let mut bytes = [0; 4];
        let sign = sign.encode_utf8(&mut bytes);
        if self.bytes.len() + sign.len() <= self.longest {
            self.bytes.extend_from_slice(sign.as_bytes());
        } else {
            self.too_long = true;
        }
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.take()?).to_digit(16);
            unit = unit << 4 | digit.ok_or_else(|| self.ill("a hexadecimal digit"))?;
        }
        Ok(unit)
    }
}

/// The grammar of RFC 8259, section 6.
fn is_number(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = fraction.get(length..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent =
            exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        let length = digits(exponent);
        if length == 0 {
            return false;
        }
        rest = exponent.get(length..).unwrap_or_default();
    }
    rest.is_empty()
}
