//! Putting everything that is stored under the current key, so that the former one may be forgotten.

use store::Store;

use super::{Place, Vault, VaultError};

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rekeyed {
    /// Credentials that are under the current key now and were not before.
    pub moved: u32,
    /// Credentials that were under it already.
    pub current: u32,
    /// Credentials that were changed by somebody else meanwhile, and so are under whatever key that one has.
    pub changed: u32,
    /// Credentials that none of our keys opens: they stay as they are and have to be entered again.
    pub closed: u32,
}

/// Why not everything was looked at. What was done already stays done; doing it again does the rest.
#[derive(Debug, thiserror::Error)]
pub enum RekeyError {
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// It cannot be sealed anew.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Puts all stored credentials under the current key. Running platforms go on meanwhile, if they know both keys.
///
/// # Errors
/// The database refuses, or the system gives no random numbers.
pub async fn rekey(store: &Store, vault: &Vault) -> Result<Rekeyed, RekeyError> {
    let mut tx = store.platform().await?;
    let all = tx.sealed_credentials().await?;
    tx.commit().await?;
    let mut done = Rekeyed::default();
    for (tenant, source, sealed) in all {
        if vault.is_current(&sealed) {
            done.current += 1;
            continue;
        }
        let place = Place::of_fetching(tenant, source);
        let plain = match vault.open(place, &sealed) {
            Ok(plain) => plain,
            Err(error) => {
                tracing::warn!(%tenant, %source, %error, "credentials that no key opens");
                done.closed += 1;
                continue;
            }
        };
        let anew = vault.seal(place, plain.reveal())?;
        let mut tx = store.tenant(tenant).await?;
        let ours = tx.reseal_credentials(source, &sealed, &anew).await?;
        tx.commit().await?;
        if ours {
            done.moved += 1;
        } else {
            done.changed += 1;
        }
    }
    Ok(done)
}
