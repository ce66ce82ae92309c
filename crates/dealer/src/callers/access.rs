//! Who may ask a dealer, as it is provisioned (member `callers`) and as requests are held against it.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use store::CallerKeyRow;
use url::{Host, Url};

use super::CallerKey;
use super::keys;
use super::tokens::OAuth;

/// A way to prove who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Credential {
    /// A bearer key that the operator made for one caller.
    Keys,
    /// A token of the dealer's issuer, by OAuth 2.0 client credentials.
    Oauth,
}

/// Member `callers` of a dealer. `{}` is a public one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallersRule {
    /// What is taken; without any, the dealer is public.
    pub accept: Vec<Credential>,
    /// Whose tokens are taken.
    pub oauth: Option<OAuthRule>,
}

/// Whose tokens a dealer takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthRule {
    /// `iss` of its tokens, exactly.
    pub issuer: String,
    /// One `aud` of its tokens.
    pub audience: String,
    /// Where its public keys are (RFC 7517).
    pub jwks_uri: String,
    /// Where callers get tokens; stands on the card.
    pub token_url: String,
    /// Signatures that are taken; absent means RS256 and ES256.
    pub algorithms: Option<Vec<String>>,
}

/// Signatures that can be checked here.
pub(crate) const ALGORITHMS: [&str; 9] =
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

impl CallersRule {
    /// Reads what is stored or provisioned.
    ///
    /// # Errors
    /// Sentences, each with a JSON Pointer below `callers`.
    pub fn read(value: &Value) -> Result<CallersRule, Vec<(String, String)>> {
        if !value.is_object() {
            return Err(vec![(String::new(), "must be an object, or null for a public dealer".to_owned())]);
        }
        let mut found = Vec::new();
        // Each member alone first, so that every one that is wrong is named at its place.
        for (name, member) in value.as_object().into_iter().flatten() {
            if name == "oauth" {
                found.extend(wrong_members(member));
            } else if let Err(error) = serde_json::from_value::<CallersRule>(json!({ name: member })) {
                found.push((format!("/{name}"), sentence(&error)));
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        let rule: CallersRule = serde_json::from_value(value.clone())
            .map_err(|error| vec![("/oauth".to_owned(), error.to_string())])?;
        let problems = rule.problems();
        if problems.is_empty() { Ok(rule) } else { Err(problems) }
    }

    fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut add = |at: &str, sentence: &str| problems.push((at.to_owned(), sentence.to_owned()));
        let wants_tokens = self.accept.contains(&Credential::Oauth);
        match &self.oauth {
            None if wants_tokens => add("/oauth", "must say whose tokens are taken"),
            Some(_) if !wants_tokens => add("/accept", "must name oauth where oauth is described"),
            _ => {}
        }
        if self.accept.iter().enumerate().any(|(i, one)| self.accept.iter().skip(i + 1).any(|o| o == one)) {
            add("/accept", "names one thing twice");
        }
        let Some(oauth) = &self.oauth else { return problems };
        for (name, text) in [("issuer", &oauth.issuer), ("audience", &oauth.audience)] {
            if text.trim().is_empty() {
                add(&format!("/oauth/{name}"), "must not be blank");
            }
        }
        for (name, text) in [("jwks_uri", &oauth.jwks_uri), ("token_url", &oauth.token_url)] {
            if protected(text).is_none() {
                add(&format!("/oauth/{name}"), "must be an https:// address without a user name or fragment");
            }
        }
        let named = oauth.algorithms.iter().flatten();
        for (i, name) in named.enumerate().filter(|(_, name)| !ALGORITHMS.contains(&name.as_str())) {
            let list = ALGORITHMS.join(", ");
            add(&format!("/oauth/algorithms/{i}"), &format!("{name} is none of {list}"));
        }
        if oauth.algorithms.as_ref().is_some_and(Vec::is_empty) {
            add("/oauth/algorithms", "must name at least one; leave it out for RS256 and ES256");
        }
        problems
    }

    /// Members with an address on this machine, as JSON Pointers: for tests of a platform on loopback only.
    pub fn loopback_members(&self) -> Vec<&'static str> {
        let Some(oauth) = &self.oauth else { return Vec::new() };
        [("/oauth/jwks_uri", &oauth.jwks_uri), ("/oauth/token_url", &oauth.token_url)]
            .into_iter()
            .filter(|(_, text)| protected(text) == Some(false))
            .map(|(at, _)| at)
            .collect()
    }
}

/// Whether an address is protected on its way: `Some(false)` on loopback, where nothing is on the way, `None` for
/// one that cannot be used.
fn protected(text: &str) -> Option<bool> {
    let url = Url::parse(text).ok()?;
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return None;
    }
    let loopback = match url.host()? {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    };
    match url.scheme() {
        "https" => Some(!loopback),
        "http" if loopback => Some(false),
        _ => None,
    }
}

fn wrong_members(oauth: &Value) -> Vec<(String, String)> {
    let Some(members) = oauth.as_object() else {
        return vec![("/oauth".to_owned(), "must be an object".to_owned())];
    };
    let mut found = Vec::new();
    for name in ["issuer", "audience", "jwks_uri", "token_url"] {
        match members.get(name) {
            Some(Value::String(_)) => {}
            Some(_) => found.push((format!("/oauth/{name}"), "must be a string".to_owned())),
            None => found.push(("/oauth".to_owned(), format!("needs {name}"))),
        }
    }
    match members.get("algorithms") {
        None | Some(Value::Null) => {}
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {}
        Some(_) => found.push(("/oauth/algorithms".to_owned(), "must be a list of names".to_owned())),
    }
    let known = ["issuer", "audience", "jwks_uri", "token_url", "algorithms"];
    for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
        let at = format!("/oauth/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push((at, "there is no such member".to_owned()));
    }
    found
}

fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("unknown field") {
        "there is no such member".to_owned()
    } else if text.starts_with("unknown variant") {
        "may name keys and oauth".to_owned()
    } else {
        "must be a list of keys and oauth".to_owned()
    }
}

/// Who may ask a dealer, with everything that decides it.
#[derive(Debug, Default)]
pub struct Access {
    public: bool,
    takes_keys: bool,
    keys: HashMap<String, Arc<CallerKey>>,
    pub(super) oauth: Option<OAuth>,
}

impl Access {
    /// From what is stored. Keys count at public dealers as well: there they tell who asks.
    pub(crate) fn new(rule: &CallersRule, rows: &[CallerKeyRow]) -> Access {
        let keys = rows.iter().filter(|row| row.revoked_at.is_none());
        Access {
            public: rule.accept.is_empty(),
            takes_keys: rule.accept.contains(&Credential::Keys),
            keys: keys.map(|row| (row.prefix.clone(), Arc::new(keys::from_row(row)))).collect(),
            oauth: rule.oauth.as_ref().map(OAuth::new),
        }
    }

    /// Whether everybody may ask.
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// Whether a key of the dealer's opens it.
    pub fn takes_keys(&self) -> bool {
        self.takes_keys
    }

    /// Whose tokens are taken.
    pub fn oauth(&self) -> Option<&OAuthRule> {
        self.oauth.as_ref().map(OAuth::rule)
    }

    /// The key of that text, unless it was revoked.
    pub(super) fn key(&self, text: &str) -> Option<&Arc<CallerKey>> {
        let key = self.keys.get(keys::prefix_of(text)?)?;
        keys::matches(key, text).then_some(key)
    }

    /// Bytes that it takes, roughly.
    pub(crate) fn weight(&self) -> usize {
        self.keys.len() * 250
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(value: Value) -> Vec<String> {
        CallersRule::read(&value).unwrap_err().into_iter().map(|(at, _)| at).collect()
    }

    fn oauth() -> Value {
        json!({"issuer": "https://id.example/", "audience": "https://dealers.example",
               "jwks_uri": "https://id.example/keys", "token_url": "https://id.example/token"})
    }

    #[test]
    fn what_is_right_is_read() {
        assert_eq!(CallersRule::read(&json!({})).unwrap(), CallersRule::default());
        let rule = CallersRule::read(&json!({"accept": ["keys", "oauth"], "oauth": oauth()})).unwrap();
        assert!(rule.loopback_members().is_empty());
        let mut local = oauth();
        local["jwks_uri"] = "http://127.0.0.1:9/keys".into();
        let rule = CallersRule::read(&json!({"accept": ["oauth"], "oauth": local})).unwrap();
        assert_eq!(rule.loopback_members(), ["/oauth/jwks_uri"]);
    }

    #[test]
    fn what_is_wrong_is_named_at_its_place() {
        assert_eq!(places(json!([])), [""]);
        assert_eq!(places(json!({"accept": ["password"]})), ["/accept"]);
        assert_eq!(places(json!({"accept": "keys", "keys": []})), ["/accept", "/keys"]);
        assert_eq!(places(json!({"accept": ["keys", "keys"]})), ["/accept"]);
        assert_eq!(places(json!({"accept": ["oauth"]})), ["/oauth"]);
        assert_eq!(places(json!({"accept": ["keys"], "oauth": oauth()})), ["/accept"]);
        assert_eq!(places(json!({"accept": ["oauth"], "oauth": {"issuer": 1, "x": 1}})).len(), 5);
        for (member, wrong) in [
            ("jwks_uri", json!("http://id.example/keys")),
            ("token_url", json!("https://user@id.example/token")),
            ("issuer", json!(" ")),
            ("algorithms", json!([])),
        ] {
            let mut changed = oauth();
            changed[member] = wrong;
            assert_eq!(
                places(json!({"accept": ["oauth"], "oauth": changed})),
                [format!("/oauth/{member}")],
                "{member}"
            );
        }
        let mut weak = oauth();
        weak["algorithms"] = json!(["RS256", "HS256", "none"]);
        assert_eq!(
            places(json!({"accept": ["oauth"], "oauth": weak})),
            ["/oauth/algorithms/1", "/oauth/algorithms/2"]
        );
    }
}
