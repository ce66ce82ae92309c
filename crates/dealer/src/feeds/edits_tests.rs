use super::*;

fn taken(field: &str, text: &str) -> Result<Value, String> {
    let rooftops = Rooftops::new(["North".to_owned()]);
    let value = typed(field, text).map_err(|error| error.to_string())?;
    checked(field, value, &rooftops).map_err(|error| error.to_string())
}

#[test]
fn what_people_type_becomes_what_contracts_allow() {
    for (field, text, value) in [
        ("price", "$24,990", json!(24990)),
        ("price", "none", Value::Null),
        ("status", "Pending", json!("pending")),
        ("status", "sold", json!("sold")),
        ("description", " One owner. ", json!("One owner.")),
        ("rooftop", "north", json!("North")),
        ("dc_fast_charge", "yes", json!(true)),
        ("electric_range_mi", "62.5", json!(62.5)),
        (
            "photos",
            "https://a.example/1.jpg\nhttps://a.example/2.jpg",
            json!(["https://a.example/1.jpg", "https://a.example/2.jpg"]),
        ),
        ("features", "[\"Tow hitch\"]", json!(["Tow hitch"])),
        ("fees", "[]", json!([])),
        ("fees", "[{\"name\": \"Doc\", \"amount\": 85}]", json!([{"name": "Doc", "amount": 85}])),
        ("inventory_date", "2026-11-03", json!("2026-11-03")),
        ("other_attributes.title_status", "rebuilt", json!("rebuilt")),
        ("other_attributes.doors", "4", json!(4)),
    ] {
        assert_eq!(taken(field, text), Ok(value), "{field} {text}");
    }
}

#[test]
fn what_no_field_can_say_is_refused() {
    for (field, text) in [
        ("vin", "4S4BTGUD5R3217409"),
        ("vehicle_id", "x"),
        ("updated_at", "2026-11-03T00:00:00Z"),
        ("nothing", "x"),
        ("other_attributes.", "x"),
        ("status", "gone"),
        ("status", "none"),
        ("condition", "good"),
        ("price", "call"),
        ("price", "24990.50"),
        ("price", "-1"),
        ("year", "1776"),
        ("rooftop", "West"),
        ("photos", "not an address"),
        ("vdp_url", "nowhere at all"),
        ("fees", "85"),
        ("fees", "[{\"name\": \"\", \"amount\": 85}]"),
        ("inventory_date", "yesterday"),
        ("make", "Ki\u{0}a"),
        ("dc_fast_charge", "perhaps"),
        ("other_attributes.a", "{\"b\": 1}"),
    ] {
        assert!(taken(field, text).is_err(), "{field} {text}: {:?}", taken(field, text));
    }
    assert!(taken("trim", &"x".repeat(201)).is_err());
}
