//! Walks of ten pages, each page at the other of two processes, while the lot changes once a second.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::changing::Changing;
use crate::data::{self, Dice};
use crate::load::Line;
use crate::world::{Child, World};

/// Buyers at once.
const WALKERS: u64 = 12;
/// Pages of a walk.
const PAGES: usize = 10;
/// What a buyer thinks about a page.
const THOUGHT: Duration = Duration::from_millis(150);

/// What became of the walks.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// Walks that saw something that no version had.
    pub(super) faulty: u64,
    /// Versions that a walk saw from beginning to end.
    pub(super) versions: usize,
    pub(super) changes: usize,
}

/// How a walk ended.
enum End {
    /// With all pages: the totals that were told and the units in order.
    Whole { totals: Vec<u64>, ids: Vec<String> },
    /// The cursor was refused.
    Refused,
}

/// Walks for as long as told.
pub(super) fn run(world: &World, nodes: &[Child; 2], mut changing: Changing, time: Duration) -> Result<Done> {
    let addresses = [nodes[0].address(), nodes[1].address()];
    let limit = changing.found().len().div_ceil(PAGES).min(100);
    let slug = changing.lot().slug.clone();
    let stop = AtomicBool::new(false);
    // What the search finds in each version; the truth is known before a version can be seen.
    let mut truths: Vec<Vec<String>> = vec![changing.found()];
    let ends: Mutex<Vec<Result<End>>> = Mutex::default();
    std::thread::scope(|scope| -> Result<()> {
        for walker in 0..WALKERS {
            let (stop, ends, slug) = (&stop, &ends, slug.as_str());
            scope.spawn(move || {
                let mut buyer = Buyer::new(addresses, slug, limit, walker);
                while !stop.load(Ordering::Relaxed) {
                    let end = buyer.walk();
                    ends.lock().unwrap_or_else(PoisonError::into_inner).push(end);
                }
            });
        }
        let began = Instant::now();
        let mut changed = Ok(0);
        while changed.is_ok() && began.elapsed() < time {
            std::thread::sleep(Duration::from_secs(1));
            changed = world.runtime.block_on(changing.change());
            truths.push(changing.found());
        }
        stop.store(true, Ordering::Relaxed);
        changed.map(|_| ())
    })?;
    let mut done = Done { changes: truths.len() - 1, ..Done::default() };
    let mut seen = vec![false; truths.len()];
    for end in ends.into_inner().unwrap_or_else(PoisonError::into_inner) {
        done.begun += 1;
        if let End::Whole { totals, ids } = end? {
            done.ended += 1;
            match version_of(&truths, &totals, &ids) {
                Some(place) => seen.get_mut(place).into_iter().for_each(|seen| *seen = true),
                None => done.faulty += 1,
            }
        }
    }
    done.versions = seen.iter().filter(|seen| **seen).count();
    Ok(done)
}

/// The version that a walk saw, if it was one and the same all along: exactly its units in its order, under its total.
fn version_of(truths: &[Vec<String>], totals: &[u64], ids: &[String]) -> Option<usize> {
    let place = truths.iter().position(|truth| truth == ids)?;
    totals.iter().all(|total| *total == ids.len() as u64).then_some(place)
}

struct Buyer<'w> {
    lines: [Line; 2],
    slug: &'w str,
    limit: usize,
    dice: Dice,
    turn: usize,
}

impl<'w> Buyer<'w> {
    fn new([first, second]: [SocketAddr; 2], slug: &'w str, limit: usize, number: u64) -> Buyer<'w> {
        Buyer { lines: [Line::to(first), Line::to(second)], slug, limit, dice: Dice::new(number), turn: 0 }
    }

    fn walk(&mut self) -> Result<End> {
        let (mut totals, mut ids) = (Vec::new(), Vec::new());
        let mut cursor: Option<String> = None;
        loop {
            let Some(data) = self.page(cursor.as_deref())? else { return Ok(End::Refused) };
            totals.push(data.get("total").and_then(Value::as_u64).context("a total")?);
            let vehicles = data.get("vehicles").and_then(Value::as_array).context("vehicles")?;
            ids.extend(
                vehicles.iter().filter_map(|unit| unit.get("vehicle_id")?.as_str().map(str::to_owned)),
            );
            match data.get("next_cursor").and_then(Value::as_str) {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(End::Whole { totals, ids }),
            }
            if totals.len() > 3 * PAGES {
                bail!("a walk does not end");
            }
            std::thread::sleep(THOUGHT);
        }
    }

    /// `None` when the cursor is refused.
    fn page(&mut self, cursor: Option<&str>) -> Result<Option<Value>> {
        let mut data = json!({
            "type": "inventory.search.request", "filters": {"condition": ["new"]},
            "sort": {"field": "price", "order": "asc"}, "pagination": {"limit": self.limit},
        });
        let pagination = data.get_mut("pagination").and_then(Value::as_object_mut);
        if let (Some(cursor), Some(pagination)) = (cursor, pagination) {
            pagination.insert("cursor".into(), cursor.into());
        }
        let request = data::post(self.slug, &data, &mut self.dice);
        self.turn = 1 - self.turn;
        let line = self.lines.get_mut(self.turn).context("a line")?;
        let answer = line.ask(&request)?;
        if String::from_utf8_lossy(&answer.body).contains("\"INVALID_CURSOR\"") {
            return Ok(None);
        }
        answer.data().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_exact_when_it_saw_one_version_and_its_total_throughout() {
        let ids = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let truths = [ids("a b c"), ids("b a c"), ids("a c")];
        assert_eq!(version_of(&truths, &[3, 3], &ids("b a c")), Some(1));
        assert_eq!(version_of(&truths, &[2, 2], &ids("a c")), Some(2));
        for (totals, walked) in [([3, 2], "a b c"), ([3, 3], "a b"), ([3, 3], "a b b"), ([3, 3], "b a c c")] {
            assert_eq!(version_of(&truths, &totals, &ids(walked)), None, "{walked}");
        }
    }
}
