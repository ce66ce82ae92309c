//! Input of people who mean no good: prompt, clean answers, an error only where the protocol says so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Process, Wire, scratch};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::ground::{fault, ground, harbor, information, is_protocol_error, post, problems, refused, search};

/// Longer than any honest answer needs, far shorter than a client waits.
const PROMPT: Duration = Duration::from_secs(5);

const SIZE_LIMIT: usize = 1024 * 1024;

/// The request with a JSON text in the place of `"HERE"`.
fn placed(at: &str, json_text: &str) -> String {
    let mut body = testkit::request_body(search());
    body["params"]["message"]["contextId"] = json!("ctx");
    let (parent, key) = at.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(key.to_owned(), json!("HERE"));
    let text = body.to_string();
    assert_eq!(text.matches("\"HERE\"").count(), 1);
    text.replace("\"HERE\"", json_text)
}

const PAYLOAD: &str = "/params/message/parts/0/data";

/// Places of the request where anything may stand, and those where it may not, by what then is said.
const IGNORED: [&str; 6] = [
    "/x",
    "/params/x",
    "/params/metadata",
    "/params/message/metadata",
    "/params/message/parts/0/metadata",
    "/params/configuration/x",
];

#[tokio::test]
async fn depth_is_refused_before_anything_is_built() {
    let begun = Instant::now();
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")] {
        let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        let mut bodies = vec![deep.clone(), open.repeat(100_000), format!(" {deep}")];
        for at in
            IGNORED.into_iter().chain(["/id", "/method", "/params/message/parts/0/data/filters", PAYLOAD])
        {
            bodies.push(placed(at, &deep));
        }
        for body in bodies {
            let answer: Value = serde_json::from_str(&post(body).await).unwrap();
            assert_eq!(answer["id"], Value::Null);
            is_protocol_error(&answer["error"], -32600, None);
        }
    }
    assert!(begun.elapsed() < PROMPT * 3, "{:?}", begun.elapsed());
    // A little beyond the limit, and right at it: the envelope itself takes one level above `x`.
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(post(placed("/x", &nested(63))).await.contains("\"result\""));
    is_protocol_error(&refused(placed("/x", &nested(64)), "null").await, -32600, None);
    // Brackets in strings nest nothing.
    let brackets = format!("\"{}\\\"{}\"", "[{".repeat(10_000), "[".repeat(10_000));
    assert!(post(placed("/x", &brackets)).await.contains("\"result\""));
}

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
async fn lone_surrogates_are_legal_everywhere_and_mean_nothing() {
    for text in
        [r#""\ud800""#, r#""\udc00\ud800x""#, r#""\uDBFF\u0041""#, r#"["\ud800",{"\udfff":"\ud800"}]"#]
    {
        for at in IGNORED {
            let answer = post(placed(at, text)).await;
            assert!(answer.contains("\"total\":7"), "{at} {text}: {answer}");
        }
    }
    let lone = r#""\ud800""#;
    let served = [
        ("/id", lone),
        ("/params/message/messageId", lone),
        ("/params/message/parts/0/data/filters", r#"{"make":["\ud800","Honda"],"query":""}"#),
        ("/params/configuration/acceptedOutputModes", r#"["\ud800","*/*"]"#),
    ];
    for (at, value) in served {
        let answer = post(placed(at, value)).await;
        assert!(answer.contains("\"result\""), "{at}: {answer}");
    }
    let refused_with = [
        ("/jsonrpc", -32600),
        ("/method", -32601),
        ("/params", -32602),
        ("/params/tenant", -32602),
        ("/params/message", -32602),
        ("/params/message/role", -32602),
        ("/params/message/contextId", -32602),
        ("/params/message/taskId", -32001),
        ("/params/message/parts", -32602),
        ("/params/message/parts/0/mediaType", -32005),
        ("/params/configuration", -32602),
        ("/params/configuration/acceptedOutputModes", -32602),
        (PAYLOAD, -32602),
        ("/params/message/parts/0/data/type", -32602),
        ("/params/message/parts/0/data/dealer_id", -32000),
    ];
    for (at, code) in refused_with {
        let error = refused(placed(at, lone), "\"req-1\"").await;
        assert_eq!(error["code"], code, "{at}: {error}");
    }
    // An unknown member of the payload is refused, and its name can be written.
    let body = placed("/params/message/parts/0/data/pagination", r#"{"\ud800":1,"limit":1e999}"#);
    let error = refused(body, "\"req-1\"").await;
    let expected = [("/pagination/limit", "maximum"), ("/pagination/\u{fffd}", "additionalProperties")];
    let expected = expected.map(|(at, keyword)| (at.to_owned(), keyword.to_owned()));
    assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), expected);
}

#[tokio::test]
async fn numbers_of_any_size_are_numbers() {
    for number in ["1e999", "-1e999", "1e-999", "123456789012345678901234567890", "-0", "0.1e1", "1E400"] {
        for at in IGNORED {
            assert!(post(placed(at, number)).await.contains("\"total\":7"), "{at} {number}");
        }
    }
    let digits = "9".repeat(500_000);
    assert!(post(placed("/x", &digits)).await.contains("\"total\":7"));
    for (filters, total) in [
        (r#"{"price_max":1e999}"#.to_owned(), 5),
        (r#"{"price_max":1e30,"mileage_max":99999999999999999999}"#.to_owned(), 3),
        (r#"{"price_min":1e999}"#.to_owned(), 0),
        (r#"{"price_min":-0,"year_min":2.015e3}"#.to_owned(), 5),
        (r#"{"price_max":1e-999}"#.to_owned(), 1),
        (format!(r#"{{"price_max":{digits}}}"#), 5),
    ] {
        let answer = post(placed("/params/message/parts/0/data/filters", &filters)).await;
        assert!(answer.contains(&format!("\"total\":{total},")), "{filters:.40}: {answer:.300}");
    }
    for (filters, keyword) in [
        (r#"{"price_max":-1e999}"#, "minimum"),
        (r#"{"year_max":1e999}"#, "maximum"),
        (r#"{"price_max":0.5}"#, "type"),
        (r#"{"price_max":"1"}"#, "type"),
        (r#"{"price_max":[1e999]}"#, "type"),
    ] {
        let error = refused(placed("/params/message/parts/0/data/filters", filters), "\"req-1\"").await;
        let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
        assert!(found.len() == 1 && found[0].1 == keyword, "{filters}: {found:?}");
    }
}

#[tokio::test]
async fn nul_and_control_characters_are_data() {
    let filters = r#"{"make":["\u0000","Honda\u0000"],"stock":"\u0000","query":"\u0000"}"#;
    let answer = post(placed("/params/message/parts/0/data/filters", filters)).await;
    assert!(
        answer.contains("\"total\":0,") && answer.contains(r#""make":["\u0000","Honda\u0000"]"#),
        "{answer}"
    );
    let vehicle = json!({"type": "inventory.vehicle.request", "stock": "\u{0}", "vehicle_id": "v1\u{0}"});
    fault(&harbor(vehicle).await.error().await, "VEHICLE_NOT_FOUND");
    fault(&harbor(json!({"type": "a.b\u{0}"})).await.error().await, "SCHEMA_VALIDATION_FAILED");
    let dealer = json!({"type": "dealer.information.request", "dealer_id": "harbor-city\u{0}"});
    fault(&harbor(dealer).await.error().await, "DEALER_NOT_FOUND");
}

#[tokio::test]
async fn thousands_of_members_are_passed_over_or_named() {
    let members = (0..20_000).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let begun = Instant::now();
    for at in IGNORED {
        assert!(post(placed(at, &format!("{{{members}}}"))).await.contains("\"total\":7"));
    }
    for first in ["{\"id\"", "{\"jsonrpc\""] {
        let text = testkit::request_body(search()).to_string();
        if text.starts_with(first) {
            assert!(post(text.replacen('{', &format!("{{{members},"), 1)).await.contains("\"total\":7"));
        }
    }
    let error =
        refused(placed("/params/message/parts/0/data/filters", &format!("{{{members}}}")), "\"req-1\"").await;
    let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
    assert!(found.len() > 1000 && found.iter().any(|(_, keyword)| keyword == "x-more"), "{}", found.len());
    let wrong = format!(r#"{{"make":[{}]}}"#, vec!["0"; 100_000].join(","));
    let error = refused(placed("/params/message/parts/0/data/filters", &wrong), "\"req-1\"").await;
    fault(&error, "SCHEMA_VALIDATION_FAILED");
    let makes = (0..50_000).map(|i| format!("\"make {i}\"")).collect::<Vec<_>>().join(",");
    let answer =
        post(placed("/params/message/parts/0/data/filters", &format!(r#"{{"make":[{makes}]}}"#))).await;
    assert!(answer.contains("\"total\":0,"));
    let parts = vec!["{\"text\":\"\"}"; 50_000].join(",");
    let error = refused(placed("/params/message/parts", &format!("[{parts}]")), "\"req-1\"").await;
    assert_eq!(error["code"], -32602);
    let parts = vec!["0"; 100_000].join(",");
    let text = post(placed("/params/message/parts", &format!("[{parts}]"))).await;
    assert!(text.contains("-32602") && text.contains("not listed"), "{text:.200}");
    assert!(text.len() < 20_000, "an answer far larger than its question: {}", text.len());
    assert!(begun.elapsed() < PROMPT * 4, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn huge_strings_are_only_strings() {
    let huge = format!("\"{}\"", "\\u00e9".repeat(100_000));
    for at in IGNORED.into_iter().chain(["/id"]) {
        assert!(post(placed(at, &huge)).await.contains("\"total\":7"), "{at}");
    }
    for at in
        ["/params/message/messageId", "/params/message/contextId", "/params/tenant", "/params/message/role"]
    {
        assert_eq!(refused(placed(at, &huge), "\"req-1\"").await["code"], -32602, "{at}");
    }
    is_protocol_error(&refused(placed("/method", &huge), "\"req-1\"").await, -32601, None);
    let error = refused(
        placed("/params/message/parts/0/data/filters", &format!(r#"{{"query":{huge}}}"#)),
        "\"req-1\"",
    )
    .await;
    assert_eq!(
        problems(fault(&error, "SCHEMA_VALIDATION_FAILED")),
        [("/filters/query".to_owned(), "maxLength".to_owned())]
    );
    let error =
        refused(placed("/params/message/parts/0/data/filters", &format!(r#"{{"vin":{huge}}}"#)), "\"req-1\"")
            .await;
    assert!(error.to_string().len() < 4000, "values are not sent back");
    let text = placed("/params/message/parts/0/data/type", &huge);
    assert!(refused(text, "\"req-1\"").await.to_string().len() < 4000);
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

/// Resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a Linux process");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

#[tokio::test]
async fn memory_stays_flat_under_thousands_of_them() {
    let folder = scratch("hostile");
    let data_dir = folder.join("data").to_string_lossy().into_owned();
    let mut command = Process::command(&["up", "--demo", "--listen", "127.0.0.1:0", "--data-dir", &data_dir]);
    command.env("FORECOURT_LOG", "warn");
    let mut process = Process::spawn(&mut command);
    let line = process.wait_for("/t/", Duration::from_secs(60));
    let base = line.split_whitespace().find(|word| word.contains("/t/")).expect("an address").to_owned();
    let (origin, path) = base.split_at(base.find("/t/").unwrap());
    let slug = path[3..].split('/').next().unwrap();
    let target = format!("/t/{slug}/a2a");
    let host = origin.trim_start_matches("http://").to_owned();

    let big = "x".repeat(900_000);
    let bodies: Vec<Vec<u8>> = vec![
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        vec![b' '; 10_000_000],
        placed("/x", &format!("\"{}\"", "\\ud800".repeat(50_000))).into_bytes(),
        placed("/params/message/parts/0/data/filters", &format!(r#"{{"{big}":1}}"#)).into_bytes(),
        placed("/params/message/parts/0/data/filters", r#"{"make":["\ud800"],"price_max":1e999}"#)
            .into_bytes(),
        placed("/params/metadata", &format!("{{{}}}", vec!["\"a\":1e999"; 20_000].join(","))).into_bytes(),
        placed(
            "/params/message/parts/0/data/filters",
            &format!("{{\"make\":[{}]}}", vec!["1"; 20_000].join(",")),
        )
        .into_bytes(),
        placed("/params/message/parts", &format!("[{}]", vec!["{}"; 5_000].join(","))).into_bytes(),
        b"\xff\xfe\x00".to_vec(),
        search().to_string().into_bytes(),
        placed("/id", &format!("\"{big}\"")).into_bytes(),
    ];
    let headers = [("host", host.as_str()), ("content-type", "application/json")];
    let mut wire = Wire::to(origin);
    let mut round = async |times: usize| {
        for i in 0..times {
            let body = &bodies[i % bodies.len()];
            let reply = wire.send("POST", &target, &headers, body).await;
            assert!([200, 413].contains(&reply.status), "{}", reply.status);
            // And small ones, which are most of what comes.
            for small in ["", "{", "[]", "{\"id\":1e999}", "{\"\\ud800\":0}"] {
                assert_eq!(wire.send("POST", &target, &headers, small.as_bytes()).await.status, 200);
            }
        }
    };
    round(6 * bodies.len()).await;
    let before = resident(process.pid());
    round(testkit::soak(30 * bodies.len())).await;
    let after = resident(process.pid());
    assert!(after < before + 32 * 1024, "{before} KiB before, {after} KiB after");
    let _ = std::fs::remove_dir_all(folder);
}
