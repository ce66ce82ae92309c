//! The hash of a snapshot's tables: quick on short texts, seeded so that nobody can aim at it.

use std::hash::{BuildHasher, Hasher, RandomState};

/// An odd constant with evenly spread bits (the fraction of the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random starting point; tables with the same seed agree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u64);

impl Seed {
    /// A seed that a feed cannot know, so a crafted lot cannot fill one chain of a table.
    pub(crate) fn random() -> Seed {
        Seed(RandomState::new().hash_one(SPREAD))
    }
}

impl BuildHasher for Seed {
    type Hasher = Mix;

    fn build_hasher(&self) -> Mix {
        Mix(self.0)
    }
}

/// Folded multiplication over eight bytes at a time.
pub(crate) struct Mix(u64);

impl Mix {
    #[inline]
    fn add(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word).wrapping_mul(u128::from(SPREAD));
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let (low, high) = (wide as u64, (wide >> 64) as u64);
        self.0 = low ^ high;
    }
}

impl Hasher for Mix {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64) << 56;
        if let Some(last) = bytes.last_chunk::<8>() {
            let (words, rest) = bytes.as_chunks::<8>();
            for word in words {
                self.add(u64::from_le_bytes(*word));
            }
            // The last eight bytes overlap those before: one load instead of a loop.
            if !rest.is_empty() {
                self.add(u64::from_le_bytes(*last) ^ length);
            }
        } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            self.add((u64::from(first) | u64::from(last) << 32) ^ length);
        } else {
            self.add(bytes.iter().fold(length, |word, byte| word << 8 | u64::from(*byte)) ^ length);
        }
    }

    #[inline]
    fn write_u128(&mut self, value: u128) {
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let (low, high) = (value as u64, (value >> 64) as u64);
        self.add(low);
        self.add(high);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
