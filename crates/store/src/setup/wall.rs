//! The proof that no tenant can see another, run at every start: in the catalog, and by trying.

use sqlx::{AssertSqlSafe, PgConnection};
use tracing::instrument;

use crate::database::{APP, OWNER, PLATFORM};
use crate::error::Error;
use crate::{Store, TenantId};

/// The wall between tenants is not there: the platform must not start.
#[derive(Debug, thiserror::Error)]
pub enum WallError {
    /// What was found, in words for the operator; never empty.
    #[error("the wall between tenants is not effective:\n  - {}", .0.join("\n  - "))]
    Open(Vec<String>),
    /// The proof itself could not be made.
    #[error("the wall between tenants could not be checked: {0}")]
    Store(#[from] Error),
}

impl From<sqlx::Error> for WallError {
    fn from(error: sqlx::Error) -> Self {
        WallError::Store(error.into())
    }
}

/// Proves that row level security holds for the connections that this process uses.
///
/// # Errors
/// [`WallError::Open`] names everything that is wrong.
#[instrument(name = "store.check_wall", skip_all)]
pub async fn check_wall(store: &Store) -> Result<(), WallError> {
    let mut found = Vec::new();

    let mut platform = store.platform().await?;
    roles(platform.conn(), &mut found).await?;
    current_role(platform.conn(), PLATFORM, &mut found).await?;
    tables(platform.conn(), &mut found).await?;
    ways_around(platform.conn(), &mut found).await?;
    platform.rollback().await?;

    // A tenant that does not exist: this connection must be the application role and see nothing at all.
    let mut app = store.tenant(TenantId::new()).await?;
    current_role(app.conn(), APP, &mut found).await?;
    for table in tenant_tables(app.conn()).await? {
        if sees_rows(app.conn(), &table).await? {
            found.push(format!("{APP} sees rows of other tenants in {table}"));
        }
    }
    app.rollback().await?;

    if found.is_empty() {
        try_it(store, &mut found).await?;
    }
    if found.is_empty() { Ok(()) } else { Err(WallError::Open(found)) }
}

/// Neither role may be, or be able to become, something that policies do not bind.
async fn roles(conn: &mut PgConnection, found: &mut Vec<String>) -> Result<(), WallError> {
    let unbound: Vec<(String, String)> = sqlx::query_as(
        "select ours.rolname::text, strong.rolname::text
         from pg_roles ours, pg_roles strong
         where ours.rolname in ($1, $2)
           and (strong.rolsuper or strong.rolbypassrls or strong.rolcreaterole or strong.rolname = $3
                or (strong.rolname in ($1, $2) and strong.rolname <> ours.rolname))
           and pg_has_role(ours.oid, strong.oid, 'MEMBER')
         order by 1, 2",
    )
    .bind(APP)
    .bind(PLATFORM)
    .bind(OWNER)
    .fetch_all(&mut *conn)
    .await?;
    for (ours, strong) in unbound {
        found.push(if ours == strong {
            format!("{ours} is a superuser, may bypass row level security or create roles")
        } else {
            format!("{ours} is a member of {strong}")
        });
    }
    let owned: Vec<(String, String)> = sqlx::query_as(
        "select c.relowner::regrole::text, c.relname::text
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'forecourt' and c.relowner <> (select oid from pg_roles where rolname = $1)
         order by 2",
    )
    .bind(OWNER)
    .fetch_all(conn)
    .await?;
    for (owner, relation) in owned {
        found.push(format!("{relation} belongs to {owner} and not to {OWNER}"));
    }
    Ok(())
}

async fn current_role(
    conn: &mut PgConnection,
    expected: &str,
    found: &mut Vec<String>,
) -> Result<(), WallError> {
    let role: String = sqlx::query_scalar("select current_user::text").fetch_one(conn).await?;
    if role != expected {
        found.push(format!("a connection is {role} where it should be {expected}"));
    }
    Ok(())
}

/// Every table that names a tenant, in the catalog's spelling.
async fn tenant_tables(conn: &mut PgConnection) -> Result<Vec<String>, WallError> {
    Ok(sqlx::query_scalar(
        "select c.relname::text
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'forecourt' and c.relkind in ('r', 'p')
           and exists (select from pg_attribute a
                       where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
         order by 1",
    )
    .fetch_all(conn)
    .await?)
}

/// Each of them has row level security, and no policy lets the application role out of its tenant.
async fn tables(conn: &mut PgConnection, found: &mut Vec<String>) -> Result<(), WallError> {
    const ONE_TENANT: &str = "(tenant_id = current_tenant())";
    for table in tenant_tables(conn).await? {
        let enabled: bool = sqlx::query_scalar(
            "select c.relrowsecurity from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = 'forecourt' and c.relname = $1",
        )
        .bind(&table)
        .fetch_one(&mut *conn)
        .await?;
        if !enabled {
            found.push(format!("{table} has no row level security"));
        }
        let policies: Vec<(String, bool, String, String)> = sqlx::query_as(
            "select p.polname::text, p.polpermissive,
                    replace(coalesce(pg_get_expr(p.polqual, p.polrelid), ''), 'forecourt.', ''),
                    replace(coalesce(pg_get_expr(p.polwithcheck, p.polrelid), ''), 'forecourt.', '')
             from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = 'forecourt' and c.relname = $1
               and exists (select from unnest(p.polroles) r (oid)
                           where r.oid = 0 or pg_has_role($2::name, r.oid, 'MEMBER'))",
        )
        .bind(&table)
        .bind(APP)
        .fetch_all(&mut *conn)
        .await?;
        if !policies.iter().any(|policy| policy.1) {
            found.push(format!("{table} has no policy for {APP}"));
        }
        for (name, permissive, using, check) in policies {
            let bound = using == ONE_TENANT && (check.is_empty() || check == ONE_TENANT);
            if permissive && !bound {
                found.push(format!("policy {name} of {table} lets {APP} see other tenants"));
            }
        }
    }
    Ok(())
}

/// What runs with the owner's rights goes around every policy: views and functions that the roles may use.
async fn ways_around(conn: &mut PgConnection, found: &mut Vec<String>) -> Result<(), WallError> {
    let views: Vec<String> = sqlx::query_scalar(
        "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'forecourt'
           and (c.relkind = 'm'
                or c.relkind = 'v' and not coalesce(c.reloptions && array['security_invoker=true',
                                                    'security_invoker=on', 'security_invoker=1'], false))
           and has_any_column_privilege($1::name, c.oid, 'select')
         order by 1",
    )
    .bind(APP)
    .fetch_all(&mut *conn)
    .await?;
    for view in views {
        found.push(format!("the view {view} shows {APP} what its owner sees"));
    }
    let functions: Vec<String> = sqlx::query_scalar(
        "select p.proname::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = 'forecourt' and p.prosecdef and has_function_privilege($1::name, p.oid, 'execute')
         order by 1",
    )
    .bind(APP)
    .fetch_all(conn)
    .await?;
    for function in functions {
        found.push(format!("the function {function} gives {APP} its owner's rights"));
    }
    Ok(())
}

async fn sees_rows(conn: &mut PgConnection, table: &str) -> Result<bool, WallError> {
    let privileged: bool =
        sqlx::query_scalar("select has_any_column_privilege('forecourt.' || quote_ident($1), 'select')")
            .bind(table)
            .fetch_one(&mut *conn)
            .await?;
    if !privileged {
        return Ok(false);
    }
    let sql = format!("select exists (select from forecourt.{})", super::quoted(table));
    Ok(sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(conn).await?)
}

/// Two tenants are made, one looks for the other, and all of it is undone.
async fn try_it(store: &Store, found: &mut Vec<String>) -> Result<(), WallError> {
    let mut platform = store.platform().await?;
    let own = platform.create_tenant(&probe_slug()).await?;
    let other = platform.create_tenant(&probe_slug()).await?;
    let mut tx = platform.into_tenant(own).await?;

    let seen: Vec<uuid::Uuid> =
        sqlx::query_scalar("select tenant_id from tenants").fetch_all(tx.conn()).await?;
    if seen != [own.0] {
        found.push(format!("{APP} with a tenant sees {} tenants instead of its own", seen.len()));
    }
    let changed = sqlx::query("update tenants set name = 'probe' where tenant_id = $1")
        .bind(other.0)
        .execute(tx.conn())
        .await?;
    if changed.rows_affected() != 0 {
        found.push(format!("{APP} can change rows of another tenant"));
    }

    sqlx::raw_sql("set local app.tenant = ''").execute(tx.conn()).await?;
    let without: i64 = sqlx::query_scalar("select count(*) from tenants").fetch_one(tx.conn()).await?;
    if without != 0 {
        found.push(format!("{APP} without a tenant sees {without} tenants"));
    }

    sqlx::raw_sql(AssertSqlSafe(format!("set local app.tenant = '{own}'"))).execute(tx.conn()).await?;
    // The refusal is caught inside the server: it is what we want, and no ERROR for an operator to read.
    let probe = format!(
        "do $$ begin
             insert into vehicles (tenant_id, vehicle_id, status, vehicle_type, updated_at, content_hash,
                                   render_version, row_version, listing)
             values ('{other}', 'probe', 'available', 'car', now(), sha256(''), 0, 0, '{{}}');
             set local app.probe = 'written';
         exception when insufficient_privilege then
             set local app.probe = 'refused';
         end $$"
    );
    sqlx::raw_sql(AssertSqlSafe(probe)).execute(tx.conn()).await?;
    let written: String =
        sqlx::query_scalar("select current_setting('app.probe')").fetch_one(tx.conn()).await?;
    if written != "refused" {
        found.push(format!("{APP} can write rows of another tenant"));
    }
    Ok(tx.rollback().await?)
}

fn probe_slug() -> String {
    format!("wall-probe-{}", TenantId::new())
}
