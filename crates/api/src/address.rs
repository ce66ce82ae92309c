//! Placing a request: which dealer, which contract, which interface. Done once; nothing below looks it up again.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use contract::ContractVersion;
use dealer::{CallerKey, Dealer, OwnHost, Place, ResolveError, Tenant};

use crate::interfaces::discovery::{self, Wanted};
use crate::interfaces::{self, Visit};
use crate::observe::{self, Note};
use crate::{ApiState, answer, callers, cors, ops, pages, photos, push};

/// Who is addressed.
#[derive(Clone)]
pub(crate) struct Target {
    /// The dealer.
    pub(crate) tenant: Arc<Tenant>,
    /// The contract of the address; the dealer's default one at its bare base.
    pub(crate) contract: ContractVersion,
    /// The credential that the caller proved, at an interface that asks for one.
    pub(crate) key: Option<Arc<CallerKey>>,
}

/// Answers every request.
pub(crate) async fn serve(request: &HttpRequest, payload: Payload, state: &ApiState) -> HttpResponse {
    let path = request.path();
    if !push::is_ours(path)
        && let Some(answered) = cors::preflight(request)
    {
        return answered;
    }
    let Some(dealer) = state.dealer() else {
        return ops::serve(request, state, path).await.unwrap_or_else(|| answer::unavailable(request));
    };
    let host = state.proxies().host(request).map(host_name).unwrap_or_default();
    match dealer_host(dealer, &host) {
        Some(place) => at_dealer(request, payload, dealer, place, &host, path).await,
        None => at_platform(request, payload, state, dealer, &host, path).await,
    }
}

/// The dealer that owns a host name; `None` for the platform's own and any other name.
///
/// The platform's names come first: no dealer's domain, however it came to be stored, takes them over.
fn dealer_host<'h>(dealer: &Dealer, host: &'h str) -> Option<Place<'h>> {
    match dealer.addresses().own_host(host) {
        Some(OwnHost::Platform) => None,
        Some(OwnHost::Slug(slug)) => Some(Place::Slug(slug)),
        None => dealer.is_domain(host).then_some(Place::Domain(host)),
    }
}

async fn at_platform(
    request: &HttpRequest,
    payload: Payload,
    state: &ApiState,
    dealer: &Dealer,
    host: &str,
    path: &str,
) -> HttpResponse {
    if let Some(answered) = ops::serve(request, state, path).await {
        return answered;
    }
    if let Some(rest) = path.strip_prefix("/t/") {
        let (slug, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        return at_dealer(request, payload, dealer, Place::Slug(slug), host, rest).await;
    }
    if push::is_ours(path) {
        return Box::pin(push::serve(request, payload, state, dealer, path)).await;
    }
    if let Some(name) = path.strip_prefix("/demo/photos/") {
        return photo(request, name);
    }
    let mut segments = path.trim_start_matches('/').trim_end_matches('/').split('/');
    match (segments.next(), segments.next(), segments.next()) {
        (Some(""), None, None) => pages::platform(request, dealer).await,
        (Some(".well-known"), Some("api-catalog"), None) => {
            Box::pin(discovery::platform(request, dealer, Wanted::Catalog)).await
        }
        (Some("llms.txt"), None, None) => Box::pin(discovery::platform(request, dealer, Wanted::Llms)).await,
        (Some(contract), Some("a2a"), None) => match served(contract, dealer) {
            // In a box, as those of a dealer's own address are: else every request would carry its room along.
            Some(contract) => {
                Box::pin(interfaces::a2a::serve_shared(request, payload, dealer, contract)).await
            }
            None => answer::not_found(request),
        },
        _ => answer::not_found(request),
    }
}

async fn at_dealer<'r>(
    request: &'r HttpRequest,
    payload: Payload,
    dealer: &'r Dealer,
    place: Place<'_>,
    host: &'r str,
    rest: &'r str,
) -> HttpResponse {
    let tenant = match dealer.resolve(place).await {
        Ok(tenant) => tenant,
        Err(ResolveError::Nobody(why)) => {
            tracing::debug!(why, "no dealer is served at this address");
            return answer::not_found(request);
        }
        Err(error @ ResolveError::Unreadable(_)) => {
            tracing::error!(%error, "a dealer cannot be read");
            return answer::unavailable(request);
        }
    };
    let tail = rest.trim_start_matches('/');
    let (first, below) = tail.split_at(tail.find('/').unwrap_or(tail.len()));
    let (contract, tail) = match ContractVersion::from_str(first) {
        Ok(version) => (version, below.trim_start_matches('/')),
        Err(_) => (tenant.default_contract, tail),
    };
    let name = tail.strip_suffix('/').unwrap_or(tail);
    let mut interfaces = interfaces::INTERFACES.iter();
    let found = interfaces.find_map(|interface| Some((interface, interface.below(name)?)));
    let (Some((interface, below)), true) = (found, tenant.contracts.contains(&contract)) else {
        return answer::not_found(request);
    };
    let mut note = Note { interface: interface.name, ..Note::default() };
    let mut key = None;
    // Before anything else of the request is looked at. Who only asks which methods there are need not be known.
    if interface.guarded && request.method() != Method::OPTIONS {
        match callers::admit(request, dealer, &tenant) {
            Ok(proved) => key = proved,
            Err(why) => {
                note.outcome = callers::outcome(why);
                observe::note(request, note);
                return callers::denied(request, &tenant, why);
            }
        }
    }
    observe::note(request, note);
    let visit = Visit { request, dealer, target: Target { tenant, contract, key }, host, below };
    (interface.serve)(visit, payload).await
}

fn photo(request: &HttpRequest, name: &str) -> HttpResponse {
    match photos::svg(name) {
        Some(image) => HttpResponse::Ok()
            .content_type("image/svg+xml")
            .insert_header(("cache-control", "public, max-age=86400, immutable"))
            .insert_header(("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"))
            .insert_header(("x-content-type-options", "nosniff"))
            .body(image),
        None => answer::not_found(request),
    }
}

/// The contract of that name, if this build has it and it may be served at the platform's own addresses.
fn served(name: &str, dealer: &Dealer) -> Option<ContractVersion> {
    let version = ContractVersion::from_str(name).ok()?;
    version.spec().is_some_and(|spec| dealer.addresses().allow(spec, &[])).then_some(version)
}

/// A host as it is compared: no port, no trailing dot, lower case.
fn host_name(host: &str) -> Cow<'_, str> {
    let name = match host.strip_prefix('[') {
        Some(_) => host.rsplit_once("]:").map_or(host, |(name, _)| name),
        None => host.split(':').next().unwrap_or(host),
    };
    let name = name.trim_end_matches('.');
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_without_port_and_case() {
        assert_eq!(host_name("Harbor.Example:8080"), "harbor.example");
        assert_eq!(host_name("harbor.example."), "harbor.example");
        assert_eq!(host_name("[::1]:80"), "[::1");
        assert_eq!(host_name(""), "");
    }
}
