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
pub const TARGETS: [Target; 6] = [
    Target { name: "front", run: crate::front, seeds: bodies, short: 12_000 },
    Target { name: "cursor", run: crate::cursor, seeds: noise, short: 2_000 },
    Target { name: "requests", run: crate::requests, seeds: payloads, short: 12_000 },
    Target { name: "answers", run: crate::answers, seeds: noise, short: 1_500 },
    Target { name: "feeds", run: crate::feeds, seeds: feeds, short: 3_000 },
    Target { name: "published", run: crate::published, seeds: lots, short: 1_500 },
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

/// Feeds of each kind, whole and with what goes wrong in them.
fn feeds() -> Vec<Vec<u8>> {
    let header = "Stock,VIN,Year,Make,Model,Price,Comments";
    let row = "A1,1HGCM82614A004352,2004,Honda,Accord,\"8,995\",\"Clean, \"\"one owner\"\"\r\ncar\"";
    let table = format!("{header}\r\n{row}\r\n{row}\r\n");
    let broken = format!(
        "{header}\nA1,V,2020,Ford,F-150,1,Lifted 20\" wheels\nA2,V,2020,Ford,F-150,1,\"open\n{row}\n"
    );
    let piped =
        format!("Report\n{}\n{}\nTotal|1\n", header.replace(',', "|"), "A|V|2020|Ford|F|1|35\" tires");
    let wide: Vec<u8> = "\u{feff}"
        .chars()
        .chain(piped.replace('|', "\t").chars())
        .collect::<String>()
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let mut mixed = format!("{header}\nA,V,2020,Citro\u{eb}n,C4,1,x\nB,V,2020,Citro").into_bytes();
    mixed.extend(b"\xebn,C4,1,x\n");
    let vehicle = r#"{"vin":"V","year":2020,"pricing":{"price":"1"},"photos":[{"url":"https://a/1.jpg","order":0}],"a":null}"#;
    let json =
        format!(r#"{{"generated_at":"2026-11-30T05:00:00Z","count":2,"vehicles":[{vehicle},{vehicle}]}}"#);
    let lines = format!("{vehicle}\n{vehicle}\n");
    let listing = "<listing><vin>V</vin><make>F</make><year>2020</year><model><![CDATA[A & B]]></model><image><url>u</url></image><price c='USD'>1 &amp; &#49;</price></listing>";
    let xml = format!("<?xml version=\"1.0\"?><listings><title>Lot</title>{listing}{listing}</listings>");
    let rss = format!("<rss xmlns:g=\"http://base.google.com/ns/1.0\"><channel>{}</channel></rss>",
        "<item><title>t</title><g:title>T</g:title><g:vin>V</g:vin><g:make>F</g:make><g:year>1</g:year></item>".repeat(2));
    let texts = [table, broken, piped, json, lines, xml, rss].map(String::into_bytes);
    texts.into_iter().chain([wide, mixed, Vec::new()]).collect()
}

/// Feeds with vehicles that are published, with cells of every kind.
fn lots() -> Vec<Vec<u8>> {
    let names = "VIN|Stock #|Year|Make|Model|Trim|Type|Certified|Status|Price|MSRP|Miles|Body|Drivetrain|Trans|Fuel|Engine|Engine CC|CityMPG|HighwayMPG|Battery kWh|Electric Range|Motor HP|DC Fast Charge|Charge Port|Ext Color|Int Color|Options|Photos|URL|Description|Date In Stock|Last Update|Dealer ID|Vehicle Type|Title Status";
    let car = "1HGCM82614A004352|A1|2004|HONDA|Accord|EX|Used|0|A|$8,995|23,100|141,200|4dr Car|FWD|A|Gas|2.4L|2354|24|34||||||Red|Tan|Roof;Alloys|https://x.example/1.jpg;http://x.example/2.jpg|https://x.example/1|<b>Clean</b> &amp; one owner|11/3/2026|11/29/2026 11:45 PM|NORTH||clean";
    let electric = "|E7|2024|Kia|EV6|Wind|N||T|48,700|51,325|12|SUV|AWD|1-Speed Automatic|Electric||2000|120|100|77.4|282|320|yes|CCS|Blue|Black||//x.example/e|||||SUV||";
    let old = "6R07C123456|C1|66|FORD|Mustang||U|Y|Sale Pending|TBD||TMU|Coupe||M/T|||||||||||Green||Radio|/no.jpg||Dealer\u{e2}\u{20ac}\u{2122}s|46329||||rebuilt";
    let trailer = "4YMBU0810LG000001|T9|2020|Big Tex|70SR||U|||2,500||||||||||||||||||||||||Trailer|";
    let table = format!("{names}\n{car}\n{electric}\n{old}\n{trailer}\n");
    let quoted = |line: &str| {
        let cells = line.split('|').map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")));
        cells.collect::<Vec<_>>().join(",")
    };
    let commas: String = table.lines().map(|line| quoted(line) + "\r\n").collect();
    let members = |line: &str| -> Value {
        names.split('|').zip(line.split('|')).map(|(name, cell)| (name.to_owned(), json!(cell))).collect()
    };
    let json = json!([members(car), members(electric), members(old), members(trailer)]).to_string();
    let tags = |line: &str| -> String {
        let tag = |(name, cell): (&str, &str)| {
            let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            let cell = cell.replace('&', "&amp;").replace('<', "&lt;");
            format!("<{name}>{cell}</{name}>")
        };
        format!("<listing>{}</listing>", names.split('|').zip(line.split('|')).map(tag).collect::<String>())
    };
    let xml = format!("<listings>{}{}</listings>", tags(car), tags(electric));
    [table, commas, json, xml].map(String::into_bytes).into_iter().collect()
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
