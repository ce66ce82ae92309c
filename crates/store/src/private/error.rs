//! Why a private server did not start, in words that say what to do.

use std::io;
use std::path::{Path, PathBuf};

/// A private server could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another program owns the server on this data.
    #[error("{by} (process {pid}) already runs on this data; stop it first, or name another data folder")]
    AlreadyRunning {
        /// Its process id; 0 if it could not be read.
        pid: u32,
        /// Its command, such as `forecourt up`.
        by: String,
    },
    /// Another program owns the server, which does not become ready.
    #[error("{by} (process {pid}) runs on this data, but its PostgreSQL does not get ready")]
    NotReady {
        /// Its process id; 0 if it could not be read.
        pid: u32,
        /// Its command.
        by: String,
    },
    /// No server binaries were found.
    #[error(
        "no PostgreSQL 15 or newer was found. Set DATABASE_URL to use a server that runs already, or install one:\n  \
         Debian, Ubuntu:  sudo apt-get install -y postgresql\n  \
         macOS:           brew install postgresql@17\n  \
         without root:    npm ci --prefix tools/postgres\n\
         PG_BIN_DIR may name the folder with initdb and postgres. Looked into: {looked}"
    )]
    NoBinaries {
        /// The folders that were looked into.
        looked: String,
    },
    /// `PG_BIN_DIR` is set to a folder that cannot be used.
    #[error("PG_BIN_DIR={dir}: {problem}")]
    BinDir {
        /// Its value.
        dir: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The data was made by another major version.
    #[error(
        "the data in {data} was made by PostgreSQL {made_by}, of which no binaries were found (found: {found}). \
         Install PostgreSQL {made_by}, or set PG_BIN_DIR to it"
    )]
    OtherVersion {
        /// Folder of the data.
        data: PathBuf,
        /// Major version that made it.
        made_by: String,
        /// Versions that were found.
        found: String,
    },
    /// Started by root with no account to run the server as.
    #[error(
        "PostgreSQL does not run as root, and there is neither an account `postgres` nor `nobody`. \
         Make one: useradd --system postgres"
    )]
    NoAccount,
    /// A folder or file could not be made or used.
    #[error("{}: {problem}", path.display())]
    Path {
        /// Which one.
        path: PathBuf,
        /// What went wrong, with advice where there is some.
        problem: String,
    },
    /// A program of PostgreSQL failed.
    #[error("{program} failed{}:\n{log}", hint(log))]
    Program {
        /// `initdb` or `postgres`.
        program: &'static str,
        /// The end of what it wrote.
        log: String,
    },
}

impl StartError {
    pub(crate) fn path(path: &Path, error: &io::Error) -> StartError {
        let problem = match error.raw_os_error() {
            Some(libc::ENOSPC) => "no space left on the disk".to_owned(),
            Some(libc::EDQUOT) => "the disk quota is used up".to_owned(),
            Some(libc::EROFS) => "the file system is read-only; name another data folder".to_owned(),
            Some(libc::EACCES | libc::EPERM) => {
                "permission denied; it was perhaps made by another account (run as that one, or name another data \
                 folder)"
                    .to_owned()
            }
            _ => error.to_string(),
        };
        StartError::Path { path: path.to_owned(), problem }
    }
}

/// The cause that a person would look for, said first.
fn hint(log: &str) -> &'static str {
    let causes = [
        ("No space left on device", " because the disk is full"),
        ("Disk quota exceeded", " because the disk quota is used up"),
        ("Permission denied", " because a file may not be used"),
        ("could not create shared memory", " because the system gives too little shared memory"),
        ("could not map anonymous shared memory", " because the system gives too little memory"),
    ];
    causes.into_iter().find(|(sign, _)| log.contains(sign)).map_or("", |(_, cause)| cause)
}
