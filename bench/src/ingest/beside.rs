//! How long searches take while feeds are imported: full feeds of 10,000 rows, 2 % of them changed, one after another
//! at a rate that the machine sustains, by `forecourt worker` beside `forecourt serve`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use dealer::feeds::{self, Mode, Received};
use serde_json::json;
use store::Store;
use tokio::task::JoinHandle;

use super::Dealers;
use super::ground::{Ground, Place};
use crate::data::{self, Feed};
use crate::goals::Board;
use crate::http::ask_all;
use crate::load::Good;
use crate::rounds::{self, Measured, Pace, Variant};
use crate::world::{INGEST, World};

/// One feed comes in so often.
const EVERY: Duration = Duration::from_secs(2);
/// Length of a round at least.
const ROUND: Duration = Duration::from_secs(4);
/// What is still to be done at the end of a round may take so long, or the rate is none that is sustained.
const BEHIND: Duration = Duration::from_secs(4);

pub(super) fn run(
    world: &World,
    ground: &mut Ground,
    dealers: &Dealers,
    pace: Pace,
    board: &mut Board,
) -> Result<()> {
    let worker = world.worker(&ground.cluster, INGEST)?;
    let mut feeds = Vec::new();
    for lot in &dealers.beside {
        let place = world.runtime.block_on(ground.place(lot))?;
        let files =
            [Feed::first(lot).csv(), Feed::later(lot).csv()].map(|file| Bytes::from(file.into_bytes()));
        feeds.push((place, files));
    }
    let feeds = Arc::new(feeds);
    let mut sender = Sender { store: ground.store.clone(), feeds: Arc::clone(&feeds), sent: Arc::default() };
    for _ in 0..feeds.len() {
        world.runtime.block_on(sender.send_next())?;
    }
    world.runtime.block_on(ground.all_done(Duration::from_secs(120)))?;
    let product = world.product_on(&ground.cluster, INGEST, &[])?;
    // The lots that change, all of them in memory.
    let asked: Vec<_> = dealers.beside.iter().flat_map(|lot| data::search(lot, 50)).collect();
    ask_all(product.address(), &asked)?;
    let requests: Vec<Vec<u8>> = asked.iter().map(|asked| asked.bytes.clone()).collect();
    let (server, pids) = (product.address(), vec![product.pid()]);
    let variant = Variant { name: "product", server, pids, requests: &requests, good: Good::Result };
    let mut quiet = Measured { variant: "quiet", rounds: Vec::new() };
    let mut busy = Measured { variant: "importing", rounds: Vec::new() };
    rounds::once(&variant, pace.connections, Duration::from_millis(400))?;
    let sent_before = sender.sent.load(Ordering::Relaxed);
    let pace = Pace { rounds: pace.rounds.min(3), round: pace.round.max(ROUND), ..pace };
    let mut behind = Vec::new();
    for _ in 0..pace.rounds {
        quiet.rounds.push(rounds::once(&variant, pace.connections, pace.round)?);
        let sending = Sending::start(world, &sender);
        busy.rounds.push(rounds::once(&variant, pace.connections, pace.round)?);
        sending.stop(world)?;
        let ended = Instant::now();
        world.runtime.block_on(ground.all_done(BEHIND)).context("the imports fall behind")?;
        behind.push(ended.elapsed().as_secs_f64() * 1e3);
    }
    let sent = sender.sent.load(Ordering::Relaxed) - sent_before;
    ensure!(sent as usize >= 2 * pace.rounds, "only {sent} feeds came in");
    drop(worker);
    board.settle("imports", "search", rounds::ratio(&busy, &quiet, |round| round.p99_us));
    let figures =
        json!({"feeds": sent, "rows_each": 10_000, "every_ms": EVERY.as_millis(), "behind_ms": behind});
    board.note("searches beside imports: what was imported", figures);
    board.keep("search 10k beside imports", vec![quiet, busy]);
    Ok(())
}

/// Sends the files of some dealers in turn, another one each time.
#[derive(Clone)]
struct Sender {
    store: Store,
    feeds: Arc<Vec<(Place, [Bytes; 2])>>,
    sent: Arc<AtomicU32>,
}

impl Sender {
    async fn send_next(&mut self) -> Result<()> {
        let number = self.sent.fetch_add(1, Ordering::Relaxed) as usize;
        let (place, files) = self.feeds.get(number % self.feeds.len()).context("a dealer")?;
        let file = files.get(number / self.feeds.len() % 2).context("a file")?;
        let received = Received { mode: Some(Mode::Full), ..Received::new("lot.csv", "import", "bench") };
        let pieces: Vec<std::io::Result<Bytes>> = (0..file.len())
            .step_by(65_536)
            .map(|at| Ok(file.slice(at..file.len().min(at + 65_536))))
            .collect();
        let body = futures_util::stream::iter(pieces);
        feeds::receive(&self.store, place.tenant, &place.source, received, body).await?;
        Ok(())
    }
}

/// Files that come in until it is stopped.
struct Sending {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Result<()>>,
}

impl Sending {
    fn start(world: &World, sender: &Sender) -> Sending {
        let (stop, mut sender) = (Arc::new(AtomicBool::new(false)), sender.clone());
        let stopped = Arc::clone(&stop);
        let task = world.runtime.spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                let next = Instant::now() + EVERY;
                sender.send_next().await?;
                while Instant::now() < next && !stopped.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Ok(())
        });
        Sending { stop, task }
    }

    fn stop(self, world: &World) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        world.runtime.block_on(self.task)?
    }
}
