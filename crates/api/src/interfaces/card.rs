//! The Agent Card, from memory.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};

use super::Visit;
use crate::answer;

/// How long a copy may be used without asking (A2A 8.6).
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
const AS_SAID: HeaderValue = HeaderValue::from_static("nosniff");

pub(super) async fn serve(visit: Visit<'_>) -> HttpResponse {
    let request = visit.request;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let Some(card) = visit.target.tenant.card(visit.target.contract) else {
        return answer::not_found(request);
    };
    let unchanged = answer::not_modified(request, &card.etag, card.changed_at);
    let mut respond = if unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    respond
        .insert_header((header::ETAG, card.etag.as_str()))
        .insert_header((header::LAST_MODIFIED, card.last_modified.as_str()))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, AS_SAID));
    if unchanged {
        return respond.finish();
    }
    respond.content_type(answer::JSON).body(card.body.clone())
}
