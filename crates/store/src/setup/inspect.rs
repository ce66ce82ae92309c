//! What a database says about itself: for an operator who looks for a reason.

use chrono::{DateTime, Utc};
use sqlx::{ConnectOptions, Connection};
use tracing::instrument;

use super::{check_server, roles};
use crate::database::Database;
use crate::error::Error;

/// Facts of a database that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Version of the server, such as `15.18`.
    pub server_version: String,
    /// Why this program cannot use it, if so: too old, or another encoding than UTF-8.
    pub unsupported: Option<String>,
    /// What time it is there.
    pub clock: DateTime<Utc>,
    /// Whether the platform's roles exist and the login may take them.
    pub roles_ready: bool,
    /// Whether the login may make them itself, as far as can be told before trying.
    pub may_create_roles: bool,
}

/// Asks for them as the login itself. Changes nothing.
///
/// # Errors
/// The database cannot be reached.
#[instrument(name = "store.inspect", skip_all)]
pub async fn inspect(database: &Database) -> Result<Facts, Error> {
    let mut login = database.as_login().connect().await?;
    let unsupported = match check_server(&mut login).await {
        Ok(_) => None,
        Err(Error::Unsupported(reason)) => Some(reason),
        Err(error) => return Err(error),
    };
    let (version, clock, owns_database, makes_roles): (String, DateTime<Utc>, bool, bool) = sqlx::query_as(
        "select current_setting('server_version'), clock_timestamp(),
                me.rolsuper or d.datdba = me.oid,
                me.rolsuper or (me.rolcreaterole
                                and not exists (select from pg_roles ours where ours.rolname = any($1)))
         from pg_roles me, pg_database d
         where me.rolname = session_user and d.datname = current_database()",
    )
    .bind(roles::ROLES)
    .fetch_one(&mut login)
    .await?;
    let steps = roles::steps(&mut login, database.name()).await?;
    let roles_ready = steps.is_empty();
    // On a server that has the roles already, a further database needs no more than its owner can give.
    let about_roles = steps.iter().any(|step| !step.starts_with("grant create on database "));
    let may_create_roles = owns_database && (makes_roles || !about_roles);
    login.close().await?;
    let server_version = version.split(' ').next().unwrap_or_default().to_owned();
    Ok(Facts { server_version, unsupported, clock, roles_ready, may_create_roles })
}
