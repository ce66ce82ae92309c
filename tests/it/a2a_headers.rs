//! The request headers that place a request in a contract, the whole matrix (AAP.md 3; field reports 22, 23).

use serde_json::{Value, json};
use testkit::{Asking, EXTENSION, Wire};

use crate::ground::{self, ground, harbor, information, is_protocol_error, search};

const OK: i64 = 0;

/// The error's number, or [`OK`].
async fn outcome(asking: &Asking) -> (i64, Value, bool) {
    let response = asking.response().await;
    assert_eq!(response.status(), 200);
    let echoed = response.headers().get_all("a2a-extensions").iter().collect::<Vec<_>>();
    assert!(echoed.iter().all(|value| *value == EXTENSION) && echoed.len() <= 1, "{echoed:?}");
    let activated = !echoed.is_empty();
    let answer: Value = response.json().await.unwrap();
    (answer["error"]["code"].as_i64().unwrap_or(OK), answer, activated)
}

fn lines(mut asking: Asking, name: &str, values: &[&str]) -> Asking {
    asking = asking.header(name, None);
    asking.headers.extend(values.iter().map(|value| (name.to_owned(), (*value).to_owned())));
    asking
}

#[tokio::test]
async fn the_version_means_1_0_or_is_refused() {
    let asking = harbor(information()).await;
    let matrix: [(&[&str], i64); 28] = [
        (&[], OK),
        (&["1.0"], OK),
        (&[" 1.0 "], OK),
        (&["1.0.0"], OK),
        (&["1.0.1"], OK),
        (&["1.0.99"], OK),
        (&["1.0", "1.0"], OK),
        (&[""], -32009),
        (&["0.3"], -32009),
        (&["0.3.0"], -32009),
        (&["1.1"], -32009),
        (&["2.0"], -32009),
        (&["10.0"], -32009),
        (&["1.00001"], -32009),
        (&["1"], -32009),
        (&["1."], -32009),
        (&[".0"], -32009),
        (&["1.0."], -32009),
        (&["1.0.x"], -32009),
        (&["1.0.0.0"], -32009),
        (&["1.0-rc1"], -32009),
        (&["v1.0"], -32009),
        (&["+1.0"], -32009),
        (&["1,0"], -32009),
        (&["banana"], -32009),
        (&["1.0", "0.3"], -32009),
        (&["0.3", "1.0"], -32009),
        (&["99999999999999999999.0"], -32009),
    ];
    for (values, code) in matrix {
        for query in ["", "?A2A-Version=1.0", "?A2A-Version=0.3", "?a2a-version=", "?A2A-Extensions=x"] {
            let mut asked = lines(asking.clone(), "a2a-version", values);
            asked.url.push_str(query);
            let (got, answer, activated) = outcome(&asked).await;
            assert_eq!(got, code, "{values:?}{query}: {answer}");
            assert_eq!(activated, code == OK, "{values:?}");
            assert_eq!(answer["id"], "req-1");
        }
    }
}

#[tokio::test]
async fn the_extension_is_named_exactly_or_not_at_all() {
    let asking = harbor(information()).await;
    let uri = EXTENSION;
    let (tail, slash, upper) = (format!("{uri}/extra"), format!("{uri}/"), uri.to_uppercase());
    let (host, cut) = (uri.replace("org", "ORG"), &uri[..uri.len() - 1]);
    let (patch, plain) = (format!("{uri}.0"), uri.replace("https", "http"));
    let list = format!("  https://a.example/x ,\t{uri} ");
    let many = format!(",,{uri},");
    let quoted = format!("\"{uri}\"");
    let semicolon = format!("{uri};q=1");
    let (v13, v20, latest) = (
        "https://autoagentprotocol.org/extensions/aap/v1.3",
        "https://autoagentprotocol.org/extensions/aap/v2.0",
        "https://draft.autoagentprotocol.invalid/extensions/aap/latest",
    );
    let both = format!("{v13},{uri}");
    let matrix: [(&[&str], i64); 24] = [
        (&[], OK),
        (&[uri], OK),
        (&[&list], OK),
        (&[&many], OK),
        (&[uri, uri], OK),
        (&["https://a.example/x", uri], OK),
        (&[uri, ""], OK),
        (&[v13, uri], OK),
        (&[&both], OK),
        (&[""], -32008),
        (&[" "], -32008),
        (&[","], -32008),
        (&["https://a.example/x"], -32008),
        (&[v13], -32008),
        (&[v20], -32008),
        (&[latest], -32008),
        (&[&tail], -32008),
        (&[&slash], -32008),
        (&[&upper], -32008),
        (&[&host], -32008),
        (&[cut], -32008),
        (&[&patch, &plain], -32008),
        (&[&quoted], -32008),
        (&[&semicolon], -32008),
    ];
    for (values, code) in matrix {
        let (got, answer, activated) = outcome(&lines(asking.clone(), "a2a-extensions", values)).await;
        assert_eq!(got, code, "{values:?}: {answer}");
        assert_eq!(activated, code == OK, "{values:?}");
        if code != OK {
            is_protocol_error(&answer["error"], -32008, Some("EXTENSION_SUPPORT_REQUIRED"));
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(uri) && message.contains("A2A-Extensions"), "{message}");
            let expected = json!({"extensionUri": uri, "requiredHeader": "A2A-Extensions"});
            assert_eq!(answer["error"]["data"][0]["metadata"], expected);
        }
    }
}

#[tokio::test]
async fn a_refused_version_is_named_as_far_as_it_is_one() {
    let asking = harbor(information()).await;
    for (sent, named) in [("", "0.3"), ("0.3", "0.3"), ("2.0", "2.0")] {
        let error = asking.clone().header("a2a-version", Some(sent)).error().await;
        is_protocol_error(&error, -32009, Some("VERSION_NOT_SUPPORTED"));
        let expected =
            json!({"requestedVersion": named, "supportedVersions": "1.0", "requiredHeader": "A2A-Version"});
        assert_eq!(error["data"][0]["metadata"], expected);
        assert!(error["message"].as_str().unwrap().contains(named));
    }
    let long = "9".repeat(4000);
    let error = asking.clone().header("a2a-version", Some(&long)).error().await;
    assert!(error.to_string().len() < 1000, "what strangers send is not sent back at length");
}

#[tokio::test]
async fn without_any_header_the_endpoint_s_own_contract_is_meant_and_grants_nothing() {
    let asking = harbor(search()).await.header("a2a-version", None).header("a2a-extensions", None);
    let (code, _, activated) = outcome(&asking).await;
    assert_eq!((code, activated), (OK, true));
    let bad = asking.with("/params/message/parts/0/data/pagination", json!({"skip": 0}));
    let (code, answer, activated) = outcome(&bad).await;
    assert_eq!((code, activated), (-32602, true), "{answer}");
    ground::fault(&answer["error"], "SCHEMA_VALIDATION_FAILED");
}

#[tokio::test]
async fn each_check_comes_at_its_turn() {
    let asking = harbor(information()).await;
    let bad_version = |a: Asking| a.header("a2a-version", Some("0.3"));
    let bad_extension = |a: Asking| a.header("a2a-extensions", Some("x"));
    let code = async |a: Asking| outcome(&a).await.0;

    assert_eq!(code(bad_version(bad_extension(asking.clone()))).await, -32009);
    let envelope = asking.clone().with("/jsonrpc", json!("1"));
    assert_eq!(code(bad_version(envelope)).await, -32600);
    let method = asking.clone().with("/method", json!("nope")).with("/params", json!(1));
    assert_eq!(code(bad_version(method.clone())).await, -32009);
    assert_eq!(code(bad_extension(method.clone())).await, -32008);
    assert_eq!(code(method).await, -32601);
    let streaming = asking.clone().with("/method", json!("SendStreamingMessage"));
    assert_eq!(code(bad_extension(streaming)).await, -32008);
    let params = asking.clone().with("/params", json!(1));
    assert_eq!(code(bad_extension(params.clone())).await, -32008);
    assert_eq!(code(params).await, -32602);

    for header in ["a2a-version", "a2a-extensions"] {
        let text = asking.clone().header(header, Some("nope")).raw("{").await.text().await.unwrap();
        assert!(text.contains("-32700"), "{text}");
    }
    let mut media = asking.clone().header("content-type", Some("text/plain"));
    media = bad_version(media);
    let text = media.raw("{").await.text().await.unwrap();
    assert!(text.contains("-32005") && text.contains("\"id\":null"), "{text}");
}

#[tokio::test]
async fn a_refused_header_runs_no_skill() {
    let quota = json!({"name": "Twice", "rooftops": [{"name": "R"}], "inventory": [],
        "policy": {"rate_limit": {"requests": 1, "per_seconds": 3600}}});
    let platform = ground::settle(json!({"header-quota": quota})).await;
    let asking = platform.ask("header-quota", information());
    for (name, value) in [("a2a-version", "0.3"), ("a2a-extensions", "x"), ("content-type", "text/json")] {
        asking.clone().header(name, Some(value)).error().await;
    }
    asking.result().await;
    ground::fault(&asking.error().await, "RATE_LIMITED");
}

#[tokio::test]
async fn only_json_is_read_whatever_the_body_is() {
    let asking = harbor(information()).await;
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;charset=latin1",
        "application/json ;x=y",
        " application/json",
    ] {
        asking.clone().header("content-type", Some(good)).result().await;
    }
    let bad = [
        Some("text/json"),
        Some("application/a2a+json"),
        Some("application/json+x"),
        Some("application/jsonx"),
        Some("text/plain"),
        Some(""),
        Some("application/x-www-form-urlencoded"),
        Some("application"),
        Some(";"),
        Some("application/json, text/plain"),
        Some("multipart/form-data; boundary=x"),
        None,
    ];
    for content_type in bad {
        let asked = asking.clone().header("content-type", content_type);
        for body in [asked.body.to_string(), "{".to_owned(), String::new()] {
            let response = asked.raw(body).await;
            assert_eq!(response.status(), 200);
            assert!(response.headers().get("a2a-extensions").is_none());
            let answer: Value = response.json().await.unwrap();
            assert_eq!(answer["id"], Value::Null, "{content_type:?}");
            is_protocol_error(&answer["error"], -32005, Some("CONTENT_TYPE_NOT_SUPPORTED"));
        }
    }
}

#[tokio::test]
async fn header_names_have_no_case_and_values_may_be_any_bytes() {
    let platform = ground().await;
    let body = testkit::request_body(information()).to_string();
    let mut wire = Wire::to(&platform.origin);
    let host = platform.origin.trim_start_matches("http://").to_owned();
    let mut ask = async |headers: &[(&str, &str)]| {
        let mut all = vec![("Host", host.as_str()), ("CONTENT-TYPE", "application/json")];
        all.extend_from_slice(headers);
        let reply = wire.send("POST", "/t/harbor/v3.0/a2a", &all, body.as_bytes()).await;
        assert_eq!(reply.status, 200);
        reply.json()["error"]["code"].as_i64().unwrap_or(OK)
    };
    assert_eq!(ask(&[("A2A-VERSION", "1.0"), ("a2A-eXTENSIONS", EXTENSION)]).await, OK);
    assert_eq!(ask(&[("a2a-Version", "0.3")]).await, -32009);
    assert_eq!(ask(&[("A2a-Version", "1.\u{b2}")]).await, -32009);
    assert_eq!(ask(&[("A2a-Version", "1.0"), ("A2A-Extensions", "caf\u{e9}")]).await, -32008);
    let listed = format!("caf\u{e9}, {EXTENSION}");
    // One unreadable neighbour must not hide the right one.
    assert_eq!(ask(&[("A2A-Extensions", &listed)]).await, OK);
    assert_eq!(ask(&[("A2A-Extensions", "caf\u{e9}"), ("A2A-Extensions", EXTENSION)]).await, OK);
    assert_eq!(ask(&[("A2A_Version", "0.3"), ("X-A2A-Version", "0.3")]).await, OK);
}

#[tokio::test]
async fn a_request_has_an_id_that_strangers_cannot_choose() {
    let asking = harbor(information()).await;
    let mut seen = std::collections::HashSet::new();
    for sent in [None, Some("mine"), Some("mine"), Some("")] {
        let response = asking.clone().header("x-request-id", sent).response().await;
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert!(id != "mine" && id.len() >= 16 && seen.insert(id.clone()), "{id}");
    }
}
