//! Bringing in sources and changing how they are set up. What is on offer follows in the same transaction.

use chrono::{DateTime, TimeDelta, Utc};
use store::{SourceKind, SourceRow, Store, TenantId, TenantTx};
use uuid::Uuid;

use super::decide::DecideError;
use super::rollback::republish;
use super::scene::Scene;
use super::settings::{Rooftops, SourceSettings};

/// Longest name of a source, in characters.
const NAME_CHARS: usize = 80;

/// Why a source could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The settings cannot be meant: JSON Pointers and sentences.
    #[error("the settings cannot be meant")]
    Problems(Vec<(String, String)>),
    /// Another source of the dealer has that name.
    #[error("another source of this dealer has that name")]
    NameTaken,
    /// Nobody can call a source that.
    #[error("a name must have 1 to 80 characters and no control characters")]
    Name,
    /// The dealer has no such source.
    #[error("there is no such source")]
    NoSource,
    /// Somebody changed the source meanwhile.
    #[error("somebody changed the source meanwhile; look at it again")]
    Stale,
    /// What is on offer could not be brought to it.
    #[error(transparent)]
    Republish(#[from] DecideError),
    /// The database.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// What is to be different about a source; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// Its name.
    pub name: Option<String>,
    /// Whether files are taken from it.
    pub enabled: Option<bool>,
    /// Its settings, as a whole. Who answered what about prices is noted here, whatever they claim.
    pub settings: Option<SourceSettings>,
    /// Forget which columns and separator its files had: the next file may have others.
    pub forget_columns: bool,
}

/// A source after a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The source.
    pub row: SourceRow,
    /// The inventory version where buyers see something else now.
    pub version: Option<u64>,
}

/// Brings in a source.
///
/// # Errors
/// [`SetupError`]; then there is none.
pub async fn add_source(
    store: &Store,
    tenant: TenantId,
    name: &str,
    kind: SourceKind,
    mut settings: SourceSettings,
    actor: &str,
) -> Result<SourceRow, SetupError> {
    let now = Utc::now();
    let mut tx = store.tenant(tenant).await?;
    settings.prices.sign(None, actor, now);
    check(&mut tx, name, kind, &settings).await?;
    let row = SourceRow {
        source_id: Uuid::now_v7(),
        name: name.trim().to_owned(),
        kind,
        enabled: true,
        settings: settings.stored(),
        revision: 1,
        push_token_hash: None,
        signature: None,
        etag: None,
        last_modified: None,
        next_fetch_at: (kind == SourceKind::Https).then_some(now),
        last_full_fetch_at: None,
        last_good_at: None,
        silent_after_s: silent_after(&settings),
        created_at: now,
        created_by: actor.to_owned(),
        has_credentials: false,
        removed_at: None,
    };
    tx.insert_source(&row).await.map_err(named)?;
    tx.commit().await?;
    tracing::info!(%tenant, source = %row.source_id, name = row.name, %kind, actor, "a source was added");
    Ok(row)
}

/// Changes a source that somebody saw at `revision`, and publishes what is different because of it.
///
/// # Errors
/// [`SetupError`]; then nothing has changed.
pub async fn change_source(
    store: &Store,
    tenant: TenantId,
    source: Uuid,
    revision: i64,
    change: Change,
    actor: &str,
) -> Result<Changed, SetupError> {
    let now = Utc::now();
    let mut tx = store.tenant(tenant).await?;
    // Runs render by the settings that they find: they come before or after.
    tx.lock_inventory().await?;
    let found = tx.source(source).await?.filter(|row| row.removed_at.is_none());
    let mut row = found.ok_or(SetupError::NoSource)?;
    let former = SourceSettings::read(&row.settings).ok();
    let mut settings = match change.settings {
        Some(settings) => settings,
        None => former.clone().unwrap_or_default(),
    };
    settings.prices.sign(former.as_ref().map(|former| &former.prices), actor, now);
    if let Some(name) = change.name {
        name.trim().clone_into(&mut row.name);
    }
    check(&mut tx, &row.name, row.kind, &settings).await?;
    row.enabled = change.enabled.unwrap_or(row.enabled);
    row.settings = settings.stored();
    row.silent_after_s = silent_after(&settings);
    if change.forget_columns {
        row.signature = None;
    }
    row.next_fetch_at = next_fetch(&row, former.as_ref(), &settings, now);
    if !tx.save_source(&row, revision).await.map_err(named)? {
        return Err(SetupError::Stale);
    }
    if settings.prices.asking_price.is_some() {
        tx.resolve_notices("price_meaning_unanswered", Some(source)).await?;
    }
    let version = republish(&mut tx, None, Some(actor)).await?;
    settle_freshness(&mut tx).await?;
    tx.commit().await?;
    row.revision = revision + 1;
    tracing::info!(%tenant, %source, name = row.name, actor, version, "a source was changed");
    Ok(Changed { row, version })
}

/// Writes down until when the dealer's lot counts as fresh, in the transaction that changed its policy or its sources.
///
/// # Errors
/// [`DecideError`]: the database refused, or settings cannot be understood.
pub async fn settle_freshness(tx: &mut TenantTx) -> Result<(), DecideError> {
    let (confirmed_at, fresh_until) = Scene::load(tx).await?.freshness();
    Ok(tx.set_freshness(confirmed_at, fresh_until).await?)
}

async fn check(
    tx: &mut TenantTx,
    name: &str,
    kind: SourceKind,
    settings: &SourceSettings,
) -> Result<(), SetupError> {
    let length = name.trim().chars().count();
    if !(1..=NAME_CHARS).contains(&length) || name.chars().any(char::is_control) {
        return Err(SetupError::Name);
    }
    let rooftops = Rooftops::new(tx.rooftops().await?.into_iter().map(|rooftop| rooftop.name));
    let mut problems = settings.problems(&rooftops);
    let mut add = |pointer: &str, sentence: &str| problems.push((pointer.to_owned(), sentence.to_owned()));
    if kind == SourceKind::Https && settings.url.is_none() {
        add("/url", "is needed: it says where the files are fetched from");
    }
    if kind == SourceKind::Folder && settings.folder.is_none() {
        add("/folder", "is needed: it says in which folder the files are dropped");
    }
    if problems.is_empty() { Ok(()) } else { Err(SetupError::Problems(problems)) }
}

fn named(error: store::Error) -> SetupError {
    match &error {
        store::Error::Constraint { name, .. } if name == "feed_sources_name" => SetupError::NameTaken,
        _ => SetupError::Store(error),
    }
}

fn silent_after(settings: &SourceSettings) -> i64 {
    i64::from(settings.silent_after_hours) * 3600
}

/// A source that is fetched from elsewhere now is asked at once; one that is to be asked more often, earlier.
fn next_fetch(
    row: &SourceRow,
    former: Option<&SourceSettings>,
    settings: &SourceSettings,
    now: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    if row.kind != SourceKind::Https || !row.enabled {
        return None;
    }
    let elsewhere = former.is_none_or(|former| former.url != settings.url);
    let latest = now + TimeDelta::minutes(settings.every_minutes.into());
    match row.next_fetch_at {
        Some(planned) if !elsewhere => Some(planned.min(latest)),
        _ => Some(now),
    }
}
