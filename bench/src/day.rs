//! A day of changes in a few minutes: whether a process takes as much memory afterwards as before.
//!
//! Each dealer has a nightly feed, which changes a twentieth of its stock and replaces some of it, and a change by
//! hand every half hour. Buyers page through the lots meanwhile, so that former versions have to be held. In the
//! end every lot is what it was in the beginning, and the last cursors run out.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use store::{Store, TenantId};

use crate::data::{self, Asked, Dice, Lot, Unit};
use crate::goals::Board;
use crate::http::ask_all;
use crate::load::Line;

use crate::world::{Child, MAIN, Metrics, World, usage};

/// Dealers, and how many vehicles each has.
const LOTS: (u32, u32) = (200, 300);
/// Changes by hand of a dealer and day.
const BY_HAND: u32 = 48;
/// Buyers at once.
const BUYERS: u64 = 3;
/// What a buyer thinks about a page.
const THOUGHT: Duration = Duration::from_millis(20);
/// How long a cursor lives, and some more for the process to notice.
const CURSORS: Duration = Duration::from_secs(18 * 60);

/// A day in `length`.
///
/// # Errors
/// Something does not start, fails, or answers wrongly.
pub(crate) fn run(world: &World, length: Duration, board: &mut Board) -> Result<()> {
    let lots: Vec<Lot> = (0..LOTS.0).map(|n| Lot::new(format!("day-{n:03}"), LOTS.1)).collect();
    world.runtime.block_on(world.cluster.ensure(MAIN, &lots, world.forecourt()))?;
    let product = world.product(MAIN, &[])?;
    let asked: Vec<Asked> = lots.iter().flat_map(|lot| data::search(lot, 3)).collect();
    ask_all(product.address(), &asked)?;
    let before = Taken::read(&product)?;
    ensure!(before.lots == f64::from(LOTS.0), "{} lots are in memory", before.lots);

    let mut day = world.runtime.block_on(Day::begin(world, &lots))?;
    let stop = AtomicBool::new(false);
    let pages = AtomicU64::new(0);
    let versions = std::thread::scope(|scope| {
        for buyer in 0..BUYERS {
            let (lots, stop, pages, server) = (&lots, &stop, &pages, product.address());
            scope.spawn(move || page_through(lots, server, buyer, stop, pages));
        }
        let versions = world.runtime.block_on(day.pass(length));
        stop.store(true, Ordering::Relaxed);
        versions
    })?;
    let busiest = Taken::read(&product)?;
    world.runtime.block_on(day.restore())?;
    let began = Instant::now();
    let mut after = Taken::read(&product)?;
    while after.former > 0.0 && began.elapsed() < CURSORS {
        std::thread::sleep(Duration::from_secs(5));
        after = Taken::read(&product)?;
    }
    ensure!(after.former == 0.0, "{} former versions are still held", after.former);
    // Whatever a last answer still needs.
    ask_all(product.address(), &asked)?;
    let after = Taken::read(&product)?;
    let figures = json!({
        "versions": versions, "pages": pages.load(Ordering::Relaxed), "seconds": length.as_secs(),
        "before": before.figures(), "at_the_end_of_the_day": busiest.figures(), "afterwards": after.figures(),
    });
    board.note("a day of changes", figures);
    board.settle("day", "resident", after.resident / before.resident);
    board.settle("day", "accounted", after.bytes / before.bytes);
    Ok(())
}

/// What a process takes.
struct Taken {
    resident: f64,
    bytes: f64,
    lots: f64,
    former: f64,
}

impl Taken {
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no exact bytes")]
    fn read(product: &Child) -> Result<Taken> {
        let metrics = Metrics::read(product.address())?;
        let value = |name: &str| metrics.sum(name);
        Ok(Taken {
            resident: usage(product.pid())?.resident as f64,
            bytes: value("lots_bytes")?,
            lots: value("lots_loaded")?,
            former: value("lots_former_versions")?,
        })
    }

    fn figures(&self) -> Value {
        json!({"resident": self.resident, "accounted": self.bytes, "former_versions": self.former})
    }
}

/// The first pages of one lot after the other.
fn page_through(lots: &[Lot], server: SocketAddr, buyer: u64, stop: &AtomicBool, pages: &AtomicU64) {
    let mut line = Line::to(server);
    let mut dice = Dice::new(buyer);
    while !stop.load(Ordering::Relaxed) {
        let Some(lot) = lots.get(dice.below(LOTS.0) as usize) else { return };
        let mut cursor = None;
        for _ in 0..4 {
            let mut data = json!({"type": "inventory.search.request", "pagination": {"limit": 20}});
            if let (Some(cursor), Some(place)) = (cursor.take(), data.pointer_mut("/pagination")) {
                *place = json!({"limit": 20, "cursor": cursor});
            }
            let request = data::post(&lot.slug, &data, &mut dice);
            let Ok(answer) = line.ask(&request).and_then(|answer| answer.data()) else { break };
            pages.fetch_add(1, Ordering::Relaxed);
            cursor = answer.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            std::thread::sleep(THOUGHT);
        }
    }
}

/// The lots while the day passes.
struct Day {
    store: Store,
    lots: Vec<(TenantId, Lot)>,
    /// Units that are not as in the beginning: how far they changed; `None` while they are gone.
    changed: HashMap<(usize, u32), Option<u32>>,
    dice: Dice,
}

impl Day {
    async fn begin(world: &World, lots: &[Lot]) -> Result<Day> {
        let store = world.cluster.store(MAIN).await?;
        let mut found = Vec::new();
        for lot in lots {
            let mut tx = store.platform().await?;
            let tenant = tx.tenant_by_slug(&lot.slug).await?.context("a dealer of the day")?;
            tx.rollback().await?;
            found.push((tenant, lot.clone()));
        }
        Ok(Day { store, lots: found, changed: HashMap::new(), dice: Dice::new(24) })
    }

    /// All changes of a day, evenly over `length`; how many versions they made.
    async fn pass(&mut self, length: Duration) -> Result<u32> {
        let versions = LOTS.0 * (BY_HAND + 1);
        let began = Instant::now();
        for version in 0..versions {
            let place = (version % LOTS.0) as usize;
            // The feed of a dealer comes at some time of its own.
            let feed = (version / LOTS.0 + version).is_multiple_of(BY_HAND + 1);
            let units = if feed { LOTS.1 / 20 } else { 2 };
            self.change(place, units, feed).await?;
            let due = length.mul_f64(f64::from(version + 1) / f64::from(versions));
            tokio::time::sleep(due.saturating_sub(began.elapsed())).await;
        }
        Ok(versions)
    }

    async fn change(&mut self, place: usize, units: u32, feed: bool) -> Result<()> {
        let mut numbers: Vec<u32> = (0..units).map(|_| self.dice.below(LOTS.1)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            let leaves = feed && self.dice.chance(30);
            let far = self.changed.get(&(place, *number)).copied().flatten().unwrap_or(0);
            self.changed.insert((place, *number), (!leaves).then_some(far + 371));
        }
        self.write(place, &numbers).await
    }

    /// Every lot as in the beginning.
    async fn restore(&mut self) -> Result<()> {
        for place in 0..self.lots.len() {
            let touched = self.changed.keys().filter(|(lot, _)| *lot == place).map(|(_, number)| *number);
            let numbers: Vec<u32> = touched.collect();
            for number in &numbers {
                self.changed.insert((place, *number), Some(0));
            }
            self.write(place, &numbers).await?;
        }
        Ok(())
    }

    async fn write(&mut self, place: usize, numbers: &[u32]) -> Result<()> {
        let (tenant, lot) = self.lots.get(place).context("a lot")?;
        let state = |number: &u32| self.changed.get(&(place, *number)).copied().flatten();
        let listing = |number: &u32| Unit::new(lot, *number, state(number)?).listing(&lot.slug);
        let here: Vec<_> = numbers.iter().filter_map(listing).collect();
        let gone: Vec<String> =
            numbers.iter().filter(|number| state(number).is_none()).map(|n| lot.unit(*n).id).collect();
        let mut tx = self.store.tenant(*tenant).await?;
        let version = tx.lock_inventory().await? + 1;
        tx.upsert_listings(version, &here).await?;
        tx.remove_listings(version, &gone, "sold").await?;
        tx.publish_inventory(version).await?;
        Ok(tx.commit().await?)
    }
}
