//! Runs and findings as documents for whoever asks: the command line, the senders of pushes, and pages.

use feeds::{Code, Finding};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{FindingRow, RunRow};

use super::run;

/// The finding that a stored row is. Codes that this build does not know are none.
fn finding_of(row: &FindingRow) -> Option<Finding> {
    let place = |row: i32| u32::try_from(row).ok();
    Some(Finding {
        code: Code::deserialize(&Value::from(row.code.as_str())).ok()?,
        row: row.source_row.and_then(place),
        field: row.field.clone(),
        column: row.column.clone(),
        value: row.value.clone(),
        vin: row.vin.clone(),
        stock: row.stock.clone(),
        kept_row: row.kept_row.and_then(place),
    })
}

/// What was found, and what to do about it, in sentences.
pub fn finding_words(row: &FindingRow) -> (String, &'static str) {
    let finding = finding_of(row);
    finding.map_or_else(
        || (row.code.clone(), ""),
        |finding| (finding.code.sentence(&finding), finding.code.advice()),
    )
}

/// A finding as a document.
pub fn finding_document(row: &FindingRow) -> Value {
    let (sentence, advice) = finding_words(row);
    let mut document = json!({
        "no": row.no,
        "code": row.code,
        "level": row.level,
        "sentence": sentence,
        "advice": advice,
    });
    let members = [
        ("field", row.field.as_deref()),
        ("column", row.column.as_deref()),
        ("value", row.value.as_deref()),
        ("vin", row.vin.as_deref()),
        ("stock", row.stock.as_deref()),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            set(&mut document, name, value.into());
        }
    }
    for (name, place) in [("source_row", row.source_row), ("kept_row", row.kept_row)] {
        if let Some(place) = place {
            set(&mut document, name, place.into());
        }
    }
    document
}

/// Puts a member into a document.
fn set(document: &mut Value, name: &str, value: Value) {
    if let Some(members) = document.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// What the sender of a run may know of it: how far it is, what it came to, why it waits.
pub fn run_document(run: &RunRow) -> Value {
    let judged = run::judgement(run);
    let mut document = json!({
        "run_id": run.run_id,
        "state": run.state.as_str(),
        "mode": run.mode,
        "received_at": run.received_at,
        "file": { "name": run.file_name, "bytes": run.file_bytes },
        "verdict": {
            "hold": judged.hold,
            "reasons": judged.reasons,
            "sentences": judged.sentences,
            "told": judged.told,
        },
    });
    if run.counts.is_some() {
        set(&mut document, "counts", json!(run::counts(run)));
    }
    if let Some(by_code) = &run.by_code {
        set(&mut document, "findings_by_code", by_code.clone());
    }
    let difference = run.diff.is_some().then(|| run::difference(run));
    if let Some(diff) = difference {
        set(
            &mut document,
            "changes",
            json!({
                "added": diff.added, "changed": diff.changed, "removed": diff.removed, "same": diff.same,
                "repriced": diff.repriced, "unpriced": diff.unpriced, "replaced": diff.replaced,
            }),
        );
    }
    let members = [
        ("started_at", json!(run.started_at)),
        ("finished_at", json!(run.finished_at)),
        ("inventory_version", json!(run.inventory_version)),
        ("failure", json!(run.failure)),
    ];
    for (name, value) in members {
        if !value.is_null() {
            set(&mut document, name, value);
        }
    }
    document
}

/// The same with what only the dealer's own people may know: who did what, timings, every example of what changes.
pub fn run_document_for_dealer(run: &RunRow, source: Option<&str>) -> Value {
    let mut document = run_document(run);
    let members = [
        ("source", json!(source)),
        ("source_id", json!(run.source_id)),
        ("cause", json!(run.cause)),
        ("actor", json!(run.actor)),
        ("of_run", json!(run.of_run)),
        ("generated_at", json!(run.generated_at)),
        ("decided_at", json!(run.decided_at)),
        ("decided_by", json!(run.decided_by)),
        ("detected", json!(run.detected)),
        ("by_rooftop", json!(run.by_rooftop)),
        ("timings", json!(run.timings)),
        ("idempotency_key", json!(run.idempotency_key)),
        ("changes", json!(run.diff)),
    ];
    for (name, value) in members {
        if !value.is_null() {
            set(&mut document, name, value);
        }
    }
    document
}
