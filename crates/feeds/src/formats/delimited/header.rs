//! Where the table begins, and what its columns are called (FEEDS.md 3.4, 3.5).

use crate::aliases::{fold, is_known};
use crate::config::Config;

use super::split::{self, Cell};

/// Separators, in the order they are tried.
pub(super) const DELIMITERS: [u8; 5] = [b'\t', b'|', b';', b',', b'^'];
/// Lines in which the header is looked for.
const LINES: usize = 15;
/// Cells of it that must be known.
const KNOWN: usize = 4;
/// The same for a source that only fills in: which unit it is, and one thing more.
const KNOWN_OF_FILLING_IN: usize = 2;
/// Bytes of a name; what is longer is no name, and its beginning is enough to see that.
const NAME: usize = 300;
/// Cells that are counted of the first line of a file without a header.
const NAMES: usize = 1000;

/// The header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) delimiter: u8,
    /// Lines before the first record, the header among them.
    pub(super) lines: usize,
    /// Whether the names were in the file.
    pub(super) in_file: bool,
    pub(super) names: Vec<String>,
    /// RFC 4180 holds; else a quote is an ordinary character.
    pub(super) quotes: bool,
}

/// What came of looking for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Header(Header),
    /// A line has more columns than a table may have.
    TooWide,
    /// No line has enough known names.
    Unknown,
}

/// Looks for the header in the beginning of a file.
pub(super) fn find(head: &str, terminator: char, config: &Config, columns: usize) -> Found {
    let lines: Vec<&str> =
        head.split(terminator).take(LINES).map(|line| line.trim_end_matches('\r')).collect();
    let by_hand: Vec<String> = config.columns.keys().map(|name| fold(name)).collect();
    let needed = if config.fills_in { KNOWN_OF_FILLING_IN } else { KNOWN };
    let known = |name: &str| {
        let folded = fold(name);
        !folded.is_empty() && (is_known(&folded) || by_hand.contains(&folded))
    };
    let mut wide = false;
    for delimiter in DELIMITERS {
        for (number, line) in lines.iter().enumerate() {
            let (names, quotes) = cells(line, delimiter, columns);
            if names.len() > columns {
                wide = true;
                continue;
            }
            if names.iter().filter(|name| known(name)).take(needed).count() == needed {
                return Found::Header(Header { delimiter, lines: number + 1, in_file: true, names, quotes });
            }
        }
    }
    let given = config.header.as_ref().and_then(|names| by_settings(&lines, names));
    if let Some(header) = given {
        return Found::Header(header);
    }
    if wide { Found::TooWide } else { Found::Unknown }
}

/// The names of a file that has no header. The separator is the one that makes as many cells as there are names.
fn by_settings(lines: &[&str], names: &[String]) -> Option<Header> {
    let first = lines.iter().find(|line| !line.trim().is_empty())?;
    let count = |delimiter: &u8| {
        let (mut cells, _) = cells(first, *delimiter, NAMES);
        while cells.len() > names.len() && cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
        cells.len()
    };
    let fits = DELIMITERS.into_iter().find(|delimiter| count(delimiter) == names.len());
    let delimiter = fits.or_else(|| DELIMITERS.into_iter().rev().max_by_key(count))?;
    let quotes = matches!(delimiter, b',' | b';') || cells(first, delimiter, 1).1;
    Some(Header { delimiter, lines: 0, in_file: false, names: names.to_vec(), quotes })
}

/// The cells of a line, up to one more than so many, of which only the separator is supposed; and whether quotes count
/// in it: in comma and semicolon files they do; in others only where the writer has quoted every name.
fn cells(line: &str, delimiter: u8, most: usize) -> (Vec<String>, bool) {
    let mut places: Vec<Cell> = Vec::new();
    let strict = split::strict(line.as_bytes(), delimiter, &mut places).is_ok();
    let all_quoted = strict && places.len() > 1 && places.iter().all(|cell| cell.form != split::Form::Bare);
    let quotes = matches!(delimiter, b',' | b';') || all_quoted;
    if !quotes || !strict {
        split::plain(line.as_bytes(), delimiter, &mut places);
    }
    let name = |cell: Cell| {
        let end = line.floor_char_boundary(cell.end.min(cell.start + NAME));
        split::text(line, Cell { end, ..cell }, true)
    };
    (places.into_iter().take(most + 1).map(name).collect(), quotes)
}
