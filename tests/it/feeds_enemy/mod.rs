//! The hardest that happens to feeds: processes that are killed, many hands at once, files that are weapons, dealers
//! who try the ids of others, and the field reports from the file to the answer.

mod apart;
mod bombs;
mod killed;
mod reports;
mod together;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use bytes::Bytes;
use dealer::feeds::{self, Received, SourceSettings};
use serde_json::{Value, json};
use store::{Database, RunRow, SourceKind, Store, TenantId};
use testkit::Process;
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(120);

/// A dealer without vehicles, with two rooftops.
fn document(slug: &str) -> Value {
    let rooftop = |name: &str| json!({"name": name, "address": {"city": "Harbor City"}, "timezone": "America/Los_Angeles"});
    json!({"dealer_id": slug, "name": format!("Dealer {slug}"), "rooftops": [rooftop("North"), rooftop("South")]})
}

/// The tenant of a slug.
async fn tenant(store: &Store, slug: &str) -> TenantId {
    store.platform().await.unwrap().tenant_by_slug(slug).await.unwrap().expect("the dealer")
}

/// A source of files whose prices may be published.
async fn source(store: &Store, tenant: TenantId, name: &str, mut settings: Value) -> Uuid {
    settings["prices"] = json!({"asking_price": {"meaning": "advertised_all_in"}});
    let settings = SourceSettings::read(&settings).unwrap();
    feeds::add_source(store, tenant, name, SourceKind::File, settings, "test").await.unwrap().source_id
}

/// Hands in a file, as an import does that waits for no outcome.
async fn hand_in(store: &Store, tenant: TenantId, source: Uuid, text: String) -> Result<Uuid, String> {
    let row = store.tenant(tenant).await.map_err(|error| error.to_string())?;
    let mut row = row;
    let row = row.source(source).await.map_err(|error| error.to_string())?.expect("the source");
    let body = futures_util::stream::iter([Ok(Bytes::from(text))]);
    let received = Received::new("lot.csv", "import", "test");
    let receipt = feeds::receive(store, tenant, &row, received, body).await;
    receipt.map(|receipt| receipt.run_id).map_err(|error| error.to_string())
}

/// `forecourt worker` on a database, with leases that end soon.
fn worker(url: &str) -> Process {
    let mut command = Process::command(&["worker", "--worker-lease", "2s", "--worker-slots", "2"]);
    command.env("DATABASE_URL", url);
    command.env("FORECOURT_DATA_DIR", testkit::scratch("enemy-worker")).env("FORECOURT_LOG_FORMAT", "json");
    Process::spawn(&mut command)
}

/// A lot of so many cars in a version: what is asked for all of them ends with it, and some others are on offer.
fn lot(cars: u32, version: u32) -> String {
    let mut text = "Stock,Year,Make,Model,Condition,Mileage,Price\n".to_owned();
    for (stock, (price, miles)) in rows(cars, version) {
        writeln!(text, "{stock},2022,Honda,Civic,Used,{miles},{price}").unwrap();
    }
    text
}

/// The same row for row: stock number, price, miles.
fn rows(cars: u32, version: u32) -> BTreeMap<String, (u64, u64)> {
    let first = version % 7;
    let row = |car: u32| (format!("S{car}"), (u64::from(20_000 + version), u64::from(10_000 + car)));
    (first..first + cars).map(row).collect()
}

/// The lot as it is stored, row for row; an error while the database is away.
async fn stored(store: &Store, tenant: TenantId) -> Result<BTreeMap<String, (u64, u64)>, String> {
    let mut snapshot = store.tenant_snapshot(tenant).await.map_err(|error| error.to_string())?;
    let lot = snapshot.lot().await.map_err(|error| error.to_string())?;
    let row = |unit: &contract::Listing| {
        let shown: Value = serde_json::from_str(&unit.listing).unwrap();
        let number = |name: &str| shown[name].as_u64().unwrap_or_default();
        (unit.stock.clone().unwrap_or_default(), (number("price"), number("mileage")))
    };
    Ok(lot.listings.iter().map(row).collect())
}

/// The runs of a dealer, the oldest first; an error while the database is away.
async fn runs(store: &Store, tenant: TenantId) -> Result<Vec<RunRow>, String> {
    let mut tx = store.tenant(tenant).await.map_err(|error| error.to_string())?;
    let mut runs = tx.runs(None, 500, None).await.map_err(|error| error.to_string())?;
    runs.reverse();
    Ok(runs)
}

/// Waits until nothing is under way any more, and gives the runs of these dealers.
async fn settled(store: &Store, tenants: &[TenantId], what: &str) -> Vec<Vec<RunRow>> {
    let until = Instant::now() + PATIENCE;
    let mut last = String::new();
    while Instant::now() < until {
        let seen = async {
            let jobs = store.platform().await.map_err(|error| error.to_string())?.job_counts().await;
            let jobs = jobs.map_err(|error| error.to_string())?;
            let mut all = Vec::new();
            for tenant in tenants {
                all.push(runs(store, *tenant).await?);
            }
            let over = |run: &RunRow| run.state.is_end() || run.state == store::RunState::Held;
            if jobs.ready + jobs.running == 0 && all.iter().flatten().all(over) {
                return Ok(all);
            }
            let open: Vec<_> = all.iter().flatten().filter(|run| !over(run)).collect();
            Err(format!("{jobs:?} {:?}", open.iter().map(|run| (run.run_id, run.state)).collect::<Vec<_>>()))
        };
        match seen.await {
            Ok(all) => return all,
            Err(why) => last = why,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not settled, {what}: {last}");
}

/// Dealers of these names on a database, with one source each.
async fn dealers(store: &Store, slugs: &[String]) -> Vec<(TenantId, Uuid)> {
    let mut all = Vec::new();
    for slug in slugs {
        let tenant = tenant(store, slug).await;
        all.push((tenant, source(store, tenant, "DMS", json!({})).await));
    }
    all
}

/// The documents of these dealers for provisioning.
fn documents(slugs: &[String]) -> Value {
    slugs.iter().map(|slug| (slug.clone(), document(slug))).collect()
}

/// A store on a database.
async fn store_on(database: &Database) -> Store {
    Store::connect(database, 12).await.unwrap()
}
