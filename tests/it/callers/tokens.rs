//! Tokens of an issuer (OAuth 2.0 client credentials): a small issuer of our own, its keys and what it signs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reqwest::StatusCode;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use testkit::{Options, Platform};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{guarded, named, turned_away, with};
use crate::ground::{information, search};

const ISSUER: &str = "https://id.example/";
const AUDIENCE: &str = "https://dealers.example/";

/// A pair of keys and its name.
struct Signer {
    kid: &'static str,
    pair: EcdsaKeyPair,
}

impl Signer {
    fn new(kid: &'static str) -> Signer {
        let (way, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
        Signer { kid, pair: EcdsaKeyPair::from_pkcs8(way, document.as_ref(), &random).unwrap() }
    }

    fn public(&self) -> Value {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.kid, "x": BASE64.encode(x), "y": BASE64.encode(y)})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let parts = [header, claims].map(|part| BASE64.encode(part.to_string()));
        let text = parts.join(".");
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", BASE64.encode(signature))
    }

    fn token(&self, claims: &Value) -> String {
        self.sign(&json!({"alg": "ES256", "typ": "at+jwt", "kid": self.kid}), claims)
    }
}

/// Serves a key set and counts who asks.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Option<Value>>>,
    asked: Arc<AtomicU32>,
}

impl Issuer {
    async fn start(keys: Option<Value>) -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let (keys, asked) = (Arc::new(Mutex::new(keys)), Arc::new(AtomicU32::new(0)));
        let (served, count) = (Arc::clone(&keys), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                count.fetch_add(1, Ordering::Relaxed);
                let body = served.lock().unwrap().as_ref().map(|keys| json!({ "keys": keys }).to_string());
                let status = if body.is_some() { "200 OK" } else { "503 Service Unavailable" };
                let body = body.unwrap_or_default();
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                     connection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Issuer { url, keys, asked }
    }

    fn publish(&self, signers: &[&Signer]) {
        *self.keys.lock().unwrap() = Some(signers.iter().map(|signer| signer.public()).collect());
    }

    fn callers(&self, accept: Value) -> Value {
        json!({"accept": accept, "oauth": {"issuer": ISSUER, "audience": AUDIENCE, "jwks_uri": self.url,
            "token_url": "https://id.example/token"}})
    }
}

fn now() -> i64 {
    chrono::Utc::now().timestamp()
}

/// Claims of a good token, with changes; `null` takes a claim away.
fn claims(changes: Value) -> Value {
    let mut claims = json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "svc-1", "client_id": "pelican",
        "iat": now(), "exp": now() + 300, "scope": "openid inventory.search inventory.vehicle"});
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims.as_object_mut().unwrap().insert(name.clone(), value.clone()),
        };
    }
    claims
}

/// Asks until an answer has this status; panics when it does not come.
async fn until(platform: &Platform, slug: &str, token: &str, status: StatusCode) {
    let since = Instant::now();
    loop {
        let response = with(platform, slug, token).response().await;
        if response.status() == status {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(15), "still {}", response.status());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_token_opens_what_its_scopes_name_and_a_bad_one_nothing() {
    let signer = Signer::new("k1");
    let issuer = Issuer::start(None).await;
    issuer.publish(&[&signer]);
    let platform = Platform::with_dealer("tokens", guarded(issuer.callers(json!(["oauth"])))).await;
    let good = signer.token(&claims(json!({})));
    // Its keys are fetched beside the requests, from when the dealer is first read.
    until(&platform, "tokens", &good, StatusCode::OK).await;

    let stranger = Signer { kid: "k1", ..Signer::new("k1") };
    let header = |alg: &str| json!({"alg": alg, "kid": "k1"});
    let forged = {
        let mut parts: Vec<String> = good.split('.').map(str::to_owned).collect();
        parts[1] = BASE64.encode(claims(json!({"client_id": "heron"})).to_string());
        parts.join(".")
    };
    let unsigned = {
        let parts = [header("none"), claims(json!({}))].map(|part| BASE64.encode(part.to_string()));
        format!("{}.", parts.join("."))
    };
    for (what, token) in [
        ("expired", signer.token(&claims(json!({"exp": now() - 60})))),
        ("not yet", signer.token(&claims(json!({"nbf": now() + 120})))),
        ("issuer", signer.token(&claims(json!({"iss": "https://id.example"})))),
        ("issuers", signer.token(&claims(json!({"iss": [ISSUER, "https://other.example/"]})))),
        ("audience", signer.token(&claims(json!({"aud": ["https://other.example/"]})))),
        ("no issuer", signer.token(&claims(json!({"iss": null})))),
        ("no audience", signer.token(&claims(json!({"aud": null})))),
        ("no end", signer.token(&claims(json!({"exp": null})))),
        ("nobody", signer.token(&claims(json!({"client_id": null, "sub": null})))),
        ("stranger", stranger.token(&claims(json!({})))),
        ("forged", forged),
        ("unsigned", unsigned),
        ("HS256", signer.sign(&header("HS256"), &claims(json!({})))),
        ("RS256", signer.sign(&header("RS256"), &claims(json!({})))),
        ("no token", "a.b.c".to_owned()),
        ("too long", "a".repeat(6_000)),
    ] {
        let (status, challenge) = turned_away(&with(&platform, "tokens", &token)).await;
        assert_eq!(status, 401, "{what}: {challenge}");
        assert!(challenge.contains("error=\"invalid_token\""), "{what}: {challenge}");
    }
    // In time, though clocks are a little apart; one of several audiences; no name of a key where there is one.
    for token in [
        signer.token(&claims(json!({"exp": now() - 5, "nbf": now() + 5}))),
        signer.token(&claims(json!({"aud": ["https://other.example/", AUDIENCE]}))),
        signer.token(&claims(json!({"scope": null, "scp": ["inventory.search"]}))),
        signer.sign(&json!({"alg": "ES256"}), &claims(json!({}))),
    ] {
        with(&platform, "tokens", &token).result().await;
    }
    let bearer = format!("Bearer {good}");
    let (status, challenge) =
        turned_away(&platform.ask("tokens", information()).header("authorization", Some(&bearer))).await;
    assert_eq!(status, 403);
    assert!(challenge.ends_with("error=\"insufficient_scope\", scope=\"dealer.information\""), "{challenge}");
    let scopeless = signer.token(&claims(json!({"scope": null})));
    assert_eq!(turned_away(&with(&platform, "tokens", &scopeless)).await.0, 403);
    assert_eq!(turned_away(&platform.ask("tokens", search())).await.0, 401);
    // No key of the dealer's opens a dealer that takes tokens alone.
    let store = platform.application().store();
    let key = dealer::callers::add_key(store, "tokens", named("heron"), "test").await.unwrap();
    platform.catch_up().await;
    assert!(!key.is_needed);
    assert_eq!(turned_away(&with(&platform, "tokens", &key.text)).await.0, 401);

    let card = platform.card("tokens").await;
    let flow = &card["securitySchemes"]["oauth"]["oauth2SecurityScheme"]["flows"]["clientCredentials"];
    assert_eq!(flow["tokenUrl"], "https://id.example/token");
    assert!(flow["scopes"]["inventory.search"].is_string(), "{card}");
    assert!(!card.to_string().contains(&issuer.url), "{card}");
}

#[tokio::test]
async fn an_issuer_may_change_its_keys_and_be_away_and_is_not_asked_for_every_stranger() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let issuer = Issuer::start(None).await;
    let platform = Platform::with_dealer("rolling", guarded(issuer.callers(json!(["keys", "oauth"])))).await;
    let token = old.token(&claims(json!({})));
    // Nothing is known of it yet: that is nobody's fault, and will pass.
    let response = with(&platform, "rolling", &token).response().await;
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "2");
    // Keys of the dealer's open it meanwhile.
    let store = platform.application().store();
    let key = dealer::callers::add_key(store, "rolling", named("pelican"), "test").await.unwrap();
    platform.catch_up().await;
    with(&platform, "rolling", &key.text).result().await;

    issuer.publish(&[&old]);
    until(&platform, "rolling", &token, StatusCode::OK).await;

    // A second node of the same database takes over what the first one fetched.
    let asked = issuer.asked.load(Ordering::Relaxed);
    let options = Options { database: Some(platform.database.clone()), ..Options::default() };
    let second = Platform::start_with(options).await;
    until(&second, "rolling", &token, StatusCode::OK).await;
    assert_eq!(issuer.asked.load(Ordering::Relaxed), asked);

    issuer.publish(&[&old, &new]);
    let rolled = new.token(&claims(json!({})));
    until(&platform, "rolling", &rolled, StatusCode::OK).await;

    // Away again: what is known stays good, and names that nobody has lead to few questions.
    *issuer.keys.lock().unwrap() = None;
    let asked = issuer.asked.load(Ordering::Relaxed);
    let since = Instant::now();
    for _ in 0..100 {
        let nobody = Signer { kid: "nobody", ..Signer::new("nobody") };
        assert_eq!(turned_away(&with(&platform, "rolling", &nobody.token(&claims(json!({}))))).await.0, 401);
    }
    let most = 1 + u32::try_from(since.elapsed().as_secs() / 5).unwrap();
    let asked = issuer.asked.load(Ordering::Relaxed) - asked;
    assert!(asked <= most, "{asked} questions in {:?}", since.elapsed());
    with(&platform, "rolling", &rolled).result().await;
    with(&second, "rolling", &token).result().await;
    second.stop().await;
    platform.stop().await;
}

/// Takes connections, reads and never answers.
async fn tarpit() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    origin
}

#[tokio::test]
async fn an_issuer_that_never_answers_delays_no_other() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let issuer = Issuer::start(None).await;
    issuer.publish(&[&old]);
    // By another name than the good one's: a host may keep others of its own waiting.
    let slow = tarpit().await.replace("127.0.0.1", "localhost");
    let mut dealers = json!({"swift": guarded(issuer.callers(json!(["oauth"])))});
    for i in 0..6 {
        let mut callers = issuer.callers(json!(["oauth"]));
        callers["oauth"]["jwks_uri"] = json!(format!("{slow}/keys/{i}"));
        dealers[format!("slow-{i}")] = guarded(callers);
    }
    let platform = Platform::start().await;
    platform.provision(&dealers).await;
    platform.catch_up().await;
    // Each is read for the first time, so that its issuer is asked; these are being waited for from now on.
    for i in 0..6 {
        let token = old.token(&claims(json!({})));
        assert_eq!(with(&platform, &format!("slow-{i}"), &token).response().await.status(), 503);
    }
    let since = Instant::now();
    until(&platform, "swift", &old.token(&claims(json!({}))), StatusCode::OK).await;
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    // New keys are fetched as soon as an issuer may be asked again, while the others are waited for still.
    issuer.publish(&[&old, &new]);
    let since = Instant::now();
    until(&platform, "swift", &new.token(&claims(json!({}))), StatusCode::OK).await;
    assert!(since.elapsed() < Duration::from_secs(9), "{:?}", since.elapsed());
    platform.stop().await;
}
