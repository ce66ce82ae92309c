//! `forecourt feed notices`: what people should know. And `forecourt feed rekey`.

use std::collections::HashMap;

use dealer::vault::{RekeyError, rekey as move_all};
use serde_json::json;
use store::{NoticeRow, Store, TenantId};

use super::{Trouble, dealer, on_data, time};
use crate::failure::{Failure, chain};
use crate::output::{harmless, printable, say};
use crate::settings::Settings;

/// Which notices are to be shown.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Of one dealer, or of all.
    pub(crate) dealer: Option<String>,
    /// Also what is no longer so.
    pub(crate) all: bool,
    /// At most so many.
    pub(crate) limit: u32,
    /// As JSON.
    pub(crate) json: bool,
}

/// Shows them, the latest first.
///
/// # Errors
/// There is no such dealer, or the database refuses.
pub(crate) fn run(settings: &Settings, wanted: Wanted) -> Result<(), Failure> {
    on_data(settings, "forecourt feed notices", |store| async move {
        let notices = match &wanted.dealer {
            Some(slug) => {
                let tenant = dealer(&store, slug).await?;
                let mut tx = store.tenant(tenant).await?;
                tx.notices(!wanted.all, wanted.limit).await?
            }
            None => {
                let mut tx = store.platform().await?;
                tx.recent_notices(!wanted.all, wanted.limit).await?
            }
        };
        let slugs = slugs(&store).await?;
        for notice in &notices {
            show(notice, slugs.get(&notice.tenant_id).map_or("?", String::as_str), wanted.json);
        }
        if notices.is_empty() && !wanted.json {
            say("nothing to be told");
        }
        Ok::<(), Trouble>(())
    })
}

async fn slugs(store: &Store) -> Result<HashMap<TenantId, String>, store::Error> {
    let mut tx = store.platform().await?;
    let all = tx.directory().await?;
    tx.commit().await?;
    Ok(all.into_iter().map(|row| (row.tenant_id, row.slug)).collect())
}

fn show(notice: &NoticeRow, slug: &str, as_json: bool) {
    if as_json {
        let document = json!({
            "notice_id": notice.notice_id, "dealer": slug, "kind": notice.kind, "severity": notice.severity,
            "source_id": notice.source_id, "run_id": notice.run_id, "sentence": notice.sentence,
            "data": notice.data, "created_at": notice.created_at, "resolved_at": notice.resolved_at,
        });
        say(harmless(&document.to_string()));
        return;
    }
    let over = notice.resolved_at.map_or_else(String::new, |at| format!(" (over since {})", time(at)));
    say(format_args!(
        "{}  {slug}  {}: {}{over}",
        time(notice.created_at),
        notice.severity,
        printable(&notice.sentence)
    ));
    if let (Some(run), None) = (notice.run_id, notice.resolved_at) {
        say(format_args!("  forecourt feed show {run}"));
    }
}

/// Puts all stored credentials under the current master key.
///
/// # Errors
/// The database refuses, or credentials are under a key that nobody gave.
pub(crate) fn rekey(settings: &Settings) -> Result<(), Failure> {
    let vault = settings.open_vault_of_platform()?;
    on_data(settings, "forecourt feed rekey", |store| async move {
        let done = move_all(&store, &vault).await.map_err(|error| match error {
            RekeyError::Store(error) => Trouble::Store(error),
            other @ RekeyError::Vault(_) => Failure::new(chain(&other)).into(),
        })?;
        say(format_args!(
            "{} moved to the current key, {} were under it already, {} changed meanwhile",
            done.moved, done.current, done.changed
        ));
        if done.closed > 0 {
            return Err(Failure::new(format!("{} stored under a key that was not given", done.closed))
                .advise("give that key as FORECOURT_MASTER_KEY_OLD and run this again")
                .advise("or enter those credentials anew with `forecourt feed source edit … --user`")
                .into());
        }
        Ok(())
    })
}
