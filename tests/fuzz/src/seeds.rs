//! Inputs to begin with, and how the short run varies them.

use contract::{CONTRACTS, ContractSpec, SKILL_SPECS, SkillSpec};
use serde_json::{Value, json};

use crate::sample::Documents;
use crate::source::Dice;

/// A body of this crate with what it begins with.
#[derive(Debug)]
pub struct Target {
    /// Its name for `cargo fuzz`.
    pub name: &'static str,
    /// The body.
    pub run: fn(&[u8]),
    /// Inputs that are right.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// How many inputs the short run makes.
    pub short: usize,
}

/// All targets.
pub const TARGETS: [Target; 4] = [
    Target { name: "front", run: crate::front, seeds: bodies, short: 12_000 },
    Target { name: "cursor", run: crate::cursor, seeds: noise, short: 2_000 },
    Target { name: "requests", run: crate::requests, seeds: payloads, short: 12_000 },
    Target { name: "answers", run: crate::answers, seeds: noise, short: 1_500 },
];

/// Pieces that mean something to a JSON-RPC front. libFuzzer finds them by itself, the short run is handed them.
const PIECES: [&str; 40] = [
    "null",
    "\"\"",
    "[]",
    "{}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\u0061",
    "1e999",
    "-0",
    "0.1",
    "01",
    "9007199254740993",
    "\u{85}",
    "\u{feff}",
    "true",
    "\"id\":null,",
    "\"id\":1.50,",
    "\"method\":\"GetTask\",",
    "\"params\":[],",
    "\"message\":{},",
    "\"parts\":[],",
    "\"text\":\"t\",",
    "\"raw\":0,",
    "\"url\":{},",
    "\"data\":1,",
    "\"task_id\":\"t\",",
    "\"role\":\"r\",",
    "\"context_id\":\"z\",",
    "\"media_type\":\"z\",",
    "\"tenant\":4,",
    "\"jsonrpc\":\"1.0\",",
    "[[[[[[[[[[[[[[[[[[[[",
];

impl Target {
    /// Runs the body on every seed, and on inputs made from them, the same ones each time; on as many more as
    /// `FORECOURT_SOAK` (`make soak`) says.
    pub fn run_short(&self) {
        let seeds = (self.seeds)();
        seeds.iter().for_each(|seed| (self.run)(seed));
        let mut dice = Dice(20_261_130);
        let soak = std::env::var("FORECOURT_SOAK").ok().and_then(|text| text.parse().ok());
        for _ in 0..self.short * soak.unwrap_or(1).max(1) {
            let input = match usize::try_from(dice.roll() % 2).unwrap() {
                0 if self.name != "front" => dice.bytes(96),
                _ => spoilt(&seeds, &mut dice),
            };
            (self.run)(&input);
        }
    }
}

/// A seed with up to four changes of bytes.
fn spoilt(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut below = |n: usize| usize::try_from(dice.roll() % u64::try_from(n.max(1)).unwrap()).unwrap();
    let mut input = seeds[below(seeds.len())].clone();
    for _ in 0..1 + below(4) {
        let at = below(input.len() + 1);
        let end = (at + below(24)).min(input.len());
        let piece = PIECES[below(PIECES.len())].as_bytes().to_vec();
        match below(6) {
            0 => drop(input.drain(at..end)),
            1 => drop(input.splice(at..end, piece)),
            2 => drop(input.splice(at..at, piece)),
            3 => {
                let again = input[at..end].to_vec();
                drop(input.splice(at..at, again));
            }
            4 => {
                let other = &seeds[below(seeds.len())];
                let from = below(other.len());
                let part = other[from..(from + below(40)).min(other.len())].to_vec();
                drop(input.splice(at..end, part));
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << below(8);
                }
            }
        }
    }
    input
}

/// JSON-RPC requests that are served, of every skill and contract, in the forms that are allowed.
fn bodies() -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    for (spec, skill, payload) in examples() {
        let part = json!({"mediaType": skill.request_media_type, "data": payload});
        let message = json!({"messageId": "m-1", "contextId": "c-1", "role": "ROLE_USER", "parts": [part]});
        let modes = json!({"acceptedOutputModes": [skill.response_media_type, "*/*"]});
        let request = |id: Value| {
            let params = json!({"message": message, "configuration": modes, "metadata": {"x": [1]}});
            json!({"jsonrpc": "2.0", "id": id, "method": "SendMessage", "params": params})
        };
        bodies.push(request(json!(spec.full_version)).to_string());
        let odd = request(json!(-0.5)).to_string();
        bodies.push(odd.replace("messageId", "message_id").replace("\"ROLE_USER\"", "\"ROLE\\u005fUSER\""));
    }
    bodies.into_iter().map(String::into_bytes).collect()
}

/// Request payloads that are accepted.
fn payloads() -> Vec<Vec<u8>> {
    examples().into_iter().map(|(_, _, payload)| payload.to_string().into_bytes()).collect()
}

fn examples() -> Vec<(&'static ContractSpec, &'static SkillSpec, Value)> {
    let mut all = Vec::new();
    for spec in CONTRACTS {
        let documents = Documents::of(spec.version);
        for skill in SKILL_SPECS {
            let shown = documents.examples(skill.request_schema);
            assert!(!shown.is_empty(), "{} gives no example", skill.request_schema);
            all.extend(shown.iter().map(|payload| (spec, skill, payload.clone())));
        }
    }
    all
}

/// Decisions at random, for targets that know no text.
fn noise() -> Vec<Vec<u8>> {
    let mut dice = Dice(7);
    (0..32).map(|n| dice.bytes(16 + 24 * n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONTRACT_SCHEMAS;

    #[test]
    fn every_skill_of_every_contract_is_served_to_begin_with() {
        for contract in CONTRACT_SCHEMAS.iter() {
            let answers = |body: &Vec<u8>| api::fuzzing::front(body, contract);
            let fronted: Vec<_> = bodies().iter().map(answers).collect();
            let results =
                fronted.iter().filter(|one| one.answer.windows(9).any(|part| part == b"\"result\":"));
            let results = results.count();
            // Its own ones at least; a request of another contract may be good here as well.
            assert!(results >= 2 * SKILL_SPECS.len(), "{}: {results}", contract.spec().version);
            assert!(fronted.iter().filter(|one| one.usual.is_some()).count() * 2 >= fronted.len());
            assert!(fronted.iter().all(|one| one.judged.is_some()));
        }
    }
}
