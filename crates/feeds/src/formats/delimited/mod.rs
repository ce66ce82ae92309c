//! Tables: comma, tab, pipe, semicolon and caret (FEEDS.md 3.4 to 3.8).

mod header;
mod record;
mod rows;
mod split;
mod survey;

use std::io::Read;

use crate::code::Code;
use crate::container::Bytes;
use crate::encoding::{Encoding, Utf8Reader};
use crate::raw::{Opened, Refused};

use self::header::{Found, Header};
use self::survey::Survey;
use super::lines::Lines;
use super::{Format, HEAD_BYTES, Opening, about_file, without_rows};

/// Whatever is no other kind may be a table.
pub(super) const FORMAT: Format = Format { is: |_| true, open };

/// A record is held up to so many times the largest field.
const RECORD_FIELDS: usize = 4;
/// A line of more than so many times the largest field is no line of a table.
const LINE_FIELDS: usize = 8;
/// A row of more than so many times the columns that a table may have is no row of a table either. A single row with
/// somewhat too many is a fault of that row.
const ROW_COLUMNS: usize = 20;

/// What is known of a table before its rows are read.
struct Table {
    header: Header,
    encoding: Encoding,
    /// The quoting of the whole file is sound, and every row has as many cells as the header.
    sound: bool,
    /// The file ends in the middle of a character.
    cut: bool,
    /// Cells that a row may have: at least as the header without nameless columns at its end, at most as with them.
    cells: (usize, usize),
}

impl Table {
    /// Whether a row has the right number of cells; empty ones at its end do not count.
    fn is_right(&self, cells: &[split::Cell]) -> bool {
        let (least, most) = self.cells;
        let further = cells.get(most..).unwrap_or_default();
        cells.len() >= least && further.iter().all(|cell| cell.start == cell.end)
    }
}

fn open<'s>(opening: Opening<'s, '_>) -> Result<Opened<'s>, Refused> {
    let ends = opening.text.contains('\n');
    let terminator = if !ends && opening.text.contains('\r') { b'\r' } else { b'\n' };
    let one_line = !ends && terminator == b'\n' && opening.head.len() == HEAD_BYTES;
    let limits = opening.limits;
    let found = header::find(&opening.text, char::from(terminator), opening.config, limits.columns);
    let header = match found {
        Found::Header(header) => header,
        Found::TooWide => return Err(too_wide(limits.columns)),
        Found::Unknown if one_line => {
            let what = "it is one line of more than 1 MiB".to_owned();
            return Err(Refused::File { code: Code::FeedTooLarge, what });
        }
        Found::Unknown => return Ok(without_rows(opening.detected, Code::FeedHeaderUnknown)),
    };
    let least = header.names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    let cells = (least, header.names.len());
    let wide = opening.encoding.filter(|encoding| *encoding != Encoding::Utf8);
    let mut table =
        Table { header, encoding: wide.unwrap_or(Encoding::Utf8), sound: true, cut: false, cells };
    let lines = |bytes: Bytes<'s>| -> Result<Lines<Box<dyn Read + Send + 's>>, Refused> {
        let mut input: Box<dyn Read + Send + 's> = match wide {
            Some(encoding) => Box::new(Utf8Reader::new(bytes, encoding, opening.mark, None)),
            None => Box::new(bytes),
        };
        if wide.is_none() {
            std::io::copy(&mut (&mut input).take(opening.mark as u64), &mut std::io::sink())?;
        }
        let (hold, longest) = (limits.field_bytes * RECORD_FIELDS, limits.field_bytes * LINE_FIELDS);
        Ok(Lines::new(input, terminator, hold, longest))
    };
    let survey = Survey::take(&table, lines(opening.bytes.open()?)?, limits.columns)?;
    table.sound = survey.is_sound();
    table.cut = survey.census.cut;
    table.encoding = wide.unwrap_or_else(|| survey.census.encoding());
    let mut detected = opening.detected;
    detected.encoding = table.encoding.as_str().to_owned();
    detected.delimiter = Some(char::from(table.header.delimiter).to_string());
    detected.quoting = Some(survey.quoting(&table.header).to_owned());
    detected.line_ending = Some(line_ending(&opening.text, terminator).to_owned());
    detected.header_row = table.header.in_file.then_some(table.header.lines as u32);
    let mut findings = Vec::new();
    if table.header.in_file && table.header.lines > 1 {
        findings.push(about_file(Code::FeedHeaderOffset));
    }
    if table.encoding == Encoding::Mixed {
        findings.push(about_file(Code::FeedEncodingMixed));
    }
    let bytes = opening.bytes.open()?;
    let taken = bytes.taken();
    let rows = rows::TableRows::new(table, lines(bytes)?, taken, limits)?;
    Ok(Opened { detected, findings, rows: Box::new(rows) })
}

fn too_wide(columns: usize) -> Refused {
    Refused::File { code: Code::FeedTooManyColumns, what: format!("a line has more than {columns} columns") }
}

fn line_ending(text: &str, terminator: u8) -> &'static str {
    let lines = text.matches('\n').count();
    match terminator {
        b'\r' => "cr",
        _ if text.matches("\r\n").count() * 2 > lines => "crlf",
        _ => "lf",
    }
}
