//! Bodies that are too large, too slow or broken, and requests that are no HTTP (AAP.md 2.1).

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::Wire;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::ground::{ground, harbor, information, is_protocol_error, search};

/// Longer than any honest answer needs, far shorter than a client waits.
const PROMPT: Duration = Duration::from_secs(5);

const SIZE_LIMIT: usize = 1024 * 1024;

#[tokio::test]
async fn a_body_over_a_megabyte_is_refused_however_it_comes() {
    let asking = harbor(search()).await;
    let text = asking.body.to_string();
    let padded = |size: usize| format!("{text}{}", " ".repeat(size - text.len()));
    let fits = asking.raw(padded(SIZE_LIMIT)).await;
    assert_eq!(fits.status(), 200);
    for size in [SIZE_LIMIT + 1, 2 * SIZE_LIMIT, 10_000_000] {
        for body in [padded(size), "[".repeat(size)] {
            let begun = Instant::now();
            assert!(in_chunks(body.as_bytes(), 50_000).await.starts_with("HTTP/1.1 413"));
            let response = asking.raw(body).await;
            assert_eq!(response.status(), 413);
            assert_eq!(response.headers()["content-type"], "application/problem+json");
            let problem: Value = response.json().await.unwrap();
            assert_eq!(problem["status"], 413);
            assert!(begun.elapsed() < PROMPT);
        }
    }
    // In chunks that fit together it is served.
    let served = in_chunks(text.as_bytes(), 7).await;
    assert!(served.starts_with("HTTP/1.1 200") && served.contains("\"total\":7"), "{served}");
}

/// The answer to a body that is sent in chunks, without saying how long it will be.
async fn in_chunks(body: &[u8], size: usize) -> String {
    let platform = ground().await;
    let address = platform.origin.strip_prefix("http://").unwrap();
    let mut request = format!(
        "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for chunk in body.chunks(size) {
        request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&request).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_slow_body_is_waited_for_and_a_broken_one_hurts_nobody() {
    let platform = ground().await;
    let address = platform.origin.strip_prefix("http://").unwrap();
    let body = testkit::request_body(information()).to_string();
    let head = format!(
        "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.set_nodelay(true).unwrap();
    slow.write_all(head.as_bytes()).await.unwrap();
    for piece in body.as_bytes().chunks(body.len() / 8 + 1) {
        tokio::time::sleep(Duration::from_millis(20)).await;
        slow.write_all(piece).await.unwrap();
    }
    let mut answer = vec![0; 4096];
    let read = slow.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"result\""), "{answer}");

    for cut in [0, 1, body.len() / 2, body.len() - 1] {
        let mut broken = TcpStream::connect(address).await.unwrap();
        broken.write_all(format!("{head}{}", &body[..cut]).as_bytes()).await.unwrap();
        broken.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let read = tokio::time::timeout(PROMPT, broken.read_to_end(&mut rest)).await;
        assert!(read.is_ok(), "the connection ends");
        let rest = String::from_utf8_lossy(&rest);
        assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 400"), "{rest}");
    }
    harbor(information()).await.result().await;
}

#[tokio::test]
async fn requests_that_are_no_http_are_closed_with_an_error_or_at_once() {
    let platform = ground().await;
    let address = platform.origin.strip_prefix("http://").unwrap();
    let long = "x".repeat(200_000);
    let many = "x: y\r\n".repeat(5000);
    let body = testkit::request_body(information()).to_string();
    let (n, chunked) = (body.len(), format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    let json = "content-type: application/json\r\n";
    let bad = [
        "\0\0\0\0".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03".to_owned(),
        format!("GET /{long} HTTP/1.1\r\nhost: {address}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: {address}\r\nx: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: {address}\r\n{many}\r\n"),
        format!("GET / HTTP/1.1\r\nhost: {address}\r\nno colon\r\n\r\n"),
        format!("POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\ncontent-length: -1\r\n\r\n"),
        format!(
            "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\ncontent-length: 99999999999999999999\r\n\r\n"
        ),
        format!(
            "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\n{json}content-length: {n}\r\ncontent-length: 1\r\n\r\n{body}"
        ),
        format!(
            "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\n{json}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n{chunked}"
        ),
        format!(
            "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\n{json}transfer-encoding: chunked\r\n\r\nzz\r\n{body}"
        ),
    ];
    for request in bad {
        let shown: String = request.chars().take(70).collect();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PROMPT, stream.read_to_end(&mut answer)).await;
        assert!(read.is_ok(), "no end after {shown:?}");
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{shown:?}: {answer}");
    }
    harbor(information()).await.result().await;
}

/// Everything that comes back until the server closes the connection.
async fn exchanged(request: &str) -> String {
    let platform = ground().await;
    let mut stream = TcpStream::connect(platform.origin.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(PROMPT, stream.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "no end after {request:.80}: {}", String::from_utf8_lossy(&answer));
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn the_body_of_a_refused_request_is_never_taken_for_a_request() {
    let smuggled = "GET /t/routed/.well-known/agent-card.json HTTP/1.1\r\nhost: x\r\n\r\n";
    let last = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let json = "content-type: application/json";
    for (method, path, kind) in [
        ("POST", "/t/nobody/a2a", json),
        ("POST", "/t/harbor/", json),
        ("POST", "/x", json),
        ("GET", "/t/harbor/a2a", json),
        ("GET", "/", json),
        ("POST", "/t/harbor/a2a", "content-type: text/plain"),
        ("POST", "/healthz", json),
    ] {
        let length = smuggled.len();
        let chunked = format!("{length:x}\r\n{smuggled}\r\n0\r\n\r\n");
        for framed in [
            format!("content-length: {length}\r\n\r\n{smuggled}"),
            format!("transfer-encoding: chunked\r\n\r\n{chunked}"),
        ] {
            let answers =
                exchanged(&format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{kind}\r\n{framed}{last}")).await;
            assert!(!answers.contains("Routed Motors"), "{method} {path}: {answers}");
            assert!(answers.matches("HTTP/1.1 ").count() <= 2, "{method} {path}: {answers}");
        }
    }
    // One that is announced far too large is refused before it is sent.
    let head =
        format!("POST /t/harbor/a2a HTTP/1.1\r\nhost: x\r\n{json}\r\ncontent-length: 1000000000\r\n\r\n");
    assert!(exchanged(&head).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn a_client_that_asks_before_it_sends_is_told_to_go_on() {
    let platform = ground().await;
    let address = platform.origin.strip_prefix("http://").unwrap();
    let body = testkit::request_body(information()).to_string();
    let head = format!(
        "POST /t/harbor/a2a HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 25];
    tokio::time::timeout(PROMPT, stream.read_exact(&mut first)).await.unwrap().unwrap();
    assert_eq!(&first, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"result\""), "{answer}");
}

#[tokio::test]
async fn bodies_in_another_coding_are_no_json() {
    // `{"jsonrpc":"2.0"}` by gzip.
    let gzip = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0x56, 0xca, 0x2a, 0xce, 0xcf, 0x2b, 0x2a, 0x48, 0x56, 0xb2,
        0x52, 0x32, 0xd2, 0x33, 0x50, 0xaa, 5, 0, 0x3f, 0xc8, 0x9e, 0xb9, 0x11, 0, 0, 0,
    ];
    let asking = harbor(search()).await;
    for coding in ["gzip", "br", "deflate", "zstd", "identity", "x"] {
        let coded = asking.clone().header("content-encoding", Some(coding));
        let answer: Value = coded.raw(gzip.to_vec()).await.json().await.unwrap();
        is_protocol_error(&answer["error"], -32700, None);
    }
    let accepting = asking.header("accept-encoding", Some("gzip, br, deflate, zstd"));
    assert!(accepting.response().await.headers().get("content-encoding").is_none());
}

#[tokio::test]
async fn a_large_refusal_is_read_by_clients_that_ask_first() {
    let platform = ground().await;
    let mut wire = Wire::to(&platform.origin);
    let host = platform.origin.trim_start_matches("http://").to_owned();
    let headers = [("host", host.as_str()), ("content-type", "application/json")];
    let reply = wire.send("POST", "/t/harbor/a2a", &headers, &vec![b' '; 3 * SIZE_LIMIT]).await;
    assert_eq!(reply.status, 413);
    // The connection, or a new one, goes on working.
    let body = testkit::request_body(information()).to_string();
    assert_eq!(wire.send("POST", "/t/harbor/a2a", &headers, body.as_bytes()).await.status, 200);
}
