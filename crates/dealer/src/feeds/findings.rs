//! What was found in a file, as it is stored with its run.

use std::collections::BTreeMap;

use feeds::code::Level;
use feeds::outcome::Counts;
use feeds::{Code, Finding};
use store::{FindingRow, RunRow, TenantTx};
use uuid::Uuid;

use super::run;
use super::write::Written;

/// Findings of a run that are stored; all are counted.
const STORED: usize = 5000;

/// Stores the first findings of a file: those about the file and those that cost a row go before those that do not.
pub(super) async fn store(tx: &mut TenantTx, run: Uuid, found: &[Finding]) -> Result<(), store::Error> {
    let weighty = |finding: &&Finding| finding.code.level() != Level::Warning;
    let warnings = found.iter().filter(|finding| !weighty(finding));
    let chosen = found.iter().filter(weighty).chain(warnings).take(STORED);
    tx.add_findings(run, &rows(chosen, 0)).await
}

/// Adds what came up while listings were made of the units.
pub(super) async fn add_rendered(
    tx: &mut TenantTx,
    run: &mut RunRow,
    written: &Written,
) -> Result<(), store::Error> {
    if written.findings.is_empty() {
        return Ok(());
    }
    let mut by_code: BTreeMap<String, u32> = run::read(run.by_code.as_ref());
    // A run is rendered once; places behind those of the file's own findings are free.
    tx.add_findings(run.run_id, &rows(written.findings.iter(), i32::try_from(STORED).unwrap_or(i32::MAX)))
        .await?;
    for finding in &written.findings {
        *by_code.entry(finding.code.as_str().to_owned()).or_default() += 1;
    }
    run.by_code = run::json(&by_code);
    if written.refused > 0 {
        let counts = run::counts(run);
        let refused = written.refused.min(counts.published);
        run.counts = run::json(&Counts {
            published: counts.published - refused,
            rejected: counts.rejected + refused,
            ..counts
        });
    }
    Ok(())
}

/// A finding about the file as a whole.
pub(super) fn about_file(code: Code, value: &str) -> Finding {
    Finding {
        code,
        row: None,
        field: None,
        column: None,
        value: Some(value.chars().take(feeds::finding::VALUE_CHARS).collect()),
        vin: None,
        stock: None,
        kept_row: None,
    }
}

fn rows<'f>(findings: impl Iterator<Item = &'f Finding>, from: i32) -> Vec<FindingRow> {
    findings
        .zip(from..)
        .map(|(finding, no)| FindingRow {
            no,
            code: finding.code.as_str().to_owned(),
            level: level_name(finding.code.level()).to_owned(),
            source_row: finding.row.map(place),
            field: storable(finding.field.as_deref()),
            column: storable(finding.column.as_deref()),
            value: storable(finding.value.as_deref()),
            vin: storable(finding.vin.as_deref()),
            stock: storable(finding.stock.as_deref()),
            kept_row: finding.kept_row.map(place),
        })
        .collect()
}

/// As the level is written in JSON.
fn level_name(level: Level) -> &'static str {
    match level {
        Level::Refusal => "refusal",
        Level::Verdict => "verdict",
        Level::File => "file",
        Level::Error => "error",
        Level::Warning => "warning",
    }
}

fn place(row: u32) -> i32 {
    i32::try_from(row).unwrap_or(i32::MAX)
}

/// PostgreSQL stores every character but one; an excerpt of a lost row may hold it. An index takes no long key, and
/// what is longer than any VIN or stock number is none.
fn storable(text: Option<&str>) -> Option<String> {
    text.map(|text| text.chars().filter(|sign| *sign != '\0').take(200).collect())
}
