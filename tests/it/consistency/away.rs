//! The database is away: what is held is answered, walks go on, and nobody claims a version that cannot be read.

use std::time::{Duration, Instant};

use server::Settings;
use store::Store;
use testkit::{Options, OwnServer, Platform};

use super::asking::{Client, Outcome};
use super::lots::Question;
use super::writing::{Writer, dealers, documents};

const MAX_AGE: Duration = Duration::from_secs(6);
const BY_PRICE: Question = Question { make: None, descending: false, limit: 5 };

async fn ready(platform: &Platform) -> bool {
    platform.http.get(format!("{}/readyz", platform.origin)).send().await.expect("an answer").status() == 200
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn walks_go_on_and_a_newer_version_is_refused_soon() {
    let server = OwnServer::start("away");
    let settings = Settings { max_age: MAX_AGE, ..Settings::default() };
    let database = server.database().clone();
    let platform = Platform::start_with(Options { settings, database: Some(database.clone()) }).await;
    platform.provision(&documents(&["away"])).await;
    let store = Store::connect(&database, 2).await.unwrap();
    let dealer = dealers(&store, &["away"]).await.remove(0);
    let mut writer = Writer::over(store, server.superuser(&database).await);
    let client = Client::new();
    let (old, _, page) =
        client.first_page(&platform.origin, &dealer, &BY_PRICE, None).await.expect("it is there");
    let mut cursor = page["next_cursor"].as_str().expect("more").to_owned();
    let newest = dealer.write(&mut writer, true).await;
    client.first_page(&platform.origin, &dealer, &BY_PRICE, Some(newest)).await.expect("it is there");
    drop(writer);

    tokio::task::block_in_place(|| drop(server));
    let gone = Instant::now();
    let mut skip = BY_PRICE.limit;
    while gone.elapsed() < MAX_AGE - Duration::from_secs(3) {
        assert!(ready(&platform).await, "not ready {:?} after the database went", gone.elapsed());
        let (version, _, _) =
            client.first_page(&platform.origin, &dealer, &BY_PRICE, Some(newest)).await.expect("it is there");
        assert_eq!(version, newest);
        // The walk that began before.
        if skip < 30 {
            let outcome =
                client.ask(&platform.origin, &dealer.slug, BY_PRICE.search(Some(&cursor)), None).await;
            let (version, page) = outcome.answer();
            assert_eq!(version, old);
            BY_PRICE.check_page(dealer.salt, old, skip, &page);
            skip += BY_PRICE.limit;
            page["next_cursor"].as_str().expect("more").clone_into(&mut cursor);
        }
        let began = Instant::now();
        let outcome =
            client.ask(&platform.origin, &dealer.slug, BY_PRICE.search(None), Some(newest + 1)).await;
        assert_eq!(outcome.retryable(), "INTERNAL_ERROR");
        assert!(began.elapsed() < Duration::from_secs(4), "refused after {:?}", began.elapsed());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(skip >= 30, "too little time");
    while ready(&platform).await {
        assert!(gone.elapsed() < MAX_AGE + Duration::from_secs(10), "it is never too old");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let outcome = client.ask(&platform.origin, &dealer.slug, BY_PRICE.search(Some(&cursor)), None).await;
    assert_eq!(outcome.retryable(), "INTERNAL_ERROR");

    let server = tokio::task::block_in_place(|| OwnServer::start("away"));
    let back = Instant::now();
    let store = Store::connect(&database, 2).await.unwrap();
    let mut writer = Writer::over(store, server.superuser(&database).await);
    let newest = dealer.write(&mut writer, false).await;
    loop {
        let outcome = client.ask(&platform.origin, &dealer.slug, BY_PRICE.search(None), Some(newest)).await;
        if let Outcome::Answer(version, page) = outcome {
            assert_eq!(version, newest);
            BY_PRICE.check_page(dealer.salt, newest, 0, &page);
            break;
        }
        assert_eq!(outcome.retryable(), "INTERNAL_ERROR");
        assert!(back.elapsed() < Duration::from_secs(20), "not back after {:?}", back.elapsed());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("back after {:?}", back.elapsed());
    assert!(ready(&platform).await);
    // The version from before, which this process still has.
    let outcome = client.ask(&platform.origin, &dealer.slug, BY_PRICE.search(Some(&cursor)), None).await;
    assert_eq!(outcome.answer().0, old);
    platform.stop().await;
    drop(server);
}
