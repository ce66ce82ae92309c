//! The distinct values of a column in order: what its codes stand for.

use std::cmp::Ordering;
use std::ops::Range;

use crate::packed::Packed;

/// The values, ascending.
#[derive(Debug)]
pub(crate) enum Values {
    /// Only the order matters.
    Unknown,
    /// Whole numbers, as what they are above the smallest: mostly half or a quarter of their size.
    Whole { least: i64, above: Packed },
    /// Whole numbers too far apart for that.
    Wide(Box<[i64]>),
    /// Numbers that may have a fraction.
    Real(Box<[f64]>),
    /// Points in time: whole seconds, and nanoseconds where any has some.
    Moments { seconds: Box<Values>, nanoseconds: Packed },
}

/// A point in time: seconds since 1970, and nanoseconds.
pub(crate) type Moment = (i64, u32);

impl Values {
    /// Whole numbers, ascending.
    pub(crate) fn of_whole(values: Vec<i64>) -> Values {
        let least = values.first().copied().unwrap_or(0);
        let above: Option<Vec<u32>> =
            values.iter().map(|v| v.checked_sub(least).and_then(|above| u32::try_from(above).ok())).collect();
        match above {
            Some(above) => Values::Whole { least, above: Packed::pack(&above) },
            None => Values::Wide(values.into()),
        }
    }

    /// Points in time, ascending.
    pub(crate) fn of_moments(values: &[Moment]) -> Values {
        let nanoseconds: Vec<u32> = values.iter().map(|moment| moment.1).collect();
        let fine = nanoseconds.iter().any(|nanoseconds| *nanoseconds > 0);
        Values::Moments {
            seconds: Box::new(Values::of_whole(values.iter().map(|moment| moment.0).collect())),
            nanoseconds: Packed::pack(if fine { &nanoseconds } else { &[] }),
        }
    }

    /// The whole number behind a code.
    pub(crate) fn whole(&self, code: u32) -> Option<i64> {
        match self {
            Values::Whole { least, above } => above.get(code as usize).map(|above| least + i64::from(above)),
            Values::Wide(all) => all.get(code as usize).copied(),
            _ => None,
        }
    }

    /// The number behind a code that may have a fraction.
    pub(crate) fn real(&self, code: u32) -> Option<f64> {
        match self {
            Values::Real(all) => all.get(code as usize).copied(),
            _ => None,
        }
    }

    /// The point in time behind a code.
    pub(crate) fn moment(&self, code: u32) -> Option<Moment> {
        match self {
            Values::Moments { seconds, nanoseconds } => {
                Some((seconds.whole(code)?, nanoseconds.get(code as usize).unwrap_or(0)))
            }
            _ => None,
        }
    }

    /// The value behind a code as JSON.
    pub(crate) fn spelled(&self, code: u32) -> Option<String> {
        match self {
            Values::Unknown | Values::Moments { .. } => None,
            Values::Whole { .. } | Values::Wide(_) => self.whole(code).map(|v| v.to_string()),
            Values::Real(all) => all.get(code as usize).map(|v| spell(*v)),
        }
    }

    /// The codes of the values within inclusive bounds; empty if the lower one is above the upper.
    pub(crate) fn between(&self, low: Option<i64>, high: Option<i64>) -> Range<u32> {
        let start = low.map_or(0, |low| self.count(|v| v.cmp_to(low).is_lt()));
        let end = self.count(|v| high.is_none_or(|high| v.cmp_to(high).is_le()));
        start..end
    }

    /// How many values satisfy `low`, which holds for those up to some value and for none after it.
    fn count(&self, low: impl Fn(Number) -> bool) -> u32 {
        let count = match self {
            Values::Unknown | Values::Moments { .. } => 0,
            Values::Whole { least, above } => {
                above.partition(0..above.len(), |v| low(Number::Whole(least + i64::from(v))))
            }
            Values::Wide(all) => all.partition_point(|v| low(Number::Whole(*v))),
            Values::Real(all) => all.partition_point(|v| low(Number::Real(*v))),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Values::Unknown => 0,
            Values::Whole { above, .. } => above.weight(),
            Values::Wide(all) => all.len() * 8,
            Values::Real(all) => all.len() * 8,
            Values::Moments { seconds, nanoseconds } => {
                size_of::<Values>() + seconds.weight() + nanoseconds.weight()
            }
        }
    }
}

/// A value that is held against a whole-number bound.
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    fn cmp_to(&self, bound: i64) -> Ordering {
        match self {
            Number::Whole(value) => value.cmp(&bound),
            // Compared as whole numbers, since a bound may be beyond what a float can tell apart.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "float casts saturate, which keeps the order"
            )]
            Number::Real(value) => match (value.floor() as i128).cmp(&i128::from(bound)) {
                Ordering::Equal if value.fract() != 0.0 => Ordering::Greater,
                other => other,
            },
        }
    }
}

/// A whole value is told without a fraction, as the documents tell it.
fn spell(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        (value as i64).to_string()
    } else {
        serde_json::Value::from(value).to_string()
    }
}

/// Finite floats in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ordered(pub(crate) f64);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_exact() {
        let whole = Values::of_whole(vec![-5, 0, 7, 9]);
        assert_eq!(whole.between(Some(0), Some(7)), 1..3);
        assert_eq!(whole.between(Some(1), Some(6)), 2..2);
        assert_eq!(whole.between(None, Some(i64::MIN)), 0..0);
        assert_eq!(whole.between(Some(i64::MAX), None).start, 4);
        let real = Values::Real([0.0, 46.0, 46.5, 47.0, 1e300].into());
        assert_eq!(real.between(Some(46), Some(46)), 1..2);
        assert_eq!(real.between(Some(47), Some(i64::MAX)), 3..4);
        let huge = 9_007_199_254_740_993_i64;
        let real = Values::Real([9_007_199_254_740_992.0].into());
        assert!(real.between(Some(huge), None).start == 1 && real.between(None, Some(huge)).end == 1);
    }

    #[test]
    fn values_of_every_distance_are_told_as_they_were() {
        for values in
            [vec![3, 4], vec![-1, 70_000], vec![i64::MIN, 0, i64::MAX], vec![0, i64::from(u32::MAX)]]
        {
            let kept = Values::of_whole(values.clone());
            let told: Vec<_> = (0..4).filter_map(|code| kept.spelled(code)).collect();
            assert_eq!(told, values.iter().map(i64::to_string).collect::<Vec<_>>());
            assert!(kept.weight() >= values.len());
        }
        let told: Vec<_> = (0..4).filter_map(|c| Values::Real([0.5, 3.0, 1e300].into()).spelled(c)).collect();
        assert_eq!(told, ["0.5", "3", "1e+300"]);
    }
}
