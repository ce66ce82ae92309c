//! What a process holds: counted for its operators, and loaded ahead of the first question.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use store::TenantState;

use crate::lot::LotCounts;
use crate::{Dealer, follow};

/// How many dealers are thought of when lots are loaded ahead of time, and how many are loaded at once.
const WARM: u32 = 100_000;
const WARM_AT_ONCE: usize = 4;

impl Dealer {
    /// Loads the lots that are asked most, as many as there is room for and as `limit` allows; how many that were.
    pub async fn warm_up(&self, limit: Duration) -> usize {
        let mut loaded = 0;
        let warm = async {
            let mut tx = self.inner.store.platform().await?;
            let hottest = tx.hottest(WARM).await?;
            drop(tx);
            let lots = &self.inner.lots;
            let mut loading = stream::iter(hottest)
                .take_while(|_| std::future::ready(lots.has_room()))
                .map(|id| lots.warm(id))
                .buffer_unordered(WARM_AT_ONCE);
            while let Some(done) = loading.next().await {
                match done {
                    Ok(()) => loaded += 1,
                    Err(error) => tracing::warn!(%error, "a lot cannot be loaded ahead of time"),
                }
            }
            Ok::<_, store::Error>(())
        };
        match tokio::time::timeout(limit, warm).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "no lots were loaded ahead of time"),
            Err(_) => tracing::info!(loaded, "the time for loading lots ahead is over"),
        }
        loaded
    }

    /// Writes down which dealers were asked since the last time, before the process ends.
    pub async fn note_heat(&self) {
        follow::note_heat(&self.inner).await;
        follow::note_key_use(&self.inner).await;
    }

    /// Figures for metrics.
    pub fn figures(&self) -> Figures {
        let lots = self.inner.lots.weight();
        let (lots_behind, most_behind) = self.inner.lots.most_behind();
        Figures {
            active: self.inner.directory.count(TenantState::Active),
            suspended: self.inner.directory.count(TenantState::Suspended),
            removed: self.inner.directory.count(TenantState::Removed),
            lots: lots.lots,
            former_versions: lots.older,
            lot_bytes: lots.bytes,
            lot_budget: self.inner.lots.budget(),
            counts: self.inner.lots.counts(),
            lots_behind,
            most_behind,
            age: self.age(),
        }
    }
}

/// Figures of one process.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Active dealers.
    pub active: usize,
    /// Suspended dealers.
    pub suspended: usize,
    /// Removed dealers.
    pub removed: usize,
    /// Lots in memory.
    pub lots: u64,
    /// Former versions of them that cursors name.
    pub former_versions: u64,
    /// Bytes accounted for by both; the process takes up to a quarter more for them.
    pub lot_bytes: u64,
    /// The memory that they may take, that quarter included.
    pub lot_budget: u64,
    /// What loading them cost.
    pub counts: LotCounts,
    /// Lots of which a newer version is known and not yet read.
    pub lots_behind: usize,
    /// For how long that is so of the worst of them.
    pub most_behind: Duration,
    /// Time since the database last confirmed what is held.
    pub age: Duration,
}
