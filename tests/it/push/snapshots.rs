//! Whole lots in several parts.

use serde_json::json;

use super::{answered, cars, dealer, sender};

#[tokio::test]
async fn parts_come_in_any_order_and_more_than_once() {
    let platform = dealer("part-one").await;
    let sender = sender(&platform, "part-one", json!({})).await;
    let all = cars(30, 20_000);
    let lines: Vec<&str> = all.lines().collect();
    let part = |from: usize, to: usize| format!("{}\n{}", lines[0], lines[from..to].join("\n"));
    let (first, second, third) = (part(1, 11), part(11, 21), part(21, 31));
    for (no, text) in [(3, &third), (1, &first), (3, &third)] {
        let there = sender.taken(&format!("?snapshot=n1&part={no}&parts=3"), text.clone()).await;
        assert_eq!(there["state"], "incomplete", "{there}");
    }
    assert_eq!(sender.runs().await.len(), 0);
    let other = sender.push("?snapshot=n1&part=1&parts=3", second.clone()).send().await.unwrap();
    answered(other, 409).await;
    let other = sender.push("?snapshot=n1&part=2&parts=4", second.clone()).send().await.unwrap();
    answered(other, 409).await;
    let whole = sender.taken("?snapshot=n1&part=2&parts=3", second.clone()).await;
    let again = answered(sender.push("?snapshot=n1&part=2&parts=3", second).send().await.unwrap(), 200).await;
    assert_eq!((&again["run_id"], &again["repeated"]), (&whole["run_id"], &json!(true)));
    let runs = sender.runs().await;
    assert_eq!((runs.len(), runs[0].mode.as_str()), (1, "full"));
    assert_eq!(String::from_utf8(sender.file(&runs[0]).await).unwrap(), all);
    platform.stop().await;
}

#[tokio::test]
async fn parts_at_once_are_one_run() {
    let platform = dealer("part-two").await;
    let sender = sender(&platform, "part-two", json!({})).await;
    let part = |no: usize| {
        let body = json!({"vehicles": [{"vin": format!("V{no}"), "stock": no}]}).to_string();
        let push = sender.push(&format!("?snapshot=n2&part={no}&parts=6"), body);
        push.header("content-type", "application/json").send()
    };
    let answers = futures_util::future::join_all((1..=6).map(part)).await;
    let whole = answers.into_iter().map(Result::unwrap).filter(|one| one.status().is_success()).count();
    assert_eq!(whole, 6);
    let runs = sender.runs().await;
    assert_eq!(runs.len(), 1);
    let file = String::from_utf8(sender.file(&runs[0]).await).unwrap();
    assert_eq!(file.lines().count(), 6, "{file}");
    platform.stop().await;
}
