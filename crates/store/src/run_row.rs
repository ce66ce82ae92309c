//! A run of table `feed_runs`, as it is written and read.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::error::Error;
use crate::tenant::from_bigint;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// The file is there.
    Received,
    /// It was read.
    Parsed,
    /// The guard had a look.
    Checked,
    /// It waits for a person.
    Held,
    /// The lot is as the file says; the end.
    Applied,
    /// The lot was so already and is confirmed; the end.
    Unchanged,
    /// It could not be applied; the end.
    Failed,
    /// A person did not want it; the end.
    Rejected,
    /// A later one came in the way; the end.
    Superseded,
}

impl RunState {
    /// All of them.
    pub const ALL: [RunState; 9] = [
        RunState::Received,
        RunState::Parsed,
        RunState::Checked,
        RunState::Held,
        RunState::Applied,
        RunState::Unchanged,
        RunState::Failed,
        RunState::Rejected,
        RunState::Superseded,
    ];

    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Received => "received",
            RunState::Parsed => "parsed",
            RunState::Checked => "checked",
            RunState::Held => "held",
            RunState::Applied => "applied",
            RunState::Unchanged => "unchanged",
            RunState::Failed => "failed",
            RunState::Rejected => "rejected",
            RunState::Superseded => "superseded",
        }
    }

    /// The state that `text` names.
    pub fn from_name(text: &str) -> Option<RunState> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more will become of it.
    pub fn is_end(self) -> bool {
        !matches!(self, RunState::Received | RunState::Parsed | RunState::Checked | RunState::Held)
    }

    /// Whether the lot is, or was, as the file says.
    pub fn is_good(self) -> bool {
        matches!(self, RunState::Applied | RunState::Unchanged)
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A run to begin, in state [`RunState::Received`].
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun<'a> {
    /// Whose file it is.
    pub source_id: Uuid,
    /// `full` or `delta`.
    pub mode: &'a str,
    /// `import`, `fetch`, `folder`, `push`, `rollback` …
    pub cause: &'a str,
    /// Who or what did it.
    pub actor: &'a str,
    /// The run that this one repeats.
    pub of_run: Option<Uuid>,
    /// The file as it came.
    pub file_id: Option<Uuid>,
    /// The name it came with.
    pub file_name: &'a str,
    /// Its size.
    pub file_bytes: u64,
    /// The units that were read from it, if they are known already.
    pub units_file_id: Option<Uuid>,
    /// By which the sender knows it; unique within the source.
    pub idempotency_key: Option<&'a str>,
    /// When it was received.
    pub received_at: DateTime<Utc>,
}

/// A run. JSON members are the callers' own.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Its id; ids ascend with the time of receipt.
    pub run_id: Uuid,
    /// Whose file it is.
    pub source_id: Uuid,
    /// How far it is.
    pub state: RunState,
    /// `full` or `delta`.
    pub mode: String,
    /// As in [`NewRun`]. Not changed later.
    pub cause: String,
    /// As in [`NewRun`]. Not changed later.
    pub actor: String,
    /// As in [`NewRun`]. Not changed later.
    pub of_run: Option<Uuid>,
    /// As in [`NewRun`].
    pub file_id: Option<Uuid>,
    /// As in [`NewRun`]. Not changed later.
    pub file_name: String,
    /// As in [`NewRun`]. Not changed later.
    pub file_bytes: u64,
    /// The units that were read from it.
    pub units_file_id: Option<Uuid>,
    /// As in [`NewRun`]. Not changed later.
    pub idempotency_key: Option<String>,
    /// As in [`NewRun`]. Not changed later.
    pub received_at: DateTime<Utc>,
    /// When its sender made it, by the file's own word.
    pub generated_at: Option<DateTime<Utc>>,
    /// When the work on it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When a person decided about it.
    pub decided_at: Option<DateTime<Utc>>,
    /// Who that was.
    pub decided_by: Option<String>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// The inventory version that it made.
    pub inventory_version: Option<u64>,
    /// What kind of file it is.
    pub detected: Option<Value>,
    /// Separator and columns.
    pub signature: Option<Value>,
    /// Records, published, excluded, rejected, duplicates …
    pub counts: Option<Value>,
    /// Publishable units by rooftop key.
    pub by_rooftop: Option<Value>,
    /// Findings by code.
    pub by_code: Option<Value>,
    /// What the guard says.
    pub verdict: Option<Value>,
    /// What it changes, or would change.
    pub diff: Option<Value>,
    /// How long each step took.
    pub timings: Option<Value>,
    /// Why it failed, or was rejected.
    pub failure: Option<String>,
    /// Whether its findings are still there: they go earlier than the run.
    pub findings_kept: bool,
}

/// A row before its texts are understood.
pub(crate) struct RawRun {
    pub(crate) run_id: Uuid,
    pub(crate) source_id: Uuid,
    pub(crate) state: String,
    pub(crate) mode: String,
    pub(crate) cause: String,
    pub(crate) actor: String,
    pub(crate) of_run: Option<Uuid>,
    pub(crate) file_id: Option<Uuid>,
    pub(crate) file_name: String,
    pub(crate) file_bytes: i64,
    pub(crate) units_file_id: Option<Uuid>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) received_at: DateTime<Utc>,
    pub(crate) generated_at: Option<DateTime<Utc>>,
    pub(crate) started_at: Option<DateTime<Utc>>,
    pub(crate) decided_at: Option<DateTime<Utc>>,
    pub(crate) decided_by: Option<String>,
    pub(crate) finished_at: Option<DateTime<Utc>>,
    pub(crate) inventory_version: Option<i64>,
    pub(crate) detected: Option<Value>,
    pub(crate) signature: Option<Value>,
    pub(crate) counts: Option<Value>,
    pub(crate) by_rooftop: Option<Value>,
    pub(crate) by_code: Option<Value>,
    pub(crate) verdict: Option<Value>,
    pub(crate) diff: Option<Value>,
    pub(crate) timings: Option<Value>,
    pub(crate) failure: Option<String>,
    pub(crate) findings_kept: bool,
}

impl RawRun {
    pub(crate) fn into_row(self) -> Result<RunRow, Error> {
        Ok(RunRow {
            state: RunState::from_name(&self.state).ok_or_else(|| Error::Corrupt {
                table: "feed_runs",
                column: "state",
                id: self.run_id.to_string(),
            })?,
            run_id: self.run_id,
            source_id: self.source_id,
            mode: self.mode,
            cause: self.cause,
            actor: self.actor,
            of_run: self.of_run,
            file_id: self.file_id,
            file_name: self.file_name,
            file_bytes: from_bigint(self.file_bytes),
            units_file_id: self.units_file_id,
            idempotency_key: self.idempotency_key,
            received_at: self.received_at,
            generated_at: self.generated_at,
            started_at: self.started_at,
            decided_at: self.decided_at,
            decided_by: self.decided_by,
            finished_at: self.finished_at,
            inventory_version: self.inventory_version.map(from_bigint),
            detected: self.detected,
            signature: self.signature,
            counts: self.counts,
            by_rooftop: self.by_rooftop,
            by_code: self.by_code,
            verdict: self.verdict,
            diff: self.diff,
            timings: self.timings,
            failure: self.failure,
            findings_kept: self.findings_kept,
        })
    }
}

/// A query for whole runs: `select_runs!("where …", arguments…)`, checked like any other.
macro_rules! select_runs {
    ($which:tt, $($argument:expr),+) => {
        sqlx::query_as!(
            RawRun,
            "select run_id, source_id, state, mode, cause, actor, of_run, file_id, file_name, file_bytes,
                    units_file_id, idempotency_key, received_at, generated_at, started_at, decided_at, decided_by,
                    finished_at, inventory_version, detected, signature, counts, by_rooftop, by_code, verdict, diff,
                    timings, failure, findings_kept from feed_runs " + $which,
            $($argument),+
        )
    };
}
pub(crate) use select_runs;
