//! G23: a change whose notice is lost is seen all the same; a buyer who pages through a lot that changes meanwhile,
//! at two processes in turn, sees one version of it from the first page to the last.

mod changing;
mod walk;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::data::{self, Dice, Lot};
use crate::goals::{Board, Only};
use crate::load::Line;
use crate::rounds::Pace;
use crate::world::{Child, MAIN, World};
use changing::Changing;

/// How often the product asks the database by itself (`server::application`).
const POLL: Duration = Duration::from_millis(800);

/// Which of the two.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Which {
    pub(crate) drop_notify: bool,
    pub(crate) walk: bool,
}

/// The lot that changes; nothing else is measured on it.
fn lot() -> Lot {
    Lot::new("changing", 1_000)
}

/// Runs both, or the one that is wanted.
///
/// # Errors
/// Something does not start, fails, or answers wrongly.
pub(crate) fn run(world: &World, pace: Pace, only: &Only, which: Which, board: &mut Board) -> Result<()> {
    if !only.wants("G23") {
        return Ok(());
    }
    let both = !which.drop_notify && !which.walk;
    let lot = lot();
    world.runtime.block_on(world.cluster.ensure(MAIN, std::slice::from_ref(&lot), world.forecourt()))?;
    let nodes = [world.product(MAIN, &[])?, world.product(MAIN, &[])?];
    let mut changing = world.runtime.block_on(Changing::begin(world, lot))?;
    if both || which.drop_notify {
        let slowest = without_notice(world, &nodes[0], &mut changing, pace)?;
        board.note("slowest change without notice, seconds", json!(slowest.as_secs_f64()));
        board.settle("G23", "notice", slowest.saturating_sub(POLL).as_secs_f64());
    }
    if both || which.walk {
        // Ten times as long as a round, so that enough walks meet enough changes.
        let done = walk::run(world, &nodes, changing, pace.round * 10)?;
        board.note(
            "walks of 10 pages",
            json!({"begun": done.begun, "ended": done.ended, "faulty": done.faulty,
            "versions_seen": done.versions, "changes": done.changes}),
        );
        ensure!(done.begun >= 20, "only {} walks were made", done.begun);
        board.settle("G23", "ended", done.ended as f64 / done.begun as f64);
        board.settle("G23", "faults", done.faulty as f64);
    }
    Ok(())
}

/// How long it takes until a change of which nobody is told is answered.
fn without_notice(world: &World, node: &Child, changing: &mut Changing, pace: Pace) -> Result<Duration> {
    let mut line = Line::to(node.address());
    let mut dice = Dice::new(1);
    let mut slowest = Duration::ZERO;
    for _ in 0..pace.rounds.max(5) {
        // Anywhere between two polls.
        std::thread::sleep(Duration::from_millis(dice.between(50, 850).into()));
        let (vin, price) = world.runtime.block_on(changing.change_silently())?;
        let began = Instant::now();
        let data = json!({"type": "inventory.vehicle.request", "vin": vin});
        let request = data::post(&changing.lot().slug, &data, &mut dice);
        loop {
            let seen = line.ask(&request)?.data().context("the unit that changed")?;
            if seen.get("price").and_then(Value::as_u64) == Some(price.into()) {
                break;
            }
            if began.elapsed() > Duration::from_secs(30) {
                bail!("a change without notice was not seen within 30 seconds");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        slowest = slowest.max(began.elapsed());
    }
    Ok(slowest)
}
