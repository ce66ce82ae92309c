//! What `raw::open` makes of files, as the rules of FEEDS.md 1 and 3 and the field reports have it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod containers;
mod documents;
mod encodings;
mod properties;
mod tables;

use feeds::raw::{self, Detected, RawRow, Refused, Stopped};
use feeds::source::InMemory;
use feeds::{Code, Config, Limits};

/// What came out of a file.
#[derive(Debug, Default)]
struct Read {
    detected: Detected,
    /// Findings about the file, early and late, and the stop.
    codes: Vec<Code>,
    rows: Vec<Row>,
    top: std::collections::BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Row {
    Read(Vec<(String, String)>, Vec<Code>),
    Lost(Code),
}

impl Row {
    fn cell(&self, name: &str) -> Option<&str> {
        let Row::Read(cells, _) = self else { return None };
        cells.iter().find(|(column, _)| column == name).map(|(_, text)| text.as_str())
    }

    fn notes(&self) -> &[Code] {
        match self {
            Row::Read(_, notes) => notes,
            Row::Lost(_) => &[],
        }
    }
}

impl Read {
    fn column(&self, name: &str) -> Vec<Option<&str>> {
        self.rows.iter().map(|row| row.cell(name)).collect()
    }
}

fn try_with(bytes: &[u8], config: &Config, limits: &Limits) -> Result<Read, Refused> {
    let source = InMemory { name: "feed".to_owned(), bytes };
    let mut opened = raw::open(&source, config, limits)?;
    let mut read = Read { detected: opened.detected.clone(), ..Read::default() };
    read.codes.extend(opened.findings.iter().map(|finding| finding.code));
    loop {
        match opened.rows.next() {
            Ok(None) => break,
            Ok(Some(RawRow::Read { row, cells, notes })) => {
                assert_eq!(row as usize, read.rows.len() + 1, "rows are numbered one by one");
                let columns = opened.rows.columns();
                let cells = cells.into_iter().map(|(place, text)| (columns.name(place).to_owned(), text));
                read.rows.push(Row::Read(cells.collect(), notes.iter().map(|(code, _)| *code).collect()));
            }
            Ok(Some(RawRow::Lost { row, code, excerpt })) => {
                assert_eq!(row as usize, read.rows.len() + 1, "rows are numbered one by one");
                assert!(excerpt.chars().count() <= 80);
                read.rows.push(Row::Lost(code));
            }
            Err(Stopped::File { code, .. }) if code.level() == feeds::Level::Verdict => read.codes.push(code),
            Err(stop) => return Err(stop.into()),
        }
    }
    assert!(matches!(opened.rows.next(), Ok(None)), "the end is the end");
    read.codes.extend(opened.rows.end().iter().map(|finding| finding.code));
    read.top.clone_from(opened.rows.top());
    Ok(read)
}

fn read(bytes: impl AsRef<[u8]>) -> Read {
    try_with(bytes.as_ref(), &Config::default(), &Limits::default()).unwrap()
}

/// The code that a file is refused with.
fn refused(bytes: impl AsRef<[u8]>) -> Code {
    match try_with(bytes.as_ref(), &Config::default(), &Limits::default()) {
        Err(Refused::File { code, what }) => {
            assert!(!what.is_empty());
            code
        }
        other => panic!("not refused: {other:?}"),
    }
}

const HEADER: &str = "Stock,VIN,Year,Make,Model,Description";
