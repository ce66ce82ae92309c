//! Variants measured in turns, so that whatever else the machine does meets all of them alike.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::load::{self, Good, Load, Loaded};
use crate::world::{own_cpu, usage};

/// How long and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) rounds: usize,
    pub(crate) round: Duration,
    pub(crate) connections: usize,
}

/// One way of answering.
pub(crate) struct Variant<'w> {
    pub(crate) name: &'static str,
    pub(crate) server: std::net::SocketAddr,
    /// Processes whose CPU is the variant's.
    pub(crate) pids: Vec<u32>,
    pub(crate) requests: &'w [Vec<u8>],
    pub(crate) good: Good,
}

/// What one variant did in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Round {
    /// Answers a second.
    pub(crate) rate: f64,
    /// Microseconds of processor time an answer; 0 where that is not known.
    pub(crate) cpu_us: f64,
    /// Microseconds from request to answer.
    pub(crate) p50_us: f64,
    /// As above.
    pub(crate) p99_us: f64,
    /// Microseconds of processor time that the load generator took for an answer.
    pub(crate) load_us: f64,
}

/// What one variant did in all rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    pub(crate) variant: &'static str,
    pub(crate) rounds: Vec<Round>,
}

impl Measured {
    /// The median of a figure over the rounds.
    pub(crate) fn median(&self, figure: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(figure))
    }
}

/// Measures: each round, every variant once, the order turned round by round. A short warming-up comes before.
///
/// # Errors
/// A server fails, or any answer of it is not good.
pub(crate) fn measure(pace: Pace, variants: &[Variant<'_>]) -> Result<Vec<Measured>> {
    let mut measured: Vec<Measured> =
        variants.iter().map(|variant| Measured { variant: variant.name, rounds: Vec::new() }).collect();
    let warming = Duration::from_millis(400).min(pace.round);
    for variant in variants {
        once(variant, pace.connections, warming).with_context(|| variant.name)?;
    }
    for number in 0..pace.rounds {
        for turn in 0..variants.len() {
            // Forwards and backwards in turn: none is always the first after another.
            let place = if number % 2 == 0 { turn } else { variants.len() - 1 - turn };
            let (Some(variant), Some(measured)) = (variants.get(place), measured.get_mut(place)) else {
                continue;
            };
            measured.rounds.push(once(variant, pace.connections, pace.round).with_context(|| variant.name)?);
        }
    }
    Ok(measured)
}

/// One round of one variant.
///
/// # Errors
/// The server fails, or any answer of it is not good.
pub(crate) fn once(variant: &Variant<'_>, connections: usize, duration: Duration) -> Result<Round> {
    let load = Load {
        server: variant.server,
        requests: variant.requests,
        connections,
        duration,
        good: variant.good,
    };
    let (before, own_before) = (cpu(&variant.pids)?, own_cpu());
    let loaded = load::run(&load)?;
    let own = own_cpu().saturating_sub(own_before);
    let used = cpu(&variant.pids)?.saturating_sub(before);
    Ok(Round::of(&loaded, used, own))
}

fn cpu(pids: &[u32]) -> Result<Duration> {
    pids.iter().map(|pid| usage(*pid).map(|usage| usage.cpu)).sum()
}

impl Round {
    fn of(loaded: &Loaded, used: Duration, own: Duration) -> Round {
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        let answers = loaded.answers.max(1) as f64;
        Round {
            rate: loaded.rate(),
            cpu_us: micros(used) / answers,
            p50_us: micros(loaded.latency.quantile(0.5)),
            p99_us: micros(loaded.latency.quantile(0.99)),
            load_us: micros(own) / answers,
        }
    }
}

/// The median of the rounds' own ratios: a disturbance of one round spoils that round's ratio alone.
pub(crate) fn ratio(of: &Measured, over: &Measured, figure: impl Fn(&Round) -> f64) -> f64 {
    let pairs = of.rounds.iter().zip(&over.rounds);
    median(pairs.map(|(of, over)| figure(of) / figure(over).max(f64::MIN_POSITIVE)))
}

/// The middle value, or the mean of the two in the middle; NaN of none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => at(n / 2),
        n => (at(n / 2 - 1) + at(n / 2)) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(rates: &[f64]) -> Measured {
        let round = |rate: &f64| Round { rate: *rate, ..Round::default() };
        Measured { variant: "x", rounds: rates.iter().map(round).collect() }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_disturbed_round_does_not_spoil_the_ratio() {
        // The third round was slow for both, the second for one.
        let (fast, slow) = (rates(&[100.0, 20.0, 50.0]), rates(&[50.0, 50.0, 25.0]));
        assert_eq!(ratio(&fast, &slow, |round| round.rate), 2.0);
        assert_eq!(fast.median(|round| round.rate), 50.0);
    }
}
