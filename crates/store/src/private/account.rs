//! Who runs the server: a PostgreSQL server refuses to run as root.

use std::ffi::CString;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::StartError;

/// The account of the server's processes and files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
    /// Its name, if it is not the one that runs this program.
    other: Option<String>,
}

/// Whether this program runs as root.
pub(crate) fn is_root() -> bool {
    // SAFETY: takes and changes nothing.
    unsafe { libc::geteuid() == 0 }
}

impl Account {
    /// The account that runs this program.
    pub(crate) fn own() -> Account {
        // SAFETY: both take and change nothing.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        Account { uid, gid, other: None }
    }

    /// The account for a program that runs as root.
    pub(crate) fn service() -> Result<Account, StartError> {
        ["postgres", "nobody"].into_iter().find_map(Account::named).ok_or(StartError::NoAccount)
    }

    /// The owner of a folder that is there already, if it is not root.
    pub(crate) fn owner_of(path: &Path) -> Option<Account> {
        let folder = std::fs::metadata(path).ok().filter(|folder| folder.uid() != 0)?;
        let name = name_of(folder.uid()).unwrap_or_else(|| format!("with the number {}", folder.uid()));
        Some(Account { uid: folder.uid(), gid: folder.gid(), other: Some(name) })
    }

    fn named(name: &str) -> Option<Account> {
        let c_name = CString::new(name).ok()?;
        with_passwd(|entry, buffer, found| {
            // SAFETY: the pointers are valid for the call and the length is the buffer's.
            unsafe {
                libc::getpwnam_r(c_name.as_ptr(), entry, buffer.as_mut_ptr().cast(), buffer.len(), found)
            }
        })
        .filter(|(uid, _, _)| *uid != 0)
        .map(|(uid, gid, _)| Account { uid, gid, other: Some(name.to_owned()) })
    }

    /// The account's name where it is not that of this program.
    pub(crate) fn other_name(&self) -> Option<&str> {
        self.other.as_deref()
    }

    /// A command that will run as this account, in a process group of its own so that Ctrl-C does not reach it.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if self.other.is_some() {
            command.gid(self.gid).uid(self.uid);
        }
        for (name, _) in std::env::vars_os() {
            // Settings meant for clients, or for another server.
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command.env("LC_ALL", "C").stdin(Stdio::null()).process_group(0);
        command
    }

    /// Gives a file or folder to the account.
    pub(crate) fn own_path(&self, path: &Path) -> std::io::Result<()> {
        if self.other.is_some() { chown(path, Some(self.uid), Some(self.gid)) } else { Ok(()) }
    }

    /// Whether a file or folder is the account's.
    pub(crate) fn owns(&self, metadata: &std::fs::Metadata) -> bool {
        metadata.uid() == self.uid
    }

    /// Whether the account can enter a folder. Tried, not computed: modes are not all that decides.
    pub(crate) fn can_enter(&self, folder: &Path) -> bool {
        let mut command = self.command(Path::new("/bin/sh"));
        command.args(["-c", ":"]).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

fn name_of(uid: u32) -> Option<String> {
    with_passwd(|entry, buffer, found| {
        // SAFETY: the pointers are valid for the call and the length is the buffer's.
        unsafe { libc::getpwuid_r(uid, entry, buffer.as_mut_ptr().cast(), buffer.len(), found) }
    })
    .map(|(_, _, name)| name)
}

/// Looks an account up: number, group number, name.
fn with_passwd(
    look_up: impl Fn(*mut libc::passwd, &mut [u8], *mut *mut libc::passwd) -> libc::c_int,
) -> Option<(u32, u32, String)> {
    let mut buffer = vec![0_u8; 16 * 1024];
    // SAFETY: a struct of numbers and pointers, for which zeros are valid.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    if look_up(&mut entry, &mut buffer, &mut found) != 0 || found.is_null() {
        return None;
    }
    // SAFETY: on success `pw_name` points to a terminated text inside `buffer`, which is still alive.
    let name = unsafe { std::ffi::CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned();
    Some((entry.pw_uid, entry.pw_gid, name))
}
