//! What the other doors cost beside A2A: the same searches through each, in turns.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{REQUESTS, Servers};
use crate::data::{self, Asked, HOST};
use crate::goals::Board;
use crate::load::{Answer, Good, Line};
use crate::rounds::{self, Pace, Variant};

/// How a search is sent, and where the payload of its answer is.
struct Door {
    name: &'static str,
    send: fn(&Asked) -> Vec<u8>,
    payload: &'static str,
}

const DOORS: [Door; 4] = [
    Door { name: "a2a", send: |asked| asked.bytes.clone(), payload: "/result/message/parts/0/data" },
    Door { name: "mcp", send: mcp, payload: "/result/structuredContent" },
    Door { name: "post", send: post, payload: "" },
    Door { name: "get", send: get, payload: "" },
];

pub(super) fn run(servers: &mut Servers<'_>, pace: Pace, board: &mut Board) -> Result<()> {
    let asked = data::search(&data::measured(10_000), REQUESTS);
    let product = servers.product()?;
    let (server, pid) = (product.address(), product.pid());
    let requests = DOORS.map(|door| asked.iter().map(door.send).collect::<Vec<_>>());
    let mut line = Line::to(server);
    let mut variants = Vec::new();
    let mut first: Vec<Value> = Vec::new();
    for (door, requests) in DOORS.iter().zip(&requests) {
        let mut bytes = 0;
        for (number, request) in requests.iter().enumerate() {
            let answer = line.ask(request)?;
            bytes += answer.body.len();
            let payload = payload(door, &answer).with_context(|| door.name)?;
            // Who answers something else may not be compared.
            match first.get(number) {
                None => first.push(payload),
                Some(known) => ensure!(*known == payload, "{} differs:\n{known}\n{payload}", door.name),
            }
        }
        board.note(format!("doors, {}: mean answer, bytes", door.name), json!(bytes / requests.len().max(1)));
        // Only the envelope of JSON-RPC has a result, and a tool's refusal is one too; what is asked here is served.
        let good = if door.payload.is_empty() { Good::Status(200) } else { Good::Result };
        variants.push(Variant { name: door.name, server, pids: vec![pid], requests, good });
    }
    let measured = rounds::measure(pace, &variants)?;
    if let [a2a, others @ ..] = measured.as_slice() {
        for door in others {
            board.settle("doors", door.variant, rounds::ratio(door, a2a, |round| round.rate));
            let more = door.median(|round| round.cpu_us) - a2a.median(|round| round.cpu_us);
            board.note(format!("doors, {}: CPU of a search beyond A2A's, µs", door.variant), json!(more));
        }
    }
    board.keep("the same search at each door", measured);
    Ok(())
}

/// The payload without what is new each time.
fn payload(door: &Door, answer: &Answer) -> Result<Value> {
    ensure!(answer.status == 200, "status {}: {}", answer.status, String::from_utf8_lossy(&answer.body));
    let whole = answer.json()?;
    let mut payload = whole.pointer(door.payload).cloned().with_context(|| format!("no answer: {whole}"))?;
    if let Some(cursor) = payload.pointer_mut("/data/next_cursor") {
        *cursor = cursor.is_string().into();
    }
    ensure!(payload.pointer("/data/vehicles").is_some(), "no search: {whole}");
    Ok(payload)
}

/// The payload of a request without its `type`, which these doors say themselves.
fn bare(asked: &Asked) -> Value {
    let mut data = asked.data.clone();
    if let Some(members) = data.as_object_mut() {
        members.remove("type");
    }
    data
}

fn posted(asked: &Asked, path: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST /t/{}/v3.0/{path} HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: bench\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        asked.slug,
        body.len()
    )
    .into_bytes()
}

fn mcp(asked: &Asked) -> Vec<u8> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "aap_inventory_search", "arguments": bare(asked)}});
    let headers = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n";
    posted(asked, "mcp", headers, &body)
}

fn post(asked: &Asked) -> Vec<u8> {
    posted(asked, "skills/inventory.search", "Accept: application/json\r\n", &bare(asked))
}

fn get(asked: &Asked) -> Vec<u8> {
    let at = |pointer: &str| asked.data.pointer(pointer).cloned().unwrap_or_default();
    let mut pairs = vec![
        ("sort".to_owned(), at("/sort/field")),
        ("order".to_owned(), at("/sort/order")),
        ("limit".to_owned(), at("/pagination/limit")),
    ];
    for (name, value) in at("/filters").as_object().into_iter().flatten() {
        let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        pairs.extend(values.into_iter().map(|value| (name.clone(), value)));
    }
    let mut query = String::new();
    for (name, value) in pairs {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        query.push_str(if query.is_empty() { "?" } else { "&" });
        query.push_str(&format!("{name}={}", coded(&text)));
    }
    data::get(&format!("/t/{}/v3.0/inventory{query}", asked.slug), &[("Accept", "application/json")])
}

/// A text as it stands in a query.
fn coded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_door_is_asked_the_same() {
        let asked = data::search(&data::measured(1_000), 3);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        for asked in &asked {
            let got = text(get(asked));
            assert!(got.starts_with("GET /t/lot-1000/v3.0/inventory?sort="), "{got}");
            assert_eq!(got.lines().next().unwrap().matches(' ').count(), 2, "{got}");
            for name in asked.data["filters"].as_object().unwrap().keys() {
                assert!(got.contains(&format!("&{name}=")), "{got}");
            }
            let sent = text(mcp(asked));
            let body: Value = serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap();
            let posted = text(post(asked));
            let plain: Value = serde_json::from_str(posted.split_once("\r\n\r\n").unwrap().1).unwrap();
            assert_eq!(body["params"]["arguments"], plain);
            assert_eq!(plain["filters"], asked.data["filters"]);
        }
        assert_eq!(coded("a b&é"), "a%20b%26%C3%A9");
    }
}
