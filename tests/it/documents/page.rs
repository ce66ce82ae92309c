//! The page itself.

use std::fmt::Write as _;

use contract::{CONTRACTS, ContractVersion, SKILL_SPECS, SkillId};
use serde_json::Value;
use testkit::Platform;

use super::calls::{Call, request};
use super::errors;
use super::fixture::{SKILLS, Times, settled};
use super::pretty::Node;
use super::words::ROWS;

const INTRO: &str = "\
# Three contract versions side by side

<!-- Written from real calls by tests/it/documents; UPDATE_DOCS=1 cargo test -p platform-tests --test it page -->

A dealer can be reached under every contract version that it publishes, at the same time: the same skills, the same
stock, the same leads. A version has an address and a card of its own below the dealer's base address:

| | address | Agent Card |
|---|---|---|
";

const ADDRESSES: &str = "
`{base}.well-known/agent-card.json` and `{base}a2a` are those of the dealer's `default_contract`. The contract is that
of the address, whatever a request says. The schemas of each version are served beside its endpoint, as
`{base}v1.3/schemas/`; those at `{base}schemas/` are of the default one.

All answers on this page are real ones, of a platform with the dealer `tidewater`. Only ids and times, which differ
each time, have been exchanged. Where versions say the same, it is shown once.

## What differs

";

/// Asks everything and writes it down.
pub async fn page(platform: &Platform) -> String {
    let mut page = INTRO.to_owned();
    for spec in CONTRACTS {
        let v = spec.version;
        writeln!(page, "| `{v}` | `{{base}}{v}/a2a` | `{{base}}{v}/.well-known/agent-card.json` |").unwrap();
    }
    page.push_str(ADDRESSES);
    table(
        &mut page,
        "",
        ROWS.iter().map(|(about, words)| (about.to_string(), CONTRACTS.iter().map(words).collect())),
    );
    page.push_str("\nEvery error with its number in each version: [errors.md](errors.md).\n\n");
    headers(&mut page, platform).await;
    whole_call(&mut page, platform).await;
    skills(&mut page, platform).await;
    errors::write(&mut page, platform).await;
    while page.ends_with("\n\n") {
        page.pop();
    }
    page
}

fn table(page: &mut String, corner: &str, rows: impl Iterator<Item = (String, Vec<String>)>) {
    let heads: String = CONTRACTS.iter().map(|spec| format!(" `{}` |", spec.version)).collect();
    writeln!(page, "| {corner} |{heads}\n|---|{}", "---|".repeat(CONTRACTS.len())).unwrap();
    for (about, cells) in rows {
        writeln!(page, "| {about} | {} |", cells.join(" | ")).unwrap();
    }
}

async fn headers(page: &mut String, platform: &Platform) {
    page.push_str("## Headers, tried out\n\nA search with different headers, and what became of it:\n\n");
    let body = request(SkillId::InventorySearch, r#"{"type":"inventory.search.request"}"#);
    let other = "https://autoagentprotocol.org/extensions/aap/v0.9";
    // What the row says, and the two headers; `own` is the URI of the version that is asked.
    let tries: [(&str, Option<&str>, Option<&str>); 7] = [
        ("neither header", None, None),
        ("`A2A-Version: 1.0` alone", Some("1.0"), None),
        ("both, the extension's URI of the version", Some("1.0"), Some("own")),
        ("both, its URI in a list with others", Some("1.0.1"), Some("https://elsewhere.example/x, own")),
        ("both, the URI of a version that is not that of the address", Some("1.0"), Some(other)),
        ("`A2A-Version: 0.3`", Some("0.3"), Some("own")),
        ("`A2A-Version:` without a value", Some(""), Some("own")),
    ];
    let mut rows = Vec::new();
    for (about, version, extensions) in tries {
        let mut cells = Vec::new();
        for spec in CONTRACTS {
            let extensions = extensions.map(|value| value.replace("own", spec.extension_uri));
            let call = Call::new("tidewater", spec.version, &body);
            let call = Call { headers: [version, extensions.as_deref()], ..call };
            let (_, text) = call.send(platform).await;
            let answer: Value = serde_json::from_str(&text).unwrap();
            cells.push(match answer.pointer("/error/code") {
                None => "served".to_owned(),
                Some(code) => {
                    format!("{code}, `{}`", answer.pointer("/error/data/0/reason").unwrap().as_str().unwrap())
                }
            });
        }
        rows.push((about.to_owned(), cells));
    }
    table(page, "", rows.into_iter());
    page.push('\n');
}

async fn whole_call(page: &mut String, platform: &Platform) {
    let times = Times::now();
    let version = ContractVersion::V3_0;
    let body =
        request(SkillId::InventoryVehicle, r#"{"type":"inventory.vehicle.request","stock":"TW-2318"}"#);
    let answer = Call::new("tidewater", version, &body).answer(platform, &times).await;
    let uri = version.spec().unwrap().extension_uri;
    write!(
        page,
        "## A call, whole\n\nThe envelope is that of A2A 1.0 over JSON-RPC, the same in every version. Below, only the \
         payloads are shown: what stands\nin `params.message.parts[0].data` and in `result.message.parts[0].data`.\n\n\
         ```http\nPOST /t/tidewater/{version}/a2a\nContent-Type: application/json\nA2A-Version: 1.0\n\
         A2A-Extensions: {uri}\n\n{}\n```\n\n```json\n{}\n```\n\n",
        Node::read(&body).print(),
        answer.print(),
    )
    .unwrap();
    page.push_str("| skill | media type of the request part | media type of the answer |\n|---|---|---|\n");
    for skill in SKILL_SPECS {
        let (request, answer) = (skill.request_media_type, skill.response_media_type);
        writeln!(page, "| `{}` | `{request}` | `{answer}` |", skill.id).unwrap();
    }
    page.push('\n');
}

async fn skills(page: &mut String, platform: &Platform) {
    for shown in &SKILLS {
        let mut told = Vec::new();
        for spec in CONTRACTS {
            let times = Times::now();
            let payload = (shown.payload)(spec.version, &times);
            let body = request(shown.skill, &payload);
            let answer = Call::new("tidewater", spec.version, &body).answer(platform, &times).await;
            let asked = Node::read(&payload);
            let asked = settled(asked, &times).print();
            let answered = answer.at("result/message/parts/0/data").print();
            let text = format!("{}\nAnswer:\n\n{}", fenced("json", &asked), fenced("json", &answered));
            told.push((spec.version, text));
        }
        writeln!(page, "## `{}`\n", shown.skill).unwrap();
        prose(page, shown.about);
        grouped(page, told, "Request");
    }
}

/// Versions with the same text share it: their names in words, and the text.
pub fn groups(told: Vec<(ContractVersion, String)>) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<ContractVersion>, String)> = Vec::new();
    for (version, text) in told {
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((versions, _)) => versions.push(version),
            None => groups.push((vec![version], text)),
        }
    }
    let named = |(versions, text): (Vec<ContractVersion>, String)| {
        let names: Vec<_> = versions.iter().map(|version| format!("`{version}`")).collect();
        let names = match names.as_slice() {
            all if all.len() == CONTRACTS.len() => "in every version".to_owned(),
            [first @ .., last] if !first.is_empty() => format!("in {} and {last}", first.join(", ")),
            one => format!("in {}", one.join("")),
        };
        (names, text)
    };
    groups.into_iter().map(named).collect()
}

pub fn grouped(page: &mut String, told: Vec<(ContractVersion, String)>, what: &str) {
    for (versions, text) in groups(told) {
        writeln!(page, "**{what} {versions}**\n\n{text}").unwrap();
    }
}

/// A paragraph in lines of a width that suits an editor.
pub fn prose(page: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        if width > 0 && width + 1 + word.chars().count() > 116 {
            page.push('\n');
            width = 0;
        } else if width > 0 {
            page.push(' ');
            width += 1;
        }
        page.push_str(word);
        width += word.chars().count();
    }
    page.push_str("\n\n");
}

pub fn fenced(kind: &str, text: &str) -> String {
    format!("```{kind}\n{text}\n```\n")
}
