//! Lines of a file of any size, in a buffer that does not grow with it.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};

use crate::code::Code;
use crate::container::Fault;

/// Bytes read at once.
const CHUNK: usize = 256 << 10;
/// Bytes that a finding shows of a line that is not held.
const EXCERPT: usize = 400;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line with its end.
    Line,
    /// The last line, which has none.
    Last,
    /// More than is held: it was skipped. It had so many quotes.
    TooLong { quotes: usize },
    /// Nothing is left.
    End,
}

/// Lines, one after the other, or several together.
pub(super) struct Lines<R> {
    input: R,
    terminator: u8,
    buffer: Vec<u8>,
    /// Where what is held begins, where it ends, and where what has been read ends.
    start: usize,
    end: usize,
    filled: usize,
    done: bool,
    fault: Option<io::Error>,
    hold: usize,
    longest: usize,
    excerpt: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// Lines of an input. Of more than `hold` bytes only the beginning is kept, a line of more than `longest` ends
    /// the reading.
    pub(super) fn new(input: R, terminator: u8, hold: usize, longest: usize) -> Self {
        Self {
            input,
            terminator,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            filled: 0,
            done: false,
            fault: None,
            hold,
            longest,
            excerpt: Vec::new(),
        }
    }

    /// What is held, with line ends.
    pub(super) fn held(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Its beginning, also where it was too long to be held.
    pub(super) fn excerpt(&self) -> &[u8] {
        if self.excerpt.is_empty() { self.held() } else { &self.excerpt }
    }

    /// The fault that the input ended with, if any. To be asked once.
    pub(super) fn take_fault(&mut self) -> Option<io::Error> {
        self.fault.take()
    }

    /// Lets go of what is held and takes the next line.
    pub(super) fn next(&mut self) -> io::Result<Piece> {
        self.start = self.end;
        self.excerpt.clear();
        self.extend()
    }

    /// Holds so many bytes only; the rest will be read again.
    pub(super) fn back_to(&mut self, length: usize) {
        self.end = (self.start + length).min(self.end);
    }

    /// Takes the next line in addition.
    pub(super) fn extend(&mut self) -> io::Result<Piece> {
        let mut from = self.end;
        loop {
            let unread = self.buffer.get(from..self.filled).unwrap_or_default();
            if let Some(at) = memchr(self.terminator, unread) {
                self.end = from + at + 1;
                return Ok(Piece::Line);
            }
            if self.done {
                let piece = if self.filled == self.end { Piece::End } else { Piece::Last };
                self.end = self.filled;
                return Ok(piece);
            }
            if self.filled - self.start > self.hold {
                return self.skip();
            }
            let read = self.fill()?;
            from = self.filled - read;
        }
    }

    /// Reads on; gives how many bytes came.
    fn fill(&mut self) -> io::Result<usize> {
        if self.filled == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.filled, 0);
                self.filled -= self.start;
                self.end -= self.start;
                self.start = 0;
            } else {
                let larger = (self.buffer.len() * 2).min(self.hold + CHUNK);
                self.buffer.resize(larger.max(self.filled + 1), 0);
            }
        }
        loop {
            match self.input.read(self.buffer.get_mut(self.filled..).unwrap_or_default()) {
                Ok(read) => {
                    self.done = read == 0;
                    self.filled += read;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if Fault::is_verdict(&error) => {
                    self.fault = Some(error);
                    self.done = true;
                    return Ok(0);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn skip(&mut self) -> io::Result<Piece> {
        let beginning = self.buffer.get(self.start..self.filled.min(self.start + EXCERPT));
        self.excerpt = beginning.unwrap_or_default().to_vec();
        let (mut quotes, mut line) = (0, 0);
        // From where quotes are counted, and the end of the line is looked for.
        let (mut from, mut searched) = (self.start, self.end);
        loop {
            let unread = self.buffer.get(searched..self.filled).unwrap_or_default();
            let end = memchr(self.terminator, unread).map(|at| searched + at + 1);
            let until = end.unwrap_or(self.filled);
            quotes += memchr_iter(b'"', self.buffer.get(from..until).unwrap_or_default()).count();
            line += until - searched;
            (self.start, self.end) = (until, until);
            if line > self.longest && end.is_none() {
                let mib = self.longest >> 20;
                return Err(Fault::error(Code::FeedTooLarge, format!("one line is longer than {mib} MiB")));
            }
            if end.is_some() || self.done {
                return Ok(Piece::TooLong { quotes });
            }
            (self.start, self.end, self.filled, from, searched) = (0, 0, 0, 0, 0);
            self.fill()?;
        }
    }
}

/// A line without its end.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
