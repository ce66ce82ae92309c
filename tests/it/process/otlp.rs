//! Traces over OTLP/HTTP: one from the caller's to the SQL statement.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::Process;

use super::http::{Line, posting};
use super::{LIMIT, Node, database, dealers, on, provision, run, searching};

/// A collector that takes whatever it is sent.
struct Collector {
    address: SocketAddr,
    deliveries: Arc<Mutex<Vec<Delivery>>>,
}

struct Delivery {
    /// Request line and headers, in lower case.
    head: String,
    body: Vec<u8>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let deliveries = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&deliveries);
        // Ends with the test process: nothing tells it when the last sender has gone.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    while let Some(delivery) = receive(&mut stream) {
                        kept.lock().expect("no panic").push(delivery);
                        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                        let _ = stream.get_mut().write_all(answer.as_bytes());
                    }
                });
            }
        });
        Collector { address, deliveries }
    }

    fn spans(&self) -> Vec<Span> {
        self.deliveries.lock().expect("no panic").iter().flat_map(|delivery| spans(&delivery.body)).collect()
    }
}

fn receive(stream: &mut BufReader<TcpStream>) -> Option<Delivery> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line.to_ascii_lowercase());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(Delivery { head, body })
}

/// The fields of a protobuf message: number, and the bytes of those that have a length.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (first, rest) = bytes.split_first().expect("a whole number");
            *bytes = rest;
            value |= u64::from(first & 0x7F) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let length = match key & 7 {
            0 => {
                varint(&mut bytes);
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)).expect("a length"),
            5 => 4,
            kind => panic!("no such kind of field: {kind}"),
        };
        let (contents, rest) = bytes.split_at(length);
        bytes = rest;
        found.push((key >> 3, contents));
    }
    found
}

fn inside(bytes: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(bytes).into_iter().filter(move |(found, _)| *found == number).map(|(_, contents)| contents)
}

#[derive(Debug, Clone)]
struct Span {
    trace: String,
    id: String,
    parent: String,
    name: String,
}

/// `ExportTraceServiceRequest`: resource spans (1), scope spans (2), spans (2); of those trace (1), id (2),
/// parent (4) and name (5).
fn spans(body: &[u8]) -> Vec<Span> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let read = |span: &[u8]| Span {
        trace: inside(span, 1).map(hex).next().expect("a trace"),
        id: inside(span, 2).map(hex).next().expect("an id"),
        parent: inside(span, 4).map(hex).next().unwrap_or_default(),
        name: inside(span, 5).map(|name| String::from_utf8_lossy(name).into_owned()).next().expect("a name"),
    };
    let scopes = inside(body, 1).flat_map(|resource| inside(resource, 2));
    scopes.flat_map(|scope| inside(scope, 2).map(read).collect::<Vec<_>>()).collect()
}

fn traced(command: &mut Command, collector: SocketAddr) -> &mut Command {
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}"))
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
const UNSAMPLED: &str = "0af7651916cd43dd8448eb211c80319c";

#[test]
fn one_trace_from_the_caller_to_the_statement() {
    const SECRET: &str = "zz-filter-zz";
    let (_, url) = database();
    provision(&url, &dealers(&[("harbor", 3), ("second", 3)]));
    let collector = Collector::start();
    let mut command =
        Process::command(&["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0", "--log", "debug"]);
    // Only what the end of the process sends arrives at all: nothing may be lost there.
    traced(&mut command, collector.address).env("OTEL_BSP_SCHEDULE_DELAY", "3600000");
    command.env("DATABASE_URL", &url).env("FORECOURT_TRUSTED_PROXIES", "127.0.0.1");
    let node = Node::start(&mut command);

    // A lot that is not in memory yet, so the request goes all the way.
    let body = searching(json!({"make": [SECRET]}));
    let ask = |slug: &str, parent: &str| {
        let headers = [("traceparent", parent), ("x-request-id", "lb-4711")];
        let request = posting(&format!("/t/{slug}/v3.0/a2a"), &headers, &body);
        let reply = Line::open(node.address).and_then(|mut line| line.ask(&request)).expect("an answer");
        assert!(reply.json()["result"].is_object(), "{}", reply.everything());
        // The proxy is ours, so the request keeps the id that it gave.
        assert_eq!(reply.header("x-request-id"), Some("lb-4711"));
    };
    ask("harbor", &format!("00-{TRACE}-{CALLER}-01"));
    // A caller who does not record asks us not to either.
    ask("second", &format!("00-{UNSAMPLED}-{CALLER}-00"));
    node.get("/healthz");
    let lines = node.stop();

    for delivery in collector.deliveries.lock().expect("no panic").iter() {
        let head = &delivery.head;
        assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
        let text = String::from_utf8_lossy(&delivery.body);
        assert!(text.contains("service.name") && text.contains("forecourt"), "who it is from");
        assert!(!text.contains(SECRET), "values of a request are nobody's business");
    }
    let spans = collector.spans();
    let ours: Vec<&Span> = spans.iter().filter(|span| span.trace == TRACE).collect();
    let by_id: HashMap<&str, &Span> = ours.iter().map(|span| (span.id.as_str(), *span)).collect();
    let statement = ours.iter().find(|span| span.name == "store.lot");
    let mut span = *statement.unwrap_or_else(|| panic!("no statement in {ours:#?}"));
    let mut way = vec![span.name.as_str()];
    while span.parent != CALLER {
        span = by_id.get(span.parent.as_str()).unwrap_or_else(|| panic!("a gap above {way:?}: {ours:#?}"));
        way.push(&span.name);
    }
    assert_eq!((way.first(), way.last()), (Some(&"store.lot"), Some(&"request")), "{way:?}");
    assert!(ours.iter().any(|span| span.name == "tenant.load"), "the dealer was read too: {ours:#?}");
    assert!(!spans.iter().any(|span| span.trace == UNSAMPLED), "{spans:#?}");
    // The database is asked every second for changes; that alone makes no traces.
    let began: HashSet<&str> =
        spans.iter().filter(|span| span.parent.is_empty()).map(|span| span.name.as_str()).collect();
    assert_eq!(
        began,
        HashSet::from(["command", "request"]),
        "the start, and requests without a caller's trace"
    );

    // A log line leads to its trace.
    let of_request = |line: &&String| line.contains("lb-4711") && line.contains("\"request answered\"");
    let told: Vec<Value> =
        lines.iter().filter(of_request).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.len(), 2, "{lines:#?}");
    assert_eq!((&told[0]["trace_id"], &told[0]["tenant"]), (&json!(TRACE), &json!("harbor")));
}

#[test]
fn a_collector_that_is_away_or_unusable() {
    let (_, url) = database();
    // Away: everything goes on, and the end waits for nobody for long.
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"]);
    let node = Node::start(traced(&mut command, nobody).env("DATABASE_URL", &url));
    assert_eq!(node.get("/").status, 200);
    let began = Instant::now();
    node.stop();
    assert!(began.elapsed() < Duration::from_secs(20).min(LIMIT), "{:?}", began.elapsed());

    // Unusable: said at the start.
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0"]);
    let done = run(traced(&mut command, nobody)
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .env("DATABASE_URL", &url));
    done.ends(2).says(&["`grpc`", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"]);
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317").env("DATABASE_URL", &url);
    run(&mut command).ends(2).says(&["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"]);

    // Commands have a trace as well.
    let collector = Collector::start();
    let mut command = Process::command(&["migrate"]);
    run(traced(&mut command, collector.address).env("DATABASE_URL", &url)).ends(0);
    let spans = collector.spans();
    let root = spans.iter().find(|span| span.name == "command").expect("a trace of the command");
    assert!(root.parent.is_empty() && spans.iter().any(|span| span.parent == root.id), "{spans:#?}");
    on(&url, &["doctor", "--listen", "127.0.0.1:0"]).ends(0);
}
