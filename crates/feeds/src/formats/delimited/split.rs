//! Cells of a line (FEEDS.md 3.6, 3.7).

use memchr::{memchr, memchr_iter, memchr2, memmem};

/// A cell, as a place in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) form: Form,
}

/// How a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Bare,
    /// Between quotes.
    Quoted,
    /// Between quotes, with doubled ones inside.
    Doubled,
    /// Out of a line that was repaired: `\"` and `""` are quotes.
    Repaired,
}

/// Why a line is not RFC 4180.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// A quote where none may be.
    Stray,
    /// A quote is not closed.
    Open,
}

/// Splits at every separator: a quote is an ordinary character.
pub(super) fn plain(line: &[u8], delimiter: u8, cells: &mut Vec<Cell>) {
    cells.clear();
    let mut start = 0;
    for end in memchr_iter(delimiter, line).chain([line.len()]) {
        cells.push(Cell { start, end, form: Form::Bare });
        start = end + 1;
    }
}

/// Splits by RFC 4180. Blanks between a separator and a quote are let pass.
pub(super) fn strict(line: &[u8], delimiter: u8, cells: &mut Vec<Cell>) -> Result<(), Broken> {
    cells.clear();
    let mut start = 0;
    loop {
        let rest = line.get(start..).unwrap_or_default();
        let end = match quote_at(rest) {
            Some(blanks) => {
                let cell = quoted(line, start + blanks + 1)?;
                cells.push(cell);
                let after = line.get(cell.end + 1..).unwrap_or_default();
                let blanks = after.iter().take_while(|byte| **byte == b' ' && delimiter != b' ').count();
                cell.end + 1 + blanks
            }
            None => {
                let at = memchr2(delimiter, b'"', rest).map_or(line.len(), |at| start + at);
                if line.get(at) == Some(&b'"') {
                    return Err(Broken::Stray);
                }
                cells.push(Cell { start, end: at, form: Form::Bare });
                at
            }
        };
        match line.get(end) {
            None => return Ok(()),
            Some(byte) if *byte == delimiter => start = end + 1,
            Some(_) => return Err(Broken::Stray),
        }
    }
}

/// How many blanks stand before the quote that a cell begins with.
fn quote_at(rest: &[u8]) -> Option<usize> {
    match rest.first() {
        Some(b'"') => Some(0),
        Some(b' ') => {
            let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
            (rest.get(blanks) == Some(&b'"')).then_some(blanks)
        }
        _ => None,
    }
}

fn quoted(line: &[u8], start: usize) -> Result<Cell, Broken> {
    let (mut from, mut form) = (start, Form::Quoted);
    loop {
        let at = memchr(b'"', line.get(from..).unwrap_or_default()).ok_or(Broken::Open)?;
        let end = from + at;
        if line.get(end + 1) != Some(&b'"') {
            return Ok(Cell { start, end, form });
        }
        form = Form::Doubled;
        from = end + 2;
    }
}

/// Splits a line whose quotes are not doubled. First as one in which every cell is quoted, at `","`; then cell by
/// cell, where a cell that begins with a quote ends at the next one before a separator, and any other quote is text.
/// False if neither gives a row that is `right`.
pub(super) fn repair(
    line: &[u8],
    delimiter: u8,
    cells: &mut Vec<Cell>,
    right: impl Fn(&[Cell]) -> bool,
) -> bool {
    if let (Some(b'"'), Some(b'"')) = (line.first(), line.last())
        && line.len() >= 2
    {
        cells.clear();
        let between = [b'"', delimiter, b'"'];
        let inner = line.get(1..line.len() - 1).unwrap_or_default();
        let mut start = 1;
        for at in memmem::find_iter(inner, &between) {
            cells.push(Cell { start, end: at + 1, form: Form::Repaired });
            start = at + 1 + between.len();
        }
        cells.push(Cell { start, end: line.len() - 1, form: Form::Repaired });
        if right(cells) {
            return true;
        }
    }
    lenient(line, delimiter, cells) && right(cells)
}

fn lenient(line: &[u8], delimiter: u8, cells: &mut Vec<Cell>) -> bool {
    cells.clear();
    let mut start = 0;
    loop {
        let rest = line.get(start..).unwrap_or_default();
        let end = if rest.first() == Some(&b'"') {
            let closes = |at: &usize| rest.get(at + 1).is_none_or(|after| *after == delimiter);
            let Some(at) = memchr_iter(b'"', rest).skip(1).find(closes) else { return false };
            cells.push(Cell { start: start + 1, end: start + at, form: Form::Repaired });
            start + at + 1
        } else {
            let end = memchr(delimiter, rest).map_or(line.len(), |at| start + at);
            cells.push(Cell { start, end, form: Form::Repaired });
            end
        };
        if end >= line.len() {
            return true;
        }
        start = end + 1;
    }
}

/// The text of a cell: trimmed, quotes undone, control characters left out, no-break spaces as spaces. `dirty` says
/// whether the line has any of those.
pub(super) fn text(line: &str, cell: Cell, dirty: bool) -> String {
    let raw = line.get(cell.start..cell.end).unwrap_or_default();
    let undone = match cell.form {
        Form::Bare | Form::Quoted => None,
        Form::Doubled => Some(raw.replace("\"\"", "\"")),
        Form::Repaired if memchr(b'"', raw.as_bytes()).is_none() => None,
        Form::Repaired => Some(raw.replace("\\\"", "\"").replace("\"\"", "\"")),
    };
    let raw = undone.as_deref().unwrap_or(raw);
    if dirty { crate::formats::cleaned(raw).trim().to_owned() } else { raw.trim().to_owned() }
}
