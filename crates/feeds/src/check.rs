//! What an import of a file would do, without doing it: the report of `forecourt feed check`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::code::{Code, Level};
use crate::config::{Config, Mode};
use crate::finding::Finding;
use crate::guard::{self, Verdict};
use crate::limits::Limits;
use crate::outcome::{Counts, Excluded, MappedColumn, Outcome};
use crate::raw::{Detected, Refused};
use crate::read::{self, Sink};
use crate::source::Source;
use crate::unit::Unit;

mod preview;
mod text;

pub use preview::{Preview, PreviewColumn, target_words};
pub use text::{Extent, write as write_report, write_preview};

/// What an import would do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It is applied.
    Apply,
    /// It waits for a person.
    Hold,
    /// It cannot be read, and nobody can approve it.
    Refuse,
}

/// The report, all but the units. As JSON, together with `vehicles`, its members are those of the expected files of
/// sample feeds; what is beyond them is ours.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The file's name.
    pub feed: String,
    /// What kind of file it is; empty where it is refused.
    pub detect: Detected,
    /// Whether it was read as the whole lot or as changes.
    pub mode: Mode,
    /// What an import would do.
    pub verdict: Decision,
    /// Why it is held or refused.
    pub verdict_reasons: Vec<Code>,
    /// The same in words.
    pub verdict_sentences: Vec<String>,
    /// Oddities of the file that change nothing.
    pub file_warnings: Vec<Code>,
    /// All that is to be said about the file as a whole.
    pub file_findings: Vec<Told>,
    /// What became of its records.
    pub counts: Counts,
    /// Of a feed of changes, where it is known what was on offer: units on offer after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resulting_active: Option<usize>,
    /// Records left out for what they are.
    pub excluded: Vec<Excluded>,
    /// Why records are not published.
    pub errors: Vec<Told>,
    /// What else is to be said of records.
    pub warnings: Vec<Told>,
    /// How many findings there are of each code; of many thousands not all are in the lists.
    pub finding_counts: BTreeMap<Code, u32>,
    /// When the sender made the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_at: Option<String>,
    /// Units that would be published, by rooftop key.
    pub by_rooftop: BTreeMap<String, u32>,
    /// Its columns, and what they were taken for.
    pub mapping: Vec<MappedColumn>,
    /// Rows that were read as units and are not published.
    #[serde(skip)]
    pub dropped: BTreeSet<u32>,
}

/// A finding with its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What it is, in a sentence.
    pub sentence: String,
    /// What to do about it.
    pub advice: &'static str,
}

impl Told {
    fn of(finding: &Finding) -> Self {
        Self {
            sentence: finding.code.sentence(finding),
            advice: finding.code.advice(),
            finding: finding.clone(),
        }
    }
}

/// A file to be checked. It is read as often as needed, so that nothing of its size has to be held.
#[derive(Clone, Copy)]
pub struct Check<'c> {
    /// The file.
    pub source: &'c dyn Source,
    /// How to read it; `today` must be said, so that every reading comes to the same.
    pub config: &'c Config,
    /// What it may be at most.
    pub limits: &'c Limits,
}

/// Takes word of how far a reading is: bytes of the file as it came, and rows.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u32);

impl Check<'_> {
    /// Reads the file and judges it. The first `keep` units that would be published are given too.
    ///
    /// # Errors
    /// The bytes cannot be had. A file that is refused is a report.
    pub fn report(&self, keep: usize, progress: Progress<'_>) -> io::Result<(Report, Vec<Unit>)> {
        let mut sink = First { keep, units: Vec::new(), keys: Vec::new(), config: self.config, progress };
        match read::read(self.source, self.config, self.limits, &mut sink) {
            Ok(outcome) => {
                let verdict = guard::judge(&outcome, self.config, None);
                let First { mut units, keys, .. } = sink;
                units.retain(|unit| !outcome.dropped.contains(&unit.source_row));
                let mut report = Report::of(self.source.name(), outcome, verdict, self.config.mode);
                report.resulting_active = self.resulting_active(&report, keys);
                Ok((report, units))
            }
            Err(Refused::File { code, what }) => {
                Ok((Report::refused(self.source.name(), code, what, self.config.mode), Vec::new()))
            }
            Err(Refused::Io(error)) => Err(error),
        }
    }

    /// Writes the report and all units that would be published as one JSON document.
    ///
    /// # Errors
    /// The bytes cannot be had any more, or nothing can be written.
    pub fn write_json(
        &self,
        report: &Report,
        to: &mut dyn io::Write,
        progress: Progress<'_>,
    ) -> io::Result<()> {
        let vehicles = Vehicles { check: self, report, progress: RefCell::new(progress) };
        let document = Document { report, vehicles };
        serde_json::to_writer_pretty(&mut *to, &document)?;
        to.write_all(b"\n")
    }

    /// Units on offer after a feed of changes.
    fn resulting_active(&self, report: &Report, keys: Vec<(u32, String)>) -> Option<usize> {
        let mut active = self.config.previous_active_vins.clone()?;
        if self.config.mode != Mode::Delta {
            return None;
        }
        // Deletes first: a unit that an earlier row deletes and a later one gives is on offer.
        for delete in &report.excluded {
            if let Some(key) = delete.vin.as_ref().or(delete.stock.as_ref()) {
                active.remove(key);
            }
        }
        active.extend(keys.into_iter().filter(|(row, _)| !report.dropped.contains(row)).map(|(_, key)| key));
        Some(active.len())
    }
}

impl Report {
    fn of(feed: &str, outcome: Outcome, verdict: Verdict, mode: Mode) -> Self {
        let mut file: Vec<Told> = Vec::new();
        let mut errors = Vec::new();
        let mut warnings = Vec::new();
        for finding in outcome.findings.kept() {
            match finding.code.level() {
                _ if finding.row.is_none() => file.push(Told::of(finding)),
                Level::Error => errors.push(Told::of(finding)),
                _ => warnings.push(Told::of(finding)),
            }
        }
        file.extend(verdict.tell.iter().map(Told::of));
        let oddity = |code: &Code| {
            matches!(
                code,
                Code::FeedEncodingMixed
                    | Code::FeedHeaderOffset
                    | Code::FeedRepeatedHeader
                    | Code::FeedTrailerRow
            )
        };
        Self {
            feed: feed.to_owned(),
            mode,
            verdict: if verdict.hold { Decision::Hold } else { Decision::Apply },
            verdict_reasons: verdict.reasons,
            verdict_sentences: verdict.sentences,
            file_warnings: outcome.findings.counts().keys().copied().filter(oddity).collect(),
            file_findings: file,
            counts: outcome.counts,
            resulting_active: None,
            excluded: outcome.excluded,
            errors,
            warnings,
            finding_counts: outcome.findings.counts().clone(),
            generated_at: outcome.generated_at,
            by_rooftop: outcome.by_rooftop,
            mapping: outcome.mapping,
            dropped: outcome.dropped,
            detect: outcome.detected,
        }
    }

    fn refused(feed: &str, code: Code, what: String, mode: Mode) -> Self {
        let finding = Finding {
            code,
            row: None,
            field: None,
            column: None,
            value: Some(what.clone()),
            vin: None,
            stock: None,
            kept_row: None,
        };
        Self {
            feed: feed.to_owned(),
            detect: Detected::default(),
            mode,
            verdict: Decision::Refuse,
            verdict_reasons: vec![code],
            verdict_sentences: vec![code.sentence(&finding)],
            file_warnings: Vec::new(),
            file_findings: vec![Told::of(&finding)],
            counts: Counts::default(),
            resulting_active: None,
            excluded: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            finding_counts: BTreeMap::from([(code, 1)]),
            generated_at: None,
            by_rooftop: BTreeMap::new(),
            mapping: Vec::new(),
            dropped: BTreeSet::new(),
        }
    }
}

/// Keeps the first units, and what a feed of changes brings.
struct First<'f> {
    keep: usize,
    units: Vec<Unit>,
    keys: Vec<(u32, String)>,
    config: &'f Config,
    progress: Progress<'f>,
}

impl Sink for First<'_> {
    fn unit(&mut self, unit: &Unit) -> io::Result<()> {
        if self.units.len() < self.keep {
            self.units.push(unit.clone());
        }
        if self.config.mode == Mode::Delta && self.config.previous_active_vins.is_some() {
            let key = unit.vin.as_ref().or(unit.stock.as_ref());
            self.keys.extend(key.map(|key| (unit.source_row, key.clone())));
        }
        Ok(())
    }

    fn progress(&mut self, bytes: u64, rows: u32) {
        (self.progress)(bytes, rows);
    }
}

#[derive(Serialize)]
struct Document<'d> {
    #[serde(flatten)]
    report: &'d Report,
    vehicles: Vehicles<'d>,
}

/// The units, read once more while they are written.
struct Vehicles<'d> {
    check: &'d Check<'d>,
    report: &'d Report,
    progress: RefCell<Progress<'d>>,
}

impl Serialize for Vehicles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        if self.report.verdict != Decision::Refuse {
            let mut progress = self.progress.borrow_mut();
            let mut sink =
                Written::<S> { seq: &mut seq, dropped: &self.report.dropped, progress: &mut **progress };
            let Check { source, config, limits } = self.check;
            read::read(*source, config, limits, &mut sink).map_err(S::Error::custom)?;
        }
        seq.end()
    }
}

struct Written<'w, S: Serializer> {
    seq: &'w mut S::SerializeSeq,
    dropped: &'w BTreeSet<u32>,
    progress: Progress<'w>,
}

impl<S: Serializer> Sink for Written<'_, S> {
    fn unit(&mut self, unit: &Unit) -> io::Result<()> {
        if self.dropped.contains(&unit.source_row) {
            return Ok(());
        }
        // What the columns say is for the price policy; it is no member of the unit as published.
        let unit = Unit { amounts: BTreeMap::new(), ..unit.clone() };
        self.seq.serialize_element(&unit).map_err(|error| io::Error::other(error.to_string()))
    }

    fn progress(&mut self, bytes: u64, rows: u32) {
        (self.progress)(bytes, rows);
    }
}

#[cfg(test)]
mod tests;
