//! Chance that falls the same way on every machine and in every run.

/// SplitMix64: small, and written out here because a crate's generator may change with its version.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `0..n`; 0 where `n` is 0. The tiny bias of the remainder does not matter for a demo.
    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % u64::try_from(n).unwrap_or(1).max(1)).unwrap_or(0)
    }

    /// `low..=high`.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = usize::try_from(high - low + 1).unwrap_or(1);
        low + i64::try_from(self.below(span)).unwrap_or(0)
    }

    /// True in `percent` of 100 cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them; `None` only of an empty list.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// `count` of them, each at most once, in their order.
    pub(super) fn some<'a, T>(&mut self, items: &'a [T], count: usize) -> Vec<&'a T> {
        let mut wanted = count;
        let mut taken = Vec::with_capacity(count);
        for (at, item) in items.iter().enumerate() {
            if self.below(items.len() - at) < wanted {
                wanted -= 1;
                taken.push(item);
            }
        }
        taken
    }

    /// One of them, the heavier the likelier.
    pub(super) fn weighted<'a, T>(&mut self, items: &[&'a T], weight: impl Fn(&T) -> usize) -> Option<&'a T> {
        let mut left = self.below(items.iter().map(|item| weight(item)).sum());
        items.iter().copied().find(|item| match left.checked_sub(weight(item)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        })
    }
}
