//! Where the files of the server are.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::account::{self, Account};
use super::{PORT, StartError};

/// Longest path of a unix socket that every system we know takes (macOS 103, Linux 107).
const LONGEST_SOCKET: usize = 103;

/// Where data goes that the server's account could not reach beside the program's.
const ELSEWHERE: &str = "/var/lib/forecourt";

/// The folder of a private server: `data`, `server.log`, locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    root: PathBuf,
}

impl Place {
    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The cluster.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// What the server writes.
    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("server.log")
    }

    /// Held by the program that runs the server.
    pub(crate) fn owner_lock(&self) -> PathBuf {
        self.root.join("forecourt.lock")
    }

    /// Shared by the programs that use another one's server.
    pub(crate) fn guest_lock(&self) -> PathBuf {
        self.root.join("guests.lock")
    }

    /// The folder of the socket, made if it is missing.
    pub(crate) fn socket_dir(&self, account: &Account) -> Result<PathBuf, StartError> {
        let beside = self.root.join("socket");
        let short = |parent: &Path| parent.join(format!("forecourt-{}", short_hash(&self.root)));
        let temp = std::env::temp_dir();
        let choices = [beside, short(&temp), short(Path::new("/tmp"))];
        let mut problem = None;
        for dir in choices.iter().filter(|dir| socket_length(dir) <= LONGEST_SOCKET) {
            match private_dir(dir, account) {
                // In a folder that others can write to, another account may have been first with the name.
                Ok(()) => return Ok(dir.clone()),
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| StartError::Path {
            path: self.root.clone(),
            problem: "the path is too long for a unix socket; name another data folder".to_owned(),
        }))
    }
}

fn socket_length(dir: &Path) -> usize {
    dir.join(format!(".s.PGSQL.{PORT}")).as_os_str().len()
}

/// Whether a folder has the data of a server, here or where root's goes. Makes nothing. Yes where it cannot be told:
/// using it says why.
pub(crate) fn is_used(data_dir: &Path) -> bool {
    let Ok(data_dir) = data_dir.canonicalize() else { return false };
    let elsewhere = Path::new(ELSEWHERE).join(short_hash(&data_dir)).join("pg");
    let roots = [Some(data_dir.join("pg")), account::is_root().then_some(elsewhere)];
    roots.iter().flatten().any(|root| root.join("data/PG_VERSION").try_exists().unwrap_or(true))
}

/// Where the data would be that is not there yet. Makes nothing.
pub(crate) fn foreseen(data_dir: &Path) -> Place {
    Place { root: data_dir.join("pg") }
}

/// Settles folder and account together, since each depends on the other. Notes say what a person should know.
pub(crate) fn settle(data_dir: &Path) -> Result<(Place, Account, Vec<String>), StartError> {
    fs::create_dir_all(data_dir).map_err(|error| StartError::path(data_dir, &error))?;
    let data_dir = data_dir.canonicalize().map_err(|error| StartError::path(data_dir, &error))?;
    let root = data_dir.join("pg");
    if !account::is_root() {
        let own = Account::own();
        private_dir(&root, &own)?;
        return Ok((Place { root }, own, Vec::new()));
    }

    let elsewhere = Path::new(ELSEWHERE).join(short_hash(&data_dir)).join("pg");
    // Data that is there stays in use where it is, by whom it was made.
    for existing in [&root, &elsewhere] {
        if existing.join("data").exists()
            && let Some(owner) = Account::owner_of(existing)
            && owner.can_enter(existing)
        {
            let notes = if existing == &elsewhere { note(&elsewhere) } else { Vec::new() };
            return Ok((Place { root: existing.clone() }, owner, notes));
        }
    }

    let service = Account::service()?;
    if private_dir(&root, &service).is_ok() && service.can_enter(&root) {
        return Ok((Place { root }, service, Vec::new()));
    }
    // Not ours to open up: a home folder is closed on purpose. Only an empty folder is taken back.
    let _ = fs::remove_dir(&root);
    if let Some(parent) = elsewhere.parent() {
        open_dir(parent)?;
    }
    private_dir(&elsewhere, &service)?;
    if !service.can_enter(&elsewhere) {
        return Err(StartError::Path {
            path: elsewhere,
            problem: format!(
                "the account {} can enter neither this nor the data folder; name a data folder it can enter",
                service.other_name().unwrap_or_default()
            ),
        });
    }
    let notes = note(&elsewhere);
    Ok((Place { root: elsewhere }, service, notes))
}

fn note(elsewhere: &Path) -> Vec<String> {
    vec![format!(
        "PostgreSQL keeps its data in {}, since its account cannot enter the data folder",
        elsewhere.display()
    )]
}

/// A folder that only the account may enter, made if it is missing.
pub(crate) fn private_dir(dir: &Path, account: &Account) -> Result<(), StartError> {
    let problem = |error: std::io::Error| StartError::path(dir, &error);
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => account.own_path(dir).map_err(problem)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Without following a link: it could lead into a folder of somebody else.
            let there = fs::symlink_metadata(dir).map_err(problem)?;
            let empty = || fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
            if !there.is_dir() {
                return Err(StartError::Path { path: dir.to_owned(), problem: "is not a folder".to_owned() });
            }
            if !account.owns(&there) {
                // Made by root and not given away yet: a start was killed here.
                if !(account::is_root() && empty()) {
                    return Err(StartError::path(dir, &std::io::Error::from_raw_os_error(libc::EACCES)));
                }
                account.own_path(dir).map_err(problem)?;
            }
            if there.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(problem)?;
            }
        }
        Err(error) => return Err(problem(error)),
    }
    Ok(())
}

/// A folder on the way to a private one: anybody may pass.
fn open_dir(dir: &Path) -> Result<(), StartError> {
    DirBuilder::new().recursive(true).mode(0o755).create(dir).map_err(|error| StartError::path(dir, &error))
}

/// Twelve characters that stand for a path.
fn short_hash(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    Sha256::digest(path.as_os_str().as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
