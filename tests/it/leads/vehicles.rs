//! When the vehicle of a lead is looked up, and when the lead is simply taken.

use serde_json::{Value, json};

use super::{ahead, contracts, count, is_refused, lead, platform, problems, visit, with};

fn about(shopper: &str, vehicle: Value, kind: Option<&str>) -> Value {
    let lead = with(lead(shopper), "vehicle_of_interest", vehicle);
    match kind {
        Some(kind) => with(lead, "appointment", visit(kind, ahead(3, 11, 0))),
        None => lead,
    }
}

#[tokio::test]
async fn only_a_test_drive_of_a_named_vehicle_needs_it_to_be_there() {
    let platform = platform(json!({"appointment_capacity": 50})).await;
    for contract in contracts() {
        let ask = |lead: Value| platform.ask_in(contract, "harbor", lead);
        let shopper = format!("noor-{contract}");
        for unknown in
            [json!({"vin": "1HGCV1F30NA999999"}), json!({"stock": "S-x"}), json!({"vehicle_id": "x"})]
        {
            let error = ask(about(&shopper, unknown.clone(), Some("test_drive"))).error().await;
            assert_eq!(error["code"], -32000);
            is_refused(&error, "VEHICLE_NOT_FOUND");
            // Everything else about it is the dealer's business.
            for kind in [None, Some("sales"), Some("trade_in")] {
                ask(about(&format!("{shopper}-{}", kind.unwrap_or("none")), unknown.clone(), kind))
                    .result()
                    .await;
            }
        }
        let error = ask(about(&shopper, json!({"stock": "S-gone"}), Some("test_drive"))).error().await;
        is_refused(&error, "VEHICLE_UNAVAILABLE");
        ask(about(&shopper, json!({"stock": "S-gone"}), None)).result().await;
        // Without an identifier nothing is looked up, however little is said.
        for vehicle in
            [json!({}), json!({"make": "Nobody's"}), json!({"year": 2024.0, "__proto__": {"x": 1}})]
        {
            let answer = ask(about(&shopper, vehicle, Some("test_drive"))).result().await;
            assert_eq!(answer["appointment"]["status"], "confirmed");
        }
        let answer = ask(about(&shopper, json!({"vehicle_id": "a"}), Some("test_drive"))).result().await;
        assert_eq!(
            (&answer["status"], &answer["appointment"]["status"]),
            (&json!("received"), &json!("confirmed"))
        );
    }
}

#[tokio::test]
async fn a_test_drive_names_a_vehicle_unless_the_dealer_says_otherwise() {
    let strict = platform(json!({})).await;
    let drive = with(lead("noor"), "appointment", json!({"appointment_type": "test_drive"}));
    let error = strict.ask("harbor", drive.clone()).error().await;
    assert_eq!(error["code"], -32602);
    let aap = is_refused(&error, "MISSING_REQUIRED_FIELD");
    assert_eq!(problems(&aap), [("/vehicle_of_interest".to_owned(), "required".to_owned())]);
    assert_eq!(count(&strict, "leads").await, 0);
    let lenient = platform(json!({"test_drive_requires_vehicle": false})).await;
    let answer = lenient.ask("harbor", drive).result().await;
    assert_eq!(answer["appointment"]["status"], "requested");
}

#[tokio::test]
async fn a_visit_is_to_the_rooftop_of_the_vehicle() {
    let platform = platform(json!({})).await;
    let bike = about("noor", json!({"stock": "S-bike"}), Some("test_drive"));
    let answer = platform.ask("harbor", bike).result().await;
    // A number that is none is left out.
    assert_eq!(answer["dealer"], json!({"name": "Powersports"}));
    let car = about("noor", json!({"stock": "S-a"}), Some("test_drive"));
    let answer = platform.ask("harbor", car).result().await;
    assert_eq!(answer["dealer"], json!({"name": "Main", "phone": "+13105550140"}));
    assert_eq!(answer["appointment"]["status"], "confirmed", "each rooftop has an agenda of its own");
    let named = about("noor", json!({"make": "Ducati", "rooftop": "powersports"}), Some("sales"));
    assert_eq!(platform.ask("harbor", named).result().await["dealer"]["name"], "Powersports");
    // Only one of them has a workshop.
    let service = with(lead("noor"), "appointment", visit("service", ahead(4, 11, 0)));
    let answer = platform.ask("harbor", service).result().await;
    assert_eq!(
        (&answer["dealer"]["name"], &answer["appointment"]["status"]),
        (&json!("Powersports"), &json!("confirmed"))
    );
}
