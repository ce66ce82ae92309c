//! Without a key: the same wish of the same shopper is one lead, and nothing that was said is lost.

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::{behind, contracts, count, dealer, lead, platform, with};

#[tokio::test]
async fn the_same_shopper_and_vehicle_are_one_lead() {
    let platform = platform(json!({})).await;
    let phone = |mut lead: Value, phone: &str| {
        lead["customer"]["phone"] = json!(phone);
        lead
    };
    let civic = |lead: Value| with(lead, "vehicle_of_interest", json!({"stock": "S-a"}));
    let ask = async |lead: Value| platform.ask("harbor", lead).result().await;
    let first = ask(civic(phone(lead("noor"), "+13105550199"))).await;
    assert_eq!(first["status"], "received");
    for same in [
        civic(lead("NOOR")),
        civic(phone(lead("other"), "+13105550199")),
        with(civic(lead("noor")), "message", json!("Is it still there?")),
        with(lead("noor"), "vehicle_of_interest", json!({"stock": "s-a", "make": "Honda"})),
    ] {
        let answer = ask(same).await;
        assert_eq!((&answer["status"], &answer["lead_id"]), (&json!("duplicate"), &first["lead_id"]));
    }
    for other in [
        lead("noor"),
        with(lead("noor"), "vehicle_of_interest", json!({"stock": "S-b"})),
        civic(lead("nora")),
        civic(phone(lead("nora-2"), "+13105550198")),
    ] {
        let answer = ask(other).await;
        assert_eq!(answer["status"], "received");
        assert_ne!(answer["lead_id"], first["lead_id"]);
    }
    // The same words again say nothing new; other words are kept.
    let before = count(&platform, "lead_notes").await;
    assert_eq!(before, 4);
    let mut words = civic(lead("noor"));
    words["consent"]["granted_at"] = json!("2026-11-30T08:00:00Z");
    for _ in 0..3 {
        ask(words.clone()).await;
    }
    assert_eq!(count(&platform, "lead_notes").await, before + 1);
    let texts: Vec<String> = sqlx::query_scalar("select request from lead_notes")
        .fetch_all(&mut behind(&platform).await)
        .await
        .unwrap();
    assert!(texts.iter().any(|text| text.contains("Is it still there?")));
}

#[tokio::test]
async fn the_rule_holds_across_contracts_within_its_window_and_within_one_dealer() {
    let platform = platform(json!({"duplicate_hours": 2})).await;
    platform.provision(&json!({"lakeside": dealer(json!({}))})).await;
    let mut ids = Vec::new();
    for contract in contracts() {
        ids.push(platform.ask_in(contract, "harbor", lead("noor")).result().await["lead_id"].clone());
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(platform.ask("lakeside", lead("noor")).result().await["status"], "received");
    for (minutes, status) in [(119, "duplicate"), (121, "received")] {
        let sql = format!(
            "update leads set received_at = now() - interval '{minutes} minutes'
             where tenant_id = (select tenant_id from tenants where slug = 'harbor')"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut behind(&platform).await).await.unwrap();
        assert_eq!(platform.ask("harbor", lead("noor")).result().await["status"], status, "{minutes}");
    }
}

#[tokio::test]
async fn copies_at_once_are_one_lead_and_duplicates_of_it() {
    let platform = platform(json!({})).await;
    // Half of them share the address with the others, and half the number.
    let copies = (0..40).map(|n| {
        let mut copy = lead("noor");
        copy["customer"]["phone"] = json!("+13105550199");
        copy["message"] = json!(format!("copy {n}"));
        match n % 3 {
            0 => {}
            1 => copy["customer"]["email"] = json!(format!("noor-{n}@mail.example")),
            _ => {
                copy["customer"].as_object_mut().unwrap().remove("phone");
            }
        }
        let asking = platform.ask("harbor", copy);
        tokio::spawn(async move { asking.result().await })
    });
    let answers: Vec<Value> =
        futures_util::future::join_all(copies).await.into_iter().map(|answer| answer.unwrap()).collect();
    // A number and an address that never came together are two shoppers, as far as anybody can tell; whoever has
    // both joins the earlier. So there are at most two leads, and every answer names one of them.
    let leads = count(&platform, "leads").await;
    assert!((1..=2).contains(&leads), "{leads}");
    let received = answers.iter().filter(|answer| answer["status"] == "received").count();
    assert_eq!(i64::try_from(received).unwrap(), leads);
    assert_eq!(count(&platform, "lead_notes").await, 40 - leads, "everything that was said is kept");
}
