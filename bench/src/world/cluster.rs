//! PostgreSQL with the dealers in it, kept from one run to the next.

use std::path::Path;

use anyhow::{Context, Result};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, PgConnection};
use store::private::{Options, PrivatePg};
use store::{Database, Store, setup};

use crate::data::{self, EDITION, Lot};
use crate::sql;

/// The database with the measured lots and two hundred mixed ones.
pub(crate) const MAIN: &str = "main";
/// The database with two thousand equal dealers.
pub(crate) const DEALERS: &str = "dealers";
/// The database with three of them.
pub(crate) const THREE: &str = "three";

/// The database that files of dealers are brought into, of a server of its own.
pub(crate) const INGEST: &str = "ingest";

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Nothing is written durably: what is measured reads, and its data can be made anew.
    Reading,
    /// What is measured writes, so everything is as durable as where people use it.
    Writing,
}

/// A server for ourselves, tuned as its manual advises for a machine that it shares with other servers.
pub(crate) struct Cluster {
    server: PrivatePg,
    database: Database,
    /// Begins the names of our databases: one for each edition of the data and each state of the schema, so that
    /// what an older program made is never taken for this one's.
    prefix: String,
}

impl Cluster {
    /// Starts the server.
    pub(super) fn start(folder: &Path, used: Use) -> Result<Cluster> {
        let mut options = Options::new(folder, "bench");
        options.durable = used == Use::Writing;
        options.roots = std::env::current_dir().into_iter().collect();
        options.settings = [
            // The whole of the data, so that no variant waits for a disk.
            "shared_buffers=1GB",
            "effective_cache_size=2GB",
            "work_mem=32MB",
            "maintenance_work_mem=256MB",
            "random_page_cost=1.1",
        ]
        .map(str::to_owned)
        .to_vec();
        let further: &[&str] = match used {
            Use::Reading => &["max_wal_size=1GB", "wal_level=minimal", "max_wal_senders=0"],
            // No checkpoint and no vacuum begins while something is measured: either would meet one variant alone.
            Use::Writing => &["max_wal_size=3GB", "checkpoint_timeout=1h", "autovacuum=off"],
        };
        options.settings.extend(further.iter().copied().map(str::to_owned));
        let server = PrivatePg::start(&options).context("PostgreSQL")?;
        let database = Database::private(&server);
        let checksums = store::MIGRATOR.iter().flat_map(|migration| migration.checksum.iter());
        let schema = checksums.fold(0_u32, |hash, byte| hash.rotate_left(5) ^ u32::from(*byte));
        Ok(Cluster { server, database, prefix: format!("bench_{EDITION}_{schema:08x}_") })
    }

    /// Process id of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// `DATABASE_URL` of one of the databases.
    pub(crate) fn url(&self, database: &str) -> String {
        let folder = self.server.socket_dir().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}:{}/{}", self.server.port(), self.name(database))
    }

    /// The same for programs that want it in parts: folder of the socket, its number, name of the database.
    pub(crate) fn place(&self, database: &str) -> [String; 3] {
        let folder = self.server.socket_dir().display().to_string();
        [folder, self.server.port().to_string(), self.name(database)]
    }

    fn name(&self, database: &str) -> String {
        format!("{}{database}", self.prefix)
    }

    fn database(&self, database: &str) -> Database {
        self.database.named(&self.name(database))
    }

    /// How to connect without a policy that binds.
    pub(crate) fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(self.server.socket_dir())
            .port(self.server.port())
            .username("postgres")
            .database(&self.name(database))
            .options([("search_path", "forecourt")])
            .disable_statement_logging()
    }

    /// A connection that no policy binds.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) async fn superuser(&self, database: &str) -> Result<PgConnection> {
        Ok(self.options(database).connect().await?)
    }

    /// The product's way to the database.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) async fn store(&self, database: &str) -> Result<Store> {
        Ok(Store::connect(&self.database(database), 8).await?)
    }

    /// Makes sure that a database holds these lots. `forecourt` is the program that provisions them.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) async fn ensure(&self, database: &str, lots: &[Lot], forecourt: &Path) -> Result<()> {
        let name = self.name(database);
        if !self.there(&name).await? {
            setup::create_database(&self.database, &name, None).await?;
        }
        setup::prepare(&self.database(database)).await?;
        let store = self.store(database).await?;
        let missing = data::unfilled(&store, lots).await?;
        if !missing.is_empty() {
            let units: u32 = missing.iter().map(|lot| lot.units).sum();
            eprintln!("bench: writing {} dealers with {units} vehicles, once", missing.len());
            let url = self.url(database);
            let (program, lots) = (forecourt.to_owned(), missing.clone());
            tokio::task::spawn_blocking(move || data::provision(&program, &url, &lots)).await??;
            data::fill(&store, &missing).await?;
        }
        store.close().await;
        let pool = self.pool(database, 1).await?;
        if database == MAIN {
            sql::make_indexes(&pool).await?;
        }
        if !missing.is_empty() {
            sqlx::raw_sql("vacuum analyze").execute(&pool).await?;
        }
        pool.close().await;
        Ok(())
    }

    /// Makes a database anew, with dealers that have nothing yet.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) async fn afresh(&self, database: &str, lots: &[Lot], forecourt: &Path) -> Result<()> {
        let name = self.name(database);
        if self.there(&name).await? {
            setup::drop_database(&self.database, &name).await?;
        }
        setup::create_database(&self.database, &name, None).await?;
        setup::prepare(&self.database(database)).await?;
        let (program, url, lots) = (forecourt.to_owned(), self.url(database), lots.to_vec());
        tokio::task::spawn_blocking(move || data::provision(&program, &url, &lots)).await?
    }

    /// Removes a database.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) async fn drop(&self, database: &str) -> Result<()> {
        Ok(setup::drop_database(&self.database, &self.name(database)).await?)
    }

    /// Whether a database is there. Those of other editions go, for they are large.
    async fn there(&self, name: &str) -> Result<bool> {
        let mut connection = self.options(MAIN).database("postgres").connect().await?;
        let known: Vec<String> =
            sqlx::query_scalar("select datname from pg_database where datname like 'bench%'")
                .fetch_all(&mut connection)
                .await?;
        for stale in known.iter().filter(|known| !known.starts_with(&self.prefix)) {
            setup::drop_database(&self.database, stale).await?;
        }
        Ok(known.iter().any(|known| known == name))
    }

    /// A pool that no policy binds.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) async fn pool(&self, database: &str, connections: u32) -> Result<PgPool> {
        let pool = PgPoolOptions::new().max_connections(connections).test_before_acquire(false);
        Ok(pool.connect_with(self.options(database)).await?)
    }
}
