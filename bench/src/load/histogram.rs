//! Counts of durations, told apart to about one percent.

use std::time::Duration;

/// Steps within a doubling.
const STEPS: u64 = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// A histogram that grows with what it is told. Below 64 ns every value has a place of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Counts a duration.
    pub(crate) fn record(&mut self, duration: Duration) {
        let place = place(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(place) {
            *count += 1;
        }
        self.total += 1;
    }

    /// The duration that `share` (0 to 1) of all do not exceed; zero of none.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let wanted = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(largest(place));
            }
        }
        Duration::ZERO
    }
}

/// Values of one doubling share 64 places.
fn place(nanos: u64) -> usize {
    let place = if nanos < STEPS {
        nanos
    } else {
        let shift = nanos.ilog2() - STEP_BITS;
        u64::from(shift + 1) * STEPS + ((nanos >> shift) - STEPS)
    };
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// The largest value of a place.
fn largest(place: usize) -> u64 {
    let place = place as u64;
    if place < STEPS {
        return place;
    }
    let shift = place / STEPS - 1;
    ((place % STEPS + STEPS + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_order_and_close() {
        for nanos in (0..200_000).chain((0..40).map(|n| 1 << n)).chain([u64::MAX >> 8]) {
            let place = place(nanos);
            assert!(largest(place) >= nanos && (place == 0 || largest(place - 1) < nanos), "{nanos}");
            assert!(largest(place) as f64 <= nanos as f64 * 1.017, "{nanos}");
        }
        assert!((1..200_000).all(|nanos| place(nanos) >= place(nanos - 1)));
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), Duration::ZERO);
        (1..=1_000).for_each(|micros| histogram.record(Duration::from_micros(micros)));
        assert_eq!(histogram.total, 1_000);
        for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1_000.0), (0.0, 1.0)] {
            let told = histogram.quantile(share).as_secs_f64() * 1e6;
            assert!((told / micros - 1.0).abs() < 0.02, "{share}: {told}");
        }
    }
}
