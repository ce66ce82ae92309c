//! For every term the rows that have it: a bitset where the term is common, a list of rows where it is rare.
//!
//! Whichever is smaller is kept, so that a field costs at most four bytes a unit whatever its number of values.

use crate::bitset::{self, Bits};
use crate::packed::Packed;

/// What belongs to what; rows come in ascending order for each term, and no pair comes twice.
pub(crate) trait Pairs {
    /// Visits every (term, row).
    fn each(&self, visit: impl FnMut(u32, u32));
}

/// The rows of each term.
#[derive(Debug)]
pub(crate) struct Sets {
    words: usize,
    width: usize,
    /// Where the rows begin (in words or in rows) and how many they are.
    places: Box<[Place]>,
    dense: Box<[u64]>,
    sparse: Packed,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    start: u32,
    rows: u32,
}

/// The rows of one term.
#[derive(Debug, Clone)]
pub(crate) enum Rows<'a> {
    /// One bit a row.
    Dense(&'a [u64]),
    /// Ascending, at these positions of the list.
    Sparse(&'a Packed, std::ops::Range<usize>),
}

impl Rows<'_> {
    /// Adds them to `bits`.
    pub(crate) fn add_to(&self, bits: &mut Bits) {
        match self {
            Rows::Dense(words) => bits.or(words),
            Rows::Sparse(list, range) => list.each(range.clone(), |row| bits.insert(row)),
        }
    }

    /// Them alone, of `rows` rows.
    pub(crate) fn bits(&self, rows: usize) -> Bits {
        match self {
            Rows::Dense(words) => Bits::copied(words),
            Rows::Sparse(..) => {
                let mut bits = Bits::empty(rows);
                self.add_to(&mut bits);
                bits
            }
        }
    }

    /// Keeps in `bits` what is also here.
    pub(crate) fn restrict(&self, bits: &mut Bits) {
        match self {
            Rows::Dense(words) => bits.and(words),
            Rows::Sparse(list, range) => {
                let mut kept = bits.emptied();
                list.each(range.clone(), |row| {
                    if bits.has(row) {
                        kept.insert(row);
                    }
                });
                *bits = kept;
            }
        }
    }

    /// What [`Rows::count_in`] costs, in words read.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Rows::Dense(words) => words.len() + 8,
            Rows::Sparse(_, range) => range.len() * 3 + 8,
        }
    }

    /// Those that are also in `bits`, counted.
    pub(crate) fn count_in(&self, bits: &Bits) -> usize {
        match self {
            Rows::Dense(words) => bitset::and_count(words, bits.words()),
            Rows::Sparse(list, range) => {
                let mut count = 0;
                list.each(range.clone(), |row| count += usize::from(bits.has(row)));
                count
            }
        }
    }
}

impl Sets {
    /// Sets for `terms` terms over `rows` rows.
    pub(crate) fn build(rows: usize, terms: usize, pairs: &impl Pairs) -> Sets {
        let words = bitset::words(rows);
        let width = Packed::width(rows);
        let mut places = vec![Place::default(); terms].into_boxed_slice();
        pairs.each(|term, _| {
            if let Some(place) = places.get_mut(term as usize) {
                place.rows += 1;
            }
        });
        let (mut dense_end, mut sparse_end) = (0, 0);
        for place in &mut places {
            if is_dense(place.rows, width, words) {
                place.start = dense_end;
                dense_end = dense_end.saturating_add(u32::try_from(words).unwrap_or(u32::MAX));
            } else {
                place.start = sparse_end;
                sparse_end = sparse_end.saturating_add(place.rows);
            }
        }
        let mut dense = vec![0_u64; dense_end as usize].into_boxed_slice();
        let mut sparse = vec![0_u32; sparse_end as usize];
        let mut next: Vec<u32> = places.iter().map(|place| place.start).collect();
        pairs.each(|term, row| {
            let (Some(place), Some(next)) = (places.get(term as usize), next.get_mut(term as usize)) else {
                return;
            };
            if is_dense(place.rows, width, words) {
                if let Some(word) = dense.get_mut(place.start as usize + row as usize / bitset::WORD) {
                    *word |= 1 << (row as usize % bitset::WORD);
                }
            } else if let Some(slot) = sparse.get_mut(*next as usize) {
                *slot = row;
                *next += 1;
            }
        });
        Sets { words, width, places, dense, sparse: Packed::pack(&sparse) }
    }

    /// How many rows have the term.
    #[inline]
    pub(crate) fn len(&self, term: u32) -> u32 {
        self.places.get(term as usize).map_or(0, |place| place.rows)
    }

    /// The rows that have the term.
    pub(crate) fn rows(&self, term: u32) -> Rows<'_> {
        let place = self.places.get(term as usize).copied().unwrap_or_default();
        let start = place.start as usize;
        if is_dense(place.rows, self.width, self.words) {
            Rows::Dense(self.dense.get(start..start + self.words).unwrap_or_default())
        } else {
            Rows::Sparse(&self.sparse, start..start + place.rows as usize)
        }
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        self.places.len() * size_of::<Place>() + self.dense.len() * 8 + self.sparse.weight()
    }
}

/// A bitset takes no more room than a list.
fn is_dense(rows: u32, width: usize, words: usize) -> bool {
    rows as usize * width >= words * 8
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Multiples;

    impl Pairs for Multiples {
        fn each(&self, mut visit: impl FnMut(u32, u32)) {
            for term in 1..=300 {
                for row in (0..1000).filter(|row| row % term == 0) {
                    visit(term, row);
                }
            }
        }
    }

    #[test]
    fn common_and_rare_terms_give_the_same_answers() {
        let sets = Sets::build(1000, 301, &Multiples);
        assert!(matches!(sets.rows(2), Rows::Dense(_)));
        assert!(matches!(sets.rows(300), Rows::Sparse(..)));
        assert_eq!(sets.len(0), 0);
        let mut odd = Bits::full(1000);
        let mut even = Bits::empty(1000);
        sets.rows(2).add_to(&mut even);
        odd.and_not(even.words());
        for term in 1..=300 {
            let mut bits = Bits::empty(1000);
            sets.rows(term).add_to(&mut bits);
            assert_eq!(bits.count(), sets.len(term) as usize);
            assert!((0..1000).all(|row| bits.has(row) == (row % term == 0)));
            let odd_multiples = (0..1000).filter(|row| row % term == 0 && row % 2 == 1).count();
            assert_eq!(sets.rows(term).count_in(&odd), odd_multiples);
        }
    }
}
