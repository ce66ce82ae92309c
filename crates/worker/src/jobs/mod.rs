//! What workers do. A kind of job is one file here and one line in [`JOBS`].

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use store::Job;

use crate::context::Context;

pub(crate) mod fetch_source;
mod import_run;
mod locks;
mod silence;
mod sweep;

/// Every kind.
pub(crate) const JOBS: &[Kind] =
    &[import_run::KIND, fetch_source::KIND, silence::KIND, locks::KIND, sweep::KIND];

/// Does a job.
type Run = fn(Arc<Context>, Arc<Job>) -> BoxFuture<'static, Result<Done, Trouble>>;

/// A kind of job.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its name in the table `jobs`.
    pub(crate) name: &'static str,
    /// What it uses.
    pub(crate) pool: Pool,
    /// Does it. The future may be dropped at any time, after which everything must be as if it had not begun.
    pub(crate) run: Run,
    /// After its last try it is run once more ([`Job::is_exhausted`]), to record its failure where that belongs.
    pub(crate) records_failure: bool,
    /// It is the platform's own, and begins again so long after it has ended.
    pub(crate) every: Option<Duration>,
}

/// What jobs share places with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Processor and database.
    Work,
    /// Foreign servers.
    Foreign,
}

/// How a job ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// It is still to be taken off the queue.
    Finish,
    /// It was, in the transaction that did the work.
    Finished,
}

/// How it did not.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Why, for the log and whoever looks at the queue.
    pub(crate) cause: String,
    /// What now.
    pub(crate) next: Next,
}

/// What becomes of a job that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another try after the usual time.
    Again,
    /// Another try then.
    At(DateTime<Utc>),
    /// It would fail again.
    GiveUp,
    /// Nothing: it is somebody else's by now.
    Nothing,
}

impl Trouble {
    /// Something that another try may get past.
    pub(crate) fn passing(error: &dyn Error) -> Trouble {
        Trouble { cause: chain(error), next: Next::Again }
    }

    /// Another worker has it.
    pub(crate) fn lost() -> Trouble {
        Trouble { cause: "another worker has it".to_owned(), next: Next::Nothing }
    }

    /// Something that another try would meet again.
    pub(crate) fn lasting(cause: impl Into<String>) -> Trouble {
        Trouble { cause: cause.into(), next: Next::GiveUp }
    }
}

impl From<store::Error> for Trouble {
    fn from(error: store::Error) -> Trouble {
        Trouble::passing(&error)
    }
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

/// The kind of that name.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    JOBS.iter().find(|kind| kind.name == name)
}

/// The names of the kinds of a pool.
pub(crate) fn names(pool: Pool) -> Vec<&'static str> {
    JOBS.iter().filter(|kind| kind.pool == pool).map(|kind| kind.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_of_their_own_and_every_one_is_served() {
        let all: Vec<_> = [Pool::Work, Pool::Foreign].into_iter().flat_map(names).collect();
        assert_eq!(all.len(), JOBS.len());
        for name in all {
            assert_eq!(JOBS.iter().filter(|kind| kind.name == name).count(), 1, "{name}");
            assert!(kind(name).is_some());
        }
    }
}
