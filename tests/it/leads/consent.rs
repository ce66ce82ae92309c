//! The consent gate, and which code a refused lead gets.

use chrono::{Duration, Utc};
use serde_json::{Value, json};

use super::{contracts, count, is_refused, lead, platform, problems, written};

/// A lead, the code that it gets, and places and keywords of its problems.
type Refusal = (Value, &'static str, &'static [(&'static str, &'static str)]);

fn at(pointer: &str, value: Value) -> Value {
    let mut lead = lead("noor");
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    lead.pointer_mut(parent).unwrap()[key] = value;
    lead
}

fn without(pointer: &str) -> Value {
    let mut lead = lead("noor");
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    lead.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
    lead
}

#[tokio::test]
async fn no_lead_without_a_consent_that_holds_in_any_contract() {
    let platform = platform(json!({})).await;
    let now = Utc::now();
    let late = written(now + Duration::seconds(600));
    let mut many = without("/consent");
    many["customer"]["phone"] = json!("12");
    many["vehicle_of_interest"] = json!({"condition": "good"});
    let mut early = at("/consent/granted_at", json!(late));
    early["customer"]["first_name"] = json!(7);
    let table: Vec<Refusal> = vec![
        (without("/consent"), "CONTACT_CONSENT_REQUIRED", &[("/consent", "required")]),
        (
            many,
            "CONTACT_CONSENT_REQUIRED",
            &[
                ("/consent", "required"),
                ("/customer/phone", "pattern"),
                ("/vehicle_of_interest/condition", "enum"),
            ],
        ),
        (at("/consent", json!(null)), "INVALID_CONSENT", &[("/consent", "type")]),
        (at("/consent/scope", json!(["other"])), "INVALID_CONSENT", &[("/consent/scope/0", "enum")]),
        (
            at("/consent/granted_at", json!("2026-11-30T09:00:00")),
            "INVALID_CONSENT",
            &[("/consent/granted_at", "format")],
        ),
        (at("/consent/granted_at", json!(late)), "INVALID_CONSENT", &[("/consent/granted_at", "x-consent")]),
        (early, "INVALID_CONSENT", &[("/customer/first_name", "type"), ("/consent/granted_at", "x-consent")]),
        (
            at("/consent/expires_at", json!(written(now))),
            "INVALID_CONSENT",
            &[("/consent/expires_at", "x-consent")],
        ),
        (
            at("/consent/consent_text", json!(" \n")),
            "INVALID_CONSENT",
            &[("/consent/consent_text", "x-consent")],
        ),
        (
            at("/customer/preferred_contact", json!("phone")),
            "CONTACT_CONSENT_REQUIRED",
            &[("/customer/preferred_contact", "x-consent")],
        ),
        (
            at("/consent/allowed_channels", json!(["phone", "sms"])),
            "CONTACT_CONSENT_REQUIRED",
            &[("/customer", "x-consent")],
        ),
        (without("/customer"), "MISSING_REQUIRED_FIELD", &[("/customer", "required")]),
        (
            at("/trade_in", json!({"condition": "used"})),
            "INVALID_CONDITION",
            &[("/trade_in/condition", "enum")],
        ),
        (
            at("/trade_in", json!({"condition": "mint"})),
            "SCHEMA_VALIDATION_FAILED",
            &[("/trade_in/condition", "enum")],
        ),
    ];
    for contract in contracts() {
        for (lead, code, expected) in &table {
            let error = platform.ask_in(contract, "harbor", lead.clone()).error().await;
            let number = if code.contains("CONSENT") { -32000 } else { -32602 };
            assert_eq!(error["code"], number, "{contract}: {error}");
            let aap = is_refused(&error, code);
            let expected: Vec<_> =
                expected.iter().map(|(at, word)| ((*at).to_owned(), (*word).to_owned())).collect();
            assert_eq!(problems(&aap), expected, "{contract}: {lead}");
            assert!(!aap.to_string().contains("mail.example"), "values of a shopper are not repeated: {aap}");
        }
        let missing = platform.ask_in(contract, "harbor", without("/consent")).error().await;
        let details = is_refused(&missing, "CONTACT_CONSENT_REQUIRED")["details"].clone();
        assert_eq!(
            (&details["missing"], &details["expected_scope"]),
            (&json!("consent"), &json!("lead_submission"))
        );
    }
    assert_eq!((count(&platform, "leads").await, count(&platform, "lead_keys").await), (0, 0));
}

#[tokio::test]
async fn clocks_may_differ_and_dealers_work_some_channels_only() {
    let policy = json!({"consent_clock_skew_seconds": 3600, "follow_up_channels": ["phone"]});
    let platform = platform(policy).await;
    let mut lead = at("/consent/granted_at", json!(written(Utc::now() + Duration::seconds(3000))));
    // Mail is allowed and this dealer writes none.
    let error = platform.ask("harbor", lead.clone()).error().await;
    is_refused(&error, "CONTACT_CONSENT_REQUIRED");
    lead["consent"]["allowed_channels"] = json!(["email", "phone"]);
    lead["customer"]["phone"] = json!("+13105550199");
    let answer = platform.ask("harbor", lead).send().await;
    let message = answer["result"]["message"]["parts"][0]["data"]["message"].as_str().unwrap();
    assert!(message.ends_with("will get in touch by phone."), "{message}");
}
