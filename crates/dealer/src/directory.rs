//! Every dealer's addresses, in memory: a request is placed without asking the database, and a stranger's guess
//! costs nothing.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use store::{DirectoryRow, TenantId, TenantState, VersionRow};

use crate::freshness::Freshness;
use crate::tenant::Tenant;

/// One look of so many goes to the cache of dealers all the same, which keeps those that it is asked for.
const LOOKS: u32 = 16;

/// Where a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// By path, by platform host, or by A2A `tenant`.
    Slug(&'a str),
    /// By a custom domain.
    Domain(&'a str),
}

/// What the directory knows of a dealer.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: TenantId,
    pub(crate) slug: String,
    pub(crate) state: TenantState,
    pub(crate) revision: i64,
    pub(crate) inventory_version: u64,
    pub(crate) units: u64,
    domains: Vec<String>,
    /// The dealer of this revision, as long as the cache keeps it.
    held: Weak<Tenant>,
    seat: Seat,
}

/// An entry as it was when somebody looked, and how often somebody did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seat(Arc<AtomicU32>);

impl Entry {
    fn at_hand(&self) -> Result<Arc<Tenant>, Seat> {
        // Not exact where several look at once; nobody needs it to be.
        let looks = self.seat.0.load(Ordering::Relaxed).wrapping_add(1);
        self.seat.0.store(looks, Ordering::Relaxed);
        let held = if looks.is_multiple_of(LOOKS) { None } else { self.held.upgrade() };
        held.ok_or_else(|| self.seat.clone())
    }
}

/// What a look at the database told that was not known.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Dealers that are new or changed.
    pub(crate) dealers: Vec<TenantId>,
    /// Lots, with their versions and units.
    pub(crate) lots: Vec<(TenantId, u64, u64)>,
    /// Dealers that are not there any more.
    pub(crate) gone: Vec<TenantId>,
    /// Some number is lower than one that is known.
    pub(crate) lower: bool,
}

/// Whether a dealer's numbers are from an earlier state than those known.
pub(crate) fn is_lower(row: &VersionRow, known: (i64, u64)) -> bool {
    row.revision < known.0 || count(row.inventory_version) < known.1
}

/// The schema lets no number become negative.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Whom a request was sent to.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) id: TenantId,
    pub(crate) state: TenantState,
    pub(crate) revision: i64,
    /// The dealer, or where to put it ([`Directory::hold`]) once it was had from the cache.
    pub(crate) tenant: Result<Arc<Tenant>, Seat>,
}

/// All dealers, by every name they are reached by.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    maps: RwLock<Maps>,
}

#[derive(Debug, Default)]
struct Maps {
    by_id: HashMap<TenantId, Entry>,
    by_slug: HashMap<String, TenantId>,
    by_domain: HashMap<String, TenantId>,
    /// What dealers of all revisions share; asked for before there is an entry, and kept without one.
    freshness: HashMap<TenantId, Arc<Freshness>>,
}

impl Directory {
    /// The dealer at a place. Asked for by every request, hence no copy of all its names.
    pub(crate) fn find(&self, place: Place<'_>) -> Option<Found> {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        let id = match place {
            Place::Slug(slug) => maps.by_slug.get(slug),
            Place::Domain(domain) => maps.by_domain.get(domain),
        }?;
        let entry = maps.by_id.get(id)?;
        let tenant = entry.at_hand();
        Some(Found { id: entry.id, state: entry.state, revision: entry.revision, tenant })
    }

    /// Puts a dealer that the cache holds at hand, unless its entry has given way to another meanwhile.
    pub(crate) fn hold(&self, id: TenantId, seat: &Seat, tenant: &Arc<Tenant>) {
        let vacant =
            |entry: &Entry| Arc::ptr_eq(&entry.seat.0, &seat.0) && entry.held.as_ptr() != Arc::as_ptr(tenant);
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        if !maps.by_id.get(&id).is_some_and(vacant) {
            return;
        }
        drop(maps);
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = maps.by_id.get_mut(&id).filter(|entry| vacant(entry)) {
            entry.held = Arc::downgrade(tenant);
        }
    }

    /// Whether an active dealer is reached at a domain. That of any other must look like one nobody ever had.
    pub(crate) fn is_domain(&self, domain: &str) -> bool {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        let owner = maps.by_domain.get(domain).and_then(|id| maps.by_id.get(id));
        owner.is_some_and(|entry| entry.state == TenantState::Active)
    }

    pub(crate) fn entry(&self, id: TenantId) -> Option<Entry> {
        self.maps.read().unwrap_or_else(PoisonError::into_inner).by_id.get(&id).cloned()
    }

    pub(crate) fn put(&self, row: DirectoryRow) {
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        // A notice may have told of a newer version since the row was read.
        let heard = maps.by_id.get(&row.tenant_id).map_or(0, |entry| entry.inventory_version);
        let freshness = maps.freshness.entry(row.tenant_id).or_default();
        freshness.set(row.confirmed_at, row.fresh_until);
        maps.forget(row.tenant_id);
        maps.by_slug.insert(row.slug.clone(), row.tenant_id);
        for domain in &row.domains {
            maps.by_domain.insert(domain.clone(), row.tenant_id);
        }
        maps.by_id.insert(
            row.tenant_id,
            Entry {
                id: row.tenant_id,
                slug: row.slug,
                state: row.state,
                revision: row.revision,
                inventory_version: count(row.inventory_version).max(heard),
                units: count(row.units),
                domains: row.domains,
                held: Weak::new(),
                seat: Seat::default(),
            },
        );
    }

    /// Everything anew, older numbers too: for a database that was put back to an earlier state.
    pub(crate) fn reset(&self, rows: Vec<DirectoryRow>) {
        let fresh = Directory::default();
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        // Dealers that requests hold go on sharing them.
        fresh.maps.write().unwrap_or_else(PoisonError::into_inner).freshness =
            std::mem::take(&mut maps.freshness);
        for row in rows {
            fresh.put(row);
        }
        *maps = fresh.maps.into_inner().unwrap_or_else(PoisonError::into_inner);
    }

    /// How fresh a dealer's lot is: one for all times and revisions of the dealer.
    pub(crate) fn freshness(&self, id: TenantId) -> Arc<Freshness> {
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(maps.freshness.entry(id).or_default())
    }

    /// Has every dealer asked for anew. What somebody took from the cache before is not put at hand any more.
    pub(crate) fn let_go(&self) {
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        for entry in maps.by_id.values_mut() {
            (entry.held, entry.seat) = (Weak::new(), Seat::default());
        }
    }

    /// The numbers of every dealer that are known: revision and version of the lot.
    pub(crate) fn numbers(&self) -> HashMap<TenantId, (i64, u64)> {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        maps.by_id.values().map(|entry| (entry.id, (entry.revision, entry.inventory_version))).collect()
    }

    pub(crate) fn forget(&self, id: TenantId) {
        self.maps.write().unwrap_or_else(PoisonError::into_inner).forget(id);
    }

    /// The newest version of a dealer's lot that anybody has told of; 0 where there is none.
    pub(crate) fn inventory_version(&self, id: TenantId) -> u64 {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        maps.by_id.get(&id).map_or(0, |entry| entry.inventory_version)
    }

    /// About how many units a dealer's lot has.
    pub(crate) fn units(&self, id: TenantId) -> u64 {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        maps.by_id.get(&id).map_or(0, |entry| entry.units)
    }

    /// Takes over a version of a dealer's lot unless a newer one is known.
    pub(crate) fn heard(&self, id: TenantId, version: u64, units: Option<u64>) {
        let mut maps = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = maps.by_id.get_mut(&id).filter(|entry| entry.inventory_version <= version) {
            entry.inventory_version = version;
            entry.units = units.unwrap_or(entry.units);
        }
    }

    /// What of these numbers is news: dealers to read anew, lots that have another version, dealers that are gone.
    pub(crate) fn news(&self, rows: &[VersionRow]) -> News {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        let mut news = News::default();
        for row in rows {
            let known = maps.by_id.get(&row.tenant_id);
            if let Some(freshness) = maps.freshness.get(&row.tenant_id) {
                freshness.set(row.confirmed_at, row.fresh_until);
            }
            news.lower |= known.is_some_and(|known| is_lower(row, (known.revision, known.inventory_version)));
            match known {
                Some(known) if (known.revision, known.state) == (row.revision, row.state) => {
                    let version = count(row.inventory_version);
                    if version != known.inventory_version || count(row.units) != known.units {
                        news.lots.push((row.tenant_id, version, count(row.units)));
                    }
                }
                _ => news.dealers.push(row.tenant_id),
            }
        }
        let present: HashSet<_> = rows.iter().map(|row| row.tenant_id).collect();
        news.gone = maps.by_id.keys().filter(|id| !present.contains(id)).copied().collect();
        news
    }

    /// Slugs of active dealers, sorted, at most `limit`.
    pub(crate) fn active_slugs(&self, limit: usize) -> Vec<String> {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        let active = maps.by_id.values().filter(|entry| entry.state == TenantState::Active);
        let mut slugs: Vec<_> = active.map(|entry| entry.slug.as_str()).collect();
        slugs.sort_unstable();
        slugs.into_iter().take(limit).map(str::to_owned).collect()
    }

    /// How many dealers there are, by state.
    pub(crate) fn count(&self, state: TenantState) -> usize {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        maps.by_id.values().filter(|entry| entry.state == state).count()
    }
}

impl Maps {
    fn forget(&mut self, id: TenantId) {
        let Some(old) = self.by_id.remove(&id) else { return };
        // A domain may have moved on to another dealer already; only our own entries go.
        if self.by_slug.get(&old.slug) == Some(&id) {
            self.by_slug.remove(&old.slug);
        }
        for domain in &old.domains {
            if self.by_domain.get(domain) == Some(&id) {
                self.by_domain.remove(domain);
            }
        }
    }
}
