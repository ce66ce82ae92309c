//! `forecourt feed check`: what an import of a file would do. Needs no database and no settings.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::Utc;
use feeds::check::{Check, Decision, Extent, Report, write_preview, write_report};
use feeds::source::{ReadSeek, Source};
use feeds::{Config, Limits};

use super::progress::Progress;
use crate::failure::{Failure, UNUSABLE, io_reason};

/// Exit status for a file that would not be applied.
const NOT_APPLIED: u8 = 1;
/// Units that a report for people ends with.
const UNITS: usize = 5;
/// Findings of one code that it names one by one, unless all are wanted.
const FINDINGS: usize = 10;

/// What is to be checked, and how it is told.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The file.
    pub(crate) file: PathBuf,
    /// How it is to be read, JSON.
    pub(crate) config: Option<PathBuf>,
    /// As JSON.
    pub(crate) json: bool,
    /// Every finding and not just the first ones of each code.
    pub(crate) all: bool,
    /// Show the columns with what stands in so many rows.
    pub(crate) preview: Option<usize>,
}

/// Checks a file and says what an import would do with it.
///
/// # Errors
/// The file or the one with the settings cannot be read.
pub(crate) fn run(wanted: &Wanted) -> Result<ExitCode, Failure> {
    let source = OnDisk::find(&wanted.file)?;
    let config = config(wanted.config.as_deref())?;
    let check = Check { source: &source, config: &config, limits: &Limits::default() };
    let unreadable = |error: &io::Error| {
        Failure::new(format!("{} cannot be read: {}", wanted.file.display(), io_reason(error)))
            .status(UNUSABLE)
    };
    let mut progress = Progress::on_terminal(source.bytes);
    let kept = if wanted.json { 0 } else { UNITS };
    let checked = check.report(kept, &mut |bytes, rows| progress.at(bytes, rows));
    progress.clear();
    let (report, units) = checked.map_err(|error| unreadable(&error))?;
    let mut out = BufWriter::new(io::stdout().lock());
    let told = if wanted.json {
        check.write_json(&report, &mut out, &mut |_, _| {})
    } else {
        let findings = if wanted.all { usize::MAX } else { FINDINGS };
        write_report(&report, &units, Extent { findings }, &mut out)
            .and_then(|()| columns(&check, &report, wanted, &mut out))
            .and_then(|()| hint(&report, wanted, &mut out))
    };
    match told.and_then(|()| out.flush()) {
        Ok(()) => {}
        // A reader that went away (`… | head`) is no reason to fail.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return Err(unreadable(&error)),
    }
    Ok(match report.verdict {
        Decision::Apply => ExitCode::SUCCESS,
        Decision::Hold | Decision::Refuse => ExitCode::from(NOT_APPLIED),
    })
}

fn columns(check: &Check<'_>, report: &Report, wanted: &Wanted, out: &mut dyn Write) -> io::Result<()> {
    let Some(rows) = wanted.preview.filter(|_| report.verdict != Decision::Refuse) else { return Ok(()) };
    match check.preview(rows) {
        Ok(preview) => write_preview(&preview, out),
        Err(feeds::raw::Refused::Io(error)) => Err(error),
        // What is refused has been said.
        Err(feeds::raw::Refused::File { .. }) => Ok(()),
    }
}

/// What else the command can show of this file.
fn hint(report: &Report, wanted: &Wanted, out: &mut dyn Write) -> io::Result<()> {
    let mut hints = Vec::new();
    if !wanted.all && report.finding_counts.values().any(|count| *count as usize > FINDINGS) {
        hints.push("--all names every row");
    }
    if wanted.preview.is_none() && report.verdict != Decision::Refuse {
        hints.push("--preview shows what each column is taken for");
    }
    if hints.is_empty() { Ok(()) } else { writeln!(out, "\n{}", hints.join("; ")) }
}

/// The settings of a reading.
fn config(path: Option<&Path>) -> Result<Config, Failure> {
    let mut config = match path {
        None => Config::default(),
        Some(path) => {
            let unusable = |reason: String| {
                Failure::new(format!("{} cannot be used: {reason}", path.display())).status(UNUSABLE)
            };
            let text = std::fs::read(path).map_err(|error| unusable(io_reason(&error)))?;
            let config: Config =
                serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
            let unknown = feeds::mapping::unknown_targets(&config);
            if !unknown.is_empty() {
                let words: Vec<&str> = feeds::check::target_words().collect();
                let mut failure = unusable("\"columns\" has words that no column can hold".to_owned());
                failure.advice =
                    unknown.into_iter().map(|(column, word)| format!("{column:?}: {word:?}")).collect();
                return Err(failure.advise(format!("a column can hold: {}", words.join(", "))));
            }
            config
        }
    };
    // Two readings must not fall on two days.
    config.today.get_or_insert_with(|| Utc::now().date_naive());
    Ok(config)
}

/// A file in a folder.
struct OnDisk {
    path: PathBuf,
    name: String,
    bytes: u64,
}

impl OnDisk {
    fn find(path: &Path) -> Result<Self, Failure> {
        let unreadable = |reason: String| {
            Failure::new(format!("{} cannot be read: {reason}", path.display())).status(UNUSABLE)
        };
        let facts = std::fs::metadata(path).map_err(|error| unreadable(io_reason(&error)))?;
        if !facts.is_file() {
            return Err(unreadable("it is no file".to_owned()));
        }
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { path: path.to_owned(), name, bytes: facts.len() })
    }
}

impl Source for OnDisk {
    fn open(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(&self.path)?)))
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("forecourt-feed-check-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn settings_are_taken_or_named() {
        let good = file(
            "good.json",
            r#"{"columns": {"Misc": "amount"}, "date_order": "dmy", "guard": {"drop_percent": 0}}"#,
        );
        let taken = config(Some(&good)).unwrap();
        assert!(taken.is_day_first() && taken.today.is_some());
        assert_eq!(taken.columns["Misc"], "amount");
        let word = file("word.json", r#"{"columns": {"Misc": "prize"}}"#);
        let failure = config(Some(&word)).unwrap_err();
        assert_eq!(failure.status, UNUSABLE);
        assert_eq!(failure.advice[0], r#""Misc": "prize""#);
        assert!(failure.advice[1].contains("asking_price"), "{:?}", failure.advice);
        let member = file("member.json", r#"{"colums": {}}"#);
        assert!(config(Some(&member)).unwrap_err().sentence.contains("colums"));
        for path in [good, word, member] {
            std::fs::remove_file(path).unwrap();
        }
        assert_eq!(config(None).unwrap().today, Some(Utc::now().date_naive()));
    }

    #[test]
    fn what_is_no_file_is_unusable() {
        for path in [std::env::temp_dir(), std::env::temp_dir().join("forecourt-there-is-no-such-file.csv")] {
            let wanted = Wanted { file: path, config: None, json: true, all: false, preview: None };
            assert_eq!(run(&wanted).unwrap_err().status, UNUSABLE);
        }
    }
}
