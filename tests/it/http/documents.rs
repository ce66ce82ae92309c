//! `openapi.json`, `openapi.yaml` and `docs`: they say what this dealer does in this contract, and nothing else.

use std::collections::BTreeSet;

use contract::{CONTRACTS, Contract, ContractVersion};
use reqwest::Method;
use serde_json::{Value, json};

use super::{get, ok, request};
use crate::ground::settle;

async fn document(slug: &str, contract: ContractVersion) -> Value {
    ok(request(Method::GET, slug, contract, "openapi.json").await.send().await.unwrap()).await
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| item.as_object().unwrap().values().map(move |one| (path, one)))
}

#[tokio::test]
async fn a_document_names_what_the_dealer_offers() {
    let whole = document("harbor", ContractVersion::V3_0).await;
    let paths: Vec<_> = whole["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "/dealer",
            "/facets",
            "/inventory",
            "/inventory/stock/{stock}",
            "/inventory/vin/{vin}",
            "/inventory/{vehicle_id}",
            "/skills/dealer.information",
            "/skills/inventory.facets",
            "/skills/inventory.search",
            "/skills/inventory.vehicle",
            "/skills/lead.submit",
        ]
    );
    let narrow = document("narrow", ContractVersion::V3_0).await;
    let paths: Vec<_> = narrow["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(paths, ["/dealer", "/inventory", "/skills/dealer.information", "/skills/inventory.search"]);
    let parameters = narrow["paths"]["/inventory"]["get"]["parameters"].as_array().unwrap();
    let of = |name: &str| parameters.iter().find(|one| one["name"] == name);
    assert!(of("model").is_none() && of("make").is_some());
    assert_eq!(of("sort").unwrap()["schema"]["enum"], json!(["price", "year"]));
    assert_eq!(of("features").unwrap()["schema"]["items"]["enum"], json!(["Heated front seats"]));
    assert_eq!(of("limit").unwrap()["schema"]["default"], 2);
    let filters = &narrow["components"]["schemas"]["InventorySearchRequestFilters"]["properties"];
    assert_eq!(filters.as_object().unwrap().len(), 2);
    // A contract that cannot refuse a filter has all of them.
    let older = document("narrow", ContractVersion::V1_3).await;
    let filters = &older["components"]["schemas"]["InventorySearchRequestFilters"]["properties"];
    assert!(filters.as_object().unwrap().len() > 20);
    let names: BTreeSet<_> = older["paths"]["/inventory"]["get"]["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.contains("skip") && !names.contains("cursor") && !names.contains("status"));
}

#[tokio::test]
async fn every_example_is_true_and_every_reference_leads_somewhere() {
    for (slug, spec) in
        ["harbor", "narrow"].into_iter().flat_map(|slug| CONTRACTS.iter().map(move |spec| (slug, spec)))
    {
        let document = document(slug, spec.version).await;
        let contract = Contract::load(spec.version).unwrap();
        for (path, operation) in operations(&document) {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let Some(content) = response["content"].as_object() else {
                    assert_eq!(status, "304");
                    continue;
                };
                let (media_type, content) = content.iter().next().unwrap();
                let examples = content["examples"].as_object().unwrap();
                assert!(!examples.is_empty(), "{path} {status}");
                for (name, example) in examples {
                    let value = &example["value"];
                    if media_type == "application/json" {
                        let schema = CHECKS.iter().find(|(kind, _)| value["type"] == *kind).unwrap().1;
                        contract.check(schema, value).unwrap_or_else(|v| panic!("{path} {v:?}"));
                    } else {
                        assert_eq!(value["status"].to_string(), *status, "{path} {name}");
                        if name != "problem" {
                            assert_eq!(value["error"]["code"], *name);
                            contract.check("error.schema.json", &value["error"]).unwrap();
                        }
                    }
                }
            }
            if let Some(examples) = operation.pointer("/requestBody/content/application~1json/examples") {
                for example in examples.as_object().unwrap().values() {
                    let kind = example["value"]["type"].as_str().unwrap();
                    let schema = CHECKS.iter().find(|(one, _)| *one == kind).unwrap().1;
                    contract.check(schema, &example["value"]).unwrap_or_else(|v| panic!("{path} {v:?}"));
                }
            }
        }
        // Examples name this dealer, since any other is refused here.
        assert!(!document.to_string().contains("\"tidewater\""), "{slug} {}", spec.version);
        let mut references = Vec::new();
        gather(&document, &mut references);
        assert!(references.len() > 20);
        for reference in references {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        // Each schema by itself is one that validators take.
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            let schema =
                json!({"$ref": format!("#/components/schemas/{name}"), "components": document["components"]});
            jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

const CHECKS: [(&str, &str); 10] = [
    ("dealer.information.request", "dealer-information-request.schema.json"),
    ("dealer.information.response", "dealer-information-response.schema.json"),
    ("inventory.facets.request", "inventory-facets-request.schema.json"),
    ("inventory.facets.response", "inventory-facets-response.schema.json"),
    ("inventory.search.request", "inventory-search-request.schema.json"),
    ("inventory.search.response", "inventory-search-response.schema.json"),
    ("inventory.vehicle.request", "vehicle-detail-request.schema.json"),
    ("inventory.vehicle.response", "vehicle-detail-response.schema.json"),
    ("lead.submit.request", "lead-submit-request.schema.json"),
    ("lead.submit.response", "lead-submit-response.schema.json"),
];

fn gather<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|entry| gather(entry, found)),
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| gather(value, found));
        }
        _ => {}
    }
}

/// Answers fit the schemas that the document has for them, not only those of the contract.
#[tokio::test]
async fn answers_fit_the_document() {
    for spec in CONTRACTS {
        let document = document("harbor", spec.version).await;
        for path in ["/dealer", "/facets", "/inventory", "/inventory/v1", "/inventory/none"] {
            let response = request(Method::GET, "harbor", spec.version, path.trim_start_matches('/')).await;
            let response = response.send().await.unwrap();
            let status = response.status().as_u16().to_string();
            let answer: Value = response.json().await.unwrap();
            let template = if path.matches('/').count() == 2 { "/inventory/{vehicle_id}" } else { path };
            let content =
                document["paths"][template]["get"]["responses"][&status]["content"].as_object().unwrap();
            let (_, content) = content.iter().next().unwrap();
            let schema = json!({"$ref": content["schema"]["$ref"], "components": document["components"]});
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            assert!(validator.is_valid(&answer), "{path}: {:?}", validator.iter_errors(&answer).next());
        }
    }
}

#[tokio::test]
async fn a_document_changes_with_its_dealer_and_is_not_sent_twice() {
    let dealer = |name: &str, skills: Value| json!({"described": {"name": name, "rooftops": [{"name": "R"}], "inventory": [], "skills": skills}});
    settle(dealer("First", json!(["dealer.information", "inventory.search"]))).await;
    for path in ["openapi.json", "openapi.yaml", "docs"] {
        let first = get("described", path).await;
        assert_eq!(first.headers()["cache-control"], "public, max-age=300");
        let tag = first.headers()["etag"].to_str().unwrap().to_owned();
        assert!(first.text().await.unwrap().contains("First"));
        let again = request(Method::GET, "described", ContractVersion::V3_0, path).await;
        assert_eq!(again.header("if-none-match", &tag).send().await.unwrap().status(), 304, "{path}");
    }
    settle(dealer("Second", json!(["dealer.information"]))).await;
    let text = get("described", "openapi.yaml").await.text().await.unwrap();
    assert!(text.contains("Second") && !text.contains("/inventory"), "{text}");
}

#[tokio::test]
async fn the_page_needs_nothing_of_another_host_and_no_script() {
    let name = "<script>alert(1)</script> & \"Sons\"";
    settle(json!({"sharp": {"name": name, "rooftops": [{"name": "R"}], "inventory": []}})).await;
    for slug in ["harbor", "sharp"] {
        let response = get(slug, "docs").await;
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline';"), "{policy}");
        let html = response.text().await.unwrap();
        assert!(html.starts_with("<!doctype html><html lang=en>") && html.contains("<main"));
        assert!(!html.contains("<script") && !html.contains(" src=") && !html.contains("@import"));
        let document = document(slug, ContractVersion::V3_0).await;
        for (_, operation) in operations(&document) {
            let id = operation["operationId"].as_str().unwrap();
            assert!(
                html.contains(&format!("id=\"{id}\"")) && html.contains(&format!("href=\"#{id}\"")),
                "{id}"
            );
        }
        // Where problems lead.
        for code in ["VEHICLE_NOT_FOUND", "RATE_LIMITED", "SCHEMA_VALIDATION_FAILED", "INVALID_CONSENT"] {
            assert_eq!(html.matches(&format!("id=\"{code}\"")).count(), 1, "{code}");
        }
        // Links within the page lead somewhere.
        for part in html.split("href=\"#").skip(1) {
            let target = part.split('"').next().unwrap();
            assert!(
                html.contains(&format!("id=\"{target}\"")) || html.contains(&format!("id={target}")),
                "{target}"
            );
        }
    }
}
