//! Every address of every dealer, and those that are not there (AAP.md 13, 15; A2A.md 13; field reports 37, 38).

use serde_json::{Value, json};
use server::settings::Settings;
use testkit::{Options, Platform, Reply, Wire, car};
use tokio::sync::OnceCell;

use crate::ground::{ground, information, lasting, lonely_client, settle};

/// Where a card is, below a base without its slash.
pub const CARD: &str = "/.well-known/agent-card.json";

/// A dealer with one car, and further members.
pub fn dealer(name: &str, more: Value) -> Value {
    let mut dealer =
        json!({"name": name, "rooftops": [{"name": "R"}], "inventory": [car("a", "Honda", "Civic", 1)]});
    for (key, value) in more.as_object().unwrap() {
        dealer[key] = value.clone();
    }
    dealer
}

/// A platform whose dealers have hosts of their own below `cars.localhost`, and some their own domains.
async fn hosts() -> &'static Platform {
    static HOSTS: OnceCell<Platform> = OnceCell::const_new();
    HOSTS
        .get_or_init(|| {
            lasting(async {
                let settings = Settings { platform_domain: Some("cars.localhost".into()), ..Settings::default() };
                let mut platform = Platform::start_with(Options { settings, ..Options::default() }).await;
                platform.http = lonely_client();
                let tenants = json!({
                    "plain": dealer("Plain", json!({})),
                    "owner": dealer("Owner", json!({"domains": ["agent.owner.example", "cars.owner.example"]})),
                    "on-leave": dealer("On Leave", json!({"state": "suspended", "domains": ["leave.example"]})),
                    "long-gone": dealer("Long Gone", json!({"state": "removed", "domains": ["gone.example"]})),
                });
                platform.provision(&tenants).await;
                platform
            })
        })
        .await
}

/// Asks for a path with a `Host` of the test's choice.
pub async fn at(
    platform: &Platform,
    host: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Reply {
    let own = platform.origin.trim_start_matches("http://");
    let mut all = vec![("host", if host.is_empty() { own } else { host })];
    all.extend_from_slice(headers);
    let body = testkit::request_body(information()).to_string();
    let body = if method == "POST" { body.as_bytes() } else { b"" };
    Wire::to(&platform.origin).send(method, path, &all, body).await
}

/// Reads a path.
pub async fn get(platform: &Platform, host: &str, path: &str) -> Reply {
    at(platform, host, "GET", path, &[]).await
}

/// Every way to a dealer's base, as host and path without a trailing slash.
fn ways(slug: &str, platform_domain: &str, domains: &[&str]) -> Vec<(String, String)> {
    let mut ways = vec![
        (String::new(), format!("/t/{slug}")),
        (format!("{slug}.{platform_domain}"), String::new()),
        (format!("{slug}.{platform_domain}:8080"), String::new()),
        (format!("{}.{platform_domain}.", slug.to_uppercase()), String::new()),
        ("whatever.example".to_owned(), format!("/t/{slug}")),
    ];
    ways.extend(domains.iter().map(|domain| ((*domain).to_owned(), String::new())));
    ways
}

#[tokio::test]
async fn one_card_has_the_same_bytes_at_every_address() {
    let (first, second) = (ground().await, hosts().await);
    let dealers = [
        (first, "harbor", "localhost", &[][..], format!("{}/t/harbor/v3.0/a2a", first.origin)),
        (second, "plain", "cars.localhost", &[], {
            let port = second.origin.rsplit(':').next().unwrap();
            format!("http://plain.cars.localhost:{port}/v3.0/a2a")
        }),
        (
            second,
            "owner",
            "cars.localhost",
            &["agent.owner.example", "cars.owner.example"],
            "https://agent.owner.example/v3.0/a2a".to_owned(),
        ),
    ];
    for (platform, slug, suffix, domains, canonical) in dealers {
        let mut seen: Option<Reply> = None;
        for (host, base) in ways(slug, suffix, domains) {
            for path in [
                format!("{base}{CARD}"),
                format!("{base}{CARD}/"),
                format!("{base}/v3.0{CARD}"),
                format!("{base}/v3.0{CARD}/"),
            ] {
                let reply = get(platform, &host, &path).await;
                assert_eq!(reply.status, 200, "{host}{path}");
                assert_eq!(reply.header("content-type"), Some("application/json"));
                if let Some(first) = &seen {
                    assert_eq!(reply.body, first.body, "{host}{path}");
                    for name in ["etag", "last-modified", "cache-control"] {
                        assert_eq!(reply.header(name), first.header(name), "{host}{path}");
                    }
                }
                seen = Some(reply);
            }
            // What the card promises is there: the endpoint and the page, with and without a slash.
            for path in [
                format!("{base}/a2a"),
                format!("{base}/a2a/"),
                format!("{base}/v3.0/a2a"),
                format!("{base}/v3.0/a2a/"),
            ] {
                let reply = at(platform, &host, "POST", &path, &[("content-type", "application/json")]).await;
                assert_eq!(reply.status, 200, "{host}{path}");
                assert!(reply.json().get("result").is_some(), "{host}{path}");
            }
            for path in [format!("{base}/"), format!("{base}/v3.0"), format!("{base}/v3.0/")] {
                let reply = get(platform, &host, &path).await;
                assert_eq!(
                    (reply.status, reply.header("content-type")),
                    (200, Some("text/html; charset=utf-8"))
                );
            }
        }
        let card = seen.unwrap().json();
        assert_eq!(card["supportedInterfaces"][0]["url"], canonical.as_str());
    }
}

#[tokio::test]
async fn the_card_s_own_address_is_answered() {
    let platform = hosts().await;
    let card = get(platform, "plain.cars.localhost", CARD).await.json();
    let url = card["supportedInterfaces"][0]["url"].as_str().unwrap();
    // Everything below localhost is this machine, also where the resolver does not know it.
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let reply =
        at(platform, host, "POST", &format!("/{path}"), &[("content-type", "application/json")]).await;
    assert_eq!(reply.json()["result"]["message"]["parts"][0]["data"]["data"]["name"], "Plain");
}

#[tokio::test]
async fn other_methods_are_told_which_there_are() {
    let platform = ground().await;
    for (path, allowed, methods) in [
        (format!("/t/harbor{CARD}"), "GET, HEAD, OPTIONS", ["POST", "PUT", "DELETE", "PATCH"]),
        ("/t/harbor/".to_owned(), "GET, HEAD, OPTIONS", ["POST", "PUT", "DELETE", "TRACE"]),
        ("/t/harbor/a2a".to_owned(), "POST, OPTIONS", ["GET", "HEAD", "PUT", "DELETE"]),
        ("/t/harbor/v3.0/a2a/".to_owned(), "POST, OPTIONS", ["GET", "HEAD", "PATCH", "PROPFIND"]),
        ("/v3.0/a2a".to_owned(), "POST, OPTIONS", ["GET", "HEAD", "PUT", "DELETE"]),
        ("/".to_owned(), "GET, HEAD, OPTIONS", ["POST", "PUT", "DELETE", "PATCH"]),
        ("/healthz".to_owned(), "GET, HEAD, OPTIONS", ["POST", "PUT", "DELETE", "PATCH"]),
    ] {
        for method in methods {
            let reply = at(platform, "", method, &path, &[]).await;
            assert_eq!((reply.status, reply.header("allow")), (405, Some(allowed)), "{method} {path}");
        }
        let asked = at(platform, "", "OPTIONS", &path, &[]).await;
        assert_eq!((asked.status, asked.header("allow")), (204, Some(allowed)), "{path}");
    }
    assert_eq!(at(platform, "", "OPTIONS", "/t/nobody/a2a", &[]).await.status, 404);
}

#[tokio::test]
async fn contracts_and_paths_that_do_not_exist_are_not_there() {
    let platform = ground().await;
    for way in ["/t/harbor", ""] {
        let host = if way.is_empty() { "harbor.localhost" } else { "" };
        for tail in [
            "v1.2",
            "LATEST",
            "v2.0",
            "v3",
            "v3.0.0",
            "V3.0",
            "v3.0/v3.0",
            "v1.3/v3.0",
            "x",
            "..",
            "v3.0/x",
            "a2a/x",
            "%76%33.0",
        ] {
            for path in [format!("{way}/{tail}/a2a"), format!("{way}/{tail}{CARD}"), format!("{way}/{tail}/")]
            {
                for method in ["GET", "POST"] {
                    let reply =
                        at(platform, host, method, &path, &[("content-type", "application/json")]).await;
                    assert_eq!(reply.status, 404, "{method} {host}{path}");
                    assert_eq!(reply.header("content-type"), Some("application/problem+json"));
                }
            }
        }
    }
    for path in [
        "/v2.0/a2a",
        "/v9/a2a",
        "/v3.0",
        "/v3.0/a2a/x",
        "/t/",
        "/t",
        "/t//a2a",
        "/T/harbor/a2a",
        "/favicon.ico",
    ] {
        assert_eq!(
            at(platform, "", "POST", path, &[("content-type", "application/json")]).await.status,
            404,
            "{path}"
        );
    }
}

/// What a stranger sees of an answer, apart from what differs between any two.
fn seen(reply: &Reply) -> (u16, Vec<(String, String)>, String) {
    let mut body = String::from_utf8_lossy(&reply.body).into_owned();
    if let Some(id) = reply.header("x-request-id") {
        body = body.replace(id, "ID");
    }
    let headers = reply.headers.iter().filter(|(name, _)| name != "x-request-id" && name != "date");
    (reply.status, headers.cloned().collect(), body)
}

#[tokio::test]
async fn unknown_suspended_and_removed_dealers_look_the_same() {
    let platform = hosts().await;
    let json = [("content-type", "application/json")];
    let tails = [
        "",
        "/",
        "/a2a",
        "/v3.0/a2a",
        CARD,
        "/v3.0/",
        "/v1.3/a2a",
        "/x",
        "/healthz",
        "/metrics",
        "/t/plain/a2a",
    ];
    for method in ["GET", "HEAD", "POST", "OPTIONS", "DELETE"] {
        for tail in tails {
            let mut answers = Vec::new();
            for slug in ["no-such", "on-leave", "long-gone", "t", "admin"] {
                answers.push(seen(&at(platform, "", method, &format!("/t/{slug}{tail}"), &json).await));
                let host = format!("{slug}.cars.localhost");
                let path = if tail.is_empty() { "/" } else { tail };
                answers.push(seen(&at(platform, &host, method, path, &json).await));
            }
            assert_eq!(answers[0].0, 404, "{method} {tail}");
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{method} {tail}: {answers:#?}");
        }
        // A domain of a dealer that is not served is a name like any other.
        for tail in &tails[1..] {
            let mut answers = Vec::new();
            for host in ["no-such.example", "leave.example", "gone.example"] {
                answers.push(seen(&at(platform, host, method, tail, &json).await));
            }
            // Counters move, and messages have fresh ids.
            if !["/metrics", "/t/plain/a2a"].contains(tail) {
                assert!(answers.iter().all(|answer| *answer == answers[0]), "{method} {tail}: {answers:#?}");
            }
        }
    }
    for host in ["leave.example", "gone.example"] {
        assert_eq!(get(platform, host, CARD).await.status, 404);
    }
}

#[tokio::test]
async fn a_dealer_that_is_suspended_vanishes_and_returns_as_it_was() {
    let state = |state: &str| json!({"here-and-away": dealer("Away", json!({"state": state}))});
    let platform = settle(state("active")).await;
    let path = format!("/t/here-and-away{CARD}");
    let before = get(platform, "", &path).await;
    assert_eq!(before.status, 200, "a new dealer is served at once, without a restart");
    settle(state("suspended")).await;
    assert_eq!(get(platform, "", &path).await.status, 404);
    settle(state("active")).await;
    let after = get(platform, "", &path).await;
    assert_eq!(
        (after.body, after.headers.iter().find(|h| h.0 == "etag").cloned()),
        (before.body, before.headers.iter().find(|h| h.0 == "etag").cloned())
    );
}

#[tokio::test]
async fn nobody_but_a_trusted_proxy_says_which_host_was_meant() {
    let platform = hosts().await;
    let spoofed = [
        ("x-forwarded-host", "owner.cars.localhost"),
        ("forwarded", "host=owner.cars.localhost"),
        ("x-host", "owner.cars.localhost"),
        ("x-original-host", "owner.cars.localhost"),
    ];
    for _ in 0..2 {
        let reply = at(platform, "plain.cars.localhost", "GET", CARD, &spoofed).await;
        assert_eq!(reply.json()["name"], "Plain");
        assert_eq!(get(platform, "owner.cars.localhost", CARD).await.json()["name"], "Owner");
    }
    // A host in the request line outranks the header.
    let absolute = format!("http://owner.cars.localhost{CARD}");
    assert_eq!(get(platform, "plain.cars.localhost", &absolute).await.json()["name"], "Owner");

    let trusted_proxies = server::settings::Settings::default();
    let settings = Settings {
        trusted_proxies: api::TrustedProxies::parse("127.0.0.1").unwrap(),
        platform_domain: Some("cars.localhost".into()),
        ..trusted_proxies
    };
    let behind = Platform::start_with(Options { settings, ..Options::default() }).await;
    behind.provision(&json!({"one": dealer("One", json!({})), "two": dealer("Two", json!({}))})).await;
    for (host, forwarded, name) in [
        ("one.cars.localhost", "two.cars.localhost", "Two"),
        ("", "two.cars.localhost", "Two"),
        ("one.cars.localhost", "hearsay.example, two.cars.localhost:443", "Two"),
    ] {
        let reply = at(&behind, host, "GET", CARD, &[("x-forwarded-host", forwarded)]).await;
        assert_eq!(reply.json()["name"], name, "{host} {forwarded}");
    }
    assert_eq!(get(&behind, "one.cars.localhost", CARD).await.json()["name"], "One");
    behind.stop().await;
}
