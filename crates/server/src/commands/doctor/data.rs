//! The database: found, reachable, new enough, migrated, walled, and of one mind about the time.

use std::time::Duration;

use chrono::Utc;
use store::private::PrivatePg;
use store::setup::{self, WallError};
use store::{Database, Store};
use tokio::time::timeout;

use super::Finding;
use crate::commands::{count, explain, fallback_addresses};
use crate::database::{self, Place, Purpose};
use crate::failure::{Failure, chain};
use crate::settings::Settings;

const COMMAND: &str = "forecourt doctor";
/// The database may take so long to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Clocks that differ by more are mentioned, in seconds.
const SKEW: f64 = 2.0;

/// Opens the database if there is one: a private one is started for the time being, but none is made.
pub(super) fn open(settings: &Settings) -> (Option<Place>, Vec<Finding>) {
    const CHECK: &str = "postgres";
    let mut findings = Vec::new();
    if settings.database_url.is_none() {
        let options = database::options(settings, COMMAND);
        match PrivatePg::survey(&options) {
            Ok(lines) => findings.extend(lines.into_iter().map(|line| Finding::ok(CHECK, line))),
            Err(error) => return (None, vec![Finding::fail(CHECK, database::explain(&error))]),
        }
        if !PrivatePg::exists(&options) {
            let folder = settings.data_dir.display();
            let mut found =
                Finding::ok("database", format!("there is no data here ({folder}); `forecourt up` makes it"));
            found.advice.push(format!("does a platform run already? {}", database::ELSEWHERE));
            findings.push(found);
            return (None, findings);
        }
    }
    match Place::open(settings, Purpose::Work { command: COMMAND }) {
        Ok(place) => (Some(place), findings),
        Err(failure) => {
            findings.push(Finding::fail(CHECK, failure));
            (None, findings)
        }
    }
}

/// Looks at a database.
pub(super) async fn examine(database: &Database, settings: &Settings) -> Vec<Finding> {
    match timeout(PATIENCE, look(database, settings)).await {
        Ok(findings) => findings,
        Err(_) => {
            let sentence =
                format!("the database at {database} does not answer within {} seconds", PATIENCE.as_secs());
            let failure =
                Failure::new(sentence).advise("check that it runs and that no firewall is in between");
            vec![Finding::fail("database", failure)]
        }
    }
}

async fn look(database: &Database, settings: &Settings) -> Vec<Finding> {
    let asked = Utc::now();
    let facts = match setup::inspect(database).await {
        Ok(facts) => facts,
        Err(error) => return vec![Finding::fail("database", explain(database, &error))],
    };
    let answered = Utc::now();
    let mut findings = Vec::new();
    let text = format!("PostgreSQL {} at {database}", facts.server_version);
    findings.push(match &facts.unsupported {
        None => Finding::ok("database", text),
        Some(reason) => Finding::fail("database", Failure::new(format!("{text}: {reason}"))),
    });
    // The database's answer lies somewhere between question and answer; what is outside of that is skew.
    let skew = (asked - facts.clock).max(facts.clock - answered).as_seconds_f64();
    findings.push(if skew > SKEW {
        Finding::warn(
            "clock",
            format!("the clocks of this machine and of the database differ by {skew:.0} seconds"),
            "let both follow a time server; cursors and appointments depend on the time",
        )
    } else {
        Finding::ok(
            "clock",
            format!("{} UTC, as the database says too", answered.format("%Y-%m-%d %H:%M:%S")),
        )
    });
    if facts.unsupported.is_some() {
        return findings;
    }
    let ready = roles(database, &facts, &mut findings);
    if ready && migrations(database, &mut findings).await {
        findings.extend(stored(database, settings).await);
    }
    findings
}

/// Whether the platform's roles are there and ours to take.
fn roles(database: &Database, facts: &setup::Facts, findings: &mut Vec<Finding>) -> bool {
    const CHECK: &str = "roles";
    if facts.roles_ready {
        findings.push(Finding::ok(
            CHECK,
            format!("the login {} may take the platform's roles", database.login()),
        ));
        return true;
    }
    if facts.may_create_roles {
        findings.push(Finding::ok(CHECK, "not all there yet; `forecourt migrate` or `up` makes them"));
        return false;
    }
    let missing = store::Error::RolesMissing {
        login: database.login().to_owned(),
        sql: setup::role_sql(database.login(), database.name()),
    };
    findings.push(Finding::fail(CHECK, explain(database, &missing)));
    false
}

/// Whether the schema is that of this version.
async fn migrations(database: &Database, findings: &mut Vec<Finding>) -> bool {
    const CHECK: &str = "migrations";
    match setup::pending(database).await {
        Ok(pending) if pending.is_empty() => {
            findings.push(Finding::ok(CHECK, "all applied"));
            true
        }
        Ok(pending) => {
            let text = format!("{} to apply: {}", count(pending.len(), "migration"), pending.join(", "));
            findings.push(Finding::warn(
                CHECK,
                text,
                "run `forecourt migrate`; `forecourt up` does it by itself",
            ));
            false
        }
        Err(error) => {
            findings.push(Finding::fail(CHECK, explain(database, &error)));
            false
        }
    }
}

/// Whether no tenant can see another, and what the platform that runs on this database says of itself.
async fn stored(database: &Database, settings: &Settings) -> Vec<Finding> {
    let store = match Store::connect(database, settings.max_connections.min(2)).await {
        Ok(store) => store,
        Err(error) => return vec![Finding::fail("wall", explain(database, &error))],
    };
    let mut findings = vec![wall(&store).await];
    findings.extend(elsewhere(&store, settings).await);
    store.close().await;
    findings
}

async fn wall(store: &Store) -> Finding {
    const CHECK: &str = "wall";
    match setup::check_wall(store).await {
        Ok(()) => Finding::ok(CHECK, "no dealer can see another's rows"),
        Err(WallError::Open(found)) => {
            let mut failure =
                Failure::new("the wall between dealers is not effective; the platform will not start");
            failure.advice = found;
            Finding::fail(CHECK, failure)
        }
        Err(error @ WallError::Store(_)) => Finding::fail(CHECK, Failure::new(chain(&error))),
    }
}

/// The settings looked at are those of this call. The platform may have been started with others, which it wrote down.
async fn elsewhere(store: &Store, settings: &Settings) -> Option<Finding> {
    let here = fallback_addresses(settings).ok()?;
    let written = dealer::provision::addresses(store, &here).await.ok()?;
    (written.origin != here.origin).then(|| {
        let origin = written.origin;
        Finding::ok(
            "addresses",
            format!("the platform that started last on this data is reached at {origin}"),
        )
    })
}
