//! No door says anything else than another: the same requests through A2A, MCP and plain HTTP, answers side by side.

mod cases;
mod doors;
mod generated;
mod masks;
mod queries;
mod shared;

/// The time that it is for leads of dealers in these tests.
const CLOCK: &str = "2026-12-01T18:00:00Z";
