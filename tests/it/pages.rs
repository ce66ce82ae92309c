//! The pages for people: what they print works, and no dealer's words get out of their place.

use std::process::Command;

use serde_json::{Value, json};
use testkit::car;

use crate::ground::{ground, lot, settle};

async fn page(path: &str) -> String {
    let platform = ground().await;
    let response = platform.http.get(format!("{}{path}", platform.origin)).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"));
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    response.text().await.unwrap()
}

/// The commands of a page as a person would copy them.
fn commands(html: &str) -> Vec<String> {
    let blocks = html.split("<pre").skip(1);
    blocks.map(|block| unescaped(block.split_once('>').unwrap().1.split("</pre>").next().unwrap())).collect()
}

fn unescaped(html: &str) -> String {
    let text = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}

/// Runs commands in a shell; each must answer with JSON.
async fn run(commands: Vec<String>) -> Vec<Value> {
    let ran = tokio::task::spawn_blocking(move || {
        let shell = |command: &String| {
            let output =
                Command::new("sh").args(["-c", command]).env("no_proxy", "*").output().expect("a shell");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{command}: {text}");
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON from {command}: {text}"))
        };
        commands.iter().map(shell).collect()
    });
    ran.await.unwrap()
}

#[tokio::test]
async fn what_the_pages_print_works_in_a_shell() {
    let quote = "it's \"a\" $(touch /tmp/forecourt-pwned) `id` \\ \n ü %s !x";
    let search = json!({"sort_fields": ["year"]});
    let stock = json!([car("a", "Honda", "Civic", 20000)]);
    let rooftops = json!([{"name": "R"}]);
    settle(json!({
        // The first of all is the example of the platform's page; those of other tests may have no calls left.
        "0-shown": {"name": "Shown", "rooftops": rooftops, "inventory": stock},
        "quoted": {"name": "Quoted", "interface_tenant": quote, "rooftops": rooftops, "inventory": stock},
        "by-year": {"name": "By Year", "rooftops": rooftops, "inventory": stock, "policy": {"search": search}},
        "only-profile": {"name": "Profile", "rooftops": rooftops, "inventory": stock, "skills": ["dealer.information"]},
    }))
    .await;
    for (path, searches) in [
        ("/t/harbor/", true),
        ("/t/harbor", true),
        ("/t/harbor/v3.0/", true),
        ("/t/quoted/", true),
        ("/t/by-year/", true),
        ("/t/only-profile/", false),
        ("/t/empty/", true),
    ] {
        let printed = commands(&page(path).await);
        assert_eq!(printed.len(), if searches { 2 } else { 1 }, "{path}");
        let answers = run(printed).await;
        assert!(answers[0]["supportedInterfaces"][0]["url"].is_string(), "{path}");
        if searches {
            let found = &answers[1]["result"]["message"]["parts"][0]["data"]["data"];
            assert!(found["total"].is_u64(), "{path}: {}", answers[1]);
        }
    }
    let printed = commands(&page("/").await);
    assert_eq!(printed.len(), 2);
    let answers = run(printed).await;
    assert!(answers[0]["skills"].is_array() && answers[1].get("result").is_some(), "{answers:?}");
    assert!(!std::path::Path::new("/tmp/forecourt-pwned").exists());
}

#[tokio::test]
async fn a_dealer_s_words_stay_words() {
    let names = [
        "</title><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "&lt;b&gt; &amp; & <b>",
        "<!-- ",
        "a\u{0}b".trim_matches('a'),
    ];
    for (i, name) in names.iter().enumerate().filter(|(_, name)| !name.contains('\0')) {
        let slug = format!("words-{i}");
        let dealer = json!({"name": name, "welcome_message": name, "interface_tenant": name,
            "rooftops": [{"name": name, "notes": name, "address": {"city": name}}], "inventory": []});
        settle(json!({ slug.clone(): dealer })).await;
        // The one element of that name holds the dealer as schema.org has it, which no browser runs.
        let html =
            page(&format!("/t/{slug}/")).await.replacen("<script type=\"application/ld+json\">", "", 1);
        for bad in ["<script", "<img", "onmouseover='", "<b>", "<!-- "] {
            assert!(!html.contains(bad), "{bad}: {html}");
        }
        let heading = html.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
        assert_eq!(unescaped(heading), **name);
        // And the same words are on the card, as text.
        assert_eq!(ground().await.card(&slug).await["name"], *name);
    }
}

#[tokio::test]
async fn a_page_says_where_things_are_and_can_be_asked_by_head() {
    let platform = ground().await;
    let html = page("/t/harbor/").await;
    for address in ["/.well-known/agent-card.json", "/v3.0/a2a", testkit::EXTENSION, "lead.submit"] {
        assert!(html.contains(address), "{address}");
    }
    assert!(html.contains("rel=alternate"));
    let overview = page("/").await;
    assert!(overview.contains(&format!("{}/t/", platform.origin)));
    for path in ["/", "/t/harbor/"] {
        let head = platform.http.head(format!("{}{path}", platform.origin)).send().await.unwrap();
        assert_eq!(head.status(), 200);
        assert!(head.bytes().await.unwrap().is_empty());
    }
    assert_eq!(lot().as_array().unwrap().len(), 7);
}
