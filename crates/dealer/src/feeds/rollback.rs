//! Going back to an older file, and giving up a source.
