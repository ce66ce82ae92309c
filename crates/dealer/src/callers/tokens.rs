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
