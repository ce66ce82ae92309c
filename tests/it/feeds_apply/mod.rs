//! What becomes of a dealer's lot when files come in: applied, confirmed, held, decided about, gone back from.

mod decisions;
mod faults;
mod first;
mod sources;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use dealer::feeds::{self, Bench, Ended, IMPORT_JOB, ProcessError, Receipt, ReceiveError, Received};
use serde_json::{Value, json};
use store::{Job, RunRow, RunState, SourceKind, SourceRow, Store, TenantId};
use testkit::Platform;
use uuid::Uuid;

/// A platform with one dealer of two rooftops, and the worker's work done by hand.
struct Lot {
    platform: Platform,
    store: Store,
    tenant: TenantId,
    slug: &'static str,
}

/// Prices are advertised with everything inside.
fn settings() -> Value {
    json!({ "prices": { "asking_price": { "meaning": "advertised_all_in" } } })
}

impl Lot {
    async fn start(inventory: Value) -> Lot {
        let platform = Platform::start().await;
        Lot::on(platform, "harbor", inventory).await
    }

    async fn on(platform: Platform, slug: &'static str, inventory: Value) -> Lot {
        let rooftop = |name: &str| {
            json!({ "name": name, "address": { "city": "Harbor City", "state": "CA" },
                    "timezone": "America/Los_Angeles" })
        };
        let document = json!({ "dealer_id": slug, "name": "Harbor Motors",
                               "rooftops": [rooftop("North"), rooftop("South")], "inventory": inventory });
        platform.provision(&json!({ slug: document })).await;
        let store = platform.application().store().clone();
        let mut tx = store.platform().await.unwrap();
        let tenant = tx.tenant_by_slug(slug).await.unwrap().unwrap();
        drop(tx);
        Lot { platform, store, tenant, slug }
    }

    async fn source(&self, name: &str, settings: Value) -> SourceRow {
        let source = SourceRow {
            source_id: Uuid::now_v7(),
            name: name.to_owned(),
            kind: SourceKind::File,
            enabled: true,
            settings,
            revision: 1,
            push_token_hash: None,
            signature: None,
            etag: None,
            last_modified: None,
            next_fetch_at: None,
            last_full_fetch_at: None,
            last_good_at: None,
            silent_after_s: 36 * 3600,
            created_at: Utc::now(),
            created_by: "test".into(),
            has_credentials: false,
            removed_at: None,
        };
        let mut tx = self.store.tenant(self.tenant).await.unwrap();
        tx.insert_source(&source).await.unwrap();
        tx.commit().await.unwrap();
        source
    }

    async fn receive(
        &self,
        source: &SourceRow,
        received: Received,
        body: &str,
    ) -> Result<Receipt, ReceiveError> {
        let pieces: Vec<std::io::Result<Bytes>> =
            body.as_bytes().chunks(1000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        feeds::receive(&self.store, self.tenant, source, received, futures_util::stream::iter(pieces)).await
    }

    async fn claim(&self) -> Option<Job> {
        self.store.claim_job(&[IMPORT_JOB], "worker-1", Duration::from_secs(60), 10).await.unwrap()
    }

    async fn work(&self, job: &Job) -> Result<Ended, ProcessError> {
        let run: Uuid = job.payload["run"].as_str().unwrap().parse().unwrap();
        feeds::process(&self.store, self.tenant, run, job, &Bench::default()).await
    }

    /// Receives a file and carries its run out.
    async fn import(&self, source: &SourceRow, body: &str) -> RunRow {
        self.import_as(source, Received::new("lot.csv", "import", "test"), body).await
    }

    async fn import_as(&self, source: &SourceRow, received: Received, body: &str) -> RunRow {
        let receipt = self.receive(source, received, body).await.unwrap();
        let job = self.claim().await.expect("a job of the run");
        let ended = self.work(&job).await.unwrap();
        let run = self.run(receipt.run_id).await;
        assert_eq!(run.state, ended.state, "{run:?}");
        assert!(self.claim().await.is_none(), "the job ends with its run");
        run
    }

    async fn run(&self, run: Uuid) -> RunRow {
        self.store.tenant(self.tenant).await.unwrap().run(run).await.unwrap().expect("the run")
    }

    /// The lot as it is stored: documents by id.
    async fn lot(&self) -> BTreeMap<String, Value> {
        let lot = self.store.tenant_snapshot(self.tenant).await.unwrap().lot().await.unwrap();
        let document = |unit: &contract::Listing| {
            serde_json::from_str(unit.detail.as_deref().unwrap_or(&unit.listing)).unwrap()
        };
        lot.listings.iter().map(|unit| (unit.vehicle_id.clone(), document(unit))).collect()
    }

    async fn ids(&self) -> Vec<String> {
        self.lot().await.into_keys().collect()
    }

    async fn version(&self) -> u64 {
        self.store.tenant(self.tenant).await.unwrap().inventory_version().await.unwrap()
    }

    /// Why units are gone, by id.
    async fn removed(&self) -> BTreeMap<String, String> {
        let removed = self.store.tenant(self.tenant).await.unwrap().removed_ids().await.unwrap();
        removed.into_iter().map(|(id, row)| (id, row.reason)).collect()
    }

    /// What became of a unit: kind, field, old, new, reason.
    async fn story(
        &self,
        id: &str,
    ) -> Vec<(String, Option<String>, Option<Value>, Option<Value>, Option<String>)> {
        let rows = self.store.tenant(self.tenant).await.unwrap().history(id).await.unwrap();
        rows.into_iter().map(|row| (row.kind, row.field, row.old, row.new, row.reason)).collect()
    }

    async fn open_notices(&self) -> Vec<String> {
        let notices = self.store.tenant(self.tenant).await.unwrap().notices(true, 100).await.unwrap();
        notices.into_iter().map(|notice| notice.kind).collect()
    }
}

/// A row of a file.
#[derive(Debug, Clone)]
struct Car {
    vin: String,
    stock: String,
    price: String,
    rooftop: &'static str,
    status: &'static str,
}

/// A car that is known by its number.
fn car(number: u32, price: u32) -> Car {
    Car {
        vin: format!("JTDKB20U{:09}", 930_000_000 + number),
        stock: format!("S{number}"),
        price: price.to_string(),
        rooftop: "North",
        status: "Available",
    }
}

fn cars(numbers: std::ops::Range<u32>) -> Vec<Car> {
    numbers.map(|number| car(number, 20_000 + number)).collect()
}

fn id(number: u32) -> String {
    format!("vin-{}", car(number, 0).vin)
}

const HEADER: &str = "VIN,Stock,Year,Make,Model,Type,Price,Miles,Status,DealerID";

/// A file of these cars.
fn csv(cars: &[Car]) -> String {
    let mut text = format!("{HEADER}\n");
    for car in cars {
        let Car { vin, stock, price, rooftop, status } = car;
        writeln!(text, "{vin},{stock},2021,Toyota,Prius,Used,{price},12000,{status},{rooftop}").unwrap();
    }
    text
}

fn reasons(run: &RunRow) -> Vec<&'static str> {
    feeds::judgement(run).reasons.iter().map(|code| code.as_str()).collect()
}

/// Added, changed, removed, same.
fn counts(run: &RunRow) -> (u32, u32, u32, u32) {
    let difference = feeds::difference(run);
    (difference.added, difference.changed, difference.removed, difference.same)
}

const APPLIED: RunState = RunState::Applied;
