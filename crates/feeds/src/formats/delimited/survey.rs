//! One look at the whole table before its rows are read: characters, quoting, and whether every record is sound.

use std::io::{self, Read};

use memchr::memchr_iter;

use crate::code::Code;
use crate::container::Fault;
use crate::encoding::Census;

use super::header::Header;
use super::record::{is_repeated_header, is_trailer};
use super::split::{self, Broken, Cell, Form};
use super::{ROW_COLUMNS, Table};
use crate::formats::lines::{Lines, Piece, trim_end};

/// Of all records that say how they are quoted, so many percent decide.
const MOST: u64 = 80;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) census: Census,
    /// A quote is where none may be, or one is never closed though the file goes on.
    broken: bool,
    /// A record has too many or too few cells.
    wrong: bool,
    /// Records, those in which every cell is quoted, and quoted cells.
    records: u64,
    all_quoted: u64,
    quoted: u64,
}

impl Survey {
    /// Reads the whole file.
    pub(super) fn take<R: Read>(table: &Table, mut lines: Lines<R>, columns: usize) -> io::Result<Self> {
        let mut survey = Self::default();
        for _ in 0..table.header.lines {
            lines.next()?;
            survey.census.count(lines.held(), false);
        }
        let mut cells = Vec::new();
        loop {
            let piece = lines.next()?;
            survey.census.count(lines.held(), piece == Piece::Last);
            if piece == Piece::End {
                return Ok(survey);
            }
            if !table.header.quotes {
                let delimiters = memchr_iter(table.header.delimiter, lines.held()).count();
                if delimiters >= columns * ROW_COLUMNS {
                    return Err(too_wide(columns));
                }
                continue;
            }
            let whole = survey.rest_of_record(&mut lines, piece)?;
            survey.judge(table, lines.held(), whole, &mut cells);
            if cells.len() > columns * ROW_COLUMNS {
                return Err(too_wide(columns));
            }
        }
    }

    /// Takes further lines until every quote is closed; false where that does not come.
    fn rest_of_record<R: Read>(&mut self, lines: &mut Lines<R>, first: Piece) -> io::Result<bool> {
        let count = |held: &[u8]| memchr_iter(b'"', held).count();
        if let Piece::TooLong { quotes } = first {
            // More than a record may be, and its quote still open: the quote is a stray one.
            self.broken |= quotes % 2 == 1;
            return Ok(true);
        }
        let mut open = count(lines.held()) % 2 == 1;
        while open && !self.broken {
            let before = lines.held().len();
            let piece = lines.extend()?;
            let added = lines.held().get(before..).unwrap_or_default();
            match piece {
                Piece::End => return Ok(false),
                Piece::TooLong { quotes } => {
                    self.broken |= quotes % 2 == 1;
                    return Ok(true);
                }
                Piece::Line | Piece::Last => {
                    self.census.count(added, piece == Piece::Last);
                    open ^= count(added) % 2 == 1;
                }
            }
        }
        Ok(!open)
    }

    fn judge(&mut self, table: &Table, held: &[u8], whole: bool, cells: &mut Vec<Cell>) {
        let record = trim_end(held);
        let delimiter = table.header.delimiter;
        match split::strict(record, delimiter, cells) {
            Ok(()) => {}
            // The last record of a file that was cut is no reason to mistrust the quotes of the others.
            Err(Broken::Open) if !whole && !self.broken => {
                self.broken = record.len() < held.len() && later_line_stands(table, record, cells);
                return;
            }
            Err(_) => {
                self.broken = true;
                split::plain(record, delimiter, cells);
            }
        }
        let right = table.is_right(cells);
        let blank = cells.iter().all(|cell| cell.start == cell.end);
        let text = || String::from_utf8_lossy(record);
        if !right
            && (blank || is_trailer(&text(), cells) || is_repeated_header(&text(), cells, &table.header))
        {
            return;
        }
        if !right && cells.len() < table.cells.0 && !held.ends_with(b"\n") && !held.ends_with(b"\r") {
            // Cut at its end; nothing about the records before is wrong.
            return;
        }
        self.wrong |= !right;
        if !blank {
            self.records += 1;
            let quoted = cells.iter().filter(|cell| cell.form != Form::Bare).count() as u64;
            self.quoted += quoted;
            let closed = record.first() == Some(&b'"') && record.last() == Some(&b'"');
            self.all_quoted += u64::from(quoted == cells.len() as u64 || (self.broken && closed));
        }
    }

    /// RFC 4180 holds and every record fits the header.
    pub(super) fn is_sound(&self) -> bool {
        !self.broken && !self.wrong
    }

    /// How the table is quoted.
    pub(super) fn quoting(&self, header: &Header) -> &'static str {
        let all = self.records > 0 && self.all_quoted * 100 >= self.records * MOST;
        match (header.quotes, all, self.broken) {
            (false, ..) => "none",
            (_, true, false) => "all",
            (_, true, true) => "all-broken",
            (_, false, false) => "minimal",
            (_, false, true) => "minimal-broken",
        }
    }
}

/// Asked of a file that ends with a line: whether one of the lines behind the first is a row by itself: then the quote that swallowed it is a stray one, and
/// the file was not cut.
fn later_line_stands(table: &Table, record: &[u8], cells: &mut Vec<Cell>) -> bool {
    record.split(|byte| *byte == b'\n').skip(1).any(|line| {
        split::strict(trim_end(line), table.header.delimiter, cells).is_ok() && table.is_right(cells)
    })
}

fn too_wide(columns: usize) -> io::Error {
    Fault::error(Code::FeedTooManyColumns, format!("a line has more than {columns} columns"))
}
