//! The plain HTTP interface, from outside: questions, refusals, documents, pages.

mod callers;
mod documents;
mod examples;
mod pages;
mod reads;
mod skills;

use contract::{Contract, ContractVersion};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use crate::ground::ground;

/// A request to the shared platform.
async fn request(method: Method, slug: &str, contract: ContractVersion, path: &str) -> RequestBuilder {
    let platform = ground().await;
    platform.http.request(method, format!("{}/t/{slug}/{contract}/{path}", platform.origin))
}

/// A read of a v3.0 address.
async fn get(slug: &str, path: &str) -> Response {
    request(Method::GET, slug, ContractVersion::V3_0, path).await.send().await.expect("an answer")
}

/// A question to a skill of the v3.0 contract.
async fn post(slug: &str, skill: &str, payload: &Value) -> Response {
    let path = format!("skills/{skill}");
    let request = request(Method::POST, slug, ContractVersion::V3_0, &path).await;
    request.json(payload).send().await.expect("an answer")
}

/// The JSON of an answer that went well.
async fn ok(response: Response) -> Value {
    let status = response.status();
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let value: Value = response.json().await.expect("JSON");
    assert_eq!((status.as_u16(), media_type.as_str()), (200, "application/json"), "{value}");
    value
}

/// The AAP error of a refusal, which must be whole: a problem document of that status and code.
async fn refusal(response: Response, contract: ContractVersion, status: u16, code: &str) -> Value {
    let headers = response.headers().clone();
    let got = response.status().as_u16();
    let problem: Value = response.json().await.expect("JSON");
    assert_eq!(got, status, "{problem}");
    assert_eq!(headers["content-type"], "application/problem+json");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["access-control-allow-origin"], "*");
    assert_eq!(problem["status"], status, "{problem}");
    assert_eq!(problem["request_id"], headers["x-request-id"].to_str().unwrap());
    let kind = problem["type"].as_str().unwrap();
    assert!(kind.ends_with(&format!("/{contract}/docs#{code}")), "{kind}");
    assert!(
        problem["title"].as_str().is_some_and(|title| title.len() > 5 && title.trim() == title),
        "{problem}"
    );
    let error = &problem["error"];
    assert_eq!(error["code"], code, "{problem}");
    assert_eq!(problem["detail"], error["message"]);
    Contract::load(contract)
        .unwrap()
        .check("error.schema.json", error)
        .unwrap_or_else(|v| panic!("{v:?}: {error}"));
    assert_eq!(headers.contains_key("retry-after"), error["retryable"] == true, "{problem}");
    error.clone()
}

/// A problem of HTTP's own, without an error of the protocol.
async fn plain_problem(response: Response, status: u16) -> Value {
    let got = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let problem: Value = response.json().await.expect("JSON");
    assert_eq!((got, &problem["status"]), (status, &status.into()), "{problem}");
    assert!(problem.get("error").is_none(), "{problem}");
    problem
}
