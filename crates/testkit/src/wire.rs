//! HTTP/1.1 as bytes on a socket: requests that no client library would send, and no time lost on those it would.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::verdict::check_bytes;

/// A connection that is used again and again, and opened anew when the server closes it.
#[derive(Debug)]
pub struct Wire {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Status code.
    pub status: u16,
    /// Header lines as they came; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// The first header of that (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text, whatever it is; headers come with it, so that nothing that was sent is overlooked.
    pub fn everything(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.body).into_owned();
        for (name, value) in &self.headers {
            text.push_str(&format!("\n{name}: {value}"));
        }
        text
    }

    /// The body as JSON; panics if it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

impl Wire {
    /// To an origin such as `http://127.0.0.1:8080`; connects with the first request.
    pub fn to(origin: &str) -> Wire {
        let address = origin.strip_prefix("http://").expect("plain http").trim_end_matches('/').to_owned();
        Wire { address, stream: None }
    }

    /// Sends a request exactly as told; only `Content-Length` is added. Panics when no answer comes.
    /// A JSON-RPC answer is held against its contract.
    pub async fn send(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut request = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
        for (name, value) in headers {
            request.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if !body.is_empty() || method == "POST" {
            request.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        // An idle connection may have been closed meanwhile; a fresh one must answer.
        if self.stream.is_some()
            && let Ok(reply) = self.attempt(&request, method).await
        {
            check_bytes(target, reply.status, &reply.body);
            return reply;
        }
        let stream = TcpStream::connect(&self.address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a TCP socket");
        self.stream = Some(BufReader::new(stream));
        let reply = self.attempt(&request, method).await;
        let reply = reply.unwrap_or_else(|error| panic!("no answer to {method} {target}: {error}"));
        check_bytes(target, reply.status, &reply.body);
        reply
    }

    async fn attempt(&mut self, request: &[u8], method: &str) -> std::io::Result<Reply> {
        // Taken out: a connection on which anything went wrong is not used again.
        let mut stream = self.stream.take().expect("a connection");
        stream.get_mut().write_all(request).await?;
        let reply = read(&mut stream, method).await?;
        if reply.header("connection") != Some("close") {
            self.stream = Some(stream);
        }
        Ok(reply)
    }
}

async fn read(stream: &mut BufReader<TcpStream>, method: &str) -> std::io::Result<Reply> {
    let broken = |what: &str| std::io::Error::other(what.to_owned());
    let status_line = line(stream).await?;
    let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status: u16 = status.ok_or_else(|| broken("no status line"))?;
    let mut headers = Vec::new();
    loop {
        let text = line(stream).await?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| broken("no header line"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut reply = Reply { status, headers, body: Vec::new() };
    if method == "HEAD" || status == 304 || status == 204 {
        return Ok(reply);
    }
    if reply.header("transfer-encoding") == Some("chunked") {
        loop {
            let size = usize::from_str_radix(&line(stream).await?, 16).map_err(std::io::Error::other)?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).await?;
            if size == 0 {
                return Ok(reply);
            }
            reply.body.extend_from_slice(&chunk[..size]);
        }
    }
    let length = reply.header("content-length").and_then(|text| text.parse().ok());
    reply.body = vec![0; length.ok_or_else(|| broken("no length"))?];
    stream.read_exact(&mut reply.body).await?;
    Ok(reply)
}

async fn line(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if stream.read_until(b'\n', &mut bytes).await? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
}
