//! The engine from outside: against a plain oracle on random lots, and the rules one by one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cursors;
mod differential;
mod identifiers;
mod large;
mod lots;
mod oracle;
mod semantics;
mod versions;
