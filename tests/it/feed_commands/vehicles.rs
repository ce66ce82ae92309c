//! `forecourt vehicle`: one car's story, edits and locks.

use serde_json::json;

use super::{cars, dealer, file, run, vin};

#[tokio::test]
async fn a_field_is_set_locked_and_given_back() {
    let platform = dealer("mole").await;
    let first = file("first.csv", &cars(5, 20_000));
    run(&platform, &["feed", "import", "mole", first.to_str().unwrap()]).await.ended(0);
    let edit = [
        "vehicle",
        "edit",
        "mole",
        "S3",
        "price=18500",
        "exterior_color=Sea Green",
        "--note",
        "weekend",
        "--by",
        "ben",
    ];
    let edited = run(&platform, &edit).await.ended(0);
    assert!(edited.out.contains("price was blank, is 18500"), "{}", edited.out);

    // The feed says something else, and the lock holds.
    run(&platform, &["feed", "source", "edit", "mole", "import", "--price-means", "advertised_all_in"])
        .await
        .ended(0);
    let shown = run(&platform, &["vehicle", "show", "mole", &vin(3)]).await.ended(0);
    assert!(shown.out.contains("feed import says 20030, locked at 18500"), "{}", shown.out);
    let document = run(&platform, &["vehicle", "show", "mole", "S3", "--json"]).await.ended(0).json();
    assert_eq!((&document["published"]["price"], document.get("events")), (&json!(18500), None));

    let unlocked = run(&platform, &["vehicle", "unlock", "mole", "s3", "--all"]).await.ended(0);
    assert!(unlocked.out.contains("price was 18500, is 20030"), "{}", unlocked.out);
    let story = run(&platform, &["vehicle", "history", "mole", "S3", "--json"]).await.ended(0).json();
    let kinds: Vec<&str> =
        story["events"].as_array().unwrap().iter().filter_map(|one| one["kind"].as_str()).collect();
    for kind in ["listed", "edited", "unlocked"] {
        assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
    }
    let told = run(&platform, &["vehicle", "history", "mole", "S3"]).await.ended(0);
    assert!(told.out.contains("first.csv") && told.out.contains("ben"), "{}", told.out);

    for (arguments, status, words) in [
        (&["show", "mole", "S99"][..], 1, "no vehicle"),
        (&["history", "nobody", "S3"], 1, "there is no dealer"),
        (&["edit", "mole", "S3", "price"], 2, "price=24990"),
        (&["edit", "mole", "S3", "vin=x"], 2, "no field"),
        (&["edit", "mole", "S3", "price=cheap"], 2, "price"),
        (&["edit", "mole", "S3", "price=1", "--expires", "2001-01-01T00:00:00Z"], 2, "passed"),
        (&["unlock", "mole", "S3", "price"], 1, "not set by hand"),
        (&["unlock", "mole", "S3"], 2, "FIELD"),
    ] {
        let said = run(&platform, &[&["vehicle"], arguments].concat()).await;
        assert_eq!(said.status, status, "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
    platform.stop().await;
}
