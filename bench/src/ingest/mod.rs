//! G18 to G20, and what else is said of imports: files of dealers, from the first byte to the lot.

mod beside;
mod goals;
mod ground;
mod whole;

use anyhow::Result;

use crate::data::Lot;
use crate::goals::{Board, Only};
use crate::rounds::Pace;
use crate::world::World;
use ground::Ground;

/// Dealers that are brought in at once, and how many units each has.
const MANY: (u32, u32) = (200, 1_000);

/// Everything about imports.
///
/// # Errors
/// Something does not start, fails, or comes to another lot than it should.
pub(crate) fn run(world: &World, pace: Pace, only: &Only, board: &mut Board) -> Result<()> {
    let goals = ["G18", "G19", "G20"].iter().any(|goal| only.wants(goal));
    if !goals && !only.wants("imports") {
        return Ok(());
    }
    let dealers = Dealers::new(pace.rounds);
    let mut ground = world.runtime.block_on(Ground::begin(world, &dealers.all()))?;
    if goals {
        board.attempt("feeds beside COPY", |board| {
            world.runtime.block_on(goals::run(&mut ground, &dealers, pace, only, board))
        });
    }
    if only.wants("imports") {
        board.attempt("whole files", |board| whole::run(world, &mut ground, &dealers, board));
        board.attempt("searches beside imports", |board| {
            beside::run(world, &mut ground, &dealers, pace, board)
        });
    }
    world.runtime.block_on(ground.end())
}

/// Who brings files in.
struct Dealers {
    /// One for each first load that is measured, and one whose file is read.
    first: Vec<Lot>,
    /// Whose lots are brought in again and again.
    again: [Lot; 2],
    whole: Lot,
    large: Lot,
    many: Vec<Lot>,
    beside: Vec<Lot>,
}

impl Dealers {
    fn new(rounds: usize) -> Dealers {
        let named = |name: &str, count: u32, units: u32| -> Vec<Lot> {
            (0..count).map(|number| Lot::new(format!("{name}-{number}"), units)).collect()
        };
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        Dealers {
            first: named("first", rounds + 2, 10_000),
            again: [Lot::new("again-10k", 10_000), Lot::new("again-50k", 50_000)],
            whole: Lot::new("whole-50k", 50_000),
            large: Lot::new("whole-200k", 200_000),
            many: named("many", MANY.0, MANY.1),
            beside: named("beside", 4, 10_000),
        }
    }

    fn all(&self) -> Vec<Lot> {
        let single = self.again.iter().chain([&self.whole, &self.large]);
        self.first.iter().chain(single).chain(&self.many).chain(&self.beside).cloned().collect()
    }
}
