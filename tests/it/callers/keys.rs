//! Bearer keys: right, wrong, another dealer's, revoked while running, for some skills only.

use std::time::{Duration, Instant};

use contract::SkillId;
use dealer::callers::{self, KeyError, NewKey};
use serde_json::{Value, json};

use super::{challenge_of, guarded, make_key, named, takes_keys, turned_away, with};
use crate::addresses::{CARD, at, get};
use crate::ground::{ground, information, lasting, search, settle};

#[tokio::test]
async fn a_key_opens_its_dealer_and_nothing_else_does() {
    let platform = takes_keys("keyed").await;
    takes_keys("keyed-too").await;
    let key = make_key(platform, "keyed", named("pelican")).await;
    let others = make_key(platform, "keyed-too", named("pelican")).await;
    assert!(key.is_needed && key.text.contains(&key.prefix));

    let found = with(platform, "keyed", &key.text).result().await;
    assert_eq!(found["total"], 1);
    // The scheme is a name like others in HTTP.
    let shouted = platform.ask("keyed", search());
    shouted.header("authorization", Some(&format!("BEARER {}", key.text))).result().await;

    let (status, challenge) = turned_away(&platform.ask("keyed", search())).await;
    assert_eq!((status, challenge.as_str()), (401, "Bearer realm=\"keyed\""));
    let mut almost = key.text.clone();
    let last = almost.pop().unwrap();
    almost.push(if last == '0' { '1' } else { '0' });
    for wrong in [others.text.as_str(), &almost, &key.text[1..], "x", &key.prefix] {
        let (status, challenge) = turned_away(&with(platform, "keyed", wrong)).await;
        assert_eq!(status, 401);
        assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
        assert!(!challenge.contains(wrong.trim()) || wrong == "x", "{challenge}");
    }
    let basic = platform.ask("keyed", search()).header("authorization", Some("Basic cGVsaWNhbjo="));
    assert_eq!(turned_away(&basic).await.0, 401);
    let mut twice = with(platform, "keyed", &key.text);
    twice.headers.push(("authorization".into(), format!("Bearer {}", key.text)));
    assert_eq!(turned_away(&twice).await.0, 401);
}

#[tokio::test]
async fn nobody_is_let_in_before_anything_of_the_request_is_looked_at() {
    let platform = takes_keys("first-of-all").await;
    for body in ["", "no json", "[]", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\"}"] {
        for contract in ["", "v1.3/", "latest/", "v3.0/"] {
            let url = format!("{}{contract}a2a", platform.base("first-of-all"));
            let response = platform.http.post(url).body(body).send().await.unwrap();
            assert_eq!(challenge_of(response).await.0, 401, "{contract} {body}");
        }
    }
    let url = format!("{}a2a", platform.base("first-of-all"));
    assert_eq!(challenge_of(platform.http.get(&url).send().await.unwrap()).await.0, 401);
    // Also who is still sending gets to read it.
    let large = platform.http.post(&url).body(vec![b' '; 3 * 1024 * 1024]).send().await.unwrap();
    assert_eq!(challenge_of(large).await.0, 401);
    // Whoever asks which methods there are, and documents that say how to ask.
    let asked = at(platform, "", "OPTIONS", "/t/first-of-all/a2a", &[]).await;
    assert_eq!((asked.status, asked.header("allow")), (204, Some("POST, OPTIONS")));
    for open in [CARD, "/", "/v1.3/", "/schemas/", "/v3.0/schemas/error.schema.json"] {
        assert_eq!(get(platform, "", &format!("/t/first-of-all{open}")).await.status, 200, "{open}");
    }
    let page = String::from_utf8(get(platform, "", "/t/first-of-all/").await.body).unwrap();
    assert!(page.contains("bearers of a key") && page.contains("Authorization: Bearer $KEY"), "{page}");
}

#[tokio::test]
async fn the_shared_address_asks_for_the_credential_of_the_dealer_that_is_named() {
    let platform = takes_keys("shared-keyed").await;
    let key = make_key(platform, "shared-keyed", named("pelican")).await;
    let ask = |slug: &str| {
        let mut asking = platform.ask(slug, search()).with("/params/tenant", json!(slug));
        asking.url = format!("{}/v3.0/a2a", platform.origin);
        asking
    };
    let (status, challenge) = turned_away(&ask("shared-keyed")).await;
    assert_eq!((status, challenge.as_str()), (401, "Bearer realm=\"shared-keyed\""));
    let bearer = format!("Bearer {}", key.text);
    assert_eq!(ask("shared-keyed").header("authorization", Some(&bearer)).result().await["total"], 1);
    // A public dealer passes over a credential that is none of its own.
    ask("harbor").header("authorization", Some(&bearer)).result().await;
}

#[tokio::test]
async fn a_key_for_some_skills_opens_these_alone() {
    let platform = takes_keys("scoped").await;
    let key = NewKey { scopes: vec![SkillId::InventorySearch], ..named("reader") };
    let key = make_key(platform, "scoped", key).await;
    with(platform, "scoped", &key.text).result().await;
    let bearer = format!("Bearer {}", key.text);
    let refused = platform.ask("scoped", information()).header("authorization", Some(&bearer));
    let (status, challenge) = turned_away(&refused).await;
    assert_eq!(status, 403);
    assert_eq!(
        challenge,
        "Bearer realm=\"scoped\", error=\"insufficient_scope\", scope=\"dealer.information\""
    );
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_within_a_second() {
    let platform = takes_keys("revoking").await;
    let (a, b) = (named("pelican"), named("heron"));
    let (a, b) = (make_key(platform, "revoking", a).await, make_key(platform, "revoking", b).await);
    for key in [&a, &b] {
        with(platform, "revoking", &key.text).result().await;
    }
    lasting(async { callers::revoke_key(platform.application().store(), "revoking", "pelican").await })
        .await
        .unwrap();
    let since = Instant::now();
    while with(platform, "revoking", &a.text).response().await.status() != 401 {
        assert!(since.elapsed() < Duration::from_secs(2), "a revoked key still opens");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    with(platform, "revoking", &b.text).result().await;

    // The name is free again, and the new key is another one.
    let again = make_key(platform, "revoking", named("pelican")).await;
    with(platform, "revoking", &again.text).result().await;
    assert_eq!(turned_away(&with(platform, "revoking", &a.text)).await.0, 401);
    let listed = lasting(async { callers::list_keys(platform.application().store(), "revoking").await });
    let listed = listed.await.unwrap();
    let states: Vec<_> = listed.iter().map(|key| (key.name.as_str(), key.revoked_at.is_some())).collect();
    assert_eq!(states, [("pelican", true), ("heron", false), ("pelican", false)]);
}

#[tokio::test]
async fn what_is_no_key_and_no_dealer_is_said_so() {
    let platform = takes_keys("clerk").await;
    make_key(platform, "clerk", named("pelican")).await;
    lasting(async {
        let store = platform.application().store();
        let add = |slug, key| async move { callers::add_key(store, slug, key, "test").await };
        assert!(matches!(add("clerk", named("pelican")).await, Err(KeyError::Taken(_))));
        assert!(matches!(add("nobody-here", named("x")).await, Err(KeyError::NoDealer(_))));
        for name in ["", " x", "a\nb", &"x".repeat(101)] {
            assert!(matches!(add("clerk", named(name)).await, Err(KeyError::Name)), "{name:?}");
        }
        let revoke = |key| async move { callers::revoke_key(store, "clerk", key).await };
        assert!(matches!(revoke("heron").await, Err(KeyError::NoKey(_))));
        revoke("pelican").await.unwrap();
        assert!(matches!(revoke("pelican").await, Err(KeyError::NoKey(_))));
    })
    .await;
}

#[tokio::test]
async fn the_last_use_of_a_key_is_written_down() {
    let platform = testkit::Platform::start().await;
    platform.provision(&json!({"used": guarded(json!({"accept": ["keys"]}))})).await;
    let store = platform.application().store().clone();
    let key = callers::add_key(&store, "used", named("pelican"), "test").await.unwrap();
    platform.catch_up().await;
    assert_eq!(callers::list_keys(&store, "used").await.unwrap()[0].last_used_at, None);
    let before = chrono::Utc::now();
    with(&platform, "used", &key.text).result().await;
    // Uses are written in batches; the last one when the process stops.
    let database = platform.database.clone();
    platform.stop().await;
    let store = store::Store::connect(&database, 2).await.unwrap();
    let used = callers::list_keys(&store, "used").await.unwrap()[0].last_used_at.expect("it was used");
    assert!((used - before).num_seconds().abs() <= 2, "{used}");
    // Nothing stored is the key.
    let mut admin = testkit::cluster().superuser(&database).await;
    let row: String =
        sqlx::query_scalar("select k::text from caller_keys k").fetch_one(&mut admin).await.unwrap();
    let secret = key.text.rsplit('_').next().unwrap();
    assert!(!row.contains(secret) && row.contains(&key.prefix), "{row}");
    store.close().await;
}

#[tokio::test]
async fn a_dealer_is_guarded_and_public_again_without_a_restart_and_its_card_says_which() {
    let platform = ground().await;
    let card = |version: &'static str| async move {
        let card = get(platform, "", &format!("/t/turns/{version}{}", &CARD[1..])).await;
        assert_eq!(card.status, 200);
        card.json()
    };
    let id =
        |card: &Value| card["capabilities"]["extensions"][0]["params"]["id"].as_str().unwrap().to_owned();
    let mut ids = Vec::new();
    for (callers, guarded_now) in [
        (json!(null), false),
        (json!({"accept": ["keys"]}), true),
        (json!({"accept": ["keys"]}), true),
        (json!({}), false),
    ] {
        settle(json!({ "turns": guarded(callers) })).await;
        let status = platform.ask("turns", search()).response().await.status().as_u16();
        assert_eq!(status, if guarded_now { 401 } else { 200 });
        for version in ["v1.3/", "latest/", "v3.0/"] {
            let card = card(version).await;
            assert_eq!(card.get("securitySchemes").is_some(), guarded_now, "{card}");
            assert!(card.get("security").is_none(), "{card}");
            if guarded_now {
                assert_eq!(card["securitySchemes"]["key"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
                let scopes = &card["securityRequirements"][0]["schemes"]["key"]["list"];
                assert!(scopes.as_array().unwrap().contains(&json!("inventory.search")), "{card}");
                let skill = &card["skills"][0];
                assert_eq!(
                    skill["securityRequirements"],
                    json!([{"schemes": {"key": {"list": [skill["id"]]}}}])
                );
            }
        }
        ids.push(id(&card("v3.0/").await));
    }
    assert_eq!(ids[1], ids[2]);
    assert!(ids[0] != ids[1] && ids[2] != ids[3] && ids[0] != ids[3], "{ids:?}");
}
