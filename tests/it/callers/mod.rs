//! Who may ask a dealer: keys, tokens of an issuer, limits for each caller, and what is told to whom is not let in.

mod command;
mod keys;
mod limits;
mod tokens;

use dealer::callers::{self, IssuedKey, NewKey};
use reqwest::Response;
use serde_json::{Value, json};
use testkit::{Asking, Platform, car};

use crate::ground::{lasting, search, settle};

/// A dealer with one car and these callers.
fn guarded(callers: Value) -> Value {
    json!({"name": "Guarded Gate", "rooftops": [{"name": "R"}], "inventory": [car("a", "Honda", "Civic", 20000)],
        "callers": callers})
}

/// Brings a dealer in that takes keys.
async fn takes_keys(slug: &str) -> &'static Platform {
    settle(json!({ slug: guarded(json!({"accept": ["keys"]})) })).await
}

/// Makes a key, which this node then knows.
async fn make_key(platform: &'static Platform, slug: &str, key: NewKey) -> IssuedKey {
    let slug = slug.to_owned();
    lasting(async move {
        let issued = callers::add_key(platform.application().store(), &slug, key, "test").await.unwrap();
        platform.catch_up().await;
        issued
    })
    .await
}

fn named(name: &str) -> NewKey {
    NewKey { name: name.into(), scopes: Vec::new(), rate_limit: None }
}

/// A search at a dealer with a bearer credential.
fn with(platform: &Platform, slug: &str, bearer: &str) -> Asking {
    platform.ask(slug, search()).header("authorization", Some(&format!("Bearer {bearer}")))
}

/// What somebody who is not let in is told: the status, and the challenge.
async fn turned_away(asking: &Asking) -> (u16, String) {
    challenge_of(asking.response().await).await
}

async fn challenge_of(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let headers = response.headers();
    let challenge = headers.get("www-authenticate").expect("a challenge").to_str().unwrap().to_owned();
    assert_eq!(headers["content-type"], "application/problem+json");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["access-control-allow-origin"], "*");
    assert!(headers["access-control-expose-headers"].to_str().unwrap().contains("www-authenticate"));
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["status"], status, "{problem}");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{problem}");
    assert!(problem.get("jsonrpc").is_none() && problem.get("error").is_none(), "{problem}");
    (status, challenge)
}
