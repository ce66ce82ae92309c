//! How a command fails: a sentence, what to do about it, and an exit status.

use std::fmt;
use std::process::ExitCode;

/// Exit status of a command that could not do its work.
pub const FAILED: u8 = 1;
/// Exit status for settings, arguments or files that cannot be used.
pub const UNUSABLE: u8 = 2;
/// Exit status after a second Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Why a command ended without success, in words for the person who started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, one sentence without a full stop.
    pub sentence: String,
    /// What to do, one line each.
    pub advice: Vec<String>,
    /// Exit status of the process.
    pub status: u8,
}

impl Failure {
    /// A failure with the usual exit status.
    pub fn new(sentence: impl Into<String>) -> Failure {
        Failure { sentence: sentence.into(), advice: Vec::new(), status: FAILED }
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub fn advise(mut self, line: impl Into<String>) -> Failure {
        self.advice.push(line.into());
        self
    }

    /// Sets the exit status.
    #[must_use]
    pub fn status(mut self, status: u8) -> Failure {
        self.status = status;
        self
    }

    /// Prints the failure to standard error and turns it into the exit status.
    pub fn report(&self) -> ExitCode {
        eprintln!("{self}");
        ExitCode::from(self.status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "forecourt: {}", self.sentence)?;
        self.advice.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl std::error::Error for Failure {}

/// The whole chain of an error as one line, each cause after a colon. A cause whose text is already part of what
/// was said before it is left out, since some libraries repeat their sources; so are the operating system's numbers.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    while let Some(start) = text.find(" (os error ")
        && let Some(length) = text.get(start..).and_then(|rest| rest.find(')'))
    {
        text.replace_range(start..=start + length, "");
    }
    text
}

/// The reason of an I/O error in lower case and without the number of the operating system.
pub fn io_reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "this account may not read it".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            text.to_lowercase()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_reads_as_a_sentence_with_advice_below() {
        let failure = Failure::new("the port is taken").advise("choose another with --listen");
        assert_eq!(failure.to_string(), "forecourt: the port is taken\n  choose another with --listen");
        assert_eq!(failure.status, FAILED);
    }

    #[test]
    fn a_chain_names_every_cause_once() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("cannot start")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        assert_eq!(chain(&Outer(std::io::Error::other("no room"))), "cannot start: no room");
        let refused = std::io::Error::from_raw_os_error(libc::ECONNREFUSED);
        assert_eq!(chain(&Outer(refused)), "cannot start: Connection refused");
    }
}
