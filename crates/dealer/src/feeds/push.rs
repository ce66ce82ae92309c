//! Files that senders push to us: who may, what they send in parts, and what they may ask of their runs.

use std::io;

use bytes::Bytes;
use futures_util::Stream;
use store::{FindingFilter, FindingRow, RunRow, RunState, SourceKind, SourceRow, TenantId, TenantState};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::receive::{Receipt, ReceiveError, Received, receive};
use super::settings::SourceSettings;
use super::sources::{hash_of, is_token};
use crate::Dealer;

/// Runs of a source that may wait for a worker before its sender has to.
pub const MOST_WAITING: usize = 20;

/// A sender that proved to be a source's.
#[derive(Debug, Clone)]
pub struct Pusher {
    pub(super) tenant: TenantId,
    pub(super) source: SourceRow,
    pub(super) settings: SourceSettings,
}

/// Why a sender is not heard.
#[derive(Debug, thiserror::Error)]
pub enum PushRefused {
    /// No such source, or not its token: nobody learns which.
    #[error("the token does not open this source")]
    Unknown,
    /// The dealer is switched off.
    #[error("the dealer is suspended, and no file is taken for it")]
    Suspended,
    /// The source is switched off.
    #[error("the source is switched off, and no file is taken from it")]
    Disabled,
    /// Its settings cannot be understood by this build.
    #[error("the settings of the source cannot be understood: {0}")]
    Settings(String),
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Pusher {
    /// The source.
    pub fn source_id(&self) -> Uuid {
        self.source.source_id
    }

    /// Whose it is.
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// Bytes that a file of it may have.
    pub fn most_bytes(&self) -> u64 {
        self.settings.limits().file_bytes
    }

    /// Whether its files are whole lots, where the sender does not say.
    pub fn is_full(&self) -> bool {
        self.settings.is_full()
    }
}

impl Dealer {
    /// The source that a token opens, if it is the one that was addressed. For a sender of files the source must be
    /// switched on; `only_reads` is for one that asks.
    ///
    /// # Errors
    /// [`PushRefused`].
    pub async fn pusher(&self, source: Uuid, token: &str, only_reads: bool) -> Result<Pusher, PushRefused> {
        if !is_token(token) {
            return Err(PushRefused::Unknown);
        }
        let shown = hash_of(token);
        let mut tx = self.inner.store.platform().await?;
        let owned = tx.source_owner(source).await?;
        tx.commit().await?;
        // Compared in the same time whatever is there, and with something where nothing is.
        let stored = owned.as_ref().and_then(|(_, row)| row.push_token_hash);
        let ours = bool::from(stored.unwrap_or_default().ct_eq(&shown)) && stored.is_some();
        let Some((tenant, source)) = owned.filter(|(_, row)| ours && row.kind == SourceKind::Push) else {
            return Err(PushRefused::Unknown);
        };
        let mut tx = self.inner.store.tenant(tenant).await?;
        let row = tx.row().await?;
        drop(tx);
        match row.map(|row| row.state) {
            Some(TenantState::Active) => {}
            Some(TenantState::Suspended) => return Err(PushRefused::Suspended),
            Some(TenantState::Removed) | None => return Err(PushRefused::Unknown),
        }
        if !source.enabled && !only_reads {
            return Err(PushRefused::Disabled);
        }
        let settings = SourceSettings::read(&source.settings).map_err(PushRefused::Settings)?;
        Ok(Pusher { tenant, source, settings })
    }

    /// Whether so many runs of the source wait for a worker that its sender has to wait, too.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn is_behind(&self, pusher: &Pusher) -> Result<bool, store::Error> {
        let mut tx = self.inner.store.tenant(pusher.tenant).await?;
        let open = tx.open_runs(Some(pusher.source.source_id)).await?;
        Ok(open.iter().filter(|run| run.state != RunState::Held).count() >= MOST_WAITING)
    }

    /// Takes in a file that was pushed.
    ///
    /// # Errors
    /// [`ReceiveError`]; nothing was kept.
    pub async fn take_push<S>(
        &self,
        pusher: &Pusher,
        received: Received,
        body: S,
    ) -> Result<Receipt, ReceiveError>
    where
        S: Stream<Item = io::Result<Bytes>> + Unpin + Send,
    {
        receive(&self.inner.store, pusher.tenant, &pusher.source, received, body).await
    }

    /// A run of the source, and of its findings those behind `after`. `None`: it has no such run, whoever else may.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn pushed_run(
        &self,
        pusher: &Pusher,
        run: Uuid,
        level: Option<&str>,
        after: Option<i32>,
        limit: u32,
    ) -> Result<Option<(RunRow, Vec<FindingRow>)>, store::Error> {
        let mut tx = self.inner.store.tenant(pusher.tenant).await?;
        let found = tx.run(run).await?.filter(|run| run.source_id == pusher.source.source_id);
        let Some(run) = found else { return Ok(None) };
        let filter = FindingFilter { level, ..FindingFilter::default() };
        let findings = tx.findings(run.run_id, filter, after, limit).await?;
        Ok(Some((run, findings)))
    }
}
