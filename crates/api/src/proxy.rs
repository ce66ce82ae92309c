//! Which peers are believed when they say whom they speak for.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderName};

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Networks of reverse proxies whose `X-Forwarded-*` headers are believed. Nobody else's are.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies {
    networks: Vec<(IpAddr, u8)>,
}

/// An entry that is no address and no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no IP address and no network like 10.0.0.0/8")]
pub struct ProxyError(pub String);

impl TrustedProxies {
    /// Reads `10.0.0.0/8, ::1, …`; blanks and empty entries are passed over.
    ///
    /// # Errors
    /// The first entry that cannot be read.
    pub fn parse(text: &str) -> Result<TrustedProxies, ProxyError> {
        let entries = text.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty());
        let networks = entries.map(|entry| network(entry).ok_or_else(|| ProxyError(entry.to_owned())));
        Ok(TrustedProxies { networks: networks.collect::<Result<_, _>>()? })
    }

    /// Whether the address lies in one of the networks.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|(network, bits)| match (network, address) {
            (IpAddr::V4(n), IpAddr::V4(a)) => {
                same_prefix(u128::from(n.to_bits()) << 96, u128::from(a.to_bits()) << 96, *bits)
            }
            (IpAddr::V6(n), IpAddr::V6(a)) => same_prefix(n.to_bits(), a.to_bits(), *bits),
            _ => false,
        })
    }

    /// The host that the client asked for: the proxy's word where the peer is trusted, else the `Host` header.
    pub(crate) fn host<'r>(&self, request: &'r HttpRequest) -> Option<&'r str> {
        // The nearest proxy adds its own word at the end, on a line of its own or behind a comma; what stands
        // before it is hearsay.
        if self.peer_is_trusted(request)
            && let Some(forwarded) = request.headers().get_all(FORWARDED_HOST).last()
            && let Ok(forwarded) = forwarded.to_str()
        {
            return forwarded.rsplit(',').next().map(str::trim);
        }
        // A host in the request line (always in HTTP/2, sometimes through proxies) outranks the header
        // (RFC 9112 3.2.2, RFC 9113 8.3.1).
        let authority = request.uri().authority().map(|authority| authority.as_str());
        authority.or_else(|| request.headers().get(header::HOST).and_then(|value| value.to_str().ok()))
    }

    /// The address of the client, as far as it can be believed.
    pub(crate) fn client(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr()?.ip();
        if !self.contains(peer) {
            return Some(peer);
        }
        let forwarded = request.headers().get_all("x-forwarded-for").filter_map(|value| value.to_str().ok());
        let hops: Vec<IpAddr> =
            forwarded.flat_map(|line| line.split(',')).filter_map(|hop| hop.trim().parse().ok()).collect();
        Some(hops.iter().rev().copied().find(|hop| !self.contains(*hop)).unwrap_or(peer))
    }

    fn peer_is_trusted(&self, request: &HttpRequest) -> bool {
        request.peer_addr().is_some_and(|peer| self.contains(peer.ip()))
    }
}

fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address.parse::<IpAddr>().ok()?, Some(bits.parse::<u8>().ok()?)),
        None => (text.parse::<IpAddr>().ok()?, None),
    };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(most);
    (bits <= most).then_some((address, bits))
}

fn same_prefix(a: u128, b: u128, bits: u8) -> bool {
    bits == 0 || (a ^ b) >> (128 - u32::from(bits)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses_and_no_others() {
        let proxies = TrustedProxies::parse("10.0.0.0/8, ::1 192.168.1.7").unwrap();
        for inside in ["10.255.0.1", "::1", "192.168.1.7", "::ffff:10.1.1.1"] {
            assert!(proxies.contains(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["11.0.0.1", "::2", "192.168.1.8"] {
            assert!(!proxies.contains(outside.parse().unwrap()), "{outside}");
        }
        assert!(TrustedProxies::parse("10.0.0.0/33").is_err());
        assert!(TrustedProxies::parse("example.org").is_err());
        assert!(!TrustedProxies::default().contains("127.0.0.1".parse().unwrap()));
    }
}
