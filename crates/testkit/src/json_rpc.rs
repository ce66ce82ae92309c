//! A2A requests as a buyer agent makes them.

use contract::ContractVersion;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::verdict::check_bytes;

/// The extension URI of contract v3.0.
pub const EXTENSION: &str = "https://autoagentprotocol.org/extensions/aap/v3.0";

/// A request that can be bent before it is sent.
#[derive(Debug, Clone)]
pub struct Asking {
    http: reqwest::Client,
    /// Where it goes.
    pub url: String,
    /// What is sent.
    pub body: Value,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
}

impl Asking {
    pub(crate) fn new(http: reqwest::Client, url: String, contract: ContractVersion, data: Value) -> Asking {
        let extension = contract.spec().expect("a version that is served").extension_uri;
        let headers =
            [("content-type", "application/json"), ("a2a-version", "1.0"), ("a2a-extensions", extension)];
        Asking {
            http,
            url,
            body: request_body(data),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        }
    }

    /// Sends every header of that name away and, if a value is given, this one instead.
    #[must_use]
    pub fn header(mut self, name: &str, value: Option<&str>) -> Asking {
        self.headers.retain(|(known, _)| known != name);
        if let Some(value) = value {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Puts a value at a JSON Pointer of the body; its parent must exist.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: Value) -> Asking {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        match self.body.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.insert(key.to_owned(), value);
            }
            Some(Value::Array(items)) => match key.parse::<usize>() {
                Ok(i) if i < items.len() => items[i] = value,
                _ => items.push(value),
            },
            _ => panic!("nothing at {parent}"),
        }
        self
    }

    /// Takes a member out of the body.
    #[must_use]
    pub fn without(mut self, pointer: &str) -> Asking {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        self.body.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(key);
        self
    }

    /// Sends the request.
    pub async fn response(&self) -> reqwest::Response {
        self.raw(self.body.to_string()).await
    }

    /// Sends other bytes with the same headers. A JSON-RPC answer is held against its contract.
    pub async fn raw(&self, body: impl Into<reqwest::Body>) -> reqwest::Response {
        let mut request = self.http.post(&self.url).body(body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = request.send().await.expect("an answer");
        let (status, version, headers) = (response.status(), response.version(), response.headers().clone());
        let body = response.bytes().await.expect("an answer to its end");
        check_bytes(&self.url, status.as_u16(), &body);
        let mut whole = http::Response::new(body);
        *whole.status_mut() = status;
        *whole.version_mut() = version;
        *whole.headers_mut() = headers;
        whole.into()
    }

    /// The whole JSON-RPC answer; panics unless it is one with status 200.
    pub async fn send(&self) -> Value {
        let response = self.response().await;
        assert_eq!(response.status(), 200, "JSON-RPC answers come with status 200");
        let answer: Value = response.json().await.expect("JSON");
        assert!(answer["id"].is_null() || answer["id"] == self.body["id"], "another id: {answer}");
        let said = |message: Option<&Value>| message.and_then(|message| message.get("messageId")).cloned();
        let (ours, theirs) = (self.body.pointer("/params/message"), answer.pointer("/result/message"));
        assert!(theirs.is_none() || said(theirs) != said(ours), "the message has our own id: {answer}");
        answer
    }

    /// The payload's `data`; panics on an error.
    pub async fn result(&self) -> Value {
        let answer = self.send().await;
        data_of(&answer).clone()
    }

    /// `error` of the answer; panics on a result.
    pub async fn error(&self) -> Value {
        let answer = self.send().await;
        assert!(answer.get("error").is_some(), "an error was expected: {answer}");
        answer["error"].clone()
    }
}

/// A SendMessage request that carries an AAP request, with the media types of its skill.
pub fn request_body(data: Value) -> Value {
    let kind = data["type"].as_str().unwrap_or_default().trim_end_matches(".request").replace('.', "-");
    let stem = if kind == "inventory-vehicle" { "vehicle-detail".to_owned() } else { kind };
    json!({
        "jsonrpc": "2.0",
        "id": "req-1",
        "method": "SendMessage",
        "params": {
            "message": {
                "messageId": Uuid::new_v4().to_string(),
                "role": "ROLE_USER",
                "parts": [{"data": data, "mediaType": format!("application/vnd.autoagent.{stem}-request+json")}],
            },
            "configuration": {"acceptedOutputModes": [format!("application/vnd.autoagent.{stem}-response+json")]},
        },
    })
}

/// The payload's `data` of a successful answer.
pub fn data_of(answer: &Value) -> &Value {
    let data = answer.pointer("/result/message/parts/0/data/data");
    data.unwrap_or_else(|| panic!("a result was expected: {answer}"))
}
