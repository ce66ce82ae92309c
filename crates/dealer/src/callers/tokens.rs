//! Tokens of an issuer: JSON Web Tokens, checked against its public keys (RFC 7519, RFC 9068).

use std::str::FromStr;
use std::sync::Once;

use contract::SkillId;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{Error as BadSignature, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, Validation, decode, decode_header};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

use super::access::OAuthRule;
use super::key_sets::{KeySet, KeySets};
use super::{CallerKey, Credential, Denied};

/// How far clocks may be apart, in seconds.
const LEEWAY: u64 = 30;
/// Longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 16 * 1024;

/// Whose tokens a dealer takes, ready to be asked.
#[derive(Debug)]
pub(crate) struct OAuth {
    rule: OAuthRule,
    algorithms: Vec<Algorithm>,
}

/// What is read of a token. Everything else in it is the issuer's business.
#[derive(Deserialize)]
struct Claims {
    /// One text (RFC 7519, 4.1.1); a list is none, even where it names the issuer among others.
    #[serde(rename = "iss")]
    _issuer: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
    sub: Option<String>,
    scope: Option<Value>,
    scp: Option<Value>,
    roles: Option<Value>,
}

impl OAuth {
    pub(super) fn new(rule: &OAuthRule) -> OAuth {
        let algorithms = match &rule.algorithms {
            Some(names) => names.iter().filter_map(|name| Algorithm::from_str(name).ok()).collect(),
            None => vec![Algorithm::RS256, Algorithm::ES256],
        };
        OAuth { rule: rule.clone(), algorithms }
    }

    pub(super) fn rule(&self) -> &OAuthRule {
        &self.rule
    }

    /// Who bears the token, and what it opens.
    pub(super) fn check(&self, token: &str, sets: &KeySets) -> Result<CallerKey, Denied> {
        use_ring();
        let unreadable = Denied::Invalid("The token cannot be read.");
        if token.len() > MAX_TOKEN {
            return Err(unreadable);
        }
        let header = decode_header(token).map_err(|_| unreadable)?;
        if !self.algorithms.contains(&header.alg) {
            return Err(Denied::Invalid("The token is signed with an algorithm that is not taken here."));
        }
        let Some(set) = sets.of(&self.rule.jwks_uri) else { return Err(Denied::NotReady) };
        let Some(key) = set.find(header.kid.as_deref(), header.alg) else {
            // The issuer may have a new key. Who makes names up gains nothing: the job asks it once in a while.
            sets.want(&self.rule.jwks_uri);
            return Err(Denied::Invalid("The token is signed with a key that its issuer does not publish."));
        };
        let mut rules = Validation::new(header.alg);
        rules.leeway = LEEWAY;
        rules.validate_nbf = true;
        rules.set_issuer(&[&self.rule.issuer]);
        rules.set_audience(&[&self.rule.audience]);
        rules.set_required_spec_claims(&["exp", "iss", "aud"]);
        let claims = decode::<Claims>(token, key, &rules).map_err(|error| refusal(&error))?.claims;
        let name = claims.client_id.or(claims.azp).or(claims.sub).filter(|name| !name.is_empty());
        let Some(name) = name else { return Err(Denied::Invalid("The token does not say whose it is.")) };
        let mut scopes = Vec::new();
        for claim in [claims.scope, claims.scp, claims.roles].iter().flatten() {
            add_scopes(claim, &mut scopes);
        }
        Ok(CallerKey { kind: Credential::Oauth, scopes: Some(scopes), ..CallerKey::named(name) })
    }
}

/// Scopes as issuers write them: a list, or one text with blanks between them.
fn add_scopes(claim: &Value, scopes: &mut Vec<SkillId>) {
    match claim {
        Value::String(text) => {
            scopes.extend(text.split(' ').filter_map(|scope| scope.parse::<SkillId>().ok()))
        }
        Value::Array(list) => {
            scopes.extend(list.iter().filter_map(|scope| scope.as_str()?.parse::<SkillId>().ok()));
        }
        _ => {}
    }
}

fn refusal(error: &Error) -> Denied {
    Denied::Invalid(match error.kind() {
        ErrorKind::ExpiredSignature => "The token has expired.",
        ErrorKind::ImmatureSignature => "The token is not valid yet.",
        ErrorKind::InvalidIssuer => "The token is of another issuer.",
        ErrorKind::InvalidAudience => "The token is for another audience.",
        ErrorKind::MissingRequiredClaim(_) => "The token lacks one of exp, iss and aud.",
        ErrorKind::InvalidSignature => "The token's signature is wrong.",
        _ => "The token cannot be read.",
    })
}

/// A public key of an issuer with the signatures that may be checked with it.
pub(super) fn usable(family: jsonwebtoken::AlgorithmFamily, algorithm: Algorithm) -> bool {
    algorithm.family() == family && way(algorithm).is_some()
}

/// Signatures are checked by the library that TLS has anyway; the token library brings none.
fn use_ring() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
        verifier_factory: |algorithm, key| {
            let way = way(*algorithm).ok_or(ErrorKind::UnsupportedAlgorithm)?;
            if key.family() != algorithm.family() {
                return Err(ErrorKind::InvalidAlgorithm.into());
            }
            Ok(Box::new(Ring { algorithm: *algorithm, way, key: key.clone() }))
        },
        key_utils: KeyUtils::new_unimplemented(),
    };
    static INSTALLED: Once = Once::new();
    // Somebody else's provider, in a test, does as well.
    INSTALLED.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

/// How ring checks a signature.
#[derive(Clone, Copy)]
enum Way {
    Rsa(&'static signature::RsaParameters),
    Plain(&'static dyn signature::VerificationAlgorithm),
}

fn way(algorithm: Algorithm) -> Option<Way> {
    Some(match algorithm {
        Algorithm::RS256 => Way::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Way::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Way::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Way::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Way::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Way::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Way::Plain(&signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Way::Plain(&signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Way::Plain(&signature::ED25519),
        _ => return None,
    })
}

struct Ring {
    algorithm: Algorithm,
    way: Way,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], given: &Vec<u8>) -> Result<(), BadSignature> {
        let checked = match (self.way, self.key.kind()) {
            (Way::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, given)
            }
            (Way::Plain(algorithm), DecodingKeyKind::SecretOrDer(bytes)) => {
                UnparsedPublicKey::new(algorithm, bytes).verify(message, given)
            }
            _ => return Err(BadSignature::new()),
        };
        checked.map_err(|_| BadSignature::new())
    }
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl KeySet {
    /// The key of that id for an algorithm; a token that names none gets the only one that fits.
    fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<&DecodingKey> {
        let mut fitting = self.keys.iter().filter(|key| {
            usable(key.key.family(), algorithm)
                && key.algorithm.is_none_or(|only| only == algorithm)
                && kid.is_none_or(|kid| key.id.as_deref() == Some(kid))
        });
        let first = fitting.next()?;
        (kid.is_some() || fitting.next().is_none()).then_some(&first.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An RSA and an Ed25519 key, made for this test; their private halves are gone.
    const KEYS: &str = r#"{"keys": [{"kty": "RSA", "kid": "r", "n": "phOkJXwB0048xEWIN0oLcYsgOdHjW1o9FE_O7ujsYSNnr5bSRH40yxAXMdvzHdkrGV9ws00QlcoRUTsOO8XhybXMgZ8WyZgoAY3222DU70xL1YYh8Se9Cap71oVYbuKJgOZfbfKSE5hnEcG6hyCVYiLq-YFdfFD0PqzQ8kjSQ3kPDG1RkHlHgCN_mXEzlDY7F5WFl9Qna1VwGOdypU4DOLDH_tmMJR6pSbe7Wz84jGtmNxVFQSY-eCqPOUBkCyTgTCvTLNPfK5siIoHZva-wNY0oLQxZOngvdMrg_5s6Sk-5Cv8c4miBlIPR7HR81zhoDlDxiIHy5H5CdJA8_PJgPw", "e": "AQAB"}, {"kty": "OKP", "crv": "Ed25519", "kid": "e", "x": "rhNSeiGRcV8ARHgvqldxyCpH22wDNlKxKw7zR3T7eKQ"}]}"#;

    /// Tokens signed with them, good until the year 2100.
    const TOKENS: [(&str, &str); 3] = [
        (
            "RS256",
            "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUvIiwiYXVkIjoiYSIsInN1YiI6I\
             nMiLCJleHAiOjQxMDI0NDQ4MDAsInNjb3BlIjoiaW52ZW50b3J5LnNlYXJjaCJ9.pZ6ATez_vxPdkyft_l4C0uZ5m6UmaPQC\
             UnqI160bUfTlB8e5Ky-l8DpPv_1daCbDS39WqCDrQLX-_UPUNYupMXAKOhkVs7vgoeFRxYYf0kXjQ3SNZN2hdwr5JHtbUelf\
             4pFBrIFK_cSjghFO85bzztxn1NLcqD3XuLlQNWU2IbONyMfGnjkHdry1PkOqopJXAQMuZau6mp3btoEnGYDOPjkPCstmjaPQ\
             Lh-pvpEF1ktJS19xwNPQCqbyaFANrlRy7lN7vJ0gRCoaPDIf8EVN-mP32z1-eqGGBWKnwJlXrUqImcB16wboGX2RB_SH7dEz\
             5O3TDuJCGAZpTLjkxOLbdw",
        ),
        (
            "PS256",
            "eyJhbGciOiJQUzI1NiIsImtpZCI6InIifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUvIiwiYXVkIjoiYSIsInN1YiI6I\
             nMiLCJleHAiOjQxMDI0NDQ4MDAsInNjb3BlIjoiaW52ZW50b3J5LnNlYXJjaCJ9.eErsaE6rGEiH69VmCC4RBIg636VkBRES\
             2FRSJfcf-SyE3700q7wuwAM-pUaB_oGvDSaOy9kc_2vLZbofE318umYf8KrdrJAVrleqG8NZfazyhyopWLlqjFvVmXrrq8fh\
             UUznrwkUHs_YIfibk0AUuK1R7rZC6Mzv2xISL6ztScppngZzxtkVVE-Jcq2up7AEN74KGqEr99cGqT7sVxowbeJuRCrSEiP5\
             _DThs32buuSVGiQaPJTmmYj4vCVRmb-J3r0uE1fieSzYH6rEH4aZSMjy_EzvtVUE6osyzb62VreBZxXaWjFINieHTpNC7Y5E\
             nHHstk_pJ4PDOvoF4Zb6Qg",
        ),
        (
            "EdDSA",
            "eyJhbGciOiJFZERTQSIsImtpZCI6ImUifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUvIiwiYXVkIjoiYSIsInN1YiI6I\
             nMiLCJleHAiOjQxMDI0NDQ4MDAsInNjb3BlIjoiaW52ZW50b3J5LnNlYXJjaCJ9.ad9IXK9XR5tuOuYF_TW56Xcu-HuHpJpN\
             xUqPlKv4jp4zk-hQImBtkyPddZmS3tRvpS3WIMq6uHB5l-Pwi6y5DQ",
        ),
    ];

    fn oauth(algorithms: &[&str]) -> OAuth {
        OAuth::new(&OAuthRule {
            issuer: "https://id.example/".into(),
            audience: "a".into(),
            jwks_uri: "https://id.example/keys".into(),
            token_url: "https://id.example/token".into(),
            algorithms: (!algorithms.is_empty())
                .then(|| algorithms.iter().map(|&name| name.into()).collect()),
        })
    }

    fn known() -> KeySets {
        let sets = KeySets::default();
        sets.learn("https://id.example/keys", &serde_json::from_str(KEYS).unwrap());
        sets
    }

    #[test]
    fn signatures_of_every_kind_are_checked() {
        let sets = known();
        for (name, token) in TOKENS {
            let key = oauth(&[name]).check(token, &sets).unwrap_or_else(|denied| panic!("{name}: {denied}"));
            assert_eq!(key.name, "s");
            assert!(key.opens(SkillId::InventorySearch) && !key.opens(SkillId::LeadSubmit));
            let mut forged = token.to_owned();
            // In the middle of the signature, where every bit counts.
            let place = token.rfind('.').unwrap() + 20;
            let other = if token.as_bytes()[place] == b'A' { "B" } else { "A" };
            forged.replace_range(place..=place, other);
            let wrong = Denied::Invalid("The token's signature is wrong.");
            assert_eq!(oauth(&[name]).check(&forged, &sets).unwrap_err(), wrong, "{name}");
            // Only what the dealer takes, whatever the key could be used for.
            let others: Vec<&str> =
                TOKENS.iter().map(|(other, _)| *other).filter(|other| *other != name).collect();
            assert!(matches!(oauth(&others).check(token, &sets), Err(Denied::Invalid(_))), "{name}");
        }
        assert!(oauth(&[]).check(TOKENS[0].1, &sets).is_ok(), "RS256 needs not be named");
        assert!(oauth(&[]).check(TOKENS[2].1, &sets).is_err());
    }

    #[test]
    fn nothing_is_decided_before_the_keys_are_known() {
        let sets = KeySets::default();
        assert_eq!(oauth(&[]).check(TOKENS[0].1, &sets).unwrap_err(), Denied::NotReady);
    }
}
