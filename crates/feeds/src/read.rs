//! A feed is read: rows become units and findings, and what stands for one unit is settled.

mod amounts;
mod assemble;
mod equipment;
mod pictures;
mod say;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io;

use chrono::NaiveDate;

use self::assemble::{Assembled, Assembler};
use crate::aliases::{Target, fold};
use crate::code::{Code, Level};
use crate::config::{Config, Mode};
use crate::finding::Finding;
use crate::identity::{Identities, Kind, Remark};
use crate::limits::Limits;
use crate::mapping::Mapping;
pub use crate::outcome::{Counts, Excluded, Findings, MappedColumn, Outcome};
use crate::raw::{self, Columns, Opened, RawRow, Refused, Rows, Stopped};
use crate::source::Source;
use crate::unit::Unit;
use crate::values::dates;

/// How many rows pass between two words on how far the reading is.
const PROGRESS_ROWS: u32 = 256;

/// Takes what is read, while it is.
pub trait Sink {
    /// A unit that would be published, in the order of the file. Rows that turn out to stand for the unit of another row
    /// are named in [`Outcome::dropped`] at the end.
    ///
    /// # Errors
    /// The unit cannot be taken; the reading ends with the same error.
    fn unit(&mut self, unit: &Unit) -> io::Result<()>;

    /// How far the reading is: bytes of the file as it came, and rows.
    fn progress(&mut self, bytes: u64, rows: u32) {
        let _ = (bytes, rows);
    }
}

/// Reads a feed.
///
/// Where `config` does not say what day it is, the clock of the machine does.
///
/// # Errors
/// [`Refused`]: the file is nothing that can be read, or beyond a limit, or its bytes cannot be had.
pub fn read(
    source: &dyn Source,
    config: &Config,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> Result<Outcome, Refused> {
    let Opened { detected, findings, mut rows } = raw::open(source, config, limits)?;
    let today = config.today.unwrap_or_else(|| chrono::Utc::now().date_naive());
    let document = detected.format.is_some();
    let mut reading = Reading {
        assembler: Assembler::new(config, limits, today, document),
        mapping: Mapping::new(config),
        identities: Identities::default(),
        vin_column: None,
        outcome: Outcome { delimiter: detected.delimiter.clone(), detected, ..Outcome::default() },
        sink,
    };
    for finding in findings {
        reading.of_file(finding);
    }
    reading.rows(&mut *rows)?;
    for finding in rows.end() {
        reading.of_file(finding);
    }
    let mut outcome = reading.settle(rows.columns(), config);
    outcome.generated_at = generated_at(rows.top(), today, config);
    if !document {
        let names: BTreeSet<String> = rows.columns().names().iter().map(|name| fold(name)).collect();
        outcome.header = names.into_iter().filter(|name| !name.is_empty()).collect();
    }
    Ok(outcome)
}

struct Reading<'r> {
    assembler: Assembler<'r>,
    mapping: Mapping,
    identities: Identities,
    vin_column: Option<String>,
    outcome: Outcome,
    sink: &'r mut dyn Sink,
}

impl Reading<'_> {
    fn of_file(&mut self, finding: Finding) {
        if finding.code.level() == Level::Verdict {
            self.stop(finding.code);
        }
        self.outcome.findings.add(finding);
    }

    fn stop(&mut self, code: Code) {
        if !self.outcome.stopped.contains(&code) {
            self.outcome.stopped.push(code);
        }
    }

    fn rows(&mut self, rows: &mut dyn Rows) -> Result<(), Refused> {
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(Stopped::File { code, what }) if code.level() == Level::Verdict => {
                    self.stop(code);
                    self.outcome.findings.add(Finding { value: Some(what), ..about_file(code) });
                    continue;
                }
                Err(stopped) => return Err(stopped.into()),
            };
            self.mapping.grow(rows.columns());
            self.row(row, rows.columns())?;
            if self.outcome.counts.records.is_multiple_of(PROGRESS_ROWS) {
                self.sink.progress(rows.progress(), self.outcome.counts.records);
            }
        }
        // A table without a row has columns all the same.
        self.mapping.grow(rows.columns());
        self.sink.progress(rows.progress(), self.outcome.counts.records);
        Ok(())
    }

    fn row(&mut self, row: RawRow, columns: &Columns) -> Result<(), Refused> {
        self.outcome.counts.records += 1;
        let (row, cells, notes) = match row {
            RawRow::Read { row, cells, notes } => (row, cells, notes),
            RawRow::Lost { row, code, excerpt } => {
                self.outcome.counts.rejected += 1;
                self.outcome.findings.add(Finding {
                    row: Some(row),
                    field: Some("row".to_owned()),
                    value: Some(crate::finding::excerpt(&excerpt)).filter(|value| !value.is_empty()),
                    ..about_file(code)
                });
                return Ok(());
            }
        };
        let picked = self.mapping.pick(&cells);
        let id_is_stock = !self.mapping.has(Target::Stock);
        match self.assembler.row(row, &picked, &notes, columns, id_is_stock) {
            Assembled::Unit(mut unit, findings) => {
                let hash = hash(&mut unit);
                self.identities.add(
                    row,
                    Kind::Unit(hash),
                    unit.vin.as_deref(),
                    unit.rooftop_key.as_deref(),
                    unit.stock.as_deref(),
                );
                self.outcome.findings.extend(findings);
                self.outcome.counts.published += 1;
                self.sink.unit(&unit)?;
            }
            Assembled::Excluded(excluded, findings) => {
                let kind = if excluded.reason == "delete_action" { Kind::Deleted } else { Kind::Excluded };
                self.identities.add(
                    row,
                    kind,
                    excluded.vin.as_deref(),
                    excluded.rooftop_key.as_deref(),
                    excluded.stock.as_deref(),
                );
                self.outcome.findings.extend(findings);
                self.outcome.counts.excluded += 1;
                self.outcome.excluded.push(excluded);
            }
            Assembled::Rejected(findings) => {
                self.outcome.counts.rejected += 1;
                self.outcome.findings.extend(findings);
            }
        }
        if self.vin_column.is_none() {
            let name = picked.first(Target::Vin).map(|cell| columns.name(cell.column).to_owned());
            self.vin_column = name;
        }
        Ok(())
    }

    fn settle(self, columns: &Columns, config: &Config) -> Outcome {
        let mut outcome = self.outcome;
        outcome.findings.extend(self.mapping.refused(columns));
        outcome.mapping = self.mapping.list(columns);
        let settled = self.identities.settle(config.mode, config.previous_active_vins.as_ref());
        let dropped = u32::try_from(settled.dropped.len()).unwrap_or(u32::MAX);
        outcome.counts.published = outcome.counts.published.saturating_sub(dropped);
        outcome.counts.duplicates_dropped = dropped;
        outcome.by_rooftop = settled.by_rooftop;
        if config.mode == Mode::Delta {
            let last = |excluded: &&Excluded| settled.last_words.contains(&excluded.source_row);
            outcome.deletes = outcome.excluded.iter().filter(last).cloned().collect();
        }
        outcome.dropped = settled.dropped;
        for remark in settled.remarks {
            outcome.findings.add(said(remark, self.vin_column.as_deref()));
        }
        outcome.findings.sort();
        outcome
    }
}

fn about_file(code: Code) -> Finding {
    Finding {
        code,
        row: None,
        field: None,
        column: None,
        value: None,
        vin: None,
        stock: None,
        kept_row: None,
    }
}

/// A remark about identity as a finding.
fn said(remark: Remark, vin_column: Option<&str>) -> Finding {
    let Remark { row, code, vin, stock, kept_row } = remark;
    let by_stock = code == Code::StockReused || vin.is_none();
    let value = if by_stock { stock.as_deref() } else { vin.as_deref() }.map(crate::finding::excerpt);
    Finding {
        row: Some(row),
        field: Some(if by_stock { "stock" } else { "vin" }.to_owned()),
        column: vin_column.filter(|_| !by_stock).map(str::to_owned),
        value,
        vin: vin.map(String::from),
        stock: stock.as_deref().map(crate::finding::excerpt),
        kept_row,
        ..about_file(code)
    }
}

/// A hash of all that is published of a unit, whichever row it stands in. It is compared with that of rows of the same
/// VIN in the same file only.
fn hash(unit: &mut Unit) -> u64 {
    struct Into(DefaultHasher);
    impl io::Write for Into {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let row = std::mem::take(&mut unit.source_row);
    let mut into = Into(DefaultHasher::new());
    // A unit that could not be written would be like no other one.
    if serde_json::to_writer(&mut into, unit).is_err() {
        into.0.write_u32(row);
    }
    unit.source_row = row;
    into.0.finish()
}

/// When the sender made the file, where a document says so beside its vehicles.
fn generated_at(top: &BTreeMap<String, String>, today: NaiveDate, config: &Config) -> Option<String> {
    const NAMES: &[&str] = &[
        "generatedat",
        "generated",
        "generatedon",
        "createdat",
        "created",
        "exportedat",
        "exportdate",
        "exported",
        "timestamp",
        "feeddate",
        "lastbuilddate",
        "pubdate",
        "updated",
        "lastupdated",
        "updatedat",
        "date",
    ];
    let last = |name: &str| fold(name.rsplit('.').next().unwrap_or(name));
    NAMES.iter().find_map(|wanted| {
        let stated = top.iter().filter(|(name, _)| last(name) == *wanted);
        stated.into_iter().find_map(|(_, text)| instant(text, today, config))
    })
}

fn instant(text: &str, today: NaiveDate, config: &Config) -> Option<String> {
    if let Ok(time) = chrono::DateTime::parse_from_rfc2822(text.trim()) {
        return Some(time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    }
    dates::timestamp(text, today, config.is_day_first(), dates::zone(&config.timezone)).value
}

#[cfg(test)]
mod tests;
