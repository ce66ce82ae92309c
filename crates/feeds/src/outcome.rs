//! What reading a feed came to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::finding::Finding;
use crate::raw::Detected;

/// Findings that are kept whole; of further ones only the number is.
pub const FINDINGS_KEPT: usize = 50_000;

/// What became of the records of a file: `records` is the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records, lost ones included.
    pub records: u32,
    /// Units that would be published.
    pub published: u32,
    /// Left out for what they are: sold, wholesale, removed, unknown status, deleted.
    pub excluded: u32,
    /// Left out for an error.
    pub rejected: u32,
    /// Left out because another row of the file stands for the same unit.
    pub duplicates_dropped: u32,
}

/// A record that is left out for what it is, which is no error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Number of the record.
    pub source_row: u32,
    /// `sold`, `wholesale`, `removed`, `unknown_status` or `delete_action`.
    pub reason: String,
    /// Its VIN, where it has one that can be one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vin: Option<String>,
    /// Its stock number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stock: Option<String>,
    /// Its rooftop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rooftop_key: Option<String>,
}

/// Findings of a file. The first [`FINDINGS_KEPT`] are kept whole, in the order they were made; all are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<Code, u32>,
}

impl Findings {
    /// Adds one.
    pub fn add(&mut self, finding: Finding) {
        *self.counts.entry(finding.code).or_default() += 1;
        if self.kept.len() < FINDINGS_KEPT {
            self.kept.push(finding);
        }
    }

    /// Those that are kept.
    pub fn kept(&self) -> &[Finding] {
        &self.kept
    }

    /// How many there are of each code.
    pub fn counts(&self) -> &BTreeMap<Code, u32> {
        &self.counts
    }

    /// Whether there is one of this code.
    pub fn has(&self, code: Code) -> bool {
        self.counts.contains_key(&code)
    }

    /// How many there are, and how many of them are kept.
    pub fn total(&self) -> (usize, usize) {
        (self.counts.values().map(|count| *count as usize).sum(), self.kept.len())
    }

    /// Puts those about rows in the order of the rows; those about the file come first.
    pub(crate) fn sort(&mut self) {
        self.kept.sort_by_key(|finding| finding.row);
    }
}

impl Extend<Finding> for Findings {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        for finding in findings {
            self.add(finding);
        }
    }
}

/// A column, and what was taken from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedColumn {
    /// Its name as it came.
    pub column: String,
    /// The target; `ignore` where a mapping by hand says so, `never_published` for what the dealer paid; absent where
    /// nobody knows what it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// Whether a mapping by hand says so.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub by_hand: bool,
}

/// What reading a feed came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What kind of file it is.
    pub detected: Detected,
    /// What became of its records.
    pub counts: Counts,
    /// Units that would be published, by rooftop key; units without one are not among them.
    pub by_rooftop: BTreeMap<String, u32>,
    /// Rows of units that were given to the sink and are not published, because another row stands for the same unit.
    pub dropped: BTreeSet<u32>,
    /// Records left out for what they are.
    pub excluded: Vec<Excluded>,
    /// Of a delta feed: those of `excluded` that are the last word of the file on their unit, which is to be removed.
    pub deletes: Vec<Excluded>,
    /// What there is to say, of the file and of its rows, ordered by row.
    pub findings: Findings,
    /// When the sender made the file, RFC 3339, where the file says so.
    pub generated_at: Option<String>,
    /// Names of the columns of a table, folded and sorted; empty for a document, whose columns come and go with what
    /// its vehicles have.
    pub header: Vec<String>,
    /// Separator of a table.
    pub delimiter: Option<String>,
    /// Why the file has to be held whatever is in it: `FEED_TRUNCATED`, `FEED_NOT_WELLFORMED`, `FEED_EMPTY`,
    /// `FEED_HEADER_UNKNOWN`.
    pub stopped: Vec<Code>,
    /// All columns, in their order.
    pub mapping: Vec<MappedColumn>,
}
