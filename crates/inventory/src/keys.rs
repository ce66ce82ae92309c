//! Exact, case-sensitive look-up of identifiers.

use std::hash::BuildHasher;

use crate::hash::Seed;
use crate::packed::Packed;

/// A table from a text to the rows that have it. The texts stay where they are and are read through `text`.
#[derive(Debug)]
pub(crate) struct KeyIndex {
    seed: Seed,
    /// Row + 1 of the first row with a text; 0 is free.
    slots: Packed,
    mask: usize,
    /// (first row, further row) for texts that several rows have, ascending.
    again: Box<[(u32, u32)]>,
}

impl KeyIndex {
    /// A table over the keys that `keys` gives, in ascending row order. `text` tells the key of a row.
    pub(crate) fn build<'t>(
        keys: impl Iterator<Item = (u32, &'t str)>,
        text: impl Fn(u32) -> Option<&'t str>,
    ) -> KeyIndex {
        let keys: Vec<_> = keys.collect();
        let seed = Seed::random();
        let mask = (keys.len() * 4 / 3 + 1).next_power_of_two() - 1;
        let mut slots = vec![0_u32; mask + 1];
        let mut again = Vec::new();
        for (row, key) in keys {
            let mut at = place(seed, key) & mask;
            while let Some(slot) = slots.get_mut(at) {
                if *slot == 0 {
                    *slot = row + 1;
                    break;
                }
                if text(*slot - 1) == Some(key) {
                    again.push((*slot - 1, row));
                    break;
                }
                at = (at + 1) & mask;
            }
        }
        again.sort_unstable();
        KeyIndex { seed, slots: Packed::pack(&slots), mask, again: again.into() }
    }

    /// The smallest row with this key.
    pub(crate) fn first<'t>(&self, key: &str, text: impl Fn(u32) -> Option<&'t str>) -> Option<u32> {
        let mut at = place(self.seed, key) & self.mask;
        loop {
            let row = self.slots.get(at)?.checked_sub(1)?;
            if text(row) == Some(key) {
                return Some(row);
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Every row with this key, ascending.
    pub(crate) fn all<'t>(
        &self,
        key: &str,
        text: impl Fn(u32) -> Option<&'t str>,
    ) -> impl Iterator<Item = u32> {
        let first = self.first(key, text);
        let further = first.map_or(&[][..], |first| {
            let start = self.again.partition_point(|pair| pair.0 < first);
            let end = self.again.partition_point(|pair| pair.0 <= first);
            self.again.get(start..end).unwrap_or_default()
        });
        first.into_iter().chain(further.iter().map(|pair| pair.1))
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        self.slots.weight() + self.again.len() * size_of::<(u32, u32)>()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
fn place(seed: Seed, key: &str) -> usize {
    seed.hash_one(key) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_keys_give_all_their_rows_and_other_spellings_none() {
        let texts = ["A", "b", "A", "", "a", "A"];
        let text = |row: u32| texts.get(row as usize).copied();
        let index = KeyIndex::build(texts.iter().enumerate().map(|(i, t)| (i as u32, *t)), text);
        assert_eq!(index.all("A", text).collect::<Vec<_>>(), [0, 2, 5]);
        assert_eq!(index.first("a", text), Some(4));
        assert_eq!(index.first("", text), Some(3));
        assert_eq!(index.first("B", text), None);
        let empty = KeyIndex::build(std::iter::empty(), text);
        assert_eq!(empty.first("A", text), None);
    }

    #[test]
    fn ten_thousand_keys_are_all_found() {
        let texts: Vec<String> = (0..10_000).map(|i| format!("key-{}", i % 9_000)).collect();
        let text = |row: u32| texts.get(row as usize).map(String::as_str);
        let index = KeyIndex::build(texts.iter().enumerate().map(|(i, t)| (i as u32, t.as_str())), text);
        for (i, key) in texts.iter().enumerate() {
            assert_eq!(index.first(key, text), Some(i as u32 % 9_000));
        }
        assert_eq!(index.all("key-5", text).count(), 2);
    }
}
