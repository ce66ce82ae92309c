//! The flags and environment variables, as texts. What they mean is decided in one place, by `Settings::check`,
//! so that every problem can be named at once; clap alone would stop at the first.

// The comments are the help text; a terminal would show the brackets.
#![allow(rustdoc::bare_urls)]

use clap::Args;

use super::feeds::{VaultFlags, WorkerFlags};

/// Settings that every command understands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data and logs")]
pub struct CommonFlags {
    /// Folder for the platform's own data, among it the private PostgreSQL [default: .data]
    #[arg(long, env = "FORECOURT_DATA_DIR", value_name = "FOLDER")]
    pub data_dir: Option<String>,

    /// PostgreSQL to use, as postgres://user:password@host:port/name. Unset: a private one in the data folder.
    /// Prefer the variable: other accounts can read the flags of a running process
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,

    /// Largest number of database connections of this process [default: 10]
    #[arg(long, env = "FORECOURT_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<String>,

    /// What is logged, such as `debug`, `warn` or `info,api=debug` [default: info]
    #[arg(long, env = "FORECOURT_LOG", value_name = "FILTER")]
    pub log: Option<String>,

    /// `pretty`, `json` (one object a line), or `auto`: pretty on a terminal, JSON elsewhere [default: auto]
    #[arg(long, env = "FORECOURT_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<String>,
}

/// Settings that decide the addresses on Agent Cards.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Addresses")]
pub struct AddressFlags {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:8080]
    #[arg(long, env = "FORECOURT_LISTEN", value_name = "HOST:PORT")]
    pub listen: Option<String>,

    /// Where agents reach the platform, such as https://dealers.example; it goes on every card
    /// [default: the listen address, on loopback]
    #[arg(long, env = "FORECOURT_PUBLIC_ORIGIN", value_name = "ORIGIN")]
    pub public_origin: Option<String>,

    /// Serve every dealer at {slug}.DOMAIN too, and name that address on its card
    #[arg(long, env = "FORECOURT_PLATFORM_DOMAIN", value_name = "DOMAIN")]
    pub platform_domain: Option<String>,

    /// At public addresses, serve the draft contract too, of dealers whose `contracts` name it. Its identifiers lead
    /// nowhere: for trying things out between agents that know each other. On loopback it is served by itself
    #[arg(long, env = "FORECOURT_SERVE_DRAFT", value_name = "BOOL", num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    pub serve_draft: Option<String>,

    /// Certificate chain (PEM). With it the platform speaks TLS, HTTP/1.1 and HTTP/2
    #[arg(long, env = "FORECOURT_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<String>,

    /// Private key (PEM) of the certificate
    #[arg(long, env = "FORECOURT_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<String>,
}

/// Settings of a process that answers agents.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Serving")]
pub struct ServingFlags {
    /// Addresses or networks of proxies whose X-Forwarded-* headers are believed, separated by commas,
    /// such as 10.0.0.0/8,::1 [default: none]
    #[arg(long, env = "FORECOURT_TRUSTED_PROXIES", value_name = "LIST")]
    pub trusted_proxies: Option<String>,

    /// Threads that answer requests [default: one per processor]
    #[arg(long, env = "FORECOURT_WORKERS", value_name = "N")]
    pub workers: Option<String>,

    /// Memory for the lots of dealers, in MiB; those that are asked least give way to others [default: 1024]
    #[arg(long, env = "FORECOURT_CACHE_MB", value_name = "MIB")]
    pub cache_mb: Option<String>,

    /// How long a start may take to load the lots that are asked most, before /readyz says yes, such as 30s
    /// [default: 30s]
    #[arg(long, env = "FORECOURT_WARM_UP", value_name = "DURATION")]
    pub warm_up: Option<String>,

    /// How long answers may go on from memory while the database cannot be reached, such as 15m [default: 15m]
    #[arg(long, env = "FORECOURT_MAX_AGE", value_name = "DURATION")]
    pub max_age: Option<String>,

    /// How long to go on accepting, not ready, after a signal to stop, so that load balancers notice
    /// [default: 2 after SIGTERM, 0 after Ctrl-C]
    #[arg(long, env = "FORECOURT_DRAIN_SECONDS", value_name = "SECONDS")]
    pub drain_seconds: Option<String>,
}

/// All flags of one invocation; groups that a command does not take stay empty, which means the defaults.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// Data, database, logs.
    pub common: CommonFlags,
    /// Listening and public addresses.
    pub address: AddressFlags,
    /// Request handling.
    pub serving: ServingFlags,
    /// Work on feeds.
    pub worker: WorkerFlags,
    /// The key of the stored credentials.
    pub vault: VaultFlags,
}

/// Every variable that the platform reads under its own prefix, for finding misspelt ones.
pub const VARIABLES: [&str; 25] = [
    "FORECOURT_DATA_DIR",
    "FORECOURT_MAX_CONNECTIONS",
    "FORECOURT_LOG",
    "FORECOURT_LOG_FORMAT",
    "FORECOURT_LISTEN",
    "FORECOURT_PUBLIC_ORIGIN",
    "FORECOURT_PLATFORM_DOMAIN",
    "FORECOURT_SERVE_DRAFT",
    "FORECOURT_TLS_CERT",
    "FORECOURT_TLS_KEY",
    "FORECOURT_TRUSTED_PROXIES",
    "FORECOURT_WORKERS",
    "FORECOURT_CACHE_MB",
    "FORECOURT_WARM_UP",
    "FORECOURT_MAX_AGE",
    "FORECOURT_DRAIN_SECONDS",
    "FORECOURT_WORKER_SLOTS",
    "FORECOURT_WORKER_FETCHES",
    "FORECOURT_WORKER_LEASE",
    "FORECOURT_FEED_FOLDER",
    "FORECOURT_FEED_SETTLE",
    "FORECOURT_FEED_ALLOW",
    "FORECOURT_MASTER_KEY",
    "FORECOURT_MASTER_KEY_FILE",
    "FORECOURT_MASTER_KEY_OLD",
];

/// Variables that begin with our prefix and that nothing reads: most likely misspelt.
pub fn unknown_variables() -> Vec<String> {
    let mut unknown: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        // Those of our own tests reach a platform that they start, too.
        .filter(|name| name.starts_with("FORECOURT_") && !name.starts_with("FORECOURT_TEST_"))
        .filter(|name| name != "FORECOURT_SOAK")
        .filter(|name| !VARIABLES.contains(&name.as_str()))
        .collect();
    unknown.sort();
    unknown
}
