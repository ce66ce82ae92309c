//! The schemas of a contract, as this platform holds requests and answers against them.
//!
//! Cards name the protocol's own addresses; these are for people and programs that cannot reach those.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use contract::ContractSpec;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Visit;
use crate::answer;

const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
const AS_SAID: HeaderValue = HeaderValue::from_static("nosniff");

/// Answers `schemas/` with a list and `schemas/{name}` with a schema.
pub(super) async fn serve(visit: Visit<'_>) -> HttpResponse {
    let request = visit.request;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::wrong_method(request, "GET, HEAD, OPTIONS");
    }
    let Some(spec) = visit.target.contract.spec() else { return answer::not_found(request) };
    if visit.below.is_empty() {
        let list = index(spec, &visit.target.tenant.base).to_string();
        return found(&visit, "application/json", list);
    }
    match spec.schemas.iter().find(|(name, _)| *name == visit.below) {
        Some((_, text)) => found(&visit, "application/schema+json", *text),
        None => answer::not_found(request),
    }
}

/// A document that changes with the build or the dealer alone.
pub(super) fn found(
    visit: &Visit<'_>,
    media_type: &str,
    text: impl Into<String> + AsRef<str>,
) -> HttpResponse {
    let digest = Sha256::digest(text.as_ref());
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let etag = format!("\"{digits}\"");
    let unchanged = answer::same_tag(visit.request, &etag).unwrap_or(false);
    let mut respond = if unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    respond
        .insert_header((header::ETAG, etag))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, AS_SAID));
    if unchanged {
        return respond.finish();
    }
    respond.content_type(media_type).body(text.into())
}

/// What there is, with the address here and the identifier by which cards and other schemas name it.
fn index(spec: &ContractSpec, base: &str) -> Value {
    let schemas = spec.schemas.iter().map(|(name, _)| {
        json!({
            "name": name,
            "id": format!("{}{name}", spec.schema_base),
            "url": format!("{base}{}/schemas/{name}", spec.version),
        })
    });
    json!({
        "contract": spec.version.as_str(),
        "dialect": "https://json-schema.org/draft/2020-12/schema",
        "schemas": schemas.collect::<Vec<_>>(),
    })
}
