//! MCP from outside: raw messages, in each protocol version that is spoken.

mod batches;
mod door;
mod errors;
mod resources;
mod tools;
mod versions;

use contract::{CONTRACTS, ContractVersion};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use testkit::Platform;

/// Every protocol version, the oldest first.
const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The one without a handshake, in which every request says for itself who asks.
const ALONE: &str = "2026-07-28";

const TOOLS: [&str; 5] = [
    "aap_dealer_information",
    "aap_inventory_facets",
    "aap_inventory_search",
    "aap_inventory_vehicle",
    "aap_lead_submit",
];

/// A client of one dealer in one contract that speaks one protocol version.
struct Assistant<'p> {
    platform: &'p Platform,
    slug: &'p str,
    contract: ContractVersion,
    version: &'static str,
}

impl<'p> Assistant<'p> {
    fn new(platform: &'p Platform, slug: &'p str) -> Self {
        Assistant { platform, slug, contract: ContractVersion::V3_0, version: "2025-11-25" }
    }

    fn of(self, contract: ContractVersion, version: &'static str) -> Self {
        Assistant { contract, version, ..self }
    }

    fn url(&self) -> String {
        format!("{}{}/mcp", self.platform.base(self.slug), self.contract)
    }

    /// A message with the headers of its version, to be changed and sent.
    fn message(&self, body: &Value) -> RequestBuilder {
        let request = self.platform.http.post(self.url()).header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let method = body["method"].as_str().unwrap_or_default();
        let request = match method {
            "initialize" => request,
            _ => request.header("mcp-protocol-version", self.version),
        };
        let request = match (self.version, body["params"].get("name").or(body["params"].get("uri"))) {
            (ALONE, Some(name)) => {
                request.header("mcp-method", method).header("mcp-name", name.as_str().unwrap())
            }
            (ALONE, None) => request.header("mcp-method", method),
            _ => request,
        };
        request.body(body.to_string())
    }

    /// A request with the parameters that its version adds.
    fn request(&self, method: &str, mut params: Value) -> Value {
        if self.version == ALONE {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": ALONE,
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        json!({"jsonrpc": "2.0", "id": "r-1", "method": method, "params": params})
    }

    /// The whole answer to a request, which is JSON.
    async fn ask(&self, method: &str, params: Value) -> Value {
        let response = self.message(&self.request(method, params)).send().await.unwrap();
        let answer = answered(response).await;
        assert_eq!(answer["id"], "r-1", "{answer}");
        answer
    }

    /// The result of a request; panics on an error.
    async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["result"].is_object(), "{method} in {}: {answer}", self.version);
        answer["result"].clone()
    }

    /// The error of a request; panics on a result.
    async fn error(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["error"].is_object(), "{method} in {}: {answer}", self.version);
        answer["error"].clone()
    }

    async fn tools(&self) -> Vec<Value> {
        self.result("tools/list", json!({})).await["tools"].as_array().unwrap().clone()
    }

    /// The result of a tool, whatever it is; its structure fits the tool's own schema if the dealer has the tool.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(result["content"][0]["type"], "text", "{result}");
        if let Some(tool) = self.tools().await.iter().find(|known| known["name"] == tool) {
            fits(&tool["outputSchema"], &result["structuredContent"]);
        }
        result
    }

    /// The payload of a tool's answer.
    async fn payload(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// The AAP error object of a tool's refusal.
    async fn refusal(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let error = result["structuredContent"].clone();
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with(&format!("{}: ", error["code"].as_str().unwrap())), "{words}");
        contract(self.contract).check("error.schema.json", &error).unwrap();
        error
    }
}

/// An answer as JSON, which is the only form in which any comes.
async fn answered(response: Response) -> Value {
    assert_eq!(response.headers()["content-type"], "application/json", "{response:?}");
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert!(response.headers().get("mcp-session-id").is_none(), "there are no sessions");
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
    answer
}

fn contract(version: ContractVersion) -> contract::Contract {
    contract::Contract::load(version).unwrap()
}

fn contracts() -> impl Iterator<Item = ContractVersion> {
    CONTRACTS.iter().map(|spec| spec.version)
}

/// As a client checks what it gets: by the one schema it has, with nothing fetched.
#[track_caller]
fn fits(schema: &Value, value: &Value) {
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap();
    let problems: Vec<_> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?} in {value}");
}

#[track_caller]
fn refuses(schema: &Value, value: &Value) {
    assert!(!jsonschema::draft202012::new(schema).unwrap().is_valid(value), "{value}");
}

/// A lead of a shopper whom nobody has seen before.
fn lead() -> Value {
    let shopper = uuid::Uuid::new_v4();
    json!({
        "customer": {"first_name": "Noor", "last_name": "Haddad", "email": format!("{shopper}@mail.example")},
        "consent": {
            "granted_at": (chrono::Utc::now() - chrono::Duration::hours(1)).to_rfc3339(),
            "allowed_channels": ["email"],
            "consent_text": "The dealer may write to me.",
            "scope": ["lead_submission"],
        },
        "source_agent": {"name": "pelican"},
        "idempotency_key": shopper.to_string(),
    })
}
