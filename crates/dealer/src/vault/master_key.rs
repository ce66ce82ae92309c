//! The key that all stored credentials hang on: where it comes from, and who may read it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};

use super::Secret;

/// Name of the generated key's file in the data folder.
pub const KEY_FILE: &str = "master.key";
/// Bytes of a master key.
const LEN: usize = 32;
/// More than any way of writing one, with room for line ends.
const LONGEST: u64 = 256;

/// 32 random bytes. Whoever has them and a copy of the database reads every stored credential; without them nobody
/// does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterKey(Secret);

/// Why there is no master key. Never repeats any of the key.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// The text is none.
    #[error(
        "is no key: it must be 32 bytes, as base64 (44 characters) or hex (64); make one with: openssl rand -base64 32"
    )]
    NotAKey,
    /// It is no key that anybody could have drawn at random.
    #[error("is the same byte 32 times; make a key with: openssl rand -base64 32")]
    NotRandom,
    /// Others than its owner may read the file.
    #[error("{} can be read by other accounts (mode {mode:03o}); the key in it opens every stored credential. Close it with: chmod 600 {}", path.display(), path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{} holds no key that can be used: it {}", path.display(), source)]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<MasterKeyError>,
    },
    /// The file cannot be made.
    #[error("{} cannot be made", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
}

impl MasterKey {
    /// A new one.
    ///
    /// # Errors
    /// [`MasterKeyError::NoRandomness`].
    pub fn random() -> Result<MasterKey, MasterKeyError> {
        let mut bytes = vec![0; LEN];
        SystemRandom::new().fill(&mut bytes).map_err(|_| MasterKeyError::NoRandomness)?;
        Ok(MasterKey(Secret(bytes)))
    }

    /// Reads base64 (either alphabet) or hex; white space around it does not matter.
    ///
    /// # Errors
    /// It is neither, or not of 32 bytes, or one byte again and again.
    pub fn parse(text: &str) -> Result<MasterKey, MasterKeyError> {
        let text = text.trim();
        let bytes = from_hex(text)
            .or_else(|| STANDARD.decode(text).ok())
            .or_else(|| STANDARD_NO_PAD.decode(text).ok())
            .or_else(|| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok());
        let bytes = bytes.filter(|bytes| bytes.len() == LEN).ok_or(MasterKeyError::NotAKey)?;
        if bytes.windows(2).all(|pair| pair.first() == pair.last()) {
            return Err(MasterKeyError::NotRandom);
        }
        Ok(MasterKey(Secret(bytes)))
    }

    /// Reads a file that only its owner may read.
    ///
    /// # Errors
    /// There is none, others may read it, or it holds no key.
    pub fn read(path: &Path) -> Result<MasterKey, MasterKeyError> {
        let unreadable = |source| MasterKeyError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        // Of the opened file, not of its name: that may mean another one by now.
        let mode = file.metadata().map_err(unreadable)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(MasterKeyError::Exposed { path: path.to_owned(), mode });
        }
        let mut text = Secret(Vec::new());
        file.take(LONGEST).read_to_end(&mut text.0).map_err(unreadable)?;
        let wrong = |error| MasterKeyError::InFile { path: path.to_owned(), source: Box::new(error) };
        let text = std::str::from_utf8(&text.0).map_err(|_| wrong(MasterKeyError::NotAKey))?;
        MasterKey::parse(text).map_err(wrong)
    }

    /// Reads the file; makes it, readable by its owner only, where there is none. Of several processes that do so at
    /// once all get the same key.
    ///
    /// # Errors
    /// As of [`MasterKey::read`], and the file cannot be made.
    pub fn read_or_make(path: &Path) -> Result<MasterKey, MasterKeyError> {
        match MasterKey::read(path) {
            Err(MasterKeyError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        match make(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(MasterKeyError::Unwritable { path: path.to_owned(), source }),
            Ok(()) => tracing::info!(
                file = %path.display(),
                "made a master key for stored credentials; keep a copy apart from the database's"
            ),
        }
        MasterKey::read(path)
    }

    pub(super) fn reveal(&self) -> &[u8] {
        self.0.reveal()
    }
}

/// Writes a new key beside its place and links it in: nobody ever sees half of one, or another's taken away.
fn make(path: &Path) -> io::Result<()> {
    let key = MasterKey::random().map_err(io::Error::other)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", uuid::Uuid::new_v4().simple()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    let text = Secret(STANDARD.encode(key.reveal()).into_bytes());
    let written = file
        .write_all(text.reveal())
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::hard_link(&beside, path));
    let _ = std::fs::remove_file(&beside);
    written
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 2 * LEN || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..LEN).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Folder {
            let folder = std::env::temp_dir().join(format!("forecourt-vault-{}", uuid::Uuid::new_v4()));
            std::fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn base64_and_hex_mean_the_same_key() {
        let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff";
        let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHv8=";
        let key = MasterKey::parse(hex).unwrap();
        for same in
            [base64.to_owned(), format!(" {base64}\r\n"), base64.replace('/', "_"), hex.to_uppercase()]
        {
            assert_eq!(MasterKey::parse(&same).unwrap(), key, "{same}");
        }
        assert_eq!(MasterKey::parse(base64.trim_end_matches('=')).unwrap(), key);
        for bad in ["", "secret", "AAECAwQFBgcICQoLDA0ODw==", &hex[2..], &"00".repeat(32)] {
            let error = MasterKey::parse(bad).unwrap_err().to_string();
            assert!(bad.is_empty() || !error.contains(bad), "{error}");
        }
    }

    #[test]
    fn a_made_key_is_its_owners_and_stays() {
        let folder = Folder::new();
        let path = folder.0.join("data").join(KEY_FILE);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || MasterKey::read_or_make(&path).unwrap())
            })
            .collect();
        let keys: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "two processes have two keys");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "something was left beside the key");
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_what_to_do() {
        let folder = Folder::new();
        let path = folder.0.join(KEY_FILE);
        MasterKey::read_or_make(&path).unwrap();
        for mode in [0o640, 0o604, 0o622] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let text = MasterKey::read_or_make(&path).unwrap_err().to_string();
            assert!(text.contains("chmod 600") && text.contains(&format!("{mode:o}")), "{text}");
        }
        set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        MasterKey::read(&path).unwrap();
        set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "nonsense").unwrap();
        let text = MasterKey::read(&path).unwrap_err().to_string();
        assert!(
            text.contains("master.key holds no key that can be used") && !text.contains("nonsense"),
            "{text}"
        );
    }
}
