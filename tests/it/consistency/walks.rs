//! Cursors that travel: to a node that is behind, to one that was just started, to one after all was forgotten.

use serde_json::json;
use sqlx::PgConnection;
use store::Store;
use testkit::{Options, Platform, cluster};

use super::asking::{Client, Outcome};
use super::lots::Question;
use super::writing::{Dealer, Writer, dealers, documents};

const BY_PRICE: Question = Question { make: None, descending: true, limit: 7 };

async fn beside(platform: &Platform) -> Platform {
    Platform::start_with(Options { database: Some(platform.database.clone()), ..Options::default() }).await
}

async fn one_dealer() -> (Platform, Dealer, Writer) {
    let platform = Platform::start().await;
    platform.provision(&documents(&["walked"])).await;
    let store = Store::connect(&platform.database, 2).await.unwrap();
    let dealer = dealers(&store, &["walked"]).await.remove(0);
    let writer = Writer::new(&platform.database).await;
    (platform, dealer, writer)
}

/// The second page of a walk that began at `version`; the cursor of the third.
async fn page(origin: &str, dealer: &Dealer, version: u64, skip: usize, cursor: &str) -> Option<String> {
    let outcome = Client::new().ask(origin, &dealer.slug, BY_PRICE.search(Some(cursor)), None).await;
    let (seen, page) = outcome.answer();
    assert_eq!(seen, version, "a page of another version");
    BY_PRICE.check_page(dealer.salt, version, skip, &page);
    page["next_cursor"].as_str().map(str::to_owned)
}

/// All pages after the first, from these nodes in turn.
async fn rest(nodes: &[&Platform], dealer: &Dealer, version: u64, first: &str) {
    let (mut cursor, mut skip, mut turn) = (Some(first.to_owned()), BY_PRICE.limit, 0);
    while let Some(next) = cursor {
        cursor = page(&nodes[turn % nodes.len()].origin, dealer, version, skip, &next).await;
        skip += BY_PRICE.limit;
        turn += 1;
    }
    assert_eq!(skip, BY_PRICE.matches(dealer.salt, version).len().next_multiple_of(BY_PRICE.limit));
}

async fn begin(node: &Platform, dealer: &Dealer, from: Option<u64>) -> (u64, String) {
    let (version, _, page) =
        Client::new().first_page(&node.origin, dealer, &BY_PRICE, from).await.expect("it is there");
    (version, page["next_cursor"].as_str().expect("more than a page").to_owned())
}

async fn is_expired(node: &Platform, dealer: &Dealer, cursor: &str) {
    match Client::new().ask(&node.origin, &dealer.slug, BY_PRICE.search(Some(cursor)), None).await {
        Outcome::Refused(error) => {
            assert_eq!(error["code"], "INVALID_CURSOR", "{error}");
            assert_eq!(error["details"]["reason"], "expired", "{error}");
        }
        other => panic!("{other:?}"),
    }
}

async fn forget(admin: &mut PgConnection) {
    sqlx::raw_sql("truncate superseded_vehicles, inventory_versions").execute(admin).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_has_not_heard_of_the_version_reads_it() {
    let (first, dealer, mut writer) = one_dealer().await;
    let second = beside(&first).await;
    begin(&second, &dealer, None).await;
    for _ in 0..5 {
        let written = dealer.write(&mut writer, false).await;
        let (version, cursor) = begin(&first, &dealer, Some(written)).await;
        assert_eq!(version, written);
        // At once, before any poll.
        page(&second.origin, &dealer, version, BY_PRICE.limit, &cursor).await;
        rest(&[&second, &first], &dealer, version, &cursor).await;
    }
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_never_held_a_version_goes_on_in_it() {
    let (first, dealer, mut writer) = one_dealer().await;
    let mut walks = Vec::new();
    for round in 0..12 {
        walks.push(begin(&first, &dealer, Some(dealer.begun())).await);
        for _ in 0..1 + round % 4 {
            dealer.write(&mut writer, round % 2 == 0).await;
        }
    }
    let second = beside(&first).await;
    // Also while the lot goes on changing, and however far back.
    for (version, cursor) in &walks {
        rest(&[&second], &dealer, *version, cursor).await;
        dealer.write(&mut writer, true).await;
    }
    let third = beside(&first).await;
    for (version, cursor) in walks.iter().rev() {
        rest(&[&third, &first, &second], &dealer, *version, cursor).await;
    }

    // All is forgotten, as after a crash of the database. Who has a version keeps it, the others say so.
    let mut admin = cluster().superuser(&first.database).await;
    forget(&mut admin).await;
    let kept = begin(&first, &dealer, Some(dealer.begun())).await;
    dealer.write(&mut writer, false).await;
    let fourth = beside(&first).await;
    for (version, cursor) in &walks {
        is_expired(&fourth, &dealer, cursor).await;
        rest(&[&first, &second, &third], &dealer, *version, cursor).await;
    }
    // What was there when it was forgotten can be made from what came after.
    rest(&[&fourth], &dealer, kept.0, &kept.1).await;
    // A new walk there is a walk in the newest lot.
    let (version, cursor) = begin(&fourth, &dealer, None).await;
    assert_eq!(version, dealer.begun());
    rest(&[&fourth], &dealer, version, &cursor).await;
    // And a cursor of another dealer's, filter's or order's page is as wrong there as anywhere.
    let other = Question { make: Some(1), ..BY_PRICE };
    match Client::new().ask(&fourth.origin, &dealer.slug, other.search(Some(&cursor)), None).await {
        Outcome::Refused(error) => assert_eq!(error["details"]["reason"], json!("mismatch"), "{error}"),
        answered => panic!("{answered:?}"),
    }
    for node in [first, second, third, fourth] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_walks_at_once_than_versions_are_held() {
    let (first, dealer, mut writer) = one_dealer().await;
    let second = beside(&first).await;
    let mut walks = Vec::new();
    for _ in 0..45 {
        walks.push(begin(&first, &dealer, Some(dealer.begun())).await);
        dealer.write(&mut writer, true).await;
    }
    for round in 0..2 {
        for (at, (version, cursor)) in walks.iter().enumerate() {
            if (at + round) % 3 == 0 {
                rest(&[&first, &second], &dealer, *version, cursor).await;
            } else {
                page(&second.origin, &dealer, *version, BY_PRICE.limit, cursor).await;
            }
        }
    }
    first.stop().await;
    second.stop().await;
}
