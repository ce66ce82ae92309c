//! What people are told of runs: a row that pages and mail can use, and a line in the log.

use serde_json::json;
use store::{NewNotice, RunRow, TenantTx};

use super::run;
use super::scene::{NoScene, Scene};
use super::write::Written;

/// A notice about a run.
async fn tell(
    tx: &mut TenantTx,
    run: &RunRow,
    (kind, severity): (&str, &str),
    sentence: &str,
    data: serde_json::Value,
    once_key: Option<&str>,
) -> Result<(), store::Error> {
    let notice = NewNotice {
        kind,
        severity,
        source_id: Some(run.source_id),
        run_id: Some(run.run_id),
        sentence,
        data,
        once_key,
    };
    tx.add_notice(&notice).await?;
    let (tenant, source, run) = (tx.id(), run.source_id, run.run_id);
    match severity {
        "info" => tracing::info!(%tenant, %source, %run, kind, "{sentence}"),
        _ => tracing::warn!(%tenant, %source, %run, kind, "{sentence}"),
    }
    Ok(())
}

/// The guard held a run.
pub(super) async fn held(tx: &mut TenantTx, name: &str, run: &RunRow) -> Result<(), store::Error> {
    let judged = run::judgement(run);
    let sentence = format!(
        "A file of {name} is held, and the vehicles on offer stay as they were. {}",
        judged.sentences.join(" ")
    );
    let reasons: Vec<&str> = judged.reasons.iter().map(|code| code.as_str()).collect();
    tell(tx, run, ("run_held", "warning"), &sentence, json!({ "reasons": reasons }), None).await
}

/// A run failed.
pub(super) async fn failed(tx: &mut TenantTx, name: &str, run: &RunRow) -> Result<(), store::Error> {
    let why = run.failure.as_deref().unwrap_or("nobody knows why");
    let sentence =
        format!("A file of {name} could not be used, and the vehicles on offer stay as they were: {why}.");
    tell(tx, run, ("run_failed", "error"), &sentence, json!({}), None).await
}

/// A file is older than what its source sent before.
pub(super) async fn late(tx: &mut TenantTx, name: &str, run: &RunRow) -> Result<(), store::Error> {
    let sentence = format!("A file of {name} is older than the last good one and was not applied.");
    tell(tx, run, ("run_superseded", "info"), &sentence, json!({ "file": run.file_name }), None).await
}

/// A run was applied: what the dealer should know of it all the same.
pub(super) async fn applied(
    tx: &mut TenantTx,
    scene: &Scene,
    run: &RunRow,
    written: &Written,
) -> Result<(), NoScene> {
    let told = run::judgement(run).told;
    if !told.is_empty() {
        tell(tx, run, ("drop_noted", "warning"), &told.join(" "), json!({}), None).await?;
    }
    for (source, column) in &written.unanswered {
        let Some(known) = scene.sources.get(source) else { continue };
        let sentence = format!(
            "Nobody has said what the column {column} of {} means, so its vehicles are on offer without a price.",
            known.row.name
        );
        let key = format!("price_meaning:{source}:{column}");
        let data = json!({ "column": column });
        tell(tx, run, ("price_meaning_unanswered", "warning"), &sentence, data, Some(&key)).await?;
    }
    Ok(())
}

/// Something good came: what was wrong before is over.
pub(super) async fn good(tx: &mut TenantTx, run: &RunRow) -> Result<(), NoScene> {
    tx.resolve_run_notices(run.run_id, None).await?;
    for kind in ["run_failed", "source_silent", "drop_noted", "run_superseded", "run_rejected"] {
        tx.resolve_notices(kind, Some(run.source_id)).await?;
    }
    Ok(())
}

/// A person decided about a run.
pub(super) async fn decided(
    tx: &mut TenantTx,
    name: &str,
    run: &RunRow,
    kind: &str,
    actor: &str,
) -> Result<(), store::Error> {
    let what = match kind {
        "run_approved" => "approved a held file",
        "run_rejected" => "rejected a held file",
        _ => "went back to an earlier file",
    };
    let sentence = format!("{actor} {what} of {name}.");
    let data = json!({ "actor": actor, "of_run": run.of_run });
    tell(tx, run, (kind, "info"), &sentence, data, None).await
}
