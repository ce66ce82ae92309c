//! What a worker is told.

use std::path::PathBuf;
use std::time::Duration;

use dealer::vault::Vault;

use crate::outbound::Allowed;

/// Settings of one worker.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    /// What it is called in leases and logs; no two workers, of whatever process, may have one name.
    pub name: String,
    /// Jobs at once that use processor and database.
    pub slots: usize,
    /// Jobs at once that wait for foreign servers: slow ones must not keep imports waiting.
    pub fetches: usize,
    /// The folder in which files of dealers are dropped: `{dealer}/{source}/`.
    pub drop_folder: PathBuf,
    /// Where large files lie while they are read.
    pub temp_folder: PathBuf,
    /// Opens the credentials of sources.
    pub vault: Vault,
    /// Places that are not public and may be fetched from all the same.
    pub allowed: Allowed,
    /// How long jobs that run may go on after the worker is told to stop; then they are given back.
    pub drain: Duration,
    /// How fast things go; other than by default for tests.
    pub pace: Pace,
}

/// Times between things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long a job is ours without a sign of life.
    pub lease: Duration,
    /// How often a sign of life is given.
    pub heartbeat: Duration,
    /// How often the queue is looked at, besides its notices.
    pub poll: Duration,
    /// How often schedules are looked at.
    pub schedule: Duration,
    /// How far apart two looks at a dropped file are that must see the same.
    pub settle: Duration,
    /// How long after a failure a job is tried again; twice as long after each further one.
    pub retry: Duration,
    /// The same for fetches, whose servers want to be left alone for longer.
    pub fetch_retry: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            lease: Duration::from_secs(60),
            heartbeat: Duration::from_secs(15),
            poll: Duration::from_secs(2),
            schedule: Duration::from_secs(5),
            settle: Duration::from_secs(30),
            retry: Duration::from_secs(5),
            fetch_retry: Duration::from_secs(60),
        }
    }
}

impl Pace {
    /// Everything as much faster, for tests that cannot wait.
    #[must_use]
    pub fn times_faster(self, factor: u32) -> Pace {
        let faster = |time: Duration| time / factor.max(1);
        Pace {
            lease: faster(self.lease),
            heartbeat: faster(self.heartbeat),
            poll: faster(self.poll),
            schedule: faster(self.schedule),
            settle: faster(self.settle),
            retry: faster(self.retry),
            fetch_retry: faster(self.fetch_retry),
        }
    }
}

/// The waiting time before another try, after so many failures: doubled each time, and by chance up to half as much
/// shorter, so that what failed together does not come back together.
pub(crate) fn backoff(first: Duration, failures: i32, longest: Duration) -> Duration {
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(0).min(16);
    let wait = first.saturating_mul(1 << doublings).min(longest);
    wait.mul_f64(rand::random_range(0.5..=1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_differ() {
        let (first, longest) = (Duration::from_secs(10), Duration::from_secs(60));
        for (failures, least, most) in
            [(0, 5, 10), (1, 5, 10), (2, 10, 20), (3, 20, 40), (9, 30, 60), (99, 30, 60)]
        {
            let waits: Vec<_> = (0..20).map(|_| backoff(first, failures, longest)).collect();
            let range = Duration::from_secs(least)..=Duration::from_secs(most);
            assert!(waits.iter().all(|wait| range.contains(wait)), "{failures}: {waits:?}");
            assert!(waits.windows(2).any(|pair| pair[0] != pair[1]), "{waits:?}");
        }
    }
}
