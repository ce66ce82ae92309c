//! Where the database is, and how each kind of connection opens.

use std::fmt;
use std::str::FromStr;

use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;

use crate::error::Error;
use crate::private::PrivatePg;

/// Owner of the schema; used by migrations only.
pub(crate) const OWNER: &str = "forecourt_owner";
/// Role of tenant work; sees one tenant.
pub(crate) const APP: &str = "forecourt_app";
/// Role of work across tenants; may do little, with every tenant.
pub(crate) const PLATFORM: &str = "forecourt_platform";

/// Address and login of a database. Prints and debugs without the password.
#[derive(Clone)]
pub struct Database {
    options: PgConnectOptions,
    /// Whether the server is ours alone: then the database may be made.
    private: bool,
}

impl Database {
    /// Reads a `postgres://` address, the usual form of `DATABASE_URL`.
    ///
    /// What it leaves out is taken from the `PG…` variables and the password file, as `psql` does.
    ///
    /// # Errors
    /// [`Error::Address`], whose text does not repeat the address (it may hold a password).
    pub fn from_url(url: &str) -> Result<Database, Error> {
        let url = url.trim();
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err(Error::Address("it must begin with postgres:// or postgresql://"));
        }
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| Error::Address("expected postgres://login:password@host:port/database"))?;
        Ok(Database { options, private: false })
    }

    /// The database of a private server.
    pub fn private(server: &PrivatePg) -> Database {
        let options = PgConnectOptions::new_without_pgpass()
            .socket(server.socket_dir())
            .port(server.port())
            .username("postgres")
            .password("")
            .database("forecourt")
            .ssl_mode(sqlx::postgres::PgSslMode::Disable);
        Database { options, private: true }
    }

    /// Another database on the same server with the same login.
    #[must_use]
    pub fn named(&self, database: &str) -> Database {
        Database { options: self.options.clone().database(database), private: self.private }
    }

    /// Another login for the same database.
    #[must_use]
    pub fn with_login(&self, login: &str, password: &str) -> Database {
        Database { options: self.options.clone().username(login).password(password), private: self.private }
    }

    /// Name of the database.
    pub fn name(&self) -> &str {
        self.options.get_database().unwrap_or_else(|| self.options.get_username())
    }

    /// Name of the login.
    pub fn login(&self) -> &str {
        self.options.get_username()
    }

    pub(crate) fn is_private(&self) -> bool {
        self.private
    }

    /// Options of a connection that stays the login itself: for roles and checks.
    pub(crate) fn as_login(&self) -> PgConnectOptions {
        self.options.clone().application_name("forecourt setup").options([("search_path", "pg_catalog")])
    }

    /// Options of a connection that is `role` from its first moment.
    ///
    /// The role is a startup option, so `reset role` leads back to it and not to the login.
    pub(crate) fn as_role(&self, role: &'static str) -> PgConnectOptions {
        self.options.clone().application_name(role).options([
            ("role", role),
            // Ours first, the session's temporary objects last: nothing can stand in for a table of ours.
            ("search_path", "forecourt,pg_temp"),
        ])
    }

    /// Options of a pool's connection.
    pub(crate) fn for_pool(&self, role: &'static str) -> PgConnectOptions {
        // The span of a statement says how long it took; its text of several kilobytes belongs in no log.
        self.as_role(role).disable_statement_logging().options([
            ("statement_timeout", "30s"),
            ("lock_timeout", "15s"),
            // A transaction that was forgotten holds back vacuum and other writers.
            ("idle_in_transaction_session_timeout", "60s"),
        ])
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.options.get_socket() {
            Some(socket) => write!(f, "{}, port {}", socket.display(), self.options.get_port())?,
            None => write!(f, "{}:{}", self.options.get_host(), self.options.get_port())?,
        }
        write!(f, ", database {}, login {}", self.name(), self.login())
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({self})")
    }
}
