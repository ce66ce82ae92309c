//! Thousands of bad requests: every answer is one that the protocol knows, and memory stays flat.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use testkit::{Process, Wire, scratch, soak};

use crate::ground::{ground, information, search};
use crate::hostile::placed;

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
    round(soak(30 * bodies.len())).await;
    let after = resident(process.pid());
    println!("{before} KiB before, {after} KiB after");
    assert!(after < before + 32 * 1024, "{before} KiB before, {after} KiB after");
    let _ = std::fs::remove_dir_all(folder);
}

/// Numbers that a dealer's endpoint may answer with, whatever is sent; never that something broke inside.
const KNOWN: [i64; 10] = [-32700, -32600, -32601, -32602, -32000, -32001, -32003, -32004, -32005, -32009];

/// Values that stand for others.
const ODD: [&str; 24] = [
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e999",
    "-1e-999",
    "9007199254740993",
    "\"\"",
    "\"x\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "[]",
    "[[]]",
    "{}",
    "{\"\":{}}",
    "[null]",
    "[\"Honda\"]",
    "{\"data\":{}}",
    "{\"type\":\"inventory.facets.request\"}",
    "\"ROLE_USER\"",
    "\"2.0\"",
    "\"SendMessage\"",
    "\"inventory.vehicle.request\"",
];

/// A request that is almost right: some values are replaced, members repeated or renamed, bytes lost or flipped.
fn bent(random: &mut StdRng, data: &Value) -> Vec<u8> {
    let mut body = testkit::request_body(data.clone()).to_string();
    for _ in 0..random.random_range(0..4) {
        // Any place behind a colon or a comma begins a value or a member.
        let places: Vec<_> = body.match_indices([':', ',']).map(|(at, _)| at + 1).collect();
        let Some(at) = places.get(random.random_range(0..places.len().max(1))).copied() else { break };
        let end = body[at..].find([',', '}', ']']).map_or(body.len(), |length| at + length);
        let odd = ODD[random.random_range(0..ODD.len())];
        match random.random_range(0..5) {
            0 | 1 => body.replace_range(at..end, odd),
            2 => body.insert_str(at, &format!("\"k\":{odd},")),
            3 => {
                let copy = body[at..end].to_owned();
                body.insert_str(end, &format!(",{copy}"));
            }
            _ => body.replace_range(at..at, "\\u0061"),
        }
    }
    let mut bytes = body.into_bytes();
    match random.random_range(0..6) {
        0 => bytes.truncate(random.random_range(0..=bytes.len())),
        1 => {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
        }
        2 => {
            let at = random.random_range(0..bytes.len());
            bytes.remove(at);
        }
        _ => {}
    }
    bytes
}

#[tokio::test]
async fn requests_bent_at_random_get_answers_that_the_protocol_knows() {
    const SEED: u64 = 0xbe27;
    let platform = ground().await;
    let host = platform.origin.trim_start_matches("http://").to_owned();
    let mut wire = Wire::to(&platform.origin);
    let mut random = StdRng::seed_from_u64(SEED);
    let questions = [
        search(),
        information(),
        json!({"type": "inventory.search.request", "filters": {"make": ["Honda"], "price_max": 30000, "query": "cr-v"},
            "sort": {"field": "price", "order": "asc"}, "pagination": {"limit": 2}, "privacy": {"anonymous": true}}),
        json!({"type": "inventory.facets.request", "filters": {"status": ["available"], "year_min": 2020}}),
        json!({"type": "inventory.vehicle.request", "vin": "2HKRW2H80PH600101", "stock": "n-2", "dealer_id": "harbor-city"}),
    ];
    let mut seen = std::collections::BTreeMap::<i64, usize>::new();
    for round in 0..soak(3000) {
        let body = bent(&mut random, &questions[round % questions.len()]);
        let shown = || format!("seed {SEED:#x}, round {round}: {}", String::from_utf8_lossy(&body));
        let headers = [("host", host.as_str()), ("content-type", "application/json")];
        let reply = wire.send("POST", "/t/harbor/a2a", &headers, &body).await;
        assert_eq!(reply.status, 200, "{}", shown());
        // An id may hold what our own parser does not take; it is only handed back.
        let text = String::from_utf8(reply.body).expect("UTF-8").replace("\\ud800", "").replace("1e999", "1");
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}: {text}", shown()));
        assert_eq!(answer["jsonrpc"], "2.0", "{}", shown());
        let code = match (answer.get("result"), answer.get("error")) {
            (Some(result), None) => {
                assert_eq!(result["message"]["role"], "ROLE_AGENT", "{}", shown());
                0
            }
            (None, Some(error)) => error["code"].as_i64().unwrap_or_else(|| panic!("{}: {text}", shown())),
            _ => panic!("{}: {text}", shown()),
        };
        assert!(code == 0 || KNOWN.contains(&code), "{}: {text}", shown());
        *seen.entry(code).or_default() += 1;
    }
    for code in [0, -32700, -32600, -32602] {
        assert!(
            seen.get(&code).is_some_and(|times| *times > 20),
            "the test bends too little or too much: {seen:?}"
        );
    }
}
