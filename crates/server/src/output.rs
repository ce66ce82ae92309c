//! What goes to standard output: addresses and results, never logs.

use std::io::Write;

/// Prints a line. A reader that went away (`forecourt doctor | head -1`) is no reason to fail.
pub(crate) fn say(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
