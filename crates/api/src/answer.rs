//! Answers that are HTTP's own: problems, wrong methods, conditional reads.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde_json::json;

use crate::observe;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A problem document (RFC 9457). `detail` never says more than the caller may know.
pub(crate) fn problem(request: &HttpRequest, status: StatusCode, detail: &str) -> HttpResponse {
    let body = json!({
        "type": "about:blank",
        "title": status.canonical_reason().unwrap_or("Error"),
        "status": status.as_u16(),
        "detail": detail,
        "request_id": observe::request_id(request),
    });
    HttpResponse::build(status)
        .content_type("application/problem+json")
        .insert_header((header::CACHE_CONTROL, NO_STORE))
        .body(body.to_string())
}

/// One answer for everything that is not served, whatever the reason: strangers learn nothing from it.
pub(crate) fn not_found(request: &HttpRequest) -> HttpResponse {
    problem(request, StatusCode::NOT_FOUND, "Nothing is served at this address.")
}

pub(crate) fn unavailable(request: &HttpRequest) -> HttpResponse {
    let mut answer = problem(request, StatusCode::SERVICE_UNAVAILABLE, "Not ready yet; please try again.");
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
    answer
}

/// For every method that is not among `allowed`; who asks with OPTIONS is told them.
pub(crate) fn wrong_method(request: &HttpRequest, allowed: &'static str) -> HttpResponse {
    if request.method() == Method::OPTIONS {
        return HttpResponse::NoContent().insert_header((header::ALLOW, allowed)).finish();
    }
    let detail = format!("This address takes {allowed}.");
    let mut answer = problem(request, StatusCode::METHOD_NOT_ALLOWED, &detail);
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// An entity tag without the mark of weakness.
fn opaque(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

/// Whether a client that sent `If-None-Match` has this very copy; `None` where it sent none.
pub(crate) fn same_tag(request: &HttpRequest, etag: &str) -> Option<bool> {
    let mut tags = request.headers().get_all(header::IF_NONE_MATCH).peekable();
    tags.peek()?;
    let ours = opaque(etag);
    let mut named = tags.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    Some(named.any(|tag| tag.trim() == "*" || opaque(tag) == ours))
}

/// Whether the client's copy is still good: `If-None-Match` decides where it is sent, else `If-Modified-Since`.
pub(crate) fn not_modified(request: &HttpRequest, etag: &str, changed_at: DateTime<Utc>) -> bool {
    if let Some(same) = same_tag(request, etag) {
        return same;
    }
    request
        .headers()
        .get(header::IF_MODIFIED_SINCE)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| DateTime::parse_from_rfc2822(text).ok())
        // The header has whole seconds; a change within its second must not be missed for longer than that.
        .is_some_and(|since| changed_at.timestamp() <= since.timestamp())
}

pub(crate) const A2A_EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
pub(crate) const A2A_VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// Of a request: answer from this version of the lot or a newer one.
pub(crate) const MIN_VERSION: HeaderName = HeaderName::from_static("forecourt-min-version");
/// Of an answer: the version of the lot that all of it is from.
pub(crate) const INVENTORY_VERSION: HeaderName = HeaderName::from_static("forecourt-inventory-version");

/// What a request says of the version of the lot that it wants.
///
/// # Errors
/// It says what is no version, which must not pass for "any".
pub(crate) fn min_version(headers: &HeaderMap) -> Result<Option<u64>, ()> {
    let Some(sent) = headers.get(MIN_VERSION) else { return Ok(None) };
    sent.to_str().ok().and_then(|text| text.trim().parse().ok()).map(Some).ok_or(())
}
