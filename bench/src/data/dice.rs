//! Chance that falls the same way on every machine and in every run.

/// SplitMix64: small, and written out here because a crate's generator may change with its version.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `0..n`; 0 where `n` is 0.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        u32::try_from(self.roll() % u64::from(n.max(1))).unwrap_or(0)
    }

    /// `low..=high`.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// `0.0..1.0`.
    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from(self.below(1 << 24)) / f64::from(1 << 24)
    }

    /// One of them; the type's empty value only of an empty list.
    pub(crate) fn pick<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let place = self.below(u32::try_from(items.len()).unwrap_or(u32::MAX));
        items.get(place as usize).copied().unwrap_or_default()
    }

    /// `0..n`, small numbers oftener: the first third of them has five ninths of the throws.
    pub(crate) fn favoured(&mut self, n: u32) -> u32 {
        self.below(n).min(self.below(n))
    }
}
