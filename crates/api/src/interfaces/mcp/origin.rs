//! Which web pages may ask. MCP wants servers to look at `Origin`, against pages that reach a server of somebody
//! else's network under a name of their own (DNS rebinding).
//!
//! Any page may ask a dealer, here as at the other doors: nothing depends on cookies or on where a request comes
//! from, and a page has no credential that its user did not give it. What is refused is what only an attack looks
//! like: a browser that believes to talk to a host which is none of ours, and an `Origin` that is none.

use std::net::Ipv4Addr;

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};
use dealer::Dealer;

/// Why a request of a page is refused; `None` for one that is served.
pub(super) fn refused(request: &HttpRequest, dealer: &Dealer, host: &str) -> Option<&'static str> {
    let mut origins = request.headers().get_all(header::ORIGIN);
    let origin = origins.next()?;
    if origins.next().is_some() || !is_origin(origin) {
        return Some("The header Origin must name one origin.");
    }
    let ours = || dealer.addresses().own_host(host).is_some() || dealer.is_domain(host);
    if is_out_of_reach(host) || ours() {
        return None;
    }
    Some("Web pages reach dealers under their own names only; the host of this request is none of them.")
}

/// `scheme://host[:port]`, or `null` as browsers say where they keep it to themselves (RFC 6454 7.1).
fn is_origin(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let rest = text.split_once("://").filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    text == "null"
        || rest.is_some_and(|(_, host)| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ', ',']))
}

/// Names that nobody can lead to another machine: addresses, and names without a dot, which are no domains.
fn is_out_of_reach(host: &str) -> bool {
    host.starts_with('[')
        || !host.contains('.')
        || host.ends_with(".localhost")
        || host.parse::<Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_a_scheme_and_a_host_alone() {
        for good in
            ["null", "https://a.example", "http://localhost:3000", "vscode-webview://1ab", "http://[::1]:8"]
        {
            assert!(is_origin(&HeaderValue::from_static(good)), "{good}");
        }
        for bad in ["", "a.example", "https://", "https://a.example/x", "https://a, https://b", "://a", "*"] {
            assert!(!is_origin(&HeaderValue::from_static(bad)), "{bad}");
        }
    }

    #[test]
    fn names_that_can_be_bent_are_told_from_those_that_cannot() {
        for safe in ["localhost", "127.0.0.1", "[::1", "forecourt", "harbor.localhost"] {
            assert!(is_out_of_reach(safe), "{safe}");
        }
        assert!(!is_out_of_reach("evil.example"));
    }
}
