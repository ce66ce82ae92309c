//! Public keys of issuers: fetched by a job, stored for every process, held in memory for requests.
//!
//! Fetching is the server's business ([`Dealer::key_sets_due`] says what, [`Dealer::key_set_fetched`] takes it).

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use store::{TenantId, TenantState};
use tokio::sync::Notify;

use crate::Dealer;

/// Keys older than this are fetched anew.
const MAX_AGE: Duration = Duration::from_secs(600);
/// So long nobody asks an issuer again, whatever strangers send.
const PAUSE: Duration = Duration::from_secs(5);
/// An issuer that fails is asked again after [`PAUSE`], then after twice as long and so on, up to this.
const LONGEST_REST: Duration = Duration::from_secs(240);
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
    /// Which keys each dealer that was read here wants.
    users: Mutex<HashMap<TenantId, String>>,
    wanted: Mutex<HashSet<String>>,
    stir: Notify,
}

#[derive(Debug, Default, Clone)]
struct Held {
    set: Option<Arc<KeySet>>,
    fetched_at: Option<DateTime<Utc>>,
    trouble: Option<Trouble>,
}

/// An issuer does not give its keys.
#[derive(Debug, Clone)]
struct Trouble {
    /// What was wrong last time.
    reason: String,
    /// How long it is left alone, and until when.
    rest: Duration,
    until: Instant,
}

impl KeySets {
    /// From now on the keys at this address are kept for the dealer, and no others.
    pub(crate) fn follow(&self, user: TenantId, url: Option<&str>) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let _former = match url {
            Some(url) => users.insert(user, url.to_owned()),
            None => users.remove(&user),
        };
        drop(users);
        let Some(url) = url else { return };
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
        let former = held.insert(
            url.to_owned(),
            Held { set: Some(Arc::new(set)), fetched_at: Some(fetched_at), trouble: None },
        );
        drop(held);
        if former.is_some_and(|former| former.trouble.is_some()) {
            tracing::info!(url, "the keys of an issuer can be fetched again");
        }
    }

    /// Notes that an issuer did not give its keys, and for how long it is left alone. Who operates the platform is told
    /// when it begins and when the reason becomes another.
    fn failed(&self, url: &str, reason: &str, now: Instant) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = held.get_mut(url) else { return };
        let rest = entry.trouble.as_ref().map_or(PAUSE, |trouble| (trouble.rest * 2).min(LONGEST_REST));
        let is_news = entry.trouble.as_ref().is_none_or(|trouble| trouble.reason != reason);
        let is_known = entry.set.is_some();
        entry.trouble = Some(Trouble { reason: reason.to_owned(), rest, until: now + rest });
        drop(held);
        match (is_news, is_known) {
            (false, _) => tracing::debug!(url, reason, "the keys of an issuer still cannot be fetched"),
            (true, true) => {
                tracing::warn!(
                    url,
                    reason,
                    "the keys of an issuer cannot be fetched; those known stay in use"
                );
            }
            (true, false) => tracing::warn!(
                url,
                reason,
                "the keys of an issuer cannot be fetched; none are known, so its tokens cannot be taken yet"
            ),
        }
    }

    /// Forgets dealers that are not served, and the keys that none of the others wants.
    fn keep(&self, is_served: impl Fn(TenantId) -> bool) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|user, _| is_served(*user));
        let urls: HashSet<String> = users.values().cloned().collect();
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.retain(|url, _| urls.contains(url));
        drop(held);
        // Until here, or a dealer that is read meanwhile could lose what it just asked for.
        drop(users);
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).retain(|url| urls.contains(url));
    }

    /// Whether an issuer is left alone for now.
    fn rests(&self, url: &str, now: Instant) -> bool {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let trouble = held.get(url).and_then(|held| held.trouble.as_ref());
        trouble.is_some_and(|trouble| now < trouble.until)
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
            let now = Instant::now();
            let is_urgent = sets.wanted().iter().any(|url| !sets.rests(url, now));
            let limit = if is_urgent { LOOK_SOON } else { LOOK };
            let _ = tokio::time::timeout(limit, sets.stir.notified()).await;
        }
    }

    /// Takes over what other processes fetched, and answers the addresses that this process is to fetch now.
    ///
    /// # Errors
    /// The database refused.
    pub async fn key_sets_due(&self) -> Result<Vec<String>, store::Error> {
        let sets = &self.inner.key_sets;
        let active = |id| self.inner.directory.entry(id).is_some_and(|it| it.state == TenantState::Active);
        sets.keep(active);
        let (mut urls, wanted) = (sets.urls(), sets.wanted());
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
        let now = Instant::now();
        urls.retain(|url| !sets.rests(url, now));
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
                sets.failed(url, &reason, Instant::now());
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

    /// A dealer whose issuer is gone is provisioned anew: nobody asks the former one, and who is away is asked seldom.
    #[test]
    fn who_is_away_is_asked_less_and_less_and_whom_nobody_trusts_not_at_all() {
        let sets = KeySets::default();
        let (one, other) = (TenantId::new(), TenantId::new());
        sets.follow(one, Some("https://away.example/"));
        sets.follow(other, Some("https://away.example/"));
        assert_eq!(sets.urls(), ["https://away.example/"]);
        assert_eq!(sets.wanted(), ["https://away.example/"]);

        let mut now = Instant::now();
        let mut waited = Vec::new();
        for _ in 0..8 {
            assert!(!sets.rests("https://away.example/", now));
            sets.failed("https://away.example/", "nobody answers", now);
            let begun = now;
            while sets.rests("https://away.example/", now) {
                now += Duration::from_secs(1);
            }
            waited.push((now - begun).as_secs());
        }
        assert_eq!(waited, [5, 10, 20, 40, 80, 160, 240, 240]);

        // It is back: whatever happens next is the first failure again.
        let set = json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "a", "x": X, "y": X}]});
        sets.learn("https://away.example/", &set);
        sets.failed("https://away.example/", "nobody answers", now);
        assert!(sets.rests("https://away.example/", now + Duration::from_secs(4)));
        assert!(!sets.rests("https://away.example/", now + Duration::from_secs(5)));

        // One dealer goes to another issuer, the other is public, then the first is suspended.
        sets.follow(one, Some("https://id.example/"));
        sets.keep(|_| true);
        assert_eq!(sets.urls().len(), 2);
        sets.follow(other, None);
        sets.keep(|_| true);
        assert_eq!(sets.urls(), ["https://id.example/"]);
        assert_eq!(sets.wanted(), ["https://id.example/"]);
        sets.keep(|id| id != one);
        assert_eq!((sets.urls(), sets.wanted()), (Vec::new(), Vec::new()));
    }

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
