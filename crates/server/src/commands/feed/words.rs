//! What became of a run, in words for people.

use std::collections::{BTreeMap, BTreeSet};

use dealer::feeds::{self, Difference};
use serde_json::Value;
use store::{RunRow, RunState};

use super::time;
use crate::commands::count;
use crate::output::printable;

/// What became of a run, and what to do now.
pub(super) fn outcome(run: &RunRow, source: &str) -> Vec<String> {
    let id = run.run_id;
    let mut lines = vec![format!("run {id} of {}: {}", printable(source), state(run))];
    if run.counts.is_some() {
        let counts = feeds::run_counts(run);
        lines.push(format!(
            "  {}: {} published, {} left out, {} rejected, {} dropped as duplicates",
            count(size(counts.records), "record"),
            counts.published,
            counts.excluded,
            counts.rejected,
            counts.duplicates_dropped
        ));
    }
    if run.diff.is_some() && !matches!(run.state, RunState::Unchanged) {
        let would = match run.state {
            RunState::Held => "would be ",
            RunState::Rejected | RunState::Superseded | RunState::Failed => "would have been ",
            _ => "",
        };
        lines.push(format!("  {}", changes(&feeds::difference(run), would)));
    }
    let judged = feeds::judgement(run);
    if run.state == RunState::Held {
        lines.extend(judged.sentences.iter().map(|sentence| format!("  {}", printable(sentence))));
        lines.push("The vehicles on offer stay as they were until somebody decides:".to_owned());
        lines.push(format!("  forecourt feed show {id} --diff"));
        lines.push(format!("  forecourt feed approve {id}"));
        lines.push(format!("  forecourt feed reject {id}"));
    } else {
        lines.extend(judged.told.iter().map(|sentence| format!("  {}", printable(sentence))));
    }
    lines
}

fn state(run: &RunRow) -> String {
    match run.state {
        RunState::Received => "received, and waits for a worker".to_owned(),
        RunState::Parsed | RunState::Checked => "read, and not applied yet".to_owned(),
        RunState::Held => "held".to_owned(),
        RunState::Applied => match run.inventory_version {
            Some(version) => format!("applied, inventory version {version}"),
            None => "applied; buyers see nothing else than before".to_owned(),
        },
        RunState::Unchanged => "nothing new; what is on offer is confirmed".to_owned(),
        RunState::Failed => format!("failed: {}", why(run)),
        RunState::Rejected => match &run.failure {
            Some(reason) => format!("rejected by {}: {}", decider(run), printable(reason)),
            None => format!("rejected by {}", decider(run)),
        },
        RunState::Superseded => format!("not applied: {}", why(run)),
    }
}

fn why(run: &RunRow) -> String {
    run.failure.as_deref().map_or_else(|| "a later file came in the way".to_owned(), printable)
}

fn decider(run: &RunRow) -> String {
    run.decided_by.as_deref().map_or_else(|| "somebody".to_owned(), printable)
}

/// How much is different.
pub(super) fn changes(difference: &Difference, would: &str) -> String {
    let mut words = format!(
        "{} {would}added, {} {would}changed, {} {would}removed, {} the same",
        count(size(difference.added), "vehicle"),
        difference.changed,
        difference.removed,
        difference.same
    );
    let more = [
        (difference.repriced, "with another price"),
        (difference.unpriced, "without a price that had one"),
        (difference.replaced, "of the lot before any feed replaced"),
    ];
    for (number, what) in more {
        if number > 0 {
            words.push_str(&format!("; {number} {what}"));
        }
    }
    words
}

/// What is different, vehicle by vehicle.
pub(super) fn examples(difference: &Difference) -> Vec<String> {
    let mut lines = Vec::new();
    for example in &difference.examples {
        let sign = match example.kind.as_str() {
            "added" => '+',
            "removed" => '-',
            _ => '~',
        };
        lines.push(format!("  {sign} {} ({})", printable(&example.label), printable(&example.vehicle_id)));
        if example.kind == "changed" {
            // What is taken away stands among the old values alone.
            let fields: BTreeSet<&String> = example.old.keys().chain(example.new.keys()).collect();
            for field in fields {
                let of = |side: &BTreeMap<String, Value>| value(side.get(field).unwrap_or(&Value::Null));
                let (old, new) = (of(&example.old), of(&example.new));
                lines.push(format!("      {}: {old} -> {new}", printable(field)));
            }
        }
    }
    let all = difference.added + difference.changed + difference.removed;
    let shown = size(all).min(difference.examples.len());
    if shown < size(all) {
        lines.push(format!("  … and {} more", size(all) - shown));
    }
    lines
}

/// A value on one line.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => printable(text),
        other => printable(&other.to_string()),
    }
}

/// What is known of a run beside its outcome.
pub(super) fn particulars(run: &RunRow) -> Vec<String> {
    let mut lines =
        vec![format!("  file: {} ({} bytes, {})", printable(&run.file_name), run.file_bytes, run.mode)];
    lines.push(format!("  received: {} by {} ({})", time(run.received_at), printable(&run.actor), run.cause));
    if let Some(at) = run.finished_at {
        lines.push(format!("  ended: {}", time(at)));
    }
    if let (Some(at), Some(by)) = (run.decided_at, &run.decided_by) {
        lines.push(format!("  decided: {} by {}", time(at), printable(by)));
    }
    if let Some(before) = run.of_run {
        lines.push(format!("  repeats run {before}"));
    }
    lines
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dealer::feeds::Example;

    #[test]
    fn examples_are_lines_that_no_feed_breaks() {
        let changed = Example {
            kind: "changed".into(),
            vehicle_id: "vin-1".into(),
            label: "2024 Ki\u{1b}[2Ja Sportage".into(),
            old: [("photos".to_owned(), 3.into()), ("price".to_owned(), 24990.into())].into(),
            new: [("price".to_owned(), 23990.into())].into(),
        };
        let difference = Difference { changed: 3, examples: vec![changed], ..Difference::default() };
        assert_eq!(
            examples(&difference),
            [
                "  ~ 2024 Ki [2Ja Sportage (vin-1)",
                "      photos: 3 -> nothing",
                "      price: 24990 -> 23990",
                "  … and 2 more"
            ]
        );
        assert_eq!(
            changes(&difference, "would be "),
            "0 vehicles would be added, 3 would be changed, 0 would be removed, 0 the same"
        );
    }
}
