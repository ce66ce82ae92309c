//! The examples of a document: who sends what it shows gets an answer.

use contract::{CONTRACTS, ContractVersion};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::car;

use super::{get, ok, request};
use crate::ground::{ground, settle};

/// What the schema files tell of: a dealer and a vehicle that nobody has.
const SAMPLES: [&str; 3] = ["tidewater", "tw-2204", "4s4btgud5r3217409"];

async fn document(slug: &str, contract: ContractVersion) -> Value {
    ok(request(Method::GET, slug, contract, "openapi.json").await.send().await.unwrap()).await
}

/// The texts of a parameter's example.
fn texts(parameter: &Value) -> Vec<(String, String)> {
    let name = parameter["name"].as_str().unwrap();
    let one = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all = match &parameter["example"] {
        Value::Null => Vec::new(),
        Value::Array(entries) => entries.iter().map(one).collect(),
        other => vec![one(other)],
    };
    all.into_iter().map(|text| (name.to_owned(), text)).collect()
}

/// Sends every example of every operation of a document; how many there were.
async fn send_all(slug: &str, contract: ContractVersion, document: &Value) -> usize {
    let mut sent = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        if let Some(read) = item.get("get") {
            let (mut address, mut query) = (path.trim_start_matches('/').to_owned(), Vec::new());
            for parameter in read["parameters"].as_array().unwrap() {
                let texts = texts(parameter);
                if parameter["in"] == "path" {
                    let place = format!("{{{}}}", parameter["name"].as_str().unwrap());
                    let value = texts.first().unwrap_or_else(|| panic!("{slug} {path} has an example"));
                    let mut encoded = reqwest::Url::parse("http://any/").unwrap();
                    encoded.path_segments_mut().unwrap().push(&value.1);
                    address = address.replace(&place, encoded.path().trim_start_matches('/'));
                } else if !texts.is_empty() {
                    query.push(texts);
                }
            }
            // Each by itself, and all of them together.
            let together = query.concat();
            for query in query.iter().chain([&together, &Vec::new()]) {
                let mut asked = reqwest::Url::parse("http://any/").unwrap();
                asked.query_pairs_mut().extend_pairs(query);
                let path = format!("{address}?{}", asked.query().unwrap_or_default());
                let asking = request(Method::GET, slug, contract, &path).await;
                let answer = ok(asking.send().await.unwrap()).await;
                if let Some(total) = answer["data"].get("total") {
                    assert!(total.as_u64() > Some(0), "{slug} {path} {query:?}: {answer}");
                }
                sent += 1;
            }
        }
        if let Some(post) = item.get("post") {
            let shown = post["requestBody"]["content"]["application/json"]["examples"].as_object().unwrap();
            let answers: Vec<_> = post["responses"]["200"]["content"]["application/json"]["examples"]
                .as_object()
                .unwrap()
                .values()
                .map(|example| &example["value"])
                .collect();
            let mut got = Vec::new();
            for example in shown.values() {
                let asking = request(Method::POST, slug, contract, path.trim_start_matches('/')).await;
                got.push(ok(asking.json(&example["value"]).send().await.unwrap()).await);
                sent += 1;
            }
            // What is shown as the answer is the one that comes; every lead has an id of its own.
            if path != "/skills/lead.submit" {
                assert_eq!(&got[0], answers[0], "{slug} {path}");
            }
        }
    }
    sent
}

#[tokio::test]
async fn who_sends_an_example_gets_its_answer() {
    settle(json!({
        "shown": {"name": "Shown", "rooftops": [{"name": "Harbor North"}, {"name": "Harbor South"}], "inventory": crate::ground::lot(),
            "policy": {"follow_up_channels": ["sms"]}},
        "shown-odd": {"name": "Odd & \"Sons\"", "rooftops": [{"name": "R"}], "inventory": [
            {"vehicle_id": ".", "make": "Kia", "status": "available"}, {"vehicle_id": "a/b c?d", "make": "Kia", "stock": "50%+ é", "status": "available"},
            {"vehicle_id": "plain", "status": "pending", "vin": "2HKRW2H80PH600101", "price": 20_000}]},
    }))
    .await;
    for slug in ["harbor", "narrow", "shown", "shown-odd"] {
        for spec in CONTRACTS {
            let document = document(slug, spec.version).await;
            let text = document.to_string().to_lowercase();
            for sample in SAMPLES {
                assert!(!text.contains(sample), "{slug} {}: {sample}", spec.version);
            }
            assert!(send_all(slug, spec.version, &document).await > 12, "{slug}");
        }
    }
}

/// Every schema of a document that has examples, and every parameter, with what it shows.
fn illustrated<'v>(value: &'v Value, found: &mut Vec<(&'v Value, &'v Value)>) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|entry| illustrated(entry, found)),
        Value::Object(members) => {
            if let Some(examples) = members.get("examples").and_then(Value::as_array) {
                assert!(!examples.is_empty(), "{value}");
                found.extend(examples.iter().map(|example| (value, example)));
            }
            if let (Some(example), Some(schema)) = (members.get("example"), members.get("schema")) {
                found.push((schema, example));
            }
            members
                .iter()
                .filter(|(name, inner)| *name != "examples" || !inner.is_array())
                .for_each(|(_, inner)| illustrated(inner, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn examples_fit_the_schemas_that_they_stand_in() {
    ground().await;
    for (slug, spec) in ["harbor", "narrow", "empty"]
        .into_iter()
        .flat_map(|slug| CONTRACTS.iter().map(move |spec| (slug, spec)))
    {
        let document = document(slug, spec.version).await;
        let mut found = Vec::new();
        illustrated(&document["components"]["schemas"], &mut found);
        illustrated(&document["components"]["headers"], &mut found);
        for operation in document["paths"].as_object().unwrap().values() {
            illustrated(&operation["get"]["parameters"], &mut found);
        }
        assert!(found.len() > 50, "{slug}");
        for (schema, example) in found {
            let mut whole = schema.clone();
            whole["components"] = document["components"].clone();
            let validator = jsonschema::draft202012::new(&whole).unwrap();
            assert!(validator.is_valid(example), "{slug} {}: {example} in {schema}", spec.version);
        }
    }
}

#[tokio::test]
async fn a_dealer_that_asks_for_keys_shows_nothing_of_its_lot() {
    let car = || json!([car("secret-1", "Honda", "Civic", 20_000)]);
    settle(json!({
        "shown-guarded": {"name": "Guarded", "rooftops": [{"name": "Back Yard"}], "inventory": car(),
            "callers": {"accept": ["keys"]}},
        // Nobody can search it, so its vehicles are known to whom it tells them.
        "shown-quiet": {"name": "Quiet", "rooftops": [{"name": "R"}], "inventory": car(),
            "skills": ["dealer.information", "inventory.vehicle", "lead.submit"]},
        "shown-bare": {"name": "Bare", "rooftops": [{"name": "R"}], "inventory": []},
    }))
    .await;
    for slug in ["shown-guarded", "shown-quiet", "shown-bare"] {
        for path in ["openapi.json", "openapi.yaml", "docs"] {
            let text = get(slug, path).await.text().await.unwrap();
            assert!(!text.contains("secret-1") && !text.contains("Civic"), "{slug} {path}");
            assert!(!text.contains("Back Yard"), "{slug} {path}");
        }
        let document = document(slug, ContractVersion::V3_0).await;
        let vehicle = &document["components"]["schemas"]["VehicleDetailRequest"];
        if !vehicle.is_null() {
            assert_eq!(vehicle["properties"]["stock"]["examples"], json!(["TW-2204"]), "{slug}");
        }
        // A lead is about no vehicle where none is known, and would be taken.
        let lead = &document["paths"]["/skills/lead.submit"]["post"]["requestBody"]["content"]["application/json"]
            ["examples"]["example1"]["value"];
        assert!(lead["customer"].is_object() && lead.get("vehicle_of_interest").is_none(), "{slug}: {lead}");
        if slug != "shown-guarded" {
            let asking = request(Method::POST, slug, ContractVersion::V3_0, "skills/lead.submit").await;
            ok(asking.json(lead).send().await.unwrap()).await;
        }
    }
}

/// The vehicle that a document names, and its tag.
async fn shown(slug: &str) -> (String, String) {
    let response = get(slug, "openapi.json").await;
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    let document: Value = response.json().await.unwrap();
    let path = &document["paths"]["/inventory/{vehicle_id}"]["get"]["parameters"];
    let parameter = path.as_array().unwrap().iter().find(|one| one["in"] == "path").unwrap();
    (parameter["example"].as_str().unwrap().to_owned(), tag)
}

#[tokio::test]
async fn a_document_lives_as_long_as_what_it_shows() {
    let dealer = |cars: Vec<Value>| json!({"shown-busy": {"name": "Busy", "rooftops": [{"name": "R"}], "inventory": cars}});
    let bare = |id: &str| json!({"vehicle_id": id, "make": "Kia", "stock": format!("S-{id}"), "status": "available"});
    settle(dealer(Vec::new())).await;
    let (vehicle, of_none) = shown("shown-busy").await;
    assert_eq!(vehicle, "tw-2204", "there is nothing else to show");
    settle(dealer(vec![bare("one")])).await;
    let (vehicle, first) = shown("shown-busy").await;
    assert_eq!(vehicle, "one");
    assert_ne!(first, of_none);
    // Others come, and have more to show: it stays the same document, since it is still true.
    settle(dealer(vec![car("two", "Honda", "Civic", 20_000), bare("one"), bare("three")])).await;
    assert_eq!(shown("shown-busy").await, ("one".to_owned(), first.clone()));
    // It is sold.
    settle(dealer(vec![bare("three")])).await;
    let (vehicle, second) = shown("shown-busy").await;
    assert_eq!(vehicle, "three");
    assert_ne!(second, first);
    settle(dealer(Vec::new())).await;
    assert_eq!(shown("shown-busy").await.0, "tw-2204");
}

#[tokio::test]
async fn a_document_is_at_nobodys_expense() {
    let platform = settle(json!({"shown-limited": {"name": "Limited", "rooftops": [{"name": "R"}],
        "inventory": [car("a", "Honda", "Civic", 20_000)],
        "policy": {"rate_limit": {"requests": 1, "per_seconds": 86_400}}}}))
    .await;
    for spec in CONTRACTS {
        let document = document("shown-limited", spec.version).await;
        assert!(document.to_string().contains("Civic"));
    }
    ok(get("shown-limited", "inventory").await).await;
    assert_eq!(get("shown-limited", "inventory").await.status(), 429);
    let metrics = platform.http.get(format!("{}/metrics", platform.origin)).send().await.unwrap();
    assert!(metrics.text().await.unwrap().contains("aap_calls"));
}

/// The contract takes up to 1,000 and the dealer gives fewer: what comes is said, and what is taken stays allowed.
#[tokio::test]
async fn limits_are_the_dealers() {
    ground().await;
    for spec in CONTRACTS {
        for (slug, most) in [("narrow", 3), ("harbor", 100)] {
            let document = document(slug, spec.version).await;
            let parameters = document["paths"]["/inventory"]["get"]["parameters"].as_array().unwrap();
            let parameter = &parameters.iter().find(|one| one["name"] == "limit").unwrap()["schema"];
            let body = &document["components"]["schemas"]["InventorySearchRequest"]["properties"]["pagination"]
                ["properties"]["limit"];
            for limit in [parameter, body] {
                assert_eq!((&limit["maximum"], &limit["x-effective-maximum"]), (&json!(1000), &json!(most)));
            }
            let asking = request(Method::GET, slug, spec.version, "inventory?limit=1000").await;
            let answer = ok(asking.send().await.unwrap()).await;
            assert_eq!(answer["data"]["limit"], most, "{slug} {}", spec.version);
        }
    }
}
