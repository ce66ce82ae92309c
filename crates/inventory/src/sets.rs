//! For every term the rows that have it: a bitset where the term is common, a list of rows where it is rare.
//!
//! Whichever is smaller is kept, so that a field costs at most four bytes a unit whatever its number of values.
//! Lists of terms that are never narrowed by, only added up (words of descriptions), are packed tighter still.

use std::ops::Range;

use crate::bitset::{self, Bits};
use crate::coded::{self, CodedList, Coder};
use crate::packed::Packed;

/// What belongs to what; rows come in ascending order for each term, and no pair comes twice.
pub(crate) trait Pairs {
    /// Visits every (term, row).
    fn each(&self, visit: impl FnMut(u32, u32));
}

/// The rows of each term.
#[derive(Debug)]
pub(crate) struct Sets {
    shape: Shape,
    /// Where the rows begin (in words, rows or bits) and how many they are.
    places: Box<[Place]>,
    dense: Box<[u64]>,
    sparse: Packed,
    coded: Box<[u64]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    start: u32,
    rows: u32,
}

/// What decides how a term's rows are kept.
#[derive(Debug, Clone, Copy)]
struct Shape {
    rows: usize,
    /// Terms from this one on are only read as a whole.
    coded_from: usize,
}

enum Kind {
    Dense,
    Sparse,
    Coded,
}

impl Shape {
    /// Whichever takes least room.
    fn kind(self, term: usize, rows: u32) -> Kind {
        let bitset = bitset::words(self.rows) * 64;
        let coded = term >= self.coded_from;
        let list =
            if coded { coded::bound(rows, self.rows) } else { rows as usize * Packed::width(self.rows) * 8 };
        match coded {
            _ if list >= bitset => Kind::Dense,
            true => Kind::Coded,
            false => Kind::Sparse,
        }
    }
}

/// The rows of one term.
#[derive(Debug, Clone)]
pub(crate) enum Rows<'a> {
    /// One bit a row.
    Dense(&'a [u64]),
    /// Ascending, at these positions of the list.
    Sparse(&'a Packed, Range<usize>),
    /// Ascending, packed tight.
    Coded(CodedList<'a>),
}

impl Rows<'_> {
    /// Visits those that are kept as a list.
    #[inline]
    fn each_listed(&self, visit: impl FnMut(u32)) {
        match self {
            Rows::Dense(_) => {}
            Rows::Sparse(list, range) => list.each(range.clone(), visit),
            Rows::Coded(list) => list.each(visit),
        }
    }

    /// Adds them to `bits`.
    pub(crate) fn add_to(&self, bits: &mut Bits) {
        match self {
            Rows::Dense(words) => bits.or(words),
            listed => listed.each_listed(|row| bits.insert(row)),
        }
    }

    /// Them alone, of `rows` rows.
    pub(crate) fn bits(&self, rows: usize) -> Bits {
        match self {
            Rows::Dense(words) => Bits::copied(words),
            listed => {
                let mut bits = Bits::empty(rows);
                listed.each_listed(|row| bits.insert(row));
                bits
            }
        }
    }

    /// Keeps in `bits` what is also here.
    pub(crate) fn restrict(&self, bits: &mut Bits) {
        match self {
            Rows::Dense(words) => bits.and(words),
            listed => {
                let mut kept = bits.emptied();
                listed.each_listed(|row| {
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
            Rows::Coded(list) => list.rows as usize * 8 + 8,
        }
    }

    /// Those that are also in `bits`, counted.
    pub(crate) fn count_in(&self, bits: &Bits) -> usize {
        match self {
            Rows::Dense(words) => bitset::and_count(words, bits.words()),
            listed => {
                let mut count = 0;
                listed.each_listed(|row| count += usize::from(bits.has(row)));
                count
            }
        }
    }
}

impl Sets {
    /// Sets for `terms` terms over `rows` rows. Those from `coded_from` on are packed tighter.
    pub(crate) fn build(rows: usize, terms: usize, coded_from: usize, pairs: &impl Pairs) -> Sets {
        let shape = Shape { rows, coded_from };
        let words = bitset::words(rows);
        let mut places = vec![Place::default(); terms].into_boxed_slice();
        pairs.each(|term, _| {
            if let Some(place) = places.get_mut(term as usize) {
                place.rows += 1;
            }
        });
        // Lists that are to be coded are collected first.
        let (mut dense_end, mut sparse_end, mut loose_end) = (0, 0, 0);
        for (term, place) in places.iter_mut().enumerate() {
            let (end, room) = match shape.kind(term, place.rows) {
                Kind::Dense => (&mut dense_end, words),
                Kind::Sparse => (&mut sparse_end, place.rows as usize),
                Kind::Coded => (&mut loose_end, place.rows as usize),
            };
            place.start = position(*end);
            *end += room;
        }
        let mut dense = vec![0_u64; dense_end].into_boxed_slice();
        let mut sparse = vec![0_u32; sparse_end];
        let mut loose = vec![0_u32; loose_end];
        let mut next: Vec<u32> = places.iter().map(|place| place.start).collect();
        pairs.each(|term, row| {
            let (Some(place), Some(next)) = (places.get(term as usize), next.get_mut(term as usize)) else {
                return;
            };
            let list = match shape.kind(term as usize, place.rows) {
                Kind::Dense => {
                    if let Some(word) = dense.get_mut(place.start as usize + row as usize / bitset::WORD) {
                        *word |= 1 << (row as usize % bitset::WORD);
                    }
                    return;
                }
                Kind::Sparse => &mut sparse,
                Kind::Coded => &mut loose,
            };
            if let Some(slot) = list.get_mut(*next as usize) {
                *slot = row;
                *next += 1;
            }
        });
        let mut coder = Coder::default();
        for (term, place) in places.iter_mut().enumerate().skip(coded_from) {
            if matches!(shape.kind(term, place.rows), Kind::Coded) {
                let start = place.start as usize;
                place.start = position(coder.end());
                let list = loose.get(start..start + place.rows as usize).unwrap_or_default();
                coder.push(list, coded::low_bits(place.rows, rows));
            }
        }
        Sets { shape, places, dense, sparse: Packed::pack(&sparse), coded: coder.finish() }
    }

    /// How many rows have the term.
    #[inline]
    pub(crate) fn len(&self, term: u32) -> u32 {
        self.places.get(term as usize).map_or(0, |place| place.rows)
    }

    /// The rows that have the term.
    pub(crate) fn rows(&self, term: u32) -> Rows<'_> {
        let Place { start, rows } = self.places.get(term as usize).copied().unwrap_or_default();
        let start = start as usize;
        match self.shape.kind(term as usize, rows) {
            Kind::Dense => {
                let end = start + bitset::words(self.shape.rows);
                Rows::Dense(self.dense.get(start..end).unwrap_or_default())
            }
            Kind::Sparse => Rows::Sparse(&self.sparse, start..start + rows as usize),
            Kind::Coded => {
                let low_bits = coded::low_bits(rows, self.shape.rows);
                Rows::Coded(CodedList { words: &self.coded, start, rows, low_bits })
            }
        }
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        let places = self.places.len() * size_of::<Place>();
        places + (self.dense.len() + self.coded.len()) * 8 + self.sparse.weight()
    }
}

/// Sets stay far below 2^32 rows and words: a lot of that size has no room in a node.
fn position(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
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
        let sets = Sets::build(1000, 301, 200, &Multiples);
        assert!(matches!(sets.rows(2), Rows::Dense(_)));
        assert!(matches!(sets.rows(199), Rows::Sparse(..)));
        assert!(matches!(sets.rows(300), Rows::Coded(_)));
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
