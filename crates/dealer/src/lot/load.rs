//! Reading lots from the database and building them, a few at a time.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use contract::Listing;
use inventory::{Builder, Delta, OutOfOrder, Snapshot};
use store::{LotDelta, Store, TenantId};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::counters::{Counters, Refusal, Work};
use super::view::Held;

/// How long reading a lot may take. The largest take a few seconds.
const READ: Duration = Duration::from_secs(30);
/// How long a question waits for its turn to load.
const TURN: Duration = Duration::from_secs(10);
/// From here on a lot takes the place for large ones, of which one is loaded at a time: a few of them would keep
/// everybody else waiting.
const LARGE: u64 = 20_000;
/// Lots that are loaded at once, besides a large one. Loading is mostly waiting for the database.
const AT_ONCE: usize = 4;
/// Below this many units building takes less time than waiting for one's turn to build would be worth.
const QUICK: usize = 2_000;

/// A lot could not be loaded. Shared by everyone who waited for it.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("loading the lot failed: {0}")]
    Store(#[source] Arc<store::Error>),
    #[error("building the lot failed: {0}")]
    Build(Arc<str>),
    #[error("the database did not tell the lot within {} seconds", READ.as_secs())]
    TooSlow,
    #[error("other lots were being loaded for {} seconds", TURN.as_secs())]
    Busy,
    #[error("version {wanted} of the lot was asked for; the newest to be had is {newest}")]
    NotThere { wanted: u64, newest: u64 },
    #[error("a change of the lot could not be read for longer than the age limit allows")]
    TooOld,
}

impl From<store::Error> for LoadError {
    fn from(error: store::Error) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// What reads and builds.
#[derive(Debug)]
pub(crate) struct Loader {
    store: Store,
    small: Semaphore,
    large: Semaphore,
    refreshes: Semaphore,
    builds: Semaphore,
    pub(crate) counters: Arc<Counters>,
}

impl Loader {
    pub(crate) fn new(store: Store, counters: Arc<Counters>) -> Loader {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Loader {
            store,
            small: Semaphore::new(AT_ONCE),
            large: Semaphore::new(1),
            refreshes: Semaphore::new(AT_ONCE),
            // Building is work: the other half of the processors goes on answering.
            builds: Semaphore::new((processors / 2).max(1)),
            counters,
        }
    }

    /// The whole lot, which has about `units` units.
    #[tracing::instrument(name = "lot.load", skip_all)]
    pub(crate) async fn whole(&self, tenant: TenantId, units: u64) -> Result<Arc<Held>, LoadError> {
        let _turn = self.turn(units).await?;
        self.counted(Work::Load, async {
            let mut building = Building::begin(units);
            let lot = in_time(async {
                let mut tx = self.store.tenant_snapshot(tenant).await?;
                tx.lot_by_unit(|unit| building.push(unit)).await
            })
            .await?;
            let (builder, read) = building.all().await?;
            let removed: Vec<_> = lot.removed.into_iter().map(unit).collect();
            self.build(read, move || builder.finish(lot.version, &removed)).await
        })
        .await
    }

    /// The lot as it is now, made from a version that is held; whether it was read whole after all. `None` when
    /// nothing changed.
    #[tracing::instrument(name = "lot.refresh", skip_all)]
    pub(crate) async fn refreshed(
        &self,
        tenant: TenantId,
        held: &Arc<Held>,
        worn: bool,
    ) -> Result<Option<(Arc<Held>, bool)>, LoadError> {
        let since = held.snapshot.version();
        let units = u64::try_from(held.snapshot.len()).unwrap_or(u64::MAX);
        if worn {
            return Ok(Some((self.whole(tenant, units).await?, true)));
        }
        let began = Instant::now();
        let turn = self.refreshes.acquire().await.ok();
        let delta = in_time(async {
            let mut tx = self.store.tenant_snapshot(tenant).await?;
            tx.lot_delta(since).await
        })
        .await
        .inspect_err(|_| self.counters.failed())?;
        let Some(delta) = delta else {
            drop(turn);
            return Ok(Some((self.whole(tenant, units).await?, true)));
        };
        if delta.version == since {
            return Ok(None);
        }
        let next = self.apply(held, delta).await.inspect_err(|_| self.counters.failed())?;
        self.counters.done(Work::Refresh, began.elapsed());
        Ok(Some((next, false)))
    }

    /// A former version, made from one that is held; `None` when it cannot be rebuilt any more.
    #[tracing::instrument(name = "lot.rebuild", skip_all)]
    pub(crate) async fn rebuilt(
        &self,
        tenant: TenantId,
        held: &Arc<Held>,
        version: u64,
    ) -> Result<Option<Arc<Held>>, LoadError> {
        let since = held.snapshot.version();
        let _turn = self.turn(0).await?;
        self.counted(Work::Rebuild, async {
            let delta = in_time(async {
                let mut tx = self.store.tenant_snapshot(tenant).await?;
                tx.lot_between(since, version).await
            })
            .await?;
            match delta {
                Some(delta) => Ok(Some(self.apply(held, delta).await?)),
                None => Ok(None),
            }
        })
        .await
    }

    async fn apply(&self, held: &Arc<Held>, delta: LotDelta) -> Result<Arc<Held>, LoadError> {
        let from = Arc::clone(held);
        self.build(held.snapshot.len() + delta.changed.len(), move || {
            let LotDelta { version, changed, removed, dropped } = delta;
            from.snapshot
                .apply(version, Delta { changed, removed: removed.into_iter().map(unit).collect(), dropped })
        })
        .await
    }

    /// Builds beside the threads that answer.
    async fn build(
        &self,
        units: usize,
        build: impl FnOnce() -> Snapshot + Send + 'static,
    ) -> Result<Arc<Held>, LoadError> {
        // A closed semaphore would only mean that nothing limits us any more.
        let _permit = if units > QUICK { self.builds.acquire().await.ok() } else { None };
        let snapshot = tokio::task::spawn_blocking(build)
            .await
            .map_err(|join| LoadError::Build(join.to_string().into()))?;
        Ok(Held::new(snapshot))
    }

    async fn turn(&self, units: u64) -> Result<Option<SemaphorePermit<'_>>, LoadError> {
        let places = if units >= LARGE { &self.large } else { &self.small };
        match timeout(TURN, places.acquire()).await {
            Ok(permit) => Ok(permit.ok()),
            Err(_) => {
                self.counters.refused(Refusal::Busy);
                Err(LoadError::Busy)
            }
        }
    }

    async fn counted<T>(
        &self,
        work: Work,
        doing: impl Future<Output = Result<T, LoadError>>,
    ) -> Result<T, LoadError> {
        let began = Instant::now();
        let done = doing.await;
        match &done {
            Ok(_) => self.counters.done(work, began.elapsed()),
            Err(_) => self.counters.failed(),
        }
        done
    }
}

/// Whoever waits for a server that says nothing would keep others from trying, also when it is back.
async fn in_time<T>(read: impl Future<Output = Result<T, store::Error>>) -> Result<T, LoadError> {
    Ok(timeout(READ, read).await.map_err(|_| LoadError::TooSlow)??)
}

/// Units are handed over in batches: waking another thread costs more than most units do.
const BATCH: usize = 32;

/// Builds beside the reading, and without a permit: most of the work is done when the last unit has come. Where
/// processors are short units wait here, at worst all of them, as they would if the lot were read first.
struct Building {
    batch: Vec<Listing>,
    batches: Sender<Vec<Listing>>,
    read: usize,
    builder: JoinHandle<Result<Builder, OutOfOrder>>,
}

impl Building {
    fn begin(units: u64) -> Building {
        let (batches, coming) = std::sync::mpsc::channel::<Vec<Listing>>();
        // Only a hint; what it promises too much would be memory for nothing.
        let units = usize::try_from(units).unwrap_or(0).min(65_536);
        // Ends by itself with the sender, also when reading fails or is given up.
        let builder = tokio::task::spawn_blocking(move || {
            let mut builder = Builder::new(units);
            for unit in coming.into_iter().flatten() {
                builder.push(unit)?;
            }
            Ok(builder)
        });
        Building { batch: Vec::with_capacity(BATCH), batches, read: 0, builder }
    }

    fn push(&mut self, unit: Listing) {
        self.read += 1;
        self.batch.push(unit);
        if self.batch.len() == BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // A builder that has failed takes no more and says why at the end.
        let _ = self.batches.send(batch);
    }

    /// What was built of all units, and how many there were.
    async fn all(mut self) -> Result<(Builder, usize), LoadError> {
        self.hand_over();
        let Building { batches, read, builder, .. } = self;
        drop(batches);
        let failed = |error: &dyn std::fmt::Display| LoadError::Build(error.to_string().into());
        let builder = builder.await.map_err(|join| failed(&join))?.map_err(|order| failed(&order))?;
        Ok((builder, read))
    }
}

fn unit(unit: store::Removed) -> inventory::Removed {
    inventory::Removed { vehicle_id: unit.vehicle_id, vin: unit.vin, stock: unit.stock }
}
