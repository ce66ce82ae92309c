//! Any web page may read cards and ask dealers: nothing here depends on cookies.
//!
//! The words are the same for everybody, also for who sends no `Origin`: so caches need not keep answers apart by it.

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};

const ANYBODY: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
const READABLE: HeaderValue = HeaderValue::from_static(
    "etag, last-modified, link, forecourt-inventory-version, a2a-extensions, x-request-id, www-authenticate, retry-after",
);
/// How long a browser may remember, in seconds.
const REMEMBER: HeaderValue = HeaderValue::from_static("86400");

/// The answer to a browser that asks whether a page may send a request; `None` for any other request.
pub(crate) fn preflight(request: &HttpRequest) -> Option<HttpResponse> {
    let asked = request.headers();
    if request.method() != Method::OPTIONS || !asked.contains_key(header::ORIGIN) {
        return None;
    }
    asked.get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    let mut answer = HttpResponse::NoContent().finish();
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    if let Some(wanted) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        headers.insert(header::VARY, HeaderValue::from_static("access-control-request-headers"));
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, REMEMBER);
    Some(answer)
}

/// Lets any page read an answer.
pub(crate) fn open(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANYBODY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READABLE);
}
