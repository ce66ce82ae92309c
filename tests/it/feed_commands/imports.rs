//! `forecourt feed import` and what is decided afterwards: exit statuses, held files, going back.

use serde_json::Value;
use testkit::Platform;

use super::{Said, cars, dealer, file, run};
use crate::ground::search;

async fn import(platform: &Platform, slug: &str, name: &str, text: &str) -> Said {
    let file = file(name, text);
    run(platform, &["feed", "import", slug, file.to_str().unwrap(), "--json"]).await
}

async fn total(platform: &Platform, slug: &str) -> Value {
    platform.catch_up().await;
    platform.call(slug, search()).await["total"].clone()
}

#[tokio::test]
async fn a_file_is_imported_held_approved_rejected_and_gone_back_from() {
    let platform = dealer("slip").await;
    let first = import(&platform, "slip", "first.csv", &cars(40, 20_000)).await.ended(0);
    assert!(first.err.contains("\"import\"") && first.err.contains("--price-means"), "{}", first.err);
    let first = first.json();
    assert_eq!((&first["state"], &first["counts"]["published"]), (&"applied".into(), &40.into()), "{first}");
    assert_eq!(total(&platform, "slip").await, 40);

    // The same bytes are nothing new.
    let again = import(&platform, "slip", "first.csv", &cars(40, 20_000)).await.ended(0).json();
    assert_eq!(again["state"], "unchanged");

    // A file that has lost most of them waits, and says what to do.
    let short = file("short.csv", &cars(10, 20_000));
    let held = run(&platform, &["feed", "import", "slip", short.to_str().unwrap()]).await.ended(3);
    let id = held.out.split_whitespace().nth(1).unwrap().to_owned();
    for words in [format!("forecourt feed approve {id}"), format!("forecourt feed reject {id}")] {
        assert!(held.out.contains(&words), "{}", held.out);
    }
    assert_eq!(total(&platform, "slip").await, 40);
    let told = run(&platform, &["feed", "notices", "slip"]).await.ended(0);
    assert!(told.out.contains(&id), "{}", told.out);
    let shown = run(&platform, &["feed", "show", &id, "--diff"]).await.ended(0);
    assert!(shown.out.contains("30 would be removed") && shown.out.contains("  - "), "{}", shown.out);
    run(&platform, &["feed", "reject", &id, "--reason", "cut short"]).await.ended(0);
    let decided = run(&platform, &["feed", "approve", &id]).await.ended(1);
    assert!(decided.err.contains("rejected"), "{}", decided.err);

    let held = import(&platform, "slip", "short.csv", &cars(10, 20_000)).await.ended(3).json();
    let id = held["run_id"].as_str().unwrap().to_owned();
    let approved = run(&platform, &["feed", "approve", &id, "--by", "ben"]).await.ended(0);
    assert!(approved.out.contains("is applied"), "{}", approved.out);
    assert_eq!(total(&platform, "slip").await, 10);
    let shown = run(&platform, &["feed", "show", &id, "--json"]).await.ended(0).json();
    assert_eq!(shown["decided_by"], "ben");

    let unasked = run(&platform, &["feed", "rollback", "slip", "import"]).await.ended(2);
    assert!(
        unasked.err.contains("30 would be added") || unasked.err.contains("30 vehicles would be added"),
        "{}",
        unasked.err
    );
    assert_eq!(total(&platform, "slip").await, 10);
    run(&platform, &["feed", "rollback", "slip", "import", "--yes"]).await.ended(0);
    assert_eq!(total(&platform, "slip").await, 40);
    let runs = run(&platform, &["feed", "runs", "slip", "--json"]).await.ended(0);
    assert_eq!(runs.out.lines().count(), 5, "{}", runs.out);
    platform.stop().await;
}

#[tokio::test]
async fn what_cannot_be_imported_is_said_in_words() {
    let platform = dealer("pier").await;
    let picture = file("cars.csv", "");
    std::fs::write(&picture, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01").unwrap();
    let refused = run(&platform, &["feed", "import", "pier", picture.to_str().unwrap()]).await.ended(1);
    assert!(refused.out.contains("failed"), "{}", refused.out);
    let nothing = uuid::Uuid::now_v7().to_string();
    let good = file("good.csv", &cars(3, 20_000));
    let good = good.to_str().unwrap();
    for (arguments, status, words) in [
        (&["feed", "import", "pier", "/nowhere/at/all.csv"][..], 2, "cannot be read"),
        (&["feed", "import", "nobody", good], 1, "there is no dealer"),
        (&["feed", "import", "pier", good, "--source", "other"], 2, "feed source add pier other"),
        (&["feed", "show", &nothing], 1, "there is no run"),
        (&["feed", "approve", &nothing], 1, "there is no run"),
        (&["feed", "reject", &nothing], 1, "there is no run"),
        (&["feed", "show", "x"], 2, "invalid"),
        (&["feed", "show", &nothing, "--findings", "PRIZE"], 2, "there is no finding"),
        (&["feed", "rollback", "pier", "import"], 1, "no earlier file"),
        (&["feed", "rollback", "pier", "import", "--to", &nothing], 1, "no run"),
        (&["feed", "runs", "nobody"], 1, "there is no dealer"),
    ] {
        let said = run(&platform, arguments).await;
        assert_eq!(said.status, status, "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
    let all = run(&platform, &["feed", "runs"]).await.ended(0);
    assert!(all.out.contains("pier"), "{}", all.out);
    platform.stop().await;
}

#[tokio::test]
async fn no_text_of_a_feed_reaches_a_terminal_as_a_command() {
    let platform = dealer("buoy").await;
    let text = "VIN,Stock #,Year,Make,Model,Condition,Mileage,Price\n\u{1b}]0;owned\u{7}X,S\u{1b}[2J1,2023,Honda,Accord,Used,1,\u{1b}[31mcall\n";
    let said = import(
        &platform,
        "buoy",
        "evil\u{1b}[2J.csv",
        &format!("{}{}", cars(5, 20_000), &text[text.find('\n').unwrap() + 1..]),
    )
    .await;
    let id = said.json()["run_id"].as_str().unwrap().to_owned();
    let shown = run(&platform, &["feed", "show", &id, "--findings", "all", "--diff"]).await.ended(0);
    let runs = run(&platform, &["feed", "runs", "buoy"]).await.ended(0);
    for out in [&said.out, &shown.out, &runs.out] {
        assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{out:?}");
    }
    platform.stop().await;
}
