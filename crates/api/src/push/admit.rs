//! Who may push, by the token of a source.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use dealer::Dealer;
use dealer::feeds::{PushRefused, Pusher};
use uuid::Uuid;

use super::refused;
use crate::answer;

/// The source that a request proves to be of.
pub(super) async fn admit(
    request: &HttpRequest,
    dealer: &Dealer,
    source: &str,
    reads: bool,
) -> Result<Pusher, HttpResponse> {
    let (Ok(source), Some(token)) = (source.parse::<Uuid>(), bearer(request)) else {
        return Err(unknown(request));
    };
    dealer.pusher(source, token, reads).await.map_err(|error| match error {
        PushRefused::Unknown => unknown(request),
        PushRefused::Suspended => refused(
            request,
            StatusCode::FORBIDDEN,
            "suspended",
            "The dealer is suspended; no file is taken for it.",
        ),
        PushRefused::Disabled => refused(
            request,
            StatusCode::FORBIDDEN,
            "disabled",
            "The source is switched off; no file is taken from it.",
        ),
        PushRefused::Settings(_) | PushRefused::Store(_) => {
            tracing::error!(%error, %source, "a source cannot be read");
            answer::unavailable(request)
        }
    })
}

/// The same for an unknown source, another one's token and none at all.
pub(super) fn unknown(request: &HttpRequest) -> HttpResponse {
    let why = "The token does not open this source. Send it as: Authorization: Bearer fcp_…";
    let mut answer = refused(request, StatusCode::UNAUTHORIZED, "unauthorized", why);
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    answer
}

fn bearer(request: &HttpRequest) -> Option<&str> {
    let sent = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = sent.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
