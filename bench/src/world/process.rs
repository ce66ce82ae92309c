//! A server process: started, waited for, watched, ended.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A running server. It ends when this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    lines: mpsc::Receiver<String>,
    log: PathBuf,
    address: SocketAddr,
}

impl Child {
    /// Starts it; what it prints goes to a file of its name.
    pub(super) fn spawn(name: &str, command: &mut Command, folder: &Path) -> Result<Child> {
        let log = folder.join(format!("{name}.log"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (variable, _) in std::env::vars_os() {
            // Settings that somebody made for a platform of theirs are none of ours.
            if variable.to_string_lossy().starts_with("FORECOURT_") {
                command.env_remove(variable);
            }
        }
        end_with_us(command);
        // A group of its own: some servers have workers that a signal to the first process does not reach.
        command.process_group(0);
        let mut process =
            command.spawn().with_context(|| format!("{} does not start", command.get_program().display()))?;
        let (send, lines) = mpsc::channel();
        let file = File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
        if let Some(out) = process.stdout.take() {
            follow(out, file.try_clone()?, send.clone());
        }
        if let Some(err) = process.stderr.take() {
            follow(err, file, send);
        }
        Ok(Child { process, lines, log, address: SocketAddr::from(([127, 0, 0, 1], 0)) })
    }

    /// Waits for the line that tells where it listens.
    pub(super) fn ready(
        mut self,
        limit: Duration,
        address: impl Fn(&str) -> Option<SocketAddr>,
    ) -> Result<Child> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(address) = address(&line) {
                        self.address = address;
                        return Ok(self);
                    }
                }
                Err(_) => {
                    let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                    let last: Vec<&str> = log.lines().rev().take(12).collect();
                    let last: Vec<&str> = last.into_iter().rev().collect();
                    bail!("a server did not become ready; {} ends:\n{}", self.log.display(), last.join("\n"));
                }
            }
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.process.id()) {
            // SAFETY: the process is our child and not reaped yet, so the number is its and its group's.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A program that is killed itself leaves no server behind.
#[cfg(target_os = "linux")]
fn end_with_us(command: &mut Command) {
    // SAFETY: between fork and exec only this one call is made, which allocates nothing.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_us(_: &mut Command) {}

fn follow(pipe: impl Read + Send + 'static, mut file: File, lines: mpsc::Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = writeln!(file, "{line}");
            // Nobody listens any more once the server is ready.
            let _ = lines.send(line);
        }
    });
}

/// What a process and its children have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Processor time.
    pub(crate) cpu: Duration,
    /// Memory that is really there, in bytes.
    pub(crate) resident: u64,
}

/// What a process has used, with its living children and, of their time, those that have ended.
///
/// # Errors
/// Without `/proc` (not Linux), or when the process is gone.
pub(crate) fn usage(pid: u32) -> Result<Usage> {
    let own = Stat::read(pid).with_context(|| format!("/proc/{pid}/stat cannot be read"))?;
    let mut ticks = own.ticks + own.ended;
    let mut pages = own.pages;
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let child = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Stat::read);
        if let Some(child) = child.filter(|child| child.parent == pid) {
            ticks += child.ticks + child.ended;
            pages += child.pages;
        }
    }
    // SAFETY: both ask for a number.
    let (hertz, page) = unsafe { (libc::sysconf(libc::_SC_CLK_TCK), libc::sysconf(libc::_SC_PAGESIZE)) };
    let hertz = u64::try_from(hertz).unwrap_or(100).max(1);
    Ok(Usage {
        cpu: Duration::from_millis(ticks * 1_000 / hertz),
        resident: pages * u64::try_from(page).unwrap_or(4_096),
    })
}

/// The most memory that was really there in a process at once, in bytes, since it began.
///
/// # Errors
/// Without `/proc` (not Linux), or when the process is gone.
pub(crate) fn peak(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}

/// Processor time of this program itself, without its children: what asking costs.
pub(crate) fn own_cpu() -> Duration {
    // SAFETY: a structure of numbers, for which zeros are valid, and which the call fills.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut used);
        used
    };
    let time = |time: libc::timeval| {
        let whole = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
        whole + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    time(used.ru_utime) + time(used.ru_stime)
}

/// The numbers of `/proc/PID/stat` that are wanted; see proc(5).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    ticks: u64,
    ended: u64,
    pages: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Stat> {
        Stat::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Stat> {
        // The program's name stands in brackets and may hold anything.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Stat {
            parent: u32::try_from(field(4)?).ok()?,
            ticks: field(14)? + field(15)?,
            ended: field(16)? + field(17)?,
            pages: field(24)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_from_behind_the_name() {
        let text =
            "42 (a (b) c) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 9 0 555 1000000 321 18446744 1";
        assert_eq!(Stat::parse(text), Some(Stat { parent: 7, ticks: 120, ended: 7, pages: 321 }));
        assert_eq!(Stat::parse("nonsense"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_memory() {
        assert!(usage(std::process::id()).unwrap().resident > 100_000);
        assert!(usage(u32::MAX).is_err());
    }
}
