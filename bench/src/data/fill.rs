//! Bringing the dealers in: each is provisioned as any other, without stock; the stock is written in bulk.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value, json};
use store::Store;

use super::Lot;

/// Units made and sent at once: what is held in memory.
const CHUNK: u32 = 10_000;
/// Lots written at once: one is rendered while another is written.
const AT_ONCE: usize = 2;

/// Provisions dealers with empty lots, by the program that operators use.
///
/// # Errors
/// It does not start, or a dealer is refused.
pub(crate) fn provision(forecourt: &std::path::Path, database_url: &str, lots: &[Lot]) -> Result<()> {
    let dealers: Map<String, Value> = lots.iter().map(|lot| (lot.slug.clone(), document(lot))).collect();
    let mut child = Command::new(forecourt)
        .args(["provision", "-"])
        .env("DATABASE_URL", database_url)
        .env("FORECOURT_LOG", "warn")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} does not start", forecourt.display()))?;
    let mut input = child.stdin.take().context("no standard input")?;
    input.write_all(json!({"tenants": dealers}).to_string().as_bytes())?;
    drop(input);
    // Short, and in a pipe that holds it: what became of each dealer.
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let first: Vec<&str> = said.lines().take(5).collect();
    ensure!(
        output.status.success(),
        "`forecourt provision` ended with {}:\n{}",
        output.status,
        first.join("\n")
    );
    Ok(())
}

fn document(lot: &Lot) -> Value {
    let rooftop = |name: &str| {
        json!({
            "name": name, "address": {"address_line_1": "1 Main Street", "city": "Harbor City", "state": "CA"},
            "timezone": "America/Los_Angeles",
        })
    };
    json!({
        "dealer_id": lot.slug, "name": format!("Dealer {}", lot.slug),
        "rooftops": super::catalog::ROOFTOPS.map(rooftop), "inventory": [],
    })
}

/// Those lots that the database does not have whole.
///
/// # Errors
/// The database refuses.
pub(crate) async fn unfilled(store: &Store, lots: &[Lot]) -> Result<Vec<Lot>> {
    let mut missing = Vec::new();
    for lot in lots {
        let mut tx = store.platform().await?;
        let known = tx.tenant_by_slug(&lot.slug).await?;
        tx.rollback().await?;
        let version = match known {
            None => 0,
            Some(id) => store.tenant(id).await?.inventory_version().await?,
        };
        if version == 0 {
            missing.push(lot.clone());
        }
    }
    Ok(missing)
}

/// Writes the stock of provisioned dealers.
///
/// # Errors
/// The database refuses, or a dealer is not there.
pub(crate) async fn fill(store: &Store, lots: &[Lot]) -> Result<()> {
    let total: u32 = lots.iter().map(|lot| lot.units).sum();
    let written = AtomicU32::new(0);
    let told = AtomicU32::new(0);
    stream::iter(lots)
        .map(|lot| fill_one(store, lot))
        .buffer_unordered(AT_ONCE)
        .try_for_each(|units| {
            let now = written.fetch_add(units, Ordering::Relaxed) + units;
            if now - told.load(Ordering::Relaxed) > 50_000 {
                told.store(now, Ordering::Relaxed);
                eprintln!("bench: {now} of {total} vehicles written");
            }
            std::future::ready(Ok(()))
        })
        .await
}

async fn fill_one(store: &Store, lot: &Lot) -> Result<u32> {
    let mut tx = store.platform().await?;
    let Some(id) = tx.tenant_by_slug(&lot.slug).await? else { bail!("{} is not provisioned", lot.slug) };
    tx.rollback().await?;
    let mut tx = store.tenant(id).await?;
    let version = tx.lock_inventory().await? + 1;
    let mut first = 0;
    while first < lot.units {
        let last = lot.units.min(first + CHUNK);
        let made = lot.clone();
        let render =
            move || (first..last).filter_map(|n| made.unit(n).listing(&made.slug)).collect::<Vec<_>>();
        let listings = tokio::task::spawn_blocking(render).await?;
        ensure!(listings.len() == (last - first) as usize, "a unit has no identifier");
        tx.upsert_listings(version, &listings).await?;
        first = last;
    }
    tx.publish_inventory(version).await?;
    tx.commit().await?;
    Ok(lot.units)
}
