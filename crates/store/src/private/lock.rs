//! Locks between programs that use one data folder. The kernel gives them back when a program dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::account::Account;
use super::{StartError, read_lossy};

/// A lock that this program holds.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// Who holds a lock, as it said itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// 0 if unknown.
    pub(crate) pid: u32,
    pub(crate) command: String,
    /// Whether it will end soon by itself.
    pub(crate) temporary: bool,
}

impl Lock {
    /// The lock, unless another program has it.
    pub(crate) fn take(path: &Path, account: &Account) -> Result<Option<Lock>, StartError> {
        let file = open(path, account)?;
        taken(file.try_lock(), file, path)
    }

    /// A share of the lock, unless another program has all of it.
    pub(crate) fn take_shared(path: &Path, account: &Account) -> Result<Option<Lock>, StartError> {
        let file = open(path, account)?;
        taken(file.try_lock_shared(), file, path)
    }

    /// Waits until nobody has a share, at most so long.
    pub(crate) fn wait_exclusive(path: &Path, longest: Duration) -> Option<Lock> {
        let file = File::open(path).ok()?;
        let deadline = Instant::now() + longest;
        while Instant::now() < deadline {
            match file.try_lock() {
                Ok(()) => return Some(Lock { file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }

    /// Writes who holds it, for those who are refused. Not being able to is no reason to fail.
    pub(crate) fn name_holder(&mut self, command: &str, temporary: bool) {
        let kind = if temporary { "command" } else { "serving" };
        let text = format!("{}\n{kind}\n{command}\n", std::process::id());
        let _ = self.file.set_len(0).and_then(|()| self.file.rewind()).and_then(|()| {
            self.file.write_all(text.as_bytes())?;
            self.file.flush()
        });
    }

    /// Takes the name out again.
    pub(crate) fn forget_holder(&mut self) {
        let _ = self.file.set_len(0);
    }
}

/// Who holds the lock of this file.
pub(crate) fn holder(path: &Path) -> Holder {
    let text = read_lossy(path);
    let mut lines = text.lines();
    let pid = lines.next().and_then(|line| line.parse().ok()).unwrap_or(0);
    let temporary = lines.next() == Some("command");
    let command = lines.next().filter(|line| !line.is_empty()).unwrap_or("another program").to_owned();
    Holder { pid, command, temporary }
}

fn open(path: &Path, account: &Account) -> Result<File, StartError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path).map_err(|error| StartError::path(path, &error))?;
    account.own_path(path).map_err(|error| StartError::path(path, &error))?;
    Ok(file)
}

fn taken(result: Result<(), TryLockError>, file: File, path: &Path) -> Result<Option<Lock>, StartError> {
    match result {
        Ok(()) => Ok(Some(Lock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(StartError::path(path, &error)),
    }
}
