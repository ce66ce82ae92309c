//! The commands, one file each, and what they share: a database that is ready, and words for its refusals.

pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod feed;
pub(crate) mod key;
pub(crate) mod lead;
pub(crate) mod migrate;
pub(crate) mod provision;
pub(crate) mod serve;
pub(crate) mod vehicle;
pub(crate) mod worker;

use std::future::Future;

use dealer::Addresses;
use store::setup::{self, WallError};
use store::{Database, Store};
use tokio::runtime::Runtime;
use tracing::Instrument;

use crate::database::{self, Place, Purpose};
use crate::failure::{Failure, UNUSABLE, chain, io_reason};
use crate::settings::Settings;
use crate::telemetry::Telemetry;

/// The runtime of background work and commands; requests have threads of their own.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("forecourt").build().map_err(
        |error| Failure::new(format!("the operating system gives us no threads ({})", io_reason(&error))),
    )
}

/// Runs a command that does its work on the database and ends: telemetry, database (the one that is running
/// already, if there is one), runtime, work, and all of it back again.
pub(crate) fn run_once<T, F>(
    settings: &Settings,
    command: &'static str,
    work: impl FnOnce(Database) -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let telemetry = Telemetry::start(&settings.log)?;
    let place = Place::open(settings, Purpose::Work { command })?;
    let alone = place.is_alone();
    let outcome = runtime().and_then(|runtime| {
        let span = tracing::info_span!("command", command);
        let outcome = runtime.block_on(work(place.database()).instrument(span));
        runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        outcome
    });
    place.close();
    telemetry.shutdown();
    if alone && outcome.is_ok() {
        remind(settings);
    }
    outcome
}

/// The same for a command that has nothing to do where there is no data yet; there it makes none.
pub(crate) fn run_on_data<T, F>(
    settings: &Settings,
    command: &'static str,
    work: impl FnOnce(Database) -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    database::must_exist(settings, command)?;
    run_once(settings, command, work)
}

/// Whoever works on private data that no platform runs on should know: it may be the wrong folder.
fn remind(settings: &Settings) {
    let folder = std::path::absolute(&settings.data_dir).unwrap_or_else(|_| settings.data_dir.clone());
    let folder = folder.display();
    eprintln!("forecourt: no platform runs on this data; start one with: forecourt up --data-dir {folder}");
}

/// Applies pending migrations, or refuses to go on with them pending.
pub(crate) async fn ready_database(database: &Database, migrate: bool) -> Result<(), Failure> {
    if migrate {
        let prepared = setup::prepare(database).await.map_err(|error| explain(database, &error))?;
        if !prepared.applied.is_empty() {
            tracing::info!(migrations = prepared.applied.join(", "), "database is migrated");
        }
        return Ok(());
    }
    let pending = setup::pending(database).await.map_err(|error| explain(database, &error))?;
    if pending.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the database lacks {} of this version: {}",
        count(pending.len(), "migration"),
        pending.join(", ")
    ))
    .advise("run `forecourt migrate` with the same settings, then start again"))
}

/// Opens the pools and proves that the wall between tenants stands.
pub(crate) async fn connect(database: &Database, settings: &Settings) -> Result<Store, Failure> {
    connect_with(database, settings.max_connections).await
}

/// The same with so many connections.
pub(crate) async fn connect_with(database: &Database, connections: u32) -> Result<Store, Failure> {
    let store = Store::connect(database, connections).await.map_err(|error| explain(database, &error))?;
    match setup::check_wall(&store).await {
        Ok(()) => Ok(store),
        Err(WallError::Store(error)) => Err(explain(database, &error)),
        Err(WallError::Open(findings)) => {
            let mut failure = Failure::new(
                "the wall between tenants is not effective, so nothing is served from this database",
            );
            failure.advice = findings;
            Err(failure
                .advise("undo what changed the roles or policies; `forecourt doctor` shows what is left"))
        }
    }
}

/// What a command works on.
pub(crate) async fn open_store(database: &Database, settings: &Settings) -> Result<Store, Failure> {
    ready_database(database, true).await?;
    connect(database, settings).await
}

/// The addresses for cards of a platform that never ran on this database.
pub(crate) fn fallback_addresses(settings: &Settings) -> Result<Addresses, Failure> {
    let origin = settings.origin(settings.listen).map_err(|message| {
        Failure::new(format!("--public-origin (FORECOURT_PUBLIC_ORIGIN) {message}")).status(UNUSABLE)
    })?;
    Ok(settings.addresses(origin))
}

/// Brings the demo dealers in.
pub(crate) async fn load_demo(store: &Store, addresses: &Addresses) -> Result<(), Failure> {
    demo::load(store, addresses).await.map(drop)
}

/// A refusal of the database in words for an operator.
pub(crate) fn explain(database: &Database, error: &store::Error) -> Failure {
    match error {
        store::Error::RolesMissing { login, sql } => return roles_missing(login, sql),
        // The login may not take a role, or there is none of that name.
        _ if matches!(error.sql_state().as_deref(), Some("42501" | "22023")) => {
            return roles_missing(database.login(), &setup::role_sql(database.login(), database.name()));
        }
        _ => {}
    }
    if error.is_broken_connection() {
        return Failure::new(format!("the database does not answer at {database} ({})", chain(error)))
            .advise("check that it runs and that DATABASE_URL names it; `forecourt doctor` looks closer");
    }
    match error.sql_state().as_deref() {
        Some("28P01" | "28000") => Failure::new(format!("the database refuses the login ({})", chain(error)))
            .advise("check login and password in DATABASE_URL"),
        Some("3D000") => Failure::new(format!("there is no such database: {database}"))
            .advise(format!("make it with: create database {} encoding 'UTF8'", database.name())),
        _ => Failure::new(chain(error)).advise("`forecourt doctor` looks closer"),
    }
}

fn roles_missing(login: &str, sql: &str) -> Failure {
    let mut failure = Failure::new(format!(
        "the database login {login} needs the roles of the platform and may not create or take them"
    ))
    .advise("let an administrator of the database run this once:");
    failure.advice.extend(sql.lines().map(|line| format!("  {line}")));
    failure
}

/// `1 migration`, `2 migrations`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
