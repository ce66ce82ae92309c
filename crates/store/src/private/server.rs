//! The running server and the thread that keeps it.
//!
//! The thread starts the server, waits for it, and starts it again if it dies unasked. It lives as long as the
//! server is wanted, so the death signal that follows a thread follows the program here.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::StartError;
use super::account::Account;
use super::binaries::Binaries;
use super::place::Place;
use super::process::{self, die_with_parent, postmaster, tail};

/// Everything needed to start the server.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) binaries: Binaries,
    pub(crate) account: Account,
    pub(crate) place: Place,
    pub(crate) socket_dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) durable: bool,
    /// `name=value`, after all others.
    pub(crate) settings: Vec<String>,
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// The living server; 0 while there is none.
    pid: AtomicU32,
    stopping: AtomicBool,
}

impl Server {
    /// Starts the server and waits until it takes connections, recovery after a crash included.
    pub(crate) fn launch(launch: Launch) -> Result<Server, StartError> {
        let state = Arc::new(State::default());
        let (first, started) = mpsc::channel();
        let for_thread = Arc::clone(&state);
        let folder = launch.place.root().to_owned();
        let thread = std::thread::Builder::new()
            .name("private-postgresql".to_owned())
            .spawn(move || keep(&launch, &for_thread, &first))
            .map_err(|error| StartError::path(&folder, &error))?;
        match started.recv() {
            Ok(Ok(())) => Ok(Server { state, thread: Some(thread) }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(StartError::Program { program: "postgres", log: "its keeper ended".to_owned() }),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.state.pid.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stopping.store(true, Ordering::SeqCst);
        // Fast: sessions end, everything is written. Then harder; the data survives that as well.
        for (signal, patience) in [(libc::SIGINT, 60), (libc::SIGQUIT, 20), (libc::SIGKILL, 5)] {
            let deadline = Instant::now() + Duration::from_secs(patience);
            let mut sent_to = 0;
            while Instant::now() < deadline {
                // The keeper may be starting another one right now.
                let pid = self.pid();
                if pid != 0 && pid != sent_to {
                    process::send(pid, signal);
                    sent_to = pid;
                }
                if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                    if let Some(thread) = self.thread.take() {
                        let _ = thread.join();
                    }
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            tracing::warn!("PostgreSQL does not stop; asking it harder");
        }
    }
}

/// The thread: start, wait, start again.
fn keep(launch: &Launch, state: &State, first: &mpsc::Sender<Result<(), StartError>>) {
    let mut child = match start(launch, state) {
        Ok(child) => child,
        Err(error) => {
            let _ = first.send(Err(error));
            return;
        }
    };
    let _ = first.send(Ok(()));
    let mut pause = Duration::from_millis(100);
    loop {
        let began = Instant::now();
        let status = wait(&mut child, state);
        if state.stopping.load(Ordering::SeqCst) {
            return;
        }
        tracing::error!(%status, "PostgreSQL ended unasked; starting it again");
        if began.elapsed() > Duration::from_secs(60) {
            pause = Duration::from_millis(100);
        }
        child = loop {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(10));
            if state.stopping.load(Ordering::SeqCst) {
                return;
            }
            match start(launch, state) {
                Ok(child) => break child,
                Err(error) => tracing::error!(%error, "PostgreSQL could not be started again"),
            }
        };
        tracing::info!("PostgreSQL runs again");
    }
}

/// Waits for the end of the server. Its number is forgotten before the system may give it to another process.
fn wait(child: &mut Child, state: &State) -> String {
    let pid = child.id();
    // SAFETY: `info` is written by the call and not read; the child is ours and not waited for by anyone else.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        while libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT) != 0
            && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
        {}
    }
    state.pid.store(0, Ordering::SeqCst);
    child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// One start. A server that was killed leaves children that hold its memory for a moment: then try again.
fn start(launch: &Launch, state: &State) -> Result<Child, StartError> {
    let deadline = Instant::now() + Duration::from_secs(15);
    loop {
        match start_once(launch, state) {
            Err(StartError::Program { log, .. })
                if log.contains("is still in use") && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(100));
            }
            done => return done,
        }
    }
}

fn start_once(launch: &Launch, state: &State) -> Result<Child, StartError> {
    let log_path = launch.place.log();
    let (log, log_start) = open_log(&log_path, &launch.account)?;
    let errors = log.try_clone().map_err(|error| StartError::path(&log_path, &error))?;
    let mut command = launch.account.command(&launch.binaries.postgres());
    command.arg("-D").arg(launch.place.data()).current_dir(launch.place.root());
    for setting in settings(launch) {
        command.arg("-c").arg(setting);
    }
    command.stdout(Stdio::from(log)).stderr(Stdio::from(errors));
    die_with_parent(&mut command, libc::SIGINT);
    let mut child = command.spawn().map_err(|error| StartError::path(&launch.binaries.postgres(), &error))?;
    state.pid.store(child.id(), Ordering::SeqCst);

    let mut told = Instant::now();
    loop {
        if postmaster(&launch.place.data()).is_some_and(|found| found.ready && found.pid == child.id()) {
            return Ok(child);
        }
        if has_ended(child.id()) {
            wait(&mut child, state);
            return Err(StartError::Program {
                program: "postgres",
                log: tail(&read_from(&log_path, log_start)),
            });
        }
        if told.elapsed() > Duration::from_secs(5) {
            // Recovery after a crash may take its time; there is no reason to give up on it.
            tracing::info!("waiting for PostgreSQL to take connections");
            told = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn settings(launch: &Launch) -> Vec<String> {
    // A list in a setting: quoted, since a path may hold a comma or a space.
    let socket_dir = launch.socket_dir.display().to_string().replace('"', "\"\"");
    let mut settings = vec![
        "listen_addresses=".to_owned(),
        format!("port={}", launch.port),
        format!("unix_socket_directories=\"{socket_dir}\""),
        "unix_socket_permissions=0700".to_owned(),
        "max_connections=200".to_owned(),
        "shared_buffers=128MB".to_owned(),
        // Our statements are short: compiling one costs more than it saves.
        "jit=off".to_owned(),
        "timezone=UTC".to_owned(),
        "log_timezone=UTC".to_owned(),
        "log_line_prefix=%m [%p] ".to_owned(),
        "logging_collector=off".to_owned(),
        "log_destination=stderr".to_owned(),
        "log_checkpoints=off".to_owned(),
        // Statements and values have no place in a log that nobody guards.
        "log_min_error_statement=panic".to_owned(),
        "log_error_verbosity=terse".to_owned(),
    ];
    if !launch.durable {
        for setting in ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"] {
            settings.push(setting.to_owned());
        }
    }
    settings.extend(launch.settings.iter().cloned());
    settings
}

/// Whether a child has ended; it is not taken away.
fn has_ended(pid: u32) -> bool {
    // SAFETY: `info` is written by the call before it is read, and zeros are valid for it.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG) == 0
            && info.si_signo == libc::SIGCHLD
    }
}

/// The server's log, to be added to, and where its new part begins.
fn open_log(path: &Path, account: &Account) -> Result<(File, u64), StartError> {
    let problem = |error: std::io::Error| StartError::path(path, &error);
    const LONGEST: u64 = 10 * 1024 * 1024;
    if fs::metadata(path).is_ok_and(|log| log.len() > LONGEST) {
        let _ = fs::rename(path, path.with_extension("log.1"));
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(problem)?;
    account.own_path(path).map_err(problem)?;
    let length = file.metadata().map_err(problem)?.len();
    Ok((file, length))
}

fn read_from(path: &Path, start: u64) -> String {
    let mut bytes = Vec::new();
    let _ = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(start))?;
        file.take(1024 * 1024).read_to_end(&mut bytes)
    });
    String::from_utf8_lossy(&bytes).into_owned()
}
