//! What crawlers find: `llms.txt`, the catalogue, and schema.org in the pages.

use contract::ContractVersion;
use reqwest::Method;
use serde_json::{Value, json};

use super::{get, request};
use crate::ground::{ground, settle};

/// The one description in a page.
fn described(html: &str) -> Value {
    let parts: Vec<_> = html.split("<script type=\"application/ld+json\">").collect();
    assert_eq!(parts.len(), 2, "{html}");
    let (text, rest) = parts[1].split_once("</script>").unwrap();
    assert!(!text.contains('<') && !rest.contains("<script"), "{text}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn vehicles_are_cars_with_offers_and_a_price_only_where_there_is_one() {
    let page = |id: &'static str| async move {
        let response = get("harbor", &format!("vehicles/{id}")).await;
        assert_eq!(response.status(), 200, "{id}");
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        response.text().await.unwrap()
    };
    let html = page("v1").await;
    let car = described(&html);
    let base = ground().await.base("harbor");
    assert_eq!((&car["@context"], &car["@type"]), (&json!("https://schema.org"), &json!("Car")));
    assert_eq!(car["name"], "2023 Honda CR-V EX-L");
    assert_eq!(car["vehicleIdentificationNumber"], "2HKRW2H80PH600101");
    assert_eq!(car["mileageFromOdometer"]["value"], 28450);
    assert_eq!(car["url"], format!("{base}v3.0/vehicles/v1"));
    let offer = &car["offers"];
    assert_eq!(
        (&offer["@type"], &offer["price"], &offer["priceCurrency"]),
        (&json!("Offer"), &json!(29495), &json!("USD"))
    );
    assert_eq!(offer["availability"], "https://schema.org/InStock");
    assert!(html.contains(&format!("<link rel=canonical href=\"{base}v3.0/vehicles/v1\">")));
    assert!(html.contains("29495") && html.contains("Power moonroof"));

    // A list price is no price.
    let html = page("v2").await;
    assert!(!html.contains("20000"), "{html}");
    let unpriced = described(&html);
    assert!(unpriced["offers"].get("price").is_none() && unpriced["offers"].get("priceCurrency").is_none());
    assert_eq!(unpriced["offers"]["availability"], "https://schema.org/LimitedAvailability");
    assert!(!unpriced.to_string().contains("20000"), "{unpriced}");
    assert_eq!(described(&page("v5").await)["offers"]["price"], 0);
    assert_eq!(described(&page("v6").await)["@type"], "Motorcycle");
    assert_eq!(described(&page("v7").await)["name"], "Vehicle v7");

    for (id, status) in [("none", 404), ("gone", 410)] {
        let response = get("harbor", &format!("vehicles/{id}")).await;
        assert_eq!(response.status(), status);
        assert!(!response.text().await.unwrap().contains("ld+json"));
    }
    assert_eq!(get("narrow", "vehicles/v1").await.status(), 404);
    assert_eq!(get("harbor", "vehicles/v1/x").await.status(), 404);
}

#[tokio::test]
async fn nothing_of_a_dealer_gets_out_of_its_place() {
    let sharp = "</script><script>alert(1)</script><!-- ' \" & \u{2028} ](x)\n# ";
    let mut car = testkit::car("a\"><b>", "Honda", sharp, 20000);
    car["description"] = sharp.into();
    car["vdp_url"] = "https://x.example/?a='&b=1".into();
    let fine = settle(
        json!({"sharp-words": {"name": sharp, "welcome_message": sharp, "rooftops": [{"name": sharp}],
        "inventory": [car]}}),
    );
    fine.await;
    for path in ["", "vehicles", "vehicles/a%22%3E%3Cb%3E", "docs"] {
        let response = get("sharp-words", path).await;
        assert_eq!(response.status(), 200, "{path}");
        let html = response.text().await.unwrap();
        assert!(
            !html.contains("alert(1)</script>") && !html.contains("<script>") && !html.contains("<b>"),
            "{path}"
        );
        if !["docs", "vehicles"].contains(&path) {
            let described = described(&html).to_string();
            assert!(described.contains("alert(1)"), "{described}");
        }
    }
    let text = get("sharp-words", "llms.txt").await.text().await.unwrap();
    let heading = text.lines().next().unwrap();
    assert!(
        heading.starts_with("# ") && heading.contains("alert") && heading.contains("\\<script"),
        "{heading}"
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1, "{text}");
}

/// What a feed gives as an address is one for programs only if a browser would fetch it.
#[tokio::test]
async fn addresses_of_programs_are_no_addresses() {
    let mut car = testkit::car("x1", "Honda", "Civic", 20000);
    car["photos"] = json!(["javascript:alert(1)", "https://x.example/1.webp", "data:text/html,x"]);
    let mut bare = testkit::car("x2", "Honda", "Civic", 20000);
    bare["photos"] = json!(["JavaScript:alert(1)"]);
    settle(json!({"odd-sites": {"name": "Odd Sites", "inventory": [car, bare],
        "rooftops": [{"name": "R", "website": "javascript:alert(1)"}, {"name": "S", "website": "http://s.example/"}]}}))
    .await;
    let page = |path: &'static str| async move { get("odd-sites", path).await.text().await.unwrap() };
    let dealer = described(&page("").await);
    assert!(dealer["department"][0].get("url").is_none(), "{dealer}");
    assert_eq!(dealer["department"][1]["url"], "http://s.example/");
    assert_eq!(described(&page("vehicles/x1").await)["image"], json!(["https://x.example/1.webp"]));
    assert!(described(&page("vehicles/x2").await).get("image").is_none());
}

/// A browser makes `vehicles/.` the list and `vehicles/..` the dealer.
#[tokio::test]
async fn ids_that_are_steps_in_a_path_have_no_link() {
    let stock: Value =
        [".", "..", "..."].iter().map(|id| testkit::car(id, "Honda", "Civic", 20000)).collect();
    settle(json!({"dots": {"name": "Dots", "rooftops": [{"name": "R"}], "inventory": stock}})).await;
    let html = get("dots", "vehicles").await.text().await.unwrap();
    let links: Vec<_> =
        html.split("/vehicles/").skip(1).map(|part| part.split('"').next().unwrap()).collect();
    assert_eq!(links, ["..."], "{html}");
    assert_eq!(html.matches("<li>").count(), 3, "{html}");
    assert_eq!(get("dots", "vehicles/...").await.status(), 200);
}

#[tokio::test]
async fn a_dealer_is_described_with_its_stores() {
    let two = described(&get("harbor", "").await.text().await.unwrap());
    assert_eq!((&two["@type"], &two["name"]), (&json!("AutoDealer"), &json!("Harbor City")));
    assert_eq!(two["department"][0]["address"]["addressLocality"], "Astoria");
    assert_eq!(two["department"].as_array().unwrap().len(), 2);
    settle(json!({"one-store": {"name": "One Store", "inventory": [], "rooftops": [{"name": "Main", "timezone": "UTC",
        "phones": [{"value": "+15035550120"}], "geo": {"latitude": 46.1, "longitude": -123.8},
        "schedules": [{"value": {"friday": {"open": "08:30", "close": "18:00"}, "sunday": null}}]}]}}))
    .await;
    let one = described(&get("one-store", "").await.text().await.unwrap());
    assert_eq!((&one["name"], &one["telephone"]), (&json!("One Store"), &json!("+15035550120")));
    let hours = one["openingHoursSpecification"].as_array().unwrap();
    assert_eq!(hours.len(), 1, "a closed day has no hours");
    assert_eq!(
        (&hours[0]["dayOfWeek"], &hours[0]["opens"]),
        (&json!("https://schema.org/Friday"), &json!("08:30"))
    );
    assert_eq!(one["geo"]["latitude"], 46.1);
}

#[tokio::test]
async fn lists_lead_to_every_vehicle() {
    let stock: Value =
        (0..120).map(|i| testkit::car(&format!("n{i}"), "Honda", "Civic", 20000 + i)).collect();
    settle(json!({"listed": {"name": "Listed", "rooftops": [{"name": "R"}], "inventory": stock}})).await;
    for contract in [ContractVersion::V1_3, ContractVersion::V3_0] {
        let (mut query, mut seen, mut pages) = (String::new(), std::collections::BTreeSet::new(), 0);
        loop {
            let response = request(Method::GET, "listed", contract, &format!("vehicles{query}")).await;
            let html = response.send().await.unwrap().text().await.unwrap();
            pages += 1;
            let mark = format!("/{contract}/vehicles/");
            seen.extend(html.split(&mark).skip(1).map(|part| part.split('"').next().unwrap().to_owned()));
            let Some((_, rest)) = html.split_once("<a rel=next href=\"") else { break };
            query = rest.split('"').next().unwrap().to_owned();
        }
        assert_eq!((pages, seen.len()), (3, 120), "{contract}");
    }
}

/// Everything that the documents for programs name is there.
#[tokio::test]
async fn catalogues_name_only_what_is_served() {
    let platform = ground().await;
    let response = get("harbor", ".well-known/api-catalog").await;
    let media_type = response.headers()["content-type"].to_str().unwrap();
    assert_eq!(media_type, "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"");
    assert!(response.headers()["link"].to_str().unwrap().contains("rel=\"api-catalog\""));
    let set: Value = response.json().await.unwrap();
    let entries = set["linkset"].as_array().unwrap();
    let items: Vec<_> =
        entries[0]["item"].as_array().unwrap().iter().map(|item| item["href"].as_str().unwrap()).collect();
    assert_eq!(items.len() + 1, entries.len());
    for path in ["", "a2a", "mcp"] {
        assert!(
            items.contains(&format!("{}v3.0/{path}", platform.base("harbor")).as_str()),
            "{path}: {items:?}"
        );
    }
    for entry in &entries[1..] {
        for relation in ["service-desc", "service-doc", "service-meta"] {
            for link in entry[relation].as_array().unwrap() {
                let there = platform.http.get(link["href"].as_str().unwrap()).send().await.unwrap();
                assert_eq!(there.status(), 200, "{link}");
                let media_type = there.headers()["content-type"].to_str().unwrap().to_owned();
                let said = link["type"].as_str().unwrap();
                let fits = media_type.split(';').next() == Some(said) || said == "application/openapi+json";
                assert!(fits, "{link} is {media_type}");
            }
        }
    }
    let text = get("harbor", "llms.txt").await.text().await.unwrap();
    let links: Vec<_> = text.split("](").skip(1).map(|part| part.split(')').next().unwrap()).collect();
    assert!(links.len() >= 6, "{text}");
    for link in links {
        let status = platform.http.get(link).send().await.unwrap().status().as_u16();
        assert!([200, 405].contains(&status), "{link}: {status}");
    }
    let whole: Value = platform
        .http
        .get(format!("{}/.well-known/api-catalog", platform.origin))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let catalogs: Vec<_> = whole["linkset"][0]["api-catalog"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["href"].as_str().unwrap())
        .collect();
    assert!(catalogs.contains(&format!("{}.well-known/api-catalog", platform.base("harbor")).as_str()));
    let text = platform
        .http
        .get(format!("{}/llms.txt", platform.origin))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(text.contains(&format!("{}llms.txt", platform.base("harbor"))));
}
