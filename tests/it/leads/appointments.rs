//! What becomes of a wish to come by.

use chrono::{Duration, Timelike, Utc};
use serde_json::{Value, json};
use testkit::Platform;

use super::{ahead, contracts, count, dealer, is_refused, lead, moment, platform, visit, with};

async fn ask(platform: &Platform, shopper: &str, appointment: Value) -> Value {
    let answer = platform.ask("harbor", with(lead(shopper), "appointment", appointment)).result().await;
    assert_eq!(answer["dealer"]["phone"], "+13105550140", "{answer}");
    let visit = &answer["appointment"];
    assert!(visit["appointment_id"].as_str().is_some_and(|id| id.starts_with("appt_")), "{answer}");
    assert_eq!(visit.get("confirmed_at").is_some(), visit["status"] == "confirmed", "{answer}");
    assert_eq!(visit.get("proposed_times").is_some(), visit["status"] == "proposed", "{answer}");
    answer
}

fn proposals(answer: &Value) -> Vec<String> {
    let times = answer["appointment"]["proposed_times"].as_array().unwrap_or_else(|| panic!("{answer}"));
    times.iter().map(|time| moment(time).format("%H:%M").to_string()).collect()
}

#[tokio::test]
async fn open_times_are_confirmed_and_others_get_the_nearest_open_ones() {
    let platform = platform(json!({})).await;
    let answer = ask(&platform, "one", visit("sales", ahead(3, 11, 0))).await;
    assert_eq!(answer["appointment"]["status"], "confirmed");
    assert_eq!(moment(&answer["appointment"]["confirmed_at"]), ahead(3, 11, 0));
    // Taken: what overlaps it is not given either.
    let answer = ask(&platform, "two", visit("sales", ahead(3, 11, 15))).await;
    assert_eq!(proposals(&answer), ["11:30", "10:30", "12:00"]);
    // Another offset is the same moment.
    let at = ahead(3, 11, 0).with_timezone(&chrono::FixedOffset::west_opt(8 * 3600).unwrap()).to_rfc3339();
    let answer = ask(&platform, "two-b", json!({"appointment_type": "sales", "appointment_at": at})).await;
    assert_eq!(answer["appointment"]["status"], "proposed");
    // Closed.
    let answer = ask(&platform, "three", visit("trade_in", ahead(4, 3, 0))).await;
    assert_eq!(proposals(&answer), ["09:00", "09:30", "10:00"]);
    // The end has to lie inside too.
    let long = json!({"appointment_type": "sales", "appointment_at": super::written(ahead(5, 16, 0)), "duration_minutes": 90});
    assert_eq!(proposals(&ask(&platform, "four", long).await), ["15:30", "15:00", "14:30"]);
    let day = json!({"appointment_type": "sales", "appointment_at": super::written(ahead(5, 9, 0)), "duration_minutes": 480});
    assert_eq!(ask(&platform, "five", day).await["appointment"]["status"], "confirmed");
    // Longer than any day: people have to see.
    let endless = json!({"appointment_type": "sales", "appointment_at": super::written(ahead(6, 9, 0)), "duration_minutes": 1e18});
    assert_eq!(ask(&platform, "six", endless).await["appointment"]["status"], "requested");
    // Past, too soon, too far.
    for at in
        [Utc::now() - Duration::days(2), Utc::now() + Duration::minutes(60), Utc::now() + Duration::days(90)]
    {
        let answer = ask(
            &platform,
            &format!("seven{at}").replace([' ', ':', '+'], "-"),
            visit("sales", at.with_nanosecond(0).unwrap()),
        )
        .await;
        let times = answer["appointment"]["proposed_times"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(times.len(), 3);
        for time in times.iter().map(moment) {
            assert!(
                time > Utc::now() + Duration::minutes(115) && time < Utc::now() + Duration::days(60),
                "{time}"
            );
            assert!((9..17).contains(&time.hour()), "{time}");
        }
    }
    assert_eq!(
        ask(&platform, "eight", json!({"appointment_type": "sales"})).await["appointment"]["status"],
        "requested"
    );
}

#[tokio::test]
async fn any_time_that_the_schema_accepts_is_answered() {
    let platform = platform(json!({"appointment_horizon_days": 3650, "appointment_notice_minutes": 1})).await;
    for (n, at) in [
        "0000-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.999999999-23:59",
        "2016-12-31T23:59:60Z",
        "2026-12-31t15:59:60-08:00",
        "2028-02-29T12:00:00.123456789012345z",
    ]
    .into_iter()
    .enumerate()
    {
        let answer =
            ask(&platform, &format!("s{n}"), json!({"appointment_type": "sales", "appointment_at": at}))
                .await;
        let status = &answer["appointment"]["status"];
        assert_eq!(status, if n == 4 { "confirmed" } else { "proposed" }, "{at}: {answer}");
        assert!(!answer.to_string().contains(":60"), "{answer}");
        if n == 4 {
            // No more of it than is kept.
            assert_eq!(answer["appointment"]["confirmed_at"], "2028-02-29T12:00:00.123456+00:00");
        }
    }
}

#[tokio::test]
async fn a_proposal_is_taken_by_sending_the_lead_again_and_a_booking_is_moved() {
    let platform = platform(json!({})).await;
    ask(&platform, "other", visit("sales", ahead(3, 11, 0))).await;
    let first = ask(&platform, "noor", visit("sales", ahead(3, 11, 0))).await;
    assert_eq!((&first["status"], &first["appointment"]["status"]), (&json!("received"), &json!("proposed")));
    let time = first["appointment"]["proposed_times"][0].clone();
    let wish = json!({"appointment_type": "sales", "appointment_at": time});
    let fresh = with(with(lead("noor"), "appointment", wish), "idempotency_key", json!("fresh"));
    let second = platform.ask("harbor", fresh.clone()).result().await;
    assert_eq!((&second["status"], &second["lead_id"]), (&json!("duplicate"), &first["lead_id"]));
    assert_eq!(second["appointment"]["status"], "confirmed", "{second}");
    assert_eq!(second["appointment"]["appointment_id"], first["appointment"]["appointment_id"]);
    assert_eq!(moment(&second["appointment"]["confirmed_at"]), moment(&time));
    // Once more, with its key and with another: it is booked, and not in its own way.
    assert_eq!(platform.ask("harbor", fresh.clone()).result().await, second);
    let again = platform.ask("harbor", with(fresh, "idempotency_key", json!("again"))).result().await;
    assert_eq!(again, second);
    // A time that is not free leaves the booking as it is; one that is free moves it.
    let refused = ask(&platform, "noor", visit("sales", ahead(3, 3, 0))).await;
    assert_eq!(refused["appointment"]["status"], "proposed");
    let taken = ask(&platform, "third", json!({"appointment_type": "sales", "appointment_at": time})).await;
    assert_eq!(taken["appointment"]["status"], "proposed");
    let moved = ask(&platform, "noor", visit("sales", ahead(5, 15, 0))).await;
    assert_eq!(moved["appointment"]["appointment_id"], first["appointment"]["appointment_id"]);
    let free = ask(&platform, "fourth", json!({"appointment_type": "sales", "appointment_at": time})).await;
    assert_eq!(free["appointment"]["status"], "confirmed");
    assert_eq!(count(&platform, "leads").await, 4);
    // Other words of the same shopper are kept beside the lead.
    assert_eq!(count(&platform, "lead_notes").await, 4);
}

#[tokio::test]
async fn as_many_at_once_as_the_dealer_has_room_for() {
    let platform = platform(json!({"appointment_capacity": 2})).await;
    for (n, status) in ["confirmed", "confirmed", "proposed"].into_iter().enumerate() {
        let answer = ask(&platform, &format!("s{n}"), visit("sales", ahead(3, 11, 0))).await;
        assert_eq!(answer["appointment"]["status"], status, "{n}");
    }
}

#[tokio::test]
async fn dealers_who_decide_by_hand_and_those_who_propose_nothing() {
    let manual = platform(json!({"appointments": "manual"})).await;
    for at in [ahead(3, 11, 0), ahead(3, 3, 0), Utc::now() - Duration::days(2)] {
        let answer = ask(&manual, &format!("s{}", at.timestamp()), visit("sales", at)).await;
        assert_eq!(answer["appointment"]["status"], "requested");
    }
    let strict = platform(json!({"appointments": "strict"})).await;
    for contract in contracts() {
        for at in [ahead(3, 3, 0), Utc::now() - Duration::days(2), Utc::now() + Duration::days(90)] {
            let lead =
                with(with(lead("noor"), "appointment", visit("sales", at)), "idempotency_key", json!("k"));
            let error = strict.ask_in(contract, "harbor", lead).error().await;
            assert_eq!(error["code"], -32000);
            is_refused(&error, "APPOINTMENT_TIME_UNAVAILABLE");
        }
    }
    for table in ["leads", "appointments", "lead_keys"] {
        assert_eq!(count(&strict, table).await, 0, "nothing is stored in {table}");
    }
    // The key stayed free.
    let lead = with(
        with(lead("noor"), "appointment", visit("sales", ahead(3, 11, 0))),
        "idempotency_key",
        json!("k"),
    );
    assert_eq!(strict.ask("harbor", lead).result().await["appointment"]["status"], "confirmed");
    assert_eq!(
        ask(&strict, "two", json!({"appointment_type": "sales"})).await["appointment"]["status"],
        "requested"
    );
}

#[tokio::test]
async fn what_nobody_is_there_for_is_rejected_and_what_nobody_knows_is_left_to_people() {
    let mut document = dealer(json!({}));
    document["rooftops"].as_array_mut().unwrap().pop();
    document["inventory"] = json!([]);
    let platform = Platform::with_dealer("harbor", document.clone()).await;
    let answer = ask(&platform, "noor", visit("service", ahead(3, 11, 0))).await;
    assert_eq!(
        (&answer["status"], &answer["appointment"]["status"]),
        (&json!("received"), &json!("rejected"))
    );
    // Hours without a zone are hours of nowhere; a zone without hours says nothing.
    for lost in ["timezone", "schedules"] {
        let mut unclear = document.clone();
        unclear["rooftops"][0].as_object_mut().unwrap().remove(lost);
        for (mode, status) in [("auto", Some("requested")), ("strict", None)] {
            unclear["policy"] = json!({ "appointments": mode });
            platform.provision(&json!({"harbor": unclear})).await;
            let lead = with(lead(&format!("{lost}-{mode}")), "appointment", visit("sales", ahead(3, 11, 0)));
            match status {
                Some(status) => {
                    assert_eq!(platform.ask("harbor", lead).result().await["appointment"]["status"], status)
                }
                None => {
                    is_refused(&platform.ask("harbor", lead).error().await, "APPOINTMENT_TIME_UNAVAILABLE");
                }
            }
        }
    }
    // A holiday.
    let mut feast = document.clone();
    feast["rooftops"][0]["holidays"] = json!([{"date": ahead(3, 0, 0).format("%Y-%m-%d").to_string()}]);
    platform.provision(&json!({"harbor": feast})).await;
    let answer = ask(&platform, "feast", visit("sales", ahead(3, 11, 0))).await;
    assert_eq!(answer["appointment"]["status"], "proposed");
    assert!(
        proposals(&answer).iter().all(|time| time.as_str() >= "15:00" || time.as_str() <= "10:00"),
        "{answer}"
    );
}

#[tokio::test]
async fn notes_say_what_happens_next_also_at_dealers_for_trying_out() {
    let mut document = dealer(json!({}));
    document["sandbox"] = json!(true);
    let platform = Platform::with_dealer("harbor", document).await;
    let lead = with(lead("noor"), "appointment", visit("sales", ahead(3, 11, 0)));
    let answer = platform.ask("harbor", lead).send().await;
    let message = answer["result"]["message"]["parts"][0]["data"]["message"].as_str().unwrap();
    let day = ahead(3, 11, 0).format("%A, %-d %B %Y, 11:00").to_string();
    assert!(message.contains("is booked for") && message.contains(&day), "{message}");
    assert!(
        message.contains("Sandbox dealer") && message.contains("nothing leaves the platform"),
        "{message}"
    );
}
