//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Names that lead to this machine or its network are as if they led nowhere.
#[derive(Debug, Clone, Copy)]
pub struct PublicOnly;

/// A name leads to no public address.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the name leads to no public address")]
pub struct NoPublicAddress;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public = public_of(found);
            if public.is_empty() {
                return Err(NoPublicAddress.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// The public ones: of a name that leads to both kinds, the others are never connected to.
fn public_of(found: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    found.filter(|address| is_public(address.ip())).collect()
}

/// Whether an address is one of the internet's, and not of this machine, a private network, a provider's inside, or
/// reserved.
pub fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    let assigned = a == 192 && b == 0 && c == 0;
    let relays = a == 192 && b == 88 && c == 99;
    let special = shared || benchmarks || assigned || relays || a == 0 || a >= 224;
    !(ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_documentation() || special)
}

/// Only what is given out as global unicast, and nothing that wraps an IPv4 address: those are reached through a
/// translator, which may lead anywhere.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let global = first & 0xe000 == 0x2000;
    let six_to_four = first == 0x2002;
    let special = first == 0x2001 && (second < 0x200 || second == 0x0db8);
    let documentation = first == 0x3fff && second < 0x1000;
    global && !six_to_four && !special && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_machine_and_network_are_not_public() {
        for inside in [
            "127.0.0.1",
            "127.255.255.254",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "0.0.0.0",
            "0.1.2.3",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "fe80::1",
            "fec0::1",
            "fd00::1",
            "fd00:ec2::254",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "100::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in
            ["9.9.9.9", "100.128.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1", "2620:fe::fe", "2a00::1"]
        {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[test]
    fn of_a_name_with_both_kinds_the_public_ones_are_left() {
        let found = ["10.0.0.1:0", "9.9.9.9:0", "[::1]:0"].map(|text| text.parse().unwrap());
        assert_eq!(public_of(found.into_iter()), ["9.9.9.9:0".parse().unwrap()]);
    }
}
