//! Making a database ready: roles, grants, schema, migrations; and the proof that the wall between tenants stands.

mod inspect;
mod roles;
mod wall;

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use tracing::instrument;

pub use inspect::{Facts, inspect};
pub use roles::role_sql;
pub use wall::{WallError, check_wall};

use crate::database::{Database, OWNER};
use crate::error::Error;
use crate::{MIGRATOR, database};

/// Oldest server we run on.
const OLDEST: i32 = 15;

/// Key of the advisory lock under which a database is prepared.
const LOCK: i64 = 0x666f_7265_636f_7572;

/// What [`prepare`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Names of the migrations that were applied now, `0001_tenants` and so on.
    pub applied: Vec<String>,
    /// Whether roles were created or granted now.
    pub roles_made: bool,
    /// Version of the server, such as `15.18`.
    pub server_version: String,
}

/// Brings the database to what this program needs. Done twice, or by two processes at once, it is done once.
///
/// # Errors
/// [`Error::RolesMissing`] with the statements for an administrator when the login may not create the roles;
/// [`Error::Unsupported`] for a server that is too old; [`Error::Migration`] when one fails (it is undone whole).
#[instrument(name = "store.prepare", skip_all)]
pub async fn prepare(database: &Database) -> Result<Prepared, Error> {
    let mut login = connect_as_login(database).await?;
    let server_version = check_server(&mut login).await?;
    let roles_made = roles::ensure(&mut login, database).await?;

    lock(&mut login).await?;
    let mut owner = connect_as_owner(database).await?;
    // As owner, who has the right to create in this database from `roles::ensure` or from the administrator.
    sqlx::raw_sql("create schema if not exists forecourt").execute(&mut owner).await?;
    check_schema_owner(&mut owner).await?;
    let before = applied(&mut owner).await?;
    // A newer program may have been here: its migrations are made so that older ones go on working.
    let mut migrator = sqlx::migrate::Migrator::with_migrations(MIGRATOR.iter().cloned().collect());
    migrator.set_ignore_missing(true).set_locking(false);
    // Not `run`: what it takes a connection by keeps the future from being `Send`.
    migrator.run_direct(None, &mut owner, false).await.map_err(migration_error)?;
    let applied = known().filter(|(version, _)| !before.contains(version)).map(|(_, name)| name).collect();

    owner.close().await?;
    // Closing the session gives the advisory lock back.
    login.close().await?;
    Ok(Prepared { applied, roles_made, server_version })
}

/// Names of the migrations that the database still lacks; all of them when it was never prepared.
///
/// # Errors
/// The database cannot be reached, or its roles are missing and cannot be taken.
#[instrument(name = "store.pending", skip_all)]
pub async fn pending(database: &Database) -> Result<Vec<String>, Error> {
    let done = match database.as_role(OWNER).connect().await {
        Ok(mut owner) => {
            let done = applied(&mut owner).await?;
            owner.close().await?;
            done
        }
        Err(error) => {
            let error = Error::from(error);
            // No such role, no such database: never prepared.
            match error.sql_state().as_deref() {
                Some("22023" | "3D000") => Vec::new(),
                _ => return Err(error),
            }
        }
    };
    Ok(known().filter(|(version, _)| !done.contains(version)).map(|(_, name)| name).collect())
}

/// Makes a database on the server of `database`, a copy of `template` if that is given (which nobody may use
/// meanwhile).
///
/// # Errors
/// The login may not, or the name is taken (SQLSTATE 42P04).
pub async fn create_database(database: &Database, name: &str, template: Option<&str>) -> Result<(), Error> {
    let mut login = maintenance(database).connect().await?;
    let mut sql = format!("create database {}", quoted(name));
    match template {
        Some(template) => sql.push_str(&format!(" template {}", quoted(template))),
        // Not template1: what a site adds there is not ours to copy, and its encoding may be another.
        None => sql.push_str(" template template0 encoding 'UTF8'"),
    }
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut login).await?;
    login.close().await?;
    Ok(())
}

/// Deletes a database with everything in it, ending the sessions that use it.
///
/// # Errors
/// The login may not.
pub async fn drop_database(database: &Database, name: &str) -> Result<(), Error> {
    let mut login = maintenance(database).connect().await?;
    let sql = format!("drop database if exists {} with (force)", quoted(name));
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut login).await?;
    login.close().await?;
    Ok(())
}

/// An identifier of SQL, quoted.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn maintenance(database: &Database) -> PgConnectOptions {
    database.as_login().database("postgres")
}

async fn connect_as_login(database: &Database) -> Result<PgConnection, Error> {
    match database.as_login().connect().await.map_err(Error::from) {
        // Only a server of our own: elsewhere a wrong name in the address must not make a database.
        Err(error) if database.is_private() && error.sql_state().as_deref() == Some("3D000") => {
            match create_database(database, database.name(), None).await {
                // Another process was faster, or is so right now.
                Err(error) if !(error.sql_state().as_deref() == Some("42P04") || is_catalog_key(&error)) => {
                    Err(error)
                }
                _ => Ok(database.as_login().connect().await?),
            }
        }
        done => done,
    }
}

async fn connect_as_owner(database: &Database) -> Result<PgConnection, Error> {
    database.as_role(OWNER).connect().await.map_err(|error| refused_role(error.into(), database))
}

/// A connection that could not take its role says so with the statements that help.
pub(crate) fn refused_role(error: Error, database: &Database) -> Error {
    match error.sql_state().as_deref() {
        // The role is not there, or the login may not take it.
        Some("22023" | "42501") => roles::missing(database),
        _ => error,
    }
}

/// Whether two sessions made the same thing at the same time, and this one came second.
fn is_catalog_key(error: &Error) -> bool {
    matches!(error, Error::Constraint { name } if name.starts_with("pg_"))
}

async fn check_server(login: &mut PgConnection) -> Result<String, Error> {
    let (number, version, encoding): (i32, String, String) = sqlx::query_as(
        "select current_setting('server_version_num')::int, current_setting('server_version'),
                current_setting('server_encoding')",
    )
    .fetch_one(login)
    .await?;
    // `15.18 (Debian 15.18-0+deb12u1)` says twice what once is enough.
    let version = version.split(' ').next().unwrap_or_default().to_owned();
    if number / 10_000 < OLDEST {
        return Err(Error::Unsupported(format!(
            "PostgreSQL {version} is too old: {OLDEST} or newer is needed"
        )));
    }
    if encoding != "UTF8" {
        return Err(Error::Unsupported(format!(
            "the database has the encoding {encoding}; make one with: create database … encoding 'UTF8'"
        )));
    }
    Ok(version)
}

/// Takes the advisory lock of the session, waiting for another process that prepares the same database.
async fn lock(login: &mut PgConnection) -> Result<(), Error> {
    let mut told = false;
    loop {
        // Asking again and again instead of waiting in the server: a waiting statement would be seen as a hang
        // by a statement timeout of the login.
        let taken: bool =
            sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(LOCK).fetch_one(&mut *login).await?;
        if taken {
            return Ok(());
        }
        if !told {
            tracing::info!("another process is preparing the database; waiting for it");
            told = true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn check_schema_owner(owner: &mut PgConnection) -> Result<(), Error> {
    let name: String = sqlx::query_scalar(
        "select nspowner::regrole::text from pg_catalog.pg_namespace where nspname = 'forecourt'",
    )
    .fetch_one(owner)
    .await?;
    if name != database::OWNER {
        return Err(Error::Unsupported(format!(
            "the schema forecourt belongs to {name}; run: alter schema forecourt owner to {OWNER}"
        )));
    }
    Ok(())
}

/// Versions of the migrations that were applied.
async fn applied(owner: &mut PgConnection) -> Result<Vec<i64>, Error> {
    let there: bool = sqlx::query_scalar("select to_regclass('forecourt._sqlx_migrations') is not null")
        .fetch_one(&mut *owner)
        .await?;
    if !there {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_scalar("select version from forecourt._sqlx_migrations where success")
        .fetch_all(owner)
        .await?)
}

fn known() -> impl Iterator<Item = (i64, String)> {
    MIGRATOR
        .iter()
        .map(|one| (one.version, format!("{:04}_{}", one.version, one.description.replace(' ', "_"))))
}

fn migration_error(error: sqlx::migrate::MigrateError) -> Error {
    use sqlx::migrate::MigrateError;
    match error {
        MigrateError::Execute(error) => Error::from(error),
        MigrateError::ExecuteMigration(error, version) => {
            Error::Migration(format!("{version:04} failed and was undone: {}", Error::from(error)))
        }
        MigrateError::VersionMismatch(version) => Error::Migration(format!(
            "{version:04} was applied in another form than this program has; it must not be edited"
        )),
        other => Error::Migration(other.to_string()),
    }
}

/// Callers spawn these futures; the driver's types make it easy to lose that without noticing. Only compiled.
const _: fn(&Database, &crate::Store) = |database, store| {
    fn send<T: Send>(_: T) {}
    send(prepare(database));
    send(pending(database));
    send(check_wall(store));
};
