//! The three roles of the platform and the login's right to take them.
//!
//! Roles belong to the whole server, not to one database: programs that prepare two databases at once meet here,
//! and no lock of a database keeps them apart. So every step may fail because the other was faster, and is then
//! looked at again.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection};

use super::quoted;
use crate::database::{APP, Database, OWNER, PLATFORM};
use crate::error::Error;

pub(crate) const ROLES: [&str; 3] = [OWNER, APP, PLATFORM];

/// What a role may not be: each would go around the wall or change who is behind it.
const ATTRIBUTES: &str = "nologin nosuperuser nocreatedb nocreaterole noreplication nobypassrls";

/// The statements with which an administrator makes ready what the login may not do itself.
///
/// They may be run more than once, by a superuser, in any database of the server.
pub fn role_sql(login: &str, database: &str) -> String {
    let mut sql = String::new();
    for role in ROLES {
        sql.push_str(&format!(
            "do $$ begin create role {role} {ATTRIBUTES}; exception when duplicate_object then null; end $$;\n"
        ));
    }
    sql.push_str(&format!("grant {} to {};\n", ROLES.join(", "), quoted(login)));
    sql.push_str(&format!("grant create on database {} to {OWNER};\n", quoted(database)));
    sql
}

pub(super) fn missing(database: &Database) -> Error {
    Error::RolesMissing {
        login: database.login().to_owned(),
        sql: role_sql(database.login(), database.name()),
    }
}

/// Creates what is missing. Answers whether anything was.
pub(super) async fn ensure(login: &mut PgConnection, database: &Database) -> Result<bool, Error> {
    let mut made = false;
    let mut collisions = 0;
    loop {
        let todo = steps(login, database.name()).await?;
        if todo.is_empty() {
            return Ok(made);
        }
        let mut collided = false;
        for step in todo {
            match sqlx::raw_sql(AssertSqlSafe(step)).execute(&mut *login).await.map_err(Error::from) {
                Ok(_) => made = true,
                Err(error) => match error.sql_state().as_deref() {
                    Some("42501") => return Err(missing(database)),
                    _ if collisions < 50 && is_collision(&error) => collided = true,
                    _ => return Err(error),
                },
            }
        }
        if collided {
            collisions += 1;
            tokio::time::sleep(Duration::from_millis(rand::random_range(5..50))).await;
        } else if !steps(login, database.name()).await?.is_empty() {
            // Done without complaint and still not so: PostgreSQL only warns where a grantor lacks the right.
            return Err(missing(database));
        }
    }
}

/// The statements that are still needed, in their order.
pub(super) async fn steps(login: &mut PgConnection, database: &str) -> Result<Vec<String>, Error> {
    let mut todo = Vec::new();
    let me: String = sqlx::query_scalar("select session_user::text").fetch_one(&mut *login).await?;
    let existing: Vec<String> =
        sqlx::query_scalar("select rolname::text from pg_roles where rolname = any($1)")
            .bind(ROLES)
            .fetch_all(&mut *login)
            .await?;
    for role in ROLES.into_iter().filter(|role| !existing.iter().any(|one| one == role)) {
        todo.push(format!("create role {role} {ATTRIBUTES}"));
    }
    for role in ROLES {
        if !existing.iter().any(|one| one == role) || !may_take(login, role).await? {
            todo.push(format!("grant {role} to {}", quoted(&me)));
        }
    }
    let may_create = existing.iter().any(|one| one == OWNER)
        && sqlx::query_scalar("select has_database_privilege($1, current_database(), 'create')")
            .bind(OWNER)
            .fetch_one(&mut *login)
            .await?;
    if !may_create {
        todo.push(format!("grant create on database {} to {OWNER}", quoted(database)));
    }
    Ok(todo)
}

/// Whether the login may `set role` to it. Since version 16 a membership may come without that right.
async fn may_take(login: &mut PgConnection, role: &str) -> Result<bool, Error> {
    let version: i32 = sqlx::query_scalar("select current_setting('server_version_num')::int")
        .fetch_one(&mut *login)
        .await?;
    let right = if version >= 160_000 { "SET" } else { "MEMBER" };
    Ok(sqlx::query_scalar("select pg_has_role(session_user, $1::name, $2)")
        .bind(role)
        .bind(right)
        .fetch_one(login)
        .await?)
}

/// Whether another session did the same at the same time.
fn is_collision(error: &Error) -> bool {
    // duplicate_object; "tuple concurrently updated" has no code of its own.
    super::is_catalog_key(error) || matches!(error.sql_state().as_deref(), Some("42710" | "40001" | "XX000"))
}
