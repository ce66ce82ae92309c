//! Which characters the bytes stand for (FEEDS.md 3.1).

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::container::{Fault, fill};

/// Bytes in which the pattern of UTF-16 is looked for.
const PATTERN_BYTES: usize = 200;
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// The characters of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// No line beyond ASCII is UTF-8.
    Windows1252,
    /// Some lines are UTF-8, others are not.
    Mixed,
}

impl Encoding {
    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Windows1252 => "windows-1252",
            Self::Mixed => "mixed",
        }
    }

    /// What the first bytes say, with the length of their mark: a mark, or NUL in every second byte.
    pub(crate) fn of_beginning(head: &[u8]) -> (Option<Self>, usize) {
        match head {
            [0xef, 0xbb, 0xbf, ..] => (Some(Self::Utf8), 3),
            [0xff, 0xfe, ..] => (Some(Self::Utf16Le), 2),
            [0xfe, 0xff, ..] => (Some(Self::Utf16Be), 2),
            _ => (Self::of_pattern(head.get(..PATTERN_BYTES).unwrap_or(head)), 0),
        }
    }

    fn of_pattern(head: &[u8]) -> Option<Self> {
        let nul_at = |parity: usize| head.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd, pairs) = (nul_at(0), nul_at(1), head.len() / 2);
        // A name with an accent or a dash has no NUL where the others have it.
        let most = |nuls: usize| pairs >= 4 && nuls * 10 >= pairs * 9;
        match (most(even), most(odd)) {
            (false, true) if even == 0 => Some(Self::Utf16Le),
            (true, false) if odd == 0 => Some(Self::Utf16Be),
            _ => None,
        }
    }

    fn is_wide(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be)
    }
}

/// What is known after looking at every line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Census {
    /// Lines with characters beyond ASCII that are UTF-8.
    pub(crate) utf8: u64,
    /// Lines that are not.
    pub(crate) other: u64,
    /// The end of the input is in the middle of a character.
    pub(crate) cut: bool,
}

impl Census {
    /// What it says of the file.
    pub(crate) fn encoding(self) -> Encoding {
        match (self.utf8, self.other) {
            (_, 0) if self.utf8 > 0 || !self.cut => Encoding::Utf8,
            (0, _) => Encoding::Windows1252,
            _ => Encoding::Mixed,
        }
    }

    /// Counts bytes that are one line or several.
    pub(crate) fn count(&mut self, bytes: &[u8], last: bool) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.utf8 += u64::from(!text.is_ascii()),
            Err(error) if last && error.error_len().is_none() && !bytes.contains(&b'\n') => self.cut = true,
            Err(_) if bytes.iter().rev().skip(1).any(|byte| *byte == b'\n') => {
                let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
                while let Some(line) = lines.next() {
                    self.count(line, last && lines.peek().is_none());
                }
            }
            Err(_) => self.other += 1,
        }
    }
}

/// Takes the census of a document, whose lines may be of any length: sequences count instead of lines.
pub(crate) fn census(mut input: impl Read) -> io::Result<Census> {
    let mut census = Census::default();
    let mut chunk = vec![0; CHUNK];
    let mut kept = 0;
    loop {
        let read = match input.read(chunk.get_mut(kept..).unwrap_or_default()) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if Fault::is_verdict(&error) => 0,
            Err(error) => return Err(error),
        };
        let mut rest = chunk.get(..kept + read).unwrap_or_default();
        let tail = loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    census.utf8 += u64::from(!text.is_ascii());
                    break &[][..];
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    census.utf8 += u64::from(!valid.is_ascii());
                    let Some(bad) = error.error_len() else { break after };
                    census.other += 1;
                    rest = after.get(bad..).unwrap_or_default();
                }
            }
        };
        if read == 0 {
            census.cut = !tail.is_empty();
            return Ok(census);
        }
        let tail = tail.to_vec();
        kept = tail.len();
        chunk.get_mut(..kept).unwrap_or_default().copy_from_slice(&tail);
    }
}

/// Text of bytes that are not UTF-8, line by line: what is UTF-8 stays, the rest is Windows-1252.
pub(crate) fn decode_lines(bytes: &[u8], text: &mut String) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match std::str::from_utf8(line) {
            Ok(line) => text.push_str(line),
            Err(_) => text.push_str(&WINDOWS_1252.decode_without_bom_handling(line).0),
        }
    }
}

/// Where in the decoded text Windows-1252 had to step in, in order; the reader of rows takes from its front.
pub(crate) type Fallbacks = Arc<Mutex<VecDeque<u64>>>;

/// Decodes a document while it is read. Gives UTF-8, without a byte order mark.
pub(crate) struct Utf8Reader<R> {
    input: R,
    coder: Coder,
    raw: Vec<u8>,
    kept: usize,
    text: Vec<u8>,
    at: usize,
    given: u64,
    done: bool,
    mark: usize,
}

enum Coder {
    Wide(Decoder),
    Single,
    /// Each sequence that is not UTF-8 is Windows-1252; in a mixed file it is told where.
    Repair(Option<Fallbacks>),
}

impl<R: Read> Utf8Reader<R> {
    /// A reader of an input that begins with a mark of so many bytes.
    pub(crate) fn new(input: R, encoding: Encoding, mark: usize, fallbacks: Option<Fallbacks>) -> Self {
        let coder = match encoding {
            Encoding::Utf16Le => Coder::Wide(UTF_16LE.new_decoder_without_bom_handling()),
            Encoding::Utf16Be => Coder::Wide(UTF_16BE.new_decoder_without_bom_handling()),
            Encoding::Windows1252 => Coder::Single,
            Encoding::Utf8 | Encoding::Mixed => Coder::Repair(fallbacks),
        };
        let raw = vec![0; CHUNK];
        Self { input, coder, raw, kept: 0, text: Vec::new(), at: 0, given: 0, done: false, mark }
    }

    fn more(&mut self) -> io::Result<()> {
        self.given += self.text.len() as u64;
        self.text.clear();
        self.at = 0;
        if self.mark > 0 {
            let mut mark = [0; 4];
            fill(&mut self.input, mark.get_mut(..self.mark).unwrap_or_default())?;
            self.mark = 0;
        }
        let read = self.input.read(self.raw.get_mut(self.kept..).unwrap_or_default())?;
        self.done = read == 0;
        let raw = self.raw.get(..self.kept + read).unwrap_or_default();
        self.kept = 0;
        match &mut self.coder {
            Coder::Wide(decoder) => {
                let room = decoder.max_utf8_buffer_length(raw.len()).unwrap_or(raw.len() * 3 + 8);
                self.text.resize(room, 0);
                let (result, _, written, _) = decoder.decode_to_utf8(raw, &mut self.text, self.done);
                debug_assert!(matches!(result, CoderResult::InputEmpty));
                self.text.truncate(written);
            }
            Coder::Single => {
                self.text.extend_from_slice(WINDOWS_1252.decode_without_bom_handling(raw).0.as_bytes());
            }
            Coder::Repair(fallbacks) => {
                let kept = repair(raw, self.done, &mut self.text, self.given, fallbacks.as_ref());
                let start = raw.len() - kept;
                let end = raw.len();
                self.kept = kept;
                self.raw.copy_within(start..end, 0);
            }
        }
        Ok(())
    }
}

/// Appends to the text what the bytes say; gives how many bytes at the end begin a character that is not there yet.
fn repair(raw: &[u8], last: bool, text: &mut Vec<u8>, given: u64, fallbacks: Option<&Fallbacks>) -> usize {
    let mut rest = raw;
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.extend_from_slice(valid.as_bytes());
                return 0;
            }
            Err(error) => error,
        };
        let (valid, after) = rest.split_at(error.valid_up_to());
        text.extend_from_slice(valid);
        let bad = match error.error_len() {
            Some(bad) => bad,
            None if last => after.len(),
            None => return after.len(),
        };
        let (bad, after) = after.split_at(bad);
        if let Some(fallbacks) = fallbacks {
            let at = given + text.len() as u64;
            fallbacks.lock().unwrap_or_else(PoisonError::into_inner).push_back(at);
        }
        text.extend_from_slice(WINDOWS_1252.decode_without_bom_handling(bad).0.as_bytes());
        rest = after;
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() && !self.done {
            self.more()?;
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(from), Some(to)) = (rest.get(..length), buffer.get_mut(..length)) {
            to.copy_from_slice(from);
        }
        self.at += length;
        Ok(length)
    }
}

/// The beginning of a file as text, whatever its encoding turns out to be.
pub(crate) fn decode_head(head: &[u8], encoding: Option<Encoding>, mark: usize) -> String {
    let body = head.get(mark..).unwrap_or_default();
    let known = encoding.filter(|encoding| encoding.is_wide());
    match known {
        Some(Encoding::Utf16Le) => UTF_16LE.decode_without_bom_handling(body).0.into_owned(),
        Some(_) => UTF_16BE.decode_without_bom_handling(body).0.into_owned(),
        None => {
            let mut text = String::new();
            decode_lines(body, &mut text);
            text
        }
    }
}
