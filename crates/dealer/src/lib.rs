//! What the platform does for a dealer: the skills, the card, the lot in memory, bringing dealers in.
//!
//! No transport is known here. An interface resolves a [`Tenant`], makes a [`Call`] and gets the payload bytes of
//! an answer or a [`Fault`].

pub mod callers;
mod card;
mod directory;
pub mod feeds;
mod figures;
mod follow;
mod freshness;
mod leads;
mod lot;
mod origin;
mod policy;
pub mod provision;
mod quota;
mod resolve;
mod skills;
mod tenant;
pub mod vault;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use contract::{Contract, ContractVersion, Fault, FaultCode, SkillId, SkillSpec, refusal, with_further};
use inventory::cursor::CursorKey;
use moka::future::Cache;
use serde_json::Value;
use store::{Store, TenantId};

use crate::callers::{KeySets, KeyUses};
use crate::directory::Directory;
use crate::follow::FollowError;
use crate::leads::Lanes;
use crate::lot::{LoadError, Lots, View};
use crate::quota::Quota;

pub use crate::callers::{
    Access, Caller, CallerKey, CallersRule, Credential, Denied, KEY_PREFIX, OAuthRule, Shown,
};
pub use crate::card::{Cause, card_changed};
pub use crate::directory::Place;
pub use crate::figures::Figures;
pub use crate::lot::LotCounts;
pub use crate::origin::{Addresses, Origin, OriginError, OwnHost, is_domain, is_slug};
pub use crate::policy::{Channel, FILTERS, Policy, RateLimit, SearchPolicy};
pub use crate::resolve::{LoadTenantError, ResolveError};
pub use crate::tenant::{Card, Tenant, TenantCorrupt, TenantName};

/// How long a call waits for the version of a lot that it wants.
const OWN_WRITE: Duration = Duration::from_secs(2);
/// How the core behaves; decided once at start.
#[derive(Debug, Clone)]
pub struct DealerSettings {
    /// Where the platform is reached.
    pub public_origin: Origin,
    /// With it, dealers are canonically reached at `{slug}.{platform_domain}`.
    pub platform_domain: Option<String>,
    /// Serve contracts whose identifiers lead nowhere at public addresses too, of dealers that name them.
    pub serve_draft: bool,
    /// Data older than this is not answered from any more.
    pub max_age: Duration,
    /// How much memory lots may take, in bytes.
    pub cache_bytes: u64,
    /// How often the database is asked for changes, whatever notices arrive.
    pub poll: Duration,
    /// How requests are checked.
    pub request_checks: RequestChecks,
}

/// How much of a request is checked before a skill runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestChecks {
    /// Against its published schema: every platform that answers buyers.
    Schema,
    /// Only what the types of a request check by themselves. Exists for the benchmark, which tells what the
    /// schema costs; what such a platform makes of a wrong request is nobody's promise.
    TypesOnly,
}

/// The core could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database refused.
    #[error("reading the dealers failed: {0}")]
    Store(#[from] store::Error),
    /// The database is there and says nothing.
    #[error("reading the dealers takes too long")]
    TooSlow,
    /// A built-in schema is broken.
    #[error("a schema of the protocol cannot be compiled: {0}")]
    Schema(#[from] contract::SchemaError),
}

/// The core. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Dealer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Store,
    addresses: Addresses,
    contracts: Vec<(ContractVersion, Contract)>,
    directory: Arc<Directory>,
    /// Keyed by revision too, so that a reader can never put an old dealer over a new one.
    tenants: Cache<(TenantId, i64), Arc<Tenant>>,
    lots: Lots,
    lanes: Lanes,
    quota: Quota,
    key_sets: Arc<KeySets>,
    key_uses: KeyUses,
    cursor_key: CursorKey,
    max_age: Duration,
    request_checks: RequestChecks,
    /// Held while the directory is compared with the database: an older answer must not be taken over after a
    /// newer one.
    following: tokio::sync::Mutex<()>,
    started: Instant,
    /// Milliseconds after `started` at which the database last confirmed what we hold.
    confirmed_ms: AtomicU64,
}

/// The core, if it still runs.
#[derive(Debug, Clone)]
pub struct WeakDealer(std::sync::Weak<Inner>);

impl WeakDealer {
    /// The core, if it still runs.
    pub fn upgrade(&self) -> Option<Dealer> {
        self.0.upgrade().map(|inner| Dealer { inner })
    }
}

/// One question to one dealer.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who is asked.
    pub tenant: Arc<Tenant>,
    /// By which contract.
    pub contract: ContractVersion,
    /// Who asks.
    pub caller: Caller,
    /// Answer from this version of the lot or a newer one: for whoever has just changed it and wants to see that.
    pub min_version: Option<u64>,
}

/// What is to be said of an answer besides the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The version of the lot that all of the answer is from; `None` where the lot was not asked.
    pub inventory_version: Option<u64>,
}

impl Dealer {
    /// Reads all dealers' addresses, brings every card up to date with the settings, and keeps following the
    /// database until the last clone is dropped.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn start(store: Store, settings: DealerSettings) -> Result<Dealer, StartError> {
        let addresses = Addresses {
            origin: settings.public_origin,
            platform_domain: settings.platform_domain,
            serve_draft: settings.serve_draft,
        };
        let mut contracts = Vec::new();
        for spec in contract::CONTRACTS {
            contracts.push((spec.version, Contract::load(spec.version)?));
        }
        let mut tx = store.platform().await?;
        let cursor_key = CursorKey::new(tx.secret("cursor").await?);
        tx.commit().await?;
        follow::settle_addresses(&store, &addresses).await?;

        let tenants = Cache::builder()
            .max_capacity(512 * 1024 * 1024)
            .weigher(|_, tenant: &Arc<Tenant>| tenant.weight())
            .time_to_idle(Duration::from_secs(24 * 3600))
            .build();
        let directory = Arc::new(Directory::default());
        let inner = Arc::new(Inner {
            lots: Lots::new(store.clone(), Arc::clone(&directory), settings.cache_bytes),
            store,
            addresses,
            contracts,
            directory,
            tenants,
            lanes: Lanes::default(),
            quota: Quota::default(),
            key_sets: Arc::default(),
            key_uses: KeyUses::default(),
            cursor_key,
            max_age: settings.max_age,
            request_checks: settings.request_checks,
            following: tokio::sync::Mutex::default(),
            started: Instant::now(),
            confirmed_ms: AtomicU64::new(0),
        });
        follow::poll(&inner).await.map_err(|error| match error {
            FollowError::Store(error) => StartError::Store(error),
            FollowError::TooSlow => StartError::TooSlow,
        })?;
        tokio::spawn(follow::run(Arc::downgrade(&inner), settings.poll));
        Ok(Dealer { inner })
    }

    /// A handle that does not keep the core alive.
    pub fn downgrade(&self) -> WeakDealer {
        WeakDealer(Arc::downgrade(&self.inner))
    }

    /// Where this platform and its dealers are reached.
    pub fn addresses(&self) -> &Addresses {
        &self.inner.addresses
    }

    /// Whether a host name is some active dealer's own.
    pub fn is_domain(&self, host: &str) -> bool {
        self.inner.directory.is_domain(host)
    }

    /// Slugs of active dealers, sorted, at most `limit`: for the operator's own pages.
    pub fn active_slugs(&self, limit: usize) -> Vec<String> {
        self.inner.directory.active_slugs(limit)
    }

    /// Waits until everything that was committed before this call is answered from, lots included.
    ///
    /// # Errors
    /// [`TooSlow`] when the database did not confirm it in time.
    pub async fn caught_up(&self, limit: Duration) -> Result<(), TooSlow> {
        let caught_up = async {
            loop {
                if follow::poll(&self.inner).await.is_ok() && self.inner.lots_are_current() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(limit, caught_up).await.map_err(|_| TooSlow)
    }

    /// How old what we hold may be: the time since the database last confirmed it.
    pub fn age(&self) -> Duration {
        let confirmed = Duration::from_millis(self.inner.confirmed_ms.load(Ordering::Relaxed));
        self.inner.started.elapsed().saturating_sub(confirmed)
    }

    /// Whether answers may be given from what we hold.
    pub fn is_fresh(&self) -> bool {
        self.age() <= self.inner.max_age
    }

    /// Which skill a payload asks for (AAP.md 6.4, dispatch).
    ///
    /// # Errors
    /// A validation fault at `/type`, or `UNSUPPORTED_SKILL` for a skill that this dealer does not offer.
    pub fn dispatch(&self, call: &Call, data: &Value) -> Result<&'static SkillSpec, Fault> {
        skills::dispatch(call, data)
    }

    /// Answers one skill call: appends the payload `{"type", "data", "message"?}` to `out`.
    ///
    /// Checks the schema, then the dealer's quota, then runs the skill. On a fault `out` is as it was.
    ///
    /// # Errors
    /// The fault to encode. Internal ones carry their cause for the log.
    pub async fn call(
        &self,
        call: &Call,
        skill: &'static SkillSpec,
        data: Value,
        out: &mut Vec<u8>,
    ) -> Result<Answered, Fault> {
        self.answered(call, skill, data, out, true).await
    }

    /// Answers a question that the platform puts itself, so that a document can show what this dealer answers: as
    /// [`Dealer::call`] does, but at nobody's expense. Who reads about a dealer must not use up what its callers may
    /// ask. For reads alone.
    ///
    /// # Errors
    /// As of [`Dealer::call`].
    pub async fn shown(
        &self,
        call: &Call,
        skill: &'static SkillSpec,
        data: Value,
        out: &mut Vec<u8>,
    ) -> Result<Answered, Fault> {
        if skill.id == SkillId::LeadSubmit {
            return Err(Fault::internal("nobody is shown a lead"));
        }
        self.answered(call, skill, data, out, false).await
    }

    /// The newest version of a dealer's lot that this process has heard of. Reads no lot.
    pub fn newest_inventory(&self, tenant: &Tenant) -> u64 {
        self.inner.directory.inventory_version(tenant.id)
    }

    async fn answered(
        &self,
        call: &Call,
        skill: &'static SkillSpec,
        data: Value,
        out: &mut Vec<u8>,
        counted: bool,
    ) -> Result<Answered, Fault> {
        let start = out.len();
        let answer = self.answer(call, skill, data, out, counted).await;
        if answer.is_err() {
            out.truncate(start);
        }
        answer.map(|inventory_version| Answered { inventory_version })
    }

    async fn answer(
        &self,
        call: &Call,
        skill: &'static SkillSpec,
        data: Value,
        out: &mut Vec<u8>,
        counted: bool,
    ) -> Result<Option<u64>, Fault> {
        // Doors ask before; one that forgot must not have served anybody.
        self.permit(call, skill.id).map_err(Fault::internal)?;
        let Some(entry) = skills::find(skill.id) else {
            return Err(skills::unsupported(call, skill.id.as_str()));
        };
        if self.inner.request_checks == RequestChecks::Schema {
            self.contract(call.contract)?.check(skill.request_schema, &data).map_err(|violations| {
                let further = skills::problems(call, skill.id, &data);
                refusal::of(skill, &data, with_further(violations, further))
            })?;
        }
        if counted {
            self.take_from_quotas(call, &data)?;
        }
        if data.get("dealer_id").and_then(Value::as_str).is_some_and(|id| id != call.tenant.dealer_id) {
            return Err(Fault::new(
                FaultCode::DealerNotFound,
                "No dealer of that id is reached at this address.",
            ));
        }
        if !self.is_fresh() {
            return Err(Fault::internal("the data held is older than the age limit"));
        }
        #[cfg(feature = "fault-injection")]
        if let Some(text) = &call.tenant.policy.fault {
            return Err(Fault::internal(text.clone()));
        }
        let begin = out.len();
        let version = (entry.run)(self, call, data, out).await?;
        if cfg!(debug_assertions) {
            self.verify(call, skill, out.get(begin..).unwrap_or_default());
        }
        Ok(version)
    }

    fn contract(&self, version: ContractVersion) -> Result<&Contract, Fault> {
        let found = self.inner.contracts.iter().find(|(built, _)| *built == version);
        found.map(|(_, contract)| contract).ok_or_else(|| Fault::internal("contract is not built"))
    }

    /// In debug builds and tests every answer is held against its own schema.
    fn verify(&self, call: &Call, skill: &SkillSpec, payload: &[u8]) {
        let Ok(contract) = self.contract(call.contract) else { return };
        let verdict = match serde_json::from_slice::<Value>(payload) {
            Ok(value) => contract.check(skill.response_schema, &value).map_err(|v| format!("{v:?}")),
            Err(error) => Err(error.to_string()),
        };
        debug_assert!(verdict.is_ok(), "{} answered against its schema: {verdict:?}", skill.id);
    }
}

/// The database did not answer in time.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the database did not confirm the newest state in time")]
pub struct TooSlow;

impl Inner {
    /// Whether no held lot is older than the directory says.
    fn lots_are_current(&self) -> bool {
        self.lots.held().into_iter().all(|(id, version)| self.directory.inventory_version(id) <= version)
    }

    /// The dealer's lot for a call, no older than the call wants it and than the age limit allows.
    async fn lot(&self, call: &Call) -> Result<Arc<View>, Fault> {
        let id = call.tenant.id;
        let view = self.lots.view(id).await.map_err(Fault::internal)?;
        let view = match call.min_version {
            Some(version) if version > view.current.snapshot.version() => {
                let newer = Box::pin(self.lots.at_least(id, view, version));
                let Ok(newer) = tokio::time::timeout(OWN_WRITE, newer).await else {
                    return Err(Fault::not_yet("the wanted version of the lot was not read in time"));
                };
                newer.map_err(|error| match error {
                    LoadError::NotThere { .. } => Fault::not_yet(error),
                    error => Fault::internal(error),
                })?
            }
            _ => view,
        };
        if self.lots.behind(id) > self.max_age {
            return Err(Fault::internal(LoadError::TooOld));
        }
        Ok(view)
    }

    fn confirm(&self) {
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.confirmed_ms.store(ms, Ordering::Relaxed);
    }
}

/// Seconds since 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Every skill this build serves, in the protocol's order.
pub fn built_skills() -> impl Iterator<Item = SkillId> {
    skills::built()
}
