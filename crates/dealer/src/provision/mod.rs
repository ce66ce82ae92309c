//! Bringing in many dealers at once from one document.
//!
//! `{"tenants": {slug: {…}}}`. A member that is absent is left as it is (for a new dealer: its default); a member
//! that is `null` goes back to its default. All or nothing per dealer; the same document twice changes nothing.

mod agendas;
mod apply;
mod decisions;
mod document;
mod doubts;
mod outer;
mod rules;
mod together;

pub use apply::{ApplyError, Outcome, addresses, apply};
pub use document::{Document, ReadError, read};
pub use doubts::Doubt;

/// One thing that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer from the root of the document.
    pub pointer: String,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", if self.pointer.is_empty() { "/" } else { &self.pointer }, self.message)
    }
}
