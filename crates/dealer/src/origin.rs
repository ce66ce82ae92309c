//! Where the platform and its dealers are reached from outside.

use std::net::IpAddr;

use contract::ContractSpec;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::tenant::TenantName;

/// A public origin: scheme, host and port, nothing else. Shown without a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin {
    text: String,
    secure: bool,
    loopback: bool,
    host: String,
    port: Option<u16>,
}

/// Why a text is no usable public origin. The text is a sentence for an operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OriginError(String);

impl Origin {
    /// Reads an origin such as `https://dealers.example` or `http://127.0.0.1:8080`.
    ///
    /// Plain `http` is taken on loopback only: agents refuse cards that name an unprotected public address.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what to write instead.
    pub fn parse(text: &str) -> Result<Origin, OriginError> {
        let fail = |why: &str| Err(OriginError(why.to_owned()));
        let Ok(url) = Url::parse(text.trim()) else {
            return fail("is no address; write it like https://dealers.example");
        };
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return fail("must begin with https:// (or http:// on loopback)"),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return fail("must not hold a user name or password");
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return fail("must be scheme, host and port only, without a path, query or fragment");
        }
        let (host, loopback) = match url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.').to_owned();
                let local = is_local(&name);
                (name, local)
            }
            Some(Host::Ipv4(ip)) => (ip.to_string(), ip.is_loopback()),
            Some(Host::Ipv6(ip)) => (format!("[{ip}]"), ip.is_loopback()),
            None => return fail("names no host"),
        };
        if !secure && !loopback {
            return fail(
                "is plain http on a host that is not loopback; agents refuse such cards: use https://",
            );
        }
        let port = url.port();
        let scheme = url.scheme();
        let text =
            port.map_or_else(|| format!("{scheme}://{host}"), |port| format!("{scheme}://{host}:{port}"));
        Ok(Origin { text, secure, loopback, host, port })
    }

    /// `https://dealers.example`, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether only this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// The host name or address literal, in lower case, without the port.
    pub fn host(&self) -> &str {
        &self.host
    }

    fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    fn host_is_ip(&self) -> bool {
        self.host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Origin {
    type Error = OriginError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> String {
        origin.text
    }
}

/// A host name of the platform's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnHost<'h> {
    /// The platform itself.
    Platform,
    /// The dealer of this slug, if there is one.
    Slug(&'h str),
}

/// Everything that decides a dealer's addresses. Stored in the database, so that every process and command
/// renders the same cards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// The platform's own origin.
    pub origin: Origin,
    /// With `dealers.example`, every dealer is reached at `{slug}.dealers.example` too, and that is canonical.
    #[serde(default)]
    pub platform_domain: Option<String>,
    /// The operator asked by name for contracts whose identifiers lead nowhere, at public addresses too.
    #[serde(default)]
    pub serve_draft: bool,
}

impl Addresses {
    /// Whether a contract may be served at all at the platform's addresses and at these `domains`.
    pub fn allow(&self, spec: &ContractSpec, domains: &[String]) -> bool {
        spec.deployable || self.serve_draft || self.public_name(domains).is_none()
    }

    /// The first of a dealer's addresses that others than this machine can reach: the platform's origin, the
    /// platform's domain, or one of the dealer's own `domains`. A domain is public wherever the platform believes
    /// itself to be.
    pub fn public_name<'a>(&'a self, domains: &'a [String]) -> Option<&'a str> {
        if !self.origin.is_loopback() {
            return Some(self.origin.as_str());
        }
        let names = self.platform_domain.iter().chain(domains);
        names.map(String::as_str).find(|name| !is_local(name))
    }

    /// The domain under which `{slug}.{domain}` is served: the configured one, else `localhost` on loopback,
    /// else the origin's own name.
    pub fn host_suffix(&self) -> Option<&str> {
        match &self.platform_domain {
            Some(domain) => Some(domain),
            None if self.origin.loopback => Some("localhost"),
            None if self.origin.host_is_ip() => None,
            None => Some(&self.origin.host),
        }
    }

    /// Whether a host name, in lower case and without a port, is one that the platform serves itself, so that no
    /// dealer can own it.
    pub fn own_host<'h>(&self, host: &'h str) -> Option<OwnHost<'h>> {
        if host == self.origin.host || Some(host) == self.platform_domain.as_deref() {
            return Some(OwnHost::Platform);
        }
        let label = host.strip_suffix(self.host_suffix()?)?.strip_suffix('.')?;
        is_label(label).then_some(OwnHost::Slug(label))
    }

    /// The canonical base of a dealer, with a trailing slash: custom domain, else host, else path.
    pub fn base(&self, tenant: TenantName<'_>) -> String {
        if let Some(domain) = tenant.domain {
            return format!("https://{domain}/");
        }
        match &self.platform_domain {
            Some(domain) => {
                let port = self.origin.port.map(|port| format!(":{port}")).unwrap_or_default();
                format!("{}://{}.{domain}{port}/", self.origin.scheme(), tenant.slug)
            }
            None => self.path_base(tenant.slug),
        }
    }

    /// The base by path, which always works: `{origin}/t/{slug}/`.
    pub fn path_base(&self, slug: &str) -> String {
        format!("{}/t/{slug}/", self.origin)
    }
}

/// Whether a host name leads to this machine wherever it is asked for.
fn is_local(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether a text can be a dealer's slug: lower-case letters, digits and inner hyphens, at most 63, and no name
/// that the platform needs for itself.
pub fn is_slug(text: &str) -> bool {
    const RESERVED: [&str; 6] = ["admin", "api", "www", "static", "status", "t"];
    is_label(text) && !RESERVED.contains(&text)
}

/// Whether a text is a host name a dealer can own: at least two labels, lower case, no port.
pub fn is_domain(text: &str) -> bool {
    text.len() <= 253
        && text.contains('.')
        && text.split('.').all(is_label)
        && text.rsplit('.').next().is_some_and(|tld| tld.bytes().any(|b| b.is_ascii_lowercase()))
}

fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
        && bytes.first() != Some(&b'-')
        && bytes.last() != Some(&b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_is_for_loopback_only() {
        for good in
            ["https://dealers.example", "http://127.0.0.1:8080", "http://[::1]:9", "http://localhost:1/"]
        {
            assert!(Origin::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://dealers.example",
            "ftp://x",
            "https://a/b",
            "https://u@h",
            "dealers.example",
            "https://h/?q=1",
        ] {
            assert!(Origin::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            Origin::parse("HTTPS://Dealers.Example:443/").unwrap().as_str(),
            "https://dealers.example"
        );
    }

    #[test]
    fn a_draft_is_for_addresses_of_this_machine_unless_the_operator_says_so() {
        let draft = contract::CONTRACTS.iter().find(|spec| !spec.deployable).unwrap();
        let at = |origin: &str, platform_domain: Option<&str>| Addresses {
            origin: Origin::parse(origin).unwrap(),
            platform_domain: platform_domain.map(str::to_owned),
            serve_draft: false,
        };
        let here = "http://127.0.0.1:8080";
        for (addresses, domains, public) in [
            (at(here, None), &[][..], None),
            (at(here, Some("cars.localhost")), &["harbor.localhost"], None),
            (at(here, None), &["harbor.localhost", "harbor.example"], Some("harbor.example")),
            (at(here, Some("cars.example")), &[], Some("cars.example")),
            (at("https://dealers.example", None), &[], Some("https://dealers.example")),
        ] {
            let domains: Vec<String> = domains.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(addresses.public_name(&domains), public);
            assert_eq!(addresses.allow(draft, &domains), public.is_none(), "{public:?}");
            assert!(Addresses { serve_draft: true, ..addresses.clone() }.allow(draft, &domains));
            assert!(
                contract::CONTRACTS.iter().all(|spec| !spec.deployable || addresses.allow(spec, &domains))
            );
        }
    }

    #[test]
    fn the_canonical_base_prefers_domain_then_host_then_path() {
        let mut addresses = Addresses {
            origin: Origin::parse("https://dealers.example:8443").unwrap(),
            platform_domain: None,
            serve_draft: false,
        };
        let plain = TenantName { slug: "harbor", domain: None };
        assert_eq!(addresses.base(plain), "https://dealers.example:8443/t/harbor/");
        addresses.platform_domain = Some("cars.example".into());
        assert_eq!(addresses.base(plain), "https://harbor.cars.example:8443/");
        let owned = TenantName { slug: "harbor", domain: Some("agent.harbor.example") };
        assert_eq!(addresses.base(owned), "https://agent.harbor.example/");
    }

    #[test]
    fn the_platforms_names_are_its_origin_its_domain_and_one_label_below() {
        let mut addresses = Addresses {
            origin: Origin::parse("https://dealers.example").unwrap(),
            platform_domain: None,
            serve_draft: false,
        };
        assert_eq!(addresses.own_host("dealers.example"), Some(OwnHost::Platform));
        assert_eq!(addresses.own_host("harbor.dealers.example"), Some(OwnHost::Slug("harbor")));
        for other in ["harbor.example", "a.b.dealers.example", "xdealers.example", ".dealers.example", ""] {
            assert_eq!(addresses.own_host(other), None, "{other}");
        }
        addresses.platform_domain = Some("cars.example".into());
        assert_eq!(addresses.own_host("cars.example"), Some(OwnHost::Platform));
        assert_eq!(addresses.own_host("harbor.cars.example"), Some(OwnHost::Slug("harbor")));
        assert_eq!(addresses.own_host("harbor.dealers.example"), None);
    }

    #[test]
    fn slugs_and_domains_are_plain_names() {
        for good in ["a", "harbor-0147-ab12", "9"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a_b", "admin", &"x".repeat(64), "é"] {
            assert!(!is_slug(bad), "{bad}");
        }
        assert!(is_domain("agent.harbor.example"));
        for bad in ["harbor", "Harbor.example", "harbor.example.", "127.0.0.1", "a..b", "a.b:80"] {
            assert!(!is_domain(bad), "{bad}");
        }
    }
}
