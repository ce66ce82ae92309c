//! What operators and load balancers ask.

use actix_web::http::{Method, StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use prometheus::{Encoder, TextEncoder};
use serde_json::json;

use crate::{ApiState, answer};

/// `/healthz`, `/readyz`, `/metrics`; `None` for any other path.
pub(crate) async fn serve(request: &HttpRequest, state: &ApiState, path: &str) -> Option<HttpResponse> {
    let respond = match path {
        "/healthz" => healthz,
        "/readyz" => readyz,
        "/metrics" => metrics,
        _ => return None,
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(answer::wrong_method(request, "GET, HEAD, OPTIONS"));
    }
    Some(respond(request, state))
}

/// The process is alive, whatever it can do.
fn healthz(_: &HttpRequest, _: &ApiState) -> HttpResponse {
    json_answer(StatusCode::OK, &json!({"status": "alive"}))
}

/// Requests may be sent here: dealers are loaded, what we hold is recent, and we are not about to stop.
fn readyz(_: &HttpRequest, state: &ApiState) -> HttpResponse {
    let reason = match state.dealer() {
        None => Some("starting"),
        Some(_) if state.is_draining() => Some("draining"),
        Some(dealer) if !dealer.is_fresh() => Some("data is older than the age limit"),
        Some(_) => None,
    };
    let age = state.dealer().map(|dealer| dealer.age().as_secs());
    match reason {
        None => json_answer(StatusCode::OK, &json!({"status": "ready", "data_age_seconds": age})),
        Some(why) => json_answer(
            StatusCode::SERVICE_UNAVAILABLE,
            &json!({"status": "not ready", "reason": why, "data_age_seconds": age}),
        ),
    }
}

fn metrics(request: &HttpRequest, state: &ApiState) -> HttpResponse {
    let mut text = Vec::new();
    let encoder = TextEncoder::new();
    match encoder.encode(&state.registry().gather(), &mut text) {
        Ok(()) => HttpResponse::Ok().content_type(encoder.format_type().to_owned()).body(text),
        Err(error) => {
            tracing::error!(%error, "metrics cannot be written");
            answer::problem(request, StatusCode::INTERNAL_SERVER_ERROR, "Metrics cannot be written.")
        }
    }
}

fn json_answer(status: StatusCode, body: &serde_json::Value) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("application/json")
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(body.to_string())
}
