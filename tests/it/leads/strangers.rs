//! Who knows a shopper's address learns nothing of what is booked, and moves nothing.

use chrono::Duration;
use dealer::callers::{self, NewKey};
use serde_json::{Value, json};
use testkit::Platform;

use super::{ahead, behind, contracts, count, lead, moment, platform, visit, with, written};

/// The lead as another agent sends it.
fn from(agent: &str, lead: Value) -> Value {
    with(lead, "source_agent", json!({"name": agent}))
}

fn civic(shopper: &str) -> Value {
    with(lead(shopper), "vehicle_of_interest", json!({"stock": "S-a"}))
}

/// The whole text of an answer, notes included.
async fn answer(platform: &Platform, lead: Value) -> (Value, String) {
    let answer = platform.ask("harbor", lead).send().await;
    (testkit::data_of(&answer).clone(), answer.to_string())
}

async fn booked(platform: &Platform) -> Vec<(chrono::DateTime<chrono::Utc>, String)> {
    sqlx::query_as("select start_at, status from appointments order by start_at")
        .fetch_all(&mut behind(platform).await)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_visit_is_told_to_and_moved_by_its_own_agent_only() {
    let platform = platform(json!({})).await;
    for contract in contracts() {
        let (shopper, hour) =
            (format!("noor-{contract}"), if contract == contracts().next().unwrap() { 10 } else { 14 });
        // A dealer has room for one at a time; each contract has a day of its own.
        let day = 3 + i64::try_from(contracts().position(|known| known == contract).unwrap()).unwrap();
        let at = ahead(day, hour, 30);
        let drive = with(civic(&shopper), "appointment", visit("test_drive", at));
        let first = platform.ask_in(contract, "harbor", drive.clone()).result().await;
        assert_eq!(first["appointment"]["status"], "confirmed", "{first}");
        let stands = (at.format("%-d %B %Y").to_string(), at.format("%H:%M").to_string());
        let mut ids = Vec::new();
        for (n, wish) in [
            visit("test_drive", ahead(day, 3, 0)),
            visit("test_drive", ahead(day, hour + 1, 30)),
            visit("test_drive", at),
            json!({"appointment_type": "test_drive"}),
            visit("test_drive", at - Duration::days(400)),
        ]
        .into_iter()
        .enumerate()
        {
            for key in [None, Some(format!("k{n}"))] {
                let mut sent = from("cuckoo", with(civic(&shopper), "appointment", wish.clone()));
                if let Some(key) = key {
                    sent["idempotency_key"] = json!(key);
                }
                let asked = platform.ask_in(contract, "harbor", sent).send().await;
                let told = testkit::data_of(&asked);
                assert_eq!((&told["status"], &told["lead_id"]), (&json!("duplicate"), &first["lead_id"]));
                let visit = &told["appointment"];
                assert_eq!(visit["status"], "requested", "{asked}");
                assert!(
                    visit.get("confirmed_at").is_none() && visit.get("proposed_times").is_none(),
                    "{asked}"
                );
                assert_ne!(visit["appointment_id"], first["appointment"]["appointment_id"]);
                let text = asked["result"]["message"]["parts"][0]["data"]["message"].as_str().unwrap();
                assert!(!text.contains(&stands.0) && !text.contains(&stands.1), "{text}");
                ids.push(visit["appointment_id"].clone());
            }
        }
        assert!(ids.iter().all(|id| *id == ids[0]), "one visit has one id: {ids:?}");
        // Nothing moved; its own agent is told and moves it, with a new key or none.
        let again = platform.ask_in(contract, "harbor", drive.clone()).result().await;
        assert_eq!(moment(&again["appointment"]["confirmed_at"]), at, "{again}");
        let moved = with(
            with(drive, "appointment", visit("test_drive", ahead(day, hour + 1, 30))),
            "idempotency_key",
            json!("mine"),
        );
        let moved = platform.ask_in(contract, "harbor", moved).result().await;
        assert_eq!(moment(&moved["appointment"]["confirmed_at"]), ahead(day, hour + 1, 30), "{moved}");
        assert_eq!(moved["appointment"]["appointment_id"], first["appointment"]["appointment_id"]);
    }
    let all = booked(&platform).await;
    assert_eq!(all.len(), contracts().count());
    assert!(all.iter().all(|(_, status)| status == "confirmed"), "{all:?}");
}

#[tokio::test]
async fn a_stranger_books_nothing_for_a_lead_and_its_words_are_kept() {
    let platform = platform(json!({"appointments": "strict"})).await;
    let (first, _) = answer(&platform, civic("noor")).await;
    // Whether there is room or a booking is not to be found out, at a dealer that refuses times either.
    for at in [ahead(3, 11, 0), ahead(3, 3, 0)] {
        let wish = with(civic("noor"), "appointment", visit("sales", at));
        let (told, _) = answer(&platform, from("cuckoo", wish)).await;
        assert_eq!((&told["status"], &told["lead_id"]), (&json!("duplicate"), &first["lead_id"]));
        assert_eq!(told["appointment"]["status"], "requested");
    }
    assert_eq!((count(&platform, "appointments").await, count(&platform, "lead_notes").await), (0, 2));
    let callers: Vec<String> = sqlx::query_scalar("select caller from lead_notes")
        .fetch_all(&mut behind(&platform).await)
        .await
        .unwrap();
    assert_eq!(callers, ["agent:cuckoo", "agent:cuckoo"]);
}

#[tokio::test]
async fn with_keys_the_key_counts_and_not_the_name_that_is_declared() {
    let mut document = super::dealer(json!({}));
    document["callers"] = json!({"accept": ["keys"]});
    let platform = Platform::with_dealer("harbor", document).await;
    let store = platform.application().store().clone();
    let mut keys = Vec::new();
    for name in ["pelican", "cuckoo"] {
        let key = NewKey { name: name.into(), scopes: Vec::new(), rate_limit: None };
        keys.push(callers::add_key(&store, "harbor", key, "test").await.unwrap().text);
    }
    platform.catch_up().await;
    let ask = async |key: &str, agent: &str, at| {
        let lead = from(agent, with(lead("noor"), "appointment", visit("sales", at)));
        let bearer = format!("Bearer {key}");
        platform.ask("harbor", lead).header("authorization", Some(&bearer)).result().await["appointment"]
            .clone()
    };
    assert_eq!(ask(&keys[0], "one", ahead(3, 11, 0)).await["status"], "confirmed");
    assert_eq!(ask(&keys[1], "one", ahead(3, 12, 0)).await["status"], "requested");
    let moved = ask(&keys[0], "two", ahead(3, 13, 0)).await;
    assert_eq!(moment(&moved["confirmed_at"]), ahead(3, 13, 0), "{moved}");
}

#[tokio::test]
async fn what_was_added_to_a_lead_is_known_again_too() {
    let platform = platform(json!({})).await;
    let mut both = lead("noor");
    both["customer"]["phone"] = json!("+13105550199");
    let mut number = both.clone();
    number["customer"].as_object_mut().unwrap().remove("email");
    number["consent"]["allowed_channels"] = json!(["phone"]);
    let mut third = number.clone();
    third["customer"]["email"] = json!("third@mail.example");
    let first = platform.ask("harbor", lead("noor")).result().await;
    assert_eq!(first["status"], "received");
    // Each is known by what the one before said.
    for next in [both, number.clone(), third, lead("third")] {
        let answer = platform.ask("harbor", next).result().await;
        assert_eq!((&answer["status"], &answer["lead_id"]), (&json!("duplicate"), &first["lead_id"]));
    }
    // About another vehicle it is another lead.
    let other = with(number.clone(), "vehicle_of_interest", json!({"stock": "S-a"}));
    assert_eq!(platform.ask("harbor", other).result().await["status"], "received");
    // And not for longer than the lead itself, or its note, is remembered.
    for table in ["lead_notes", "leads"] {
        let sql = format!(
            "delete from leads where phone_hash is not null;
             update leads set received_at = now(); update lead_notes set received_at = now();
             update {table} set received_at = now() - interval '25 hours'"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut behind(&platform).await).await.unwrap();
        let answer = platform.ask("harbor", number.clone()).result().await;
        assert_eq!(answer["status"], "received", "{table}");
    }
}

#[tokio::test]
async fn a_wish_without_a_time_is_answered_with_the_visit_that_stands() {
    let platform = platform(json!({})).await;
    let at = ahead(3, 11, 0);
    let first = answer(&platform, with(lead("noor"), "appointment", visit("sales", at))).await.0;
    let open = with(lead("noor"), "appointment", json!({"appointment_type": "sales"}));
    for _ in 0..2 {
        let (told, text) = answer(&platform, open.clone()).await;
        assert_eq!((&told["status"], &told["appointment"]), (&json!("duplicate"), &first["appointment"]));
        assert!(text.contains("is booked for"), "{text}");
    }
    assert_eq!(booked(&platform).await, [(at, "confirmed".to_owned())]);
    // Of another kind there is none, and what is over does not stand.
    let drive = with(lead("noor"), "appointment", json!({"appointment_type": "trade_in"}));
    assert_eq!(answer(&platform, drive).await.0["appointment"]["status"], "requested");
    let sql =
        "update appointments set start_at = now() - interval '2 hours', end_at = now() - interval '1 hour'
               where status = 'confirmed'";
    sqlx::raw_sql(sql).execute(&mut behind(&platform).await).await.unwrap();
    let late = with(open, "message", json!(written(at)));
    assert_eq!(answer(&platform, late).await.0["appointment"]["status"], "requested");
}
