//! The report for a person to read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Decision, Preview, Report, Told};
use crate::code::Code;
use crate::config::Mode;
use crate::unit::Unit;

/// How much of a report is written.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Findings of one code that are written row by row; of further ones only the number is.
    pub findings: usize,
}

/// Writes the report: the file, the verdict, numbers, findings by code, the first units.
///
/// # Errors
/// Nothing can be written.
pub fn write(report: &Report, units: &[Unit], extent: Extent, to: &mut dyn Write) -> io::Result<()> {
    file(report, to)?;
    verdict(report, to)?;
    if report.verdict == Decision::Refuse {
        return Ok(());
    }
    numbers(report, to)?;
    if !report.file_findings.is_empty() {
        writeln!(to, "\nAbout the file")?;
        for told in &report.file_findings {
            writeln!(to, "  {} {}", told.finding.code.as_str(), told.sentence)?;
            writeln!(to, "      {}", told.advice)?;
        }
    }
    findings("Rows that are not published", &report.errors, report, extent, to)?;
    findings("Remarks on rows", &report.warnings, report, extent, to)?;
    excluded(report, extent, to)?;
    first_units(report, units, to)
}

fn file(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    let detect = &report.detect;
    writeln!(to, "{}", report.feed)?;
    if report.verdict == Decision::Refuse {
        return Ok(());
    }
    let mut facts = Vec::new();
    if let Some(container) = &detect.container {
        facts.push(format!("packed with {container}"));
    }
    match (&detect.format, &detect.delimiter) {
        (Some(format), _) => facts.push(format.to_uppercase()),
        (None, Some(delimiter)) => facts.push(format!("table, separated by {}", separator(delimiter))),
        (None, None) => {}
    }
    if let Some(quoting) = detect.quoting.as_deref().filter(|quoting| *quoting != "none") {
        facts.push(match quoting {
            "all" => "all fields in quotes".to_owned(),
            "minimal" => "fields in quotes where needed".to_owned(),
            other => format!("quotes {other}"),
        });
    }
    let mark = if detect.bom { " with a byte order mark" } else { "" };
    facts.push(format!("{}{mark}", detect.encoding));
    if let Some(item) = &detect.item_element {
        facts.push(format!("one <{item}> a vehicle"));
    }
    if let Some(path) = detect.items_path.as_deref().filter(|path| !path.is_empty()) {
        facts.push(format!("vehicles at {path}"));
    }
    if let Some(line) = detect.header_row {
        facts.push(format!("header in line {line}"));
    }
    if let Some(at) = &report.generated_at {
        facts.push(format!("made {at}"));
    }
    let mode = if report.mode == Mode::Delta { "read as changes" } else { "read as the whole lot" };
    facts.push(mode.to_owned());
    writeln!(to, "  {}", facts.join(", "))
}

fn separator(delimiter: &str) -> &str {
    match delimiter {
        "," => "commas",
        ";" => "semicolons",
        "|" => "pipes",
        "\t" => "tabs",
        "^" => "carets",
        other => other,
    }
}

fn verdict(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    let words = match report.verdict {
        Decision::Apply => "An import would apply this file.",
        Decision::Hold => {
            "An import would HOLD this file: nothing changes until a person approves or rejects it."
        }
        Decision::Refuse => "An import would REFUSE this file: it cannot be read, and nobody can approve it.",
    };
    writeln!(to, "\n{words}")?;
    for sentence in &report.verdict_sentences {
        writeln!(to, "  {sentence}")?;
    }
    if report.verdict == Decision::Refuse {
        for told in &report.file_findings {
            writeln!(to, "  {}", told.advice)?;
        }
    } else {
        for code in &report.verdict_reasons {
            writeln!(to, "  {}: {}", code.as_str(), code.advice())?;
        }
    }
    Ok(())
}

fn numbers(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    let counts = &report.counts;
    writeln!(to)?;
    for (number, words) in [
        (counts.records, "records"),
        (counts.published, "would be published"),
        (counts.excluded, "left out for what they are (sold, wholesale …)"),
        (counts.rejected, "not published because of errors"),
        (counts.duplicates_dropped, "left out because another row stands for the same unit"),
    ] {
        writeln!(to, "{number:>8}  {words}")?;
    }
    if let Some(active) = report.resulting_active {
        writeln!(to, "{active:>8}  on offer after these changes")?;
    }
    if report.by_rooftop.len() > 1 {
        writeln!(to, "\nTo publish by rooftop")?;
        for (rooftop, count) in &report.by_rooftop {
            writeln!(to, "{count:>8}  {rooftop}")?;
        }
    }
    Ok(())
}

/// Findings by code: how many, what to do, and each row with the text as sent.
fn findings(
    title: &str,
    all: &[Told],
    report: &Report,
    extent: Extent,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut by_code: BTreeMap<Code, Vec<&Told>> = BTreeMap::new();
    for told in all {
        by_code.entry(told.finding.code).or_default().push(told);
    }
    if by_code.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{title}")?;
    for (code, told) in by_code {
        let count = report.finding_counts.get(&code).copied().unwrap_or_default() as usize;
        writeln!(to, "  {} × {count}", code.as_str())?;
        for one in told.iter().take(extent.findings) {
            writeln!(to, "      {}", one.sentence)?;
        }
        let rest = count.saturating_sub(told.len().min(extent.findings));
        if rest > 0 {
            writeln!(to, "      … and {rest} more")?;
        }
        if let Some(one) = told.first() {
            writeln!(to, "    → {}", one.advice)?;
        }
    }
    Ok(())
}

fn excluded(report: &Report, extent: Extent, to: &mut dyn Write) -> io::Result<()> {
    if report.excluded.is_empty() {
        return Ok(());
    }
    writeln!(to, "\nLeft out for what they are")?;
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in &report.excluded {
        let who = one.stock.as_deref().or(one.vin.as_deref());
        let row = match who {
            Some(who) => format!("row {} ({who})", one.source_row),
            None => format!("row {}", one.source_row),
        };
        by_reason.entry(&one.reason).or_default().push(row);
    }
    for (reason, rows) in by_reason {
        let shown = rows.get(..extent.findings).unwrap_or(&rows);
        let rest = rows.len() - shown.len();
        let more = if rest > 0 { format!(" … and {rest} more") } else { String::new() };
        writeln!(to, "  {reason} × {}: {}{more}", rows.len(), shown.join(", "))?;
    }
    Ok(())
}

fn first_units(report: &Report, units: &[Unit], to: &mut dyn Write) -> io::Result<()> {
    if units.is_empty() {
        return Ok(());
    }
    writeln!(to, "\nThe first units of {}", report.counts.published)?;
    for unit in units {
        let year = unit.year.map(|year| year.to_string());
        let name = [year.as_deref(), unit.make.as_deref(), unit.model.as_deref(), unit.trim.as_deref()];
        let name: Vec<&str> = name.into_iter().flatten().collect();
        let mut facts = vec![name.join(" ")];
        facts.extend(unit.condition.clone());
        facts.extend((unit.status != "available").then(|| unit.status.clone()));
        facts.extend(unit.mileage.map(|miles| format!("{miles} mi")));
        facts.push(unit.asking_price.map_or("no price".to_owned(), |price| format!("asks {price}")));
        facts.push(match unit.photos.len() {
            1 => "1 photo".to_owned(),
            number => format!("{number} photos"),
        });
        let who = unit.vin.as_deref().or(unit.stock.as_deref()).unwrap_or_default();
        writeln!(to, "  row {:<5} {who:<17}  {}", unit.source_row, facts.join(", "))?;
    }
    writeln!(
        to,
        "  What a price column means, and so which of them is published, is up to the source's price policy."
    )
}

/// Writes the columns with what they are taken for and what stands in them, and how to say otherwise.
///
/// # Errors
/// Nothing can be written.
pub fn write_preview(preview: &Preview, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "\nColumns, what they are taken for, and what stands in them in {} rows", preview.rows)?;
    for column in &preview.columns {
        let target = column.target.as_deref().unwrap_or("not used");
        let by_hand = if column.by_hand { " (by hand)" } else { "" };
        writeln!(to, "  {} → {target}{by_hand}", column.column)?;
        for example in column.examples.iter().filter(|example| !example.is_empty()) {
            writeln!(to, "      {example}")?;
        }
    }
    writeln!(
        to,
        "\nTo take a column for something else, name it in the file of --feed-config, such as\n  \
         {{\"columns\": {{\"Misc Price 1\": \"asking_price\", \"Location\": \"ignore\"}}}}\n\
         Words for what a column holds:"
    )?;
    let mut line = String::from(" ");
    for word in super::preview::target_words() {
        if line.len() + word.len() > 78 {
            writeln!(to, "{line}")?;
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(to, "{line}")?;
    writeln!(
        to,
        "Columns with what the dealer paid (cost, invoice, book value …) are never taken, whoever maps them."
    )
}
