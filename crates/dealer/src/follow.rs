//! Following the database: notices are the fast path, the poll is what correctness rests on.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use store::{Change, Changes, DirectoryRow, Store, TenantId, TenantState};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::card::{self, Cause};
use crate::origin::Addresses;
use crate::tenant::published_contracts;
use crate::{Inner, directory, skills};

/// Setting: where the platform is reached; read by every command that renders cards.
pub(crate) const ADDRESSES: &str = "addresses";
/// How long the database may take to say what changed, which is a matter of milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often long-removed units are forgotten.
const PURGE_EVERY: Duration = Duration::from_secs(3600);
/// How often former versions are forgotten that no cursor can name any more, and questions are counted.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Setting: for what the stored cards were last rendered.
const RENDERED: &str = "cards_rendered_for";

/// Runs until nobody uses the core any more.
pub(crate) async fn run(inner: Weak<Inner>, poll_every: Duration) {
    let mut changes: Option<Changes> = None;
    let mut next_poll = Instant::now() + poll_every;
    let mut next_purge = Instant::now();
    // Not all processes of a platform at the same time.
    let mut next_sweep = Instant::now() + SWEEP_EVERY.mul_f64(rand::random_range(0.5..1.0));
    loop {
        let Some(strong) = inner.upgrade() else { return };
        if changes.is_none() {
            match strong.store.listen().await {
                Ok(listening) => changes = Some(listening),
                Err(error) => debug!(%error, "listening for changes is not possible now; polling goes on"),
            }
        }
        drop(strong);
        // The poll has its own clock: a stream of notices must not put it off.
        let woken = tokio::time::timeout_at(next_poll, next_change(&mut changes)).await;
        let Some(inner) = inner.upgrade() else { return };
        let done = match woken {
            Ok(Ok(Change::Tenant(id))) => look_at(&inner, id).await,
            Ok(Ok(Change::Inventory(id, version))) => {
                inner.directory.heard(id, version, None);
                refresh_lot(&inner, id, version);
                Ok(())
            }
            Ok(Ok(Change::Reconnected)) => poll(&inner).await,
            Ok(Err(error)) => {
                debug!(%error, "the notice connection broke");
                changes = None;
                Ok(())
            }
            Err(_) => {
                next_poll = Instant::now() + poll_every;
                let polled = poll(&inner).await;
                if polled.is_ok() && next_purge <= Instant::now() {
                    next_purge = Instant::now() + PURGE_EVERY;
                    purge(&inner);
                }
                if polled.is_ok() && next_sweep <= Instant::now() {
                    next_sweep = Instant::now() + SWEEP_EVERY;
                    sweep(&inner);
                }
                polled
            }
        };
        if let Err(error) = done {
            warn!(%error, age_seconds = inner_age(&inner), "the database does not answer; serving what is held");
        }
    }
}

/// Forgets units that left their lots longer ago than buyers may ask for (AAP.md 7.5), beside everything else.
/// Harmless on many nodes.
fn purge(inner: &Arc<Inner>) {
    let store = inner.store.clone();
    tokio::spawn(async move {
        let purge = async {
            let mut tx = store.platform().await?;
            let units = tx.purge_removed().await?;
            tx.commit().await?;
            Ok::<_, store::Error>(units)
        };
        match tokio::time::timeout(PURGE_EVERY / 2, purge).await {
            Ok(Ok(0)) => {}
            Ok(Ok(units)) => info!(units, "forgot units that were removed more than 180 days ago"),
            Ok(Err(error)) => warn!(%error, "old removed units could not be forgotten"),
            Err(_) => warn!("forgetting old removed units took too long"),
        }
    });
}

/// Forgets former versions and writes down which dealers are asked, beside everything else.
fn sweep(inner: &Arc<Inner>) {
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        inner.lots.sweep().await;
        note_heat(&inner).await;
        note_key_use(&inner).await;
        let purge = async {
            let mut tx = inner.store.platform().await?;
            let versions = tx.purge_superseded().await?;
            tx.commit().await?;
            Ok::<_, store::Error>(versions)
        };
        match tokio::time::timeout(SWEEP_EVERY / 2, purge).await {
            Ok(Ok(versions)) => debug!(versions, "forgot former versions of lots"),
            Ok(Err(error)) => warn!(%error, "former versions of lots could not be forgotten"),
            Err(_) => warn!("forgetting former versions of lots took too long"),
        }
        forget_keys(&inner).await;
    });
}

/// Forgets requests that were to be known again for a time that is over.
async fn forget_keys(inner: &Inner) {
    let purge = async {
        let mut tx = inner.store.platform().await?;
        let keys = tx.purge_lead_keys().await?;
        tx.commit().await?;
        Ok::<_, store::Error>(keys)
    };
    match tokio::time::timeout(SWEEP_EVERY / 2, purge).await {
        Ok(Ok(keys)) => debug!(keys, "forgot idempotency keys that expired"),
        Ok(Err(error)) => warn!(%error, "expired idempotency keys could not be forgotten"),
        Err(_) => warn!("forgetting expired idempotency keys took too long"),
    }
}

/// Writes down which dealers were asked since the last time, for the next process to load them first.
pub(crate) async fn note_heat(inner: &Inner) {
    let asked = inner.lots.take_heat();
    if asked.is_empty() {
        return;
    }
    let written = in_time(async {
        let mut tx = inner.store.platform().await?;
        tx.add_heat(&asked).await?;
        tx.commit().await
    });
    if let Err(error) = written.await {
        // It only decides who is loaded first.
        debug!(%error, "questions could not be counted");
    }
}

/// Writes down when keys were last used.
pub(crate) async fn note_key_use(inner: &Inner) {
    let used = inner.key_uses.take();
    if used.is_empty() {
        return;
    }
    let written = in_time(async {
        let mut tx = inner.store.platform().await?;
        tx.note_key_use(&used).await?;
        tx.commit().await
    });
    if let Err(error) = written.await {
        // It only tells operators which keys are in use; the next use is noted again.
        debug!(%error, "the use of keys could not be noted");
    }
}

/// The database did not tell what changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FollowError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("the database did not answer within {} seconds", PATIENCE.as_secs())]
    TooSlow,
}

/// A server that is there and says nothing must not keep us from asking again, on another connection.
async fn in_time<T>(work: impl Future<Output = Result<T, store::Error>>) -> Result<T, FollowError> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(FollowError::TooSlow),
    }
}

/// The next notice; never, where nobody listens.
async fn next_change(changes: &mut Option<Changes>) -> Result<Change, store::Error> {
    match changes {
        Some(listening) => listening.next().await,
        None => std::future::pending().await,
    }
}

fn inner_age(inner: &Arc<Inner>) -> u64 {
    crate::Dealer { inner: Arc::clone(inner) }.age().as_secs()
}

/// Above this many dealers that are new or changed, all are read in one statement.
const ONE_BY_ONE: usize = 50;

/// Compares everything with the database. Sufficient by itself: no notice is needed for any change to be seen.
pub(crate) async fn poll(inner: &Arc<Inner>) -> Result<(), FollowError> {
    let _alone = inner.following.lock().await;
    let (news, changed) = in_time(async {
        let mut tx = inner.store.platform().await?;
        let mut news = inner.directory.news(&tx.versions().await?);
        if news.lower {
            // A notice may have come since the numbers were read; of those read from here on none can be lower.
            let known = inner.directory.numbers();
            let rows = tx.versions().await?;
            news.lower = rows
                .iter()
                .any(|row| known.get(&row.tenant_id).is_some_and(|known| directory::is_lower(row, *known)));
        }
        if news.lower {
            return Ok((news, tx.directory().await?));
        }
        let mut changed = Vec::new();
        if news.dealers.len() > ONE_BY_ONE {
            let wanted: HashSet<_> = news.dealers.iter().copied().collect();
            changed = tx.directory().await?;
            changed.retain(|row| wanted.contains(&row.tenant_id));
        } else {
            for id in &news.dealers {
                changed.extend(tx.directory_of(*id).await?);
            }
        }
        Ok((news, changed))
    })
    .await?;
    if news.lower {
        // What is held is of a time that never was, and numbers will be used a second time.
        warn!("the database was put back to an earlier state; everything is read anew");
        inner.directory.reset(changed);
        inner.tenants.invalidate_all();
        inner.directory.let_go();
        inner.lots.forget_all();
        inner.confirm();
        return Ok(());
    }
    for row in changed {
        learn(inner, row).await;
    }
    for (id, version, units) in news.lots {
        inner.directory.heard(id, version, Some(units));
    }
    for id in news.gone {
        inner.directory.forget(id);
        inner.lots.forget(id).await;
    }
    // Not only those that changed since the last look: a lot may have been read while it changed, or could not
    // be read when it had changed.
    for (id, version) in inner.lots.held() {
        let known = inner.directory.inventory_version(id);
        if known > version {
            refresh_lot(inner, id, known);
        }
    }
    inner.confirm();
    Ok(())
}

async fn look_at(inner: &Arc<Inner>, id: TenantId) -> Result<(), FollowError> {
    let _alone = inner.following.lock().await;
    let row = in_time(async {
        let mut tx = inner.store.platform().await?;
        tx.directory_of(id).await
    })
    .await?;
    match row {
        Some(row) => learn(inner, row).await,
        None => {
            inner.directory.forget(id);
            inner.lots.forget(id).await;
        }
    }
    Ok(())
}

/// Takes over a dealer's new row. A dealer that is being served is read before its new revision is announced, so
/// that no request waits for it and an outage in between leaves the old one in place.
async fn learn(inner: &Arc<Inner>, row: DirectoryRow) {
    let known = inner.directory.entry(row.tenant_id);
    if let Some(known) = &known {
        let served = inner.tenants.contains_key(&(known.id, known.revision));
        if served && row.revision > known.revision && row.state == known.state {
            let key = (row.tenant_id, row.revision);
            if let Err(error) = inner.tenants.try_get_with(key, inner.load_tenant(row.tenant_id)).await {
                warn!(tenant = %row.slug, %error, "a changed dealer cannot be read; the former state is served");
                return;
            }
        }
    }
    let id = row.tenant_id;
    if known.as_ref().is_some_and(|known| known.state != row.state) {
        info!(tenant = %row.slug, state = ?row.state, "dealer changed its state");
    }
    inner.directory.put(row);
    refresh_lot(inner, id, inner.directory.inventory_version(id));
}

/// Refreshes a lot beside the requests; they never wait for it.
fn refresh_lot(inner: &Arc<Inner>, id: TenantId, version: u64) {
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        if let Err(error) = inner.lots.refresh(id, version).await {
            warn!(tenant = %id.0, %error, "a changed lot cannot be read; the former version is served");
        }
    });
}

/// Writes down where the platform is reached and re-renders every stored card if that, the renderer or the
/// skills of this build changed. Interrupted, it goes on at the next start.
pub(crate) async fn settle_addresses(store: &Store, addresses: &Addresses) -> Result<(), store::Error> {
    let wanted = json!(addresses);
    let rendered_for = json!({
        "addresses": wanted,
        "renderer": card::RENDERER,
        "skills": skills::built().map(|id| id.as_str()).collect::<Vec<_>>(),
        "contracts": contract::CONTRACTS.iter().map(|spec| spec.version.as_str()).collect::<Vec<_>>(),
    });
    let mut tx = store.platform().await?;
    tx.set_setting(ADDRESSES, &wanted).await?;
    let up_to_date = tx.setting(RENDERED).await? == Some(rendered_for.clone());
    let dealers = if up_to_date { Vec::new() } else { tx.directory().await? };
    tx.commit().await?;
    if up_to_date {
        return Ok(());
    }
    let mut cards = 0;
    for dealer in &dealers {
        cards += rerender(store, dealer.tenant_id, addresses).await?;
    }
    if cards > 0 {
        info!(
            cards,
            dealers = dealers.len(),
            "cards were rendered anew for changed addresses or a new build"
        );
    }
    let mut tx = store.platform().await?;
    tx.set_setting(RENDERED, &rendered_for).await?;
    tx.commit().await
}

async fn rerender(store: &Store, id: TenantId, addresses: &Addresses) -> Result<usize, store::Error> {
    let mut tx = store.tenant(id).await?;
    let Some(row) = tx.lock().await? else { return Ok(0) };
    let published = published_contracts(&row, addresses);
    if row.state == TenantState::Active && !published.iter().any(|one| one.as_str() == row.default_contract) {
        warn!(
            tenant = %row.slug, contract = row.default_contract,
            "the dealer's default contract is not published at this origin, so nothing answers at its bare address"
        );
    }
    let rooftops = tx.rooftops().await?;
    let cause = Cause { what: "addresses or build changed", actor: "platform" };
    let changed = card::card_changed(&mut tx, &row, &rooftops, addresses, cause).await?;
    if changed > 0 {
        tx.bump_revision().await?;
        tx.commit().await?;
    }
    Ok(changed)
}

/// The addresses that the running platform has written down, for commands that run beside it.
pub(crate) fn stored_addresses(setting: Option<Value>) -> Option<Addresses> {
    setting.and_then(|value| serde_json::from_value(value).ok())
}
