//! Public keys of issuers: fetched by a job, stored for every process, held in memory for requests.
//!
//! Fetching is the server's business ([`Dealer::key_sets_due`] says what, [`Dealer::key_set_fetched`] takes it).

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use tokio::sync::Notify;

use crate::Dealer;

/// Keys older than this are fetched anew.
const MAX_AGE: Duration = Duration::from_secs(600);
/// So long nobody asks an issuer again, whatever strangers send.
const PAUSE: Duration = Duration::from_secs(5);
/// How often the job looks by itself: at what other processes fetched, and at what has become old.
const LOOK: Duration = Duration::from_secs(10);
/// The same while a key is waited for.
const LOOK_SOON: Duration = Duration::from_secs(1);
/// More keys than any issuer has in use.
const MAX_KEYS: usize = 100;

/// The public keys of an issuer.
#[derive(Debug)]
pub(super) struct KeySet {
    pub(super) keys: Vec<PublicKey>,
}

#[derive(Debug)]
pub(super) struct PublicKey {
    pub(super) id: Option<String>,
    /// The only algorithm that it is for, where it says so.
    pub(super) algorithm: Option<Algorithm>,
    pub(super) key: DecodingKey,
}

/// What was fetched is no key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeySetError {
    /// Not of the form `{"keys": […]}`.
    #[error("it is no JSON Web Key Set")]
    Form,
    /// It has nothing that a signature can be checked with.
    #[error("it holds no key that can be used here")]
    Empty,
}

impl KeySet {
    /// Reads a key set. Keys of kinds that are not known here, and those for encryption, are passed over.
    pub(super) fn read(document: &Value) -> Result<KeySet, KeySetError> {
        let listed = document.get("keys").and_then(Value::as_array).ok_or(KeySetError::Form)?;
        let keys: Vec<PublicKey> = listed.iter().take(MAX_KEYS).filter_map(read_key).collect();
        if keys.is_empty() { Err(KeySetError::Empty) } else { Ok(KeySet { keys }) }
    }
}

fn read_key(value: &Value) -> Option<PublicKey> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    if jwk.common.public_key_use.as_ref().is_some_and(|used| *used != PublicKeyUse::Signature) {
        return None;
    }
    let by_curve = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => None,
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => Some(Algorithm::ES256),
            EllipticCurve::P384 => Some(Algorithm::ES384),
            _ => return None,
        },
        AlgorithmParameters::OctetKeyPair(key) => match key.curve {
            EllipticCurve::Ed25519 => Some(Algorithm::EdDSA),
            _ => return None,
        },
        // A shared secret in a public document is none.
        _ => return None,
    };
    let named = match &jwk.common.key_algorithm {
        Some(name) => Some(Algorithm::from_str(&name.to_string()).ok()?),
        None => None,
    };
    if by_curve.is_some() && named.is_some() && by_curve != named {
        return None;
    }
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some(PublicKey { id: jwk.common.key_id, algorithm: named.or(by_curve), key })
}

/// Every issuer that some dealer of this process trusts.
#[derive(Debug, Default)]
pub(crate) struct KeySets {
    held: RwLock<HashMap<String, Held>>,
    wanted: Mutex<HashSet<String>>,
    stir: Notify,
}

#[derive(Debug, Default, Clone)]
struct Held {
    set: Option<Arc<KeySet>>,
    fetched_at: Option<DateTime<Utc>>,
}

impl KeySets {
    /// From now on the keys at this address are kept.
    pub(crate) fn follow(&self, url: &str) {
        let known = self.held.read().unwrap_or_else(PoisonError::into_inner).contains_key(url);
        if !known {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            held.entry(url.to_owned()).or_default();
            drop(held);
            self.want(url);
        }
    }

    /// The keys, once they are known.
    pub(super) fn of(&self, url: &str) -> Option<Arc<KeySet>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let set = held.get(url).and_then(|held| held.set.clone());
        drop(held);
        if set.is_none() {
            self.want(url);
        }
        set
    }

    /// Has the keys fetched as soon as that may be.
    pub(super) fn want(&self, url: &str) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.insert(url.to_owned()) {
            self.stir.notify_one();
        }
    }

    fn take_over(&self, url: &str, set: KeySet, fetched_at: DateTime<Utc>) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.insert(url.to_owned(), Held { set: Some(Arc::new(set)), fetched_at: Some(fetched_at) });
    }

    /// Takes a key set over in a test.
    #[cfg(test)]
    pub(super) fn learn(&self, url: &str, document: &Value) {
        self.take_over(url, KeySet::read(document).unwrap(), Utc::now());
    }

    fn urls(&self) -> Vec<String> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    fn fetched_at(&self, url: &str) -> Option<DateTime<Utc>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).get(url).and_then(|held| held.fetched_at)
    }

    fn wanted(&self) -> Vec<String> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn done(&self, url: &str) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).remove(url);
    }
}

impl Dealer {
    /// Waits until there may be keys to fetch: somebody waits for one, or time has passed. Keeps nothing alive.
    pub fn key_sets_stirred(&self) -> impl Future<Output = ()> + use<> {
        let sets = Arc::clone(&self.inner.key_sets);
        async move {
            let limit = if sets.wanted().is_empty() { LOOK } else { LOOK_SOON };
            let _ = tokio::time::timeout(limit, sets.stir.notified()).await;
        }
    }

    /// Takes over what other processes fetched, and answers the addresses that this process is to fetch now.
    ///
    /// # Errors
    /// The database refused.
    pub async fn key_sets_due(&self) -> Result<Vec<String>, store::Error> {
        let sets = &self.inner.key_sets;
        let (urls, wanted) = (sets.urls(), sets.wanted());
        if urls.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = self.inner.store.platform().await?;
        for row in tx.key_sets(&urls).await? {
            let newer = row.fetched_at > sets.fetched_at(&row.url);
            if let (true, Some(document), Some(at)) = (newer, &row.document, row.fetched_at)
                && let Ok(set) = KeySet::read(document)
            {
                sets.take_over(&row.url, set, at);
                sets.done(&row.url);
            }
        }
        let due = tx.claim_key_sets(&urls, &wanted, MAX_AGE.as_secs_f64(), PAUSE.as_secs_f64()).await?;
        tx.commit().await?;
        Ok(due)
    }

    /// Takes what fetching brought: the key set, or why there is none; then the former one stays in use.
    ///
    /// # Errors
    /// The database refused.
    pub async fn key_set_fetched(
        &self,
        url: &str,
        fetched: Result<Value, String>,
    ) -> Result<(), store::Error> {
        let sets = &self.inner.key_sets;
        let read = fetched.and_then(|document| match KeySet::read(&document) {
            Ok(set) => Ok((document, set)),
            Err(error) => Err(error.to_string()),
        });
        let mut tx = self.inner.store.platform().await?;
        match read {
            Ok((document, set)) => {
                tx.save_key_set(url, Ok(&document)).await?;
                tx.commit().await?;
                sets.take_over(url, set, Utc::now());
                sets.done(url);
            }
            Err(reason) => {
                tracing::warn!(
                    url,
                    reason,
                    "the keys of an issuer cannot be fetched; those known stay in use"
                );
                tx.save_key_set(url, Err(&reason)).await?;
                tx.commit().await?;
                // Whoever wanted another key has had its answer. An issuer that is away is not asked on and on
                // because of one made-up name; where no keys are known it is.
                if sets.fetched_at(url).is_some() {
                    sets.done(url);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const X: &str = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";

    #[test]
    fn keys_that_cannot_be_meant_are_passed_over() {
        let good = json!({"kty": "EC", "crv": "P-256", "kid": "a", "x": X, "y": X});
        let listed = json!({"keys": [
            good,
            {"kty": "EC", "crv": "P-256", "kid": "b", "x": X, "y": X, "use": "enc"},
            {"kty": "EC", "crv": "P-256", "kid": "c", "x": X, "y": X, "alg": "ES384"},
            {"kty": "oct", "kid": "d", "k": X, "alg": "HS256"},
            {"kty": "EC", "crv": "secp256k1", "kid": "e", "x": X, "y": X},
            {"kty": "new", "kid": "f"},
            5,
        ]});
        let set = KeySet::read(&listed).unwrap();
        let ids: Vec<_> = set.keys.iter().map(|key| key.id.as_deref().unwrap()).collect();
        assert_eq!(ids, ["a"]);
        assert_eq!(set.keys[0].algorithm, Some(Algorithm::ES256));
        assert_eq!(KeySet::read(&json!({"keys": []})).unwrap_err(), KeySetError::Empty);
        assert_eq!(KeySet::read(&json!([good])).unwrap_err(), KeySetError::Form);
    }
}
