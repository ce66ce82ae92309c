//! NDJSON: one vehicle a line. A bad line is one bad row.

use std::io::Read;

use crate::code::Code;
use crate::finding::Finding;
use crate::limits::Limits;
use crate::raw::{Columns, Opened, RawRow, Refused, Stopped};

use super::course::{Course, Step};
use super::flat::Flat;
use super::json::{is_vehicle, object};
use super::lexer::{Event, Fault, Lexer};
use super::lines::{Lines, Piece};
use super::{Format, Opening, about_file};

pub(super) const FORMAT: Format = Format { is, open };

/// A line is held up to so many times the largest field; one of four times that ends the reading.
const LINE_FIELDS: usize = 4;

/// The first line is one whole object, and so the next begins; or there is one line only, and it is a vehicle.
fn is(opening: &Opening<'_, '_>) -> bool {
    let mut lines = opening.text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next().filter(|line| line.starts_with('{')) else { return false };
    let whole = first.len() <= opening.limits.field_bytes
        && serde_json::from_str::<serde::de::IgnoredAny>(first).is_ok();
    match lines.next() {
        Some(second) => whole && second.starts_with('{'),
        None => whole && is_vehicle(first, opening.limits.depth),
    }
}

fn open<'s>(mut opening: Opening<'s, '_>) -> Result<Opened<'s>, Refused> {
    let encoding = opening.settle_encoding()?;
    let limits = opening.limits;
    let mut detected = std::mem::take(&mut opening.detected);
    detected.format = Some("ndjson".to_owned());
    let text = opening.read(encoding)?;
    let hold = limits.field_bytes * LINE_FIELDS;
    let rows = LineRows {
        lines: Lines::new(text.reader, b'\n', hold, hold * LINE_FIELDS),
        flat: Flat::new(limits),
        limits,
        course: Course::new(text.taken),
        fell_back: text.fallbacks,
        offset: 0,
    };
    Ok(Opened { detected, findings: Opening::findings(encoding), rows: Box::new(rows) })
}

struct LineRows<R> {
    lines: Lines<R>,
    flat: Flat,
    limits: Limits,
    course: Course,
    fell_back: super::FellBack,
    offset: u64,
}

impl<R: Read> LineRows<R> {
    fn advance(&mut self) -> Result<Option<RawRow>, Stopped> {
        loop {
            let piece = self.lines.next()?;
            let start = self.offset;
            self.offset += self.lines.held().len() as u64;
            match piece {
                Piece::End => {
                    self.course.done = true;
                    return match self.lines.take_fault() {
                        Some(fault) => Err(fault.into()),
                        None => Ok(None),
                    };
                }
                Piece::TooLong { .. } => {
                    self.flat.begin()?;
                    let beginning = String::from_utf8_lossy(self.lines.excerpt());
                    return Ok(Some(self.flat.lost(Code::FieldTooLarge, &beginning)));
                }
                Piece::Line | Piece::Last if self.lines.held().trim_ascii().is_empty() => {}
                Piece::Line | Piece::Last => {
                    let fell_back = self.fell_back.between(start, self.offset);
                    return self.line(piece == Piece::Last, fell_back).map(Some);
                }
            }
        }
    }

    fn line(&mut self, last: bool, fell_back: bool) -> Result<RawRow, Stopped> {
        self.flat.begin()?;
        let mut lexer = Lexer::new(self.lines.held(), self.limits.depth, self.limits.field_bytes);
        let read = match lexer.next() {
            Ok(Event::OpenObject) => object(&mut lexer, &mut self.flat)
                .and_then(|()| lexer.next().map(|_| ()).map_err(Stopped::from)),
            Ok(_) => Err(Fault::Ill("a line is no object".to_owned()).into()),
            Err(fault) => Err(fault.into()),
        };
        match read {
            Ok(()) => Ok(self.flat.finish(fell_back)),
            Err(Stopped::File { code, what }) if self.is_of_the_line(code) => {
                if code == Code::FeedTruncated && last {
                    let stop = self.lines.take_fault().map(Stopped::from);
                    self.course.stop = stop.or(Some(Stopped::File { code, what }));
                }
                let beginning = String::from_utf8_lossy(self.lines.held());
                Ok(self.flat.lost(Code::RowUnparseable, &beginning))
            }
            Err(stop) => Err(stop),
        }
    }

    /// Faults of a line take only its row.
    fn is_of_the_line(&self, code: Code) -> bool {
        matches!(code, Code::FeedTruncated | Code::FeedNotWellformed)
    }
}

impl<R: Read + Send> Step for LineRows<R> {
    fn columns(&self) -> &Columns {
        &self.flat.columns
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
        if self.flat.rows() == 0 { vec![about_file(Code::FeedEmpty)] } else { Vec::new() }
    }
}
