//! What goes with setting up a dealer's source: settings as they are typed, credentials, and the tokens of those that
//! push.

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use store::{SourceKind, SourceRow, Store, TenantId, TenantTx};
use uuid::Uuid;

use super::pointers;
use super::settings::{Role, SourceSettings};
use crate::vault::{Credentials, Place, Vault, VaultError};

/// What every push token begins with, so that scanners for leaked secrets can find it.
pub const TOKEN_PREFIX: &str = "fcp_";
/// Secret digits of a token.
const SECRET: usize = 64;

/// Why a source's secret was not stored. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The dealer has no such source.
    #[error("there is no such source")]
    NoSource,
    /// Only sources that are fetched have credentials.
    #[error("only a source of kind https is fetched with credentials")]
    NotFetched,
    /// Only sources that push have tokens.
    #[error("only a source of kind push has a token")]
    NotPushed,
    /// Somebody else changes it at this moment.
    #[error("somebody changed the source meanwhile; look at it again")]
    Stale,
    /// The credentials cannot be encrypted.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Settings as a person gives them: `given` members merged into those of `before` (RFC 7386: null takes one back).
///
/// # Errors
/// Everything that cannot be read, as JSON Pointers and sentences.
pub fn settings_from(before: Option<&Value>, given: Value) -> Result<SourceSettings, Vec<(String, String)>> {
    let wanted = match before {
        Some(before) => merged(before.clone(), given),
        None => merged(Value::Null, given),
    };
    SourceSettings::deserialize(&wanted).map_err(|_| pointers::unreadable(&wanted))
}

/// Stores by what a source is fetched, encrypted; `None` forgets it.
///
/// # Errors
/// [`SecretError`]; then it is as it was.
pub async fn set_credentials(
    store: &Store,
    tenant: TenantId,
    source: Uuid,
    credentials: Option<(&Credentials, &Vault)>,
    actor: &str,
) -> Result<(), SecretError> {
    let mut tx = store.tenant(tenant).await?;
    let row = there(&mut tx, source).await?;
    if row.kind != SourceKind::Https {
        return Err(SecretError::NotFetched);
    }
    let place = Place::of_fetching(tenant, source);
    let sealed =
        credentials.map(|(credentials, vault)| vault.seal_credentials(place, credentials)).transpose()?;
    tx.set_source_credentials(source, sealed.as_deref()).await?;
    tx.commit().await?;
    tracing::info!(%tenant, %source, actor, stored = sealed.is_some(), "the credentials of a source were changed");
    Ok(())
}

/// Gives a source that pushes another token; the one before opens nothing any more. Nothing can show it a second time.
///
/// # Errors
/// [`SecretError`]; then the token is as it was.
pub async fn renew_token(
    store: &Store,
    tenant: TenantId,
    source: Uuid,
    actor: &str,
) -> Result<String, SecretError> {
    let mut tx = store.tenant(tenant).await?;
    let mut row = there(&mut tx, source).await?;
    if row.kind != SourceKind::Push {
        return Err(SecretError::NotPushed);
    }
    let token = random_token();
    row.push_token_hash = Some(hash_of(&token));
    let revision = row.revision;
    if !tx.save_source(&row, revision).await? {
        return Err(SecretError::Stale);
    }
    tx.commit().await?;
    tracing::info!(%tenant, %source, actor, "a source got another token");
    Ok(token)
}

/// What still keeps a source from doing its work, in sentences; the price first, for nobody notices it by itself.
pub fn missing(source: &SourceRow, settings: &SourceSettings) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let unanswered = settings.prices.asking_price.is_none() && settings.prices.columns.is_empty();
    if unanswered && settings.role == Role::Additive {
        missing.push("nobody has said what its prices mean, so its vehicles are on offer without a price");
    }
    if !source.enabled {
        missing.push("it is switched off, so no file is taken from it");
    }
    if source.kind == SourceKind::Push && source.push_token_hash.is_none() {
        missing.push("it has no token");
    }
    missing
}

/// SHA-256 of a token, as it is stored.
pub(super) fn hash_of(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Whether a text has the form of a token, right or wrong.
pub(super) fn is_token(text: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    text.strip_prefix(TOKEN_PREFIX).is_some_and(|digits| digits.len() == SECRET && hex(digits))
}

fn random_token() -> String {
    let secret = rand::random::<[u8; SECRET / 2]>();
    let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{TOKEN_PREFIX}{digits}")
}

async fn there(tx: &mut TenantTx, source: Uuid) -> Result<SourceRow, SecretError> {
    let row = tx.source(source).await?.filter(|row| row.removed_at.is_none());
    row.ok_or(SecretError::NoSource)
}

/// A JSON Merge Patch (RFC 7386).
fn merged(into: Value, patch: Value) -> Value {
    let Value::Object(patch) = patch else { return patch };
    let mut into = match into {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    for (name, value) in patch {
        if value.is_null() {
            into.remove(&name);
        } else {
            let before = into.remove(&name).unwrap_or(Value::Null);
            into.insert(name, merged(before, value));
        }
    }
    Value::Object(into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_changes_what_it_names_and_null_takes_back() {
        let before =
            json!({"url": "https://a.example/f.csv", "reading": {"mode": "full", "day_first": true}});
        let patch = json!({"url": null, "reading": {"mode": "delta"}, "rank": 5});
        let after = json!({"reading": {"mode": "delta", "day_first": true}, "rank": 5});
        assert_eq!(merged(before, patch), after);
    }

    #[test]
    fn tokens_look_like_tokens() {
        let token = random_token();
        assert!(is_token(&token), "{token}");
        for other in ["", "fcp_", &token[1..], &format!("{token}0"), &token.to_uppercase()] {
            assert!(!is_token(other), "{other}");
        }
    }
}
