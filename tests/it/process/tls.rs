//! TLS by the platform itself, over HTTP/1.1 and HTTP/2, and certificates that agents would refuse.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use testkit::{EXTENSION, Process, data_of};

use super::{Folder, LIMIT, block_on, database, dealers, on, provision, run, searching};

/// A certificate for a host and for this machine, valid in these years.
struct Pair {
    der: CertificateDer<'static>,
    cert: String,
    key: String,
}

fn pair(folder: &Folder, name: &str, host: &str, years: (i32, i32)) -> Pair {
    let mut params = CertificateParams::new([host.to_owned(), "127.0.0.1".to_owned()]).expect("names");
    params.not_before = date_time_ymd(years.0, 1, 1);
    params.not_after = date_time_ymd(years.1, 1, 1);
    let key = KeyPair::generate().expect("a key");
    let made = params.self_signed(&key).expect("a certificate");
    Pair {
        der: made.der().clone(),
        cert: folder.write(&format!("{name}.crt"), &made.pem()),
        key: folder.write(&format!("{name}.key"), &key.serialize_pem()),
    }
}

fn serve(url: &str, pair: &Pair, more: &[&str]) -> Command {
    let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"];
    arguments.extend(["--tls-cert", &pair.cert, "--tls-key", &pair.key]);
    arguments.extend(more);
    let mut command = Process::command(&arguments);
    command.env("DATABASE_URL", url);
    command
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

/// A TLS connection with the protocol that both sides agree on.
fn connect(
    address: SocketAddr,
    host: &str,
    der: &CertificateDer<'static>,
    alpn: &[&[u8]],
) -> std::io::Result<Tls> {
    let mut roots = RootCertStore::empty();
    roots.add(der.clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder.expect("versions").with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a connection");
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    while client.is_handshaking() {
        client.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(client, stream))
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a small frame").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Kind, flags, stream and payload of the next frame.
fn next_frame(stream: &mut Tls) -> std::io::Result<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let [a, b, c, kind, flags, d, e, f, g] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    stream.read_exact(&mut payload)?;
    Ok((kind, flags, u32::from_be_bytes([d, e, f, g]) & 0x7FFF_FFFF, payload))
}

/// A header as HPACK writes it without its tables (RFC 7541, 6.2.2), and without Huffman's code.
fn header(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).ok().filter(|length| *length < 127).expect("short");
    let mut bytes = vec![0, length(name)];
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(length(value));
    bytes.extend_from_slice(value.as_bytes());
    bytes
}

/// The bytes of a new HTTP/2 connection (RFC 9113) with several requests at once.
fn requests_h2(requests: &[(&str, &str, Option<&str>)]) -> Vec<u8> {
    let mut out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    out.extend(frame(SETTINGS, 0, 0, &[]));
    let number = |index: usize| u32::try_from(2 * index + 1).expect("a small number");
    for (index, (method, path, body)) in requests.iter().enumerate() {
        let mut headers = Vec::new();
        let named =
            [(":method", *method), (":scheme", "https"), (":path", path), (":authority", "dealers.example")];
        let a2a =
            [("content-type", "application/json"), ("a2a-version", "1.0"), ("a2a-extensions", EXTENSION)];
        for (name, value) in named.iter().chain(body.iter().flat_map(|_| a2a.iter())) {
            headers.extend(header(name, value));
        }
        let flags = if body.is_some() { END_HEADERS } else { END_HEADERS | END_STREAM };
        out.extend(frame(HEADERS, flags, number(index), &headers));
        if let Some(body) = body {
            out.extend(frame(DATA, END_STREAM, number(index), body.as_bytes()));
        }
    }
    out
}

/// The bodies of that many answers, in the order of their requests; each must have the status 200.
fn answers_h2(stream: &mut Tls, number: usize) -> Vec<String> {
    let mut bodies = vec![String::new(); number];
    let mut open = number;
    while open > 0 {
        let (kind, flags, id, payload) = next_frame(stream).expect("a frame");
        match (kind, id) {
            (SETTINGS, _) if flags & ACK == 0 => {
                stream.write_all(&frame(SETTINGS, ACK, 0, &[])).expect("an acknowledgement");
            }
            (HEADERS, _) => {
                // `:status: 200` is number 8 of HPACK's own table; changes of the table's size may come before it.
                let first = payload.iter().find(|byte| **byte & 0xE0 != 0x20);
                assert_eq!(first, Some(&0x88), "status 200 was expected: {payload:02x?}");
            }
            (DATA, id) => {
                bodies[(id as usize - 1) / 2].push_str(std::str::from_utf8(&payload).expect("UTF-8"))
            }
            (3 | 7, _) => panic!("the server gave up: {kind} {payload:02x?}"),
            _ => {}
        }
        if matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0 {
            open -= 1;
        }
    }
    bodies
}

#[test]
fn https_over_both_versions_of_http() {
    let folder = Folder::new("tls");
    let (_, url) = database();
    provision(&url, &dealers(&[("harbor", 3)]));
    let good = pair(&folder, "good", "dealers.example", (2020, 2080));
    let mut process = Process::spawn(&mut serve(&url, &good, &[]));
    let address = process.ready(LIMIT);
    let origin = format!("https://{address}");

    // HTTP/1.1, by a library that knows nothing else.
    let (card, found) = block_on(async {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let root = reqwest::Certificate::from_der(&good.der).expect("a certificate");
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([root]).build().expect("a client");
        let reply = client.get(format!("{origin}/t/harbor/v3.0/.well-known/agent-card.json")).send().await;
        let reply = reply.expect("an answer");
        assert_eq!((reply.status().as_u16(), reply.version()), (200, reqwest::Version::HTTP_11));
        let card = reply.text().await.expect("a card");
        let asking =
            client.post(format!("{origin}/t/harbor/v3.0/a2a")).header("content-type", "application/json");
        let asking = asking.header("a2a-version", "1.0").header("a2a-extensions", EXTENSION);
        let reply = asking.body(searching(json!({}))).send().await.expect("an answer");
        (card, reply.json::<Value>().await.expect("JSON"))
    });
    testkit::check_answer("/v3.0/a2a", &found);
    assert_eq!(data_of(&found)["total"], 3);
    let parsed: Value = serde_json::from_str(&card).expect("JSON");
    assert_eq!(parsed["supportedInterfaces"][0]["url"], json!(format!("{origin}/t/harbor/v3.0/a2a")));

    // HTTP/2: the same bytes, three answers on one connection.
    let mut h2 = connect(address, "127.0.0.1", &good.der, &[b"h2", b"http/1.1"]).expect("a connection");
    assert_eq!(h2.conn.alpn_protocol(), Some(&b"h2"[..]));
    let body = searching(json!({"make": ["Honda"]}));
    let requests = requests_h2(&[
        ("GET", "/t/harbor/v3.0/.well-known/agent-card.json", None),
        ("POST", "/t/harbor/v3.0/a2a", Some(&body)),
        ("GET", "/readyz", None),
    ]);
    h2.write_all(&requests).expect("requests");
    let answers = answers_h2(&mut h2, 3);
    assert_eq!(answers[0], card);
    assert_eq!(data_of(&serde_json::from_str(&answers[1]).expect("JSON"))["total"], 3);
    assert!(answers[2].contains("\"ready\""), "{answers:?}");

    // Nothing is answered without TLS, and that hurts nobody else.
    let mut plain = TcpStream::connect(address).expect("a connection");
    plain.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").expect("a request");
    let mut answer = Vec::new();
    let read = plain.read_to_end(&mut answer);
    assert!(read.is_ok() || read.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    assert!(!String::from_utf8_lossy(&answer).contains("alive"), "{answer:?}");
    assert!(connect(address, "127.0.0.1", &good.der, &[b"http/1.1"]).is_ok());

    // A request in flight is finished; an idle HTTP/2 connection holds the end up no longer than it must.
    let mut slow = connect(address, "127.0.0.1", &good.der, &[b"h2"]).expect("a connection");
    let request = requests_h2(&[("POST", "/t/harbor/v3.0/a2a", Some(&body))]);
    let (last, first) = request.split_last().expect("a request");
    slow.write_all(first).expect("most of a request");
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    process.signal(libc::SIGTERM);
    std::thread::sleep(Duration::from_millis(1500));
    slow.write_all(&[*last]).expect("the rest of it");
    let answer = answers_h2(&mut slow, 1).remove(0);
    assert_eq!(data_of(&serde_json::from_str(&answer).expect("JSON"))["total"], 3);
    assert_eq!(process.wait(LIMIT).code(), Some(0), "{:#?}", process.lines());
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(!process.lines().iter().any(|line| line.contains("TLS certificate")), "nothing is wrong with it");
}

#[test]
fn certificates_that_agents_refuse_are_named() {
    let folder = Folder::new("tls-bad");
    let (_, url) = database();
    let good = pair(&folder, "good", "dealers.example", (2020, 2080));
    let other = pair(&folder, "other", "dealers.example", (2020, 2080));
    let ended = pair(&folder, "ended", "dealers.example", (2020, 2021));
    let to_come = pair(&folder, "to-come", "dealers.example", (2070, 2080));
    let elsewhere = pair(&folder, "elsewhere", "elsewhere.example", (2020, 2080));
    let origin = "https://dealers.example";

    // Halves of two pairs, and files that are something else: no start.
    let mixed = Pair { der: good.der.clone(), cert: good.cert.clone(), key: other.key.clone() };
    run(&mut serve(&url, &mixed, &[]))
        .ends(2)
        .says(&["--tls-cert (FORECOURT_TLS_CERT) does not belong to the key"]);
    let swapped = Pair { der: good.der.clone(), cert: good.key.clone(), key: good.cert.clone() };
    run(&mut serve(&url, &swapped, &[])).ends(2).says(&["without a PEM certificate in it", &good.key]);
    let missing = Pair { der: good.der.clone(), cert: folder.path("none"), key: good.key.clone() };
    run(&mut serve(&url, &missing, &[])).ends(2).says(&["--tls-cert (FORECOURT_TLS_CERT)", "no such file"]);

    // A date or a name that agents refuse: said in the log, for a renewed certificate is taken up while it runs.
    for (pair, words) in [
        (&ended, "the TLS certificate ended on 2021-01-01; agents refuse it"),
        (&to_come, "the TLS certificate is valid from 2070-01-01 only; agents refuse it"),
        (&elsewhere, "the TLS certificate is not made out for dealers.example"),
    ] {
        let mut process = Process::spawn(&mut serve(&url, pair, &["--public-origin", origin]));
        let address = process.ready(LIMIT);
        process.wait_for(words, LIMIT);
        assert!(connect(address, "dealers.example", &pair.der, &[]).is_err(), "agents do refuse it");
    }

    // The doctor looks at the same things before.
    let doctor = |pair: &Pair| {
        let tls = ["--tls-cert", pair.cert.as_str(), "--tls-key", pair.key.as_str()];
        on(&url, &[&["doctor", "--listen", "127.0.0.1:0", "--public-origin", origin], &tls[..]].concat())
    };
    doctor(&good).ends(0).says(&["certificate for dealers.example, valid until 2080-01-01"]);
    doctor(&ended).ends(1).says(&["FAIL  tls", "the certificate ended on 2021-01-01", "renew it"]);
    doctor(&to_come).ends(1).says(&["FAIL  tls", "the certificate is valid from 2070-01-01 only"]);
    doctor(&elsewhere).ends(0).says(&["warn  tls", "not made out for dealers.example"]);
    doctor(&mixed).ends(1).says(&["FAIL  settings", "does not belong to the key"]);
}
