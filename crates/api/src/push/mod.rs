//! The push door: senders of dealers' feeds post files to `/push/feeds/{source}` and ask what became of them.
//!
//! It stands at the platform's own address and is part of no dealer's interfaces. A source's token opens that source
//! and nothing else; who has none learns nothing, not even which sources there are. No web page is let in: nothing
//! here is for browsers.

mod admit;
mod body;
mod head;
mod pace;
mod runs;
mod snapshot;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use dealer::Dealer;
use dealer::feeds::{Pusher, Receipt, ReceiveError, Received};
use serde_json::json;
use uuid::Uuid;

use crate::observe::{self, Note};
use crate::push::body::Body;
use crate::push::head::Head;
use crate::{ApiState, answer};

pub(crate) use pace::Pace;

/// What its addresses begin with.
pub(crate) const PREFIX: &str = "/push/";
/// Its name in metrics and logs.
const DOOR: &str = "push";
/// Seconds after which a sender may come again when runs of its source wait.
const WHEN_BEHIND: u64 = 30;

/// Whether an address is of this door.
pub(crate) fn is_ours(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// Answers a request to this door.
pub(crate) async fn serve(
    request: &HttpRequest,
    payload: Payload,
    state: &ApiState,
    dealer: &Dealer,
    path: &str,
) -> HttpResponse {
    let mut steps = path.strip_prefix(PREFIX).unwrap_or_default().trim_end_matches('/').split('/');
    let source = match (steps.next(), steps.next()) {
        (Some("feeds"), Some(source)) => source,
        _ => return answer::not_found(request),
    };
    let run = match (steps.next(), steps.next(), steps.next()) {
        (None, None, None) => None,
        (Some("runs"), Some(run), None) => Some(run),
        _ => return answer::not_found(request),
    };
    observe::note(request, Note { interface: DOOR, ..Note::default() });
    let allowed = if run.is_some() { "GET, HEAD, OPTIONS" } else { "POST, OPTIONS" };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if reads != run.is_some() || !(reads || *request.method() == Method::POST) {
        return answer::wrong_method(request, allowed);
    }
    let pusher = match admit::admit(request, dealer, source, reads).await {
        Ok(pusher) => pusher,
        Err(refused) => {
            body::discard(payload).await;
            return refused;
        }
    };
    let _place = match state.pace().enter(pusher.source_id(), reads) {
        Ok(place) => place,
        Err(seconds) => {
            body::discard(payload).await;
            return too_fast(request, seconds, "This source sends faster than it may.");
        }
    };
    match run {
        Some(run) => runs::show(request, dealer, &pusher, run).await,
        None => take(request, payload, dealer, &pusher).await,
    }
}

/// Takes in a file, or a part of one.
async fn take(request: &HttpRequest, payload: Payload, dealer: &Dealer, pusher: &Pusher) -> HttpResponse {
    let head = match Head::read(request) {
        Ok(head) => head,
        Err(why) => {
            body::discard(payload).await;
            return refused(request, StatusCode::BAD_REQUEST, "bad_request", &why);
        }
    };
    if head.length.is_some_and(|length| length > pusher.most_bytes()) {
        body::discard(payload).await;
        return too_large(request, pusher.most_bytes());
    }
    match dealer.is_behind(pusher).await {
        Ok(false) => {}
        Ok(true) => {
            body::discard(payload).await;
            let why =
                "Files of this source wait for their turn already; send the next one when they are done.";
            return too_fast(request, WHEN_BEHIND, why);
        }
        Err(error) => {
            tracing::error!(%error, "runs cannot be counted");
            return answer::unavailable(request);
        }
    }
    let body = Body::new(payload, head.gzip, pusher.most_bytes());
    if head.part.is_some() {
        return snapshot::take(request, dealer, pusher, head, body).await;
    }
    let mut received = Received::new(head.file_name(), "push", "push");
    received.mode = head.mode;
    received.idempotency_key = head.key.clone();
    let is_full = head.mode.map_or(pusher.is_full(), |mode| mode == dealer::feeds::Mode::Full);
    let taken = if head.is_json && !is_full {
        match body::batch(body).await {
            Ok(bytes) => {
                let body = futures_util::stream::iter([Ok(bytes)]);
                dealer.take_push(pusher, received, body).await
            }
            Err(fault) => return fault.answer(request),
        }
    } else {
        body.fed(|incoming| dealer.take_push(pusher, received, incoming)).await
    };
    answered(request, dealer, pusher, taken)
}

/// What became of a file.
fn answered(
    request: &HttpRequest,
    dealer: &Dealer,
    pusher: &Pusher,
    taken: Result<Receipt, ReceiveError>,
) -> HttpResponse {
    let receipt = match taken {
        Ok(receipt) => receipt,
        Err(ReceiveError::TooLarge { limit }) => return too_large(request, limit),
        Err(ReceiveError::KeyUsed { run_id }) => {
            let why = format!("This Idempotency-Key was used for another file already, run {run_id}.");
            return refused(request, StatusCode::CONFLICT, "key_used", &why);
        }
        Err(ReceiveError::Body(error)) => return body::Fault::of(&error).answer(request),
        Err(ReceiveError::NoSource) => return admit::unknown(request),
        Err(error @ (ReceiveError::Settings(_) | ReceiveError::Store(_))) => {
            tracing::error!(%error, source = %pusher.source_id(), "a pushed file cannot be taken in");
            return answer::unavailable(request);
        }
    };
    outcome(request, if receipt.repeated { "repeated" } else { "received" });
    let status_url = status_url(dealer, pusher.source_id(), receipt.run_id);
    let status = if receipt.repeated { StatusCode::OK } else { StatusCode::ACCEPTED };
    let body = json!({
        "run_id": receipt.run_id,
        "state": receipt.state.as_str(),
        "repeated": receipt.repeated,
        "bytes": receipt.bytes,
        "status_url": status_url,
    });
    HttpResponse::build(status)
        .content_type(answer::JSON)
        .insert_header((header::CACHE_CONTROL, answer::NO_STORE))
        .insert_header((header::LOCATION, status_url))
        .body(body.to_string())
}

fn status_url(dealer: &Dealer, source: Uuid, run: Uuid) -> String {
    let origin = dealer.addresses().origin.as_str().trim_end_matches('/');
    format!("{origin}/push/feeds/{source}/runs/{run}")
}

fn too_large(request: &HttpRequest, limit: u64) -> HttpResponse {
    let why = format!("The file is larger than {limit} bytes, which is the most that this source may send.");
    refused(request, StatusCode::PAYLOAD_TOO_LARGE, "too_large", &why)
}

fn too_fast(request: &HttpRequest, seconds: u64, why: &str) -> HttpResponse {
    let mut answer = refused(request, StatusCode::TOO_MANY_REQUESTS, "too_fast", why);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

/// A problem document, counted.
fn refused(request: &HttpRequest, status: StatusCode, word: &'static str, why: &str) -> HttpResponse {
    outcome(request, word);
    answer::problem(request, status, why)
}

fn outcome(request: &HttpRequest, word: &'static str) {
    observe::note(request, Note { interface: DOOR, skill: "", outcome: word });
}
