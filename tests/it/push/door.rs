//! Who is let in, and what is told to whom.

use serde_json::json;
use uuid::Uuid;

use super::{answered, cars, dealer, sender, tenant};

#[tokio::test]
async fn a_file_becomes_a_run_that_its_sender_may_follow() {
    let platform = dealer("push-one").await;
    let sender = sender(&platform, "push-one", json!({})).await;
    let taken = sender.taken("", cars(3, 20_000)).await;
    assert_eq!((&taken["state"], &taken["repeated"]), (&json!("received"), &json!(false)));
    let status_url = taken["status_url"].as_str().unwrap();
    assert!(status_url.ends_with(taken["run_id"].as_str().unwrap()), "{status_url}");
    let path = status_url.split("/push/").nth(1).unwrap();
    let asked = platform.http.get(format!("{}/push/{path}", platform.origin)).bearer_auth(&sender.token);
    let response = asked.send().await.unwrap();
    for header in ["access-control-allow-origin", "access-control-expose-headers"] {
        assert!(response.headers().get(header).is_none(), "no web page is let in: {header}");
    }
    let run = answered(response, 200).await;
    assert_eq!((&run["state"], &run["findings"]), (&json!("received"), &json!([])));
    assert!(run.get("actor").is_none(), "{run}");
    platform.stop().await;
}

#[tokio::test]
async fn a_stranger_learns_nothing() {
    let platform = dealer("push-two").await;
    let ours = sender(&platform, "push-two", json!({})).await;
    let other = sender(&platform, "push-two", json!({})).await;
    let run = ours.taken("", cars(2, 20_000)).await["run_id"].as_str().unwrap().to_owned();
    let unknown = format!("fcp_{}", "0".repeat(64));
    let mut answers = Vec::new();
    for (source, token) in [
        (ours.source.to_string(), Some(other.token.as_str())),
        (ours.source.to_string(), Some(unknown.as_str())),
        (ours.source.to_string(), Some("x")),
        (ours.source.to_string(), None),
        (Uuid::new_v4().to_string(), Some(ours.token.as_str())),
        ("nothing".to_owned(), Some(ours.token.as_str())),
    ] {
        let mut asked =
            platform.http.post(format!("{}/push/feeds/{source}", platform.origin)).body("VIN\nx\n");
        if let Some(token) = token {
            asked = asked.bearer_auth(token);
        }
        let mut problem = answered(asked.send().await.unwrap(), 401).await;
        problem["request_id"] = json!(null);
        answers.push(problem);
    }
    assert!(answers.iter().all(|one| *one == answers[0]), "{answers:#?}");
    // The run of another source, of the same dealer or not, is no run.
    for run in [run, Uuid::now_v7().to_string(), "x".to_owned()] {
        let asked = platform.http.get(other.address(&format!("/runs/{run}"))).bearer_auth(&other.token);
        answered(asked.send().await.unwrap(), 404).await;
    }
    // A browser is not told that it might.
    let preflight = platform.http.request(reqwest::Method::OPTIONS, ours.address(""));
    let preflight =
        preflight.header("origin", "https://x.example").header("access-control-request-method", "POST");
    let preflight = preflight.send().await.unwrap();
    assert!(preflight.headers().get("access-control-allow-methods").is_none());
    assert_eq!(ours.runs().await.len(), 1);
    assert_eq!(other.runs().await.len(), 0);
    platform.stop().await;
}

#[tokio::test]
async fn another_dealers_run_is_not_shown_and_a_suspended_dealer_takes_no_file() {
    let platform = dealer("push-three").await;
    platform.provision(&json!({"push-four": {"name": "Other", "rooftops": [{"name": "R"}]}})).await;
    let ours = sender(&platform, "push-three", json!({})).await;
    let theirs = sender(&platform, "push-four", json!({})).await;
    let run = theirs.taken("", cars(2, 20_000)).await["run_id"].as_str().unwrap().to_owned();
    let asked = platform.http.get(ours.address(&format!("/runs/{run}"))).bearer_auth(&ours.token);
    answered(asked.send().await.unwrap(), 404).await;

    let mut tx = platform.application().store().tenant(tenant(&platform, "push-four").await).await.unwrap();
    let mut row = tx.row().await.unwrap().unwrap();
    row.state = store::TenantState::Suspended;
    tx.save_tenant(&row).await.unwrap();
    tx.commit().await.unwrap();
    let refused = answered(theirs.push("", cars(2, 20_000)).send().await.unwrap(), 403).await;
    assert!(refused["detail"].as_str().unwrap().contains("suspended"), "{refused}");
    assert_eq!(theirs.runs().await.len(), 1);
    platform.stop().await;
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_and_counted() {
    let platform = dealer("push-five").await;
    let sender = sender(&platform, "push-five", json!({"limits": {"file_bytes": 1000}})).await;
    for (query, header, status) in [
        ("?mode=some", None, 400),
        ("?moed=full", None, 400),
        ("?snapshot=a&part=1", None, 400),
        ("", Some(("content-encoding", "br")), 400),
        ("", Some(("content-encoding", "gzip")), 400),
        ("", Some(("idempotency-key", "a b")), 400),
    ] {
        let mut asked = sender.push(query, "VIN\nx\n");
        if let Some((name, value)) = header {
            asked = asked.header(name, value);
        }
        answered(asked.send().await.unwrap(), status).await;
    }
    let large = answered(sender.push("", "x".repeat(1001)).send().await.unwrap(), 413).await;
    assert!(large["detail"].as_str().unwrap().contains("1000 bytes"), "{large}");
    answered(platform.http.get(sender.address("")).send().await.unwrap(), 405).await;
    answered(platform.http.get(format!("{}/push/other", platform.origin)).send().await.unwrap(), 404).await;
    assert_eq!(sender.runs().await.len(), 0);
    // As many as may wait, and one more.
    for no in 0..feeds_may_wait() {
        sender.taken("", format!("VIN\n{no}\n")).await;
    }
    let response = sender.push("", "VIN\nz\n").send().await.unwrap();
    assert!(response.headers().get("retry-after").is_some());
    answered(response, 429).await;
    platform.stop().await;
}

fn feeds_may_wait() -> usize {
    dealer::feeds::MOST_WAITING
}
