//! Lots in memory: loaded once, brought up to date when they change, and former versions for living cursors
//! (docs/ARCHITECTURE.md, "The lots in memory").

mod counters;
mod load;
mod refresh;
mod view;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::future::Cache;
use moka::notification::RemovalCause;
use moka::ops::compute::Op;
use moka::policy::EvictionPolicy;
use store::{Store, TenantId};

use crate::directory::Directory;
use counters::{Counters, Refusal};
use load::Loader;
use refresh::{Behind, Wanted};

pub use counters::LotCounts;
pub(crate) use load::LoadError;
pub(crate) use view::{Held, View};

/// How long a cursor lives, in seconds; a version from which one was issued is kept or rebuilt that long.
pub(crate) const CURSOR_SECONDS: u64 = 15 * 60;

/// After this time a lot that changes is read whole once more.
const WORN: Duration = Duration::from_secs(24 * 3600);
/// One part of so many of the memory is for lots that the cache did not take or gave up. The cache prefers lots
/// that are asked often, and would read one that is new to it again for each of its first questions.
const WAITING_ROOM: u64 = 4;
/// A lot that leaves the cache within this time of being read was not taken.
const JUST_LOADED: Duration = Duration::from_secs(2);
/// How long a rebuilt version is found by those that asked for it at the same time.
const JUST_REBUILT: Duration = Duration::from_secs(5);

/// All lots that are in memory.
pub(crate) struct Lots {
    directory: Arc<Directory>,
    loader: Loader,
    views: Cache<TenantId, Arc<View>>,
    /// Lots that have no place in `views`, those asked last; they are answered from until they change.
    waiting: moka::sync::Cache<TenantId, Arc<View>>,
    rebuilt: Cache<(TenantId, u64), Option<Arc<Held>>>,
    wanted: Wanted,
    behind: Behind,
    /// Questions to lots that left the cache before they were counted.
    left: Arc<Mutex<Vec<(TenantId, u64)>>>,
    counters: Arc<Counters>,
    bytes: u64,
}

/// What lots take, for metrics.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight {
    pub(crate) lots: u64,
    pub(crate) older: u64,
    pub(crate) bytes: u64,
}

impl Lots {
    /// Lots that take at most `bytes`, the allocator's share included.
    pub(crate) fn new(store: Store, directory: Arc<Directory>, bytes: u64) -> Lots {
        let counters = Arc::new(Counters::default());
        let waiting = moka::sync::Cache::builder()
            .max_capacity(kib(bytes / WAITING_ROOM))
            .weigher(|_, view: &Arc<View>| weight(view))
            .eviction_policy(EvictionPolicy::lru())
            .build();
        let left = Arc::new(Mutex::new(Vec::new()));
        let room = bytes - bytes / WAITING_ROOM;
        let views = Cache::builder()
            .max_capacity(kib(room))
            .weigher(|_, view: &Arc<View>| weight(view))
            .eviction_listener({
                let (waiting, left, counters) = (waiting.clone(), Arc::clone(&left), Arc::clone(&counters));
                move |tenant: Arc<TenantId>, view: Arc<View>, cause| {
                    if cause == RemovalCause::Size {
                        counters.let_go(*tenant, &view, room);
                        note_heat(&left, *tenant, &view);
                        keep_waiting(&waiting, *tenant, view);
                    }
                }
            })
            .build();
        let rebuilt = Cache::builder().max_capacity(64).time_to_live(JUST_REBUILT).build();
        Lots {
            directory,
            loader: Loader::new(store, Arc::clone(&counters)),
            views,
            waiting,
            rebuilt,
            wanted: Wanted::default(),
            behind: Behind::default(),
            left,
            counters,
            bytes,
        }
    }

    /// The dealer's lot; loaded by the first of all that ask at once.
    pub(crate) async fn view(&self, tenant: TenantId) -> Result<Arc<View>, LoadError> {
        let view = match self.views.get(&tenant).await {
            Some(view) => view,
            // In a box: what every question carries along must stay small, and reading a lot is large.
            None => Box::pin(self.view_elsewhere(tenant)).await?,
        };
        view.lasting.asked.fetch_add(1, Ordering::Relaxed);
        Ok(view)
    }

    /// Loads a lot ahead of time.
    pub(crate) async fn warm(&self, tenant: TenantId) -> Result<(), LoadError> {
        if self.directory.units(tenant) > 0 && !self.views.contains_key(&tenant) {
            self.view_elsewhere(tenant).await?;
        }
        Ok(())
    }

    async fn view_elsewhere(&self, tenant: TenantId) -> Result<Arc<View>, LoadError> {
        if let Some(view) = self.waiting.get(&tenant) {
            let known = self.directory.inventory_version(tenant);
            if view.current.snapshot.version() < known {
                return self.at_least(tenant, view, known).await;
            }
            return Ok(view);
        }
        let load = async {
            let units = self.directory.units(tenant);
            Ok::<_, LoadError>(Arc::new(View::new(self.loader.whole(tenant, units).await?)))
        };
        let view = self.views.try_get_with(tenant, load).await.map_err(|shared| (*shared).clone())?;
        self.settle().await;
        // A change that was announced while the lot was being read, and before it was there to be refreshed.
        let known = self.directory.inventory_version(tenant);
        if view.current.snapshot.version() < known {
            return self.at_least(tenant, view, known).await;
        }
        Ok(view)
    }

    /// The lot at `version` or newer, for whoever knows that it exists: one's own write, a cursor's version.
    ///
    /// # Errors
    /// [`LoadError::NotThere`] when the database has no such version.
    pub(crate) async fn at_least(
        &self,
        tenant: TenantId,
        mut view: Arc<View>,
        version: u64,
    ) -> Result<Arc<View>, LoadError> {
        if view.current.snapshot.version() < version {
            view = self.refresh_once(tenant, view, version).await?;
        }
        let newest = view.current.snapshot.version();
        if newest < version { Err(LoadError::NotThere { wanted: version, newest }) } else { Ok(view) }
    }

    /// A version of the lot that a cursor names: held, or rebuilt. `None` when it cannot be had any more.
    pub(crate) async fn version(
        &self,
        tenant: TenantId,
        view: &Arc<View>,
        version: u64,
    ) -> Result<Option<Arc<Held>>, LoadError> {
        match view.at(version) {
            Some(held) => Ok(Some(Arc::clone(held))),
            None => Box::pin(self.version_elsewhere(tenant, view, version)).await,
        }
    }

    async fn version_elsewhere(
        &self,
        tenant: TenantId,
        view: &Arc<View>,
        version: u64,
    ) -> Result<Option<Arc<Held>>, LoadError> {
        let view = match self.at_least(tenant, Arc::clone(view), version).await {
            Ok(view) => view,
            // The database was put back to an earlier state.
            Err(LoadError::NotThere { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(held) = view.at(version) {
            return Ok(Some(Arc::clone(held)));
        }
        let rebuild = async {
            let from = view.nearest(version);
            let mut rebuilt = self.loader.rebuilt(tenant, from, version).await?;
            if rebuilt.is_none() && from.snapshot.version() < version {
                // Only what came after the wanted version may be kept.
                rebuilt = self.loader.rebuilt(tenant, &view.current, version).await?;
            }
            if let Some(held) = &rebuilt {
                self.keep_older(tenant, held).await;
            }
            Ok::<_, LoadError>(rebuilt)
        };
        self.rebuilt.try_get_with((tenant, version), rebuild).await.map_err(|shared| (*shared).clone())
    }

    async fn keep_older(&self, tenant: TenantId, held: &Arc<Held>) {
        let version = held.snapshot.version();
        // Somebody is paging through it: it is not the first to go when there are too many.
        held.keep_until(crate::unix_now() + CURSOR_SECONDS);
        self.replace(tenant, |view| {
            let new = view.at(version).is_none() && version < view.current.snapshot.version();
            new.then(|| view.with_older(Arc::clone(held)))
        })
        .await;
    }

    /// Brings a held lot to `version` or newer, one reading at a time whoever asks for it, and not too often. Lots
    /// that nobody asked for stay out of memory.
    pub(crate) async fn refresh(&self, tenant: TenantId, version: u64) -> Result<(), LoadError> {
        // Those there are not kept up to date: the next question reads them anew, and may find a place for them.
        if self.waiting.get(&tenant).is_some_and(|view| view.current.snapshot.version() < version) {
            self.waiting.invalidate(&tenant);
        }
        let Some(mut refreshing) = self.wanted.begin(tenant, version) else { return Ok(()) };
        let mut reached = 0;
        while let Some(version) = refreshing.beyond(reached) {
            let Some(view) = self.views.get(&tenant).await else { return Ok(()) };
            if view.current.snapshot.version() < version {
                let pause = refresh::pause(view.current.snapshot.len());
                reached =
                    self.refresh_once(tenant, view, version).await?.current.snapshot.version().max(version);
                tokio::time::sleep(pause).await;
            } else {
                reached = version;
            }
        }
        Ok(())
    }

    /// Reads what changed since `view`; the lot afterwards.
    async fn refresh_once(
        &self,
        tenant: TenantId,
        view: Arc<View>,
        version: u64,
    ) -> Result<Arc<View>, LoadError> {
        let lasting = Arc::clone(&view.lasting);
        let _alone = lasting.refreshing.lock().await;
        // Somebody else may have done it while we waited.
        let view = self.views.get(&tenant).await.unwrap_or(view);
        if view.current.snapshot.version() >= version {
            return Ok(view);
        }
        self.behind.note(tenant);
        let Some((next, whole)) = self.loader.refreshed(tenant, &view.current, view.is_worn(WORN)).await?
        else {
            // What was announced was undone, or the database was put back.
            self.behind.clear(tenant);
            return Ok(view);
        };
        self.behind.clear(tenant);
        let now = crate::unix_now();
        let kept = self
            .replace(tenant, |view| {
                let newer = view.current.snapshot.version() < next.snapshot.version();
                newer.then(|| view.superseded(Arc::clone(&next), whole, now))
            })
            .await;
        // Evicted meanwhile: what was answered once must not be followed by anything older.
        Ok(kept.unwrap_or_else(|| {
            let view = Arc::new(view.superseded(next, whole, now));
            keep_waiting(&self.waiting, tenant, Arc::clone(&view));
            view
        }))
    }

    /// Replaces a lot that is in the cache by what `change` makes of it, if anything; the lot afterwards.
    async fn replace(
        &self,
        tenant: TenantId,
        change: impl FnOnce(&View) -> Option<View>,
    ) -> Option<Arc<View>> {
        let done = self
            .views
            .entry(tenant)
            .and_compute_with(|found| {
                let next = found.and_then(|entry| change(&entry.into_value()));
                std::future::ready(next.map_or(Op::Nop, |view| Op::Put(Arc::new(view))))
            })
            .await;
        self.settle().await;
        done.into_entry().map(moka::Entry::into_value)
    }

    /// Lets the caches give up what is too much. They would do so by themselves, some time after the next questions.
    async fn settle(&self) {
        self.views.run_pending_tasks().await;
        self.waiting.run_pending_tasks();
    }

    /// Lets go of former versions that no living cursor names, also of lots that do not change any more.
    pub(crate) async fn sweep(&self) {
        let now = crate::unix_now();
        let due: Vec<_> =
            self.views.iter().filter(|(_, view)| view.swept(now).is_some()).map(|(id, _)| *id).collect();
        for tenant in due {
            self.replace(tenant, |view| view.swept(now)).await;
        }
    }

    /// Forgets a lot, for a dealer that is gone.
    pub(crate) async fn forget(&self, tenant: TenantId) {
        self.views.invalidate(&tenant).await;
        self.waiting.invalidate(&tenant);
        self.behind.clear(tenant);
    }

    /// Forgets all lots.
    pub(crate) fn forget_all(&self) {
        self.views.invalidate_all();
        self.waiting.invalidate_all();
        self.rebuilt.invalidate_all();
        self.behind.clear_all();
    }

    /// The lots in memory, with their versions.
    pub(crate) fn held(&self) -> Vec<(TenantId, u64)> {
        let of = |(id, view): (Arc<TenantId>, Arc<View>)| (*id, view.current.snapshot.version());
        self.views.iter().map(of).chain(self.waiting.iter().map(of)).collect()
    }

    /// For how long a newer version of the lot has been known and not been had.
    pub(crate) fn behind(&self, tenant: TenantId) -> Duration {
        self.behind.of(tenant)
    }

    /// How many lots that is so for, and the longest.
    pub(crate) fn most_behind(&self) -> (usize, Duration) {
        self.behind.worst()
    }

    /// Counted: the cache's own figures lag behind until it has something to do.
    pub(crate) fn weight(&self) -> Weight {
        let add = |sum: Weight, view: Arc<View>| Weight {
            lots: sum.lots + 1,
            older: sum.older + view.older() as u64,
            bytes: sum.bytes + view.weight() as u64,
        };
        let all = self.views.iter().map(|(_, view)| view);
        all.chain(self.waiting.iter().map(|(_, view)| view)).fold(Weight::default(), add)
    }

    /// The memory that lots may take.
    pub(crate) fn budget(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn counts(&self) -> LotCounts {
        self.counters.read()
    }

    /// Questions since the last call, by dealer.
    pub(crate) fn take_heat(&self) -> Vec<(TenantId, u64)> {
        for (tenant, view) in self.views.iter().chain(self.waiting.iter()) {
            note_heat(&self.left, *tenant, &view);
        }
        let mut taken = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        taken.sort_unstable_by_key(|(tenant, _)| tenant.0);
        taken.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        taken
    }

    /// Whether there is room for more lots without others giving way.
    pub(crate) fn has_room(&self) -> bool {
        let taken = self.weight().bytes;
        with_allocator(taken) < (self.bytes - self.bytes / WAITING_ROOM) / 10 * 9
    }
}

impl Counters {
    /// A lot left the cache for lack of room: one that was there, or one that just came and was not kept.
    fn let_go(&self, tenant: TenantId, view: &View, room: u64) {
        let bytes = with_allocator(view.weight() as u64);
        if bytes > room {
            self.refused(Refusal::TooLarge);
            let mib = bytes.div_ceil(1024 * 1024);
            tracing::warn!(tenant = %tenant.0, mib, "a lot is larger than --cache-mb allows; it is read for every question");
        } else if view.is_worn(JUST_LOADED) {
            self.evicted();
        } else {
            self.refused(Refusal::NoRoom);
        }
    }
}

/// Keeps a lot that has no place in the cache, unless a newer version of it is kept.
fn keep_waiting(waiting: &moka::sync::Cache<TenantId, Arc<View>>, tenant: TenantId, view: Arc<View>) {
    waiting.entry(tenant).and_compute_with(|found| {
        let version = |view: &View| view.current.snapshot.version();
        match found {
            Some(entry) if version(entry.value()) > version(&view) => Op::Nop,
            _ => Op::Put(view),
        }
    });
}

fn note_heat(left: &Mutex<Vec<(TenantId, u64)>>, tenant: TenantId, view: &View) {
    let asked = view.lasting.asked.swap(0, Ordering::Relaxed);
    if asked > 0 {
        left.lock().unwrap_or_else(PoisonError::into_inner).push((tenant, asked));
    }
}

/// A quarter more than what is accounted for goes to the allocator and to versions that requests still use.
fn with_allocator(bytes: u64) -> u64 {
    bytes + bytes / 4
}

/// The cache counts in KiB, because a weight has 32 bits.
fn weight(view: &View) -> u32 {
    u32::try_from(kib(with_allocator(view.weight() as u64))).unwrap_or(u32::MAX)
}

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

impl std::fmt::Debug for Lots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lots").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
