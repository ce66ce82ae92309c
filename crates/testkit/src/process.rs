//! The binary, run as an operator runs it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use uuid::Uuid;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

/// The binary `forecourt` beside the running test; it is built by `cargo build --workspace --bins`.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("a path of this test");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("a target folder");
    let binary = folder.join("forecourt");
    assert!(binary.exists(), "build the binary first: cargo build --workspace --bins (make test does)");
    binary
}

/// Where tests keep what they make: a folder for each account, since none may clear away another's.
pub(crate) fn scratch_root() -> PathBuf {
    // SAFETY: asks for a number.
    std::env::temp_dir().join(format!("forecourt-tests-{}", unsafe { libc::geteuid() }))
}

/// A folder of this test, below the system's one for temporary files. Reachable by other accounts.
pub fn scratch(name: &str) -> PathBuf {
    let folder = scratch_root().join(format!("{}-{name}-{}", std::process::id(), Uuid::new_v4().simple()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A running command. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Lines,
    printed: Lines,
    readers: Vec<JoinHandle<()>>,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Process {
    /// A command with nothing of the environment but what is needed to run at all.
    pub fn command(arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments).env_clear().current_dir(std::env::temp_dir());
        for name in ["PATH", "PG_BIN_DIR", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    /// Runs a command to its end.
    pub fn output(command: &mut Command) -> Output {
        command.stdin(Stdio::null()).output().expect("the binary runs")
    }

    /// Starts a command and gathers what it prints, of both streams.
    pub fn spawn(command: &mut Command) -> Process {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let (lines, printed) = (Lines::default(), Lines::default());
        let out = child.stdout.take().map(|pipe| gather(pipe, [&lines, &printed]));
        let err = child.stderr.take().map(|pipe| gather(pipe, [&lines]));
        Process { child, lines, printed, readers: out.into_iter().chain(err).collect() }
    }

    /// Everything printed so far, of both streams.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no reader panicked").clone()
    }

    /// What standard output has got so far.
    pub fn printed(&self) -> Vec<String> {
        self.printed.lock().expect("no reader panicked").clone()
    }

    /// Waits until `up` or `serve` answers requests; the address that it listens on.
    pub fn ready(&mut self, limit: Duration) -> SocketAddr {
        let line = self.wait_for(r#""message":"ready""#, limit);
        let line: serde_json::Value = serde_json::from_str(&line).expect("logs are JSON off a terminal");
        line["listen"].as_str().and_then(|listen| listen.parse().ok()).expect("an address")
    }

    /// Everything that a process which has ended had printed.
    pub fn last_lines(&mut self) -> Vec<String> {
        for reader in self.readers.drain(..) {
            reader.join().expect("no reader panicked");
        }
        self.lines()
    }

    /// Forgets what was printed so far, so that [`Process::wait_for`] waits for something new.
    pub fn forget_lines(&self) {
        self.lines.lock().expect("no reader panicked").clear();
    }

    /// The exit status, if it has ended.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child")
    }

    /// Waits for a line that contains a text; panics with all lines when it does not come.
    pub fn wait_for(&mut self, text: &str, limit: Duration) -> String {
        let until = Instant::now() + limit;
        loop {
            if let Some(line) = self.lines().into_iter().find(|line| line.contains(text)) {
                return line;
            }
            let ended = self.child.try_wait().ok().flatten();
            assert!(ended.is_none(), "ended ({ended:?}) without {text:?}: {:#?}", self.lines());
            assert!(Instant::now() < until, "no {text:?} in time: {:#?}", self.lines());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, such as `libc::SIGTERM`.
    pub fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        // SAFETY: the process is our child and not reaped yet, so the number is its.
        unsafe { libc::kill(pid, signal) };
    }

    /// Waits for the end, after which everything it printed is there; panics when it does not come.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let until = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                // What it printed last may still be on its way to us.
                while !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(1));
                }
                return status;
            }
            assert!(Instant::now() < until, "still running: {:#?}", self.lines());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// SIGKILL, and gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn gather<const N: usize>(pipe: impl Read + Send + 'static, into: [&Lines; N]) -> JoinHandle<()> {
    let into = into.map(Arc::clone);
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            for lines in &into {
                lines.lock().expect("no reader panicked").push(line.clone());
            }
        }
    })
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
