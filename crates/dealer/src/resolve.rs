//! From a place to the dealer that is found there, read once and held.

use std::sync::Arc;
use std::time::Duration;

use store::{TenantId, TenantState};

use crate::directory::{Found, Place};
use crate::tenant::{Tenant, TenantCorrupt};
use crate::{Dealer, Inner};

/// How long reading a dealer may take, which is a matter of milliseconds. Requests wait for it.
const LOAD_TENANT: Duration = Duration::from_secs(10);

/// How a request failed to find a dealer, or was answered by one that cannot be read now.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// Nobody of that name, or nobody who is to be seen. The reason is for the operator, never for the caller.
    #[error("no dealer is served here ({0})")]
    Nobody(&'static str),
    /// The dealer exists and cannot be read now.
    #[error("the dealer cannot be read: {0}")]
    Unreadable(#[source] Arc<LoadTenantError>),
}

/// Why a dealer's own data could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadTenantError {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// What is stored makes no sense.
    #[error(transparent)]
    Corrupt(#[from] TenantCorrupt),
    /// It vanished between two looks.
    #[error("the dealer is gone")]
    Gone,
    /// The database is there and says nothing.
    #[error("the database did not answer within {} seconds", LOAD_TENANT.as_secs())]
    TooSlow,
}

impl Dealer {
    /// The dealer at a place, if it is active.
    ///
    /// # Errors
    /// [`ResolveError::Nobody`] for unknown, suspended and removed dealers alike.
    pub async fn resolve(&self, place: Place<'_>) -> Result<Arc<Tenant>, ResolveError> {
        let Some(entry) = self.inner.directory.find(place) else {
            return Err(ResolveError::Nobody("unknown"));
        };
        match entry.state {
            TenantState::Active => {}
            TenantState::Suspended => return Err(ResolveError::Nobody("suspended")),
            TenantState::Removed => return Err(ResolveError::Nobody("removed")),
        }
        self.inner.tenant(entry).await
    }
}

impl Inner {
    pub(crate) async fn tenant(&self, entry: Found) -> Result<Arc<Tenant>, ResolveError> {
        let seat = match entry.tenant {
            Ok(tenant) => return Ok(tenant),
            Err(seat) => seat,
        };
        let key = (entry.id, entry.revision);
        let tenant = match self.tenants.get(&key).await {
            Some(tenant) => tenant,
            None => {
                // In a box: what every request carries along must stay small, and reading a dealer is large.
                let load = self.tenants.try_get_with(key, self.load_tenant(entry.id));
                Box::pin(load).await.map_err(ResolveError::Unreadable)?
            }
        };
        self.directory.hold(entry.id, &seat, &tenant);
        Ok(tenant)
    }

    #[tracing::instrument(name = "tenant.load", skip_all)]
    pub(crate) async fn load_tenant(&self, id: TenantId) -> Result<Arc<Tenant>, LoadTenantError> {
        let load = async {
            let mut tx = self.store.tenant_snapshot(id).await?;
            let row = tx.row().await?.ok_or(LoadTenantError::Gone)?;
            let rooftops = tx.rooftops().await?;
            let cards = tx.cards().await?;
            let keys = tx.caller_keys().await?;
            let mut tenant = Tenant::from_rows(&row, &rooftops, cards, &keys, &self.addresses)?;
            tenant.freshness = self.directory.freshness(id);
            self.key_sets.follow(id, tenant.access.oauth().map(|oauth| oauth.jwks_uri.as_str()));
            Ok(Arc::new(tenant))
        };
        tokio::time::timeout(LOAD_TENANT, load).await.unwrap_or(Err(LoadTenantError::TooSlow))
    }
}
