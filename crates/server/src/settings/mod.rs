//! The settings of a process: read from flags and environment, checked as a whole, all problems named at once.

mod feeds;
mod flags;
mod parse;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

pub use feeds::{VaultChoice, VaultFlags, WorkerChoice, WorkerFlags};
pub use flags::{AddressFlags, CommonFlags, Flags, ServingFlags, VARIABLES, unknown_variables};

use api::TrustedProxies;
use dealer::{Addresses, Origin};

/// The address that is listened on when nothing else is said.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// What was made of flags and environment. [`Default`] is what an empty environment means.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folder of the platform's own data.
    pub data_dir: PathBuf,
    /// The database named by `DATABASE_URL`; `None` means a private one under `data_dir`.
    pub database_url: Option<DatabaseUrl>,
    /// Largest number of database connections.
    pub max_connections: u32,
    /// What is logged and how.
    pub log: LogSettings,
    /// Where to listen; port 0 means any free one.
    pub listen: SocketAddr,
    /// The origin on the cards, if one was given.
    pub public_origin: Option<Origin>,
    /// Domain below which every dealer has a host of its own.
    pub platform_domain: Option<String>,
    /// Whether the draft contract is served at public addresses too, of dealers that name it.
    pub serve_draft: bool,
    /// Certificate and key, if the platform itself speaks TLS.
    pub tls: Option<TlsFiles>,
    /// Proxies whose forwarding headers are believed.
    pub trusted_proxies: TrustedProxies,
    /// Threads that answer requests.
    pub workers: usize,
    /// Memory for the lots of dealers, in bytes.
    pub cache_bytes: u64,
    /// How long a start may take to load the lots that are asked most.
    pub warm_up: Duration,
    /// Age at which data that could not be refreshed is no longer served.
    pub max_age: Duration,
    /// How long to go on accepting after a signal; `None` means what suits the signal.
    pub drain: Option<Duration>,
    /// What workers of this process are told.
    pub worker: WorkerChoice,
    /// Where the key of the stored credentials is.
    pub vault: VaultChoice,
}

/// A connection string, which holds a password: shown as dots.
#[derive(Clone)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> DatabaseUrl {
        DatabaseUrl(text.into())
    }

    /// The text, with the password: for connecting, never for showing.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseUrl(…)")
    }
}

/// Where the certificate chain and its key are.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// PEM file with the chain, the server's certificate first.
    pub cert: PathBuf,
    /// PEM file with the private key.
    pub key: PathBuf,
}

/// What is logged and how.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// A level, or targets with levels: `warn,api=debug`.
    pub filter: String,
    /// Shape of the lines.
    pub format: LogFormat,
}

/// Shape of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            data_dir: PathBuf::from(".data"),
            database_url: None,
            max_connections: 10,
            log: LogSettings { filter: "info".to_owned(), format: LogFormat::Auto },
            listen: DEFAULT_LISTEN,
            public_origin: None,
            platform_domain: None,
            serve_draft: false,
            tls: None,
            trusted_proxies: TrustedProxies::default(),
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            cache_bytes: 1024 * MIB,
            warm_up: Duration::from_secs(30),
            max_age: Duration::from_secs(15 * 60),
            drain: None,
            worker: WorkerChoice::default(),
            vault: VaultChoice::default(),
        }
    }
}

const MIB: u64 = 1024 * 1024;

/// One setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The flag, such as `--listen`.
    pub flag: &'static str,
    /// The variable that means the same.
    pub variable: &'static str,
    /// The rest of the sentence: what is wrong and what to write instead.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}) {}", self.flag, self.variable, self.message)
    }
}

/// Reads texts and gathers what is wrong with them.
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// The value of a setting if it was given and can be read. An empty text counts as not given: compose files
    /// and service managers pass empty variables on for unset ones.
    fn read<T>(
        &mut self,
        (flag, variable): (&'static str, &'static str),
        text: &Option<String>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        match read(text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(flag, variable, message);
                None
            }
        }
    }

    fn problem(&mut self, flag: &'static str, variable: &'static str, message: String) {
        self.problems.push(Problem { flag, variable, message });
    }
}

impl Settings {
    /// Makes settings of flags.
    ///
    /// # Errors
    /// Every setting that cannot be used, not just the first.
    pub fn check(flags: &Flags) -> Result<Settings, Vec<Problem>> {
        let mut settings = Settings::default();
        let mut reader = Reader { problems: Vec::new() };
        settings.read_common(&flags.common, &mut reader);
        settings.read_addresses(&flags.address, &mut reader);
        settings.read_serving(&flags.serving, &mut reader);
        settings.read_worker(&flags.worker, &mut reader);
        settings.read_vault(&flags.vault, &mut reader);
        if reader.problems.is_empty() { Ok(settings) } else { Err(reader.problems) }
    }

    fn read_common(&mut self, flags: &CommonFlags, reader: &mut Reader) {
        let seen = reader.read(("--data-dir", "FORECOURT_DATA_DIR"), &flags.data_dir, |text| {
            let path = PathBuf::from(text);
            if path.exists() && !path.is_dir() {
                return Err("is a file; name a folder".to_owned());
            }
            Ok(path)
        });
        set(&mut self.data_dir, seen);
        // The messages never repeat the text: it holds a password.
        self.database_url = reader.read(("--database-url", "DATABASE_URL"), &flags.database_url, |text| {
            let scheme = text.split_once("://").map(|(scheme, _)| scheme);
            if !matches!(scheme, Some("postgres" | "postgresql")) {
                return Err("must begin with postgres://; write it like postgres://user:password@host:5432/forecourt".into());
            }
            store::Database::from_url(text).map_err(|_| {
                "is no connection string; write it like postgres://user:password@host:5432/forecourt, with special \
                 characters of the password percent-encoded"
                    .to_owned()
            })?;
            Ok(DatabaseUrl::new(text))
        });
        let read =
            reader.read(("--max-connections", "FORECOURT_MAX_CONNECTIONS"), &flags.max_connections, |text| {
                parse::number(text, 2, 1000)
            });
        set(&mut self.max_connections, read.and_then(|number| u32::try_from(number).ok()));
        let read = reader.read(("--log", "FORECOURT_LOG"), &flags.log, |text| {
            crate::telemetry::line_filter(text)
                .map_err(|()| "is no log filter; write it like info or warn,api=debug".to_owned())?;
            Ok(text.to_owned())
        });
        set(&mut self.log.filter, read);
        let read =
            reader.read(("--log-format", "FORECOURT_LOG_FORMAT"), &flags.log_format, |text| match text {
                "auto" => Ok(LogFormat::Auto),
                "pretty" => Ok(LogFormat::Pretty),
                "json" => Ok(LogFormat::Json),
                _ => Err("must be auto, pretty or json".to_owned()),
            });
        set(&mut self.log.format, read);
    }

    fn read_addresses(&mut self, flags: &AddressFlags, reader: &mut Reader) {
        const CERT: (&str, &str) = ("--tls-cert", "FORECOURT_TLS_CERT");
        const KEY: (&str, &str) = ("--tls-key", "FORECOURT_TLS_KEY");
        let before = reader.problems.len();
        let listen = reader.read(("--listen", "FORECOURT_LISTEN"), &flags.listen, parse::listen);
        set(&mut self.listen, listen);
        let file = |text: &str| match std::fs::File::open(text) {
            Ok(_) => Ok(PathBuf::from(text)),
            Err(error) => {
                Err(format!("names a file that cannot be read ({})", crate::failure::io_reason(&error)))
            }
        };
        let cert = reader.read(CERT, &flags.tls_cert, file);
        let key = reader.read(KEY, &flags.tls_key, file);
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        match (given(&flags.tls_cert), given(&flags.tls_key)) {
            (true, false) => {
                reader.problem(KEY.0, KEY.1, "is missing; the certificate needs its key".to_owned())
            }
            (false, true) => {
                reader.problem(CERT.0, CERT.1, "is missing; the key needs its certificate".to_owned())
            }
            _ => {}
        }
        if let Some((cert, key)) = cert.zip(key) {
            let files = TlsFiles { cert, key };
            match crate::tls::load(&files) {
                Ok(_) => self.tls = Some(files),
                Err(message) => reader.problem(CERT.0, CERT.1, message),
            }
        }
        self.public_origin =
            reader.read(("--public-origin", "FORECOURT_PUBLIC_ORIGIN"), &flags.public_origin, |text| {
                Origin::parse(text).map_err(|error| error.to_string())
            });
        self.platform_domain = reader.read(
            ("--platform-domain", "FORECOURT_PLATFORM_DOMAIN"),
            &flags.platform_domain,
            parse::domain,
        );
        let read = reader.read(("--serve-draft", "FORECOURT_SERVE_DRAFT"), &flags.serve_draft, parse::switch);
        set(&mut self.serve_draft, read);
        if reader.problems.len() == before {
            self.check_addresses(reader);
        }
    }

    /// What only shows when the addresses are seen together.
    fn check_addresses(&self, reader: &mut Reader) {
        let origin = match self.origin(self.listen) {
            Ok(origin) => origin,
            Err(message) => {
                return reader.problem("--public-origin", "FORECOURT_PUBLIC_ORIGIN", message);
            }
        };
        let Some(domain) = &self.platform_domain else { return };
        let local = domain == "localhost" || domain.ends_with(".localhost");
        if !origin.as_str().starts_with("https://") && !local {
            let message = format!(
                "needs a public origin with https://: cards would name http://{{slug}}.{domain}, which agents refuse; \
                 set --public-origin https://… or use localhost"
            );
            reader.problem("--platform-domain", "FORECOURT_PLATFORM_DOMAIN", message);
        }
    }

    fn read_serving(&mut self, flags: &ServingFlags, reader: &mut Reader) {
        let read =
            reader.read(("--trusted-proxies", "FORECOURT_TRUSTED_PROXIES"), &flags.trusted_proxies, |text| {
                TrustedProxies::parse(text).map_err(|error| format!("cannot be used: {error}"))
            });
        set(&mut self.trusted_proxies, read);
        let read = reader
            .read(("--workers", "FORECOURT_WORKERS"), &flags.workers, |text| parse::number(text, 1, 512));
        set(&mut self.workers, read.and_then(|number| usize::try_from(number).ok()));
        let read = reader.read(("--cache-mb", "FORECOURT_CACHE_MB"), &flags.cache_mb, |text| {
            parse::number(text, 16, 1024 * 1024)
        });
        set(&mut self.cache_bytes, read.map(|mib| mib * MIB));
        let read = reader.read(("--warm-up", "FORECOURT_WARM_UP"), &flags.warm_up, |text| {
            parse::duration(text, Duration::ZERO, Duration::from_secs(3600))
        });
        set(&mut self.warm_up, read);
        let read = reader.read(("--max-age", "FORECOURT_MAX_AGE"), &flags.max_age, |text| {
            parse::duration(text, Duration::from_secs(5), Duration::from_secs(86_400))
        });
        set(&mut self.max_age, read);
        self.drain =
            reader.read(("--drain-seconds", "FORECOURT_DRAIN_SECONDS"), &flags.drain_seconds, |text| {
                parse::number(text, 0, 600).map(Duration::from_secs)
            });
    }

    /// Everything that decides dealers' addresses, for a platform at this origin.
    pub(crate) fn addresses(&self, origin: Origin) -> Addresses {
        Addresses { origin, platform_domain: self.platform_domain.clone(), serve_draft: self.serve_draft }
    }

    /// The origin on the cards, for a listener that is bound to `bound`.
    ///
    /// # Errors
    /// A sentence: the address that is listened on cannot stand on a card, and no other was given.
    pub fn origin(&self, bound: SocketAddr) -> Result<Origin, String> {
        if let Some(origin) = &self.public_origin {
            return Ok(origin.clone());
        }
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let host = if bound.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { bound.ip() };
        Origin::parse(&format!("{scheme}://{}", SocketAddr::new(host, bound.port()))).map_err(|_| {
            format!(
                "is missing: the platform listens on {} without TLS, and cards may name plain http on loopback only; \
                 give the https:// address by which agents reach it",
                bound.ip()
            )
        })
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

#[cfg(test)]
mod tests;
