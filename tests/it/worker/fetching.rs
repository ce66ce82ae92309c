//! Files that are fetched, from servers that lie, fail and redirect.

use std::time::{Duration, Instant};

use dealer::vault::{Credentials, Place};
use serde_json::json;
use store::SourceKind;

use super::server::{FeedServer, Reply};
use super::{Scene, lot, states, stock_numbers};

const DATE: &str = "Sun, 29 Nov 2026 02:00:00 GMT";

#[tokio::test(flavor = "multi_thread")]
async fn failures_change_no_unit_and_no_time_of_success() {
    let html = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><form></form></body></html>";
    let server = FeedServer::start(vec![
        Reply::file(&lot(0, 12)),
        Reply::status(500),
        Reply::Silence,
        Reply::file(""),
        Reply::Whole(200, vec![("content-type", "text/html".into())], html.into()),
    ])
    .await;
    let scene = Scene::start(&["harbor"]).await;
    let settings = json!({ "url": server.url(), "limits": { "fetch_seconds": 1 } });
    let (tenant, source) = scene.source("harbor", SourceKind::Https, settings).await;
    let working = scene.work(scene.told(&server.host));
    let runs = scene.settled(tenant, 1).await;
    assert_eq!(states(&runs), ["applied"], "{runs:?}");
    let good = scene.stored(tenant, &source).await.last_good_at.expect("a success");

    scene.fetch_now(tenant, &source, false).await;
    // The failed tries are told apart, and the last answer is an empty file.
    let runs = loop {
        let runs = scene.settled(tenant, 1).await;
        if runs.len() >= 4 {
            break runs;
        }
    };
    assert_eq!(states(&runs), ["applied", "failed", "failed", "held"], "{runs:#?}");
    let why = |at: usize| runs[at].failure.clone().unwrap_or_default();
    assert!(why(1).contains("500"), "{}", why(1));
    assert!(why(2).contains("in time"), "{}", why(2));
    assert!(runs[3].verdict.as_ref().unwrap().to_string().contains("FEED_EMPTY"), "{:?}", runs[3]);
    assert!(runs.iter().all(|run| run.failure.as_ref().is_none_or(|text| !text.contains("geheim"))));

    scene.fetch_now(tenant, &source, true).await;
    let runs = scene.settled(tenant, 5).await;
    assert_eq!(runs[4].state.as_str(), "failed", "{:?}", runs[4]);
    assert_eq!(scene.stored(tenant, &source).await.last_good_at, Some(good));
    assert_eq!(scene.stocks(tenant).await, stock_numbers(0, 12));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_validators_are_stored_and_the_new_one_is_sent() {
    let server = FeedServer::start(vec![
        Reply::file(&lot(0, 12)).with("etag", "\"one\"").with("last-modified", DATE),
        Reply::file(&lot(0, 13)).with("etag", "\"two\"").with("last-modified", DATE),
        Reply::status(304),
    ])
    .await;
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, source) = scene.source("harbor", SourceKind::Https, json!({ "url": server.url() })).await;
    let working = scene.work(scene.told(&server.host));
    for count in 1..=3 {
        if count > 1 {
            scene.fetch_now(tenant, &source, false).await;
        }
        scene.settled(tenant, count).await;
    }
    let runs = scene.runs(tenant).await;
    assert_eq!(states(&runs), ["applied", "applied", "unchanged"], "{runs:#?}");
    let asked = server.asked();
    let tags: Vec<_> = asked.iter().map(|asked| asked.header("if-none-match")).collect();
    assert_eq!(tags, [None, Some("\"one\"".into()), Some("\"two\"".into())]);
    assert_eq!(asked[1].header("if-modified-since").as_deref(), Some(DATE));
    let stored = scene.stored(tenant, &source).await;
    assert_eq!(stored.etag.as_deref(), Some("\"two\""));
    assert!(stored.last_modified.is_some_and(|date| date.ends_with(DATE)));
    assert_eq!(stored.last_good_at, Some(runs[2].received_at), "not modified is a sign of life");
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_that_never_changes_is_found_out() {
    let server = FeedServer::start(vec![
        Reply::file(&lot(0, 12)).with("etag", "\"same\""),
        Reply::file(&lot(0, 14)).with("etag", "\"same\""),
        Reply::file(&lot(0, 15)).with("etag", "\"same\""),
    ])
    .await;
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, source) = scene.source("harbor", SourceKind::Https, json!({ "url": server.url() })).await;
    let working = scene.work(scene.told(&server.host));
    scene.settled(tenant, 1).await;
    scene.fetch_now(tenant, &source, true).await;
    scene.settled(tenant, 2).await;
    scene.fetch_now(tenant, &source, false).await;
    scene.settled(tenant, 3).await;
    let tags: Vec<_> = server.asked().iter().map(|asked| asked.header("if-none-match")).collect();
    assert_eq!(tags, [None, None, None], "a tag that lied is sent again");
    assert_eq!(scene.stocks(tenant).await, stock_numbers(0, 15));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_to_the_inside_are_refused_at_once() {
    for (target, word) in [
        ("http://169.254.169.254/latest/meta-data", "public"),
        ("https://[fd00:ec2::254]/", "public"),
        ("https://localhost:1/", "public"),
        ("http://feeds.example/lot.csv", "encryption"),
        ("file:///etc/passwd", "file"),
    ] {
        let server = FeedServer::start(vec![Reply::status(302).with("location", target)]).await;
        let scene = Scene::start(&["harbor"]).await;
        let (tenant, _) = scene.source("harbor", SourceKind::Https, json!({ "url": server.url() })).await;
        let working = scene.work(scene.told(&server.host));
        let runs = scene.settled(tenant, 1).await;
        let took = server.asked()[0].at.elapsed();
        assert!(took < Duration::from_secs(2), "{target} took {took:?}");
        assert_eq!(states(&runs), ["failed"], "{target}");
        let why = runs[0].failure.clone().unwrap_or_default();
        assert!(why.contains(word), "{target}: {why}");
        let notices = scene.notices(tenant).await;
        assert!(notices.iter().any(|notice| notice.kind == "fetch_failed"), "{target}: nobody is told");
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(server.asked().len(), 1, "{target} is tried again");
        working.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_inside_and_endless_redirects_are_refused() {
    let scene = Scene::start(&["harbor", "bay"]).await;
    let inside = json!({ "url": "https://localhost:9/lot.csv" });
    let (harbor, _) = scene.source("harbor", SourceKind::Https, inside).await;
    let server = FeedServer::start(vec![Reply::status(307).with("location", "/feeds/lot.csv")]).await;
    let (bay, _) = scene.source("bay", SourceKind::Https, json!({ "url": server.url() })).await;
    let began = Instant::now();
    let working = scene.work(scene.told(&server.host));
    let why = |runs: &[store::RunRow]| runs[0].failure.clone().unwrap_or_default();
    let runs = scene.settled(harbor, 1).await;
    assert!(why(&runs).contains("no public address"), "{}", why(&runs));
    let runs = scene.settled(bay, 1).await;
    assert!(why(&runs).contains("more than 3 times"), "{}", why(&runs));
    assert_eq!(server.asked().len(), 4);
    assert!(began.elapsed() < Duration::from_secs(10));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_go_to_their_own_host_alone() {
    let other = FeedServer::start(vec![Reply::file(&lot(0, 12))]).await;
    let server = FeedServer::start(vec![Reply::status(302).with("location", &other.url())]).await;
    let scene = Scene::start(&["harbor"]).await;
    let tenant = scene.tenant("harbor").await;
    let settings = json!({ "url": server.url() });
    let (_, source) = scene.source("harbor", SourceKind::Https, settings).await;
    let credentials = Credentials::Basic { user: "harbor".into(), password: "tide".into() };
    let place = Place::of_fetching(tenant, source.source_id);
    let sealed = scene.vault.seal_credentials(place, &credentials).unwrap();
    let mut tx = scene.store.tenant(tenant).await.unwrap();
    assert!(tx.set_source_credentials(source.source_id, Some(&sealed)).await.unwrap());
    tx.commit().await.unwrap();
    let working = scene.work(scene.told(&format!("{},{}", server.host, other.host)));
    let runs = scene.settled(tenant, 1).await;
    assert_eq!(states(&runs), ["applied"], "{runs:#?}");
    assert_eq!(server.asked()[0].header("authorization").as_deref(), Some("Basic aGFyYm9yOnRpZGU="));
    assert_eq!(other.asked()[0].header("authorization"), None);
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_let_in_says_so_at_once_and_who_is_to_wait_waits() {
    let scene = Scene::start(&["harbor", "bay"]).await;
    let denied = FeedServer::start(vec![Reply::status(401)]).await;
    let (harbor, _) = scene.source("harbor", SourceKind::Https, json!({ "url": denied.url() })).await;
    let busy =
        FeedServer::start(vec![Reply::status(503).with("retry-after", "2"), Reply::file(&lot(0, 12))]).await;
    let (bay, _) = scene.source("bay", SourceKind::Https, json!({ "url": busy.url() })).await;
    let working = scene.work(scene.told(&format!("{},{}", denied.host, busy.host)));
    let runs = scene.settled(bay, 2).await;
    assert_eq!(states(&runs), ["failed", "applied"], "{runs:#?}");
    let asked = busy.asked();
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(2), "Retry-After is not obeyed");
    assert!(
        scene.notices(bay).await.iter().all(|notice| notice.kind != "fetch_failed"),
        "it passed by itself"
    );
    assert_eq!(states(&scene.settled(harbor, 1).await), ["failed"]);
    assert_eq!(denied.asked().len(), 1, "who is not let in knocks again");
    assert!(scene.notices(harbor).await.iter().any(|notice| notice.sentence.contains("credentials")));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_breaks_off_is_fetched_again() {
    let whole = lot(0, 12);
    let server = FeedServer::start(vec![Reply::Short(whole.len(), lot(0, 6)), Reply::file(&whole)]).await;
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, _) = scene.source("harbor", SourceKind::Https, json!({ "url": server.url() })).await;
    let working = scene.work(scene.told(&server.host));
    let runs = scene.settled(tenant, 2).await;
    assert_eq!(states(&runs), ["failed", "applied"], "{runs:#?}");
    let why = runs[0].failure.clone().unwrap_or_default();
    assert!(why.contains(&format!("{} of {} bytes", lot(0, 6).len(), whole.len())), "{why}");
    assert_eq!(scene.stocks(tenant).await, stock_numbers(0, 12));
    working.stop().await;
}
