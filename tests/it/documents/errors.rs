//! The errors of the page: one of each kind.

use std::fmt::Write as _;

use contract::ContractVersion::{self, Latest, V1_3, V3_0};
use contract::{CONTRACTS, SkillId};
use testkit::Platform;

use super::calls::{Call, request};
use super::fixture::{Times, settled};
use super::page::{fenced, grouped, groups, prose};
use super::pretty::Node;

/// An error that is shown: what about it, who is asked, with which payload of which skill, and how the request is
/// bent before it is sent.
struct Wrong {
    title: &'static str,
    about: &'static str,
    slug: &'static str,
    skill: SkillId,
    payload: &'static str,
    bend: Option<(&'static str, &'static str)>,
    /// Calls that are made before it.
    before: usize,
    versions: &'static [ContractVersion],
    /// Whether the whole `error` is shown in each version, not only what the versions share.
    whole: bool,
}

impl Wrong {
    const fn new(title: &'static str, about: &'static str, skill: SkillId, payload: &'static str) -> Wrong {
        let versions = &[V1_3, Latest, V3_0];
        Wrong {
            title,
            about,
            slug: "tidewater",
            skill,
            payload,
            bend: None,
            before: 0,
            versions,
            whole: false,
        }
    }
}

const INFORMATION: &str = r#"{"type":"dealer.information.request"}"#;

fn wrongs() -> Vec<Wrong> {
    use SkillId::{DealerInformation, InventorySearch, InventoryVehicle, LeadSubmit};
    let everywhere = "The same in every version; no AAP error is in it.";
    vec![
        Wrong {
            bend: Some(("\"ROLE_USER\"", "\"user\"")),
            ..Wrong::new("An envelope that is wrong", everywhere, DealerInformation, INFORMATION)
        },
        Wrong {
            bend: Some(("SendMessage", "SendStreamingMessage")),
            ..Wrong::new(
                "An operation of A2A that is not offered",
                everywhere,
                DealerInformation,
                INFORMATION,
            )
        },
        Wrong {
            bend: Some(("dealer-information-response", "x-response")),
            ..Wrong::new(
                "An answer that the buyer could not read",
                everywhere,
                DealerInformation,
                INFORMATION,
            )
        },
        Wrong {
            whole: true,
            ..Wrong::new(
                "A payload that breaks its schema",
                "Every problem is named, not only the first. Shown whole, since each version puts the AAP error \
                 object in a place of its own.",
                InventorySearch,
                r#"{"type":"inventory.search.request","filters":{"colour":["red"]},"pagination":{"limit":0}}"#,
            )
        },
        Wrong::new(
            "A vehicle that nobody has",
            "Of -32000 one official SDK shows its callers nothing but the message, which therefore begins with the code.",
            InventoryVehicle,
            r#"{"type":"inventory.vehicle.request","stock":"TW-9999"}"#,
        ),
        Wrong::new(
            "A lead without consent",
            "Nothing is stored.",
            LeadSubmit,
            r#"{"type":"lead.submit.request","customer":{"first_name":"Ilse","last_name":"Marchetti","email":"ilse.marchetti@post.example"},"source_agent":{"name":"kestrel-car-finder"}}"#,
        ),
        Wrong {
            slug: "showroom",
            ..Wrong::new(
                "A skill that the dealer does not offer",
                "Each version has a number of its own for it. In `latest` it is also that of an A2A operation which \
                 is not offered: only the AAP error tells the two apart.",
                LeadSubmit,
                r#"{"type":"lead.submit.request"}"#,
            )
        },
        Wrong {
            slug: "busy",
            before: 3,
            ..Wrong::new(
                "Too many calls",
                "The dealer allows three in an hour. `retry_after_ms` is the time after which the next one succeeds.",
                DealerInformation,
                INFORMATION,
            )
        },
        Wrong {
            slug: "broken",
            ..Wrong::new(
                "A failure inside",
                "The `error_id` is in the platform's log, with the cause.",
                DealerInformation,
                INFORMATION,
            )
        },
        Wrong {
            versions: &[V3_0],
            ..Wrong::new(
                "A cursor that is not good here",
                "`details.reason` is `malformed`, `expired` or `mismatch`.",
                InventorySearch,
                r#"{"type":"inventory.search.request","pagination":{"cursor":"made-up"}}"#,
            )
        },
    ]
}

pub async fn write(page: &mut String, platform: &Platform) {
    page.push_str("## Errors\n\n");
    prose(
        page,
        "They come with HTTP status 200, with one exception: who is not let in gets status 401, at the end of \
        this page. All codes and numbers: [errors.md](errors.md).",
    );
    for wrong in wrongs() {
        let mut told = Vec::new();
        for version in wrong.versions {
            let mut body = request(wrong.skill, wrong.payload);
            if let Some((from, to)) = wrong.bend {
                assert!(body.contains(from));
                body = body.replace(from, to);
            }
            let call = Call::new(wrong.slug, *version, &body);
            // A quota counts all versions of a dealer together, and is used up by the first one.
            let before = if told.is_empty() { wrong.before } else { 0 };
            for _ in 0..before {
                assert_eq!(call.send(platform).await.0, 200);
            }
            let answer = call.answer(platform, &Times::now()).await;
            told.push((*version, answer.at("error").clone()));
        }
        writeln!(page, "### {}\n", wrong.title).unwrap();
        prose(page, wrong.about);
        match wrong.bend {
            None => writeln!(page, "```json\n{}\n```\n", Node::read(wrong.payload).print()).unwrap(),
            Some((from, to)) => {
                let bare = |text: &str| text.trim_matches('"').to_owned();
                writeln!(page, "Asked with `{}` instead of `{}`.\n", bare(to), bare(from)).unwrap();
            }
        }
        match told.iter().map(|(version, error)| Some((*version, aap_of(error)?))).collect::<Option<Vec<_>>>()
        {
            Some(aap) if !wrong.whole => {
                numbers(page, &told);
                grouped(page, aap, "The AAP error");
            }
            _ => {
                let whole = told.iter().map(|(version, error)| (*version, fenced("json", &error.print())));
                grouped(page, whole.collect(), "`error`");
            }
        }
    }
    not_let_in(page, platform).await;
}

/// The AAP error object of an `error`, without the tag that one version gives it.
fn aap_of(error: &Node) -> Option<String> {
    let is = |members: &[(String, Node)]| {
        members.iter().any(|(key, value)| key == "type" && *value == Node::Plain("\"aap.error\"".into()))
    };
    let Node::Object(mut members) = error.find(&is)?.clone() else { return None };
    members.retain(|(key, _)| key != "@type");
    Some(fenced("json", &Node::Object(members).print()))
}

/// `error.code` and `error.message`, where they differ and where they do not.
fn numbers(page: &mut String, told: &[(ContractVersion, Node)]) {
    let text = told.iter().map(|(version, error)| {
        (
            *version,
            format!(
                "`error.code` {}, `error.message` {}",
                error.at("code").print(),
                error.at("message").print()
            ),
        )
    });
    let all: Vec<(String, String)> = groups(text.collect());
    let said: Vec<String> = all.into_iter().map(|(versions, text)| format!("{versions}: {text}")).collect();
    for (at, line) in said.iter().enumerate() {
        let mut first = line.chars();
        let line: String = first.next().into_iter().flat_map(char::to_uppercase).chain(first).collect();
        writeln!(page, "{line}{}", if at + 1 < said.len() { "  " } else { "\n" }).unwrap();
    }
}

async fn not_let_in(page: &mut String, platform: &Platform) {
    let body = request(SkillId::DealerInformation, INFORMATION);
    let mut told = Vec::new();
    for spec in CONTRACTS {
        let asking = platform.ask_in(spec.version, "guarded", serde_json::json!({}));
        let response = asking.raw(body.clone()).await;
        let status = response.status();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let (challenge, kind) = (header("www-authenticate"), header("content-type"));
        let problem = settled(Node::read(&response.text().await.unwrap()), &Times::now()).print();
        let reason = status.canonical_reason().unwrap();
        let head = format!("HTTP/1.1 {} {reason}\nContent-Type: {kind}\n", status.as_u16());
        told.push((
            spec.version,
            fenced("http", &format!("{head}WWW-Authenticate: {challenge}\n\n{problem}")),
        ));
    }
    page.push_str("### Not let in\n\n");
    prose(
        page,
        "A dealer can ask for a key or a token; its card says so. Without one no skill runs, whatever the request.",
    );
    grouped(page, told, "Answer");
}
