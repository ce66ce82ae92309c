//! What becomes of fetches that bring no file: those that failed, and those that were told "not modified".

use chrono::Utc;
use serde_json::json;
use store::{NewNotice, NewRun, RunState, SourceRow, TenantTx};
use uuid::Uuid;

use super::receive::enqueue;
use super::run::mode_name;
use super::settings::SourceSettings;

/// What brings fetched files, as runs name it.
const FETCH: &str = "fetch";
/// The notice of a source that cannot be fetched from.
const FETCH_FAILED: &str = "fetch_failed";

/// What "not modified" means for a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmodified {
    /// The file is the one that the lot is of: it is confirmed, by this run.
    Confirms(Uuid),
    /// The file is one that was not applied, or that people have gone back from since. Nothing is confirmed.
    SaysNothing,
    /// The file is not there any more: it has to be fetched.
    Forgotten,
}

/// Notes a failed fetch as a run of its own: no unit changes, and the time of the last success stays. With `tell`,
/// people are told, once until a fetch succeeds.
///
/// # Errors
/// The database refuses.
pub async fn fetch_failed(
    tx: &mut TenantTx,
    source: &SourceRow,
    file_name: &str,
    sentence: &str,
    tell: bool,
) -> Result<Uuid, store::Error> {
    let now = Utc::now();
    let mode =
        SourceSettings::read(&source.settings).map(|settings| settings.reading.mode).unwrap_or_default();
    let new = NewRun {
        source_id: source.source_id,
        mode: mode_name(mode),
        cause: FETCH,
        actor: FETCH,
        of_run: None,
        file_id: None,
        file_name,
        file_bytes: 0,
        units_file_id: None,
        idempotency_key: None,
        received_at: now,
    };
    let mut run = tx.insert_run(&new).await?;
    run.state = RunState::Failed;
    run.failure = Some(sentence.to_owned());
    run.started_at = Some(now);
    run.finished_at = Some(now);
    tx.save_run(&run).await?;
    if tell {
        let told = format!("The feed {} cannot be fetched. {sentence}", source.name);
        let key = format!("{FETCH_FAILED}:{}", source.source_id);
        tx.add_notice(&NewNotice {
            kind: FETCH_FAILED,
            severity: "error",
            source_id: Some(source.source_id),
            run_id: Some(run.run_id),
            sentence: &told,
            data: json!({ "source": source.name }),
            once_key: Some(&key),
        })
        .await?;
    }
    Ok(run.run_id)
}

/// Notes that a source could be fetched from.
///
/// # Errors
/// The database refuses.
pub async fn fetch_succeeded(tx: &mut TenantTx, source: Uuid) -> Result<(), store::Error> {
    tx.resolve_notices(FETCH_FAILED, Some(source)).await.map(drop)
}

/// Notes that the file of a source has not changed since it was last fetched. Where that file is the one that the lot
/// is of, a run confirms it, as the same bytes would.
///
/// # Errors
/// The database refuses.
pub async fn unmodified(tx: &mut TenantTx, source: &SourceRow) -> Result<Unmodified, store::Error> {
    let Some(latest) = latest_file(tx, source.source_id).await? else { return Ok(Unmodified::Forgotten) };
    if latest.cause != FETCH || !latest.state.is_good() {
        return Ok(Unmodified::SaysNothing);
    }
    let Some(file) = latest.file_id else { return Ok(Unmodified::Forgotten) };
    if tx.file(file).await?.is_none() {
        return Ok(Unmodified::Forgotten);
    }
    let new = NewRun {
        source_id: source.source_id,
        mode: &latest.mode,
        cause: FETCH,
        actor: FETCH,
        of_run: None,
        file_id: Some(file),
        file_name: &latest.file_name,
        file_bytes: latest.file_bytes,
        units_file_id: None,
        idempotency_key: None,
        received_at: Utc::now(),
    };
    let run = tx.insert_run(&new).await?;
    enqueue(tx, run.run_id, latest.file_bytes).await?;
    Ok(Unmodified::Confirms(run.run_id))
}

/// Whether the file that a source last sent needs no other fetch: it was applied, waits, or was decided about. Only then
/// may a server be asked whether it has changed since.
///
/// # Errors
/// The database refuses.
pub async fn has_last_file(tx: &mut TenantTx, source: Uuid) -> Result<bool, store::Error> {
    let latest = latest_file(tx, source).await?;
    Ok(latest.is_some_and(|run| run.file_id.is_some() && run.state != RunState::Failed))
}

/// The latest run of a source that has a file.
async fn latest_file(tx: &mut TenantTx, source: Uuid) -> Result<Option<store::RunRow>, store::Error> {
    // Failed fetches have none, and there may be many of them in a row.
    let mut before = None;
    for _ in 0..10 {
        let runs = tx.runs(Some(source), 50, before).await?;
        let Some(last) = runs.last().map(|run| run.run_id) else { return Ok(None) };
        if let Some(found) = runs.into_iter().find(|run| run.file_id.is_some()) {
            return Ok(Some(found));
        }
        before = Some(last);
    }
    Ok(None)
}
