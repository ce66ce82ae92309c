//! Runs what can wait: feed imports, fetches, watched folders, schedules.

pub mod outbound;
