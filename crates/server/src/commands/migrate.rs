//! `forecourt migrate`: brings the database to this version, for `serve` and for upgrades.

use store::setup;

use crate::commands::{connect, explain, run_once};
use crate::failure::Failure;
use crate::output::say;
use crate::settings::Settings;

/// Applies pending migrations and proves that the wall between tenants stands.
///
/// # Errors
/// The database refuses.
pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    run_once(settings, "forecourt migrate", |database| async move {
        let prepared = setup::prepare(&database).await.map_err(|error| explain(&database, &error))?;
        let store = connect(&database, settings).await?;
        store.close().await;
        if prepared.roles_made {
            say("roles made");
        }
        for migration in &prepared.applied {
            say(format_args!("applied {migration}"));
        }
        if prepared.applied.is_empty() {
            say("the database is up to date");
        }
        Ok(())
    })
}
