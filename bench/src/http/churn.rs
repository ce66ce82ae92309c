//! G16: how long answers take while the largest lot is loaded and built anew every second.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use sqlx::PgConnection;
use tokio::task::JoinHandle;

use super::{REQUESTS, Servers, ask_all};
use crate::data;
use crate::goals::Board;
use crate::load::Good;
use crate::rounds::{self, Measured, Pace, Variant};
use crate::world::{MAIN, Metrics, World};

/// Length of a round at least.
const REBUILDS: Duration = Duration::from_secs(4);
/// Whose lot changes.
const CHANGING: u32 = 50_000;

pub(super) fn run(servers: &mut Servers<'_>, pace: Pace, units: u32, board: &mut Board) -> Result<()> {
    let product = servers.product()?;
    let (server, pids) = (product.address(), vec![product.pid()]);
    // In memory, or there would be nothing to rebuild.
    ask_all(server, &data::search(&data::measured(CHANGING), 1))?;
    let asked = data::search(&data::measured(units), REQUESTS);
    ask_all(server, &asked)?;
    let requests: Vec<Vec<u8>> = asked.iter().map(|asked| asked.bytes.clone()).collect();
    let variant = Variant { name: "product", server, pids, requests: &requests, good: Good::Result };
    let mut quiet = Measured { variant: "quiet", rounds: Vec::new() };
    let mut churned = Measured { variant: "rebuilding", rounds: Vec::new() };
    rounds::once(&variant, pace.connections, Duration::from_millis(400))?;
    let loads = || Metrics::read(server)?.sum("lots_loads_total");
    let before = loads()?;
    // Long enough for several rebuilds, each of which takes its time on a busy machine.
    let pace = Pace { rounds: pace.rounds.min(3), round: pace.round.max(REBUILDS), ..pace };
    for _ in 0..pace.rounds {
        quiet.rounds.push(rounds::once(&variant, pace.connections, pace.round)?);
        let churn = Churn::start(servers.world)?;
        churned.rounds.push(rounds::once(&variant, pace.connections, pace.round)?);
        churn.stop(servers.world)?;
        // What is still being built belongs to neither.
        std::thread::sleep(Duration::from_millis(1_500));
    }
    let rebuilt = loads()? - before;
    ensure!(rebuilt >= pace.rounds as f64, "the large lot was built anew only {rebuilt} times");
    let part = if units == 10_000 { "10k" } else { "50k" };
    board.settle("G16", part, rounds::ratio(&churned, &quiet, |round| round.p99_us));
    board.note(format!("search {part}, rebuilding 50k: rebuilt, times"), json!(rebuilt));
    board.keep(&format!("search {part}, rebuilding 50k"), vec![quiet, churned]);
    Ok(())
}

/// New versions of the large lot, one a second, that no reader can reach by reading what changed.
struct Churn {
    task: JoinHandle<Result<()>>,
}

impl Churn {
    fn start(world: &World) -> Result<Churn> {
        let mut connection = world.runtime.block_on(world.cluster.superuser(MAIN))?;
        let task = world.runtime.spawn(async move {
            loop {
                bump(&mut connection, &data::measured(CHANGING).slug).await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        Ok(Churn { task })
    }

    fn stop(self, world: &World) -> Result<()> {
        self.task.abort();
        match world.runtime.block_on(self.task) {
            Ok(ended) => ended.context("the lot could not be changed"),
            Err(_) => Ok(()),
        }
    }
}

/// One new version, with everything before it declared too old to catch up from.
async fn bump(connection: &mut PgConnection, slug: &str) -> Result<()> {
    sqlx::query(
        "with changed as (
             update tenant_inventory set version = version + 1, min_delta_version = version + 1
             where tenant_id = (select tenant_id from tenant_slugs where slug = $1)
             returning tenant_id, version
         )
         select pg_notify('forecourt_inventory', tenant_id || ':' || version) from changed",
    )
    .bind(slug)
    .fetch_all(connection)
    .await?;
    Ok(())
}
