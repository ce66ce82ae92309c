//! The wire form of every refusal that v3.0 can raise now (AAP.md 6; field report 26).

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use contract::{Contract, ContractVersion};
use serde_json::{Value, json};
use testkit::{Asking, Options, Platform, Process, aap_error, scratch};

use crate::ground::{
    BAD_REQUEST, INFO, STRUCT, fault, ground, harbor, information, problems, search, settle,
};

/// Everything that holds for every refusal of a skill.
fn check_form(error: &Value, number: i64, code: &str, retryable: bool) {
    assert_eq!(error["code"], number, "{error}");
    let message = error["message"].as_str().unwrap();
    // One official SDK shows its callers nothing of a -32000 but the message.
    assert_eq!(message.starts_with(&format!("{code}: ")), (-32099..=-32000).contains(&number), "{message}");

    let data = error["data"].as_array().unwrap();
    let types: Vec<_> = data.iter().map(|entry| entry["@type"].as_str().unwrap()).collect();
    let aap = aap_error(error).unwrap();
    let listed = aap.pointer("/details/errors").and_then(Value::as_array);
    match listed {
        Some(errors) if !errors.is_empty() => assert_eq!(types, [INFO, BAD_REQUEST, STRUCT]),
        _ => assert_eq!(types, [INFO, STRUCT]),
    }
    assert!(data.iter().all(|entry| entry.get("type").is_none()), "no bare aap.error: {error}");

    assert_eq!(aap["type"], "aap.error");
    assert_eq!(aap["code"], code);
    assert_eq!(aap["retryable"], retryable);
    assert!(aap.get("@type").is_none());
    let created = aap["created_at"].as_str().unwrap();
    let age = Utc::now().signed_duration_since(DateTime::parse_from_rfc3339(created).unwrap());
    assert!(age.num_seconds().abs() < 60, "{created}");
    assert!(aap["error_id"].as_str().is_some_and(|id| id.len() > 8));
    let contract = Contract::load(ContractVersion::V3_0).unwrap();
    contract.check("error.schema.json", aap).unwrap();

    let info = &data[0];
    assert_eq!(info["reason"], code);
    assert_eq!(info["domain"], "autoagentprotocol.org");
    let expected = json!({
        "code": code,
        "error_id": aap["error_id"],
        "retryable": retryable.to_string(),
        "created_at": created,
    });
    assert_eq!(info["metadata"], expected, "four strings, equal to the object's members");
    assert_eq!(info.as_object().unwrap().len(), 4);
    assert_eq!(data.last().unwrap().as_object().unwrap().len(), 2);

    if let Some(errors) = listed {
        let violations = data[1]["fieldViolations"].as_array().unwrap();
        assert_eq!(violations.len(), errors.len());
        for (violation, error) in violations.iter().zip(errors) {
            assert_eq!(error.as_object().unwrap().len(), 3, "{error}");
            assert_eq!(violation["field"], error["instanceLocation"]);
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let description = format!("{}: {}", text(&error["keyword"]), text(&error["error"]));
            assert_eq!(violation["description"], description.as_str());
        }
    }
}

#[tokio::test]
async fn every_code_has_its_number_and_its_form() {
    let platform = ground().await;
    let narrow = |data: Value| platform.ask("narrow", data);
    let harbor = |data: Value| platform.ask("harbor", data);
    let vehicle = |member: &str, value: &str| json!({"type": "inventory.vehicle.request", member: value});
    let searching = |member: &str, value: Value| json!({"type": "inventory.search.request", member: value});
    let table: Vec<(Asking, i64, &str)> = vec![
        (harbor(searching("filters", json!({"colour": ["red"]}))), -32602, "SCHEMA_VALIDATION_FAILED"),
        (harbor(searching("sort", json!({"field": "price"}))), -32602, "MISSING_REQUIRED_FIELD"),
        (narrow(json!({"type": "lead.submit.request"})), -32602, "UNSUPPORTED_SKILL"),
        (harbor(json!({"type": "inventory.reserve.request"})), -32602, "UNSUPPORTED_SKILL"),
        (narrow(vehicle("stock", "N-10")), -32602, "UNSUPPORTED_SKILL"),
        (narrow(searching("filters", json!({"model": ["C3"]}))), -32602, "UNSUPPORTED_FILTER"),
        (narrow(searching("sort", json!({"field": "msrp", "order": "asc"}))), -32602, "UNSUPPORTED_SORT"),
        (harbor(searching("pagination", json!({"cursor": "x"}))), -32602, "INVALID_CURSOR"),
        (harbor(searching("dealer_id", json!("other"))), -32000, "DEALER_NOT_FOUND"),
        (harbor(vehicle("stock", "none such")), -32000, "VEHICLE_NOT_FOUND"),
        (harbor(vehicle("stock", "G-1")), -32000, "VEHICLE_UNAVAILABLE"),
    ];
    let mut ids = std::collections::HashSet::new();
    for (asking, number, code) in table {
        let error = asking.error().await;
        let aap = fault(&error, code);
        assert!(ids.insert(aap["error_id"].to_string()), "each error has its own id");
        check_form(&error, number, code, false);
    }
}

#[tokio::test]
async fn one_answer_names_every_problem() {
    let error = harbor(json!({
        "type": "inventory.search.request",
        "filters": {
            "made_up": 1, "a/b~c": 2, "make": "Honda", "model": ["C3", 5], "condition": ["good", "new"],
            "status": ["sold"], "year_min": 1899, "price_min": -1, "price_max": 1.5, "vin": "1hgcm82633a004352",
            "query": "x".repeat(201), "dc_fast_charge": "true", "stock": null,
        },
        "pagination": {"limit": 0, "skip": 0, "cursor": ""},
        "sort": {"field": "colour", "order": "up", "then": 1},
        "privacy": {"anonymous": 1, "x": 2},
        "dealer_id": 7,
        "customer": {},
    }))
    .await
    .error()
    .await;
    check_form(&error, -32602, "SCHEMA_VALIDATION_FAILED", false);
    let expected = [
        ("/customer", "additionalProperties"),
        ("/dealer_id", "type"),
        ("/filters/a~1b~0c", "additionalProperties"),
        ("/filters/condition/0", "enum"),
        ("/filters/dc_fast_charge", "type"),
        ("/filters/made_up", "additionalProperties"),
        ("/filters/make", "type"),
        ("/filters/model/1", "type"),
        ("/filters/price_max", "type"),
        ("/filters/price_min", "minimum"),
        ("/filters/query", "maxLength"),
        ("/filters/status/0", "enum"),
        ("/filters/stock", "type"),
        ("/filters/vin", "pattern"),
        ("/filters/year_min", "minimum"),
        ("/pagination/cursor", "minLength"),
        ("/pagination/limit", "minimum"),
        ("/pagination/skip", "additionalProperties"),
        ("/privacy/anonymous", "type"),
        ("/privacy/x", "additionalProperties"),
        ("/sort/field", "enum"),
        ("/sort/order", "enum"),
        ("/sort/then", "additionalProperties"),
    ];
    let expected = expected.map(|(at, keyword)| (at.to_owned(), keyword.to_owned()));
    assert_eq!(problems(aap_error(&error).unwrap()), expected);
    assert!(!error.to_string().contains("1hgcm82633a004352"), "no value is sent back");
}

#[tokio::test]
async fn the_type_decides_first_and_is_judged_by_itself() {
    let at_type = |keyword: &str| vec![("/type".to_owned(), keyword.to_owned())];
    for (kind, keyword) in [
        (None, "required"),
        (Some(json!(null)), "type"),
        (Some(json!(5)), "type"),
        (Some(json!(["inventory.search.request"])), "type"),
        (Some(json!("")), "pattern"),
        (Some(json!("inventory")), "pattern"),
        (Some(json!("Inventory.search.request")), "pattern"),
        (Some(json!("inventory.search.request ")), "pattern"),
        (Some(json!("inventory.search.request\n")), "pattern"),
        (Some(json!("inventory.search.request.x")), "pattern"),
        (Some(json!("inventory..request")), "pattern"),
        (Some(json!("inventory.search.response")), "enum"),
        (Some(json!("aap.event")), "enum"),
        (Some(json!("aap.error")), "enum"),
        (Some(json!("inventory.search")), "enum"),
    ] {
        let mut data = json!({"filters": {"made_up": 1}});
        if let Some(kind) = &kind {
            data["type"] = kind.clone();
        }
        let mut asking = harbor(search()).await;
        asking.body["params"]["message"]["parts"][0]["data"] = data;
        let error = asking.error().await;
        check_form(&error, -32602, "SCHEMA_VALIDATION_FAILED", false);
        assert_eq!(problems(aap_error(&error).unwrap()), at_type(keyword), "{kind:?}");
    }
    for (kind, skill) in
        [("lead.submit.request", Some("lead.submit")), ("no_such.request", None), ("a.b.request", None)]
    {
        let error = ground().await.ask("narrow", json!({"type": kind})).error().await;
        check_form(&error, -32602, "UNSUPPORTED_SKILL", false);
        let details = &aap_error(&error).unwrap()["details"];
        assert_eq!(details.get("skill").and_then(Value::as_str), skill);
        assert_eq!(details["supported_skills"], json!(["dealer.information", "inventory.search"]));
    }
}

#[tokio::test]
async fn details_say_what_the_protocol_gives_them() {
    let platform = ground().await;
    let error = platform.ask("harbor", json!({"type": "inventory.vehicle.request"})).error().await;
    check_form(&error, -32602, "SCHEMA_VALIDATION_FAILED", false);
    assert_eq!(problems(aap_error(&error).unwrap()), [(String::new(), "anyOf".to_owned())]);

    let sort = json!({"type": "inventory.search.request", "sort": {"order": "asc"}});
    let error = platform.ask("harbor", sort).error().await;
    let missing = [("/sort/field".to_owned(), "required".to_owned())];
    assert_eq!(problems(fault(&error, "MISSING_REQUIRED_FIELD")), missing);
    // Two of them are no longer "exactly one".
    let error = platform.ask("harbor", json!({"type": "inventory.search.request", "sort": {}})).error().await;
    assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")).len(), 2);

    // Unknown and wrong dealers look the same.
    let mut texts = Vec::new();
    for other in ["narrow-gate", "narrow", "no-such", "", "HARBOR-CITY", "harbor-city "] {
        for mut data in [search(), information(), json!({"type": "inventory.facets.request"})] {
            data["dealer_id"] = json!(other);
            let error = platform.ask("harbor", data).error().await;
            check_form(&error, -32000, "DEALER_NOT_FOUND", false);
            texts.push(error["message"].to_string());
        }
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
    let own = json!({"type": "dealer.information.request", "dealer_id": "harbor-city"});
    platform.ask("harbor", own).result().await;
}

#[tokio::test]
async fn a_throttled_call_succeeds_after_exactly_the_time_it_was_told() {
    let document = json!({"name": "Quota", "rooftops": [{"name": "R"}], "inventory": [],
        "policy": {"rate_limit": {"requests": 2, "per_seconds": 1}}});
    let platform = settle(json!({"quota": document})).await;
    let asking = platform.ask("quota", information());
    let mut throttled = 0;
    let begun = Instant::now();
    while throttled < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        let answer = asking.send().await;
        let Some(error) = answer.get("error") else { continue };
        throttled += 1;
        check_form(error, -32000, "RATE_LIMITED", true);
        let wait = aap_error(error).unwrap()["details"]["retry_after_ms"].as_u64().unwrap();
        assert!((1..=1000).contains(&wait), "{wait}");
        tokio::time::sleep(Duration::from_millis(wait)).await;
        asking.result().await;
    }
    // What is refused before the skill costs nothing; what the schema accepts does.
    let waits = async |asking: &Asking| {
        aap_error(&asking.error().await).unwrap()["details"]["retry_after_ms"].as_u64()
    };
    while asking.send().await.get("error").is_none() {}
    let wait = waits(&asking).await.unwrap_or(0);
    tokio::time::sleep(Duration::from_millis(wait)).await;
    let bad = asking.clone().with("/params/message/parts/0/data/x", json!(1));
    for _ in 0..5 {
        fault(&bad.error().await, "SCHEMA_VALIDATION_FAILED");
    }
    asking.result().await;
}

#[tokio::test]
async fn a_failure_inside_says_nothing_but_its_number_in_the_log() {
    // The lot cannot be read: its table has another name.
    let platform = Platform::start_with(Options::default()).await;
    let dealer = json!({"name": "Broken", "rooftops": [{"name": "R"}], "inventory": [{"vehicle_id": "a", "status": "available"}]});
    platform.provision(&json!({"broken": dealer})).await;
    let mut connection = testkit::cluster().superuser(&platform.database).await;
    sqlx::query("alter table vehicles rename to secret_stack_frame").execute(&mut connection).await.unwrap();
    let error = platform.ask("broken", search()).error().await;
    check_form(&error, -32603, "INTERNAL_ERROR", true);
    let text = error.to_string().to_lowercase();
    for word in ["secret", "vehicles", "relation", "select", "sqlx", "postgres", "panicked", ".rs"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    // Who needs no lot is answered, and the fault passes with its cause.
    assert_eq!(platform.call("broken", information()).await["name"], "Broken");
    sqlx::query("alter table secret_stack_frame rename to vehicles").execute(&mut connection).await.unwrap();
    assert_eq!(platform.call("broken", search()).await["total"], 1);
    platform.stop().await;
}

#[tokio::test]
async fn the_error_id_is_the_one_in_the_log() {
    let folder = scratch("errors");
    let data_dir = folder.join("data").to_string_lossy().into_owned();
    let mut command = Process::command(&["up", "--demo", "--listen", "127.0.0.1:0", "--data-dir", &data_dir]);
    command.env("FORECOURT_LOG", "api=debug,warn").env("FORECOURT_LOG_FORMAT", "json");
    let mut process = Process::spawn(&mut command);
    let line = process.wait_for("/t/", Duration::from_secs(60));
    let base = line.split_whitespace().find(|word| word.contains("/t/")).expect("an address").to_owned();
    let http = crate::ground::lonely_client();
    let body = testkit::request_body(json!({"type": "inventory.vehicle.request", "stock": "none such"}));
    let response = http.post(format!("{base}a2a")).json(&body).send().await.unwrap();
    let request_id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let answer: Value = response.json().await.unwrap();
    testkit::check_answer("/a2a", &answer);
    let id = fault(&answer["error"], "VEHICLE_NOT_FOUND")["error_id"].as_str().unwrap().to_owned();
    let logged: Value = serde_json::from_str(&process.wait_for(&id, Duration::from_secs(5))).unwrap();
    let text = logged.to_string();
    assert!(text.contains(&request_id) && text.contains("VEHICLE_NOT_FOUND"), "{text}");

    // What failed inside is in the log with its cause, and in the answer without.
    let socket = folder.join("data/pg/socket");
    let files = std::fs::read_dir(&socket).unwrap().flatten();
    let port = files.filter_map(|file| file.file_name().to_str()?.rsplit('.').next()?.parse().ok()).next();
    let mut connection = testkit::superuser(&socket, port.expect("a socket"), "forecourt").await;
    sqlx::query("alter table vehicles rename to secret_stack_frame").execute(&mut connection).await.unwrap();
    // A dealer whose stock nobody has asked for yet.
    let printed = process.lines().join(" ");
    let other =
        printed.split_whitespace().find(|word| word.contains("/t/") && *word != base && word.ends_with('/'));
    let url = format!("{}a2a", other.expect("another dealer"));
    let response = http.post(url).json(&testkit::request_body(search())).send().await.unwrap();
    let request_id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let answer: Value = response.json().await.unwrap();
    testkit::check_answer("/a2a", &answer);
    let id = fault(&answer["error"], "INTERNAL_ERROR")["error_id"].as_str().unwrap().to_owned();
    let logged: Value = serde_json::from_str(&process.wait_for(&id, Duration::from_secs(5))).unwrap();
    let text = logged.to_string();
    assert_eq!(logged["level"], "ERROR");
    assert!(
        text.contains(&request_id) && text.contains("vehicles") && !answer.to_string().contains("vehicles"),
        "{text}"
    );
    let once = process.lines().iter().filter(|line| line.contains(&id)).count();
    assert_eq!(once, 1, "logged once");
    let _ = std::fs::remove_dir_all(folder);
}
