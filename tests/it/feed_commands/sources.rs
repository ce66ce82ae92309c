//! `forecourt feed source`: settings by flag and by document, secrets, what is still missing.

use serde_json::json;

use super::{dealer, file, run, typed};

#[tokio::test]
async fn a_source_is_added_shown_changed_and_removed() {
    let platform = dealer("quay").await;
    let added = run(&platform, &["feed", "source", "add", "quay", "Main lot", "--rooftop", "D1=Harbor Main"])
        .await
        .ended(0);
    assert!(added.err.contains("--price-means"), "what is missing must be told: {}", added.err);
    assert!(added.err.contains("forecourt feed import quay FILE --source 'Main lot'"), "{}", added.err);
    let listed = run(&platform, &["feed", "source", "list", "quay"]).await.ended(0);
    assert!(listed.out.contains("Main lot") && listed.out.contains("unanswered"), "{}", listed.out);

    let answered = [
        "feed",
        "source",
        "edit",
        "quay",
        "main LOT",
        "--price-means",
        "advertised_all_in",
        "--fee",
        "Doc fee=85",
        "--answered-by",
        "Ann Reyes",
        "--rank",
        "7",
    ];
    let edited = run(&platform, &answered).await.ended(0);
    assert!(!edited.err.contains("--price-means"), "{}", edited.err);
    let shown =
        run(&platform, &["feed", "source", "show", "quay", "Main lot", "--json"]).await.ended(0).json();
    let answer = &shown["settings"]["prices"]["asking_price"];
    assert_eq!(
        (&answer["by"], &answer["fees"]),
        (&json!("Ann Reyes"), &json!([{"name": "Doc fee", "amount": 85}]))
    );
    assert_eq!(
        shown["settings"]["rooftops"],
        json!({"D1": "Harbor Main"}),
        "an edit keeps what it does not name"
    );
    assert_eq!((&shown["settings"]["rank"], &shown["missing"]), (&json!(7), &json!([])));

    // Settings as a document are merged, and null takes a member back.
    let patch = file("patch.json", &json!({"rooftops": null, "keep_days": 3}).to_string());
    run(&platform, &["feed", "source", "edit", "quay", "Main lot", "--settings", patch.to_str().unwrap()])
        .await
        .ended(0);
    let shown = run(&platform, &["feed", "source", "show", "quay", "Main lot", "--json"]).await.json();
    assert_eq!((&shown["settings"]["keep_days"], &shown["settings"]["rooftops"]), (&json!(3), &json!(null)));

    let unasked = run(&platform, &["feed", "source", "remove", "quay", "Main lot"]).await.ended(2);
    assert!(unasked.err.contains("--yes"), "{}", unasked.err);
    run(&platform, &["feed", "source", "remove", "quay", "Main lot", "--yes"]).await.ended(0);
    assert!(run(&platform, &["feed", "source", "list", "quay"]).await.out.contains("no sources"));
    platform.stop().await;
}

#[tokio::test]
async fn every_problem_is_named_by_its_place() {
    let platform = dealer("cove").await;
    let wrong = file("wrong.json", &json!({"uri": 1, "reading": {"mode": "some"}, "rank": "x"}).to_string());
    let read = ["feed", "source", "add", "cove", "x", "--settings", wrong.to_str().unwrap()];
    let said = run(&platform, &read).await.ended(2);
    for place in ["/uri", "/reading/mode", "/rank"] {
        assert!(said.err.contains(place), "{place}: {}", said.err);
    }
    let meant =
        ["feed", "source", "add", "cove", "x", "--kind", "https", "--every", "1m", "--rooftop", "D1=Nowhere"];
    let said = run(&platform, &meant).await.ended(2);
    for place in ["/url", "/every_minutes", "/rooftops/D1"] {
        assert!(said.err.contains(place), "{place}: {}", said.err);
    }
    for (arguments, status, words) in [
        (&["add", "nobody", "x"][..], 1, "there is no dealer"),
        (&["show", "cove", "x"], 1, "feed source add cove x"),
        (&["add", "cove", " x"], 0, ""),
        (&["add", "cove", "X"], 1, "has that name"),
        (&["add", "cove", "y", "--kind", "ftp"], 2, "file, https, folder or push"),
        (&["add", "cove", "y", "--fee", "Doc=85"], 2, "--price-means"),
        (&["edit", "cove", "x"], 2, "nothing is to be changed"),
        (&["token", "cove", "x"], 2, "push"),
    ] {
        let said = run(&platform, &[&["feed", "source"], arguments].concat()).await;
        assert_eq!(said.status, status, "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
    platform.stop().await;
}

#[tokio::test]
async fn secrets_are_taken_from_standard_input_and_never_shown() {
    let platform = dealer("dock").await;
    let add = [
        "feed",
        "source",
        "add",
        "dock",
        "web",
        "--kind",
        "https",
        "--url",
        "https://feeds.example/a.csv",
        "--user",
        "dock",
    ];
    let added = typed(&platform, &add, "tide at 5\n").await.ended(0);
    assert!(added.err.contains("stored, encrypted"), "{}", added.err);
    let shown = run(&platform, &["feed", "source", "show", "dock", "web", "--json"]).await.ended(0);
    assert_eq!(shown.json()["has_credentials"], true);
    assert!(!shown.out.contains("tide") && !added.err.contains("tide"));
    // None was given.
    typed(&platform, &["feed", "source", "edit", "dock", "web", "--token-stdin"], "").await.ended(2);
    let moved = run(&platform, &["feed", "rekey"]).await.ended(0);
    assert!(moved.out.contains("1 were under it already"), "{}", moved.out);
    run(&platform, &["feed", "source", "edit", "dock", "web", "--no-credentials"]).await.ended(0);
    let shown = run(&platform, &["feed", "source", "show", "dock", "web", "--json"]).await.json();
    assert_eq!(shown["has_credentials"], false);

    // The token alone on standard output, and another one each time.
    let first = run(&platform, &["feed", "source", "add", "dock", "erp", "--kind", "push"]).await.ended(0);
    let token = first.out.trim_end();
    assert!(token.starts_with("fcp_") && !token.contains(char::is_whitespace), "{}", first.out);
    assert!(!first.err.contains(token) && first.err.contains("/push/feeds/"), "{}", first.err);
    let second = run(&platform, &["feed", "source", "token", "dock", "erp"]).await.ended(0);
    assert_ne!(second.out, first.out);
    platform.stop().await;
}
