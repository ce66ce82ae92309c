//! MCP over Streamable HTTP, by the SDK that its makers keep: every protocol version that it speaks, without
//! sessions, each answer as JSON. Which tools there are and what they say is made from the table of skills.

mod front;
mod manifest;
mod origin;
mod prompts;
mod resources;
mod server;
mod text;
mod tools;

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use contract::ContractSpec;
use dealer::{Call, Denied};
use http_body_util::BodyExt;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tracing::Span;

use self::front::{Body, Message, Unread};
use self::server::{Door, Left, Mark};
use super::one_line::one_line;
use super::{Visit, ask};
use crate::observe::{self, Note};
use crate::{answer, callers, limits};

/// The name in logs, counts and leads.
pub(super) const DOOR: &str = "mcp";

/// Headers that the SDK looks at: the version, and what of a message middle boxes are told.
const READ_BY_SDK: [&str; 5] =
    ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"];

/// No sessions, so that any process answers any request; hosts are judged before (`origin`).
static CONFIG: LazyLock<StreamableHttpServerConfig> = LazyLock::new(|| {
    let mut config = StreamableHttpServerConfig::default().disable_allowed_hosts();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.sse_keep_alive = None;
    // Bodies are measured before; what is repaired in one can be longer than it was.
    config.max_request_body_bytes = 8 * limits::MAX_BODY;
    config
});
static SESSIONS: LazyLock<Arc<NeverSessionManager>> = LazyLock::new(Arc::default);

/// Answers `mcp`.
pub(super) async fn serve(visit: Visit<'_>, payload: Payload) -> HttpResponse {
    let request = visit.request;
    if request.method() != Method::POST {
        return answer::wrong_method(request, "POST, OPTIONS");
    }
    if let Some(why) = origin::refused(request, visit.dealer, visit.host) {
        return answer::problem(request, StatusCode::FORBIDDEN, why);
    }
    if !is_json(request.headers()) {
        let detail = "Send the message as application/json.";
        return answer::problem(request, StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
    }
    let body = match ask::body(request, payload).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let Some(spec) = visit.target.contract.spec() else { return answer::not_found(request) };
    let body = match front::read(&body, has_batches(request.headers())) {
        Ok(body) => body,
        Err(unread) => return refused(request, &unread),
    };
    let Ok(call) = ask::question(request, visit.target.clone(), DOOR) else {
        let id = if let Body::One(message) = &body { message.id } else { "null" };
        return refused(request, &Unread { number: -32600, words: ask::NoVersion::WORDS, id });
    };
    let asked = Asked { visit: &visit, spec, call };
    match body {
        Body::One(message) => asked.one(message).await,
        Body::Batch(messages) => asked.batch(messages).await,
    }
}

/// The one version of the protocol that has batches. It is also the version of whoever names none, since it did not
/// have the header yet.
const WITH_BATCHES: &str = "2025-03-26";

fn has_batches(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_none_or(|version| version.as_bytes() == WITH_BATCHES.as_bytes())
}

/// A question of which everything but its messages is known.
struct Asked<'a> {
    visit: &'a Visit<'a>,
    spec: &'static ContractSpec,
    call: Call,
}

/// What came of a message.
struct Said {
    status: StatusCode,
    /// Whether it is a message; else it is words about HTTP, or nothing.
    in_json: bool,
    text: Vec<u8>,
    denied: Option<Denied>,
    /// The version of the lot that it is from.
    version: Option<u64>,
    note: Note,
}

impl Asked<'_> {
    /// What the SDK makes of a message, with the payload in its place.
    async fn say(&self, message: Message<'_>) -> Said {
        let note = Note { interface: DOOR, ..Note::default() };
        let left = Arc::new(Mutex::new(Left { note, ..Left::default() }));
        let door = Door {
            dealer: self.visit.dealer.clone(),
            call: self.call.clone(),
            spec: self.spec,
            mark: Mark::new(),
            left: Arc::clone(&left),
            span: Span::current(),
        };
        let mark = door.mark.clone();
        // In a box: what every request carries along must stay small.
        let headers = self.visit.request.headers();
        let (parts, said) = Box::pin(spoken(headers, message.text.into_owned(), door)).await;
        let mut left = std::mem::take(&mut *left.lock().unwrap_or_else(PoisonError::into_inner));
        let in_json =
            parts.headers.get("content-type").is_some_and(|kind| kind.as_bytes() == b"application/json");
        let status = StatusCode::from_u16(parts.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = match left.payload.take().map(|payload| mark.replaced(&said, &payload)) {
            Some(Some(whole)) => whole,
            Some(None) => said.into(),
            None => match unserved(&said, &message.method).filter(|_| in_json) {
                Some(text) => {
                    left.note.outcome = "method_not_found";
                    text.into()
                }
                None => said.into(),
            },
        };
        let Left { denied, version, note, .. } = left;
        Said { status, in_json, text, denied, version, note }
    }

    async fn one(&self, message: Message<'_>) -> HttpResponse {
        let request = self.visit.request;
        let id = message.id;
        let said = self.say(message).await;
        observe::note(request, said.note);
        if let Some(why) = said.denied {
            return callers::denied(request, &self.call.tenant, why);
        }
        // Members that stand twice, for instance: JSON-RPC leaves open what they mean.
        if said.status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return refused(request, &Unread { number: -32600, words: NOT_UNDERSTOOD, id });
        }
        if !said.in_json && !said.status.is_success() {
            return answer::problem(request, said.status, &String::from_utf8_lossy(&said.text));
        }
        let mut respond = respond(said.status, said.version);
        if !said.in_json {
            return respond.finish();
        }
        respond.content_type(answer::JSON).body(said.text)
    }

    /// Answers messages that came together, in their order and one after another: a batch is no way to be served
    /// faster than others.
    async fn batch(&self, messages: Vec<Result<Message<'_>, Unread<'_>>>) -> HttpResponse {
        let request = self.visit.request;
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut versions = Vec::new();
        for message in messages {
            let message = match message {
                Ok(message) if message.method == "initialize" => {
                    let words = "initialize must be sent alone.";
                    Err(Unread { number: -32600, words, id: message.id })
                }
                other => other,
            };
            let refuse = |unread: Unread<'_>| {
                let note = Note { interface: DOOR, outcome: unread.outcome(), ..Note::default() };
                (note, Some(unread.encode().into_bytes()))
            };
            let (note, text) = match message {
                Err(unread) => refuse(unread),
                Ok(message) => {
                    let id = message.id;
                    let said = self.say(message).await;
                    versions.extend(said.version);
                    match said.in_json {
                        // Of a caller that is not let in it says so; HTTP has one status for all of them.
                        true => (said.note, Some(said.text)),
                        false if said.status.is_success() => (said.note, None),
                        false => refuse(Unread { number: -32600, words: NOT_UNDERSTOOD, id }),
                    }
                }
            };
            observe::note_beside(request, note);
            texts.extend(text);
        }
        versions.dedup();
        // The header speaks of all of the answer.
        let version = versions.pop().filter(|_| versions.is_empty());
        if texts.is_empty() {
            return respond(StatusCode::ACCEPTED, version).finish();
        }
        let mut body = vec![b'['];
        body.extend(texts.join(&b','));
        body.push(b']');
        respond(StatusCode::OK, version).content_type(answer::JSON).body(body)
    }
}

const NOT_UNDERSTOOD: &str = "The message cannot be understood.";

fn respond(status: StatusCode, version: Option<u64>) -> HttpResponseBuilder {
    let mut respond = HttpResponse::build(status);
    respond.insert_header((header::CACHE_CONTROL, answer::NO_STORE));
    if let Some(version) = version {
        respond.insert_header((answer::INVENTORY_VERSION, HeaderValue::from(version)));
    }
    respond
}

/// The SDK's answer to a method that is not served, in words; it gives the mere name, or says less. `None` for every
/// other answer.
fn unserved(said: &[u8], method: &str) -> Option<String> {
    const NUMBER: &[u8] = b"-32601";
    // Such answers are short, and no other need be read again.
    if said.len() > 8 * 1024 || !said.windows(NUMBER.len()).any(|part| part == NUMBER) {
        return None;
    }
    let mut answer: serde_json::Value = serde_json::from_slice(said).ok()?;
    let error = answer.get_mut("error")?.as_object_mut()?;
    if error.get("code")? != -32601 {
        return None;
    }
    let name: String = one_line(method).chars().take(100).collect();
    let words =
        format!("The method \"{name}\" is not served here; this server has tools, resources and prompts.");
    error.insert("message".to_owned(), words.into());
    Some(answer.to_string())
}

/// `application/json` with any parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    sent.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// What the SDK makes of a message.
async fn spoken(headers: &HeaderMap, text: String, door: Door) -> (http::response::Parts, Bytes) {
    let mut request = http::Request::new(text);
    *request.method_mut() = http::Method::POST;
    let sent = headers.iter().filter(|(name, _)| READ_BY_SDK.contains(&name.as_str()));
    for (name, value) in sent {
        if let (Ok(name), Ok(value)) = (
            http::HeaderName::from_bytes(name.as_str().as_bytes()),
            http::HeaderValue::from_bytes(value.as_bytes()),
        ) {
            request.headers_mut().append(name, value);
        }
    }
    // Whatever a client says that it accepts, it gets JSON; the SDK refuses those that do not name both.
    let both = http::HeaderValue::from_static("application/json, text/event-stream");
    request.headers_mut().insert(http::header::ACCEPT, both);
    // It wants to see one, whatever it is.
    request.headers_mut().insert(http::header::HOST, http::HeaderValue::from_static("localhost"));
    let door = Mutex::new(Some(door));
    let once = move || {
        let door = door.lock().unwrap_or_else(PoisonError::into_inner).take();
        door.ok_or_else(|| std::io::Error::other("a request is served once"))
    };
    let mut config = CONFIG.clone();
    // One of its own: at a shared one all workers would wait for each other to hang on and off.
    config.cancellation_token = Default::default();
    let service = StreamableHttpService::new(once, Arc::clone(&SESSIONS), config);
    let (parts, body) = service.handle(request).await.into_parts();
    let collected: Result<_, Infallible> = body.collect().await;
    let body = collected.map(|body| body.to_bytes()).unwrap_or_default();
    (parts, body)
}

fn refused(request: &HttpRequest, unread: &Unread<'_>) -> HttpResponse {
    observe::note(request, Note { interface: DOOR, outcome: unread.outcome(), ..Note::default() });
    HttpResponse::build(unread.status())
        .content_type(answer::JSON)
        .insert_header((header::CACHE_CONTROL, answer::NO_STORE))
        .body(unread.encode())
}

/// Answers `mcp.json`.
pub(super) async fn serve_manifest(visit: Visit<'_>) -> HttpResponse {
    let request = visit.request;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let Some(spec) = visit.target.contract.spec() else { return answer::not_found(request) };
    let document = manifest::of(&visit.target.tenant, spec).to_string();
    super::schemas::found(&visit, "application/json", document)
}
