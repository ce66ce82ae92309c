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
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use http_body_util::BodyExt;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tracing::Span;

use self::front::Unread;
use self::server::{Door, Left, Mark};
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
    let message = match front::read(&body) {
        Ok(message) => message,
        Err(unread) => return refused(request, &unread),
    };
    let Ok(call) = ask::question(request, visit.target, DOOR) else {
        return refused(request, &Unread { number: -32600, words: ask::NoVersion::WORDS, id: message.id });
    };
    let left =
        Arc::new(Mutex::new(Left { note: Note { interface: DOOR, ..Note::default() }, ..Left::default() }));
    let tenant = Arc::clone(&call.tenant);
    let door = Door {
        dealer: visit.dealer.clone(),
        call,
        spec,
        mark: Mark::new(),
        left: Arc::clone(&left),
        span: Span::current(),
    };
    let mark = door.mark.clone();
    let id = message.id;
    // In a box: what every request carries along must stay small.
    let (parts, said) = Box::pin(spoken(request.headers(), message.text.into_owned(), door)).await;
    let left = std::mem::take(&mut *left.lock().unwrap_or_else(PoisonError::into_inner));
    observe::note(request, left.note);
    if let Some(why) = left.denied {
        return callers::denied(request, &tenant, why);
    }
    // Members that stand twice, for instance: JSON-RPC leaves open what they mean.
    if parts.status == http::StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return refused(request, &Unread { number: -32600, words: "The message cannot be understood.", id });
    }
    let status = StatusCode::from_u16(parts.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let in_json =
        parts.headers.get("content-type").is_some_and(|kind| kind.as_bytes() == b"application/json");
    if !in_json && !status.is_success() {
        return answer::problem(request, status, &String::from_utf8_lossy(&said));
    }
    let mut respond = HttpResponse::build(status);
    respond.insert_header((header::CACHE_CONTROL, answer::NO_STORE));
    if let Some(version) = left.version {
        respond.insert_header((answer::INVENTORY_VERSION, HeaderValue::from(version)));
    }
    if !in_json {
        return respond.finish();
    }
    respond.content_type(answer::JSON);
    match left.payload.and_then(|payload| mark.replaced(&said, &payload)) {
        Some(whole) => respond.body(whole),
        None => respond.body(said),
    }
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
