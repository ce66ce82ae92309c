//! A server of feeds that misbehaves as it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One answer.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status, headers, and a body with its true length.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// A 200 that promises so many bytes and breaks off after these.
    Short(usize, String),
    /// Nothing, for a long time.
    Silence,
}

impl Reply {
    pub fn file(body: &str) -> Reply {
        Reply::Whole(200, vec![("content-type", "text/csv".into())], body.to_owned())
    }

    pub fn status(status: u16) -> Reply {
        Reply::Whole(status, Vec::new(), String::new())
    }

    pub fn with(self, name: &'static str, value: &str) -> Reply {
        match self {
            Reply::Whole(status, mut headers, body) => {
                headers.push((name, value.to_owned()));
                Reply::Whole(status, headers, body)
            }
            other => other,
        }
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub at: std::time::Instant,
    head: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<String> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }
}

pub struct FeedServer {
    pub host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

impl FeedServer {
    /// Gives these answers one after the other, the last one again and again.
    pub async fn start(replies: Vec<Reply>) -> FeedServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, replies) = (Arc::clone(&seen), replies.clone());
                tokio::spawn(async move { answer(stream, &seen, &replies).await });
            }
        });
        FeedServer { host, asked, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}/feeds/lot.csv?key=geheim", self.host)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for FeedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut stream: TcpStream, seen: &Mutex<Vec<Asked>>, replies: &[Reply]) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let number = {
        let mut seen = seen.lock().unwrap();
        let head = String::from_utf8_lossy(&head).into_owned();
        seen.push(Asked { at: std::time::Instant::now(), head });
        seen.len() - 1
    };
    let text = match &replies[number.min(replies.len() - 1)] {
        Reply::Silence => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            return;
        }
        Reply::Short(promised, body) => {
            format!("HTTP/1.1 200 OK\r\ncontent-length: {promised}\r\n\r\n{body}")
        }
        Reply::Whole(status, headers, body) => {
            let headers: String =
                headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length =
                if *status == 304 { String::new() } else { format!("content-length: {}\r\n", body.len()) };
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}{length}\r\n{body}")
        }
    };
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}
