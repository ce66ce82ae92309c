//! What dealers entrust us with, such as the password of a feed's address: sealed before it goes to the database.
//!
//! One master key seals everything ([`MasterKey`]: of the environment, or a file that only its owner may read). What is
//! sealed names the key it was sealed with, and opens only at the place it was sealed for: bytes that are copied to
//! another dealer's row open nothing there.

mod master_key;
mod rekey;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use store::TenantId;
use uuid::Uuid;

pub use master_key::{KEY_FILE, MasterKey, MasterKeyError};
pub use rekey::{RekeyError, Rekeyed, rekey};

/// First byte of everything that is sealed: how the rest is to be read.
const FORM: u8 = 1;
/// Bytes of a key's name.
const NAME_LEN: usize = 8;
/// Of what keys are derived from a master key, besides it.
const SALT: &[u8] = b"forecourt vault 1";

/// Where something sealed belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which of the dealer's sources it is for.
    pub source: Uuid,
    /// What it is for: `fetch`.
    pub purpose: &'static str,
}

impl Place {
    /// The credentials by which a source's file is fetched.
    pub fn of_fetching(tenant: TenantId, source: Uuid) -> Place {
        Place { tenant, source, purpose: "fetch" }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.tenant.0.as_bytes().to_vec();
        bytes.extend_from_slice(self.source.as_bytes());
        bytes.extend_from_slice(self.purpose.as_bytes());
        bytes
    }
}

/// Seals and opens. Holds the keys derived from the master keys, not those themselves.
#[derive(Clone)]
pub struct Vault {
    current: std::sync::Arc<Key>,
    former: std::sync::Arc<[Key]>,
}

struct Key {
    name: [u8; NAME_LEN],
    key: LessSafeKey,
}

/// Why something sealed does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// None of our keys has that name.
    #[error(
        "it was sealed with another master key (named {0}); give that one as FORECOURT_MASTER_KEY_OLD, or enter the \
         credentials again"
    )]
    OtherKey(String),
    /// It was changed, belongs to another place, or was never sealed.
    #[error("what is stored was not sealed here, or was changed since; enter the credentials again")]
    Broken,
    /// The system gives no random numbers, or no memory.
    #[error("the system gives no random numbers")]
    NoRandomness,
}

impl Vault {
    /// A vault that seals with one key and still opens what former ones sealed.
    pub fn new(current: &MasterKey, former: &[MasterKey]) -> Vault {
        Vault { current: std::sync::Arc::new(Key::of(current)), former: former.iter().map(Key::of).collect() }
    }

    /// Seals something for a place.
    ///
    /// # Errors
    /// [`VaultError::NoRandomness`].
    pub fn seal(&self, place: Place, plain: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| VaultError::NoRandomness)?;
        let mut body = plain.to_vec();
        let sealed = self.current.key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(place.bytes()),
            &mut body,
        );
        sealed.map_err(|_| VaultError::NoRandomness)?;
        Ok([&[FORM], &self.current.name[..], &nonce, &body].concat())
    }

    /// Opens what was sealed for a place.
    ///
    /// # Errors
    /// It was sealed with a key that is not ours, for another place, or not at all.
    pub fn open(&self, place: Place, sealed: &[u8]) -> Result<Secret, VaultError> {
        let (name, rest) = name_of(sealed).ok_or(VaultError::Broken)?;
        let key = std::iter::once(&*self.current).chain(&*self.former).find(|key| key.name == name);
        let key = key.ok_or_else(|| VaultError::OtherKey(in_hex(&name)))?;
        let (nonce, body) = rest.split_first_chunk::<NONCE_LEN>().ok_or(VaultError::Broken)?;
        let mut body = body.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let plain = key.key.open_in_place(nonce, Aad::from(place.bytes()), &mut body);
        let length = plain.map_err(|_| VaultError::Broken)?.len();
        body.truncate(length);
        Ok(Secret(body))
    }

    /// Whether it is sealed with the current key, so that the former ones are not needed for it.
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        name_of(sealed).is_some_and(|(name, _)| name == self.current.name)
    }

    /// What the current key is called in everything that it sealed. Tells nothing of the key.
    pub fn key_name(&self) -> String {
        in_hex(&self.current.name)
    }

    /// Seals credentials for fetching from a source.
    ///
    /// # Errors
    /// As of [`Vault::seal`].
    pub fn seal_credentials(&self, place: Place, credentials: &Credentials) -> Result<Vec<u8>, VaultError> {
        let plain = Secret(serde_json::to_vec(credentials).map_err(|_| VaultError::Broken)?);
        self.seal(place, plain.reveal())
    }

    /// Opens the credentials for fetching from a source.
    ///
    /// # Errors
    /// As of [`Vault::open`].
    pub fn open_credentials(&self, place: Place, sealed: &[u8]) -> Result<Credentials, VaultError> {
        let plain = self.open(place, sealed)?;
        serde_json::from_slice(plain.reveal()).map_err(|_| VaultError::Broken)
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vault({} and {} former)", self.key_name(), self.former.len())
    }
}

impl Key {
    fn of(master: &MasterKey) -> Key {
        let root = Salt::new(HKDF_SHA256, SALT).extract(master.reveal());
        let mut name = [0; NAME_LEN];
        // Neither fails: the one length is the cipher's own, the other far below what the derivation can give.
        let named = root.expand(&[b"name"], Length(NAME_LEN)).and_then(|named| named.fill(&mut name));
        let key = root.expand(&[b"aes-256-gcm"], &AES_256_GCM).map(UnboundKey::from);
        match (named, key) {
            (Ok(()), Ok(key)) => Key { name, key: LessSafeKey::new(key) },
            _ => unreachable!("keys of fixed lengths can be derived"),
        }
    }
}

/// How many bytes are to be derived.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn name_of(sealed: &[u8]) -> Option<([u8; NAME_LEN], &[u8])> {
    let (form, rest) = sealed.split_first()?;
    let (name, rest) = rest.split_first_chunk::<NAME_LEN>()?;
    (*form == FORM).then_some((*name, rest))
}

fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Something that must not be shown: overwritten when it is no longer needed, dots in every log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The bytes: for using, never for showing.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Who never reads it again might never see it written, thinks the compiler.
        std::hint::black_box(&self.0);
    }
}

/// How we say who we are when we fetch a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Credentials {
    /// Name and password (RFC 7617).
    Basic {
        /// Without a colon.
        user: String,
        /// Any text.
        password: String,
    },
    /// A token (RFC 6750).
    Bearer {
        /// As it was given out.
        token: String,
    },
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Credentials::Basic { .. } => "Credentials::Basic(…)",
            Credentials::Bearer { .. } => "Credentials::Bearer(…)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place::of_fetching(TenantId::new(), Uuid::now_v7())
    }

    fn basic() -> Credentials {
        Credentials::Basic { user: "harbor".into(), password: "tide at 5".into() }
    }

    #[test]
    fn what_is_sealed_opens_at_its_own_place_alone() {
        let vault = Vault::new(&MasterKey::random().unwrap(), &[]);
        let place = place();
        let sealed = vault.seal_credentials(place, &basic()).unwrap();
        assert_eq!(vault.open_credentials(place, &sealed).unwrap(), basic());
        assert!(!sealed.windows(4).any(|part| part == b"tide"), "the password can be read");
        for other in [
            Place { tenant: TenantId::new(), ..place },
            Place { source: Uuid::now_v7(), ..place },
            Place { purpose: "push", ..place },
        ] {
            assert_eq!(vault.open(other, &sealed), Err(VaultError::Broken));
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(vault.open(place, &changed).is_err(), "byte {at} may be changed");
            assert!(vault.open(place, &sealed[..at]).is_err(), "{at} bytes are enough");
        }
        let again = vault.seal_credentials(place, &basic()).unwrap();
        assert_ne!(sealed, again, "equal secrets must not look equal");
    }

    #[test]
    fn a_former_key_opens_and_the_current_one_seals() {
        let (old, new) = (MasterKey::random().unwrap(), MasterKey::random().unwrap());
        let place = place();
        let sealed = Vault::new(&old, &[]).seal(place, b"x").unwrap();
        let alone = Vault::new(&new, &[]);
        assert!(matches!(alone.open(place, &sealed), Err(VaultError::OtherKey(_))));
        let both = Vault::new(&new, std::slice::from_ref(&old));
        assert!(!both.is_current(&sealed));
        let moved = both.seal(place, both.open(place, &sealed).unwrap().reveal()).unwrap();
        assert!(both.is_current(&moved));
        assert_eq!(alone.open(place, &moved).unwrap().reveal(), b"x");
    }

    #[test]
    fn nothing_secret_is_shown() {
        let key = MasterKey::random().unwrap();
        let vault = Vault::new(&key, &[]);
        let secret = vault.open(place(), &[]).unwrap_err();
        let shown = format!("{key:?} {vault:?} {:?} {secret:?} {:?}", basic(), Secret(b"tide".to_vec()));
        assert!(!shown.contains("tide") && !shown.contains("harbor"), "{shown}");
        let hex = key.reveal().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert!(!shown.contains(&hex), "{shown}");
    }
}
