//! Who asks a dealer, and who may.
//!
//! A dealer is public, or takes bearer keys, or takes tokens of an issuer, or both. What decides is in memory:
//! keys are read with the dealer, public keys of issuers by a job beside the requests (`key_sets`).

mod access;
mod key_sets;
mod keys;
mod tokens;
mod usage;

use std::net::IpAddr;
use std::sync::Arc;

use contract::SkillId;
use serde_json::Value;

use crate::policy::RateLimit;
use crate::tenant::Tenant;
use crate::{Call, Dealer};

pub use access::{Access, CallersRule, Credential, OAuthRule};
pub use key_sets::KeySetError;
pub(crate) use key_sets::KeySets;
pub use keys::{IssuedKey, KEY_PREFIX, KeyError, NewKey, add_key, list_keys, revoke_key};
pub(crate) use usage::KeyUses;

/// Who asks: by its key, else by the agent it declares, else by its address.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The interface through which it came, such as `a2a`.
    pub door: &'static str,
    /// Where it called from, as far as that can be believed.
    pub address: Option<IpAddr>,
    /// The credential that it proved, if it showed one.
    pub key: Option<Arc<CallerKey>>,
}

/// A credential that was proved: a key of the dealer's, or a token of its issuer.
#[derive(Debug)]
pub struct CallerKey {
    /// What the dealer, or the issuer, calls its bearer.
    pub name: String,
    kind: Credential,
    /// Skills that it opens; `None` for all.
    scopes: Option<Vec<SkillId>>,
    /// Its own limit, in place of the policy's `caller_rate_limit`.
    rate_limit: Option<RateLimit>,
    /// SHA-256 of the key, and the place where its use is noted; tokens have neither.
    stored: Option<keys::Stored>,
}

impl CallerKey {
    /// A key of that name which opens every skill.
    pub fn named(name: impl Into<String>) -> CallerKey {
        CallerKey { name: name.into(), kind: Credential::Keys, scopes: None, rate_limit: None, stored: None }
    }

    /// Whether it opens a skill.
    pub fn opens(&self, skill: SkillId) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.contains(&skill))
    }
}

impl Caller {
    /// Somebody who showed no credential.
    pub fn anonymous(door: &'static str, address: Option<IpAddr>) -> Caller {
        Caller { door, address, key: None }
    }

    /// What the caller is known by: `key:<name>` or, with a token, `client:<id>`; else `agent:<declared name>`, else
    /// `addr:<ip>`.
    ///
    /// A declared name is a claim that anybody can make; it tells honest callers apart and proves nothing.
    pub fn name(&self, declared_agent: Option<&str>) -> String {
        match (&self.key, declared_agent, self.address) {
            (Some(key), _, _) if key.kind == Credential::Oauth => format!("client:{}", key.name),
            (Some(key), _, _) => format!("key:{}", key.name),
            (None, Some(agent), _) => format!("agent:{agent}"),
            (None, None, Some(address)) => format!("addr:{address}"),
            (None, None, None) => "addr:unknown".to_owned(),
        }
    }

    /// Whose calls are counted together. Like [`Caller::name`], but that an IPv6 network of a single customer, who has
    /// more addresses in it than could be counted, is one caller.
    pub(crate) fn counted_as(&self, declared_agent: Option<&str>) -> String {
        match (&self.key, declared_agent, self.address.map(|address| address.to_canonical())) {
            (None, None, Some(IpAddr::V6(address))) => {
                let [a, b, c, d, ..] = address.segments();
                format!("addr:{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
            _ => self.name(declared_agent),
        }
    }

    /// The limit on this caller's calls, where there is one.
    pub(crate) fn rate_limit(&self, tenant: &Tenant) -> Option<RateLimit> {
        let own = self.key.as_ref().and_then(|key| key.rate_limit);
        own.or(tenant.policy.caller_rate_limit)
    }
}

/// The agent that a request declares, where its skill has a place for that.
pub(crate) fn declared_agent(data: &Value) -> Option<&str> {
    data.get("source_agent")?.get("name")?.as_str()
}

/// What a request shows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown<'a> {
    /// No credential.
    Nothing,
    /// A bearer credential.
    Bearer(&'a str),
    /// Something else, or more than one.
    Other,
}

/// Why a caller is not let in. Nothing in it is secret: all of it may be told to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The dealer wants a credential and none was shown.
    #[error("This dealer wants a credential: send Authorization: Bearer with a key or token.")]
    Missing,
    /// The credential is none that opens this dealer.
    #[error("{0}")]
    Invalid(&'static str),
    /// The credential is good, and not for this skill.
    #[error("The credential does not open {0}.")]
    Scope(SkillId),
    /// The public keys of the issuer are not known yet.
    #[error("The keys of the token's issuer are not known yet; please try again.")]
    NotReady,
}

impl Dealer {
    /// Lets a caller in to a dealer, at whatever door, or not. Answers the credential that it proved; a public
    /// dealer passes over what proves nothing. Asks no database and no issuer.
    ///
    /// # Errors
    /// Why it is not let in.
    pub fn admit(&self, tenant: &Tenant, shown: Shown<'_>) -> Result<Option<Arc<CallerKey>>, Denied> {
        let access = &tenant.access;
        let bearer = match shown {
            Shown::Nothing if access.is_public() => return Ok(None),
            Shown::Nothing => return Err(Denied::Missing),
            Shown::Other if access.is_public() => return Ok(None),
            Shown::Other => {
                return Err(Denied::Invalid("Send one Authorization header, of the scheme Bearer."));
            }
            Shown::Bearer(bearer) => bearer,
        };
        if access.is_public() || (access.takes_keys() && keys::is_ours(bearer)) {
            let key = access.key(bearer);
            if let Some(key) = key {
                self.inner.key_uses.note(tenant.id, key);
            }
            return match key {
                None if !access.is_public() => Err(Denied::Invalid("The key is unknown or revoked.")),
                key => Ok(key.cloned()),
            };
        }
        match &access.oauth {
            Some(oauth) => oauth.check(bearer, &self.inner.key_sets).map(|key| Some(Arc::new(key))),
            None => Err(Denied::Invalid("The key is unknown or revoked.")),
        }
    }

    /// Whether the caller's credential opens a skill. Asked by every door as soon as it knows the skill.
    ///
    /// # Errors
    /// [`Denied::Scope`].
    pub fn permit(&self, call: &Call, skill: SkillId) -> Result<(), Denied> {
        match &call.caller.key {
            Some(key) if !key.opens(skill) => Err(Denied::Scope(skill)),
            None if !call.tenant.access.is_public() => Err(Denied::Missing),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_known_by_its_key_else_by_its_agent_else_by_its_address() {
        let mut caller = Caller::anonymous("a2a", Some(IpAddr::from([192, 0, 2, 7])));
        assert_eq!(caller.name(None), "addr:192.0.2.7");
        assert_eq!(caller.name(Some("pelican")), "agent:pelican");
        caller.key = Some(Arc::new(CallerKey::named("broker")));
        assert_eq!(caller.name(Some("pelican")), "key:broker");
        let token = CallerKey { kind: Credential::Oauth, ..CallerKey::named("broker") };
        caller.key = Some(Arc::new(token));
        assert_eq!(caller.name(None), "client:broker");
        assert_eq!(Caller::anonymous("a2a", None).name(None), "addr:unknown");
    }

    #[test]
    fn addresses_that_one_customer_has_are_counted_together() {
        let from = |address: &str| Caller::anonymous("a2a", Some(address.parse().unwrap())).counted_as(None);
        assert_eq!(from("2001:db8:1:2::3"), from("2001:db8:1:2:ffff::9"));
        assert_ne!(from("2001:db8:1:2::3"), from("2001:db8:1:3::3"));
        assert_eq!(from("192.0.2.7"), "addr:192.0.2.7");
        assert_ne!(from("::ffff:192.0.2.7"), from("::ffff:192.0.2.8"));
        let caller = Caller::anonymous("a2a", Some("2001:db8::1".parse().unwrap()));
        assert_eq!(caller.counted_as(Some("pelican")), "agent:pelican");
    }

    #[test]
    fn a_key_opens_its_scopes_and_one_without_opens_all() {
        assert!(CallerKey::named("all").opens(SkillId::LeadSubmit));
        let reader = CallerKey { scopes: Some(vec![SkillId::InventorySearch]), ..CallerKey::named("reader") };
        assert!(reader.opens(SkillId::InventorySearch) && !reader.opens(SkillId::LeadSubmit));
    }
}
