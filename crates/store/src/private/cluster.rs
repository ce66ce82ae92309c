//! Making the cluster, once.
//!
//! `initdb` works in a folder of another name, which gets its real name when it is complete. So a folder with the
//! real name was complete once, and anything else may be thrown away.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::account::Account;
use super::binaries::Binaries;
use super::place::Place;
use super::process::{die_with_parent, tail};
use super::{StartError, read_lossy};

const MAKING: &str = "making-";

/// Makes the cluster if there is none.
pub(crate) fn ensure(
    binaries: &Binaries,
    place: &Place,
    account: &Account,
    durable: bool,
) -> Result<(), StartError> {
    let data = place.data();
    clear_half_made(place.root());
    if data.exists() {
        return check(&data);
    }
    let making = place.root().join(format!("{MAKING}{}", std::process::id()));
    let log = place.root().join("initdb.log");
    let output = File::create(&log).map_err(|error| StartError::path(&log, &error))?;
    let errors = output.try_clone().map_err(|error| StartError::path(&log, &error))?;

    tracing::info!(folder = %place.root().display(), "making a PostgreSQL cluster");
    let mut command = account.command(&binaries.initdb());
    command
        .arg("--pgdata")
        .arg(&making)
        .args(["--username=postgres", "--encoding=UTF8", "--no-locale", "--auth-local=trust"])
        .args(["--auth-host=reject", "--data-checksums", "--no-instructions"])
        .current_dir(place.root())
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors));
    if cfg!(target_os = "linux") {
        // So that `lower` and the like know more than ASCII; order stays by bytes.
        command.arg("--lc-ctype=C.UTF-8");
    }
    if !durable {
        command.arg("--no-sync");
    }
    // Killed with us: nobody would know of it.
    die_with_parent(&mut command, libc::SIGKILL);
    let status = command.status().map_err(|error| StartError::path(&binaries.initdb(), &error))?;
    if !status.success() {
        let log = tail(&read_lossy(&log));
        let _ = fs::remove_dir_all(&making);
        return Err(StartError::Program { program: "initdb", log });
    }
    fs::rename(&making, &data).map_err(|error| StartError::path(&data, &error))?;
    if durable {
        // The new name must not be lost with the power.
        let folder = File::open(place.root()).and_then(|folder| folder.sync_all());
        folder.map_err(|error| StartError::path(place.root(), &error))?;
    }
    let _ = fs::remove_file(&log);
    Ok(())
}

fn clear_half_made(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(MAKING) {
            tracing::info!("removing a cluster that was never completed");
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Refuses what is not a cluster: it is somebody's, and not ours to remove.
fn check(data: &Path) -> Result<(), StartError> {
    let missing: Option<PathBuf> =
        ["PG_VERSION", "global/pg_control"].iter().map(|name| data.join(name)).find(|path| !path.exists());
    match missing {
        None => Ok(()),
        Some(path) => Err(StartError::Path {
            path: data.to_owned(),
            problem: format!(
                "is not a complete PostgreSQL cluster ({} is missing). Restore it from a backup, or move it away to \
                 begin anew",
                path.display()
            ),
        }),
    }
}
