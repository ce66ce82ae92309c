//! The readers of feeds: any bytes are read to an end, the same way each time.

use feeds::raw::{self, RawRow, Refused, Stopped};
use feeds::source::InMemory;
use feeds::{Config, Level, Limits};

/// Whatever the bytes are: they are refused with a code of that weight, or give rows that are numbered one by one and
/// whose cells are neither empty nor beyond a limit, until they end or stop with a verdict.
pub fn feeds(bytes: &[u8]) {
    // Small limits are met by small inputs.
    let small =
        Limits { file_bytes: 1 << 20, records: 50, field_bytes: 100, columns: 20, ..Limits::default() };
    for limits in [Limits::default(), small] {
        assert_eq!(drain(bytes, &limits), drain(bytes, &limits), "two readings differ");
    }
}

fn drain(bytes: &[u8], limits: &Limits) -> (Vec<RawRow>, String) {
    let source = InMemory { name: "feed".to_owned(), bytes };
    let mut rows = Vec::new();
    let mut opened = match raw::open(&source, &Config::default(), limits) {
        Ok(opened) => opened,
        Err(Refused::File { code, what }) => {
            // A verdict where the bytes stop or break before there is a first record.
            assert!(matches!(code.level(), Level::Refusal | Level::Verdict), "{} {what}", code.as_str());
            return (rows, format!("{} {what}", code.as_str()));
        }
        Err(Refused::Io(error)) => panic!("{error}"),
    };
    let stop = loop {
        match opened.rows.next() {
            Ok(None) => break String::new(),
            Ok(Some(row)) => {
                look_at(&row, rows.len() + 1, limits);
                rows.push(row);
            }
            Err(Stopped::File { code, what }) => {
                assert!(matches!(code.level(), Level::Refusal | Level::Verdict));
                break format!("{} {what}", code.as_str());
            }
            Err(Stopped::Io(error)) => panic!("{error}"),
        }
    };
    assert!(matches!(opened.rows.next(), Ok(None)), "the end is the end");
    assert!(rows.len() <= limits.records as usize);
    let known = opened.rows.columns().names().len();
    for row in &rows {
        let RawRow::Read { cells, .. } = row else { continue };
        assert!(cells.iter().all(|(place, _)| *place < known));
    }
    let findings = opened.findings.iter().cloned().chain(opened.rows.end());
    let codes: Vec<&str> = findings.map(|finding| finding.code.as_str()).collect();
    (rows, format!("{stop} {codes:?} {:?}", opened.detected))
}

fn look_at(row: &RawRow, number: usize, limits: &Limits) {
    match row {
        RawRow::Read { row, cells, .. } => {
            assert_eq!(*row as usize, number);
            for (_, text) in cells {
                assert!(!text.is_empty() && text.trim() == text && !text.contains('\0'));
                // A sign of Windows-1252 takes up to three bytes in UTF-8.
                assert!(text.len() <= limits.field_bytes * 3);
            }
        }
        RawRow::Lost { row, excerpt, .. } => {
            assert_eq!(*row as usize, number);
            assert!(excerpt.chars().count() <= 80);
        }
    }
}
