//! `dealer.information`: who the dealer is (AAP.md 7.1).

use serde_json::{Value, json};

use crate::ground::{fault, ground, harbor, information, problems, settle};

fn rooftop(name: &str) -> Value {
    json!({
        "name": name, "legal_name": "Tidewater Motors, Inc.", "website": "https://tidewater.example/",
        "geo": {"latitude": 46.18, "longitude": -123.83},
        "emails": [{"name": "Sales", "value": "sales@tidewater.example"}], "phones": [{"value": "+15035550142"}],
        "address": {"country": "US", "state": "OR", "city": "Astoria", "address_line_1": "1 Pier", "zip": "97103"},
        "schedules": [{"name": "sales", "value": {"monday": {"open": "09:00", "close": "19:00"}, "sunday": null}}],
        "timezone": "America/Los_Angeles", "notes": "Ring twice.",
        "fees": [{"name": "Documentation fee", "amount": 150}], "capabilities": ["sales", "motorcycle_sales"],
    })
}

#[tokio::test]
async fn the_profile_is_told_as_it_was_given() {
    let mut north = rooftop("North");
    let mut dealer = json!({"name": "Tidewater <Motors> & \"Söhne\"", "welcome_message": "Ahoi.\n\u{2028}😀",
        "rooftops": [north.clone(), {"name": "South", "fees": []}], "inventory": []});
    dealer["rooftops"][0]["holidays"] = json!([{"date": "2026-12-25", "name": "Christmas"}]);
    let platform = settle(json!({"tidewater": dealer.clone()})).await;
    let told = platform.call("tidewater", information()).await;
    let mut expected = json!({"name": dealer["name"], "welcome_message": dealer["welcome_message"]});
    expected["rooftops"] = json!([north, {"name": "South", "fees": []}]);
    assert_eq!(told, expected, "in order, and without what is not public");

    // A change is told at once, and what is taken back is gone.
    north["phones"] = json!([]);
    dealer["rooftops"] = json!([north]);
    dealer["welcome_message"] = Value::Null;
    let platform = settle(json!({"tidewater": dealer})).await;
    let told = platform.call("tidewater", information()).await;
    assert_eq!(told["rooftops"].as_array().unwrap().len(), 1);
    assert_eq!(told["rooftops"][0]["phones"], json!([]));
    assert!(told.get("welcome_message").is_none());
}

#[tokio::test]
async fn the_question_has_nothing_to_choose() {
    for extra in ["filters", "rooftop", "Type", "", "a/b"] {
        let mut data = information();
        data[extra] = json!(1);
        let error = harbor(data).await.error().await;
        let at = format!("/{}", extra.replace('/', "~1"));
        let unknown = [(at, "additionalProperties".to_owned())];
        assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), unknown);
    }
    let platform = ground().await;
    assert_eq!(platform.call("empty", information()).await["welcome_message"], "Welcome.");
    // A sandbox says so, in the place that the schema has for notes.
    let dealer = json!({"name": "Sand", "sandbox": true, "rooftops": [{"name": "R"}], "inventory": []});
    let platform = settle(json!({"sandbox": dealer})).await;
    let answer = platform.ask("sandbox", information()).send().await;
    let payload = &answer["result"]["message"]["parts"][0]["data"];
    assert!(payload["message"].as_str().is_some_and(|note| note.contains("Sandbox") && note.len() <= 2000));
    let plain = platform.ask("empty", information()).send().await;
    assert!(plain["result"]["message"]["parts"][0]["data"].get("message").is_none());
}
