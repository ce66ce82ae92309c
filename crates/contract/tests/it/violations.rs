//! Everything that is wrong is said at once, at the right place, and never with the buyer's own value.

use contract::{Fault, FaultCode, Violation};
use serde_json::{Value, json};

use crate::{V3_0, assert_problems, problems};

const SEARCH: &str = "inventory-search-request.schema.json";

fn lead() -> Value {
    json!({
        "type": "lead.submit.request",
        "customer": {"first_name": "Ilse", "last_name": "Marchetti", "email": "ilse@post.example"},
        "consent": {
            "granted_at": "2026-11-28T18:20:31Z", "allowed_channels": ["email"],
            "consent_text": "Yes", "scope": ["lead_submission"]
        },
        "source_agent": {"name": "kestrel"}
    })
}

#[test]
fn the_example_of_the_protocol_text() {
    let request = json!({
        "type": "inventory.search.request", "filters": {"colour": ["red"]}, "pagination": {"limit": 0}
    });
    let found = V3_0.check(SEARCH, &request).unwrap_err();
    assert_eq!(
        found,
        [
            Violation::new("/filters/colour", "additionalProperties", "is not known here"),
            Violation::new("/pagination/limit", "minimum", "must be at least 1"),
        ]
    );
    let fault = Fault::validation(found);
    assert_eq!(fault.code, FaultCode::SchemaValidationFailed);
}

#[test]
fn many_problems_come_in_one_answer() {
    let request = json!({
        "type": "inventory.search.request",
        "filters": {
            "year_min": "2020", "year_max": 2101, "made_up": 1, "a/b~c": 1, "condition": ["new", "excellent"],
            "status": ["sold"], "features": [7], "price_max": -1, "vin": "short", "make": "Subaru",
            "dc_fast_charge": "yes", "query": "q".repeat(201)
        },
        "pagination": {"limit": 1001, "skip": 5, "cursor": ""},
        "sort": {"order": "up"},
        "privacy": {"anonymous": 1, "user": "x"},
        "dealer_id": 5,
        "extra": null
    });
    assert_problems(
        SEARCH,
        &request,
        &[
            ("/dealer_id", "type"),
            ("/extra", "additionalProperties"),
            ("/filters/a~1b~0c", "additionalProperties"),
            ("/filters/condition/1", "enum"),
            ("/filters/dc_fast_charge", "type"),
            ("/filters/features/0", "type"),
            ("/filters/made_up", "additionalProperties"),
            ("/filters/make", "type"),
            ("/filters/price_max", "minimum"),
            ("/filters/query", "maxLength"),
            ("/filters/status/0", "enum"),
            ("/filters/vin", "pattern"),
            ("/filters/year_max", "maximum"),
            ("/filters/year_min", "type"),
            ("/pagination/cursor", "minLength"),
            ("/pagination/limit", "maximum"),
            ("/pagination/skip", "additionalProperties"),
            ("/privacy/anonymous", "type"),
            ("/privacy/user", "additionalProperties"),
            ("/sort/field", "required"),
            ("/sort/order", "enum"),
        ],
    );
}

#[test]
fn keys_that_mean_something_elsewhere_are_plain_unknown_keys() {
    let request = serde_json::from_str::<Value>(
        r#"{"type": "inventory.search.request", "__proto__": {}, "": 1, "~": 1, "/": 1, "filters": {"toString": 1}}"#,
    )
    .unwrap();
    assert_problems(
        SEARCH,
        &request,
        &[
            ("/", "additionalProperties"),
            ("/__proto__", "additionalProperties"),
            ("/filters/toString", "additionalProperties"),
            ("/~0", "additionalProperties"),
            ("/~1", "additionalProperties"),
        ],
    );
}

#[test]
fn places_inside_escaped_keys_are_escaped() {
    let vehicle = json!({"other_attributes": {"a/b~c": {"deep": 1}}});
    assert_problems("vehicle.schema.json", &vehicle, &[("/other_attributes/a~1b~0c", "anyOf")]);
}

#[test]
fn a_missing_key_is_named_itself() {
    assert_problems(SEARCH, &json!({}), &[("/type", "required")]);
    let only = V3_0.check(SEARCH, &json!({})).unwrap_err();
    assert_eq!(Fault::validation(only).code, FaultCode::MissingRequiredField);
    assert_problems(
        "lead-submit-request.schema.json",
        &json!({"type": "lead.submit.request", "customer": {"email": "x@y.example"}, "source_agent": {}}),
        &[
            ("/consent", "required"),
            ("/customer/first_name", "required"),
            ("/customer/last_name", "required"),
            ("/source_agent/name", "required"),
        ],
    );
}

#[test]
fn a_choice_of_keys_is_one_problem() {
    let request = json!({"type": "inventory.vehicle.request"});
    assert_problems("vehicle-detail-request.schema.json", &request, &[("", "anyOf")]);
    let found = V3_0.check("vehicle-detail-request.schema.json", &request).unwrap_err();
    assert_eq!(found[0].message, "must have at least one of: vin, vehicle_id, stock");
    assert_eq!(Fault::validation(found).code, FaultCode::SchemaValidationFailed);

    let mut without = lead();
    without["customer"].as_object_mut().unwrap().remove("email");
    assert_problems("lead-submit-request.schema.json", &without, &[("/customer", "anyOf")]);
}

#[test]
fn a_choice_of_forms_also_says_what_is_wrong_in_the_form_that_was_meant() {
    let with = |day: Value| json!({"name": "x", "rooftops": [{"name": "y", "schedules": [{"value": {"monday": day}}]}]});
    let at = "/rooftops/0/schedules/0/value/monday";
    let below = |key: &str| format!("{at}/{key}");
    let schema = "dealer-information.schema.json";
    assert_problems(schema, &with(Value::Null), &[]);
    assert_problems(schema, &with(json!("closed")), &[(at, "oneOf")]);
    assert_problems(
        schema,
        &with(json!({"open": "8:30", "until": "18:00"})),
        &[
            (at, "oneOf"),
            (&below("close"), "required"),
            (&below("open"), "pattern"),
            (&below("until"), "additionalProperties"),
        ],
    );
    let attributes = |value: Value| json!({"other_attributes": {"k": value}});
    for fine in [json!("a"), json!(1.5), json!(true), json!([]), json!(["a", "b"]), json!([1, 2.5])] {
        assert_problems("vehicle.schema.json", &attributes(fine), &[]);
    }
    assert_problems("vehicle.schema.json", &attributes(Value::Null), &[("/other_attributes/k", "anyOf")]);
    assert_problems(
        "vehicle.schema.json",
        &attributes(json!(["a", "b", 1])),
        &[("/other_attributes/k", "anyOf"), ("/other_attributes/k/2", "type")],
    );
}

#[test]
fn one_problem_is_said_once_even_if_two_schemas_see_it() {
    let mut both = lead();
    both["vehicle_of_interest"] = json!({"condition": "shiny"});
    both["trade_in"] = json!({"condition": "new"});
    let schema = "lead-submit-request.schema.json";
    let found = V3_0.check(schema, &both).unwrap_err();
    assert_eq!(
        found,
        [
            Violation::new("/trade_in/condition", "enum", "must be one of: excellent, good, fair, poor"),
            Violation::new("/vehicle_of_interest/condition", "enum", "must be one of: new, used, cpo"),
        ]
    );
}

#[test]
fn conditions_of_a_lead_come_from_the_right_half() {
    let schema = "lead-submit-request.schema.json";
    for (part, good, bad) in [("vehicle_of_interest", "cpo", "fair"), ("trade_in", "fair", "cpo")] {
        let mut request = lead();
        request[part] = json!({"condition": good, "anything": ["else"]});
        assert_problems(schema, &request, &[]);
        request[part] = json!({"condition": bad});
        assert_problems(schema, &request, &[(&format!("/{part}/condition"), "enum")]);
        request[part] = json!("a car");
        assert_problems(schema, &request, &[(&format!("/{part}"), "type")]);
    }
}

#[test]
fn consent_problems_keep_their_places() {
    let mut request = lead();
    request["consent"] = json!({
        "granted_at": "2026-11-28T18:20:31", "allowed_channels": ["email", "email", "fax"], "consent_text": "",
        "scope": ["lead_submission", "marketing"], "by": "x", "expires_at": 5
    });
    assert_problems(
        "lead-submit-request.schema.json",
        &request,
        &[
            ("/consent/allowed_channels", "uniqueItems"),
            ("/consent/allowed_channels/2", "enum"),
            ("/consent/by", "additionalProperties"),
            ("/consent/consent_text", "minLength"),
            ("/consent/expires_at", "type"),
            ("/consent/granted_at", "format"),
            ("/consent/scope", "maxItems"),
            ("/consent/scope/1", "enum"),
        ],
    );
}

#[test]
fn a_listing_has_a_status_and_a_sale_condition() {
    assert_problems(
        "listing.schema.json",
        &json!({"condition": "good"}),
        &[("/condition", "enum"), ("/status", "required")],
    );
    assert_problems("listing.schema.json", &json!({"status": "sold"}), &[("/status", "enum")]);
    assert_problems(
        "listing.schema.json",
        &json!({"status": "pending", "carfax_url": "any", "vin": "X"}),
        &[("/vin", "pattern")],
    );
    assert_problems("vehicle.schema.json", &json!({"condition": "good"}), &[]);
    assert_problems("listing.schema.json", &json!("x"), &[("", "type")]);
}

#[test]
fn a_search_answer_of_this_version_has_all_six_members() {
    let schema = "inventory-search-response.schema.json";
    let mut answer = json!({
        "type": "inventory.search.response",
        "data": {
            "total": 0, "limit": 20, "next_cursor": null, "applied_filters": {},
            "sort": {"field": "updated_at", "order": "desc"}, "vehicles": []
        }
    });
    assert_problems(schema, &answer, &[]);
    answer["data"] = json!({"skip": 0, "facets": {}, "next_cursor": ""});
    assert_problems(
        schema,
        &answer,
        &[
            ("/data/applied_filters", "required"),
            ("/data/facets", "additionalProperties"),
            ("/data/limit", "required"),
            ("/data/next_cursor", "minLength"),
            ("/data/skip", "additionalProperties"),
            ("/data/sort", "required"),
            ("/data/total", "required"),
            ("/data/vehicles", "required"),
        ],
    );
}

#[test]
fn a_card_pins_exactly_this_contract() {
    let schema = "agent-card.schema.json";
    let card = |extensions: Value, url: &str| {
        json!({
            "name": "n", "description": "d", "version": "1",
            "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": {"extensions": extensions},
            "defaultInputModes": ["a/b"], "defaultOutputModes": ["a/b"],
            "skills": [{"id": "i", "name": "n", "description": "d", "tags": ["t"]}]
        })
    };
    let ours = json!({"uri": "https://autoagentprotocol.org/extensions/aap/v3.0", "required": true});
    let other = json!({"uri": "https://autoagentprotocol.org/extensions/aap/v1.3"});
    let foreign = json!({"uri": "https://elsewhere.example/extension"});
    let https = "https://dealer.example/a2a";
    assert_problems(schema, &card(json!([foreign, ours]), https), &[]);
    let at = "/capabilities/extensions";
    for wrong in [json!([]), json!([foreign]), json!([other]), json!([ours, other]), json!([ours, ours])] {
        assert_problems(schema, &card(wrong, https), &[(at, "contains")]);
    }
    for url in ["http://localhost:8080/a2a", "http://127.0.0.1", "http://[::1]:1/", "HTTPS://Dealer.Example"]
    {
        assert_problems(schema, &card(json!([ours]), url), &[]);
    }
    for url in [
        "http://dealer.example/a2a",
        "http://localhost.evil.example/",
        "https://",
        "http://localhost@evil.example",
    ] {
        let found = problems(schema, &card(json!([ours]), url));
        assert!(found.contains(&("/supportedInterfaces/0/url".into(), "pattern".into())), "{url}: {found:?}");
    }
}

#[test]
fn no_text_repeats_a_value() {
    let secret = "Zq9secret";
    let mut request = lead();
    request["type"] = json!(secret);
    request["customer"] = json!({
        "first_name": [secret], "last_name": {"x": secret}, "email": secret, "phone": secret,
        "preferred_contact": secret, "address": secret
    });
    request["consent"] = json!({
        "granted_at": secret, "allowed_channels": [secret, secret], "consent_text": [secret], "scope": [secret, secret]
    });
    request["source_agent"] = json!({"name": 5, "url": secret, "agent_card_url": secret});
    request["vehicle_of_interest"] = json!({
        "condition": secret, "vin": secret, "year": secret, "photos": [secret],
        "other_attributes": {"k": {"v": secret}}, "fees": [{"name": secret, "amount": secret}]
    });
    request["message"] = json!(secret.repeat(1000));
    let found = V3_0.check("lead-submit-request.schema.json", &request).unwrap_err();
    assert!(found.len() > 20, "{found:?}");
    for violation in &found {
        assert!(!violation.message.contains("Zq9"), "{violation:?}");
        assert!(!violation.message.is_empty() && violation.message.len() < 160, "{violation:?}");
        assert_ne!(violation.message, "does not fit the schema", "{violation:?}");
    }
}

#[test]
fn the_answer_is_the_same_every_time() {
    let request = json!({"type": 1, "filters": {"z": 1, "a": 1, "make": [1, 2, 3]}, "sort": {}});
    let first = V3_0.check(SEARCH, &request).unwrap_err();
    for _ in 0..20 {
        assert_eq!(V3_0.check(SEARCH, &request).unwrap_err(), first);
    }
    let mut places: Vec<_> = first.iter().map(|v| (&v.location, &v.keyword)).collect();
    places.dedup();
    assert_eq!(places.len(), first.len());
}

#[test]
fn a_flood_of_problems_does_not_become_a_flood_of_answers() {
    let request = |n: usize| json!({"type": "inventory.search.request", "filters": {"make": vec![0; n]}});
    assert_eq!(V3_0.check(SEARCH, &request(1000)).unwrap_err().len(), 1000);
    let found = V3_0.check(SEARCH, &request(100_000)).unwrap_err();
    assert_eq!(found.len(), 1001);
    assert_eq!(found[1000].keyword, "x-more");
    assert!(found[..1000].iter().all(|v| v.keyword == "type"));
}
