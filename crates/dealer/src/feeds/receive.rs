//! Taking in a file.
