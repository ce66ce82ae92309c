//! `forecourt key`: what it prints and where, and that a running platform follows.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Platform, Process, cluster};

use super::{guarded, with};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

async fn key(platform: &Platform, arguments: &[&str]) -> Output {
    let url = cluster().url(&platform.database);
    let arguments: Vec<String> = [&["key"], arguments].concat().into_iter().map(str::to_owned).collect();
    let run = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Process::output(Process::command(&arguments).env("DATABASE_URL", url))
    };
    tokio::task::spawn_blocking(run).await.expect("it ran")
}

#[tokio::test]
async fn a_key_is_made_listed_and_revoked_beside_a_running_platform() {
    let platform = Platform::with_dealer("harbor", guarded(json!({"accept": ["keys"]}))).await;
    let made = key(&platform, &["add", "harbor", "--name", "pelican", "--scope", "inventory.search"]).await;
    assert!(made.status.success(), "{}", text(&made.stderr));
    // The key alone on standard output.
    let printed = text(&made.stdout);
    let secret = printed.trim_end();
    assert!(secret.starts_with("fck_") && !secret.contains(char::is_whitespace), "{printed:?}");
    assert!(!text(&made.stderr).contains(secret));
    let since = Instant::now();
    while with(&platform, "harbor", secret).response().await.status() != 200 {
        assert!(since.elapsed() < Duration::from_secs(3), "a new key does not open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let listed = key(&platform, &["list", "harbor"]).await;
    let listed = text(&listed.stdout);
    assert!(listed.contains("pelican") && listed.contains("inventory.search"), "{listed}");
    assert!(listed.contains("good") && !listed.contains(secret), "{listed}");

    for (arguments, status, said) in [
        (&["add", "harbor", "--name", "pelican"][..], 1, "already"),
        (&["add", "harbor", "--name", " x"], 2, "a name must be"),
        (&["add", "nobody", "--name", "x"], 1, "there is no dealer \"nobody\""),
        (&["add", "harbor", "--name", "x", "--scope", "leads"], 2, "lead.submit"),
        (&["add", "harbor", "--name", "x", "--limit", "5"], 2, "100/60"),
        (&["revoke", "harbor", "heron"], 1, "forecourt key list"),
        (&["list", "nobody"], 1, "forecourt provision"),
    ] {
        let refused = key(&platform, arguments).await;
        let stderr = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
        assert!(refused.stdout.is_empty(), "{arguments:?}");
    }

    // By the digits that are shown, too.
    let digits = secret.split('_').nth(1).unwrap().to_owned();
    let revoked = key(&platform, &["revoke", "harbor", &digits]).await;
    assert!(revoked.status.success(), "{}", text(&revoked.stderr));
    let since = Instant::now();
    while with(&platform, "harbor", secret).response().await.status() != 401 {
        assert!(since.elapsed() < Duration::from_secs(3), "a revoked key still opens");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(text(&key(&platform, &["list", "harbor"]).await.stdout).contains("revoked 20"));
    platform.stop().await;
}
