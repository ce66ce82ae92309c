//! States, counts and verdicts of runs.
