//! JSON of people who mean no good: prompt, clean answers, an error only where the protocol says so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ground::{fault, harbor, is_protocol_error, post, problems, refused, search};

/// Longer than any honest answer needs, far shorter than a client waits.
const PROMPT: Duration = Duration::from_secs(5);

/// The request with a JSON text in the place of `"HERE"`.
pub fn placed(at: &str, json_text: &str) -> String {
    let mut body = testkit::request_body(search());
    body["params"]["message"]["contextId"] = json!("ctx");
    let (parent, key) = at.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(key.to_owned(), json!("HERE"));
    let text = body.to_string();
    assert_eq!(text.matches("\"HERE\"").count(), 1);
    text.replace("\"HERE\"", json_text)
}

const PAYLOAD: &str = "/params/message/parts/0/data";

/// Places of the request where anything may stand, and those where it may not, by what then is said.
const IGNORED: [&str; 6] = [
    "/x",
    "/params/x",
    "/params/metadata",
    "/params/message/metadata",
    "/params/message/parts/0/metadata",
    "/params/configuration/x",
];

#[tokio::test]
async fn depth_is_refused_before_anything_is_built() {
    let begun = Instant::now();
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")] {
        let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        let mut bodies = vec![deep.clone(), open.repeat(100_000), format!(" {deep}")];
        for at in
            IGNORED.into_iter().chain(["/id", "/method", "/params/message/parts/0/data/filters", PAYLOAD])
        {
            bodies.push(placed(at, &deep));
        }
        for body in bodies {
            let answer: Value = serde_json::from_str(&post(body).await).unwrap();
            assert_eq!(answer["id"], Value::Null);
            is_protocol_error(&answer["error"], -32600, None);
        }
    }
    assert!(begun.elapsed() < PROMPT * 3, "{:?}", begun.elapsed());
    // A little beyond the limit, and right at it: the envelope itself takes one level above `x`.
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(post(placed("/x", &nested(63))).await.contains("\"result\""));
    is_protocol_error(&refused(placed("/x", &nested(64)), "null").await, -32600, None);
    // Brackets in strings nest nothing.
    let brackets = format!("\"{}\\\"{}\"", "[{".repeat(10_000), "[".repeat(10_000));
    assert!(post(placed("/x", &brackets)).await.contains("\"result\""));
}

#[tokio::test]
async fn lone_surrogates_are_legal_everywhere_and_mean_nothing() {
    for text in
        [r#""\ud800""#, r#""\udc00\ud800x""#, r#""\uDBFF\u0041""#, r#"["\ud800",{"\udfff":"\ud800"}]"#]
    {
        for at in IGNORED {
            let answer = post(placed(at, text)).await;
            assert!(answer.contains("\"total\":7"), "{at} {text}: {answer}");
        }
    }
    let lone = r#""\ud800""#;
    let served = [
        ("/id", lone),
        ("/params/message/messageId", lone),
        ("/params/message/parts/0/data/filters", r#"{"make":["\ud800","Honda"],"query":""}"#),
        ("/params/configuration/acceptedOutputModes", r#"["\ud800","*/*"]"#),
    ];
    for (at, value) in served {
        let answer = post(placed(at, value)).await;
        assert!(answer.contains("\"result\""), "{at}: {answer}");
    }
    let refused_with = [
        ("/jsonrpc", -32600),
        ("/method", -32601),
        ("/params", -32602),
        ("/params/tenant", -32602),
        ("/params/message", -32602),
        ("/params/message/role", -32602),
        ("/params/message/contextId", -32602),
        ("/params/message/taskId", -32001),
        ("/params/message/parts", -32602),
        ("/params/message/parts/0/mediaType", -32005),
        ("/params/configuration", -32602),
        ("/params/configuration/acceptedOutputModes", -32602),
        (PAYLOAD, -32602),
        ("/params/message/parts/0/data/type", -32602),
        ("/params/message/parts/0/data/dealer_id", -32000),
    ];
    for (at, code) in refused_with {
        let error = refused(placed(at, lone), "\"req-1\"").await;
        assert_eq!(error["code"], code, "{at}: {error}");
    }
    // An unknown member of the payload is refused, and its name can be written.
    let body = placed("/params/message/parts/0/data/pagination", r#"{"\ud800":1,"limit":1e999}"#);
    let error = refused(body, "\"req-1\"").await;
    let expected = [("/pagination/limit", "maximum"), ("/pagination/\u{fffd}", "additionalProperties")];
    let expected = expected.map(|(at, keyword)| (at.to_owned(), keyword.to_owned()));
    assert_eq!(problems(fault(&error, "SCHEMA_VALIDATION_FAILED")), expected);
}

#[tokio::test]
async fn numbers_of_any_size_are_numbers() {
    for number in ["1e999", "-1e999", "1e-999", "123456789012345678901234567890", "-0", "0.1e1", "1E400"] {
        for at in IGNORED {
            assert!(post(placed(at, number)).await.contains("\"total\":7"), "{at} {number}");
        }
    }
    let digits = "9".repeat(500_000);
    assert!(post(placed("/x", &digits)).await.contains("\"total\":7"));
    for (filters, total) in [
        (r#"{"price_max":1e999}"#.to_owned(), 5),
        (r#"{"price_max":1e30,"mileage_max":99999999999999999999}"#.to_owned(), 3),
        (r#"{"price_min":1e999}"#.to_owned(), 0),
        (r#"{"price_min":-0,"year_min":2.015e3}"#.to_owned(), 5),
        (r#"{"price_max":1e-999}"#.to_owned(), 1),
        (format!(r#"{{"price_max":{digits}}}"#), 5),
    ] {
        let answer = post(placed("/params/message/parts/0/data/filters", &filters)).await;
        assert!(answer.contains(&format!("\"total\":{total},")), "{filters:.40}: {answer:.300}");
    }
    for (filters, keyword) in [
        (r#"{"price_max":-1e999}"#, "minimum"),
        (r#"{"year_max":1e999}"#, "maximum"),
        (r#"{"price_max":0.5}"#, "type"),
        (r#"{"price_max":"1"}"#, "type"),
        (r#"{"price_max":[1e999]}"#, "type"),
    ] {
        let error = refused(placed("/params/message/parts/0/data/filters", filters), "\"req-1\"").await;
        let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
        assert!(found.len() == 1 && found[0].1 == keyword, "{filters}: {found:?}");
    }
}

#[tokio::test]
async fn nul_and_control_characters_are_data() {
    let filters = r#"{"make":["\u0000","Honda\u0000"],"stock":"\u0000","query":"\u0000"}"#;
    let answer = post(placed("/params/message/parts/0/data/filters", filters)).await;
    assert!(
        answer.contains("\"total\":0,") && answer.contains(r#""make":["\u0000","Honda\u0000"]"#),
        "{answer}"
    );
    let vehicle = json!({"type": "inventory.vehicle.request", "stock": "\u{0}", "vehicle_id": "v1\u{0}"});
    fault(&harbor(vehicle).await.error().await, "VEHICLE_NOT_FOUND");
    fault(&harbor(json!({"type": "a.b\u{0}"})).await.error().await, "SCHEMA_VALIDATION_FAILED");
    let dealer = json!({"type": "dealer.information.request", "dealer_id": "harbor-city\u{0}"});
    fault(&harbor(dealer).await.error().await, "DEALER_NOT_FOUND");
}

#[tokio::test]
async fn thousands_of_members_are_passed_over_or_named() {
    let members = (0..20_000).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let begun = Instant::now();
    for at in IGNORED {
        assert!(post(placed(at, &format!("{{{members}}}"))).await.contains("\"total\":7"));
    }
    for first in ["{\"id\"", "{\"jsonrpc\""] {
        let text = testkit::request_body(search()).to_string();
        if text.starts_with(first) {
            assert!(post(text.replacen('{', &format!("{{{members},"), 1)).await.contains("\"total\":7"));
        }
    }
    let error =
        refused(placed("/params/message/parts/0/data/filters", &format!("{{{members}}}")), "\"req-1\"").await;
    let found = problems(fault(&error, "SCHEMA_VALIDATION_FAILED"));
    assert!(found.len() > 1000 && found.iter().any(|(_, keyword)| keyword == "x-more"), "{}", found.len());
    assert_eq!(error["message"], "The request has more than 1000 problems; see details.errors.");
    let wrong = format!(r#"{{"make":[{}]}}"#, vec!["0"; 100_000].join(","));
    let error = refused(placed("/params/message/parts/0/data/filters", &wrong), "\"req-1\"").await;
    fault(&error, "SCHEMA_VALIDATION_FAILED");
    let makes = (0..50_000).map(|i| format!("\"make {i}\"")).collect::<Vec<_>>().join(",");
    let answer =
        post(placed("/params/message/parts/0/data/filters", &format!(r#"{{"make":[{makes}]}}"#))).await;
    assert!(answer.contains("\"total\":0,"));
    let parts = vec!["{\"text\":\"\"}"; 50_000].join(",");
    let error = refused(placed("/params/message/parts", &format!("[{parts}]")), "\"req-1\"").await;
    assert_eq!(error["code"], -32602);
    let parts = vec!["0"; 100_000].join(",");
    let text = post(placed("/params/message/parts", &format!("[{parts}]"))).await;
    assert!(text.contains("-32602") && text.contains("not listed"), "{text:.200}");
    assert!(text.len() < 20_000, "an answer far larger than its question: {}", text.len());
    assert!(begun.elapsed() < PROMPT * 4, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn huge_strings_are_only_strings() {
    let huge = format!("\"{}\"", "\\u00e9".repeat(100_000));
    for at in IGNORED.into_iter().chain(["/id"]) {
        assert!(post(placed(at, &huge)).await.contains("\"total\":7"), "{at}");
    }
    for at in
        ["/params/message/messageId", "/params/message/contextId", "/params/tenant", "/params/message/role"]
    {
        assert_eq!(refused(placed(at, &huge), "\"req-1\"").await["code"], -32602, "{at}");
    }
    is_protocol_error(&refused(placed("/method", &huge), "\"req-1\"").await, -32601, None);
    let error = refused(
        placed("/params/message/parts/0/data/filters", &format!(r#"{{"query":{huge}}}"#)),
        "\"req-1\"",
    )
    .await;
    assert_eq!(
        problems(fault(&error, "SCHEMA_VALIDATION_FAILED")),
        [("/filters/query".to_owned(), "maxLength".to_owned())]
    );
    let error =
        refused(placed("/params/message/parts/0/data/filters", &format!(r#"{{"vin":{huge}}}"#)), "\"req-1\"")
            .await;
    assert!(error.to_string().len() < 4000, "values are not sent back");
    let text = placed("/params/message/parts/0/data/type", &huge);
    assert!(refused(text, "\"req-1\"").await.to_string().len() < 4000);
}
