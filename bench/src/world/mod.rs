//! What is measured: a PostgreSQL of our own, and servers as processes of their own, so that each one's CPU is known.

mod cluster;
mod metrics;
mod process;

use cluster::Use;
pub(crate) use cluster::{Cluster, DEALERS, INGEST, MAIN, THREE};
pub(crate) use metrics::Metrics;
pub(crate) use process::{Child, own_cpu, peak, usage};

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::runtime::Runtime;

use crate::data::HOST;

/// Memory that the product may use for lots; nothing else of it differs from the defaults.
const CACHE_MB: &str = "8192";
/// How long a server may take to be ready.
const READY: Duration = Duration::from_secs(120);

/// Everything that runs.
pub(crate) struct World {
    /// For work on the database beside the load.
    pub(crate) runtime: Runtime,
    pub(crate) cluster: Cluster,
    folder: PathBuf,
    forecourt: PathBuf,
}

impl World {
    /// Starts PostgreSQL.
    ///
    /// # Errors
    /// It does not start, or `forecourt` is not built.
    pub(crate) fn open() -> Result<World> {
        let program = std::env::current_exe().context("where this program is")?;
        let built = program.parent().context("a folder of this program")?;
        let forecourt = built.join("forecourt");
        ensure!(
            forecourt.exists(),
            "build the product too, in the same profile: cargo build --release -p server -p bench"
        );
        if cfg!(debug_assertions) {
            eprintln!("bench: a debug build, whose figures mean nothing; use cargo run --release -p bench");
        }
        let folder = built.parent().context("a target folder")?.join("bench");
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let cluster = Cluster::start(&folder, Use::Reading)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(World { runtime, cluster, folder, forecourt })
    }

    /// A folder for what a run leaves behind.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program of the product.
    pub(crate) fn forecourt(&self) -> &Path {
        &self.forecourt
    }

    /// The product on one of the databases, as `forecourt serve` runs by default.
    ///
    /// # Errors
    /// It does not become ready.
    pub(crate) fn product(&self, database: &str, further: &[&str]) -> Result<Child> {
        self.product_on(&self.cluster, database, further)
    }

    /// The same on another server than the one that most is measured on.
    ///
    /// # Errors
    /// It does not become ready.
    pub(crate) fn product_on(&self, cluster: &Cluster, database: &str, further: &[&str]) -> Result<Child> {
        let mut command = Command::new(&self.forecourt);
        command
            // Room for all lots, and none before they are asked for: what is measured is answering, not loading.
            .args(["serve", "--cache-mb", CACHE_MB, "--warm-up", "0s", "--drain-seconds", "0"])
            .args(["--listen", "127.0.0.1:0", "--public-origin"])
            .arg(format!("https://{HOST}"))
            .args(further)
            .env("DATABASE_URL", cluster.url(database));
        Child::spawn("forecourt", &mut command, &self.folder)?.ready(READY, |line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            (line.get("message")? == "ready").then(|| line.get("listen")?.as_str()?.parse().ok())?
        })
    }

    /// A server that writes durably.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn durable(&self) -> Result<Cluster> {
        let folder = self.folder.join("ingest");
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Cluster::start(&folder, Use::Writing)
    }

    /// `forecourt worker` on a database. It listens nowhere.
    ///
    /// # Errors
    /// It does not become ready.
    pub(crate) fn worker(&self, cluster: &Cluster, database: &str) -> Result<Child> {
        let mut command = Command::new(&self.forecourt);
        command.arg("worker").arg("--data-dir").arg(self.folder.join("worker"));
        command.env("DATABASE_URL", cluster.url(database));
        Child::spawn("worker", &mut command, &self.folder)?.ready(READY, |line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            (line.get("message")? == "ready").then_some(SocketAddr::from(([127, 0, 0, 1], 0)))
        })
    }

    /// A server of this program itself: `bench serve …`.
    ///
    /// # Errors
    /// It does not become ready.
    pub(crate) fn own(&self, name: &str, arguments: &[String]) -> Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("serve").args(arguments);
        self.spawn(name, &mut command)
    }

    /// Any server that prints `listening on ADDRESS` when it is ready.
    ///
    /// # Errors
    /// It does not become ready.
    pub(crate) fn spawn(&self, name: &str, command: &mut Command) -> Result<Child> {
        Child::spawn(name, command, &self.folder)?.ready(READY, announced)
    }
}

fn announced(line: &str) -> Option<SocketAddr> {
    line.strip_prefix("listening on ")?.trim().parse().ok()
}
