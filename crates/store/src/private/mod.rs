//! A PostgreSQL of our own, for those who name no database: found, made, started and stopped by this program.
//!
//! It listens on a unix socket in a folder that only its account may enter, and on nothing else. One program
//! owns it ([`PrivatePg::start`]); others use it beside that one ([`PrivatePg::adopt`]). Everything here blocks:
//! call it before an async runtime starts, or on a blocking thread.

mod account;
mod binaries;
mod cluster;
mod error;
mod lock;
mod place;
mod process;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use account::Account;
use binaries::Binaries;
pub use error::StartError;
use lock::Lock;
use place::Place;
use server::Server;

/// The number in the socket's name. Nothing else uses the folder, so it never collides.
const PORT: u16 = 5432;

/// How a private server is found and run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program's data folder; the server's files go to its subfolder `pg` where that is possible.
    pub data_dir: PathBuf,
    /// Folders to look into for the server binaries of the npm package, besides the installed ones: the
    /// project's root, or the folder of the program.
    pub roots: Vec<PathBuf>,
    /// Whether committed data survives a crash of the machine. `false` is for tests.
    pub durable: bool,
    /// What the owner is called when another program is refused: `forecourt up`.
    pub command: String,
    /// Further settings of the server, each as `name=value`; they come last and so have the last word.
    pub settings: Vec<String>,
}

impl Options {
    /// Durable, with no folders to look into.
    pub fn new(data_dir: impl Into<PathBuf>, command: &str) -> Options {
        Options {
            data_dir: data_dir.into(),
            roots: Vec::new(),
            durable: true,
            command: command.to_owned(),
            settings: Vec::new(),
        }
    }
}

/// A running private server. Dropping it stops the server if this program started it.
#[derive(Debug)]
pub struct PrivatePg {
    socket_dir: PathBuf,
    port: u16,
    location: Vec<String>,
    part: Part,
}

/// What this program is to the server.
#[derive(Debug)]
enum Part {
    Owner { server: Option<Server>, place: Place, lock: Lock, temporary: bool },
    // The lock tells a temporary owner to wait for us.
    Guest { pid: u32, _using: Lock },
}

impl PrivatePg {
    /// Starts the server and owns it: for programs that serve.
    ///
    /// Waits a while for a short-lived command that runs the server for itself.
    ///
    /// # Errors
    /// [`StartError::AlreadyRunning`] when another program owns it; the others say what to do.
    pub fn start(options: &Options) -> Result<PrivatePg, StartError> {
        let prepared = Prepared::new(options)?;
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut told = false;
        loop {
            let refused = match Lock::take(&prepared.place.owner_lock(), &prepared.account)? {
                Some(lock) => return prepared.run(options, lock, false),
                None => lock::holder(&prepared.place.owner_lock()),
            };
            if !refused.temporary || Instant::now() > deadline {
                return Err(StartError::AlreadyRunning { pid: refused.pid, by: refused.command });
            }
            if !told {
                tracing::info!(
                    pid = refused.pid,
                    by = refused.command,
                    "waiting for a command that uses the database"
                );
                told = true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Uses the server that another program runs, or starts it for as long as the answer lives: for commands.
    ///
    /// # Errors
    /// Those of starting it, and [`StartError::NotReady`] when the owner's server does not come up.
    pub fn adopt(options: &Options) -> Result<PrivatePg, StartError> {
        let prepared = Prepared::new(options)?;
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(lock) = Lock::take(&prepared.place.owner_lock(), &prepared.account)? {
                return prepared.run(options, lock, true);
            }
            if let Some(guest) = prepared.join()? {
                return Ok(guest);
            }
            if Instant::now() > deadline {
                let holder = lock::holder(&prepared.place.owner_lock());
                return Err(StartError::NotReady { pid: holder.pid, by: holder.command });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What starting would do, in lines for a person: which binaries, which account, which folder. Starts nothing, and
    /// where there is no data it makes nothing.
    ///
    /// # Errors
    /// What starting would fail with, as far as it can be told before.
    pub fn survey(options: &Options) -> Result<Vec<String>, StartError> {
        if !Self::exists(options) {
            let binaries = binaries::choose(options, &place::foreseen(&options.data_dir), &Account::own())?;
            return Ok(vec![format!("PostgreSQL {}: {}", binaries.version, binaries.dir.display())]);
        }
        let prepared = Prepared::new(options)?;
        let binaries = binaries::choose(options, &prepared.place, &prepared.account)?;
        let mut lines = prepared.location(Some(&binaries));
        let path = prepared.place.owner_lock();
        match Lock::take(&path, &prepared.account)? {
            Some(_) => lines.push("it is not running".to_owned()),
            None => {
                let holder = lock::holder(&path);
                lines.push(format!("it is run by {} (process {})", holder.command, holder.pid));
            }
        }
        Ok(lines)
    }

    /// Whether there is data already: `false` before the first start. Makes nothing.
    pub fn exists(options: &Options) -> bool {
        place::is_used(&options.data_dir)
    }

    /// Folder of the unix socket.
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// The number in the socket's name.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Process id of the server; another one after it crashed and was started again.
    pub fn pid(&self) -> u32 {
        match &self.part {
            Part::Owner { server, .. } => server.as_ref().map_or(0, Server::pid),
            Part::Guest { pid, .. } => *pid,
        }
    }

    /// Whether another program runs the server and this one only uses it.
    pub fn is_adopted(&self) -> bool {
        matches!(self.part, Part::Guest { .. })
    }

    /// Where everything is, in lines to print.
    pub fn location(&self) -> &[String] {
        &self.location
    }

    /// Stops the server if this program started it; dropping does the same.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for PrivatePg {
    fn drop(&mut self) {
        if let Part::Owner { server, place, lock, temporary } = &mut self.part {
            if *temporary {
                // Other commands may have joined meanwhile; they must not lose their database.
                let _all_left = Lock::wait_exclusive(&place.guest_lock(), Duration::from_secs(600));
                drop(server.take());
            } else {
                drop(server.take());
            }
            lock.forget_holder();
        }
    }
}

/// What is settled before anything runs.
struct Prepared {
    account: Account,
    place: Place,
    notes: Vec<String>,
}

impl Prepared {
    fn new(options: &Options) -> Result<Prepared, StartError> {
        let (place, account, notes) = place::settle(&options.data_dir)?;
        Ok(Prepared { account, place, notes })
    }

    fn run(self, options: &Options, mut lock: Lock, temporary: bool) -> Result<PrivatePg, StartError> {
        lock.name_holder(&options.command, temporary);
        let binaries = binaries::choose(options, &self.place, &self.account)?;
        cluster::ensure(&binaries, &self.place, &self.account, options.durable)?;
        let socket_dir = self.place.socket_dir(&self.account)?;
        process::clear_leftovers(&self.place.data())?;
        let server = Server::launch(server::Launch {
            binaries: binaries.clone(),
            account: self.account.clone(),
            place: self.place.clone(),
            socket_dir: socket_dir.clone(),
            port: PORT,
            durable: options.durable,
            settings: options.settings.clone(),
        })?;
        Ok(PrivatePg {
            socket_dir,
            port: PORT,
            location: self.location(Some(&binaries)),
            part: Part::Owner { server: Some(server), place: self.place, lock, temporary },
        })
    }

    /// Joins the server of another program if it is ready.
    fn join(&self) -> Result<Option<PrivatePg>, StartError> {
        let Some(using) = Lock::take_shared(&self.place.guest_lock(), &self.account)? else {
            return Ok(None);
        };
        // Looked at under the lock: from here on a temporary owner waits for us before it stops.
        let Some(running) = process::postmaster(&self.place.data()) else { return Ok(None) };
        if !running.ready || !process::is_server_of(running.pid, &self.place.data()) {
            return Ok(None);
        }
        Ok(Some(PrivatePg {
            socket_dir: running.socket_dir,
            port: running.port,
            location: self.location(None),
            part: Part::Guest { pid: running.pid, _using: using },
        }))
    }

    fn location(&self, binaries: Option<&Binaries>) -> Vec<String> {
        let mut lines = vec![format!("PostgreSQL data: {}", self.place.root().display())];
        if let Some(binaries) = binaries {
            lines.push(format!("PostgreSQL {}: {}", binaries.version, binaries.dir.display()));
        }
        if let Some(name) = self.account.other_name() {
            lines.push(format!("PostgreSQL runs as the account {name}, since a server must not run as root"));
        }
        lines.extend(self.notes.iter().cloned());
        lines
    }
}

/// Reads a file that may hold anything; empty when it cannot be read.
fn read_lossy(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
