//! One thing that a person should know about a file or a row.

use serde::{Deserialize, Serialize};

use crate::code::Code;

/// Characters of a value that a finding keeps.
pub const VALUE_CHARS: usize = 80;

/// The beginning of a value: at most [`VALUE_CHARS`] characters, the last one `…` where something is left out.
pub fn excerpt(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS) {
        None => value.to_owned(),
        Some(_) => value.chars().take(VALUE_CHARS - 1).chain(['…']).collect(),
    }
}

/// A finding. Its sentence and advice come from its code ([`Code::sentence`], [`Code::advice`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// Number of the record, from 1; absent where the file as a whole is meant.
    #[serde(rename = "source_row", skip_serializing_if = "Option::is_none", default)]
    pub row: Option<u32>,
    /// The member of the unit that it is about: `vin`, `asking_price`, `row` …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<String>,
    /// The column as the file names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
    /// The value as it came, shortened to [`VALUE_CHARS`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
    /// VIN of the row as it came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vin: Option<String>,
    /// Stock number of the row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stock: Option<String>,
    /// The surviving row of a duplicate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept_row: Option<u32>,
}
