//! What the tests of reading share: small files, and what comes of them in one line each.
#![allow(dead_code, reason = "each test binary uses its part")]

use chrono::NaiveDate;
use feeds::check::{Check, Report};
use feeds::source::InMemory;
use feeds::values::vin::check_digit;
use feeds::{Config, Limits, Unit};

/// What a check comes to, with all units.
pub(crate) struct Checked {
    pub(crate) report: Report,
    pub(crate) units: Vec<Unit>,
}

impl Checked {
    /// Errors and warnings: `row CODE field`, with the surviving row of a duplicate.
    pub(crate) fn rows(&self) -> Vec<String> {
        let mut told: Vec<_> = self.report.errors.iter().chain(&self.report.warnings).collect();
        told.sort_by_key(|told| told.finding.row);
        told.into_iter()
            .map(|told| {
                let finding = &told.finding;
                let kept = finding.kept_row.map_or(String::new(), |row| format!(" kept {row}"));
                let row = finding.row.unwrap();
                format!("{row} {} {}{kept}", finding.code.as_str(), finding.field.as_deref().unwrap_or("-"))
            })
            .collect()
    }

    /// Codes about the file.
    pub(crate) fn file_codes(&self) -> Vec<&'static str> {
        self.report.file_findings.iter().map(|told| told.finding.code.as_str()).collect()
    }

    /// `reason row` of what is left out.
    pub(crate) fn excluded(&self) -> Vec<String> {
        self.report.excluded.iter().map(|one| format!("{} {}", one.reason, one.source_row)).collect()
    }
}

/// The day of all tests.
pub(crate) fn config() -> Config {
    Config { today: NaiveDate::from_ymd_opt(2026, 11, 30), ..Config::default() }
}

pub(crate) fn check(text: &str, config: &Config) -> Checked {
    check_bytes(text.as_bytes(), config)
}

pub(crate) fn check_bytes(bytes: &[u8], config: &Config) -> Checked {
    let source = InMemory { name: "feed.csv".to_owned(), bytes };
    let limits = Limits::default();
    let check = Check { source: &source, config, limits: &limits };
    let (report, units) = check.report(usize::MAX, &mut |_, _| {}).unwrap();
    let counts = report.counts;
    assert_eq!(
        counts.records,
        counts.published + counts.excluded + counts.rejected + counts.duplicates_dropped,
        "{counts:?}"
    );
    assert_eq!(units.len(), counts.published as usize);
    Checked { report, units }
}

/// A VIN of a 2020 Ford with the right check digit, a different one for each number.
pub(crate) fn vin(number: u32) -> String {
    let mut vin = format!("1FMCU0F60LU{number:06}");
    let digit = check_digit(&vin).unwrap();
    vin.replace_range(8..9, &digit.to_string());
    vin
}

/// A table of so many cars.
pub(crate) fn lot(cars: u32) -> String {
    let mut file = String::from("stock,vin,year,make,model,type,miles,price\n");
    for car in 1..=cars {
        file.push_str(&format!("S{car},{},2020,Ford,Escape,Used,41000,18990\n", vin(car)));
    }
    file
}
