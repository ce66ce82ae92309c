//! TLS for the platform's own listener: certificate and key from PEM files, HTTP/2 and HTTP/1.1 by ALPN, and a
//! renewed certificate taken up without a restart.

mod dates;

use std::fs;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use crate::failure::io_reason;
use crate::settings::TlsFiles;

/// How often the files are looked at for a renewed certificate.
pub const RENEWAL_CHECK: Duration = Duration::from_secs(30);

/// Makes `ring` the provider of all cryptography in this process. Called first thing: several libraries ask for
/// the default provider and would find none.
pub fn install_provider() {
    // An error means that one is installed already, as in tests with several platforms in one process.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Reads certificate chain and key and checks that they belong together.
///
/// # Errors
/// The rest of a sentence about the certificate setting.
pub fn load(files: &TlsFiles) -> Result<Arc<CertifiedKey>, String> {
    let chain = read_chain(&files.cert)?;
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?).map_err(|_| {
        format!("goes with a key file without a PEM private key in it: {}", files.key.display())
    })?;
    let provider = rustls::crypto::ring::default_provider();
    let key = provider.key_provider.load_private_key(key).map_err(|_| {
        format!("goes with a key of an unsupported kind; use RSA, ECDSA or Ed25519: {}", files.key.display())
    })?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        // `Unknown` comes of a key kind that cannot tell its public half.
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {
            Ok(Arc::new(certified))
        }
        Err(_) => Err(format!(
            "does not belong to the key: {} and {} are of two pairs",
            files.cert.display(),
            files.key.display()
        )),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path)
        .map_err(|error| format!("cannot be used: {} cannot be read ({})", path.display(), io_reason(&error)))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        _ => Err(format!("names a file without a PEM certificate in it: {}", path.display())),
    }
}

/// What an operator wants to know about a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// First second of validity, unix time.
    pub not_before: i64,
    /// Last second of validity, unix time.
    pub not_after: i64,
    /// Whether it is made out for the host that was asked about.
    pub covers_host: bool,
}

/// Reads validity and names of the first certificate of a file. `None` where the file holds none that can be read.
pub fn facts(path: &Path, host: &str) -> Option<CertificateFacts> {
    let chain = read_chain(path).ok()?;
    let certificate = chain.first()?;
    let (not_before, not_after) = dates::validity(certificate)?;
    let name = ServerName::try_from(host.trim_matches(['[', ']'])).ok()?;
    let covers_host = rustls::server::ParsedCertificate::try_from(certificate)
        .is_ok_and(|parsed| rustls::client::verify_server_name(&parsed, &name).is_ok());
    Some(CertificateFacts { not_before, not_after, covers_host })
}

/// Says so in the log where agents will refuse a certificate. It is no reason not to start: a node that is there
/// takes up the renewed one by itself.
fn warn_of_refusal(path: &Path, host: &str) {
    let Some(facts) = facts(path, host) else { return };
    let date = |seconds| DateTime::from_timestamp(seconds, 0).map(|time| time.format("%Y-%m-%d").to_string());
    let now = Utc::now().timestamp();
    let (file, until) = (path.display(), date(facts.not_after).unwrap_or_default());
    if now > facts.not_after {
        tracing::warn!(%file, "the TLS certificate ended on {until}; agents refuse it, renew it");
    } else if now < facts.not_before {
        let from = date(facts.not_before).unwrap_or_default();
        tracing::warn!(%file, "the TLS certificate is valid from {from} only; agents refuse it, check the clock");
    } else if !facts.covers_host {
        tracing::warn!(%file, "the TLS certificate is not made out for {host}, which the cards name");
    }
}

/// The certificate in use, replaced when the files change.
#[derive(Debug)]
pub struct Certificate {
    files: TlsFiles,
    /// The host that cards name.
    host: String,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Loads the files. The log says so where they do not fit the host that cards name, or the date.
    ///
    /// # Errors
    /// As [`load`].
    pub fn open(files: &TlsFiles, host: &str) -> Result<Arc<Certificate>, String> {
        let current = RwLock::new(load(files)?);
        warn_of_refusal(&files.cert, host);
        Ok(Arc::new(Certificate { files: files.clone(), host: host.to_owned(), current }))
    }

    /// The configuration of a listener that serves this certificate. ALPN is left to the HTTP server, which knows
    /// what it speaks.
    ///
    /// # Errors
    /// Protocol versions and cipher suites of the provider do not fit together.
    pub fn config(self: &Arc<Certificate>) -> Result<ServerConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(builder.with_no_client_auth().with_cert_resolver(Arc::<Certificate>::clone(self)))
    }

    /// Looks at the files that often and takes up a renewed pair. Files that do not fit (a renewal half written,
    /// say) leave the old certificate in use. Runs until it is dropped.
    pub async fn follow(self: Arc<Certificate>, every: Duration) {
        let mut seen = self.modified();
        loop {
            tokio::time::sleep(every).await;
            let now = self.modified();
            if now == seen {
                continue;
            }
            match load(&self.files) {
                Ok(renewed) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = renewed;
                    seen = now;
                    tracing::info!("took up the renewed TLS certificate");
                    warn_of_refusal(&self.files.cert, &self.host);
                }
                Err(message) => tracing::warn!("kept the old TLS certificate: the new one {message}"),
            }
        }
    }

    fn modified(&self) -> [Option<SystemTime>; 2] {
        [&self.files.cert, &self.files.key]
            .map(|path| fs::metadata(path).and_then(|data| data.modified()).ok())
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_pair(folder: &Path, name: &str, host: &str) -> TlsFiles {
        let made = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
        let (cert, key) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
        fs::write(&cert, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        TlsFiles { cert, key }
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("forecourt-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_pair_is_loaded_and_its_dates_and_names_are_read() {
        let folder = folder("pair");
        let files = write_pair(&folder, "a", "dealers.example");
        assert!(load(&files).is_ok());
        assert!(Certificate::open(&files, "dealers.example").unwrap().config().is_ok());
        let told = facts(&files.cert, "dealers.example").unwrap();
        assert!(told.covers_host && told.not_before < told.not_after);
        assert!(!facts(&files.cert, "other.example").unwrap().covers_host);
        fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_renewed_pair_is_taken_up_and_half_of_one_is_not() {
        let folder = folder("renewed");
        let files = write_pair(&folder, "a", "dealers.example");
        let certificate = Certificate::open(&files, "dealers.example").unwrap();
        let in_use = || certificate.current.read().unwrap().cert.clone();
        let old = in_use();
        let follower = tokio::spawn(Arc::clone(&certificate).follow(Duration::from_millis(5)));
        // Longer than the steps in which some file systems count time.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let renewed = write_pair(&folder, "b", "dealers.example");
        fs::copy(&renewed.cert, &files.cert).unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(in_use(), old, "the key is still that of the old one");
        fs::copy(&renewed.key, &files.key).unwrap();
        for _ in 0..500 {
            if in_use() != old {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(in_use(), load(&renewed).unwrap().cert);
        follower.abort();
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn halves_of_two_pairs_and_files_without_pem_are_refused_in_words() {
        let folder = folder("mixed");
        let (a, b) = (write_pair(&folder, "a", "a.example"), write_pair(&folder, "b", "b.example"));
        let mixed = TlsFiles { cert: a.cert.clone(), key: b.key };
        assert!(load(&mixed).unwrap_err().contains("does not belong to the key"));
        let swapped = TlsFiles { cert: a.key, key: a.cert };
        assert!(load(&swapped).unwrap_err().contains("without a PEM certificate"));
        let missing = TlsFiles { cert: folder.join("none"), key: folder.join("none") };
        assert!(load(&missing).unwrap_err().contains("there is no such file"));
        fs::remove_dir_all(folder).unwrap();
    }
}
