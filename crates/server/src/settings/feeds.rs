//! Settings of workers and of the vault: what feeds need.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dealer::vault::{KEY_FILE, MasterKey, Vault};
use worker::outbound::Allowed;
use worker::{Pace, WorkerSettings};

use super::{Reader, Settings, parse, set};
use crate::failure::{Failure, UNUSABLE, chain};

/// Settings of a process that works on feeds.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Feeds")]
pub struct WorkerFlags {
    /// Imports that run at once [default: one per processor, at least 2]
    #[arg(long, env = "FORECOURT_WORKER_SLOTS", value_name = "N")]
    pub worker_slots: Option<String>,

    /// Feeds that are fetched at once [default: 8]
    #[arg(long, env = "FORECOURT_WORKER_FETCHES", value_name = "N")]
    pub worker_fetches: Option<String>,

    /// How long a job stays with a worker that gives no sign of life [default: 60s]
    #[arg(long, env = "FORECOURT_WORKER_LEASE", value_name = "DURATION")]
    pub worker_lease: Option<String>,

    /// Where dealers' files are dropped, in FOLDER/{dealer}/{source}/ [default: inbox in the data folder]
    #[arg(long, env = "FORECOURT_FEED_FOLDER", value_name = "FOLDER")]
    pub feed_folder: Option<String>,

    /// How long a dropped file must have stayed the same before it is taken [default: 30s]
    #[arg(long, env = "FORECOURT_FEED_SETTLE", value_name = "DURATION")]
    pub feed_settle: Option<String>,

    /// Hosts of your own network that feeds may be fetched from all the same, also without TLS, separated by commas,
    /// such as feeds.internal:8080 [default: none]
    #[arg(long, env = "FORECOURT_FEED_ALLOW", value_name = "LIST")]
    pub feed_allow: Option<String>,
}

/// The key that stored credentials hang on.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Stored credentials")]
pub struct VaultFlags {
    /// Key of the stored credentials, 32 bytes as base64 or hex. Prefer the variable, or a file: other accounts can
    /// read the flags of a running process [default: the one in --master-key-file]
    #[arg(long, env = "FORECOURT_MASTER_KEY", value_name = "KEY", hide_env_values = true)]
    pub master_key: Option<String>,

    /// File with that key, which nobody but its owner may read [default: master.key in the data folder, made at the
    /// first start]
    #[arg(long, env = "FORECOURT_MASTER_KEY_FILE", value_name = "FILE")]
    pub master_key_file: Option<String>,

    /// Former keys, separated by commas, while stored credentials move to a new one
    #[arg(long, env = "FORECOURT_MASTER_KEY_OLD", value_name = "KEYS", hide_env_values = true)]
    pub master_key_old: Option<String>,
}

/// What workers of this process are told.
#[derive(Debug, Clone)]
pub struct WorkerChoice {
    /// Imports at once.
    pub slots: usize,
    /// Fetches at once.
    pub fetches: usize,
    /// How long a job is a worker's without a sign of life.
    pub lease: Duration,
    /// Where files are dropped; `None`: in the data folder.
    pub folder: Option<PathBuf>,
    /// How long a dropped file must have stayed the same.
    pub settle: Duration,
    /// Places inside that are fetched from all the same.
    pub allowed: Allowed,
}

impl Default for WorkerChoice {
    fn default() -> WorkerChoice {
        let pace = Pace::default();
        WorkerChoice {
            slots: std::thread::available_parallelism().map_or(2, usize::from).max(2),
            fetches: 8,
            lease: pace.lease,
            folder: None,
            settle: pace.settle,
            allowed: Allowed::default(),
        }
    }
}

/// Where the master key is.
#[derive(Debug, Clone, Default)]
pub struct VaultChoice {
    /// Given as such.
    pub key: Option<MasterKey>,
    /// In this file; with neither, in the data folder.
    pub file: Option<PathBuf>,
    /// Former ones.
    pub former: Vec<MasterKey>,
}

impl Settings {
    pub(super) fn read_worker(&mut self, flags: &WorkerFlags, reader: &mut Reader) {
        let count = |text: &str| parse::number(text, 1, 256);
        let size = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
        let slots = reader.read(("--worker-slots", "FORECOURT_WORKER_SLOTS"), &flags.worker_slots, count);
        set(&mut self.worker.slots, size(slots));
        let fetches =
            reader.read(("--worker-fetches", "FORECOURT_WORKER_FETCHES"), &flags.worker_fetches, count);
        set(&mut self.worker.fetches, size(fetches));
        let time = |text: &str| parse::duration(text, Duration::from_secs(1), Duration::from_secs(3600));
        let lease = reader.read(("--worker-lease", "FORECOURT_WORKER_LEASE"), &flags.worker_lease, time);
        set(&mut self.worker.lease, lease);
        let settle = reader.read(("--feed-settle", "FORECOURT_FEED_SETTLE"), &flags.feed_settle, time);
        set(&mut self.worker.settle, settle);
        self.worker.folder =
            reader.read(("--feed-folder", "FORECOURT_FEED_FOLDER"), &flags.feed_folder, |text| {
                let path = PathBuf::from(text);
                if path.exists() && !path.is_dir() {
                    return Err("is a file; name a folder".to_owned());
                }
                Ok(path)
            });
        let allowed =
            reader.read(("--feed-allow", "FORECOURT_FEED_ALLOW"), &flags.feed_allow, Allowed::parse);
        set(&mut self.worker.allowed, allowed);
    }

    pub(super) fn read_vault(&mut self, flags: &VaultFlags, reader: &mut Reader) {
        const KEY: (&str, &str) = ("--master-key", "FORECOURT_MASTER_KEY");
        const FILE: (&str, &str) = ("--master-key-file", "FORECOURT_MASTER_KEY_FILE");
        // The messages never repeat the text.
        let key = |text: &str| MasterKey::parse(text).map_err(|error| error.to_string());
        self.vault.key = reader.read(KEY, &flags.master_key, key);
        self.vault.file = reader.read(FILE, &flags.master_key_file, |text| {
            let path = PathBuf::from(text);
            MasterKey::read(&path).map_err(|error| format!("cannot be used: {}", chain(&error)))?;
            Ok(path)
        });
        if self.vault.key.is_some() && self.vault.file.is_some() {
            let message = "is given although FORECOURT_MASTER_KEY is; give one of them".to_owned();
            reader.problem(FILE.0, FILE.1, message);
        }
        let former =
            reader.read(("--master-key-old", "FORECOURT_MASTER_KEY_OLD"), &flags.master_key_old, |text| {
                text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(key).collect()
            });
        set(&mut self.vault.former, former);
    }

    /// Opens the vault. Its key is made where none is named and the data folder has none.
    pub(crate) fn open_vault(&self) -> Result<Vault, Failure> {
        let key = match (&self.vault.key, &self.vault.file) {
            (Some(key), _) => Ok(key.clone()),
            (None, Some(file)) => MasterKey::read(file),
            (None, None) => MasterKey::read_or_make(&self.data_dir.join(KEY_FILE)),
        };
        let key = key.map_err(|error| {
            Failure::new(format!("the key of the stored credentials cannot be used: {}", chain(&error)))
                .status(UNUSABLE)
                .advise("another place is named with FORECOURT_MASTER_KEY_FILE")
        })?;
        Ok(Vault::new(&key, &self.vault.former))
    }

    /// The same for commands beside a platform: at a database of somebody's own they make no key, because what they
    /// sealed with it nobody else could open.
    pub(crate) fn open_vault_of_platform(&self) -> Result<Vault, Failure> {
        let named = self.vault.key.is_some() || self.vault.file.is_some();
        let file = self.data_dir.join(KEY_FILE);
        if self.database_url.is_some() && !named && !file.exists() {
            return Err(Failure::new("nobody has said what the platform's master key is, and without it nothing can be stored encrypted")
                .status(UNUSABLE)
                .advise("give the key that `forecourt up` or `forecourt worker` has, with FORECOURT_MASTER_KEY_FILE or FORECOURT_MASTER_KEY"));
        }
        self.open_vault()
    }

    /// What a worker of this process is told. `drain` is how long its jobs may go on when it is told to stop.
    ///
    /// # Errors
    /// The master key or a folder cannot be used.
    pub(crate) fn worker_settings(&self, drain: Duration) -> Result<WorkerSettings, Failure> {
        let folder = |path: PathBuf| -> Result<PathBuf, Failure> {
            std::fs::create_dir_all(&path).map(|()| path.clone()).map_err(|error| {
                let reason = crate::failure::io_reason(&error);
                Failure::new(format!("the folder {} cannot be made ({reason})", path.display()))
            })
        };
        let choice = &self.worker;
        let lease = choice.lease;
        Ok(WorkerSettings {
            name: format!("{}-{}", std::process::id(), uuid::Uuid::new_v4().simple()),
            slots: choice.slots,
            fetches: choice.fetches,
            drop_folder: folder(choice.folder.clone().unwrap_or_else(|| self.data_dir.join("inbox")))?,
            temp_folder: folder(self.data_dir.join("spool"))?,
            vault: self.open_vault()?,
            allowed: choice.allowed.clone(),
            drain,
            pace: Pace { lease, heartbeat: lease / 4, settle: choice.settle, ..Pace::default() },
        })
    }
}
