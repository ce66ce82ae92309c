//! Turns within this process.
//!
//! What decides are the turns of the database, which all processes see. These are taken before them, so that a
//! thousand copies of one lead wait here, and not each with a connection that others need. Who comes out tells those
//! who wait what was answered, so that copies ask the database once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::TenantId;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

type Lane = Arc<tokio::sync::Mutex<Option<Told>>>;

/// What copies of a request are answered, which is on disk. Forgotten as soon as nobody waits for that turn any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// Of which dealer; a turn is only a number, which two requests might share.
    pub(crate) tenant: TenantId,
    /// Of which contract.
    pub(crate) contract: &'static str,
    /// What makes them copies.
    pub(crate) copies: Copies,
    /// Hash of the canonical request.
    pub(crate) hash: [u8; 32],
    /// The payload.
    pub(crate) answer: String,
}

/// What makes requests copies of one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Copies {
    /// Their key.
    Key(String),
    /// Their content, from one caller.
    Content {
        /// Who sent them.
        caller: String,
        /// When it was answered. Where later requests may change the answer, only those who waited then are told.
        until: Option<Instant>,
    },
}

/// Who is at what.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    held: Arc<Mutex<HashMap<i64, Lane>>>,
}

/// Turns that were given; dropped, they are the next one's.
#[derive(Debug)]
pub(crate) struct Held {
    lanes: Arc<Mutex<HashMap<i64, Lane>>>,
    turns: Vec<(i64, Option<OwnedMutexGuard<Option<Told>>>)>,
}

impl Held {
    /// What the one before in this turn was answered.
    pub(crate) fn told(&self, turn: i64) -> Option<&Told> {
        let (_, guard) = self.turns.iter().find(|(held, _)| *held == turn)?;
        guard.as_ref()?.as_ref()
    }

    /// Tells those who wait for this turn. Only what is committed may be told.
    pub(crate) fn tell(&mut self, turn: i64, told: Told) {
        let place = self.turns.iter_mut().find(|(held, _)| *held == turn);
        if let Some((_, Some(guard))) = place {
            **guard = Some(told);
        }
    }
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

    #[tokio::test]
    async fn who_waits_is_told_and_who_comes_later_is_not() {
        let lanes = Arc::new(Lanes::default());
        let told = Told {
            tenant: TenantId(uuid::Uuid::from_u128(1)),
            contract: "v3.0",
            copies: Copies::Key("k".into()),
            hash: [7; 32],
            answer: "{}".into(),
        };
        let mut first = lanes.enter(&[1, 2]).await;
        assert_eq!(first.told(1), None);
        let second = tokio::spawn({
            let lanes = Arc::clone(&lanes);
            async move { lanes.enter(&[1, 3]).await.told(1).cloned() }
        });
        tokio::task::yield_now().await;
        first.tell(1, told.clone());
        assert_eq!(first.told(2), None);
        drop(first);
        assert_eq!(second.await.unwrap(), Some(told));
        assert_eq!(lanes.enter(&[1]).await.told(1), None);
    }
}
