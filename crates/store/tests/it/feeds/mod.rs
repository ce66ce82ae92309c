//! The tables of the feeds.

mod files;
mod jobs;
mod runs;
mod sources;
mod story;
mod units;
mod walls;

pub(crate) use walls::TABLES;

use std::sync::OnceLock;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use serde_json::json;
use store::{FileEnd, FileRow, NewRun, SourceKind, SourceRow, TenantTx};
use uuid::Uuid;

/// So many hours after this binary began, to the microsecond as the database keeps it.
fn at(hours: i64) -> DateTime<Utc> {
    static BEGIN: OnceLock<DateTime<Utc>> = OnceLock::new();
    let begin = BEGIN.get_or_init(|| Utc::now().trunc_subsecs(6));
    *begin + TimeDelta::hours(hours)
}

fn source(name: &str, kind: SourceKind) -> SourceRow {
    SourceRow {
        source_id: Uuid::now_v7(),
        name: name.into(),
        kind,
        enabled: true,
        settings: json!({"every_minutes": 60}),
        revision: 1,
        push_token_hash: None,
        signature: None,
        etag: None,
        last_modified: None,
        next_fetch_at: None,
        last_full_fetch_at: None,
        last_good_at: None,
        silent_after_s: 36 * 3600,
        created_at: at(0),
        created_by: "test".into(),
        has_credentials: false,
        removed_at: None,
    }
}

fn new_run(source_id: Uuid) -> NewRun<'static> {
    NewRun {
        source_id,
        mode: "full",
        cause: "import",
        actor: "test",
        of_run: None,
        file_id: None,
        file_name: "lot.csv",
        file_bytes: 7,
        units_file_id: None,
        idempotency_key: None,
        received_at: at(0),
    }
}

/// A file of these chunks, whose content is `content`.
async fn stored(tx: &mut TenantTx, content: u8, keep_until: DateTime<Utc>, chunks: &[&[u8]]) -> FileRow {
    let file = tx.begin_file().await.unwrap();
    for (no, chunk) in chunks.iter().enumerate() {
        tx.add_chunk(file, i32::try_from(no).unwrap(), chunk).await.unwrap();
    }
    tx.finish_file(file, &end(content, keep_until)).await.unwrap()
}

fn end(content: u8, keep_until: DateTime<Utc>) -> FileEnd {
    FileEnd { sha256: [content; 32], bytes: 100, packed_bytes: 10, keep_until }
}
