//! The normalised units of a run, stored as one file.
