//! Reads: the same answers as by A2A, with what HTTP has for copies and pages.

use contract::ContractVersion;
use reqwest::Method;
use serde_json::{Value, json};

use super::{get, ok, plain_problem, post, refusal, request};
use crate::ground::{ground, lot, problems, search, settle};

const V3: ContractVersion = ContractVersion::V3_0;

#[tokio::test]
async fn a_query_gets_what_its_payload_gets() {
    let platform = ground().await;
    for (path, payload) in [
        ("inventory", search()),
        (
            "inventory?limit=2&sort=year&order=desc",
            json!({"type": "inventory.search.request",
            "pagination": {"limit": 2}, "sort": {"field": "year", "order": "desc"}}),
        ),
        (
            "inventory?make=Honda&make=fiat&price_max=35000&sort=price",
            json!({"type": "inventory.search.request",
            "filters": {"make": ["Honda", "fiat"], "price_max": 35000}, "sort": {"field": "price", "order": "asc"}}),
        ),
        (
            "inventory?query=heated%20seats&dc_fast_charge=false&anonymous=true",
            json!({"type": "inventory.search.request",
            "filters": {"query": "heated seats", "dc_fast_charge": false}, "privacy": {"anonymous": true}}),
        ),
        (
            "inventory?make=Citro%C3%ABn",
            json!({"type": "inventory.search.request", "filters": {"make": ["Citroën"]}}),
        ),
        (
            "inventory?make=Honda,Fiat",
            json!({"type": "inventory.search.request", "filters": {"make": ["Honda,Fiat"]}}),
        ),
        ("facets", json!({"type": "inventory.facets.request"})),
        (
            "facets?condition=used&condition=cpo",
            json!({"type": "inventory.facets.request",
            "filters": {"condition": ["used", "cpo"]}}),
        ),
        ("dealer", json!({"type": "dealer.information.request"})),
        ("dealer?dealer_id=harbor-city", json!({"type": "dealer.information.request"})),
        ("inventory/v1", json!({"type": "inventory.vehicle.request", "vehicle_id": "v1"})),
        (
            "inventory/vin/2HKRW2H80PH600101",
            json!({"type": "inventory.vehicle.request", "vin": "2HKRW2H80PH600101"}),
        ),
        ("inventory/stock/N-10", json!({"type": "inventory.vehicle.request", "stock": "N-10"})),
    ] {
        let mut by_http = ok(get("harbor", path).await).await;
        let answer = platform.ask("harbor", payload).send().await;
        let mut by_a2a = answer["result"]["message"]["parts"][0]["data"].clone();
        for payload in [&mut by_http, &mut by_a2a] {
            if let Some(cursor) = payload.pointer_mut("/data/next_cursor").filter(|cursor| cursor.is_string())
            {
                *cursor = "masked".into();
            }
        }
        assert_eq!(by_http, by_a2a, "{path}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_query_is_said_all_at_once() {
    for (path, wrong) in [
        (
            "inventory?colour=red&price_max=cheap&year_min=1&year_min=2&limit=0",
            vec![
                ("/filters/colour", "additionalProperties"),
                ("/filters/price_max", "type"),
                ("/filters/year_min", "type"),
                ("/pagination/limit", "minimum"),
            ],
        ),
        ("inventory?skip=3", vec![("/pagination/skip", "additionalProperties")]),
        ("inventory?type=inventory.search.request", vec![("/filters/type", "additionalProperties")]),
        ("inventory?sort=colour", vec![("/sort/field", "enum")]),
        ("inventory?order=up", vec![("/sort/order", "enum")]),
        (
            "inventory?vin=short&condition=mint&dc_fast_charge=yes",
            vec![
                ("/filters/condition/0", "enum"),
                ("/filters/dc_fast_charge", "type"),
                ("/filters/vin", "pattern"),
            ],
        ),
        ("facets?limit=1", vec![("/pagination", "additionalProperties")]),
        ("dealer?make=Honda", vec![("/make", "additionalProperties")]),
        ("inventory/v1?make=Honda", vec![("/make", "additionalProperties")]),
        ("inventory/v1?vehicle_id=v2", vec![("/vehicle_id", "type")]),
        ("inventory/vin/abc", vec![("/vin", "pattern")]),
    ] {
        let error = refusal(get("harbor", path).await, V3, 422, "SCHEMA_VALIDATION_FAILED").await;
        let expected: Vec<_> =
            wrong.iter().map(|(at, keyword)| ((*at).to_owned(), (*keyword).to_owned())).collect();
        assert_eq!(problems(&error), expected, "{path}");
    }
}

#[tokio::test]
async fn vehicles_are_found_by_what_their_path_says() {
    let odd = ["a/b c", "ü+%", "vin", "stock", "?x=1#y"];
    let stock: Value = odd.iter().map(|id| testkit::car(id, "Honda", "Civic", 20000)).collect();
    settle(json!({"odd-ids": {"name": "Odd", "rooftops": [{"name": "R"}], "inventory": stock}})).await;
    for id in odd {
        let mut url = reqwest::Url::parse("http://x/").unwrap();
        url.path_segments_mut().unwrap().push(id);
        let found = ok(get("odd-ids", &format!("inventory{}", url.path())).await).await;
        assert_eq!(found["data"]["vehicle_id"], id);
    }
    for (path, status, code) in [
        ("inventory/nothing", 404, "VEHICLE_NOT_FOUND"),
        ("inventory/gone", 410, "VEHICLE_UNAVAILABLE"),
        ("inventory/stock/none", 404, "VEHICLE_NOT_FOUND"),
        ("inventory/v1?dealer_id=other", 404, "DEALER_NOT_FOUND"),
        ("inventory?cursor=abc", 422, "INVALID_CURSOR"),
    ] {
        refusal(get("harbor", path).await, V3, status, code).await;
    }
    for path in ["inventory/a/b", "inventory/vin/a/b", "facets/x", "dealer/x", "skills"] {
        plain_problem(get("harbor", path).await, 404).await;
    }
}

/// Who puts an empty id into an address must not get the whole lot, or another vehicle.
#[tokio::test]
async fn an_id_that_is_empty_is_no_address() {
    let stock: Value =
        ["vin", "stock", "v1"].iter().map(|id| testkit::car(id, "Honda", "Civic", 20000)).collect();
    settle(json!({"empty-ids": {"name": "Empty", "rooftops": [{"name": "R"}], "inventory": stock}})).await;
    for path in [
        "inventory//",
        "inventory///",
        "inventory//v1",
        "inventory/vin/",
        "inventory/vin//",
        "inventory/stock/",
        "inventory/stock/?limit=1",
        "vehicles//",
        "dealer//",
        "facets//",
    ] {
        plain_problem(get("empty-ids", path).await, 404).await;
    }
    // A slash at the end changes nothing of an address that is whole.
    for path in ["inventory", "inventory/", "inventory/?limit=1"] {
        assert_eq!(ok(get("empty-ids", path).await).await["data"]["total"], 3, "{path}");
    }
    for (path, id) in [
        ("inventory/vin", "vin"),
        ("inventory/stock", "stock"),
        ("inventory/v1", "v1"),
        ("inventory/v1/", "v1"),
    ] {
        assert_eq!(ok(get("empty-ids", path).await).await["data"]["vehicle_id"], id, "{path}");
    }
}

/// Follows `Link` from page to page, in a contract of cursors and in one that counts.
#[tokio::test]
async fn links_lead_through_all_pages() {
    let platform = ground().await;
    for contract in [ContractVersion::V1_3, ContractVersion::Latest, V3] {
        let first =
            request(Method::GET, "harbor", contract, "inventory?limit=2&year_min=1900&sort=stock&order=asc")
                .await;
        let mut response = first.send().await.unwrap();
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let link = response.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
            let page = ok(response).await;
            let vehicles = page["data"]["vehicles"].as_array().unwrap();
            assert_eq!(page["data"]["total"], 6);
            seen.extend(vehicles.iter().map(|vehicle| vehicle["vehicle_id"].as_str().unwrap().to_owned()));
            pages += 1;
            let Some(link) = link else { break };
            let next = link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap();
            assert!(next.starts_with(&format!("{}{contract}/inventory?", platform.base("harbor"))), "{next}");
            assert!(next.contains("year_min=1900") && next.contains("limit=2"), "{next}");
            response = platform.http.get(next).send().await.unwrap();
        }
        assert_eq!(pages, 3, "{contract}");
        seen.sort_unstable();
        assert_eq!(seen, ["v1", "v2", "v3", "v4", "v5", "v6"], "{contract}");
    }
    let whole = get("harbor", "inventory").await;
    assert!(!whole.headers().contains_key("link"));
}

#[tokio::test]
async fn a_copy_is_good_until_something_changes() {
    let dealer = |name: &str, stock: Value| {
        let rooftops = json!([{"name": "Harbor North"}, {"name": "Harbor South"}]);
        json!({"copied": {"name": name, "rooftops": rooftops, "inventory": stock}})
    };
    settle(dealer("Copied", lot())).await;
    let tagged = |path: &'static str, tag: Option<String>| async move {
        let mut asking = request(Method::GET, "copied", V3, path).await;
        if let Some(tag) = tag {
            asking = asking.header("if-none-match", tag);
        }
        let response = asking.send().await.unwrap();
        let headers = response.headers();
        assert_eq!(headers["cache-control"], "public, no-cache", "{path}");
        let tag = headers["etag"].to_str().unwrap().to_owned();
        (response.status().as_u16(), tag, response.bytes().await.unwrap().len())
    };
    let paths = ["inventory?make=Honda", "inventory/v1", "facets", "dealer"];
    let mut tags = Vec::new();
    for path in paths {
        let (status, tag, _) = tagged(path, None).await;
        assert_eq!(status, 200);
        assert_eq!(tagged(path, Some(tag.clone())).await, (304, tag.clone(), 0), "{path}");
        assert_eq!(tagged(path, Some("\"other\", *".into())).await.0, 304);
        assert_eq!(tagged(path, Some("\"other\"".into())).await.0, 200);
        tags.push(tag);
    }
    let mut stock = lot();
    stock[0]["price"] = 19_000.into();
    settle(dealer("Copied", stock.clone())).await;
    for (path, tag) in paths.iter().zip(&tags) {
        let changed = if *path == "dealer" { 304 } else { 200 };
        assert_eq!(tagged(path, Some(tag.clone())).await.0, changed, "{path}");
    }
    settle(dealer("Copied Anew", stock)).await;
    for (path, tag) in paths.iter().zip(&tags) {
        assert_eq!(tagged(path, Some(tag.clone())).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn an_answer_says_its_version_and_can_be_asked_for_one() {
    let versioned = |value: &'static str| async move {
        let asking = request(Method::GET, "harbor", V3, "facets").await;
        asking.header("forecourt-min-version", value).send().await.unwrap()
    };
    let answer = versioned("1").await;
    assert!(answer.headers()["forecourt-inventory-version"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    assert!(!get("harbor", "dealer").await.headers().contains_key("forecourt-inventory-version"));
    plain_problem(versioned("new").await, 400).await;
    let ahead = versioned("4000000000").await;
    assert!(ahead.headers().contains_key("retry-after"));
    refusal(ahead, V3, 503, "INTERNAL_ERROR").await;
}

#[tokio::test]
async fn a_copy_of_one_dealer_is_never_another_one_s() {
    let dealer = |name: &str| {
        json!({"name": name, "inventory": lot(),
        "rooftops": [{"name": "Harbor North"}, {"name": "Harbor South"}]})
    };
    // Brought in at once, and changed as often: but for the dealer all is the same.
    settle(json!({"twin-a": dealer("Twin A"), "twin-b": dealer("Twin B")})).await;
    for path in ["dealer", "facets", "inventory"] {
        let tag = get("twin-a", path).await.headers()["etag"].to_str().unwrap().to_owned();
        let asking = request(Method::GET, "twin-b", V3, path).await.header("if-none-match", tag);
        assert_eq!(asking.send().await.unwrap().status(), 200, "{path}");
    }
}

#[tokio::test]
async fn methods_and_browsers_are_told_what_is_here() {
    for (path, allowed, other) in [
        ("inventory", "GET, HEAD, OPTIONS", Method::POST),
        ("inventory/v1", "GET, HEAD, OPTIONS", Method::DELETE),
        ("skills/inventory.search", "POST, OPTIONS", Method::GET),
        ("openapi.json", "GET, HEAD, OPTIONS", Method::PUT),
        ("docs", "GET, HEAD, OPTIONS", Method::POST),
        ("llms.txt", "GET, HEAD, OPTIONS", Method::POST),
        (".well-known/api-catalog", "GET, HEAD, OPTIONS", Method::POST),
        ("vehicles", "GET, HEAD, OPTIONS", Method::POST),
    ] {
        let refused = request(other, "harbor", V3, path).await.send().await.unwrap();
        assert_eq!(refused.headers()["allow"], allowed, "{path}");
        plain_problem(refused, 405).await;
        let options = request(Method::OPTIONS, "harbor", V3, path).await.send().await.unwrap();
        assert_eq!(
            (options.status().as_u16(), &options.headers()["allow"]),
            (204, &allowed.parse().unwrap())
        );
        let preflight =
            request(Method::OPTIONS, "harbor", V3, path).await.header("origin", "https://a.example");
        let preflight = preflight.header("access-control-request-method", "GET").send().await.unwrap();
        assert_eq!(preflight.headers()["access-control-allow-origin"], "*", "{path}");
    }
    let head = request(Method::HEAD, "harbor", V3, "inventory?limit=1").await.send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert!(head.headers().contains_key("link") && head.headers().contains_key("etag"));
    let exposed = head.headers()["access-control-expose-headers"].to_str().unwrap();
    for name in ["link", "etag", "retry-after", "forecourt-inventory-version"] {
        assert!(exposed.contains(name), "{exposed}");
    }
    assert_eq!(head.bytes().await.unwrap().len(), 0);
    ok(post("harbor", "inventory.search", &json!({})).await).await;
}
