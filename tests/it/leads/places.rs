//! What is booked at a rooftop stays booked when the dealer calls it something else.

use serde_json::{Value, json};
use testkit::{Options, Platform, Process, cluster};

use super::{ahead, dealer, lead, moment, platform, visit, with};

/// The dealer with its first rooftop changed.
fn with_main(change: impl Fn(&mut Value)) -> Value {
    let mut document = dealer(json!({}));
    change(&mut document["rooftops"][0]);
    document
}

async fn ask(platform: &Platform, shopper: &str, wish: Value) -> Value {
    platform.ask("harbor", with(lead(shopper), "appointment", wish)).result().await["appointment"].clone()
}

#[tokio::test]
async fn a_rooftop_keeps_its_visits_when_its_name_changes() {
    let address = json!({"address_line_1": "1 Quay", "city": "Harbor", "state": "OR", "zip": "97103"});
    let platform = platform(json!({})).await;
    let at = visit("sales", ahead(3, 11, 0));
    assert_eq!(ask(&platform, "noor", at.clone()).await["status"], "confirmed");
    let renamed = |name: &str, hours: bool| {
        let (name, address) = (json!(name), address.clone());
        with_main(move |main| {
            main["name"] = name.clone();
            if hours {
                main["address"] = address.clone();
                main["notes"] = json!("Entrance on the river side.");
            }
        })
    };
    let mut addressed = with_main(|_| {});
    addressed["rooftops"][0]["address"] = address.clone();
    for document in [
        renamed("Harbor Main", false),
        renamed("MAIN", false),
        with_main(|_| {}),
        addressed,
        renamed("Quay", true),
    ] {
        let outcomes = platform.try_provision(&json!({"harbor": document})).await;
        assert_eq!(outcomes, [("harbor".to_owned(), Ok("updated"))]);
        platform.catch_up().await;
        let name = &document["rooftops"][0]["name"];
        assert_eq!(ask(&platform, "other", at.clone()).await["status"], "proposed", "{name}");
        // Its own shopper has it still, and may move it there and back.
        for hour in [12, 11] {
            let moved = ask(&platform, "noor", visit("sales", ahead(3, hour, 0))).await;
            assert_eq!(moment(&moved["confirmed_at"]), ahead(3, hour, 0), "{name}");
        }
    }
}

#[tokio::test]
async fn a_node_that_has_not_heard_of_it_books_nothing() {
    let first = platform(json!({})).await;
    let second =
        Platform::start_with(Options { database: Some(first.database.clone()), ..Options::default() }).await;
    let at = visit("sales", ahead(3, 11, 0));
    for (n, name) in ["Quay", "Main", "Quay"].into_iter().enumerate() {
        let document = with_main(|main| main["name"] = json!(name));
        let outcomes = first.try_provision(&json!({"harbor": document})).await;
        assert_eq!(outcomes[0].1, Ok("updated"));
        // At once, at both: whichever name they know, at most one of all gets the time.
        let wishes = (0..6).map(|k| {
            let node = if k % 2 == 0 { &first } else { &second };
            let asking = node.ask("harbor", with(lead(&format!("s{n}-{k}")), "appointment", at.clone()));
            tokio::spawn(async move { asking.send().await })
        });
        for answer in futures_util::future::join_all(wishes).await {
            let answer = answer.unwrap();
            if let Some(error) = answer.get("error") {
                assert_eq!(testkit::aap_error(error).unwrap()["retryable"], true, "{error}");
            }
        }
        let confirmed: i64 =
            sqlx::query_scalar("select count(*) from appointments where status = 'confirmed'")
                .fetch_one(&mut super::behind(&first).await)
                .await
                .unwrap();
        assert!(confirmed <= 1, "{confirmed} at one time");
        first.catch_up().await;
        second.catch_up().await;
    }
    assert_eq!(ask(&second, "last", at).await["status"], "proposed");
}

#[tokio::test]
async fn provision_says_when_visits_lose_their_rooftop() {
    let platform = platform(json!({})).await;
    ask(&platform, "noor", visit("sales", ahead(3, 11, 0))).await;
    ask(&platform, "nora", visit("sales", ahead(3, 3, 0))).await;
    let moved = with_main(|main| {
        main["name"] = json!("Elsewhere");
        main["notes"] = json!("In another town.");
    });
    let file = testkit::scratch("places").join("dealers.json");
    std::fs::write(&file, json!({"tenants": {"harbor": moved}}).to_string()).unwrap();
    let url = cluster().url(&platform.database);
    let provision = || {
        let mut command = Process::command(&["provision", file.to_str().unwrap()]);
        let output = Process::output(command.env("DATABASE_URL", &url));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let said = provision();
    assert!(said.contains("1 visit to come") && said.contains("forecourt lead list harbor"), "{said}");
    let said = provision();
    assert!(said.contains("unchanged") && !said.contains("visit"), "{said}");
}
