//! What the cells of a feed mean: one file for each family of values (FEEDS.md 5 and 6).
//!
//! All of it is pure: a text goes in, a value and what should be said about it come out. Nothing is guessed where a
//! wrong value would be worse than none.

pub mod condition;
pub mod dates;
mod double_encoding;
mod makes;
pub mod mileage;
pub mod money;
pub(crate) mod number;
pub mod photos;
pub mod status;
pub mod text;
pub mod url;
pub mod vehicle_type;
pub mod vin;
pub mod vocabulary;
pub mod year;

use crate::code::Code;

/// What was made of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value; none where the cell says nothing, or nothing that can be used.
    pub value: Option<T>,
    /// What should be said about it, each code once.
    pub codes: Vec<Code>,
}

impl<T> Parsed<T> {
    /// Neither a value nor a word about it.
    pub fn nothing() -> Self {
        Self { value: None, codes: Vec::new() }
    }

    /// A value that nothing is to be said about.
    pub fn of(value: T) -> Self {
        Self { value: Some(value), codes: Vec::new() }
    }

    /// No value, and why.
    pub fn refused(code: Code) -> Self {
        Self { value: None, codes: vec![code] }
    }

    /// A value, and what was done to get it.
    pub fn with(value: T, code: Code) -> Self {
        Self { value: Some(value), codes: vec![code] }
    }
}

/// A word of a cell without what writers differ in: case, accents, blanks and punctuation.
///
/// Unlike [`crate::aliases::fold`] it drops `?` and `#` too, and an ASCII word costs no look-up.
pub(crate) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word
            .bytes()
            .filter(u8::is_ascii_alphanumeric)
            .map(|byte| char::from(byte.to_ascii_lowercase()))
            .collect();
    }
    let mut folded = crate::aliases::fold(word);
    folded.retain(|sign| sign.is_ascii_alphanumeric());
    folded
}

/// Words that stand in a cell in place of nothing.
pub(crate) fn is_nothing(word: &str) -> bool {
    let folded = fold(word);
    if folded.is_empty() {
        // Letters of other scripts fold to nothing, and are something.
        return !word.chars().any(char::is_alphanumeric);
    }
    matches!(
        folded.as_str(),
        "na" | "none"
            | "null"
            | "nil"
            | "tbd"
            | "tba"
            | "unknown"
            | "notavailable"
            | "notspecified"
            | "unspecified"
    )
}

#[cfg(test)]
mod tests;
