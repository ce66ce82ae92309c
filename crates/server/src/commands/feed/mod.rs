//! `forecourt feed …`: inventory files and where they come from.

pub(crate) mod check;
pub(crate) mod decide;
pub(crate) mod import;
pub(crate) mod notices;
mod progress;
pub(crate) mod runs;
mod secret;
pub(crate) mod source;
pub(crate) mod wanted;
mod words;

use std::future::Future;
use std::io::{IsTerminal, Write};

use chrono::{DateTime, SecondsFormat, Utc};
use dealer::feeds::DecideError;
use store::{Database, SourceRow, Store, TenantId};
use uuid::Uuid;

use crate::commands::{explain, open_store, run_on_data};
use crate::failure::{Failure, UNUSABLE, chain};
use crate::settings::Settings;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The database.
    Store(store::Error),
    /// Anything else, in words.
    Said(Failure),
}

impl From<store::Error> for Trouble {
    fn from(error: store::Error) -> Trouble {
        Trouble::Store(error)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Said(failure)
    }
}

impl From<DecideError> for Trouble {
    fn from(error: DecideError) -> Trouble {
        match error {
            DecideError::Store(error) => error.into(),
            other => Failure::new(chain(&other)).into(),
        }
    }
}

impl Trouble {
    /// In words.
    pub(crate) fn explain(self, database: &Database) -> Failure {
        match self {
            Trouble::Store(error) => explain(database, &error),
            Trouble::Said(failure) => failure,
        }
    }
}

/// Does some work on the database there is.
pub(crate) fn on_data<T, F>(
    settings: &Settings,
    command: &'static str,
    work: impl FnOnce(Store) -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Trouble>>,
{
    run_on_data(settings, command, |database| async move {
        let store = open_store(&database, settings).await?;
        let done = work(store.clone()).await;
        store.close().await;
        done.map_err(|trouble| trouble.explain(&database))
    })
}

/// The dealer of that slug.
pub(crate) async fn dealer(store: &Store, slug: &str) -> Result<TenantId, Trouble> {
    let mut tx = store.platform().await?;
    let found = tx.tenant_by_slug(slug).await?;
    tx.commit().await?;
    found.ok_or_else(|| {
        Failure::new(format!("there is no dealer {slug:?}"))
            .advise("dealers are brought in with `forecourt provision`")
            .into()
    })
}

/// A dealer's source of that name.
pub(crate) async fn source_named(
    store: &Store,
    tenant: TenantId,
    slug: &str,
    name: &str,
) -> Result<SourceRow, Trouble> {
    let mut tx = store.tenant(tenant).await?;
    let found = tx.source_named(name).await?;
    let all = tx.sources().await?;
    tx.commit().await?;
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|source| format!("{:?}", source.name)).collect();
        let there = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
        Failure::new(format!("{slug} has no source {name:?}"))
            .advise(format!("its sources: {there}"))
            .advise(format!("add one with: forecourt feed source add {slug} {}", quoted(name)))
            .into()
    })
}

/// Whose run it is.
pub(crate) async fn owner(store: &Store, run: Uuid) -> Result<TenantId, Trouble> {
    let mut tx = store.platform().await?;
    let found = tx.run_owner(run).await?;
    tx.commit().await?;
    found.ok_or_else(|| {
        Failure::new(format!("there is no run {run}")).advise("`forecourt feed runs` shows the latest").into()
    })
}

/// A time as people and programs read it.
pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/@:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Asks a person, who must say yes.
pub(crate) fn confirmed(yes: bool, question: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new("nobody is there to be asked")
            .advise("say --yes to do it")
            .status(UNUSABLE));
    }
    let mut to = std::io::stderr().lock();
    let _ = write!(to, "{question} [yes/no] ").and_then(|()| to.flush());
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    if matches!(answer.trim().to_lowercase().as_str(), "yes" | "y") {
        Ok(())
    } else {
        Err(Failure::new("nothing was changed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_through_a_shell() {
        for (word, shown) in
            [("import", "import"), ("Main lot", "'Main lot'"), ("it's", "'it'\\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), shown);
        }
    }
}
