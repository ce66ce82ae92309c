//! Refusals as HTTP says them: problem documents (RFC 9457) with the AAP error object in their member `error`.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use contract::{ContractSpec, Fault, FaultCode};
use dealer::Tenant;
use serde_json::{Value, json};

use crate::interfaces::ask;
use crate::interfaces::refused::AapError;
use crate::{answer, observe};

/// The address of a code's explanation, which is the `type` of its problems.
pub(super) fn kind(tenant: &Tenant, spec: &ContractSpec, code: FaultCode) -> String {
    format!("{}{}/docs#{}", tenant.base, spec.version, code.as_str())
}

/// The problem document of an AAP error object.
pub(super) fn document(kind: String, code: FaultCode, status: u16, request_id: &str, error: Value) -> Value {
    json!({
        "type": kind,
        "title": code.meaning().trim(),
        "status": status,
        "detail": error.get("message"),
        "request_id": request_id,
        "error": error,
    })
}

/// The answer to a question that a skill refused.
pub(super) fn refused(
    request: &HttpRequest,
    tenant: &Tenant,
    spec: &ContractSpec,
    fault: &Fault,
) -> HttpResponse {
    let AapError { code, object, .. } = AapError::of(fault, spec);
    let status = match fault.not_yet {
        true => StatusCode::SERVICE_UNAVAILABLE,
        false => StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
    };
    let request_id = observe::request_id(request);
    let body = document(kind(tenant, spec, code), code, status.as_u16(), &request_id, object);
    let mut respond = HttpResponse::build(status);
    respond.content_type("application/problem+json").insert_header((header::CACHE_CONTROL, answer::NO_STORE));
    if let Some(seconds) = ask::retry_after(fault) {
        respond.insert_header((header::RETRY_AFTER, HeaderValue::from(seconds)));
    }
    respond.body(body.to_string())
}
