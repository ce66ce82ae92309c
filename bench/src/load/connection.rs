//! A connection to a server: one that never blocks, for load, and one that does, for a single question.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::net::TcpStream;

use super::response::{self, Good, Head, Verdict};

/// Room for most answers, so that one read gets them whole.
const ROOM: usize = 64 * 1024;

/// A connection under load.
pub(super) struct Connection {
    stream: TcpStream,
    /// The request that is sent next.
    pub(super) next: usize,
    /// The request that is being sent, and how much of it is gone.
    sending: (usize, usize),
    buffer: Vec<u8>,
    filled: usize,
    /// When the request on its way was sent.
    pub(super) asked_at: Instant,
}

impl Connection {
    pub(super) fn open(server: SocketAddr) -> Result<Connection> {
        // Blocking until it stands; non-blocking from then on.
        let stream = std::net::TcpStream::connect_timeout(&server, Duration::from_secs(5))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream: TcpStream::from_std(stream),
            next: 0,
            sending: (0, 0),
            buffer: vec![0; ROOM],
            filled: 0,
            asked_at: Instant::now(),
        })
    }

    pub(super) fn socket(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Sends the next request.
    pub(super) fn send(&mut self, requests: &[Vec<u8>], now: Instant) -> Result<()> {
        self.sending = (self.next, 0);
        self.next = (self.next + 1) % requests.len();
        self.asked_at = now;
        self.go_on_sending(requests)
    }

    /// Sends what is left of the request, as far as the system takes it.
    pub(super) fn go_on_sending(&mut self, requests: &[Vec<u8>]) -> Result<()> {
        let (request, mut sent) = self.sending;
        let Some(bytes) = requests.get(request) else { return Ok(()) };
        while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(taken) => sent += taken,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("a connection broke"),
            }
        }
        self.sending = (request, sent);
        Ok(())
    }

    /// Reads what has come.
    pub(super) fn receive(&mut self, good: &Good) -> Result<Verdict> {
        loop {
            if self.filled == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let space = room.len();
            match self.stream.read(room) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(got) => {
                    self.filled += got;
                    let seen = self.buffer.get(..self.filled).unwrap_or_default();
                    let verdict = response::judge(seen, good);
                    if !matches!(verdict, Verdict::Incomplete) {
                        self.filled = 0;
                        return Ok(verdict);
                    }
                    // Less than there was room for: nothing more is there, and the next bytes wake us.
                    if got < space {
                        return Ok(Verdict::Incomplete);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Verdict::Incomplete),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("a connection broke"),
            }
        }
    }
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Header lines as they came.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The first header of that (lower-case) name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body)
            .with_context(|| format!("no JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The `data` of a good A2A answer.
    ///
    /// # Errors
    /// It is an error, with its text.
    pub(crate) fn data(&self) -> Result<serde_json::Value> {
        let answer = self.json()?;
        let data = answer.pointer("/result/message/parts/0/data/data");
        data.cloned().with_context(|| format!("status {}: {answer}", self.status))
    }
}

/// A line to a server for one question after the other.
pub(crate) struct Line {
    server: SocketAddr,
    stream: Option<std::net::TcpStream>,
    buffer: Vec<u8>,
}

impl Line {
    pub(crate) fn to(server: SocketAddr) -> Line {
        Line { server, stream: None, buffer: Vec::new() }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// None comes.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        // Taken out: a line on which anything goes wrong is not used again.
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = std::net::TcpStream::connect_timeout(&self.server, Duration::from_secs(5))
                    .with_context(|| format!("nobody answers at {}", self.server))?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(60)))?;
                stream
            }
        };
        stream.write_all(request)?;
        self.buffer.clear();
        let mut chunk = vec![0; ROOM];
        loop {
            let got = stream.read(&mut chunk).context("no answer")?;
            if got == 0 {
                bail!("the server at {} closed the connection", self.server);
            }
            self.buffer.extend_from_slice(chunk.get(..got).unwrap_or_default());
            if let Some(head) = Head::read(&self.buffer)
                && let Some(body) = head.body(&self.buffer)
            {
                let answer = Answer { status: head.status, headers: head.lines(&self.buffer), body };
                if !answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
                    self.stream = Some(stream);
                }
                return Ok(answer);
            }
        }
    }
}
