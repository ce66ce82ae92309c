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
    places: Places,
    dense: Box<[u64]>,
    sparse: Packed,
    coded: Box<[u64]>,
}

/// Where the rows of each term begin (in words, rows or bits) and how many they are.
#[derive(Debug)]
enum Places {
    Narrow(Box<[Place]>),
    /// Lists in code pass 2^32 bits in a lot of some million long descriptions.
    Wide(Box<[(usize, u32)]>),
}

#[derive(Debug, Clone, Copy)]
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
    /// Visits all of them, ascending.
    pub(crate) fn each(&self, mut visit: impl FnMut(u32)) {
        match self {
            Rows::Dense(words) => bitset::each(words, visit),
            listed => listed.each_listed(&mut visit),
        }
    }

    /// Whether a row is one of them.
    pub(crate) fn has(&self, row: u32) -> bool {
        match self {
            Rows::Dense(words) => bitset::has(words, row),
            Rows::Sparse(list, range) => {
                let place = list.partition(range.clone(), |other| other < row);
                place < range.end && list.get(place) == Some(row)
            }
            Rows::Coded(list) => {
                let mut found = false;
                list.each(|other| found |= other == row);
                found
            }
        }
    }

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

/// Takes the rows of one term after the other.
#[derive(Debug)]
pub(crate) struct SetsBuilder {
    shape: Shape,
    places: Vec<(usize, u32)>,
    dense: Vec<u64>,
    sparse: Vec<u32>,
    coded: Coder,
}

impl SetsBuilder {
    /// Over `rows` rows. Terms from `coded_from` on are packed tighter.
    pub(crate) fn new(rows: usize, coded_from: usize) -> SetsBuilder {
        SetsBuilder {
            shape: Shape { rows, coded_from },
            places: Vec::new(),
            dense: Vec::new(),
            sparse: Vec::new(),
            coded: Coder::default(),
        }
    }

    /// Whether so many rows of the next term are kept as a bitset.
    pub(crate) fn is_dense(&self, rows: u32) -> bool {
        matches!(self.shape.kind(self.places.len(), rows), Kind::Dense)
    }

    /// The rows of the next term, ascending.
    pub(crate) fn push(&mut self, list: &[u32]) {
        let rows = u32::try_from(list.len()).unwrap_or(u32::MAX);
        let start = match self.shape.kind(self.places.len(), rows) {
            Kind::Dense => {
                let start = self.dense.len();
                self.dense.resize(start + bitset::words(self.shape.rows), 0);
                for row in list {
                    if let Some(word) = self.dense.get_mut(start + *row as usize / bitset::WORD) {
                        *word |= 1 << (*row as usize % bitset::WORD);
                    }
                }
                start
            }
            Kind::Sparse => {
                self.sparse.extend_from_slice(list);
                self.sparse.len() - list.len()
            }
            Kind::Coded => {
                let start = self.coded.end();
                self.coded.push(list, coded::low_bits(rows, self.shape.rows));
                start
            }
        };
        self.places.push((start, rows));
    }

    /// The rows of the next term, as many as [`SetsBuilder::is_dense`] has said yes to.
    pub(crate) fn push_bits(&mut self, bits: &Bits, rows: u32) {
        self.places.push((self.dense.len(), rows));
        self.dense.extend_from_slice(bits.words());
    }

    /// All terms.
    pub(crate) fn finish(self) -> Sets {
        Sets {
            shape: self.shape,
            places: Places::pack(&self.places, u32::MAX as usize),
            dense: self.dense.into(),
            sparse: Packed::pack(&self.sparse),
            coded: self.coded.finish(),
        }
    }
}

impl Places {
    /// `narrow` is the largest start that the narrow ones hold.
    fn pack(places: &[(usize, u32)], narrow: usize) -> Places {
        if places.iter().all(|place| place.0 <= narrow) {
            let place = |(start, rows): &(usize, u32)| Place {
                start: u32::try_from(*start).unwrap_or(u32::MAX),
                rows: *rows,
            };
            Places::Narrow(places.iter().map(place).collect())
        } else {
            Places::Wide(places.into())
        }
    }

    /// Where the rows of a term start, and how many they are.
    #[inline]
    fn get(&self, term: usize) -> (usize, u32) {
        match self {
            Places::Narrow(all) => all.get(term).map(|place| (place.start as usize, place.rows)),
            Places::Wide(all) => all.get(term).copied(),
        }
        .unwrap_or_default()
    }
}

impl Sets {
    /// Sets for `terms` terms over `rows` rows. Those from `coded_from` on are packed tighter.
    pub(crate) fn build(rows: usize, terms: usize, coded_from: usize, pairs: &impl Pairs) -> Sets {
        let shape = Shape { rows, coded_from };
        let words = bitset::words(rows);
        let mut places = vec![(0_usize, 0_u32); terms];
        pairs.each(|term, _| {
            if let Some(place) = places.get_mut(term as usize) {
                place.1 += 1;
            }
        });
        // Lists that are to be coded are collected first.
        let (mut dense_end, mut sparse_end, mut loose_end) = (0, 0, 0);
        for (term, place) in places.iter_mut().enumerate() {
            let (end, room) = match shape.kind(term, place.1) {
                Kind::Dense => (&mut dense_end, words),
                Kind::Sparse => (&mut sparse_end, place.1 as usize),
                Kind::Coded => (&mut loose_end, place.1 as usize),
            };
            place.0 = *end;
            *end += room;
        }
        let mut dense = vec![0_u64; dense_end].into_boxed_slice();
        let mut sparse = vec![0_u32; sparse_end];
        let mut loose = vec![0_u32; loose_end];
        let mut next: Vec<usize> = places.iter().map(|place| place.0).collect();
        pairs.each(|term, row| {
            let (Some(place), Some(next)) = (places.get(term as usize), next.get_mut(term as usize)) else {
                return;
            };
            let list = match shape.kind(term as usize, place.1) {
                Kind::Dense => {
                    if let Some(word) = dense.get_mut(place.0 + row as usize / bitset::WORD) {
                        *word |= 1 << (row as usize % bitset::WORD);
                    }
                    return;
                }
                Kind::Sparse => &mut sparse,
                Kind::Coded => &mut loose,
            };
            if let Some(slot) = list.get_mut(*next) {
                *slot = row;
                *next += 1;
            }
        });
        let mut coder = Coder::default();
        for (term, place) in places.iter_mut().enumerate().skip(coded_from) {
            if matches!(shape.kind(term, place.1), Kind::Coded) {
                let start = place.0;
                place.0 = coder.end();
                let list = loose.get(start..start + place.1 as usize).unwrap_or_default();
                coder.push(list, coded::low_bits(place.1, rows));
            }
        }
        let places = Places::pack(&places, u32::MAX as usize);
        Sets { shape, places, dense, sparse: Packed::pack(&sparse), coded: coder.finish() }
    }

    /// How many rows have the term.
    #[inline]
    pub(crate) fn len(&self, term: u32) -> u32 {
        self.places.get(term as usize).1
    }

    /// The rows that have the term.
    pub(crate) fn rows(&self, term: u32) -> Rows<'_> {
        let (start, rows) = self.places.get(term as usize);
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
        let places = match &self.places {
            Places::Narrow(all) => size_of_val::<[_]>(all),
            Places::Wide(all) => size_of_val::<[_]>(all),
        };
        places + (self.dense.len() + self.coded.len()) * 8 + self.sparse.weight()
    }
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
        let mut one_by_one = SetsBuilder::new(1000, 200);
        for term in 0..=300 {
            let list: Vec<u32> = (0..1000).filter(|row| term > 0 && row % term == 0).collect();
            if term % 2 == 0 && one_by_one.is_dense(list.len() as u32) {
                one_by_one.push_bits(&sets.rows(term).bits(1000), list.len() as u32);
            } else {
                one_by_one.push(&list);
            }
        }
        let one_by_one = one_by_one.finish();
        for term in 1..=300 {
            let mut bits = Bits::empty(1000);
            sets.rows(term).add_to(&mut bits);
            assert_eq!(bits.count(), sets.len(term) as usize);
            assert!((0..1000).all(|row| bits.has(row) == (row % term == 0)));
            let mut listed = Vec::new();
            one_by_one.rows(term).each(|row| listed.push(row));
            assert_eq!(listed, (0..1000).filter(|row| row % term == 0).collect::<Vec<_>>());
            assert!((0..1000).all(|row| sets.rows(term).has(row) == (row % term == 0)));
            let odd_multiples = (0..1000).filter(|row| row % term == 0 && row % 2 == 1).count();
            assert_eq!(sets.rows(term).count_in(&odd), odd_multiples);
        }
    }

    #[test]
    fn places_past_the_narrow_limit_are_kept_wide() {
        let all = [(0, 3), (70_000, 4), (70_001, u32::MAX)];
        assert!(matches!(Places::pack(&all, 70_001), Places::Narrow(_)));
        let wide = Places::pack(&all, 70_000);
        assert!(matches!(wide, Places::Wide(_)));
        let far = Places::pack(&[(u32::MAX as usize + 1, 9)], u32::MAX as usize);
        assert_eq!(far.get(0), (u32::MAX as usize + 1, 9));
        for places in [wide, Places::pack(&all, u32::MAX as usize)] {
            assert_eq!(
                (0..4).map(|term| places.get(term)).collect::<Vec<_>>(),
                [all[0], all[1], all[2], (0, 0)]
            );
        }
    }
}
