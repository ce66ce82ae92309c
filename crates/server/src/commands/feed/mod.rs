//! `forecourt feed …`: inventory files and where they come from.

pub(crate) mod check;
mod progress;
