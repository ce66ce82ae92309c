//! Which database a process works on: the one of `DATABASE_URL`, or a private server of its own.

use std::path::PathBuf;

use store::Database;
use store::private::{Options, PrivatePg, StartError};

use crate::failure::{Failure, UNUSABLE};
use crate::settings::Settings;

/// What a process wants the database for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To serve: the private server is this process's own.
    Serve {
        /// What to call this process where another one is refused.
        command: &'static str,
    },
    /// To do something and end: the private server of a running platform is used, if there is one.
    Work {
        /// As above.
        command: &'static str,
    },
}

/// Where the data is, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Place {
    database: Database,
    /// The private server, where it is not somebody else's.
    server: Option<PrivatePg>,
}

impl Place {
    /// Opens it. A private server is started by the calling thread and ends with it, so that must be the main one.
    pub(crate) fn open(settings: &Settings, purpose: Purpose) -> Result<Place, Failure> {
        if let Some(url) = &settings.database_url {
            let database = Database::from_url(url.reveal()).map_err(|error| {
                Failure::new(format!("DATABASE_URL cannot be used: {error}")).status(UNUSABLE)
            })?;
            return Ok(Place { database, server: None });
        }
        let server = match purpose {
            Purpose::Serve { command } => PrivatePg::start(&options(settings, command)),
            Purpose::Work { command } => PrivatePg::adopt(&options(settings, command)),
        };
        let server = server.map_err(|error| explain(&error))?;
        Ok(Place { database: Database::private(&server), server: Some(server) })
    }

    /// Where to connect to.
    pub(crate) fn database(&self) -> Database {
        self.database.clone()
    }

    /// Whether this process had to start the private server itself: nobody serves from it.
    pub(crate) fn is_alone(&self) -> bool {
        self.server.as_ref().is_some_and(|server| !server.is_adopted())
    }

    /// Where the data is, in lines for a person.
    pub(crate) fn describe(&self) -> Vec<String> {
        match &self.server {
            None => vec![format!("PostgreSQL: {}", self.database)],
            Some(server) => server.location().to_vec(),
        }
    }

    /// Stops what this process started.
    pub(crate) fn close(self) {
        if let Some(server) = self.server {
            server.stop();
        }
    }
}

/// How the private server is run. The binaries of the npm package may lie beside the sources or the program.
pub(crate) fn options(settings: &Settings, command: &str) -> Options {
    let mut options = Options::new(&settings.data_dir, command);
    let beside = std::env::current_exe().ok();
    let above = beside.iter().flat_map(|program| program.ancestors().skip(1).take(4)).map(PathBuf::from);
    options.roots = std::env::current_dir().into_iter().chain(above).collect();
    options
}

/// For commands that have nothing to do where there is no data: they make none, which is most likely not what was meant.
///
/// # Errors
/// No database is named, and the data folder has none.
pub(crate) fn must_exist(settings: &Settings, command: &str) -> Result<(), Failure> {
    if settings.database_url.is_some() || PrivatePg::exists(&options(settings, command)) {
        return Ok(());
    }
    Err(Failure::new(format!("there is no data here ({})", settings.data_dir.display())).advise(ELSEWHERE))
}

/// What to do where there is no data.
pub(crate) const ELSEWHERE: &str =
    "call it where the platform was started, or name its data with --data-dir (FORECOURT_DATA_DIR)";

/// A refusal in the shape of every other failure: its first line is what is wrong, the others are advice.
pub(crate) fn explain(error: &StartError) -> Failure {
    let text = error.to_string();
    let mut lines = text.lines();
    let mut failure = Failure::new(lines.next().unwrap_or_default());
    failure.advice = lines.map(|line| line.trim_end().to_owned()).collect();
    if matches!(error, StartError::AlreadyRunning { .. }) {
        failure = failure.advise("another folder is named with --data-dir (FORECOURT_DATA_DIR)");
    }
    failure
}
