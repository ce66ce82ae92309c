//! What every part of a worker works with.

use store::Store;
use tokio::sync::{Notify, OnceCell};

use crate::jobs::Pool;
use crate::meters::Meters;
use crate::outbound::Outbound;
use crate::settings::WorkerSettings;

/// One worker.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) settings: WorkerSettings,
    pub(crate) meters: Meters,
    outbound: OnceCell<Outbound>,
    work: Notify,
    foreign: Notify,
}

impl Context {
    pub(crate) fn new(store: Store, settings: WorkerSettings) -> Context {
        Context {
            store,
            settings,
            meters: Meters::new(),
            outbound: OnceCell::new(),
            work: Notify::new(),
            foreign: Notify::new(),
        }
    }

    /// Asks foreign servers. Made when it is first needed: it reads the certificates of this machine, which may have
    /// none.
    pub(crate) async fn outbound(&self) -> Result<&Outbound, reqwest::Error> {
        self.outbound.get_or_try_init(async || Outbound::new(self.settings.allowed.clone())).await
    }

    /// Something may be on the queue.
    pub(crate) fn stir(&self) {
        self.work.notify_one();
        self.foreign.notify_one();
    }

    /// Waits until something may be on the queue. One that was told while nobody waited is not lost.
    pub(crate) async fn stirred(&self, pool: Pool) {
        match pool {
            Pool::Work => self.work.notified().await,
            Pool::Foreign => self.foreign.notified().await,
        }
    }
}
