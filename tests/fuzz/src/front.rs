//! The JSON-RPC front: any body has one answer.

use std::collections::BTreeMap;

use contract::version::ErrorForm;
use contract::{Contract, ContractSpec};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::CONTRACT_SCHEMAS;

/// The numbers that an answer of the front may carry: JSON-RPC, A2A, and the protocol's own.
const NUMBERS: [i64; 12] =
    [-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32003, -32004, -32005, -32008, -32009];

/// Whatever the body is, in each contract: one JSON object with exactly one of `result` and `error`, the request's
/// id or null, errors in the form of the contract. The fast reader reads nothing otherwise than the judge does.
pub fn front(body: &[u8]) {
    for contract in CONTRACT_SCHEMAS.iter() {
        let fronted = api::fuzzing::front(body, contract);
        if fronted.usual.is_some() {
            assert_eq!(fronted.usual, fronted.judged, "the readers differ");
        }
        let text = std::str::from_utf8(&fronted.answer).unwrap();
        one_answer(body, text, contract);
    }
}

fn one_answer(body: &[u8], text: &str, contract: &Contract) {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
    let names: Vec<&str> = members.keys().map(String::as_str).collect();
    let answer: Value = serde_json::from_str(text).unwrap_or_else(|_| {
        // Of all that we answer only the id is the request's own, which may be a number or a text that this
        // parser cannot hold.
        let spelled = members["id"].get();
        serde_json::from_str(&text.replacen(spelled, "0", 1)).unwrap()
    });
    assert_eq!(answer["jsonrpc"], "2.0");
    match names.as_slice() {
        ["error", "id", "jsonrpc"] => error(&answer["error"], contract),
        ["id", "jsonrpc", "result"] => {
            let message = &answer["result"]["message"];
            assert_eq!(message["role"], "ROLE_AGENT");
            assert!(message["messageId"].as_str().is_some_and(|id| !id.is_empty()));
            assert!(message["contextId"].as_str().is_some_and(|id| !id.is_empty()));
        }
        other => panic!("members {other:?}"),
    }
    let echoed = members["id"].get();
    match id_of(body) {
        Some(id) if answer.pointer("/error/code") != Some(&Value::from(-32600)) => {
            assert_eq!(echoed, id, "the id of a request that could be read");
        }
        // Refused as no request at all: by its id, its depth, or something else around it.
        Some(id) => assert!(echoed == id || echoed == "null", "{echoed} for {id}"),
        // Odd, yet perhaps legal: then it is at least the request's own.
        None => assert!(
            echoed == "null" || String::from_utf8_lossy(body).contains(echoed),
            "{echoed} out of nowhere"
        ),
    }
    assert!(answer.get("result").is_none() || echoed != "null", "served without an id");
}

/// The source text of the id, as a parser of our own making would read it.
fn id_of(body: &[u8]) -> Option<&str> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(body).ok()?;
    let id = members.get("id")?.get();
    id.starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).then_some(id)
}

fn error(error: &Value, contract: &Contract) {
    let code = error["code"].as_i64().unwrap();
    let spec = contract.spec();
    let apart = spec.numbers_apart.iter().any(|(_, number)| i64::from(*number) == code);
    assert!(NUMBERS.contains(&code) || apart, "{code}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
    if let Some(aap) = aap_error(error, spec) {
        assert_eq!(contract.check("error.schema.json", aap), Ok(()), "{aap}");
    }
    if let Some(entries) = error.get("data").and_then(Value::as_array) {
        assert!(entries.iter().all(|entry| entry["@type"].is_string()), "{entries:?}");
    }
}

/// The AAP object, wherever the contract puts it.
fn aap_error<'v>(error: &'v Value, spec: &ContractSpec) -> Option<&'v Value> {
    let data = error.get("data")?;
    let entry = |kind: &str| data.as_array()?.iter().find(|entry| entry["@type"] == kind);
    match spec.error_form {
        ErrorForm::Bare => Some(data).filter(|data| data.is_object()),
        ErrorForm::Tagged => entry("https://autoagentprotocol.org/extensions/aap/error"),
        ErrorForm::Struct => entry("type.googleapis.com/google.protobuf.Struct").map(|entry| &entry["value"]),
    }
}
