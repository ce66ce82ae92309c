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
    /// How many rows have a key.
    keys: usize,
}

/// Slots for so many keys.
fn table_size(keys: usize) -> usize {
    (keys * 4 / 3 + 1).next_power_of_two()
}

/// A table that is being changed.
struct Table {
    seed: Seed,
    mask: usize,
    slots: Packed,
    again: Vec<(u32, u32)>,
}

impl Table {
    fn row_at(&self, at: usize) -> Option<u32> {
        self.slots.get(at)?.checked_sub(1)
    }

    /// The slot that holds the first row with a key, or the free one where it would be.
    fn find<'t>(&self, key: &str, text: impl Fn(u32) -> Option<&'t str>) -> (usize, Option<u32>) {
        let mut at = place(self.seed, key) & self.mask;
        while let Some(row) = self.row_at(at) {
            if text(row) == Some(key) {
                return (at, Some(row));
            }
            at = (at + 1) & self.mask;
        }
        (at, None)
    }

    fn take_out<'t>(&mut self, row: u32, key: &str, text: impl Fn(u32) -> Option<&'t str>) {
        let (at, Some(first)) = self.find(key, &text) else { return };
        if first != row {
            self.again.retain(|pair| *pair != (first, row));
            return;
        }
        let start = self.again.partition_point(|pair| pair.0 < row);
        let end = self.again.partition_point(|pair| pair.0 <= row);
        let next = self.again.get(start..end).and_then(|pairs| pairs.first()).map(|pair| pair.1);
        if let Some(next) = next {
            // The second one becomes the first.
            self.slots.set(at, next + 1);
            self.again.remove(start);
            self.again.iter_mut().filter(|pair| pair.0 == row).for_each(|pair| pair.0 = next);
            self.again.sort_unstable();
            return;
        }
        // What stands behind a freed slot and could stand in it moves up, so that no chain is broken.
        let mut free = at;
        let mut at = (at + 1) & self.mask;
        while let Some(row) = self.row_at(at) {
            let home = text(row).map_or(at, |key| place(self.seed, key) & self.mask);
            if (at.wrapping_sub(home) & self.mask) >= (at.wrapping_sub(free) & self.mask) {
                self.slots.set(free, row + 1);
                free = at;
            }
            at = (at + 1) & self.mask;
        }
        self.slots.set(free, 0);
    }

    fn put_in<'t>(&mut self, row: u32, key: &str, text: impl Fn(u32) -> Option<&'t str>) {
        let (at, first) = self.find(key, text);
        let pair = match first {
            None => {
                self.slots.set(at, row + 1);
                return;
            }
            Some(first) if first < row => (first, row),
            Some(first) => {
                self.slots.set(at, row + 1);
                self.again.iter_mut().filter(|pair| pair.0 == first).for_each(|pair| pair.0 = row);
                self.again.sort_unstable();
                (row, first)
            }
        };
        let place = self.again.partition_point(|other| *other < pair);
        self.again.insert(place, pair);
    }
}

impl KeyIndex {
    /// A table over the keys that `keys` gives, in ascending row order. `text` tells the key of a row.
    pub(crate) fn build<'t>(
        keys: impl Iterator<Item = (u32, &'t str)>,
        text: impl Fn(u32) -> Option<&'t str>,
    ) -> KeyIndex {
        let keys: Vec<_> = keys.collect();
        let seed = Seed::random();
        let mask = table_size(keys.len()) - 1;
        let count = keys.len();
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
        KeyIndex { seed, slots: Packed::pack(&slots), mask, again: again.into(), keys: count }
    }

    /// The index of the next version: without the (row, key) of `left`, its rows (as they were before) where
    /// `moved` says, and with the (row, key) of `come`. `before` and `now` tell the keys of rows.
    pub(crate) fn next<'t>(
        &self,
        left: &[(u32, &str)],
        moved: &[u32],
        come: &[(u32, &str)],
        rows: usize,
        before: impl Fn(u32) -> Option<&'t str>,
        now: impl Fn(u32) -> Option<&'t str>,
    ) -> KeyIndex {
        let keys = (self.keys + come.len()).saturating_sub(left.len());
        let room = table_size(keys);
        // A table that is too full is made anew, or one that is far too large.
        if room > self.mask + 1 || table_size(keys + keys / 8 + 1) * 2 <= self.mask + 1 {
            let keys = (0..u32::try_from(rows).unwrap_or(u32::MAX)).filter_map(|row| Some((row, now(row)?)));
            return KeyIndex::build(keys, &now);
        }
        let mut table =
            Table { seed: self.seed, mask: self.mask, slots: Packed::pack(&[]), again: Vec::new() };
        // Row numbers may have grown past a width.
        table.slots = self.slots.map(rows.max(moved.len()), |slot| slot);
        table.again = self.again.to_vec();
        for (row, key) in left {
            table.take_out(*row, key, &before);
        }
        let at = |row: u32| moved.get(row as usize).copied().unwrap_or(0);
        table.slots =
            table.slots.map(rows.max(moved.len()), |slot| slot.checked_sub(1).map_or(0, |row| at(row) + 1));
        table.again.iter_mut().for_each(|pair| *pair = (at(pair.0), at(pair.1)));
        for (row, key) in come {
            table.put_in(*row, key, &now);
        }
        KeyIndex { seed: table.seed, slots: table.slots, mask: table.mask, again: table.again.into(), keys }
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
