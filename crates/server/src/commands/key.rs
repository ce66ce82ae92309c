//! `forecourt key add|list|revoke`: the bearer keys of a dealer's callers.

use chrono::{DateTime, SecondsFormat, Utc};
use contract::SkillId;
use dealer::RateLimit;
use dealer::callers::{self, KeyError, NewKey};
use store::Store;

use crate::commands::{explain, open_store, run_on_data};
use crate::failure::{Failure, UNUSABLE};
use crate::output::{say, table};
use crate::settings::Settings;

/// Who is named as the maker of keys.
const ACTOR: &str = "forecourt key";

/// What is to be done.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// Make a key.
    Add {
        /// Of which dealer.
        slug: String,
        /// For whom, and what it opens.
        key: NewKey,
    },
    /// Show all keys.
    List {
        /// Of which dealer.
        slug: String,
    },
    /// Have a key open nothing any more.
    Revoke {
        /// Of which dealer.
        slug: String,
        /// Its name, or the part of it that may be shown.
        key: String,
    },
}

/// Does it.
///
/// # Errors
/// The dealer or the key is not there, or the database refuses.
pub(crate) fn run(settings: &Settings, work: Work) -> Result<(), Failure> {
    run_on_data(settings, "forecourt key", |database| async move {
        let store = open_store(&database, settings).await?;
        let done = perform(&store, work).await;
        store.close().await;
        done.map_err(|error| match error {
            KeyError::Store(error) => explain(&database, &error),
            KeyError::NoDealer(_) => {
                Failure::new(error.to_string()).advise("dealers are brought in with `forecourt provision`")
            }
            KeyError::NoKey(_) => Failure::new(error.to_string()).advise("`forecourt key list` shows them"),
            KeyError::Name | KeyError::Limit => Failure::new(error.to_string()).status(UNUSABLE),
            KeyError::Taken(_) => Failure::new(error.to_string()),
        })
    })
}

async fn perform(store: &Store, work: Work) -> Result<(), KeyError> {
    match work {
        Work::Add { slug, key } => {
            let name = key.name.clone();
            let issued = callers::add_key(store, &slug, key, ACTOR).await?;
            // The key alone on standard output, so that it can be piped to where it is kept.
            eprintln!(
                "Key {name:?} of {slug} ({}). It is shown this once and stored nowhere:",
                issued.prefix
            );
            say(&issued.text);
            eprintln!("Its bearer sends it as: Authorization: Bearer {}…", callers::KEY_PREFIX);
            if !issued.is_needed {
                eprintln!(
                    "{slug} does not ask for keys: there the key only tells who asks. To let nobody in without one, \
                     provision \"callers\": {{\"accept\": [\"keys\"]}}."
                );
            }
        }
        Work::List { slug } => list(store, &slug).await?,
        Work::Revoke { slug, key } => {
            callers::revoke_key(store, &slug, &key).await?;
            say(format_args!("{slug}: {key} is revoked; no process takes it any more within a second"));
        }
    }
    Ok(())
}

async fn list(store: &Store, slug: &str) -> Result<(), KeyError> {
    let keys = callers::list_keys(store, slug).await?;
    if keys.is_empty() {
        say(format_args!("{slug} has no keys; make one with: forecourt key add {slug} --name NAME"));
        return Ok(());
    }
    let mut rows = vec![["NAME", "KEY", "OPENS", "LIMIT", "MADE", "LAST USED", "STATE"].map(str::to_owned)];
    for key in keys {
        let limit = key.rate_limit.and_then(|limit| serde_json::from_value::<RateLimit>(limit).ok());
        rows.push([
            key.name,
            format!("{}{}…", callers::KEY_PREFIX, key.prefix),
            if key.scopes.is_empty() { "everything".to_owned() } else { key.scopes.join(" ") },
            limit.map_or("-".to_owned(), |limit| format!("{}/{}s", limit.requests, limit.per_seconds)),
            time(key.created_at),
            key.last_used_at.map_or("never".to_owned(), time),
            key.revoked_at.map_or("good".to_owned(), |at| format!("revoked {}", time(at))),
        ]);
    }
    for line in table(&rows) {
        say(line);
    }
    // Whoever has just tried a key looks here next.
    eprintln!("Uses are written down about once a minute.");
    Ok(())
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A scope as it is written on the command line.
///
/// # Errors
/// A sentence with the names there are.
pub(crate) fn scope(text: &str) -> Result<SkillId, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = contract::SKILL_SPECS.iter().map(|spec| spec.id.as_str()).collect();
        format!("there is no such skill; there are {}", names.join(", "))
    })
}

/// A limit as it is written on the command line: `100/60` is a hundred calls in a minute.
///
/// # Errors
/// A sentence with an example.
pub(crate) fn limit(text: &str) -> Result<RateLimit, String> {
    let parts = text.split_once('/').and_then(|(requests, seconds)| {
        let seconds = seconds.strip_suffix('s').unwrap_or(seconds);
        Some(RateLimit { requests: requests.parse().ok()?, per_seconds: seconds.parse().ok()? })
    });
    parts
        .filter(|limit| limit.requests > 0 && limit.per_seconds > 0)
        .ok_or_else(|| "write it like 100/60: calls, and the seconds in which that many may come".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_scopes_are_read_as_they_are_shown() {
        assert_eq!(limit("100/60"), Ok(RateLimit { requests: 100, per_seconds: 60 }));
        assert_eq!(limit("5/1s"), Ok(RateLimit { requests: 5, per_seconds: 1 }));
        for wrong in ["", "5", "0/1", "5/0", "-1/2", "5/m"] {
            assert!(limit(wrong).unwrap_err().contains("100/60"), "{wrong}");
        }
        assert_eq!(scope("lead.submit"), Ok(SkillId::LeadSubmit));
        assert!(scope("leads").unwrap_err().contains("lead.submit"));
    }
}
