//! The doors, each asked as its clients ask it.

use contract::{ContractVersion, SkillSpec};
use serde_json::{Value, json};
use testkit::Platform;

use super::queries;

/// A way to ask a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Door {
    A2a,
    Mcp,
    Post,
    Get,
}

impl Door {
    pub(super) const ALL: [Door; 4] = [Door::A2a, Door::Mcp, Door::Post, Door::Get];
    /// Those that serve every skill.
    pub(super) const WHOLE: [Door; 3] = [Door::A2a, Door::Mcp, Door::Post];

    /// The door's name where it is recorded.
    pub(super) fn recorded(self) -> &'static str {
        match self {
            Door::A2a => "a2a",
            Door::Mcp => "mcp",
            Door::Post | Door::Get => "http",
        }
    }
}

/// What a door said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    /// The payload of the answer.
    Answer(Value),
    /// The AAP error object, without its tag.
    Refusal(Value),
    /// The caller is not let in: the status and the challenge.
    Denied(u16, String),
    /// The door itself refused, in the words of its protocol; the skill was not asked.
    Protocol(Value),
}

/// Somebody who asks one dealer in one contract at any door.
#[derive(Clone, Copy)]
pub(super) struct Buyer<'p> {
    pub(super) platform: &'p Platform,
    pub(super) slug: &'p str,
    pub(super) contract: ContractVersion,
    /// A bearer credential.
    pub(super) key: Option<&'p str>,
}

impl<'p> Buyer<'p> {
    pub(super) fn new(platform: &'p Platform, slug: &'p str, contract: ContractVersion) -> Buyer<'p> {
        Buyer { platform, slug, contract, key: None }
    }

    /// Asks; `None` where the door has no way to say this. `type` may be missing in the payload.
    pub(super) async fn ask(&self, door: Door, skill: &SkillSpec, payload: &Value) -> Option<Told> {
        match door {
            Door::A2a => Some(self.a2a(skill, payload).await),
            Door::Mcp => self.mcp(skill, payload).await,
            Door::Post => Some(self.post(skill, payload).await),
            Door::Get => self.get(skill, payload).await,
        }
    }

    fn base(&self) -> String {
        format!("{}{}/", self.platform.base(self.slug), self.contract)
    }

    async fn a2a(&self, skill: &SkillSpec, payload: &Value) -> Told {
        let mut payload = payload.clone();
        if let Some(members) = payload.as_object_mut() {
            members.entry("type").or_insert_with(|| skill.request_type.into());
        }
        let asking = self.platform.ask_in(self.contract, self.slug, payload);
        let asking = asking
            .with("/params/message/parts/0/mediaType", json!(skill.request_media_type))
            .with("/params/configuration/acceptedOutputModes", json!([skill.response_media_type]));
        let bearer = self.key.map(|key| format!("Bearer {key}"));
        let asking = asking.header("authorization", bearer.as_deref());
        Self::of_a2a(asking.response().await).await
    }

    /// What an answer of A2A says.
    pub(super) async fn of_a2a(response: reqwest::Response) -> Told {
        if response.status() != 200 {
            return denied(&response);
        }
        let answer: Value = response.json().await.unwrap();
        if let Some(payload) = answer.pointer("/result/message/parts/0/data") {
            return Told::Answer(payload.clone());
        }
        match testkit::aap_error(&answer["error"]) {
            Some(error) => refusal(error),
            None => Told::Protocol(answer["error"].clone()),
        }
    }

    async fn mcp(&self, skill: &SkillSpec, payload: &Value) -> Option<Told> {
        // Arguments are an object, says MCP.
        payload.as_object()?;
        let name = format!("aap_{}", skill.id.as_str().replace('.', "_"));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": payload}});
        let mut request = self.platform.http.post(format!("{}mcp", self.base()));
        request = request.header("content-type", "application/json").body(body.to_string());
        request = request.header("accept", "application/json, text/event-stream");
        request = request.header("mcp-protocol-version", "2025-11-25");
        let response = self.with_key(request).send().await.unwrap();
        if response.status() != 200 {
            return Some(denied(&response));
        }
        let answer: Value = response.json().await.unwrap();
        let content = &answer["result"]["structuredContent"];
        Some(match answer["result"]["isError"].as_bool() {
            Some(false) => Told::Answer(content.clone()),
            Some(true) => refusal(content),
            None => Told::Protocol(answer["error"].clone()),
        })
    }

    async fn post(&self, skill: &SkillSpec, payload: &Value) -> Told {
        let request = self.platform.http.post(format!("{}skills/{}", self.base(), skill.id));
        let request = request.header("content-type", "application/json").body(payload.to_string());
        of_http(self.with_key(request).send().await.unwrap()).await
    }

    async fn get(&self, skill: &SkillSpec, payload: &Value) -> Option<Told> {
        let target = queries::target(self.contract.spec().unwrap(), skill, payload)?;
        let request = self.platform.http.get(format!("{}{target}", self.base()));
        Some(of_http(self.with_key(request).send().await.unwrap()).await)
    }

    fn with_key(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }
}

async fn of_http(response: reqwest::Response) -> Told {
    let status = response.status().as_u16();
    if response.headers().contains_key("www-authenticate") {
        return denied(&response);
    }
    let wait = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{status} {error}: {text}"));
    if status == 200 {
        return Told::Answer(body);
    }
    let error = &body["error"];
    if error.is_null() {
        return Told::Protocol(body);
    }
    assert_eq!(body["status"], status, "{body}");
    // The header says the same as the object, in seconds, and never less.
    let hint = error["details"]["retry_after_ms"].as_u64().map(|wait| wait.div_ceil(1000).max(1).to_string());
    match hint {
        Some(hint) => assert_eq!(wait, Some(hint), "{body}"),
        None => assert_eq!(wait.is_some(), error["retryable"] == true, "{body}"),
    }
    refusal(error)
}

fn denied(response: &reqwest::Response) -> Told {
    let challenge = response.headers().get("www-authenticate");
    let words = challenge.map(|value| value.to_str().unwrap().to_owned());
    Told::Denied(response.status().as_u16(), words.unwrap_or_default())
}

fn refusal(error: &Value) -> Told {
    let mut error = error.clone();
    error.as_object_mut().expect("an AAP error object").remove("@type");
    Told::Refusal(error)
}
