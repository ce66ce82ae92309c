//! The goals, as docs/PERFORMANCE.md states them, and what a run made of them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;

use crate::rounds::Measured;

/// Which side of a bar is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sense {
    AtLeast,
    AtMost,
}

/// One number that has to reach something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bar {
    /// `G1` and so on; some goals have several numbers.
    pub(crate) goal: &'static str,
    /// Tells the numbers of a goal apart.
    pub(crate) part: &'static str,
    pub(crate) about: &'static str,
    pub(crate) sense: Sense,
    /// What must hold on a busy machine, too.
    pub(crate) floor: f64,
    /// What is wanted on an idle one.
    pub(crate) wanted: f64,
}

const fn at_least(
    goal: &'static str,
    part: &'static str,
    about: &'static str,
    floor: f64,
    wanted: f64,
) -> Bar {
    Bar { goal, part, about, sense: Sense::AtLeast, floor, wanted }
}

const fn at_most(
    goal: &'static str,
    part: &'static str,
    about: &'static str,
    floor: f64,
    wanted: f64,
) -> Bar {
    Bar { goal, part, about, sense: Sense::AtMost, floor, wanted }
}

/// All of them, in the order of the table.
pub(crate) const BARS: &[Bar] = &[
    at_least("G1", "10k", "search ÷ bare", 0.55, 0.70),
    at_least("G2", "mixed", "search, 200 dealers mixed ÷ bare", 0.55, 0.70),
    at_least("G3", "50k", "search ÷ bare", 0.30, 0.45),
    at_most("G4", "10k", "CPU of a search ÷ CPU of bare", 2.5, 2.0),
    at_least("G5", "1k", "search ÷ SQL", 7.0, 10.0),
    at_least("G5", "10k", "search ÷ SQL", 25.0, 40.0),
    at_least("G6", "10k", "facets, no filter ÷ bare", 0.65, 0.85),
    at_least("G7", "1k", "facets, 3 filters ÷ bare", 0.5, 0.7),
    at_least("G7", "10k", "facets, 3 filters ÷ bare", 0.3, 0.45),
    at_least("G7", "50k", "facets, 3 filters ÷ bare", 0.12, 0.22),
    at_least("G8", "10k", "facets, 3 filters ÷ SQL", 30.0, 60.0),
    at_most("G9", "10k", "in process: facets, 3 filters ÷ search, p50", 6.0, 4.0),
    at_most("G9", "50k", "in process: facets, 3 filters ÷ search, p50", 6.0, 4.0),
    at_most("G10", "10k", "in process: search ÷ column scan, p50", 0.3, 0.15),
    at_most("G10", "50k", "in process: search ÷ column scan, p50", 0.3, 0.15),
    at_least("G11", "bare", "vehicle 10k ÷ bare", 0.6, 0.8),
    at_least("G11", "SQL", "vehicle 10k ÷ SQL", 3.0, 5.0),
    at_least("G12", "200", "card ÷ bare", 0.8, 0.95),
    at_least("G12", "304", "unchanged card ÷ bare", 0.9, 1.1),
    at_least("G13", "10k", "search with schema checks ÷ without", 0.85, 0.93),
    at_most("G14", "1k", "cold start ÷ COPY TO STDOUT", 2.0, 1.4),
    at_most("G14", "10k", "cold start ÷ COPY TO STDOUT", 2.0, 1.4),
    at_most("G14", "50k", "cold start ÷ COPY TO STDOUT", 2.0, 1.4),
    at_most("G15", "10k", "refresh after 20 changes ÷ cold start", 0.15, 0.06),
    at_most("G15", "50k", "refresh after 20 changes ÷ cold start", 0.15, 0.06),
    at_most("G16", "10k", "p99 while the 50k lot is rebuilt each second ÷ without", 5.0, 3.0),
    at_most("G16", "50k", "p99 while the 50k lot is rebuilt each second ÷ without", 5.0, 3.0),
    at_most("G17", "10k", "index bytes a vehicle, beyond the documents", 360.0, 300.0),
    at_most("G17", "50k", "index bytes a vehicle, beyond the documents", 360.0, 300.0),
    at_most("G17", "memory", "resident memory ÷ accounted for, 200 dealers", 1.4, 1.25),
    at_least("G18", "10k", "first load ÷ COPY into a table without index, rows a second", 0.5, 0.75),
    at_least("G19", "10k", "full feed, 2 % changed ÷ COPY, rows a second", 4.0, 8.0),
    at_least("G19", "50k", "full feed, 2 % changed ÷ COPY, rows a second", 4.0, 8.0),
    at_most("G19", "WAL 10k", "full feed, 2 % changed: WAL ÷ COPY's", 0.08, 0.045),
    at_most("G19", "WAL 50k", "full feed, 2 % changed: WAL ÷ COPY's", 0.08, 0.045),
    at_most("G20", "rows", "unchanged feed: vehicle rows written", 0.0, 0.0),
    at_most("G20", "version", "unchanged feed: versions", 0.0, 0.0),
    at_most("G20", "notices", "unchanged feed: notices to servers", 0.0, 0.0),
    at_most("imports", "search", "search p99 while feeds are imported ÷ without", 5.0, 3.0),
    at_most("G23", "notice", "seconds until a change without notice is seen, beyond the poll", 1.0, 1.0),
    at_least("G23", "ended", "share of 10-page walks that end, a change a second", 0.95, 0.95),
    at_most("G23", "faults", "walks with a gap, a double or another total", 0.0, 0.0),
    at_least("doors", "mcp", "search by a tool of MCP ÷ by A2A", 0.3, 0.5),
    at_least("doors", "post", "search by POST of plain HTTP ÷ by A2A", 0.9, 1.0),
    at_least("doors", "get", "search by GET of plain HTTP ÷ by A2A", 0.8, 0.95),
    at_least("peers", "search", "search ÷ best server of an official SDK", 8.0, 8.0),
    at_most("dealers", "memory", "2,000 dealers: resident ÷ 1.25 × vehicles × (440 + documents)", 1.0, 1.0),
    at_most("day", "resident", "resident memory after a day of changes ÷ before", 1.2, 1.1),
    at_most("day", "accounted", "accounted memory after a day of changes ÷ before", 1.05, 1.02),
    at_least("dealers", "rate", "search over 2,000 dealers ÷ over 3", 0.8, 0.8),
];

/// What became of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// As wanted.
    Goal,
    /// Above the floor only.
    Floor,
    Missed,
}

impl Bar {
    pub(crate) fn judge(&self, value: f64) -> Verdict {
        let reaches = |bar: f64| match self.sense {
            Sense::AtLeast => value >= bar,
            Sense::AtMost => value <= bar,
        };
        if reaches(self.wanted) {
            Verdict::Goal
        } else if reaches(self.floor) {
            Verdict::Floor
        } else {
            // NaN too: what was not measured is not reached.
            Verdict::Missed
        }
    }
}

/// Which goals are wanted; all of them unless some are named.
#[derive(Debug, Clone, Default)]
pub(crate) struct Only(Vec<String>);

impl Only {
    /// # Errors
    /// A goal that there is not.
    pub(crate) fn read(text: &str) -> Result<Only> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        for name in &names {
            let known = BARS.iter().any(|bar| bar.goal.eq_ignore_ascii_case(name));
            anyhow::ensure!(known, "there is no goal {name}");
        }
        Ok(Only(names))
    }

    pub(crate) fn wants(&self, goal: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|name| name.eq_ignore_ascii_case(goal))
    }
}

/// Everything a run found out.
#[derive(Debug, Default)]
pub(crate) struct Board {
    values: Vec<(&'static Bar, f64)>,
    runs: Vec<(String, Vec<Measured>)>,
    notes: Vec<(String, serde_json::Value)>,
    failures: Vec<String>,
}

impl Board {
    /// Settles one number.
    pub(crate) fn settle(&mut self, goal: &str, part: &str, value: f64) {
        let Some(bar) = BARS.iter().find(|bar| bar.goal == goal && bar.part == part) else {
            eprintln!("bench: {goal} {part} is no goal; its value is {value:.3}");
            return;
        };
        eprintln!("bench: {goal} {part}: {} = {} ({})", bar.about, short(value), bar.judge(value).word());
        self.values.push((bar, value));
    }

    /// Keeps what variants did, and tells of it.
    pub(crate) fn keep(&mut self, name: &str, measured: Vec<Measured>) {
        for variant in &measured {
            eprintln!(
                "bench:   {name}, {:<12} {:>8.0} answers/s, CPU {:>7.1} µs, p50 {:>7.0} µs, p99 {:>7.0} µs, load {:>4.1} µs",
                variant.variant,
                variant.median(|round| round.rate),
                variant.median(|round| round.cpu_us),
                variant.median(|round| round.p50_us),
                variant.median(|round| round.p99_us),
                variant.median(|round| round.load_us),
            );
        }
        self.runs.push((name.to_owned(), measured));
    }

    /// Keeps another figure.
    pub(crate) fn note(&mut self, name: impl Into<String>, value: serde_json::Value) {
        let name = name.into();
        eprintln!("bench:   {name}: {value}");
        self.notes.push((name, value));
    }

    /// Goes on with the rest where a part fails; the run as a whole has failed then.
    pub(crate) fn attempt(&mut self, part: &str, work: impl FnOnce(&mut Board) -> Result<()>) {
        if let Err(error) = work(self) {
            let told = format!("{part} could not be measured: {error:#}");
            eprintln!("bench: {told}");
            self.failures.push(told);
        }
    }

    /// What could not be measured.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Whether everything was measured and no number missed its floor.
    pub(crate) fn passed(&self) -> bool {
        self.failures.is_empty()
            && self.values.iter().all(|(bar, value)| bar.judge(*value) != Verdict::Missed)
    }

    /// The table to read.
    pub(crate) fn table(&self) -> String {
        let mut table = String::new();
        let head = ["", "", "measure", "floor", "goal", "value", "verdict"];
        let _ = line(&mut table, head.map(str::to_owned));
        for (bar, value) in self.sorted() {
            let sign = if bar.sense == Sense::AtLeast { "≥" } else { "≤" };
            let cells = [
                bar.goal.to_owned(),
                bar.part.to_owned(),
                bar.about.to_owned(),
                format!("{sign} {}", short(bar.floor)),
                format!("{sign} {}", short(bar.wanted)),
                short(value),
                bar.judge(value).word().to_owned(),
            ];
            let _ = line(&mut table, cells);
        }
        table
    }

    fn sorted(&self) -> Vec<(&'static Bar, f64)> {
        let place =
            |bar: &Bar| BARS.iter().position(|known| known.goal == bar.goal && known.part == bar.part);
        let mut values = self.values.clone();
        values.sort_by_key(|(bar, _)| place(bar));
        values
    }

    /// Writes everything as JSON.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path, circumstances: &serde_json::Value) -> Result<()> {
        let mut goals: Vec<serde_json::Value> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let values = self.sorted();
        for (bar, _) in &values {
            if !names.contains(&bar.goal) {
                names.push(bar.goal);
            }
        }
        for name in names {
            let of_goal: Vec<_> = values.iter().filter(|(bar, _)| bar.goal == name).collect();
            let worst =
                of_goal.iter().map(|(bar, value)| bar.judge(*value)).max_by_key(|verdict| *verdict as u8);
            let parts: Vec<_> = of_goal
                .iter()
                .map(|(bar, value)| {
                    json!({
                        "part": bar.part, "about": bar.about, "sense": bar.sense, "floor": bar.floor,
                        "goal": bar.wanted, "value": value, "verdict": bar.judge(*value),
                    })
                })
                .collect();
            goals.push(json!({"goal": name, "verdict": worst, "values": parts}));
        }
        let runs: Vec<_> =
            self.runs.iter().map(|(name, measured)| json!({"name": name, "variants": measured})).collect();
        let notes: serde_json::Map<_, _> = self.notes.iter().cloned().collect();
        let all = json!({"circumstances": circumstances, "goals": goals, "runs": runs, "figures": notes,
            "failures": self.failures});
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(&all)?;
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    }
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Goal => "goal",
            Verdict::Floor => "floor",
            Verdict::Missed => "MISSED",
        }
    }
}

fn line(
    table: &mut String,
    [goal, part, about, floor, wanted, value, verdict]: [String; 7],
) -> std::fmt::Result {
    writeln!(table, "{goal:<8}{part:<8}{about:<64}{floor:>9}{wanted:>9}{value:>10}  {verdict}")
}

/// Three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_look_at_the_right_side() {
        let up = at_least("G1", "", "", 0.5, 0.7);
        let down = at_most("G4", "", "", 2.5, 2.0);
        for (bar, value, verdict) in [
            (up, 0.7, Verdict::Goal),
            (up, 0.69, Verdict::Floor),
            (up, 0.49, Verdict::Missed),
            (up, f64::NAN, Verdict::Missed),
            (down, 2.0, Verdict::Goal),
            (down, 2.5, Verdict::Floor),
            (down, 2.51, Verdict::Missed),
            (down, f64::NAN, Verdict::Missed),
        ] {
            assert_eq!(bar.judge(value), verdict, "{value}");
        }
    }

    #[test]
    fn every_bar_is_named_once_and_its_floor_is_no_harder_than_its_goal() {
        for bar in BARS {
            assert_eq!(bar.judge(bar.wanted), Verdict::Goal);
            assert_ne!(bar.judge(bar.floor), Verdict::Missed, "{} {}", bar.goal, bar.part);
            let same = BARS.iter().filter(|other| other.goal == bar.goal && other.part == bar.part);
            assert_eq!(same.count(), 1, "{} {}", bar.goal, bar.part);
        }
    }

    #[test]
    fn a_missed_floor_fails_the_run_and_is_in_table_and_file() {
        let mut board = Board::default();
        board.settle("G7", "10k", 0.5);
        board.settle("G1", "10k", 0.6);
        assert!(board.passed());
        board.settle("G4", "10k", 2.6);
        assert!(!board.passed());
        let table = board.table();
        assert!(table.lines().last().unwrap().starts_with("G7"), "{table}");
        assert!(table.contains("MISSED"), "{table}");
        let path = std::env::temp_dir().join(format!("bench-{}.json", std::process::id()));
        board.write(&path, &json!({})).unwrap();
        let file: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file["goals"][1]["verdict"], "missed");
        assert_eq!(file["goals"][0]["values"][0]["value"], 0.6);
    }

    #[test]
    fn what_could_not_be_measured_fails_the_run_and_not_the_rest_of_it() {
        let mut board = Board::default();
        board.attempt("one", |_| anyhow::bail!("away"));
        board.attempt("other", |board| {
            board.settle("G1", "10k", 0.9);
            Ok(())
        });
        assert!(!board.passed() && board.table().contains("0.90"));
        assert_eq!(board.failures(), ["one could not be measured: away"]);
    }

    #[test]
    fn goals_are_chosen_by_name() {
        let only = Only::read("G1, g7").unwrap();
        assert!(only.wants("G1") && only.wants("G7") && !only.wants("G2"));
        assert!(Only::default().wants("G2"));
        assert!(Only::read("G99").is_err());
    }
}
