//! `forecourt demo`: brings the demo dealers in, as `forecourt provision` would.

use dealer::Addresses;
use dealer::provision::{self, Outcome};
use store::Store;

use crate::commands::{fallback_addresses, open_store, run_once};
use crate::failure::{Failure, chain};
use crate::output::say;
use crate::settings::Settings;

/// Who is named in the history of the demo dealers' cards.
const ACTOR: &str = "demo";

/// Loads the demo dealers and prints a line for each.
///
/// # Errors
/// The database refuses.
pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    let fallback = fallback_addresses(settings)?;
    run_once(settings, "forecourt demo", |database| async move {
        let store = open_store(&database, settings).await?;
        let loaded = load(&store, &fallback).await?;
        store.close().await;
        for (slug, outcome) in loaded {
            say(format_args!("{slug}: {}", super::provision::word(outcome)));
        }
        Ok(())
    })
}

/// Brings the demo dealers in; a second time changes nothing.
///
/// # Errors
/// The database refuses, or the generator made what the platform does not take.
pub(crate) async fn load(store: &Store, fallback: &Addresses) -> Result<Vec<(String, Outcome)>, Failure> {
    let refused =
        |error: &store::Error| Failure::new(format!("the demo dealers were not loaded: {}", chain(error)));
    let addresses = provision::addresses(store, fallback).await.map_err(|error| refused(&error))?;
    let text = crate::demo::document(addresses.origin.as_str()).to_string();
    let document = provision::read(&text).map_err(|error| Failure::new(chain(&error)))?;
    let mut loaded = Vec::new();
    let mut failed = Vec::new();
    let done = |slug: &str, outcome| match outcome {
        Ok(outcome) => loaded.push((slug.to_owned(), outcome)),
        Err(error) => failed.extend(super::provision::reasons(slug, &error)),
    };
    provision::apply(store, fallback, document, ACTOR, done).await.map_err(|error| refused(&error))?;
    if failed.is_empty() {
        loaded.sort_by(|(a, _), (b, _)| a.cmp(b));
        return Ok(loaded);
    }
    let mut failure = Failure::new("the demo dealers were not loaded");
    failure.advice = failed;
    Err(failure)
}
