//! The binary, run as an operator runs it.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
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

/// A folder of this test, below the system's one for temporary files. Reachable by other accounts.
pub fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join("forecourt-tests").join(format!(
        "{}-{name}-{}",
        std::process::id(),
        Uuid::new_v4().simple()
    ));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A running command. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

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
        let lines = Arc::new(Mutex::new(Vec::new()));
        let out = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let err = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        for pipe in [out, err].into_iter().flatten() {
            let lines = Arc::clone(&lines);
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    lines.lock().expect("no reader panicked").push(line);
                }
            });
        }
        Process { child, lines }
    }

    /// Everything printed so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no reader panicked").clone()
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

    /// Waits for the end; panics when it does not come.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let until = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
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

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
