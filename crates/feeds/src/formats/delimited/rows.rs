//! Rows of a table.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memchr_iter;

use crate::code::Code;
use crate::encoding::{Encoding, decode_lines};
use crate::finding::Finding;
use crate::formats::{about_file, excerpt, is_dirty};
use crate::limits::Limits;
use crate::raw::{Columns, RawRow, Stopped};

use super::super::course::{Course, Step};
use super::record::{is_repeated_header, is_trailer};
use super::split::{self, Broken, Cell, Form};
use super::{ROW_COLUMNS, Table};
use crate::formats::lines::{Lines, Piece, trim_end};

/// Lines that a record of a file with broken quotes may go over.
const JOINED: usize = 200;
/// Bytes that may be looked at in vain for such records in one file; then lines are lines. A file made of open quotes
/// would be read two hundred times otherwise.
const JOIN_BYTES: usize = 64 << 20;

pub(super) struct TableRows<R> {
    table: Table,
    lines: Lines<R>,
    limits: Limits,
    columns: Columns,
    course: Course,
    /// Records so far.
    row: u32,
    join_bytes: usize,
    /// The record as text, and its cells.
    text: String,
    cells: Vec<Cell>,
    fell_back: bool,
    repeated: bool,
    trailer: bool,
}

/// What a record turned out to be.
enum Judged {
    Row {
        repaired: bool,
    },
    NoRecord,
    Lost(Code),
    /// Lost, because the file ends here and should not.
    Cut(Code),
}

impl<R: Read> TableRows<R> {
    pub(super) fn new(
        table: Table,
        mut lines: Lines<R>,
        taken: Arc<AtomicU64>,
        limits: Limits,
    ) -> Result<Self, Stopped> {
        for _ in 0..table.header.lines {
            lines.next()?;
        }
        let mut columns = Columns::default();
        table.header.names.iter().for_each(|name| {
            columns.push(name);
        });
        Ok(Self {
            table,
            lines,
            limits,
            columns,
            course: Course::new(taken),
            row: 0,
            join_bytes: JOIN_BYTES,
            text: String::new(),
            cells: Vec::new(),
            fell_back: false,
            repeated: false,
            trailer: false,
        })
    }

    /// The record that is held, as text.
    fn decode(&mut self) {
        self.text.clear();
        let held = trim_end(self.lines.held());
        self.fell_back = false;
        match std::str::from_utf8(held) {
            Ok(text) => self.text.push_str(text),
            Err(_) => {
                decode_lines(held, &mut self.text);
                self.fell_back = self.table.encoding == Encoding::Mixed;
            }
        }
    }

    fn judge(&mut self, piece: Piece) -> Result<Judged, Stopped> {
        let last = piece == Piece::Last;
        let judged = match (self.table.header.quotes, self.table.sound) {
            (false, _) => {
                self.decode();
                split::plain(self.text.as_bytes(), self.table.header.delimiter, &mut self.cells);
                self.counted(last)
            }
            (true, true) => self.sound(last)?,
            (true, false) => self.repairing(last)?,
        };
        if self.cells.len() > self.limits.columns * ROW_COLUMNS {
            let what = format!("a line has more than {} columns", self.limits.columns);
            return Err(Stopped::File { code: Code::FeedTooManyColumns, what });
        }
        Ok(match judged {
            Judged::Row { .. } | Judged::Lost(_) if last && self.table.cut => {
                Judged::Cut(Code::RowUnparseable)
            }
            judged => judged,
        })
    }

    /// A file that is RFC 4180 throughout: a record ends where its quotes are closed.
    fn sound(&mut self, last: bool) -> Result<Judged, Stopped> {
        let mut last = last;
        let mut open = memchr_iter(b'"', self.lines.held()).count() % 2 == 1;
        while open {
            let before = self.lines.held().len();
            match self.lines.extend()? {
                Piece::Line => {}
                Piece::Last => last = true,
                Piece::End => break,
                Piece::TooLong { .. } => return Ok(Judged::Lost(Code::FieldTooLarge)),
            }
            let added = self.lines.held().get(before..).unwrap_or_default();
            open ^= memchr_iter(b'"', added).count() % 2 == 1;
        }
        self.decode();
        match split::strict(self.text.as_bytes(), self.table.header.delimiter, &mut self.cells) {
            Ok(()) => Ok(self.counted(last)),
            Err(Broken::Open) => Ok(Judged::Cut(Code::RowUnparseable)),
            Err(Broken::Stray) => Ok(Judged::Lost(Code::RowUnparseable)),
        }
    }

    /// A record that could be split: whether it is one, and has the cells it should have.
    fn counted(&mut self, last: bool) -> Judged {
        let short = last && self.cells.len() < self.table.cells.0;
        let begun = short && self.cells.iter().any(|cell| cell.form != Form::Bare);
        if begun && !is_trailer(&self.text, &self.cells) {
            // Cells that somebody quoted are a row, however empty they are.
            Judged::Cut(Code::RowFieldCount)
        } else if self.is_no_record() {
            Judged::NoRecord
        } else if last && self.ends_at_a_separator() {
            Judged::Cut(Code::RowUnparseable)
        } else if self.table.is_right(&self.cells) {
            Judged::Row { repaired: false }
        } else if short {
            Judged::Cut(Code::RowFieldCount)
        } else {
            Judged::Lost(Code::RowFieldCount)
        }
    }

    /// Whether the last cell is missing rather than empty: it is not even quoted, as all others are.
    fn ends_at_a_separator(&self) -> bool {
        let Some((last, others)) = self.cells.split_last() else { return false };
        last.start == last.end
            && last.form == Form::Bare
            && !others.is_empty()
            && others.iter().all(|cell| cell.form != Form::Bare)
    }

    fn is_no_record(&mut self) -> bool {
        let blank = |cell: &Cell| {
            let text = self.text.get(cell.start..cell.end).unwrap_or_default();
            text.chars().all(|sign| sign.is_whitespace() || sign.is_control())
        };
        if self.cells.iter().all(blank) {
            return true;
        }
        let trailer = is_trailer(&self.text, &self.cells);
        let repeated = !trailer && is_repeated_header(&self.text, &self.cells, &self.table.header);
        self.trailer |= trailer;
        self.repeated |= repeated;
        trailer || repeated
    }

    /// A file with broken quotes, by line: a bad one never takes the next with it.
    fn repairing(&mut self, last: bool) -> Result<Judged, Stopped> {
        self.decode();
        let delimiter = self.table.header.delimiter;
        let broken = split::strict(self.text.as_bytes(), delimiter, &mut self.cells).err();
        if broken.is_none() {
            return Ok(self.counted(last));
        }
        let table = &self.table;
        if split::repair(self.text.as_bytes(), delimiter, &mut self.cells, |cells| table.is_right(cells)) {
            return Ok(if self.is_no_record() { Judged::NoRecord } else { Judged::Row { repaired: true } });
        }
        if broken == Some(Broken::Open) {
            let length = self.lines.held().len();
            if let Some(judged) = self.joined()? {
                return Ok(judged);
            }
            self.lines.back_to(length);
            self.decode();
        }
        let line = self.text.as_bytes();
        split::plain(line, delimiter, &mut self.cells);
        let unclosed = line.first() == Some(&b'"') && line.last() != Some(&b'"');
        let short = self.cells.len() < self.table.cells.0;
        if last && (broken == Some(Broken::Open) || unclosed || short) {
            return Ok(Judged::Cut(Code::RowUnparseable));
        }
        Ok(Judged::Lost(Code::RowFieldCount))
    }

    /// Whether a line whose last quote is open is the beginning of a sound record over several lines, none of which
    /// could be a row by itself.
    fn joined(&mut self) -> Result<Option<Judged>, Stopped> {
        let delimiter = self.table.header.delimiter;
        for _ in 0..JOINED {
            let before = self.lines.held().len();
            let piece = self.lines.extend()?;
            if matches!(piece, Piece::TooLong { .. }) || self.lines.held().len() > self.limits.field_bytes {
                // The first line is gone with the others only where it was too long together with the next.
                let lost = matches!(piece, Piece::TooLong { .. });
                return Ok(lost.then_some(Judged::Lost(Code::FieldTooLarge)));
            }
            let added = trim_end(self.lines.held().get(before..).unwrap_or_default());
            split::plain(added, delimiter, &mut self.cells);
            let row_itself = self.table.is_right(&self.cells)
                || split::strict(added, delimiter, &mut self.cells).is_ok()
                    && self.table.is_right(&self.cells);
            let left = self.join_bytes.checked_sub(self.lines.held().len());
            self.join_bytes = left.unwrap_or(0);
            if row_itself || left.is_none() {
                return Ok(None);
            }
            self.decode();
            match split::strict(self.text.as_bytes(), delimiter, &mut self.cells) {
                Ok(()) if self.table.is_right(&self.cells) => {
                    return Ok(Some(Judged::Row { repaired: false }));
                }
                Err(Broken::Open) if piece == Piece::Line => {}
                Err(Broken::Open) => return Ok(Some(Judged::Cut(Code::RowUnparseable))),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The row out of the cells.
    fn row(&mut self, repaired: bool) -> Result<RawRow, Stopped> {
        let row = self.count()?;
        if self.cells.iter().any(|cell| cell.end - cell.start > self.limits.field_bytes) {
            return Ok(RawRow::Lost { row, code: Code::FieldTooLarge, excerpt: excerpt(&self.text) });
        }
        let dirty = is_dirty(&self.text);
        let mut cells = Vec::with_capacity(self.cells.len());
        for (place, cell) in self.cells.iter().take(self.columns.names().len()).enumerate() {
            let text = split::text(&self.text, *cell, dirty);
            if !text.is_empty() {
                cells.push((place, text));
            }
        }
        let mut notes = Vec::new();
        if repaired {
            notes.push((Code::CsvQuotesRepaired, None));
        }
        if self.fell_back {
            notes.push((Code::EncodingFallback, None));
        }
        Ok(RawRow::Read { row, cells, notes })
    }

    fn lost(&mut self, code: Code) -> Result<RawRow, Stopped> {
        let mut beginning = String::new();
        let held = self.lines.excerpt();
        // Enough for the signs that a finding shows.
        decode_lines(held.get(..400).unwrap_or(held), &mut beginning);
        Ok(RawRow::Lost { row: self.count()?, code, excerpt: excerpt(&beginning) })
    }

    fn count(&mut self) -> Result<u32, Stopped> {
        if self.row >= self.limits.records {
            let what = format!("there are more than {} records", self.limits.records);
            return Err(Stopped::File { code: Code::FeedTooManyRecords, what });
        }
        self.row += 1;
        Ok(self.row)
    }

    fn advance(&mut self) -> Result<Option<RawRow>, Stopped> {
        loop {
            let piece = self.lines.next()?;
            let judged = match piece {
                Piece::End => {
                    self.course.done = true;
                    return match self.lines.take_fault() {
                        Some(fault) => Err(fault.into()),
                        None => Ok(None),
                    };
                }
                Piece::TooLong { .. } => Judged::Lost(Code::FieldTooLarge),
                Piece::Line | Piece::Last => self.judge(piece)?,
            };
            return match judged {
                Judged::NoRecord => continue,
                Judged::Row { repaired } => self.row(repaired).map(Some),
                Judged::Lost(code) => self.lost(code).map(Some),
                Judged::Cut(code) => {
                    let what = "the file ends in the middle of a row".to_owned();
                    let stop = self.lines.take_fault().map(Stopped::from);
                    self.course.stop = stop.or(Some(Stopped::File { code: Code::FeedTruncated, what }));
                    self.lost(code).map(Some)
                }
            };
        }
    }
}

impl<R: Read + Send> Step for TableRows<R> {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn course(&self) -> &Course {
        &self.course
    }

    fn course_mut(&mut self) -> &mut Course {
        &mut self.course
    }

    fn step(&mut self) -> Result<Option<RawRow>, Stopped> {
        self.advance()
    }

    fn end(&mut self) -> Vec<Finding> {
        let told = [
            (self.row == 0, Code::FeedEmpty),
            (self.repeated, Code::FeedRepeatedHeader),
            (self.trailer, Code::FeedTrailerRow),
        ];
        told.into_iter().filter(|(told, _)| *told).map(|(_, code)| about_file(code)).collect()
    }
}
