//! Server processes: who runs on which data, and how one ends with us.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{StartError, read_lossy};

/// What a server wrote about itself into its data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Postmaster {
    pub(crate) pid: u32,
    pub(crate) socket_dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) ready: bool,
}

/// Reads `postmaster.pid`. It may be left over from a server that was killed.
pub(crate) fn postmaster(data: &Path) -> Option<Postmaster> {
    let text = read_lossy(&data.join("postmaster.pid"));
    let lines: Vec<&str> = text.lines().collect();
    let line = |index: usize| lines.get(index).map(|line| line.trim());
    Some(Postmaster {
        pid: line(0)?.parse().ok()?,
        port: line(3)?.parse().ok()?,
        socket_dir: PathBuf::from(line(4)?),
        ready: line(7) == Some("ready"),
    })
}

/// Whether the process is a living server on this data, and not another that got its number.
pub(crate) fn is_server_of(pid: u32, data: &Path) -> bool {
    if !is_alive(pid) {
        return false;
    }
    if !cfg!(target_os = "linux") {
        // A server on this data answers at its socket.
        return postmaster(data).is_some_and(|found| {
            let socket = found.socket_dir.join(format!(".s.PGSQL.{}", found.port));
            found.pid == pid && std::os::unix::net::UnixStream::connect(socket).is_ok()
        });
    }
    match fs::read_link(format!("/proc/{pid}/cwd")) {
        // A server works in its data folder.
        Ok(folder) => data.canonicalize().is_ok_and(|data| data == folder),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            read_lossy(Path::new(&format!("/proc/{pid}/comm"))).trim() == "postgres"
        }
        Err(_) => false,
    }
}

fn is_alive(pid: u32) -> bool {
    send(pid, 0)
}

/// Sends a signal; `false` if there is no such process.
pub(crate) fn send(pid: u32, signal: libc::c_int) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else { return false };
    if pid <= 1 {
        return false;
    }
    // SAFETY: touches no memory of ours; the number is above 1, so it names one process and no group.
    let sent = unsafe { libc::kill(pid, signal) };
    sent == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Deals with what a killed program left behind. The caller holds the owner's lock, so no living program of ours
/// runs a server here.
pub(crate) fn clear_leftovers(data: &Path) -> Result<(), StartError> {
    let Some(found) = postmaster(data) else { return Ok(()) };
    end_survivor(&found, data)?;
    if !is_alive(found.pid) {
        return Ok(());
    }
    // A number that lives on in another process, or in one that nobody buried yet (as in a container without an
    // init), looks to PostgreSQL like a server, and it would refuse to start. Against survivors of the old server
    // it guards by other means as well.
    let socket_lock = found.socket_dir.join(format!(".s.PGSQL.{}.lock", found.port));
    for path in [data.join("postmaster.pid"), socket_lock] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StartError::path(&path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn end_survivor(found: &Postmaster, data: &Path) -> Result<(), StartError> {
    if is_server_of(found.pid, data) {
        tracing::info!(pid = found.pid, "stopping the PostgreSQL of a program that was killed");
        for (signal, patience) in [(libc::SIGINT, 30), (libc::SIGQUIT, 15)] {
            send(found.pid, signal);
            let deadline = Instant::now() + Duration::from_secs(patience);
            while Instant::now() < deadline {
                if !is_server_of(found.pid, data) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        return Err(StartError::NotReady {
            pid: found.pid,
            by: "the PostgreSQL of a killed program".to_owned(),
        });
    }
    Ok(())
}

/// Lets the child get a signal when the thread that starts it ends, which happens at the latest with the program,
/// however that ends.
pub(crate) fn die_with_parent(command: &mut Command, signal: libc::c_int) {
    #[cfg(target_os = "linux")]
    {
        let parent = libc::pid_t::try_from(std::process::id()).unwrap_or(0);
        // SAFETY: between fork and exec only calls are made that are allowed there: prctl, getppid.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, signal) != 0 {
                    return Err(io::Error::last_os_error());
                }
                // The parent may have died before that took effect.
                if libc::getppid() != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                Ok(())
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (command, signal);
}

/// The end of a log: enough to see what is wrong.
pub(crate) fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(15);
    let end = lines.get(from..).unwrap_or_default().join("\n");
    if end.is_empty() { "(it wrote nothing)".to_owned() } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_read_and_half_of_one_is_not() {
        let dir = std::env::temp_dir().join(format!("forecourt-pid-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let file = dir.join("postmaster.pid");
        fs::write(&file, "4711\n/data\n1\n5432\n/a folder/socket\n\n  1 2\nready   \n").unwrap();
        let found = postmaster(&dir).unwrap();
        assert_eq!((found.pid, found.port, found.ready), (4711, 5432, true));
        assert_eq!(found.socket_dir, Path::new("/a folder/socket"));
        fs::write(&file, "4711\n/data\n").unwrap();
        assert_eq!(postmaster(&dir), None);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn this_process_is_no_server() {
        assert!(is_alive(std::process::id()));
        assert!(!is_server_of(std::process::id(), &std::env::temp_dir()));
        assert!(!send(0, 0) && !send(1, 0), "a wrong number must never reach a group or init");
    }

    #[test]
    fn a_tail_is_short() {
        let log: String = (0..100).map(|n| format!("line {n}\n")).collect();
        assert!(tail(&log).starts_with("line 85\n"));
        assert_eq!(tail("\n"), "(it wrote nothing)");
    }
}
