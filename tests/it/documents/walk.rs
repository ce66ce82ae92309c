//! `docs/walkthrough.md`: one shopper's way through each interface, with what it answers.

use std::fmt::Write as _;

use contract::{ContractVersion, SkillId};
use serde_json::{Value, json};
use testkit::Platform;

use super::calls::{Call, request};
use super::fixture::{GRANTED_AT, Times, VISIT_AT, dealers, settled};
use super::page::{fenced, prose};
use super::pretty::Node;

const INTRO: &str = "\
# A shopper's walk through each interface

<!-- Written from real calls by tests/it/documents/walk.rs; UPDATE_DOCS=1 cargo test -p platform-tests --test it walk -->

";

const KEYS: [&str; 3] = [
    "b1d7f0c2-5a0e-4f6c-8e3d-6a2b9c4d1e7f",
    "0f6c2f8e-93d4-4a27-b0a5-4d1f3c7e9b21",
    "7a9e4d10-1c3b-4e58-9f62-8b5d0c6e2f34",
];

/// One thing that the shopper wants to know, or to have done.
struct Step {
    title: &'static str,
    about: &'static str,
    skill: SkillId,
    /// Without `type`.
    payload: String,
    /// Where the same is read with GET.
    get: Option<&'static str>,
}

/// The walk at one door; `at` tells its shopper from those at the others, who would be the same one otherwise.
fn steps(at: usize) -> [Step; 4] {
    let key = KEYS[at];
    [
        Step {
            title: "What is there?",
            about: "Values and counts of everything below $30,000: only these values are worth filtering by.",
            skill: SkillId::InventoryFacets,
            payload: r#"{"filters":{"price_max":30000}}"#.into(),
            get: Some("facets?price_max=30000"),
        },
        Step {
            title: "A narrow search",
            about: "Subarus below $30,000, the dearest first, one a page.",
            skill: SkillId::InventorySearch,
            payload: r#"{"filters":{"make":["Subaru"],"price_max":30000},"sort":{"field":"price","order":"desc"},"pagination":{"limit":1}}"#.into(),
            get: Some("inventory?make=Subaru&price_max=30000&sort=price&order=desc&limit=1"),
        },
        Step {
            title: "One vehicle",
            about: "Everything about the first one, by the `vehicle_id` that the search gave.",
            skill: SkillId::InventoryVehicle,
            payload: r#"{"vehicle_id":"tw-1"}"#.into(),
            get: Some("inventory/tw-1"),
        },
        Step {
            title: "A lead",
            about: "The shopper agrees to be written to and wants to drive it.",
            skill: SkillId::LeadSubmit,
            payload: format!(
                r#"{{"customer":{{"first_name":"Ilse","last_name":"Marchetti","email":"ilse.{at}@post.example"}},"consent":{{"granted_at":"{GRANTED_AT}","allowed_channels":["email"],"consent_text":"Tidewater Motors may email me about stock TW-2204.","scope":["lead_submission"]}},"source_agent":{{"name":"kestrel-car-finder"}},"vehicle_of_interest":{{"vehicle_id":"tw-1"}},"appointment":{{"appointment_type":"test_drive","appointment_at":"{VISIT_AT}"}},"idempotency_key":"{key}"}}"#
            ),
            get: None,
        },
    ]
}

const V: ContractVersion = ContractVersion::V3_0;

#[tokio::test]
async fn the_walk_is_what_each_interface_answers() {
    let platform = Platform::start().await;
    let mut dealer = dealers()["tidewater"].take();
    dealer["policy"]["clock"] = json!("2026-12-01T09:00:00Z");
    platform.provision(&json!({ "tidewater": dealer })).await;
    let mut page = INTRO.to_owned();
    prose(
        &mut page,
        "A shopper's agent asks a dealer what there is, searches, looks at one vehicle and leaves a lead, three \
         times: through A2A, MCP and plain HTTP. The payloads are the same at each door, and so are the answers \
         (`tests/it/parity` holds them against each other); what differs is what stands around them. All answers \
         are real ones of the dealer `tidewater` in contract `v3.0`; only ids and texts that are new each time have \
         been exchanged. The dealer is asked on 1 December 2026.",
    );
    a2a(&mut page, &platform).await;
    mcp(&mut page, &platform).await;
    http(&mut page, &platform).await;
    platform.stop().await;
    page.truncate(page.trim_end().len());
    page.push('\n');
    super::is_written("walkthrough.md", &page);
}

/// As it is printed: what is new each time exchanged, in a good order.
fn shown(node: Node) -> Node {
    let times = Times { granted_at: GRANTED_AT.into(), visit_at: VISIT_AT.into() };
    let mut node = settled(node, &times);
    node.mask(&|key, _| (key == "idempotency_key").then(|| format!("\"{}\"", KEYS[0])));
    node
}

fn title(page: &mut String, step: &Step, number: usize) {
    writeln!(page, "### {}. {}\n", number + 1, step.title).unwrap();
    prose(page, step.about);
}

async fn a2a(page: &mut String, platform: &Platform) {
    page.push_str("## A2A\n\n");
    prose(
        page,
        "The dealer's Agent Card at `{base}.well-known/agent-card.json` names the endpoint, the skills and the \
         extension. The first call is shown whole, of the others the payloads alone: \
         `params.message.parts[0].data` and `result.message.parts[0].data`.",
    );
    for (number, step) in steps(0).iter().enumerate() {
        title(page, step, number);
        let payload = format!("{{\"type\":\"{}\",{}", step.skill.spec().request_type, &step.payload[1..]);
        let body = request(step.skill, &payload);
        let (status, text) = Call::new("tidewater", V, &body).send(platform).await;
        assert_eq!(status, 200);
        let (asked, answer) = (shown(Node::read(&body)), shown(Node::read(&text)));
        if number == 0 {
            let uri = V.spec().unwrap().extension_uri;
            let head =
                format!("POST /t/tidewater/{V}/a2a\nContent-Type: application/json\nA2A-Version: 1.0\n");
            let head = format!("{head}A2A-Extensions: {uri}\n\n{}", asked.print());
            writeln!(page, "{}\n{}", fenced("http", &head), fenced("json", &answer.print())).unwrap();
        } else {
            let asked = asked.at("params/message/parts/0/data").print();
            let answer = answer.at("result/message/parts/0/data").print();
            writeln!(page, "{}\n{}", fenced("json", &asked), fenced("json", &answer)).unwrap();
        }
    }
}

async fn mcp(page: &mut String, platform: &Platform) {
    page.push_str("## MCP\n\n");
    prose(
        page,
        "An assistant is given the address `{base}mcp`, finds the tools by `tools/list`, and calls them. Tools take \
         the payload without its `type`. The first call is shown as it is sent, of the others `params`. Of the \
         results, the text of `content` comes first, which clients show that show text, then the rest.",
    );
    for (number, step) in steps(1).iter().enumerate() {
        title(page, step, number);
        let tool = format!("aap_{}", step.skill.as_str().replace('.', "_"));
        let params = format!(r#"{{"name":"{tool}","arguments":{}}}"#, step.payload);
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{params}}}"#, number + 1);
        let text = tool_call(platform, &body).await;
        let asked = shown(Node::read(&body));
        if number == 0 {
            let head = format!(
                "POST /t/tidewater/{V}/mcp\nContent-Type: application/json\n\
                 Accept: application/json, text/event-stream\nMCP-Protocol-Version: 2025-11-25\n\n{}",
                asked.print()
            );
            page.push_str(&fenced("http", &head));
        } else {
            page.push_str(&fenced("json", &asked.at("params").print()));
        }
        let answer = shown(Node::read(&exchanged(&text)));
        let whole: Value = serde_json::from_str(&exchanged(&text)).unwrap();
        let words = whole["result"]["content"][0]["text"].as_str().unwrap();
        let Node::Object(mut members) = answer.at("result").clone() else { panic!("{text}") };
        assert_eq!(whole["result"]["content"].as_array().map(Vec::len), Some(1));
        members.retain(|(name, _)| name != "content");
        let rest = Node::Object(members).print();
        writeln!(page, "\n{}\n{}", fenced("text", words), fenced("json", &rest)).unwrap();
    }
}

/// An answer of a tool whose text has the same ids and cursors as the page has elsewhere.
fn exchanged(text: &str) -> String {
    let answer: Value = serde_json::from_str(text).unwrap();
    let data = &answer["result"]["structuredContent"]["data"];
    let settled =
        settled(Node::read(text), &Times { granted_at: GRANTED_AT.into(), visit_at: VISIT_AT.into() });
    let mut text = text.to_owned();
    for place in ["lead_id", "appointment/appointment_id", "next_cursor"] {
        if let Some(raw) = data.pointer(&format!("/{place}")).and_then(Value::as_str) {
            let other = settled.at(&format!("result/structuredContent/data/{place}")).print();
            text = text.replace(raw, other.trim_matches('"'));
        }
    }
    text
}

async fn tool_call(platform: &Platform, body: &str) -> String {
    let request = platform.http.post(format!("{}{V}/mcp", platform.base("tidewater")));
    let request = request.header("content-type", "application/json").body(body.to_owned());
    let request = request.header("accept", "application/json, text/event-stream");
    let response = request.header("mcp-protocol-version", "2025-11-25").send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

async fn http(page: &mut String, platform: &Platform) {
    page.push_str("## Plain HTTP\n\n");
    prose(
        page,
        "`{base}openapi.json` describes everything that follows. What only reads is read with GET; \
         `POST {base}skills/{skill id}` takes any payload, also of these.",
    );
    let mut lead = None;
    for (number, step) in steps(2).iter().enumerate() {
        title(page, step, number);
        let base = format!("{}{V}/", platform.base("tidewater"));
        let post = format!("{base}skills/{}", step.skill);
        let posting = platform.http.post(&post).header("content-type", "application/json");
        let posting = posting.body(step.payload.clone());
        let (asked, response) = match step.get {
            Some(target) => {
                let response = platform.http.get(format!("{base}{target}")).send().await.unwrap();
                // The other way of asking says the same.
                let posted: Value = posting.send().await.unwrap().json().await.unwrap();
                let read: Value =
                    platform.http.get(format!("{base}{target}")).send().await.unwrap().json().await.unwrap();
                let known = |mut value: Value| {
                    value["data"]["next_cursor"] = value["data"]["next_cursor"].is_string().into();
                    value
                };
                assert_eq!(known(posted), known(read));
                (format!("GET /t/tidewater/{V}/{target}"), response)
            }
            None => {
                let payload = shown(Node::read(&step.payload)).print();
                let head =
                    format!("POST /t/tidewater/{V}/skills/{}\nContent-Type: application/json\n", step.skill);
                (format!("{head}\n{payload}"), posting.send().await.unwrap())
            }
        };
        assert_eq!(response.status(), 200);
        let header =
            |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let mut head = "HTTP/1.1 200 OK\n".to_owned();
        for (shown, name) in
            [("Content-Type", "content-type"), ("Cache-Control", "cache-control"), ("Link", "link")]
        {
            if let Some(value) = header(name) {
                writeln!(head, "{shown}: {}", value.replace(&platform.origin, "https://dealers.example"))
                    .unwrap();
            }
        }
        let text = response.text().await.unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let answer = shown(Node::read(&text));
        if let Some(cursor) = value["data"]["next_cursor"].as_str() {
            assert!(head.contains(cursor), "{head}");
            head = head.replace(cursor, answer.at("data/next_cursor").print().trim_matches('"'));
        }
        let told = format!("{head}\n{}", answer.print());
        writeln!(page, "{}\n{}", fenced("http", &asked), fenced("http", &told)).unwrap();
        lead = Some((step.payload.clone(), value));
    }
    // The lead is the last step.
    let (payload, taken) = lead.unwrap();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"aap_lead_submit","arguments":{payload}}}}}"#
    );
    let again: Value = serde_json::from_str(&tool_call(platform, &body).await).unwrap();
    assert_eq!(again["result"]["structuredContent"], taken);
    prose(
        page,
        "An agent that does not know whether its lead arrived sends it again, with the same `idempotency_key` and \
         through whichever door: it gets this answer again, and there is one lead. Ways to be refused, with their \
         answers: [contracts.md](contracts.md), [mcp.md](mcp.md), [http.md](http.md).",
    );
}
