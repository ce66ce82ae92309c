//! What is written down of a run beside its state, and what a run is compared with.

use std::collections::BTreeMap;
use std::time::Instant;

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use feeds::Code;
use feeds::config::{Mode, PreviousRun};
use feeds::outcome::{Counts, Outcome};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::RunRow;
use uuid::Uuid;

/// What the guard said of a run, and what it was held against (`RunRow::verdict`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judgement {
    /// It waits, or waited, for a person.
    pub hold: bool,
    /// Why, each code once.
    pub reasons: Vec<Code>,
    /// The same in words.
    pub sentences: Vec<String>,
    /// What was found out before the file was read: `FEED_TRUNCATED`, where other than the announced bytes came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Code>,
    /// The run whose units the source had when this one was compared with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Uuid>,
    /// The run whose units the source has since this one ended well: itself, or an earlier one that it confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lot_of: Option<Uuid>,
    /// The revisions of the source's settings and of the dealer that it was read with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_with: Option<(i64, i64)>,
    /// What the dealer is told although the file is applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
}

/// The columns that a source's files have (`RunRow::signature`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signature {
    /// Separator of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Its columns, folded and sorted; empty for documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<String>,
    /// Whether a table ends in a line break. Of one that always did and does not now, the end is missing: what stands
    /// last may be half a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_in_break: Option<bool>,
}

/// How long the steps of a run took, in milliseconds (`RunRow::timings`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timings {
    /// From the receipt of the file until the work began.
    pub waited_ms: u64,
    /// Getting the file out of the database, or what an earlier try had read of it.
    pub fetched_ms: u64,
    /// Reading it and storing its units.
    pub read_ms: u64,
    /// Comparing and judging.
    pub checked_ms: u64,
    /// Writing what changed.
    pub applied_ms: u64,
}

/// Milliseconds since then.
pub(super) fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A member of a run as it is stored.
pub(super) fn json<T: Serialize>(value: &T) -> Option<Value> {
    // Structs of plain members: nothing in them refuses to be written.
    serde_json::to_value(value).ok()
}

/// A member of a run as it was stored; what an older program wrote otherwise is as if it were not there.
pub(super) fn read<T: DeserializeOwned + Default>(stored: Option<&Value>) -> T {
    stored.and_then(|stored| T::deserialize(stored).ok()).unwrap_or_default()
}

/// What the guard said of a run.
pub fn judgement(run: &RunRow) -> Judgement {
    read(run.verdict.as_ref())
}

/// What became of the records of a run.
pub fn counts(run: &RunRow) -> Counts {
    read(run.counts.as_ref())
}

/// What a run changes, or would change.
pub fn difference(run: &RunRow) -> super::Difference {
    read(run.diff.as_ref())
}

/// `full` or `delta`.
pub(super) fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Full => "full",
        Mode::Delta => "delta",
    }
}

/// The mode of a run.
pub(super) fn mode(run: &RunRow) -> Mode {
    if run.mode == "delta" { Mode::Delta } else { Mode::Full }
}

/// What the next file of a source is compared with: its last good run, else the lot that it replaces (`provisioned`
/// units). `active` are the units that the source has now.
pub(super) fn baseline(
    last_good: Option<&RunRow>,
    provisioned: Option<u32>,
    active: usize,
) -> Option<PreviousRun> {
    let active = Some(u32::try_from(active).unwrap_or(u32::MAX));
    let Some(last) = last_good else {
        return provisioned.map(|published| PreviousRun { published, active, ..PreviousRun::default() });
    };
    let signature: Signature = read(last.signature.as_ref());
    Some(PreviousRun {
        published: counts(last).published,
        by_rooftop: read::<BTreeMap<String, u32>>(last.by_rooftop.as_ref()),
        delimiter: signature.delimiter,
        header: (!signature.header.is_empty()).then_some(signature.header),
        active,
    })
}

/// Writes down what reading a file came to.
pub(super) fn note_outcome(run: &mut RunRow, outcome: &Outcome) {
    run.detected = json(&outcome.detected);
    run.signature = json(&Signature {
        delimiter: outcome.delimiter.clone(),
        header: outcome.header.clone(),
        ends_in_break: None,
    });
    run.counts = json(&outcome.counts);
    run.by_rooftop = json(&outcome.by_rooftop);
    let by_code: BTreeMap<&str, u32> =
        outcome.findings.counts().iter().map(|(code, count)| (code.as_str(), *count)).collect();
    run.by_code = json(&by_code);
    let said = outcome.generated_at.as_deref().and_then(|at| DateTime::parse_from_rfc3339(at).ok());
    run.generated_at = said.map(|at| at.with_timezone(&Utc)).or(run.generated_at);
}

/// The time in a file's name: `…20261130…`, `…2026-11-30…`, followed by hours, minutes and perhaps seconds where the
/// name has them. Read as UTC: names are compared with each other.
pub(super) fn dated(name: &str) -> Option<DateTime<Utc>> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let signs: Vec<char> = base.chars().collect();
    (0..signs.len()).find_map(|at| {
        let before = at.checked_sub(1).and_then(|at| signs.get(at));
        if before.is_some_and(char::is_ascii_digit) {
            return None;
        }
        dated_at(signs.get(at..)?)
    })
}

fn dated_at(signs: &[char]) -> Option<DateTime<Utc>> {
    let mut at = 0;
    let mut number = |digits: usize, separators: &[char]| {
        let mut next = at;
        if signs.get(next).is_some_and(|sign| separators.contains(sign)) {
            next += 1;
        }
        let text: String = signs.get(next..next + digits)?.iter().collect();
        let number: u32 = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())??;
        at = next + digits;
        Some(number)
    };
    let (year, month, day) = (number(4, &[])?, number(2, &['-', '_', '.'])?, number(2, &['-', '_', '.'])?);
    if !(2000..2100).contains(&year) {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    let clock = |hour: Option<u32>, minute: Option<u32>, second: Option<u32>| {
        date.and_hms_opt(hour?, minute?, second.unwrap_or(0))
    };
    let (hour, minute) = (number(2, &['-', '_', '.', 'T', ' ']), number(2, &['-', '_', '.', ':']));
    let second = minute.and_then(|_| number(2, &['-', '_', '.', ':']));
    let time: Option<NaiveDateTime> = clock(hour, minute, second);
    Some(time.or_else(|| date.and_hms_opt(0, 0, 0))?.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_a_name_is_found() {
        for (name, time) in [
            ("inventory_20261130.csv", Some("2026-11-30T00:00:00Z")),
            ("inv-2026-11-30T03-15-07.csv.gz", Some("2026-11-30T03:15:07Z")),
            ("harbor.202611300315.txt", Some("2026-11-30T03:15:00Z")),
            ("20261130_031507_full.xml", Some("2026-11-30T03:15:07Z")),
            ("drop/20251130/lot 2026.11.29.csv", Some("2026-11-29T00:00:00Z")),
            ("dealer12026113099.csv", None),
            ("inventory.csv", None),
            ("lot_20261340.csv", None),
            ("5551234567.csv", None),
            ("", None),
            ("Añ20261130é.csv", Some("2026-11-30T00:00:00Z")),
        ] {
            let found = dated(name).map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
            assert_eq!(found.as_deref(), time, "{name}");
        }
    }

    #[test]
    fn a_first_feed_is_compared_with_the_lot_that_it_replaces() {
        assert_eq!(baseline(None, None, 0), None);
        assert_eq!(baseline(None, Some(40), 0).map(|before| before.published), Some(40));
    }
}
