//! Credentials on HTTP: what a request shows, and how it is told that it is not let in (RFC 6750, RFC 9110 11).
//!
//! Who may ask is decided by the core; here is only the form. It is the same at every door, and no part of A2A or
//! AAP: an answer in their forms would look like one of the dealer's.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use dealer::{CallerKey, Dealer, Denied, Shown, Tenant};

use crate::answer;

/// When to come again for keys of an issuer that are being fetched, in seconds.
const SOON: HeaderValue = HeaderValue::from_static("2");

/// The credential that a request shows.
fn shown(headers: &HeaderMap) -> Shown<'_> {
    let mut lines = headers.get_all(header::AUTHORIZATION);
    let Some(line) = lines.next() else { return Shown::Nothing };
    let words =
        line.to_str().ok().filter(|_| lines.next().is_none()).and_then(|text| text.trim().split_once(' '));
    match words {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() => {
            Shown::Bearer(token.trim())
        }
        _ => Shown::Other,
    }
}

/// Lets a request in to a dealer, or not. The credential that it proved, if it did.
///
/// # Errors
/// Why not.
pub(crate) fn admit(
    request: &HttpRequest,
    dealer: &Dealer,
    tenant: &Tenant,
) -> Result<Option<Arc<CallerKey>>, Denied> {
    dealer.admit(tenant, shown(request.headers()))
}

/// The answer to whoever is not let in.
pub(crate) fn denied(request: &HttpRequest, tenant: &Tenant, why: Denied) -> HttpResponse {
    let realm = tenant.slug.as_str();
    let (status, challenge) = match why {
        Denied::Missing => (StatusCode::UNAUTHORIZED, format!("Bearer realm=\"{realm}\"")),
        Denied::Invalid(reason) => (
            StatusCode::UNAUTHORIZED,
            format!("Bearer realm=\"{realm}\", error=\"invalid_token\", error_description=\"{reason}\""),
        ),
        Denied::Scope(skill) => (
            StatusCode::FORBIDDEN,
            format!("Bearer realm=\"{realm}\", error=\"insufficient_scope\", scope=\"{skill}\""),
        ),
        Denied::NotReady => {
            let mut answer = answer::problem(request, StatusCode::SERVICE_UNAVAILABLE, &why.to_string());
            answer.headers_mut().insert(header::RETRY_AFTER, SOON);
            return answer;
        }
    };
    let mut answer = answer::problem(request, status, &why.to_string());
    // Slugs, skills and our own sentences are plain ASCII without quotes.
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    answer
}

/// For counting.
pub(crate) fn outcome(why: Denied) -> &'static str {
    match why {
        Denied::Missing => "credential_missing",
        Denied::Invalid(_) => "credential_invalid",
        Denied::Scope(_) => "scope_insufficient",
        Denied::NotReady => "issuer_not_ready",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bearer_credential_is_read_and_nothing_else() {
        let mut headers = HeaderMap::new();
        assert_eq!(shown(&headers), Shown::Nothing);
        for (sent, read) in [
            ("Bearer abc", Shown::Bearer("abc")),
            ("bearer  abc ", Shown::Bearer("abc")),
            ("Bearer", Shown::Other),
            ("Bearer ", Shown::Other),
            ("Basic abc", Shown::Other),
            ("", Shown::Other),
        ] {
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(sent));
            assert_eq!(shown(&headers), read, "{sent:?}");
        }
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer def"));
        assert_eq!(shown(&headers), Shown::Other);
    }
}
