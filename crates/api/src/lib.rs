//! The public HTTP side: cards, A2A, pages, health, metrics.
//!
//! A request is placed once ([`address`]), then handed to the interface whose name stands in its path. Interfaces
//! decode, ask `dealer`, encode; they decide nothing about dealers or stock.

mod address;
mod answer;
mod callers;
mod cors;
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    //! What the targets of `tests/fuzz` reach of this crate.
    pub use crate::interfaces::a2a::fuzzing::{Fronted, front};
}
mod ids;
mod interfaces;
mod json;
mod limits;
mod observe;
mod ops;
mod pages;
pub mod photos;
mod proxy;
mod push;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dealer::Dealer;

pub use limits::{MAX_BODY, MAX_DEPTH};
pub use observe::answer;
pub use pages::search_command;
pub use proxy::{ProxyError, TrustedProxies};

/// What every request can reach. Cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    inner: Arc<Inner>,
}

struct Inner {
    dealer: std::sync::OnceLock<Dealer>,
    draining: AtomicBool,
    proxies: TrustedProxies,
    registry: prometheus::Registry,
    meters: observe::Meters,
    pace: push::Pace,
}

impl ApiState {
    /// A state that answers `/healthz` and says that it is not ready, until [`ApiState::serve`].
    pub fn new(proxies: TrustedProxies, registry: prometheus::Registry) -> ApiState {
        let inner = Inner {
            dealer: std::sync::OnceLock::new(),
            draining: AtomicBool::new(false),
            proxies,
            registry,
            meters: observe::Meters::new(),
            pace: push::Pace::default(),
        };
        ApiState { inner: Arc::new(inner) }
    }

    /// From now on dealers are answered for. A second call changes nothing.
    pub fn serve(&self, dealer: Dealer) {
        observe::watch_figures(&dealer);
        if self.inner.dealer.set(dealer).is_err() {
            tracing::warn!("the platform was told twice to serve; the first core stays");
        }
    }

    /// From now on `/readyz` is false and every answer asks its client to connect anew elsewhere.
    pub fn drain(&self) {
        self.inner.draining.store(true, Ordering::Relaxed);
    }

    /// Whether [`ApiState::drain`] was called.
    pub fn is_draining(&self) -> bool {
        self.inner.draining.load(Ordering::Relaxed)
    }

    pub(crate) fn dealer(&self) -> Option<&Dealer> {
        self.inner.dealer.get()
    }

    pub(crate) fn proxies(&self) -> &TrustedProxies {
        &self.inner.proxies
    }

    pub(crate) fn registry(&self) -> &prometheus::Registry {
        &self.inner.registry
    }

    pub(crate) fn pace(&self) -> &push::Pace {
        &self.inner.pace
    }

    pub(crate) fn meters(&self) -> &observe::Meters {
        &self.inner.meters
    }
}
