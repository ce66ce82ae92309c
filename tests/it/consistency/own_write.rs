//! Whoever has written a lot and asks with its version sees it at once, at every node.

use std::time::{Duration, Instant};

use sqlx::Connection;
use store::Store;
use testkit::{Options, Platform, cluster};
use tokio::task::JoinSet;

use super::asking::Client;
use super::lots::Question;
use super::writing::{Dealer, Writer, dealers, documents};

const ALL: Question = Question { make: None, descending: false, limit: 20 };

/// Two nodes and a dealer.
async fn two_nodes() -> (Platform, Platform, Dealer) {
    let first = Platform::start().await;
    first.provision(&documents(&["own"])).await;
    let second =
        Platform::start_with(Options { database: Some(first.database.clone()), ..Options::default() }).await;
    let store = Store::connect(&first.database, 2).await.unwrap();
    let dealer = dealers(&store, &["own"]).await.remove(0);
    (first, second, dealer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_is_seen_at_once_on_the_other_node() {
    let (first, second, dealer) = two_nodes().await;
    let mut writer = Writer::new(&first.database).await;
    let client = Client::new();
    for origin in [&first.origin, &second.origin] {
        client.first_page(origin, &dealer, &ALL, None).await.expect("it is there");
    }
    let mut times = Vec::new();
    for round in 0..testkit::soak(24) {
        let version = dealer.write(&mut writer, round % 3 == 0).await;
        let node = if round % 2 == 0 { &second } else { &first };
        let began = Instant::now();
        // Several who ask at once are served by one look at the database.
        let mut asking = JoinSet::new();
        for _ in 0..3 {
            let (client, origin, slug) = (client.clone(), node.origin.clone(), dealer.slug.clone());
            asking.spawn(async move { client.ask(&origin, &slug, ALL.search(None), Some(version)).await });
        }
        for outcome in asking.join_all().await {
            let (seen, page) = outcome.answer();
            assert!(seen >= version, "{seen} was answered to whoever knows of {version}");
            ALL.check_page(dealer.salt, seen, 0, &page);
        }
        times.push(began.elapsed());
        // The same for every skill that answers from the lot.
        let (seen, facets) =
            client.ask(&node.origin, &dealer.slug, ALL.facets(), Some(version)).await.answer();
        assert!(seen >= version);
        ALL.check_facets(dealer.salt, seen, &facets);
        // Not wanting anything newer asks for nothing.
        let (seen, _) = client.ask(&node.origin, &dealer.slug, ALL.search(None), Some(1)).await.answer();
        assert!(seen >= version);
    }
    times.sort();
    println!(
        "own writes were seen after {:?}, at the most after {:?}",
        times[times.len() / 2],
        times[times.len() - 1]
    );
    assert!(times[times.len() / 2] < Duration::from_secs(1), "{times:?}");
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_never_held_the_lot_reads_it_at_that_version() {
    let (first, second, dealer) = two_nodes().await;
    let mut writer = Writer::new(&first.database).await;
    let version = dealer.write(&mut writer, false).await;
    let client = Client::new();
    let (seen, _, _) =
        client.first_page(&second.origin, &dealer, &ALL, Some(version)).await.expect("it is there");
    assert_eq!(seen, version);
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_never_was_is_refused_soon_and_hurts_nobody() {
    let (first, second, dealer) = two_nodes().await;
    let mut writer = Writer::new(&first.database).await;
    let client = Client::new();
    client.first_page(&second.origin, &dealer, &ALL, None).await.expect("it is there");
    let mut strangers = JoinSet::new();
    for number in 0..16_u64 {
        let (client, origin, slug) = (client.clone(), second.origin.clone(), dealer.slug.clone());
        strangers.spawn(async move {
            for round in 0..5 {
                let version = if number % 2 == 0 { u64::MAX - number } else { 1_000_000 + round };
                let began = Instant::now();
                let outcome = client.ask(&origin, &slug, ALL.search(None), Some(version)).await;
                assert_eq!(outcome.retryable(), "INTERNAL_ERROR");
                assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
            }
        });
    }
    // Meanwhile the lot changes, unheard, and others ask.
    let mut times = Vec::new();
    let mut rounds = 0;
    while !strangers.is_empty() || rounds < 10 {
        if rounds % 5 == 0 {
            dealer.write(&mut writer, false).await;
        }
        let began = Instant::now();
        let (_, behind, _) =
            client.first_page(&second.origin, &dealer, &ALL, None).await.expect("it is there");
        assert!(behind < Duration::from_secs(3), "{behind:?} behind");
        times.push(began.elapsed());
        rounds += 1;
        while let Some(done) = strangers.try_join_next() {
            done.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times.sort();
    println!("meanwhile others were answered within {:?}", times[times.len() - 1]);
    assert!(times[times.len() / 2] < Duration::from_millis(500), "{times:?}");
    // And a version that comes to be is then there.
    let version = dealer.write(&mut writer, false).await;
    let (seen, _, _) =
        client.first_page(&second.origin, &dealer, &ALL, Some(version)).await.expect("it is there");
    assert_eq!(seen, version);
    for wrong in ["", "x", "-1", "1.5", "18446744073709551616"] {
        let asking = second.ask(&dealer.slug, ALL.search(None)).header("forecourt-min-version", Some(wrong));
        let error = asking.error().await;
        assert_eq!(error["code"], -32600, "{wrong:?}: {error}");
    }
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_cannot_be_read_in_time_is_refused_and_hurts_nobody() {
    let (first, second, dealer) = two_nodes().await;
    let mut writer = Writer::new(&first.database).await;
    let client = Client::new();
    client.first_page(&second.origin, &dealer, &ALL, None).await.expect("it is there");
    let version = dealer.write(&mut writer, false).await;
    // Nobody can read any vehicle for as long as this is open.
    let mut admin = cluster().superuser(&first.database).await;
    let mut lock = admin.begin().await.unwrap();
    sqlx::raw_sql("lock table vehicles in access exclusive mode").execute(&mut *lock).await.unwrap();
    let mut asking = JoinSet::new();
    for _ in 0..4 {
        let (client, origin, slug) = (client.clone(), second.origin.clone(), dealer.slug.clone());
        asking.spawn(async move {
            let began = Instant::now();
            let outcome = client.ask(&origin, &slug, ALL.search(None), Some(version)).await;
            assert_eq!(outcome.retryable(), "INTERNAL_ERROR");
            began.elapsed()
        });
    }
    let mut times = Vec::new();
    let mut waited = Vec::new();
    while !asking.is_empty() {
        let began = Instant::now();
        let (seen, _, _) = client.first_page(&second.origin, &dealer, &ALL, None).await.expect("it is there");
        assert_eq!(seen, 1, "what is held is answered");
        times.push(began.elapsed());
        while let Some(done) = asking.try_join_next() {
            waited.push(done.unwrap());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times.sort();
    println!("refused after {waited:?}; others were answered within {:?}", times[times.len() - 1]);
    let limit = Duration::from_millis(1_500)..Duration::from_secs(4);
    assert!(waited.iter().all(|time| limit.contains(time)), "{waited:?}");
    assert!(times[times.len() / 2] < Duration::from_millis(500), "{times:?}");
    lock.rollback().await.unwrap();
    let began = Instant::now();
    let (seen, _, _) =
        client.first_page(&second.origin, &dealer, &ALL, Some(version)).await.expect("it is there");
    assert_eq!(seen, version);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    first.stop().await;
    second.stop().await;
}
