//! Secrets that a person gives: never as arguments, which every account of the machine can read.

use std::io::{BufRead, IsTerminal, Write};

use dealer::vault::Credentials;

use crate::failure::{Failure, UNUSABLE, io_reason};

/// The variable that a password may come in.
const VARIABLE: &str = "FEED_PASSWORD";

/// The credentials of a user, whose password is asked for.
pub(super) fn basic(user: &str) -> Result<Credentials, Failure> {
    if user.contains(':') || user.chars().any(char::is_control) {
        return Err(Failure::new("a user must not hold a colon or control characters").status(UNUSABLE));
    }
    let password = match std::env::var(VARIABLE) {
        Ok(password) if !password.is_empty() => password,
        _ => asked("Password")?,
    };
    Ok(Credentials::Basic { user: user.to_owned(), password })
}

/// A bearer token.
pub(super) fn bearer() -> Result<Credentials, Failure> {
    let token = asked("Token")?;
    if token.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Failure::new("a token must not hold blanks").status(UNUSABLE));
    }
    Ok(Credentials::Bearer { token })
}

/// A line of standard input; on a terminal it is asked for and not shown.
fn asked(what: &str) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    let shown = stdin.is_terminal().then(|| {
        let mut to = std::io::stderr().lock();
        let _ = write!(to, "{what}: ").and_then(|()| to.flush());
        hidden::Hidden::begin()
    });
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    if shown.is_some() {
        eprintln!();
    }
    drop(shown);
    read.map_err(|error| {
        Failure::new(format!("standard input cannot be read: {}", io_reason(&error))).status(UNUSABLE)
    })?;
    let secret = line.trim_end_matches(['\r', '\n']).to_owned();
    if secret.is_empty() {
        let what = what.to_lowercase();
        return Err(Failure::new(format!("no {what} was given")).status(UNUSABLE));
    }
    Ok(secret)
}

#[cfg(unix)]
mod hidden {
    /// While this lives, a terminal does not show what is typed.
    pub(super) struct Hidden(Option<libc::termios>);

    impl Hidden {
        pub(super) fn begin() -> Hidden {
            // SAFETY: a structure of numbers, for which zeros are valid; the calls take a pointer to it, and the
            // descriptor of standard input, which is open as long as the process.
            unsafe {
                let mut before: libc::termios = std::mem::zeroed();
                if libc::tcgetattr(libc::STDIN_FILENO, &raw mut before) != 0 {
                    return Hidden(None);
                }
                let mut quiet = before;
                quiet.c_lflag &= !libc::ECHO;
                let done = libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const quiet);
                Hidden((done == 0).then_some(before))
            }
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            if let Some(before) = self.0 {
                // SAFETY: as above.
                unsafe {
                    libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const before);
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod hidden {
    /// Nothing is hidden here.
    pub(super) struct Hidden;

    impl Hidden {
        pub(super) fn begin() -> Hidden {
            Hidden
        }
    }
}
