//! What a client is told of the tools, and that it is true.

use serde_json::{Value, json};

use super::{Assistant, TOOLS, contracts, fits, refuses};
use crate::ground::{ground, search};

fn every_reference(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Array(entries) => entries.iter().for_each(|entry| every_reference(entry, found)),
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| every_reference(value, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn schemas_are_whole_and_type_may_be_left_out() {
    let platform = ground().await;
    for contract in contracts() {
        let assistant = Assistant::new(platform, "harbor").of(contract, "2025-11-25");
        for tool in assistant.tools().await {
            let name = tool["name"].as_str().unwrap();
            let words = tool["description"].as_str().unwrap();
            // What a model may copy is not the dealer or the vehicle of the contract's samples.
            let all = tool.to_string().to_lowercase();
            assert!(
                !["tidewater", "tw-2204", "4s4btgud5r3217409"].iter().any(|sample| all.contains(sample)),
                "{name}"
            );
            assert!(words.len() > 80 && !words.contains("inventory.vehicle"), "{name}: {words}");
            for member in ["inputSchema", "outputSchema"] {
                let schema = &tool[member];
                assert_eq!(schema["type"], "object");
                let mut references = Vec::new();
                every_reference(schema, &mut references);
                assert!(references.iter().all(|reference| reference.starts_with("#/")), "{references:?}");
                // Nothing is fetched: what does not resolve here is an error.
                jsonschema::draft202012::new(schema).unwrap();
            }
            let stem = match name {
                "aap_inventory_vehicle" => "vehicle-detail".to_owned(),
                _ => name.trim_start_matches("aap_").replace('_', "-"),
            };
            let file = format!("{stem}-request.schema.json");
            let (_, text) =
                contract.spec().unwrap().schemas.iter().find(|(known, _)| *known == file).unwrap();
            let original: Value = serde_json::from_str(text).unwrap();
            for example in original["examples"].as_array().unwrap() {
                let mut example = example.clone();
                fits(&tool["inputSchema"], &example);
                example.as_object_mut().unwrap().remove("type");
                fits(&tool["inputSchema"], &example);
                example["no such member"] = json!(1);
                refuses(&tool["inputSchema"], &example);
                example.as_object_mut().unwrap().remove("no such member");
                example["type"] = json!("a.b.request");
                refuses(&tool["inputSchema"], &example);
            }
            let meta = &tool["_meta"];
            assert_eq!(meta["aap_skill_id"], name.trim_start_matches("aap_").replace('_', "."));
            let reads = name != "aap_lead_submit";
            let hints = json!({"title": tool["title"], "readOnlyHint": reads, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": !reads});
            assert_eq!(tool["annotations"], hints, "{name}");
        }
    }
}

#[tokio::test]
async fn nothing_to_name_a_vehicle_by_is_refused_by_the_schema_too() {
    let assistant = Assistant::new(ground().await, "harbor");
    let tools = assistant.tools().await;
    let schema = &tools.iter().find(|tool| tool["name"] == TOOLS[3]).unwrap()["inputSchema"];
    for refused in [json!({}), json!({"dealer_id": "harbor-city"})] {
        refuses(schema, &refused);
        let error = assistant.refusal(TOOLS[3], refused).await;
        assert!(
            ["SCHEMA_VALIDATION_FAILED", "MISSING_REQUIRED_FIELD"].contains(&error["code"].as_str().unwrap())
        );
    }
    fits(schema, &json!({"stock": "E-4"}));
    assert!(schema.get("anyOf").is_none(), "makers of models refuse it there");
}

#[tokio::test]
async fn a_dealer_shows_what_it_offers_and_says_what_it_leaves_out() {
    let platform = ground().await;
    let narrow = Assistant::new(platform, "narrow");
    let tools = narrow.tools().await;
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, [TOOLS[0], TOOLS[2]]);
    let words = tools[1]["description"].as_str().unwrap();
    assert!(words.contains("only these filters: make, features"), "{words}");
    assert!(words.contains("sorts only by: price, year") && words.contains("Heated front seats"), "{words}");
    // A contract in which nothing can be left out says nothing of it.
    let older = Assistant::new(platform, "narrow").of(contract::ContractVersion::V1_3, "2025-11-25");
    assert!(!older.tools().await[1]["description"].as_str().unwrap().contains("only these"));
    let error = narrow.refusal(TOOLS[1], json!({})).await;
    assert_eq!(error["code"], "UNSUPPORTED_SKILL");
}

#[tokio::test]
async fn the_payload_is_that_of_a2a_to_the_byte_and_the_text_says_it_shortly() {
    let platform = ground().await;
    let assistant = Assistant::new(platform, "harbor");
    let request = json!({"sort": {"field": "price", "order": "asc"}, "filters": {"fuel": ["bev"]}});
    let mut asked = search();
    asked.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
    let a2a = platform.ask("harbor", asked).response().await.text().await.unwrap();
    let body = assistant.request("tools/call", json!({"name": TOOLS[2], "arguments": request}));
    let mcp = assistant.message(&body).send().await.unwrap();
    assert!(mcp.headers().contains_key("forecourt-inventory-version"));
    let mcp = mcp.text().await.unwrap();
    let payload = |text: &str| {
        let from = text.find("{\"type\":\"inventory.search.response\"").unwrap();
        let whole: Option<Result<Value, _>> =
            serde_json::Deserializer::from_str(&text[from..]).into_iter().next();
        let value = whole.unwrap().unwrap();
        let len = text[from..].find("\"mediaType\"").or(text[from..].find(",\"isError\"")).unwrap();
        (value, text[from..from + len].trim_end_matches(',').to_owned())
    };
    assert_eq!(payload(&a2a), payload(&mcp));
    let result: Value = serde_json::from_str(&mcp).unwrap();
    let words = result["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.starts_with("2 vehicles match; 2 of them here.\n- 2015 Fiat 500e, used"), "{words}");
    assert!(words.contains("$31,000 (vehicle_id v4)"), "{words}");
}

#[tokio::test]
async fn pages_follow_each_other() {
    let assistant = Assistant::new(ground().await, "harbor");
    let first = assistant.payload(TOOLS[2], json!({"pagination": {"limit": 4}})).await;
    let cursor = &first["data"]["next_cursor"];
    let second = assistant.payload(TOOLS[2], json!({"pagination": {"limit": 4, "cursor": cursor}})).await;
    let ids = |page: &Value| page["data"]["vehicles"].as_array().unwrap().len();
    assert_eq!((ids(&first), ids(&second), &second["data"]["next_cursor"]), (4, 3, &Value::Null));
    let older = Assistant::new(ground().await, "harbor").of(contract::ContractVersion::V1_3, "2025-06-18");
    let result = older.call(TOOLS[2], json!({"pagination": {"limit": 4}})).await;
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.ends_with("pagination.skip 4"), "{words}");
}
