//! The socket that agents connect to: opened early, closed without cutting anybody off.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

use crate::failure::{Failure, io_reason};

/// Connections that may wait to be accepted. The system may cap it (`net.core.somaxconn`).
const BACKLOG: i32 = 2048;

/// Opens the socket.
///
/// # Errors
/// The address cannot be had; the text names the flag and says what to do.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).map_err(|error| explain(address, &error))?;
    widen(&listener);
    Ok(listener)
}

pub(crate) fn explain(address: SocketAddr, error: &io::Error) -> Failure {
    let (ip, port) = (address.ip(), address.port());
    match error.kind() {
        ErrorKind::AddrInUse => Failure::new(format!("port {port} of {ip} is taken by another program")).advise(format!(
            "stop that program, or choose another port with --listen {} (FORECOURT_LISTEN)",
            SocketAddr::new(ip, if port < u16::MAX { port + 1 } else { 8080 })
        )),
        ErrorKind::PermissionDenied => Failure::new(format!("this account may not listen on port {port}"))
            .advise("choose a port from 1024 up with --listen (FORECOURT_LISTEN), and let a proxy serve the low one"),
        ErrorKind::AddrNotAvailable => Failure::new(format!("{ip} is no address of this machine")).advise(format!(
            "listen on 0.0.0.0:{port} (all of this machine) or 127.0.0.1:{port} with --listen (FORECOURT_LISTEN)"
        )),
        _ => Failure::new(format!("cannot listen on {address} ({})", io_reason(error)))
            .advise("choose another address with --listen (FORECOURT_LISTEN)"),
    }
}

/// The standard library asks for a short queue; a burst of new connections would overflow it.
#[cfg(unix)]
fn widen(listener: &TcpListener) {
    use std::os::fd::AsRawFd;
    // SAFETY: `listen` on a listening socket that we own only changes the length of its queue.
    unsafe {
        libc::listen(listener.as_raw_fd(), BACKLOG);
    }
}

#[cfg(not(unix))]
fn widen(_: &TcpListener) {}

/// Lets no further connection begin, while those that have begun can still be accepted and served. Closing the
/// socket straight away would reset connections that the system had already accepted on our behalf.
///
/// The socket is bound to a network interface that does not exist, so no packet that begins a connection finds it:
/// such a client is refused at once and turns elsewhere. Connections do not look for the socket again. Any account
/// may do that, since Linux 5.7; filters on sockets, which could do it too, are for root only on some systems.
/// `false` where it cannot be done: then the socket is simply closed a moment later.
#[cfg(target_os = "linux")]
pub(crate) fn refuse_new(listener: &TcpListener) -> bool {
    use std::os::fd::AsRawFd;
    // Not in `libc` yet; the same on all processors that we build for.
    const SO_BINDTOIFINDEX: libc::c_int = 62;
    let nowhere = libc::c_int::MAX;
    // SAFETY: the option takes a number of the given size, which the system copies before it returns.
    let done = unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_BINDTOIFINDEX,
            (&raw const nowhere).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done != 0 {
        tracing::debug!("new connections cannot be held off: {}", io::Error::last_os_error());
    }
    done == 0
}

/// See above: not possible here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn refuse_new(_: &TcpListener) -> bool {
    false
}

/// How many connections the system has accepted on our behalf that we have not taken over yet.
#[cfg(target_os = "linux")]
pub(crate) fn waiting(listener: &TcpListener) -> u32 {
    use std::os::fd::AsRawFd;
    // SAFETY: a plain structure of numbers, for which zeros are valid.
    let mut told: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `told` is ours to be written to and `length` is its size.
    let done = unsafe {
        libc::getsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut told).cast(),
            &raw mut length,
        )
    };
    // For a socket that listens this field is the length of its queue (see tcp(7), ss(8)).
    if done == 0 { told.tcpi_unacked } else { 0 }
}

/// Not known here; whoever asks waits a moment in any case.
#[cfg(not(target_os = "linux"))]
pub(crate) fn waiting(_: &TcpListener) -> u32 {
    0
}

/// Raises the limit of open files to what the system allows: every connection is one.
#[cfg(unix)]
pub(crate) fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls take a pointer to an `rlimit` that lives on our stack.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max.min(1 << 20);
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Nothing to raise.
#[cfg(not(unix))]
pub fn raise_file_limit() {}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_taken_port_is_explained_with_the_flag() {
        let held = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let failure = bind(held.local_addr().unwrap()).unwrap_err();
        assert!(failure.sentence.contains("is taken"), "{failure}");
        assert!(failure.advice[0].contains("--listen 127.0.0.1:"), "{failure}");
    }

    #[test]
    fn an_address_of_another_machine_is_explained() {
        let failure = bind("192.0.2.1:8080".parse().unwrap()).unwrap_err();
        assert!(failure.sentence.contains("no address of this machine"), "{failure}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn begun_connections_go_on_and_new_ones_are_refused() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let mut begun = TcpStream::connect(address).unwrap();
        begun.write_all(b"ask").unwrap();
        if !refuse_new(&listener) {
            eprintln!("not tested: this system is older than Linux 5.7");
            return;
        }
        let refused = TcpStream::connect_timeout(&address, Duration::from_secs(5)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(waiting(&listener), 1);
        let (mut accepted, _) = listener.accept().unwrap();
        assert_eq!(waiting(&listener), 0);
        let mut question = [0; 3];
        accepted.read_exact(&mut question).unwrap();
        accepted.write_all(b"answer").unwrap();
        drop(accepted);
        let mut answer = String::new();
        begun.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
    }
}
