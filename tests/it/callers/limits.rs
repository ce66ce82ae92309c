//! Limits on a dealer's calls and on each caller's, with a waiting time that is true.

use std::time::{Duration, Instant};

use contract::ContractVersion;
use dealer::RateLimit;
use dealer::callers::NewKey;
use serde_json::{Value, json};
use testkit::Asking;

use super::{guarded, make_key, named, with};
use crate::ground::{search, settle};

/// `None` for an answer, else how many milliseconds to wait.
async fn asked(asking: Asking) -> Option<u64> {
    let answer = asking.send().await;
    let error = answer.get("error")?;
    let aap = testkit::aap_error(error).unwrap_or(&error["data"]);
    assert_eq!(aap["code"], "RATE_LIMITED", "{error}");
    assert_eq!(aap["retryable"], true, "{error}");
    Some(aap["details"]["retry_after_ms"].as_u64().expect("a waiting time"))
}

fn policy(slug: &str, policy: Value) -> Value {
    let mut dealer = guarded(json!({}));
    dealer["policy"] = policy;
    json!({ slug: dealer })
}

#[tokio::test]
async fn the_waiting_time_is_true_and_the_limit_changes_without_a_restart() {
    let platform = settle(policy("limited", json!({"rate_limit": {"requests": 2, "per_seconds": 1}}))).await;
    let ask = || asked(platform.ask("limited", search()));
    // The window may have begun with nobody; ours begins with the first call.
    let began = Instant::now();
    assert_eq!(ask().await, None);
    assert_eq!(ask().await, None);
    let wait = ask().await.expect("the third call is one too many");
    assert!(
        wait <= 1000 && Duration::from_millis(wait) + began.elapsed() >= Duration::from_millis(990),
        "{wait}"
    );
    tokio::time::sleep(Duration::from_millis(wait + 5)).await;
    assert_eq!(ask().await, None);

    settle(policy("limited", json!({}))).await;
    for _ in 0..5 {
        assert_eq!(ask().await, None);
    }
    settle(policy("limited", json!({"rate_limit": {"requests": 1, "per_seconds": 600}}))).await;
    let waits = [ask().await, ask().await];
    assert!(waits[1].is_some_and(|wait| wait > 590_000), "{waits:?}");
}

#[tokio::test]
async fn each_contract_says_it_with_its_own_number() {
    let limit = json!({"rate_limit": {"requests": 1, "per_seconds": 600}});
    let platform = settle(policy("numbered", limit)).await;
    let first = platform.ask("numbered", search()).response().await;
    assert!(!first.headers().contains_key("retry-after"));
    // What says nothing about a limit comes without the header.
    let bad = platform.ask("numbered", json!({"type": "inventory.search.request", "x": 1})).response().await;
    assert!(!bad.headers().contains_key("retry-after"));
    let limited = platform.ask("numbered", search()).response().await;
    assert_eq!(limited.status(), 200);
    let seconds: u64 = limited.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    let error: Value = limited.json().await.unwrap();
    let aap = testkit::aap_error(&error["error"]).unwrap();
    let wait = aap["details"]["retry_after_ms"].as_u64().unwrap();
    assert!((590..=600).contains(&seconds) && seconds * 1000 >= wait, "{seconds} {wait}");
    for (contract, number) in
        [(ContractVersion::V1_3, -32002), (ContractVersion::Latest, -32000), (ContractVersion::V3_0, -32000)]
    {
        let error = platform.ask_in(contract, "numbered", search()).error().await;
        assert_eq!(error["code"], number, "{error}");
        if number == -32000 {
            assert!(error["message"].as_str().unwrap().starts_with("RATE_LIMITED"), "{error}");
        }
    }
}

#[tokio::test]
async fn each_caller_has_a_limit_of_its_own_where_the_dealer_wants_that() {
    let platform =
        settle(policy("fair", json!({"caller_rate_limit": {"requests": 1, "per_seconds": 600}}))).await;
    let keys = [named("pelican"), named("heron")];
    let mut texts = Vec::new();
    for key in keys {
        texts.push(make_key(platform, "fair", key).await.text);
    }
    let generous = RateLimit { requests: 3, per_seconds: 600 };
    let generous = NewKey { rate_limit: Some(generous), ..named("egret") };
    let generous = make_key(platform, "fair", generous).await.text;

    // By key, at a public dealer as well; those without one by their address.
    for text in &texts {
        assert_eq!(asked(with(platform, "fair", text)).await, None);
        assert!(asked(with(platform, "fair", text)).await.is_some_and(|wait| wait > 590_000));
    }
    assert_eq!(asked(platform.ask("fair", search())).await, None);
    assert!(asked(platform.ask("fair", search())).await.is_some());
    // A key may have a limit of its own.
    for _ in 0..3 {
        assert_eq!(asked(with(platform, "fair", &generous)).await, None);
    }
    assert!(asked(with(platform, "fair", &generous)).await.is_some());
    // Refused requests took nothing; without the rule nobody is limited, but by what is written on a key.
    settle(policy("fair", json!({}))).await;
    assert_eq!(asked(platform.ask("fair", search())).await, None);
    assert_eq!(asked(with(platform, "fair", &texts[0])).await, None);
    assert!(asked(with(platform, "fair", &generous)).await.is_some());
}

#[tokio::test]
async fn a_caller_without_a_key_is_known_by_the_agent_that_it_declares() {
    let limit = json!({"caller_rate_limit": {"requests": 1, "per_seconds": 600}});
    let platform = settle(policy("declared", limit)).await;
    let lead = |shopper: &str, agent: &str| {
        platform.ask("declared", json!({
            "type": "lead.submit.request",
            "customer": {"first_name": "Noor", "last_name": "Haddad", "email": format!("{shopper}@mail.example")},
            "consent": {
                "granted_at": (chrono::Utc::now() - Duration::from_secs(3600)).to_rfc3339(),
                "allowed_channels": ["email"],
                "consent_text": "The dealer may write to me.",
                "scope": ["lead_submission"],
            },
            "source_agent": {"name": agent},
        }))
    };
    assert_eq!(asked(lead("a", "pelican")).await, None);
    assert!(asked(lead("b", "pelican")).await.is_some());
    assert_eq!(asked(lead("c", "heron")).await, None);
    // Its address is another caller, which has asked nothing yet.
    assert_eq!(asked(platform.ask("declared", search())).await, None);
    // A key says more than a claim.
    let key = make_key(platform, "declared", named("egret")).await;
    let bearer = format!("Bearer {}", key.text);
    assert_eq!(asked(lead("d", "pelican").header("authorization", Some(&bearer))).await, None);
    assert!(asked(lead("e", "stork").header("authorization", Some(&bearer))).await.is_some());
}

#[tokio::test]
async fn a_call_that_the_dealer_has_no_room_for_costs_its_caller_nothing() {
    let limits = json!({
        "rate_limit": {"requests": 1, "per_seconds": 3},
        "caller_rate_limit": {"requests": 2, "per_seconds": 600},
    });
    let platform = settle(policy("both", limits)).await;
    let ask = || asked(platform.ask("both", search()));
    assert_eq!(ask().await, None);
    let mut refused = 0;
    while let Some(wait) = ask().await {
        assert!(wait <= 3000, "refused by the caller's own limit after {refused} refusals: {wait}");
        refused += 1;
        tokio::time::sleep(Duration::from_millis(if refused < 3 { 1 } else { wait + 5 })).await;
    }
    assert!(refused > 0);
    // That was its second call; now its own limit is the longer one.
    assert!(ask().await.is_some_and(|wait| wait > 590_000));
}
