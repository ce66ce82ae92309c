//! Turns within this process.
//!
//! What decides are the turns of the database, which all processes see. These are taken before them, so that a
//! thousand copies of one lead wait here, and not each with a connection that others need.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

type Lane = Arc<tokio::sync::Mutex<()>>;

/// Who is at what.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    held: Arc<Mutex<HashMap<i64, Lane>>>,
}

/// Turns that were given; dropped, they are the next one's.
#[derive(Debug)]
pub(crate) struct Held {
    lanes: Arc<Mutex<HashMap<i64, Lane>>>,
    turns: Vec<(i64, Option<OwnedMutexGuard<()>>)>,
}

impl Lanes {
    /// Waits for all of these turns, which are ascending.
    pub(crate) async fn enter(&self, turns: &[i64]) -> Held {
        let mut held = Held { lanes: Arc::clone(&self.held), turns: Vec::with_capacity(turns.len()) };
        for turn in turns {
            let lane = Arc::clone(lock(&self.held).entry(*turn).or_default());
            // Noted before it is waited for: whoever gives up waiting leaves nothing behind.
            held.turns.push((*turn, None));
            let guard = lane.lock_owned().await;
            if let Some(last) = held.turns.last_mut() {
                last.1 = Some(guard);
            }
        }
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for (turn, guard) in self.turns.drain(..) {
            drop(guard);
            if let Entry::Occupied(entry) = lock(&self.lanes).entry(turn)
                && Arc::strong_count(entry.get()) == 1
            {
                entry.remove();
            }
        }
    }
}

fn lock(lanes: &Mutex<HashMap<i64, Lane>>) -> MutexGuard<'_, HashMap<i64, Lane>> {
    lanes.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_at_a_time_and_nothing_is_left_behind() {
        let lanes = Arc::new(Lanes::default());
        let inside = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for n in 0..200_i64 {
            let (lanes, inside) = (Arc::clone(&lanes), Arc::clone(&inside));
            tasks.push(tokio::spawn(async move {
                let turns = [[1, 2], [2, 3], [1, 3]][usize::try_from(n % 3).unwrap()];
                // Some give up.
                let wait = if n % 5 == 0 { Duration::from_micros(50) } else { Duration::from_secs(20) };
                if let Ok(_held) = tokio::time::timeout(wait, lanes.enter(&turns)).await {
                    // Any two of them have a turn in common.
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert!(lock(&lanes.held).is_empty());
        drop(lanes.enter(&[]).await);
    }
}
