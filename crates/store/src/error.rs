//! What can go wrong between us and PostgreSQL.

use std::fmt;

/// Any failure of the store. Absence is not one: look-ups answer `Option`.
///
/// No text of an error holds a row's value, a statement's argument or a password, so that it may be logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver or the server failed.
    #[error("database: {0}")]
    Database(Driver),
    /// A constraint of the schema refused a write.
    #[error("the constraint {name} refused the write")]
    Constraint {
        /// Name of the constraint as the migrations spell it.
        name: String,
    },
    /// A row holds what this program cannot have written.
    #[error("corrupt data in {table}.{column} of {id}")]
    Corrupt {
        /// Table of the row.
        table: &'static str,
        /// Column that is wrong.
        column: &'static str,
        /// Key of the row, made of identifiers only.
        id: String,
    },
    /// Another tenant already has the domain.
    #[error("the domain belongs to another tenant")]
    DomainTaken {
        /// The domain that was refused.
        domain: String,
    },
    /// A text contains U+0000, which PostgreSQL cannot store.
    #[error("a text contains the character U+0000, which the database cannot store")]
    Unstorable,
    /// The login of `DATABASE_URL` lacks the roles and may not make them.
    #[error(
        "the database login {login} needs the roles of the platform and may not create them; \
         let an administrator of the database run:\n\n{sql}"
    )]
    RolesMissing {
        /// The login that was used.
        login: String,
        /// The exact statements to run.
        sql: String,
    },
    /// The address of the database cannot be used.
    #[error("the database address is not usable: {0}")]
    Address(&'static str),
    /// The server or database does not meet a requirement.
    #[error("{0}")]
    Unsupported(String),
    /// A migration failed or the applied ones differ from ours.
    #[error("migrations: {0}")]
    Migration(String),
}

impl Error {
    /// SQLSTATE of the server's refusal, if it was one.
    pub fn sql_state(&self) -> Option<String> {
        match self {
            Error::Database(driver) => driver.sql_state(),
            _ => None,
        }
    }

    /// Whether the connection broke or the server was not there: trying again later can help.
    pub fn is_broken_connection(&self) -> bool {
        match self {
            Error::Database(driver) => driver.is_broken_connection(),
            _ => false,
        }
    }

    /// Whether the same work may succeed when it is done again from its start.
    pub fn is_transient(&self) -> bool {
        // Serialisation failures, deadlocks, lock and statement timeouts, too many connections.
        const STATES: [&str; 7] = ["40001", "40P01", "55P03", "57014", "53300", "25P03", "57P01"];
        self.is_broken_connection()
            || self.sql_state().is_some_and(|state| STATES.contains(&state.as_str()))
            || matches!(self, Error::Database(driver) if matches!(driver.0, sqlx::Error::PoolTimedOut))
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        if let sqlx::Error::Database(database) = &error {
            match database.code().as_deref() {
                // character_not_in_repertoire, untranslatable_character
                Some("22021" | "22P05") => return Error::Unstorable,
                Some(code) if code.starts_with("23") => {
                    if let Some(name) = database.constraint() {
                        return Error::Constraint { name: name.to_owned() };
                    }
                }
                _ => {}
            }
        }
        Error::Database(Driver(error))
    }
}

/// A driver error whose texts are safe to log: it hides what could hold values of rows or arguments.
pub struct Driver(sqlx::Error);

impl Driver {
    /// The driver's own error. Its texts may hold values: never log them.
    pub fn inner(&self) -> &sqlx::Error {
        &self.0
    }

    fn sql_state(&self) -> Option<String> {
        self.0.as_database_error()?.code().map(|code| code.into_owned())
    }

    fn is_broken_connection(&self) -> bool {
        match &self.0 {
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
            // An idle connection of the pool died and said so only when it was used.
            sqlx::Error::BeginFailed => true,
            sqlx::Error::Database(database) => database
                .code()
                // Connection failures; the server shuts down, crashed, or is starting.
                .is_some_and(|code| code.starts_with("08") || matches!(&*code, "57P01" | "57P02" | "57P03")),
            _ => false,
        }
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default();
                // Data exceptions, constraint violations and raised errors quote values in their message.
                let quotes_values =
                    ["21", "22", "23", "44", "P0"].iter().any(|class| code.starts_with(class));
                if quotes_values {
                    write!(f, "the server refused the statement (SQLSTATE {code})")?;
                } else if code == "53100" {
                    // The server's own words are about a block of a file.
                    write!(f, "the disk of the database is full (SQLSTATE {code})")?;
                } else {
                    write!(f, "{} (SQLSTATE {code})", database.message())?;
                }
                if let Some(table) = database.table() {
                    write!(f, ", table {table}")?;
                }
                Ok(())
            }
            sqlx::Error::Io(error) => write!(f, "connection failed: {error}"),
            sqlx::Error::Tls(error) => write!(f, "TLS failed: {error}"),
            sqlx::Error::PoolTimedOut => f.write_str("no connection became free in time"),
            sqlx::Error::PoolClosed => f.write_str("the connection pool is closed"),
            sqlx::Error::ColumnDecode { index, .. } => write!(f, "the column {index} could not be read"),
            sqlx::Error::ColumnNotFound(column) => write!(f, "the column {column} is missing"),
            sqlx::Error::RowNotFound => f.write_str("a row that must exist is missing"),
            sqlx::Error::Protocol(_) => f.write_str("the server broke the protocol"),
            sqlx::Error::BeginFailed => f.write_str("a transaction could not be opened"),
            sqlx::Error::Configuration(_) => f.write_str("the connection settings are wrong"),
            sqlx::Error::WorkerCrashed => f.write_str("the driver stopped"),
            _ => f.write_str("the driver failed"),
        }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({self})")
    }
}

impl From<sqlx::Error> for Driver {
    fn from(error: sqlx::Error) -> Self {
        Driver(error)
    }
}
