//! PostgreSQL: where it is, how it is prepared, and every statement that the platform runs.
//!
//! Rows of a tenant are reached through a [`TenantTx`] only, which cannot be made without naming the tenant; row
//! level security is the second wall behind that type. Work across tenants is done by a [`PlatformTx`], which is
//! another role and can be searched for. Neither role owns anything. With no database given,
//! [`private::PrivatePg`] runs one.

mod appointments;
mod callers;
mod cards;
mod changes;
mod database;
mod error;
mod feed_files;
mod feed_findings;
mod feed_notices;
mod feed_parts;
mod feed_runs;
mod feed_sources;
mod heat;
mod ids;
mod jobs;
mod lead_keys;
mod leads;
mod listing_row;
mod lots;
mod packed;
mod platform;
pub mod private;
mod run_row;
mod runs_across;
pub mod setup;
mod source_row;
mod source_units;
mod sources_across;
mod tenant;
mod tenants;
mod vehicle_edits;
mod vehicle_history;
mod vehicles;
mod versions;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Postgres, Transaction};
use tracing::instrument;

pub use appointments::{Agenda, AgendaWanted, AppointmentWrite, OwnAppointment, StoredAppointment};
pub use callers::{CallerKeyRow, CallerKeyWrite, KeySetRow};
pub use cards::{CardRevisionRow, CardRow, CardWrite};
pub use changes::{Change, Changes, JobCalls};
pub use database::Database;
pub use error::{Driver, Error};
pub use feed_files::{FileEnd, FileRow, Swept};
pub use feed_findings::{FindingFilter, FindingRow};
pub use feed_notices::{NewNotice, NoticeRow};
pub use feed_parts::PartRow;
pub use ids::{TenantId, TenantState};
pub use jobs::{FailedJob, Job, JobCounts, NewJob, fetch_key};
pub use lead_keys::KeyWrite;
pub use leads::{Earlier, Fingerprint, KnownKey, LeadWrite, StoredLead, StoredNote, Turn, TurnWanted};
pub use lots::{Lot, PublishedRow, Removed, RemovedRow};
pub use platform::{DirectoryRow, PlatformTx, VersionRow};
pub use run_row::{NewRun, RunRow, RunState};
pub use runs_across::RunOfTenant;
pub use source_row::{SourceKind, SourceRow};
pub use source_units::{AliasRow, FoundVehicle, LotIdentity, SourceUnitRow, UnitKey};
pub use sources_across::SilentRow;
pub use tenant::TenantTx;
pub use tenants::{RooftopRow, TenantRow};
pub use vehicle_edits::EditRow;
pub use vehicle_history::HistoryRow;
pub use versions::LotDelta;

/// The schema's history, applied by [`setup::prepare`].
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// The open database: a pool of connections for each role.
#[derive(Clone)]
pub struct Store {
    app: PgPool,
    platform: PgPool,
    database: Database,
}

/// How long a request waits for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);

impl Store {
    /// Opens the pools, at most `max_connections` connections in all (at least two), not counting those that
    /// [`Store::listen`] opens. Run [`setup::prepare`] before and [`setup::check_wall`] after it.
    ///
    /// # Errors
    /// The database cannot be reached or the login may not take the roles.
    pub async fn connect(database: &Database, max_connections: u32) -> Result<Store, Error> {
        let for_platform = (max_connections / 4).max(1);
        let for_app = max_connections.saturating_sub(for_platform).max(1);
        let pool = |role, connections| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(ACQUIRE)
                // A ping a request would cost a round trip; a connection that died is replaced in `begin`.
                .test_before_acquire(false)
                .connect_with(database.for_pool(role))
        };
        // Once without a pool, which would take a refused connection for a server that is just starting and
        // answer only that time ran out.
        for role in [database::APP, database::PLATFORM] {
            let connection = database.for_pool(role).connect().await.map_err(Error::from);
            connection.map_err(|error| setup::refused_role(error, database))?.close().await?;
        }
        let app = pool(database::APP, for_app).await?;
        let platform = pool(database::PLATFORM, for_platform).await?;
        Ok(Store { app, platform, database: database.clone() })
    }

    /// Opens a transaction of one tenant; one round trip.
    #[instrument(name = "store.begin", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "begin"))]
    pub async fn tenant(&self, id: TenantId) -> Result<TenantTx, Error> {
        Ok(TenantTx::new(begin(&self.app, || TenantTx::opening(id)).await?, id))
    }

    /// Opens a transaction of one tenant that only reads, and reads one state of the database throughout.
    #[instrument(name = "store.begin", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "begin"))]
    pub async fn tenant_snapshot(&self, id: TenantId) -> Result<TenantTx, Error> {
        Ok(TenantTx::new(begin(&self.app, || TenantTx::opening_snapshot(id)).await?, id))
    }

    /// Opens a transaction of the platform role.
    #[instrument(name = "store.begin", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "begin"))]
    pub async fn platform(&self) -> Result<PlatformTx, Error> {
        Ok(PlatformTx::new(begin(&self.platform, || AssertSqlSafe("begin".to_owned())).await?))
    }

    /// Reads of one tenant from one state of the database, done again once if the connection breaks meanwhile.
    ///
    /// Only for work that changes nothing: `store.read(id, |tx| Box::pin(async move { tx.lot().await }))`.
    pub async fn read<T, F>(&self, id: TenantId, work: F) -> Result<T, Error>
    where
        F: for<'t> Fn(&'t mut TenantTx) -> Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 't>>,
    {
        let mut tx = self.tenant_snapshot(id).await?;
        match work(&mut tx).await {
            Err(error) if error.is_broken_connection() => {
                drop(tx);
                let mut tx = self.tenant_snapshot(id).await?;
                work(&mut tx).await
            }
            done => done,
        }
    }

    /// Listens for changes on a connection of its own.
    ///
    /// # Errors
    /// None today: a database that is away is waited for by [`Changes::next`].
    pub async fn listen(&self) -> Result<Changes, Error> {
        Ok(Changes::start(self.database.as_role(database::PLATFORM)))
    }

    /// Listens for new jobs on a connection of its own.
    pub fn listen_jobs(&self) -> JobCalls {
        JobCalls::start(self.database.as_role(database::PLATFORM))
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// It does not, within the time a request waits for a connection.
    pub async fn ping(&self) -> Result<(), Error> {
        self.platform().await?.rollback().await
    }

    /// Connections open and idle, of both pools together.
    pub fn connections(&self) -> (u32, usize) {
        (self.app.size() + self.platform.size(), idle(&self.app) + idle(&self.platform))
    }

    /// Where the database is.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Closes every connection, after those in use are given back.
    pub async fn close(&self) {
        self.app.close().await;
        self.platform.close().await;
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", self.database)
    }
}

/// Idle connections of a pool. Its own count may for a moment lie below zero, which reads as very many.
fn idle(pool: &PgPool) -> usize {
    pool.num_idle().min(usize::try_from(pool.size()).unwrap_or(0))
}

/// Opens a transaction. After a restart of the server every idle connection of the pool is dead and says so only
/// when it is used: each is tried at most once, then a fresh one.
async fn begin(
    pool: &PgPool,
    statement: impl Fn() -> AssertSqlSafe<String>,
) -> Result<Transaction<'static, Postgres>, Error> {
    let mut dead = idle(pool) + 1;
    loop {
        match pool.begin_with(statement()).await.map_err(Error::from) {
            Err(error) if dead > 0 && error.is_broken_connection() => dead -= 1,
            done => return done,
        }
    }
}
