//! The corners of JSON Schema 2020-12 and ECMA-262 in which validators differ.

use serde_json::{Value, json};

use crate::{assert_problems, problems};

const SEARCH: &str = "inventory-search-request.schema.json";
const VEHICLE: &str = "vehicle-detail-request.schema.json";
const INFORMATION: &str = "dealer-information.schema.json";

fn accepted(schema: &str, payload: &Value) -> bool {
    problems(schema, payload).is_empty()
}

#[test]
fn a_dollar_does_not_match_before_a_last_line_break() {
    let with = |vin: &str| json!({"type": "inventory.vehicle.request", "vin": vin});
    assert!(accepted(VEHICLE, &with("4S4BTGUD5R3217409")));
    for vin in ["4S4BTGUD5R3217409\n", "4S4BTGUD5R3217409\r\n", "\n4S4BTGUD5R3217409", "4S4BTGUD5R321740\n"] {
        assert_problems(VEHICLE, &with(vin), &[("/vin", "pattern")]);
    }
    let hours = |open: &str| {
        json!({"name": "x", "rooftops": [{"name": "y", "schedules": [
            {"value": {"monday": {"open": open, "close": "18:00"}}}
        ]}]})
    };
    assert!(accepted(INFORMATION, &hours("08:30")));
    assert!(!accepted(INFORMATION, &hours("08:30\n")));
}

#[test]
fn a_digit_is_an_ascii_digit() {
    let phone = |phone: &str| json!({"first_name": "A", "last_name": "B", "phone": phone});
    assert!(accepted("customer.schema.json", &phone("+15035550186")));
    for wrong in ["+1٥٠٣٥٥٥٠١٨٦", "+15035550१८६", "+１５０３５５５", "+1503𝟓𝟓𝟓0186"]
    {
        assert_problems("customer.schema.json", &phone(wrong), &[("/phone", "pattern")]);
    }
    let hours = |open: &str| {
        json!({"name": "x", "rooftops": [{"name": "y", "schedules": [
            {"value": {"monday": {"open": open, "close": "18:00"}}}
        ]}]})
    };
    for wrong in ["0٨:30", "٠٨:٣٠", "08:3०"] {
        let at = "/rooftops/0/schedules/0/value/monday";
        let open = format!("{at}/open");
        assert_problems(INFORMATION, &hours(wrong), &[(at, "oneOf"), (&open, "pattern")]);
    }
}

#[test]
fn blank_means_the_white_space_of_ecma_262() {
    let fee = |name: &str| json!({"name": name, "amount": 1});
    // Byte order mark, no-break space, ideographic space and line separator are white space there.
    for blank in [" ", "\t\n", "\u{feff}", "\u{a0}", "\u{3000}", "\u{2028}\u{2029}", "\u{1680}\u{205f}"] {
        assert_problems("_primitives/dealer-fee.schema.json", &fee(blank), &[("/name", "pattern")]);
    }
    // Next line and zero-width space are not, other than in Unicode or by the look of them.
    for visible in ["\u{85}", "\u{200b}", "\u{180e}", " x "] {
        assert!(accepted("_primitives/dealer-fee.schema.json", &fee(visible)), "{visible:?}");
    }
}

#[test]
fn length_counts_code_points() {
    let query = |text: String| json!({"type": "inventory.search.request", "filters": {"query": text}});
    for unit in ["a", "é", "🚗", "\u{301}"] {
        assert!(accepted(SEARCH, &query(unit.repeat(200))), "{unit}");
        assert_problems(SEARCH, &query(unit.repeat(201)), &[("/filters/query", "maxLength")]);
    }
}

#[test]
fn a_whole_number_may_be_spelled_with_a_fraction_or_an_exponent() {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let price = |number: &str| {
        parse(&format!(r#"{{"type": "inventory.search.request", "filters": {{"price_max": {number}}}}}"#))
    };
    for whole in ["20.0", "1e4", "1e30", "0", "-0", "-0.0", "18446744073709551615", "1.5e1", "1e308"] {
        assert!(accepted(SEARCH, &price(whole)), "{whole}");
    }
    for broken in ["20.5", "1e-1", "0.0000001", "4503599627370495.5"] {
        assert_problems(SEARCH, &price(broken), &[("/filters/price_max", "type")]);
    }
    assert_problems(SEARCH, &price("-1e30"), &[("/filters/price_max", "minimum")]);
    assert_problems(
        SEARCH,
        &price("-0.5"),
        &[("/filters/price_max", "minimum"), ("/filters/price_max", "type")],
    );
}

#[test]
fn null_is_no_value_of_another_type() {
    let request = json!({"type": "inventory.search.request", "filters": {"make": null}, "sort": null});
    assert_problems(SEARCH, &request, &[("/filters/make", "type"), ("/sort", "type")]);
    assert_problems(SEARCH, &Value::Null, &[("", "type")]);
    assert!(accepted("vehicle.schema.json", &json!({"rooftop": null, "charge_port": null})));
    assert_problems("vehicle.schema.json", &json!({"vin": null}), &[("/vin", "type")]);
}

#[test]
fn formats_are_asserted() {
    let vehicle = |key: &str, text: &str| json!({ key: text });
    let good = [
        ("updated_at", "2026-11-30T09:15:00Z"),
        ("updated_at", "2026-11-30T09:15:00.123456-08:00"),
        ("updated_at", "2026-11-30t09:15:00z"),
        ("updated_at", "2016-12-31T23:59:60Z"),
        ("inventory_date", "2024-02-29"),
        ("vdp_url", "https://dealer.example/a?b=c#d"),
        ("vdp_url", "tel:+15035550186"),
    ];
    for (key, text) in good {
        assert!(accepted("vehicle.schema.json", &vehicle(key, text)), "{key} {text}");
    }
    let bad = [
        ("updated_at", "2026-11-30T09:15:00"),
        ("updated_at", "2026-11-30 09:15:00Z"),
        ("updated_at", "2026-11-30T09:15:00+0800"),
        ("updated_at", "2026-11-30T09:15:00+25:00"),
        ("updated_at", "2026-02-30T09:15:00Z"),
        ("updated_at", "2026-11-30T09:15:00Z\n"),
        ("updated_at", "2026-11-30T09:15Z"),
        ("updated_at", "yesterday"),
        ("inventory_date", "2025-02-29"),
        ("inventory_date", "30.11.2026"),
        ("inventory_date", "2026-11-30T00:00:00Z"),
        ("vdp_url", "dealer.example/a"),
        ("vdp_url", "/a"),
        ("vdp_url", "https://dealer.example/a b"),
        ("vdp_url", ""),
    ];
    for (key, text) in bad {
        assert_problems("vehicle.schema.json", &vehicle(key, text), &[(&format!("/{key}"), "format")]);
    }
    let customer = |email: &str| json!({"first_name": "A", "last_name": "B", "email": email});
    for good in ["ilse@post.example", "ilse+cars@mail.post.example", "\"odd name\"@post.example"] {
        assert!(accepted("customer.schema.json", &customer(good)), "{good}");
    }
    for bad in
        ["", "ilse", "ilse@", "@post.example", "a b@post.example", "ilse@post.example\n", "a@b@c.example"]
    {
        assert_problems("customer.schema.json", &customer(bad), &[("/email", "format")]);
    }
}

#[test]
fn equal_entries_are_equal_by_value() {
    let fees = |text: &str| serde_json::from_str::<Value>(&format!(r#"{{"fees": {text}}}"#)).unwrap();
    let twice = fees(r#"[{"name": "A", "amount": 5}, {"amount": 5.0, "name": "A"}]"#);
    assert_problems("vehicle.schema.json", &twice, &[("/fees", "uniqueItems")]);
    assert!(accepted(
        "vehicle.schema.json",
        &fees(r#"[{"name": "A", "amount": 5}, {"name": "A", "amount": 6}]"#)
    ));
}
