//! Bearer keys: made once, shown once, stored as a hash, read with their dealer.
//!
//! A key is `fck_`, twelve hexadecimal digits by which it is found, `_`, and sixty-four that are secret. Being
//! random they cannot be guessed from their hash, so no slow hash is needed.

use std::sync::atomic::AtomicI64;

use contract::SkillId;
use serde_json::json;
use sha2::{Digest, Sha256};
use store::{CallerKeyRow, CallerKeyWrite, Store, TenantId};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::{CallerKey, Credential};
use crate::policy::RateLimit;

/// What every key begins with, so that scanners for leaked secrets can find it.
pub const KEY_PREFIX: &str = "fck_";
/// Digits by which a key is found.
const SHOWN: usize = 12;
/// Secret digits.
const SECRET: usize = 64;

/// What is stored of a key.
#[derive(Debug)]
pub(super) struct Stored {
    hash: [u8; 32],
    pub(super) id: Uuid,
    /// Unix time of the last use that was noted.
    pub(super) noted: AtomicI64,
}

/// A key to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// What the dealer calls its caller; unique among the keys that are not revoked.
    pub name: String,
    /// Skills that it opens; empty means all.
    pub scopes: Vec<SkillId>,
    /// Its own limit, in place of the policy's `caller_rate_limit`.
    pub rate_limit: Option<RateLimit>,
}

/// A key that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedKey {
    /// The key. Nothing can show it a second time.
    pub text: String,
    /// The part of it that may be shown.
    pub prefix: String,
    /// Whether the dealer takes keys at all; at a public one the key only tells who asks.
    pub is_needed: bool,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no dealer of that slug.
    #[error("there is no dealer {0:?}")]
    NoDealer(String),
    /// The name cannot be used.
    #[error(
        "a name must be 1 to 100 characters, none of them a control character, with no blank at its ends"
    )]
    Name,
    /// A limit of nothing.
    #[error("a limit must be at least 1 call in at least 1 second")]
    Limit,
    /// The name is taken.
    #[error("the dealer has a key named {0:?} already; revoke it first, or take another name")]
    Taken(String),
    /// There is no such key.
    #[error("the dealer has no key {0:?} that is not revoked")]
    NoKey(String),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Whether a text has the form of a key, right or wrong.
pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(KEY_PREFIX)
}

/// The part of a key by which it is found; `None` for what has not the form of a key.
pub(super) fn prefix_of(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(KEY_PREFIX)?;
    let (shown, secret) = digits.split_once('_')?;
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (shown.len() == SHOWN && secret.len() == SECRET && hex(shown) && hex(secret)).then_some(shown)
}

/// Whether a text is this key, told in the same time wherever they differ.
pub(super) fn matches(key: &CallerKey, text: &str) -> bool {
    let shown: [u8; 32] = Sha256::digest(text).into();
    key.stored.as_ref().is_some_and(|stored| bool::from(stored.hash.ct_eq(&shown)))
}

/// A key as requests are held against it. Scopes and limits that this build cannot read open nothing and allow
/// what the dealer allows.
pub(super) fn from_row(row: &CallerKeyRow) -> CallerKey {
    let scopes = row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect();
    CallerKey {
        name: row.name.clone(),
        kind: Credential::Keys,
        scopes: (!row.scopes.is_empty()).then_some(scopes),
        rate_limit: row.rate_limit.clone().and_then(|limit| serde_json::from_value(limit).ok()),
        stored: Some(Stored {
            hash: row.secret_hash,
            id: row.key_id,
            noted: AtomicI64::new(row.last_used_at.map_or(0, |at| at.timestamp())),
        }),
    }
}

/// Makes a key of a dealer. Every process takes it within a second.
///
/// # Errors
/// The dealer or the name cannot be used, or the database refused.
pub async fn add_key(store: &Store, slug: &str, new: NewKey, actor: &str) -> Result<IssuedKey, KeyError> {
    let NewKey { name, scopes, rate_limit } = new;
    if name.trim() != name || !(1..=100).contains(&name.chars().count()) || name.chars().any(char::is_control)
    {
        return Err(KeyError::Name);
    }
    if rate_limit.is_some_and(|limit| limit.requests == 0 || limit.per_seconds == 0) {
        return Err(KeyError::Limit);
    }
    let id = dealer_of(store, slug).await?;
    let mut tx = store.tenant(id).await?;
    let Some(row) = tx.lock().await? else { return Err(KeyError::NoDealer(slug.to_owned())) };
    let accept = super::CallersRule::read(&row.callers).unwrap_or_default().accept;
    let (prefix, text) = random_key();
    let write = CallerKeyWrite {
        name,
        prefix: prefix.clone(),
        secret_hash: Sha256::digest(&text).into(),
        scopes: scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        rate_limit: rate_limit
            .map(|limit| json!({"requests": limit.requests, "per_seconds": limit.per_seconds})),
        created_by: actor.to_owned(),
    };
    if !tx.add_caller_key(&write).await? {
        return Err(KeyError::Taken(write.name));
    }
    tx.bump_revision().await?;
    tx.commit().await?;
    Ok(IssuedKey { text, prefix, is_needed: accept.contains(&Credential::Keys) })
}

/// All keys of a dealer, revoked ones too, in the order in which they were made.
///
/// # Errors
/// There is no such dealer, or the database refused.
pub async fn list_keys(store: &Store, slug: &str) -> Result<Vec<CallerKeyRow>, KeyError> {
    let id = dealer_of(store, slug).await?;
    let mut tx = store.tenant_snapshot(id).await?;
    Ok(tx.caller_keys().await?)
}

/// Revokes a key, by its name or by the part of it that may be shown. No process takes it any more within a second.
///
/// # Errors
/// There is no such dealer or key, or the database refused.
pub async fn revoke_key(store: &Store, slug: &str, name_or_prefix: &str) -> Result<(), KeyError> {
    let id = dealer_of(store, slug).await?;
    let mut tx = store.tenant(id).await?;
    // Who pasted what was printed means the digits in it.
    let prefix = name_or_prefix.strip_prefix(KEY_PREFIX).map(|rest| rest.split('_').next().unwrap_or(rest));
    let wanted = prefix.filter(|prefix| prefix.len() == SHOWN).unwrap_or(name_or_prefix);
    if tx.lock().await?.is_none() || !tx.revoke_caller_key(wanted).await? {
        return Err(KeyError::NoKey(name_or_prefix.chars().take(100).collect()));
    }
    tx.bump_revision().await?;
    tx.commit().await?;
    Ok(())
}

async fn dealer_of(store: &Store, slug: &str) -> Result<TenantId, KeyError> {
    let mut platform = store.platform().await?;
    platform.tenant_by_slug(slug).await?.ok_or_else(|| KeyError::NoDealer(slug.to_owned()))
}

/// The part that may be shown, and the whole.
fn random_key() -> (String, String) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let shown = hex(&rand::random::<[u8; SHOWN / 2]>());
    let text = format!("{KEY_PREFIX}{shown}_{}", hex(&rand::random::<[u8; SECRET / 2]>()));
    (shown, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_shown_digits_and_matches_itself_alone() {
        let (prefix, text) = random_key();
        assert_eq!(prefix_of(&text), Some(prefix.as_str()));
        assert!(is_ours(&text));
        let stored =
            Stored { hash: Sha256::digest(&text).into(), id: Uuid::nil(), noted: AtomicI64::default() };
        let key = CallerKey { stored: Some(stored), ..CallerKey::named("x") };
        assert!(matches(&key, &text));
        let mut other = text.clone();
        other.replace_range(text.len() - 1.., if text.ends_with('0') { "1" } else { "0" });
        assert!(!matches(&key, &other));
        assert!(!matches(&CallerKey::named("x"), &text));
        for wrong in
            ["", "fck_", &text[1..], &text[..text.len() - 1], &text.to_uppercase(), &format!("{text}0")]
        {
            assert_eq!(prefix_of(wrong), None, "{wrong}");
        }
    }
}
