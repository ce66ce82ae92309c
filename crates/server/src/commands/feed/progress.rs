//! How far a long reading is, for a person who waits: one line on standard error, and only on a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// What takes less needs no bar.
const QUIET: Duration = Duration::from_millis(300);
/// Between two looks at the line.
const PAUSE: Duration = Duration::from_millis(100);
/// Signs of the bar.
const WIDTH: u64 = 30;

/// The line. Nothing is written where standard error is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    total: u64,
    terminal: bool,
    began: Instant,
    written: Option<Instant>,
}

impl Progress {
    /// For a file of so many bytes.
    pub(crate) fn on_terminal(total: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { total, terminal, began: Instant::now(), written: None }
    }

    /// So many bytes of the file and so many rows are read.
    pub(crate) fn at(&mut self, bytes: u64, rows: u32) {
        let now = Instant::now();
        let waits = self.written.is_some_and(|written| now.duration_since(written) < PAUSE);
        if !self.terminal || waits || now.duration_since(self.began) < QUIET {
            return;
        }
        self.written = Some(now);
        let mut to = std::io::stderr().lock();
        let _ = write!(to, "\r\x1b[K{}", line(bytes, self.total, rows)).and_then(|()| to.flush());
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.written.take().is_some() {
            let mut to = std::io::stderr().lock();
            let _ = write!(to, "\r\x1b[K").and_then(|()| to.flush());
        }
    }
}

fn line(bytes: u64, total: u64, rows: u32) -> String {
    let done = bytes.min(total);
    let (percent, signs) = match total {
        0 => (100, WIDTH),
        total => (done * 100 / total, done * WIDTH / total),
    };
    let signs = usize::try_from(signs).unwrap_or_default();
    format!("[{:<30}] {percent:>3} %  {rows} records", "#".repeat(signs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_grows_with_the_bytes() {
        assert_eq!(line(0, 100, 0), "[                              ]   0 %  0 records");
        assert_eq!(line(50, 100, 7), "[###############               ]  50 %  7 records");
        assert_eq!(line(200, 100, 9), "[##############################] 100 %  9 records");
        assert_eq!(line(0, 0, 0), "[##############################] 100 %  0 records");
    }
}
