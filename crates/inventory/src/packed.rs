//! Whole numbers in the narrowest width that holds them all: most lots have fewer than 65,536 units, so row
//! numbers and codes take two bytes instead of four, and nothing wraps where a lot is larger.

use std::ops::Range;

/// An immutable list of numbers.
#[derive(Debug)]
pub(crate) enum Packed {
    /// All below 2^8.
    Byte(Box<[u8]>),
    /// All below 2^16.
    Short(Box<[u16]>),
    /// Anything else.
    Word(Box<[u32]>),
}

impl Packed {
    /// Packs a list.
    pub(crate) fn pack(values: &[u32]) -> Packed {
        Self::pack_for(values, values.iter().copied().max().unwrap_or(0) as usize)
    }

    /// Packs a list in which there will be room for numbers up to `largest`, which none is above.
    #[expect(clippy::cast_possible_truncation, reason = "the largest value decides the width")]
    fn pack_for(values: &[u32], largest: usize) -> Packed {
        match Self::width(largest) {
            1 => Packed::Byte(values.iter().map(|v| *v as u8).collect()),
            2 => Packed::Short(values.iter().map(|v| *v as u16).collect()),
            _ => Packed::Word(values.into()),
        }
    }

    /// Every number, changed by `change`; none becomes more than `largest`, for which there is room.
    #[expect(clippy::cast_possible_truncation, reason = "the largest value decides the width")]
    pub(crate) fn map(&self, largest: usize, change: impl Fn(u32) -> u32) -> Packed {
        match (self, Self::width(largest)) {
            (Packed::Byte(all), 1) => Packed::Byte(all.iter().map(|v| change(u32::from(*v)) as u8).collect()),
            (Packed::Short(all), 2) => {
                Packed::Short(all.iter().map(|v| change(u32::from(*v)) as u16).collect())
            }
            _ => {
                let mut all = Vec::with_capacity(self.len());
                self.each(0..self.len(), |v| all.push(change(v)));
                Self::pack_for(&all, largest)
            }
        }
    }

    /// Puts another number in a place; `false` if it is too large for the width.
    pub(crate) fn set(&mut self, index: usize, value: u32) -> bool {
        let put = match self {
            Packed::Byte(all) => all.get_mut(index).zip(value.try_into().ok()).map(|(place, v)| *place = v),
            Packed::Short(all) => all.get_mut(index).zip(value.try_into().ok()).map(|(place, v)| *place = v),
            Packed::Word(all) => all.get_mut(index).map(|place| *place = value),
        };
        put.is_some()
    }

    /// Bytes a number takes for values up to `largest`.
    pub(crate) fn width(largest: usize) -> usize {
        if u8::try_from(largest).is_ok() {
            1
        } else if u16::try_from(largest).is_ok() {
            2
        } else {
            4
        }
    }

    /// The number at `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<u32> {
        match self {
            Packed::Byte(all) => all.get(index).map(|v| u32::from(*v)),
            Packed::Short(all) => all.get(index).map(|v| u32::from(*v)),
            Packed::Word(all) => all.get(index).copied(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Packed::Byte(all) => all.len(),
            Packed::Short(all) => all.len(),
            Packed::Word(all) => all.len(),
        }
    }

    /// Visits a range in order until `visit` says no; tells whether it came to the end.
    #[inline]
    pub(crate) fn visit(&self, range: Range<usize>, mut visit: impl FnMut(u32) -> bool) -> bool {
        match self {
            Packed::Byte(all) => all.get(range).unwrap_or_default().iter().all(|v| visit(u32::from(*v))),
            Packed::Short(all) => all.get(range).unwrap_or_default().iter().all(|v| visit(u32::from(*v))),
            Packed::Word(all) => all.get(range).unwrap_or_default().iter().all(|v| visit(*v)),
        }
    }

    /// Visits a range from its end until `visit` says no; tells whether it came to the start.
    #[inline]
    pub(crate) fn visit_back(&self, range: Range<usize>, mut visit: impl FnMut(u32) -> bool) -> bool {
        match self {
            Packed::Byte(all) => {
                all.get(range).unwrap_or_default().iter().rev().all(|v| visit(u32::from(*v)))
            }
            Packed::Short(all) => {
                all.get(range).unwrap_or_default().iter().rev().all(|v| visit(u32::from(*v)))
            }
            Packed::Word(all) => all.get(range).unwrap_or_default().iter().rev().all(|v| visit(*v)),
        }
    }

    /// Visits a whole range in order.
    #[inline]
    pub(crate) fn each(&self, range: Range<usize>, mut visit: impl FnMut(u32)) {
        self.visit(range, |value| {
            visit(value);
            true
        });
    }

    /// The first position of `range` whose number does not satisfy `before`; the numbers are partitioned by it.
    pub(crate) fn partition(&self, range: Range<usize>, before: impl Fn(u32) -> bool) -> usize {
        let start = range.start;
        start
            + match self {
                Packed::Byte(all) => {
                    all.get(range).unwrap_or_default().partition_point(|v| before(u32::from(*v)))
                }
                Packed::Short(all) => {
                    all.get(range).unwrap_or_default().partition_point(|v| before(u32::from(*v)))
                }
                Packed::Word(all) => all.get(range).unwrap_or_default().partition_point(|v| before(*v)),
            }
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Packed::Byte(all) => all.len(),
            Packed::Short(all) => all.len() * 2,
            Packed::Word(all) => all.len() * 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_gives_back_what_was_packed() {
        for largest in [0, 255, 256, 65_535, 65_536, u32::MAX] {
            let values = [0, largest / 2, largest];
            let packed = Packed::pack(&values);
            assert_eq!(packed.len(), 3);
            assert_eq!((0..3).filter_map(|i| packed.get(i)).collect::<Vec<_>>(), values);
            assert_eq!(packed.weight(), 3 * Packed::width(largest as usize));
            assert_eq!(packed.get(3), None);
            let mut back = Vec::new();
            packed.visit_back(0..3, |v| {
                back.push(v);
                true
            });
            assert_eq!(back, [largest, largest / 2, 0]);
        }
        for largest in [9, 255, 256, 65_535, 65_536, 1 << 30] {
            let mapped =
                Packed::pack(&[1, 4, 4, 9]).map(largest, |v| if v == 9 { largest as u32 } else { v });
            assert_eq!((0..4).filter_map(|i| mapped.get(i)).collect::<Vec<_>>(), [1, 4, 4, largest as u32]);
            let mut roomy = Packed::pack(&[1, 4]).map(largest, |v| v);
            assert!(roomy.set(0, largest as u32) && roomy.get(0) == Some(largest as u32), "{largest}");
            let narrower = mapped.map(9, |v| v.min(9));
            assert_eq!((0..4).filter_map(|i| narrower.get(i)).collect::<Vec<_>>(), [1, 4, 4, 9]);
        }
        let mut packed = Packed::pack(&[1, 2]);
        assert!(packed.set(1, 255) && !packed.set(1, 256) && !packed.set(2, 0));
        assert_eq!(packed.get(1), Some(255));
        let packed = Packed::pack(&[1, 4, 4, 9]);
        assert_eq!(packed.partition(0..4, |v| v < 4), 1);
        assert_eq!(packed.partition(1..4, |v| v <= 4), 3);
    }
}
