//! Fetches the public keys of issuers whose tokens dealers take, beside the requests.
//!
//! What is fetched is decided by the core; this file is the only one that calls a foreign server, and it calls only
//! public addresses unless the platform itself is on loopback: the addresses come from documents.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dealer::{Dealer, WeakDealer};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde_json::Value;
use url::{Host, Url};

use crate::failure::chain;

/// How long an issuer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest key set, in bytes.
const MAX_SET: usize = 256 * 1024;

/// Fetches what is due until nobody uses the core any more.
pub(crate) fn follow(dealer: &Dealer) {
    let inside = dealer.addresses().origin.is_loopback();
    drop(tokio::spawn(run(dealer.downgrade(), inside)));
}

async fn run(dealer: WeakDealer, inside: bool) {
    // Made when it is needed: it reads the certificates of this machine, which may have none.
    let mut client = None;
    loop {
        let Some(core) = dealer.upgrade() else { return };
        match core.key_sets_due().await {
            Ok(due) => {
                for url in due {
                    let fetched = match with_client(&mut client, inside) {
                        Ok(client) => fetch(client, &url, inside).await,
                        Err(error) => Err(chain(&error)),
                    };
                    if let Err(error) = core.key_set_fetched(&url, fetched).await {
                        tracing::warn!(%error, url, "the keys of an issuer cannot be stored");
                    }
                }
            }
            Err(error) => tracing::debug!(%error, "the database does not say which keys are due"),
        }
        let stirred = core.key_sets_stirred();
        // Not held while waiting: the core ends with its last handle.
        drop(core);
        stirred.await;
    }
}

fn with_client(made: &mut Option<reqwest::Client>, inside: bool) -> Result<&reqwest::Client, reqwest::Error> {
    match made {
        Some(client) => Ok(client),
        None => Ok(made.insert(new_client(inside)?)),
    }
}

fn new_client(inside: bool) -> Result<reqwest::Client, reqwest::Error> {
    let builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE)
        .user_agent(concat!("forecourt/", env!("CARGO_PKG_VERSION")));
    let builder = if inside { builder } else { builder.https_only(true).dns_resolver(Arc::new(PublicOnly)) };
    builder.build()
}

async fn fetch(client: &reqwest::Client, url: &str, inside: bool) -> Result<Value, String> {
    // An address literal never reaches a resolver.
    let host = Url::parse(url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
    let foreign = match host {
        Some(Host::Ipv4(ip)) => is_public(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => is_public(IpAddr::V6(ip)),
        Some(Host::Domain(_)) => true,
        None => false,
    };
    if !foreign && !inside {
        return Err("it is no public address".to_owned());
    }
    let mut answer = client
        .get(url)
        .header("accept", "application/jwk-set+json, application/json")
        .send()
        .await
        .map_err(|error| chain(&error))?;
    if !answer.status().is_success() {
        return Err(format!("the issuer answers {}", answer.status()));
    }
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|error| chain(&error))? {
        body.extend_from_slice(&part);
        if body.len() > MAX_SET {
            return Err("it is longer than any key set".to_owned());
        }
    }
    serde_json::from_slice(&body).map_err(|error| format!("it is no JSON ({error})"))
}

/// Names that lead to this machine or its network are as if they led nowhere.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the name leads to no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let special = (a == 192 && b == 0 && c == 0) || (a == 198 && (b == 18 || b == 19)) || a == 0 || a >= 224;
    !(ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_documentation() || shared || special)
}

/// Only what is given out as global unicast, and nothing that wraps an IPv4 address.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let global = first & 0xe000 == 0x2000;
    let six_to_four = first == 0x2002;
    let special = first == 0x2001 && (second < 0x200 || second == 0x0db8);
    global && !six_to_four && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_machine_and_network_are_not_public() {
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "fe80::1",
            "fd00::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["9.9.9.9", "100.128.0.1", "172.32.0.1", "2620:fe::fe", "2a00::1"] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }
}
