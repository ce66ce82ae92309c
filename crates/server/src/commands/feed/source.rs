//! `forecourt feed source …`: where a dealer's files come from.

use dealer::feeds::{self, Change, SecretError, SetupError, SourceSettings};
use serde_json::{Value, json};
use store::{SourceKind, SourceRow, Store, TenantId};

use super::wanted::SourceFlags;
use super::{Trouble, confirmed, dealer, on_data, quoted, secret, source_named, time};
use crate::commands::count;
use crate::failure::{Failure, UNUSABLE, chain};
use crate::output::{harmless, printable, say, table};
use crate::settings::Settings;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Work {
    /// Make one.
    Add { dealer: String, name: String, kind: SourceKind, settings: Box<SourceFlags>, by: String },
    /// Show all.
    List { dealer: String, json: bool },
    /// Show one.
    Show { dealer: String, name: String, json: bool },
    /// Change one.
    Edit { dealer: String, name: String, change: Edit, settings: Box<SourceFlags>, by: String },
    /// Give one up.
    Remove { dealer: String, name: String, keep: bool, yes: bool, by: String },
    /// Another token.
    Token { dealer: String, name: String, by: String },
}

/// What an edit changes beside the settings.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) rename: Option<String>,
    pub(crate) enabled: Option<bool>,
    pub(crate) forget_columns: bool,
}

/// Does it.
///
/// # Errors
/// Dealer, source or settings cannot be used, or the database refuses.
pub(crate) fn run(settings: &Settings, work: Work) -> Result<(), Failure> {
    on_data(settings, "forecourt feed source", |store| async move {
        match work {
            Work::Add { dealer, name, kind, settings: flags, by } => {
                add(settings, &store, &dealer, &name, kind, &flags, &by).await
            }
            Work::List { dealer, json } => list(&store, &dealer, json).await,
            Work::Show { dealer, name, json } => show(&store, &dealer, &name, json).await,
            Work::Edit { dealer, name, change, settings: flags, by } => {
                edit(settings, &store, (&dealer, &name), change, &flags, &by).await
            }
            Work::Remove { dealer, name, keep, yes, by } => {
                remove(&store, (&dealer, &name), keep, yes, &by).await
            }
            Work::Token { dealer: slug, name, by } => {
                let tenant = dealer(&store, &slug).await?;
                let source = source_named(&store, tenant, &slug, &name).await?;
                let token =
                    feeds::renew_token(&store, tenant, source.source_id, &by).await.map_err(refused)?;
                hand_over(&slug, &source, &token);
                Ok(())
            }
        }
    })
}

async fn add(
    settings: &Settings,
    store: &Store,
    slug: &str,
    name: &str,
    kind: SourceKind,
    flags: &SourceFlags,
    by: &str,
) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let mut given = flags.patch()?.unwrap_or_else(|| json!({}));
    if let (SourceKind::Folder, Value::Object(members)) = (kind, &mut given) {
        members.entry("folder").or_insert_with(|| folder_of(name).into());
    }
    // Before anything is stored.
    let credentials = credentials(flags)?;
    if credentials.is_some() && kind != SourceKind::Https {
        return Err(refused(SecretError::NotFetched));
    }
    let wanted = feeds::settings_from(None, given).map_err(|problems| listed(&problems))?;
    let signer = flags.answered_by.as_deref().unwrap_or(by);
    let source = feeds::add_source(store, tenant, name, kind, wanted, signer).await.map_err(unset)?;
    store_credentials(settings, store, tenant, &source, credentials, by).await?;
    eprintln!("{slug} has the source {:?} of kind {kind} now.", source.name);
    if kind == SourceKind::Push {
        let token = feeds::renew_token(store, tenant, source.source_id, by).await.map_err(refused)?;
        hand_over(slug, &source, &token);
    }
    next_steps(slug, &reread(store, tenant, &source).await?);
    Ok(())
}

async fn edit(
    settings: &Settings,
    store: &Store,
    (slug, name): (&str, &str),
    change: Edit,
    flags: &SourceFlags,
    by: &str,
) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let source = source_named(store, tenant, slug, name).await?;
    let patch = flags.patch()?;
    let credentials = credentials(flags)?;
    let forget = flags.no_credentials;
    let Edit { rename, enabled, forget_columns } = change;
    let nothing = patch.is_none() && credentials.is_none() && !forget && !forget_columns;
    if nothing && rename.is_none() && enabled.is_none() {
        return Err(Failure::new("nothing is to be changed")
            .advise("`forecourt feed source edit --help` shows what can be")
            .status(UNUSABLE)
            .into());
    }
    let wanted = patch
        .map(|patch| feeds::settings_from(Some(&source.settings), patch))
        .transpose()
        .map_err(|problems| listed(&problems))?;
    let change = Change { name: rename, enabled, settings: wanted, forget_columns };
    let signer = flags.answered_by.as_deref().unwrap_or(by);
    let changed = feeds::change_source(store, tenant, source.source_id, source.revision, change, signer)
        .await
        .map_err(unset)?;
    if forget {
        feeds::set_credentials(store, tenant, source.source_id, None, by).await.map_err(refused)?;
    }
    store_credentials(settings, store, tenant, &source, credentials, by).await?;
    say(format_args!("{slug}: the source {:?} is changed", changed.row.name));
    if let Some(version) = changed.version {
        say(format_args!("its vehicles are published anew, inventory version {version}"));
    }
    next_steps(slug, &reread(store, tenant, &source).await?);
    Ok(())
}

async fn remove(
    store: &Store,
    (slug, name): (&str, &str),
    keep: bool,
    yes: bool,
    by: &str,
) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let source = source_named(store, tenant, slug, name).await?;
    let mut tx = store.tenant(tenant).await?;
    let units = tx.unit_hashes(source.source_id).await?.len();
    drop(tx);
    let what = if keep { "stay on offer for now" } else { "leave, unless another source has them" };
    confirmed(yes, &format!("Give up {:?} of {slug}? Its {} {what}.", source.name, count(units, "vehicle")))?;
    let done = feeds::remove_source(store, tenant, source.source_id, by, keep).await?;
    say(format_args!(
        "{slug}: the source {:?} is removed; it had {}, of which {} left the lot",
        source.name,
        count(usize::try_from(done.units).unwrap_or(usize::MAX), "vehicle"),
        done.removed
    ));
    Ok(())
}

async fn list(store: &Store, slug: &str, as_json: bool) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let mut tx = store.tenant(tenant).await?;
    let sources = tx.sources().await?;
    drop(tx);
    if as_json {
        for source in &sources {
            say(harmless(&document(source).to_string()));
        }
        return Ok(());
    }
    if sources.is_empty() {
        say(format_args!("{slug} has no sources; add one with: forecourt feed source add {slug} NAME"));
        return Ok(());
    }
    let mut rows = vec![["NAME", "KIND", "STATE", "LAST GOOD FILE", "PRICES", "RANK"].map(str::to_owned)];
    for source in &sources {
        let settings = SourceSettings::read(&source.settings).unwrap_or_default();
        rows.push([
            printable(&source.name),
            source.kind.to_string(),
            if source.enabled { "on" } else { "off" }.to_owned(),
            source.last_good_at.map_or("never".to_owned(), time),
            prices(&settings).to_owned(),
            settings.rank.to_string(),
        ]);
    }
    table(&rows).iter().for_each(say);
    for source in &sources {
        lacks(slug, source);
    }
    Ok(())
}

async fn show(store: &Store, slug: &str, name: &str, as_json: bool) -> Result<(), Trouble> {
    let tenant = dealer(store, slug).await?;
    let source = source_named(store, tenant, slug, name).await?;
    if as_json {
        say(harmless(&document(&source).to_string()));
        return Ok(());
    }
    let state = if source.enabled { "" } else { ", switched off" };
    say(format_args!("{}: kind {}{state}", printable(&source.name), source.kind));
    say(format_args!("  id: {}", source.source_id));
    say(format_args!("  added: {} by {}", time(source.created_at), printable(&source.created_by)));
    say(format_args!("  last good file: {}", source.last_good_at.map_or("never".to_owned(), time)));
    if source.kind == SourceKind::Https {
        let next = source.next_fetch_at.map_or("not by itself".to_owned(), time);
        let login = if source.has_credentials { "stored, encrypted" } else { "none" };
        say(format_args!("  next fetch: {next}; credentials: {login}"));
    }
    if source.kind == SourceKind::Push {
        say(format_args!("  files go to: POST /push/feeds/{}", source.source_id));
    }
    say("  settings:");
    let pretty = serde_json::to_string_pretty(&source.settings).unwrap_or_default();
    pretty.lines().for_each(|line| say(format_args!("    {}", harmless(line))));
    lacks(slug, &source);
    Ok(())
}

fn document(source: &SourceRow) -> Value {
    let settings = SourceSettings::read(&source.settings).unwrap_or_default();
    json!({
        "source_id": source.source_id,
        "name": source.name,
        "kind": source.kind.as_str(),
        "enabled": source.enabled,
        "settings": source.settings,
        "revision": source.revision,
        "last_good_at": source.last_good_at,
        "next_fetch_at": source.next_fetch_at,
        "has_credentials": source.has_credentials,
        "has_token": source.push_token_hash.is_some(),
        "created_at": source.created_at,
        "created_by": source.created_by,
        "missing": feeds::missing(source, &settings),
    })
}

fn prices(settings: &SourceSettings) -> &'static str {
    if settings.prices.asking_price.is_some() || !settings.prices.columns.is_empty() {
        "answered"
    } else {
        "unanswered"
    }
}

/// What an amount can mean, for who is to say it.
const MEANINGS: [(&str, &str); 4] = [
    ("advertised_all_in", "what every buyer pays, all charges of the dealer inside"),
    ("base", "the amount before discounts and charges: shown as list price"),
    ("advertised_without_charges", "charges come on top: no price, unless --fee names all of them"),
    ("conditional", "lowered by a rebate that not everyone gets: no price"),
];

/// What a source still lacks, and what to do about it, on standard error.
pub(super) fn lacks(slug: &str, source: &SourceRow) {
    let settings = SourceSettings::read(&source.settings).unwrap_or_default();
    for sentence in feeds::missing(source, &settings) {
        eprintln!("Of {:?}: {sentence}.", printable(&source.name));
    }
    if feeds::missing(source, &settings).iter().any(|sentence| sentence.contains("prices mean")) {
        // No answer is suggested: whoever is in a hurry would give it, and it is a promise to buyers.
        eprintln!("  Ask the dealer which of these it is:");
        for (answer, meaning) in MEANINGS {
            eprintln!("    {answer:<28} {meaning}");
        }
        eprintln!(
            "  Then: forecourt feed source edit {slug} {} --price-means ANSWER [--fee NAME=AMOUNT]",
            quoted(&source.name)
        );
    }
}

/// What comes after a source was added or changed.
fn next_steps(slug: &str, source: &SourceRow) {
    lacks(slug, source);
    match source.kind {
        SourceKind::File if source.last_good_at.is_none() => {
            eprintln!(
                "Bring in a file with: forecourt feed import {slug} FILE --source {}",
                quoted(&source.name)
            );
        }
        SourceKind::Folder => {
            let settings = SourceSettings::read(&source.settings).unwrap_or_default();
            let folder = settings.folder.unwrap_or_default();
            eprintln!(
                "Files go into {slug}/{folder}/ of the platform's folder for feeds (FORECOURT_FEED_FOLDER)."
            );
        }
        _ => {}
    }
}

/// The token alone on standard output, so that it can be piped to where it is kept.
fn hand_over(slug: &str, source: &SourceRow, token: &str) {
    eprintln!("The token of {:?} of {slug}. It is shown this once and stored nowhere:", source.name);
    say(token);
    eprintln!(
        "Its sender posts files to /push/feeds/{} with: Authorization: Bearer {}…",
        source.source_id,
        feeds::TOKEN_PREFIX
    );
}

async fn reread(store: &Store, tenant: TenantId, source: &SourceRow) -> Result<SourceRow, Trouble> {
    let mut tx = store.tenant(tenant).await?;
    let found = tx.source(source.source_id).await?;
    Ok(found.unwrap_or_else(|| source.clone()))
}

fn credentials(flags: &SourceFlags) -> Result<Option<dealer::vault::Credentials>, Failure> {
    match &flags.user {
        Some(user) => secret::basic(user).map(Some),
        None if flags.token_stdin => secret::bearer().map(Some),
        None => Ok(None),
    }
}

async fn store_credentials(
    settings: &Settings,
    store: &Store,
    tenant: TenantId,
    source: &SourceRow,
    credentials: Option<dealer::vault::Credentials>,
    by: &str,
) -> Result<(), Trouble> {
    let Some(credentials) = credentials else { return Ok(()) };
    let vault = settings.open_vault_of_platform()?;
    feeds::set_credentials(store, tenant, source.source_id, Some((&credentials, &vault)), by)
        .await
        .map_err(refused)?;
    eprintln!("The credentials are stored, encrypted.");
    Ok(())
}

/// The folder that is named like a source, as far as that can be.
fn folder_of(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let folder: String = name.trim().to_lowercase().chars().map(allowed).take(100).collect();
    let folder = folder.trim_matches(|c| c == '.' || c == '-').to_owned();
    if folder.is_empty() { "feed".to_owned() } else { folder }
}

fn listed(problems: &[(String, String)]) -> Failure {
    let number = count(problems.len(), "setting");
    let mut failure = Failure::new(format!("{number} cannot be used")).status(UNUSABLE);
    let line = |(at, sentence): &(String, String)| {
        printable(&format!("{} {sentence}", if at.is_empty() { "/" } else { at }))
    };
    failure.advice = problems.iter().map(line).collect();
    failure
}

/// Why a source was not set up.
pub(super) fn unset(error: SetupError) -> Trouble {
    match error {
        SetupError::Store(error) => error.into(),
        SetupError::Republish(error) => error.into(),
        SetupError::Problems(problems) => listed(&problems).into(),
        SetupError::Name => Failure::new(error.to_string()).status(UNUSABLE).into(),
        other => Failure::new(chain(&other)).into(),
    }
}

fn refused(error: SecretError) -> Trouble {
    match error {
        SecretError::Store(error) => error.into(),
        SecretError::NotFetched | SecretError::NotPushed => {
            Failure::new(error.to_string()).status(UNUSABLE).into()
        }
        other => Failure::new(chain(&other)).into(),
    }
}
