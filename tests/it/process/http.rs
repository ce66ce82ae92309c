//! HTTP/1.1 on a socket, blocking, one connection at a time: whatever goes wrong on the way is told, not repaired,
//! since a client that tries again would hide a request that was cut.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use testkit::{EXTENSION, Reply};

/// A connection.
pub(super) struct Line {
    stream: BufReader<TcpStream>,
}

impl Line {
    pub(super) fn open(address: SocketAddr) -> io::Result<Line> {
        Self::open_within(address, Duration::from_secs(10))
    }

    pub(super) fn open_within(address: SocketAddr, limit: Duration) -> io::Result<Line> {
        let stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Line { stream: BufReader::new(stream) })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    pub(super) fn ask(&mut self, request: &[u8]) -> io::Result<Reply> {
        self.write(request)?;
        self.read()
    }

    /// Reads one whole answer; anything else is an error.
    pub(super) fn read(&mut self) -> io::Result<Reply> {
        let head = self.line()?;
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status line: {head:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| io::Error::other("no header"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        if reply.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk)?;
                if size == 0 {
                    testkit::check_bytes("/a2a", reply.status, &reply.body);
                    return Ok(reply);
                }
                reply.body.extend_from_slice(&chunk[..size]);
            }
        }
        let length = reply.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        reply.body.resize(length, 0);
        self.stream.read_exact(&mut reply.body)?;
        testkit::check_bytes("/a2a", reply.status, &reply.body);
        Ok(reply)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// Whether the server ends the connection after this answer.
pub(super) fn is_last(reply: &Reply) -> bool {
    reply.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
}

/// The bytes of a GET request.
pub(super) fn getting(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.into_bytes()
}

/// The bytes of an A2A request.
pub(super) fn posting(path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\na2a-version: 1.0\r\n\
         a2a-extensions: {EXTENSION}\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(body);
    request.into_bytes()
}

/// One GET on a connection of its own.
pub(super) fn get(address: SocketAddr, path: &str) -> io::Result<Reply> {
    Line::open(address)?.ask(&getting(path, &[("connection", "close")]))
}

/// One A2A request on a connection of its own.
pub(super) fn post(address: SocketAddr, path: &str, body: &str) -> io::Result<Reply> {
    Line::open(address)?.ask(&posting(path, &[("connection", "close")], body))
}
