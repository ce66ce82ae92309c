//! What several sources and people say of one vehicle: who wins, what is kept of the others, and what answers say of a
//! lot that nobody has confirmed for long.

mod freshness;
mod story;

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use dealer::feeds::{self, Bench, Edited, IMPORT_JOB, Received, SourceSettings, Story, Wish};
use serde_json::{Value, json};
use store::{RunState, SourceKind, SourceRow, Store, TenantId};
use testkit::Platform;
use uuid::Uuid;

const VIN: &str = "4S4BTGUD5R3217409";

/// A dealer with feeds, whose files are carried out by hand.
struct Fed {
    platform: Platform,
    store: Store,
    tenant: TenantId,
}

impl Fed {
    async fn start(more: Value) -> Fed {
        let platform = Platform::start().await;
        let mut document = json!({
            "dealer_id": "harbor", "name": "Harbor Motors", "inventory": [], "contracts": ["v1.3", "latest", "v3.0"],
            "rooftops": [{ "name": "North", "timezone": "America/Los_Angeles" }, { "name": "South" }]
        });
        document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        platform.provision(&json!({ "harbor": document })).await;
        let store = platform.application().store().clone();
        let tenant = store.platform().await.unwrap().tenant_by_slug("harbor").await.unwrap().unwrap();
        Fed { platform, store, tenant }
    }

    async fn source(&self, name: &str, settings: Value) -> SourceRow {
        let settings: SourceSettings = serde_json::from_value(settings).unwrap();
        feeds::add_source(&self.store, self.tenant, name, SourceKind::File, settings, "ana").await.unwrap()
    }

    async fn import(&self, source: &SourceRow, body: &str) -> RunState {
        let pieces = [Ok(Bytes::copy_from_slice(body.as_bytes()))];
        let received = Received::new("lot.csv", "import", "test");
        let pieces = futures_util::stream::iter(pieces);
        let receipt = feeds::receive(&self.store, self.tenant, source, received, pieces).await.unwrap();
        let lease = Duration::from_secs(60);
        let job = self.store.claim_job(&[IMPORT_JOB], "worker-1", lease, 10).await.unwrap().expect("a job");
        feeds::process(&self.store, self.tenant, receipt.run_id, &job, &Bench::default()).await.unwrap().state
    }

    async fn edit(&self, field: &str, value: Value) -> Edited {
        self.edit_until(field, value, None).await
    }

    async fn edit_until(&self, field: &str, value: Value, expires_at: Option<DateTime<Utc>>) -> Edited {
        let wish = Wish { key: VIN, field, value, actor: "ana", expires_at, note: Some("agreed by phone") };
        feeds::edit(&self.store, self.tenant, &wish).await.unwrap()
    }

    async fn unlock(&self, field: &str) -> Edited {
        feeds::unlock(&self.store, self.tenant, VIN, field, "ben").await.unwrap()
    }

    async fn story(&self) -> Story {
        feeds::story(&self.store, self.tenant, VIN).await.unwrap()
    }

    /// The vehicle as buyers get it.
    async fn vehicle(&self) -> Value {
        self.platform.catch_up().await;
        let asked = json!({ "type": "inventory.vehicle.request", "vin": VIN });
        self.platform.call("harbor", asked).await
    }
}

/// Prices are advertised with everything inside.
fn all_in() -> Value {
    json!({ "prices": { "asking_price": { "meaning": "advertised_all_in" } } })
}

/// A file with one vehicle.
fn file(price: &str, more: &[(&str, &str)]) -> String {
    let mut header = "VIN,Stock,Year,Make,Model,Type,Miles,Price,DealerID".to_owned();
    let mut row = format!("{VIN},S1,2024,Subaru,Outback,Used,18340,{price},North");
    for (name, value) in more {
        header.push_str(&format!(",{name}"));
        row.push_str(&format!(",{value}"));
    }
    format!("{header}\n{row}\n")
}
