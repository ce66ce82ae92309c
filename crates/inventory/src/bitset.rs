//! Sets of rows, one bit a row. Bits past the last row are always zero.

/// Rows in one word.
pub(crate) const WORD: usize = 64;

/// A set of rows that a query works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

/// Words that `rows` rows need.
pub(crate) fn words(rows: usize) -> usize {
    rows.div_ceil(WORD)
}

#[expect(clippy::cast_possible_truncation, reason = "row numbers are below 2^32, Snapshot::build sees to it")]
fn row_of(word: usize, bit: u32) -> u32 {
    (word * WORD) as u32 + bit
}

impl Bits {
    /// No row of `rows`.
    pub(crate) fn empty(rows: usize) -> Bits {
        Bits { words: vec![0; words(rows)] }
    }

    /// All of `rows` rows.
    pub(crate) fn full(rows: usize) -> Bits {
        let mut all = vec![u64::MAX; words(rows)];
        if let (Some(last), used @ 1..) = (all.last_mut(), rows % WORD) {
            *last = (1 << used) - 1;
        }
        Bits { words: all }
    }

    /// No row, of as many as this set is over.
    pub(crate) fn emptied(&self) -> Bits {
        Bits { words: vec![0; self.words.len()] }
    }

    /// A copy of stored words.
    pub(crate) fn copied(words: &[u64]) -> Bits {
        Bits { words: words.to_vec() }
    }

    /// The words themselves.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words themselves, to be changed; bits past the last row must stay zero.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Takes a row in.
    #[inline]
    pub(crate) fn insert(&mut self, row: u32) {
        if let Some(word) = self.words.get_mut(row as usize / WORD) {
            *word |= 1 << (row as usize % WORD);
        }
    }

    /// Leaves a row out.
    #[inline]
    pub(crate) fn remove(&mut self, row: u32) {
        if let Some(word) = self.words.get_mut(row as usize / WORD) {
            *word &= !(1 << (row as usize % WORD));
        }
    }

    /// Whether a row is in it.
    #[inline]
    pub(crate) fn has(&self, row: u32) -> bool {
        has(&self.words, row)
    }

    /// Keeps what is also in `other`.
    pub(crate) fn and(&mut self, other: &[u64]) {
        for (mine, theirs) in self.words.iter_mut().zip(other) {
            *mine &= theirs;
        }
    }

    /// Keeps what is not in `other`.
    pub(crate) fn and_not(&mut self, other: &[u64]) {
        for (mine, theirs) in self.words.iter_mut().zip(other) {
            *mine &= !theirs;
        }
    }

    /// Adds what is in `other`.
    pub(crate) fn or(&mut self, other: &[u64]) {
        for (mine, theirs) in self.words.iter_mut().zip(other) {
            *mine |= theirs;
        }
    }

    /// Whether every row of this set is in `other`.
    pub(crate) fn within(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// How many rows are in it.
    pub(crate) fn count(&self) -> usize {
        count(&self.words)
    }

    /// Visits the rows, ascending.
    #[inline]
    pub(crate) fn each(&self, mut visit: impl FnMut(u32)) {
        each(&self.words, &mut visit);
    }

    /// Keeps the rows for which `keep` says yes.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keep(row_of(at, bit)) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Visits the rows from `from` on that are not in `without`, ascending, until `visit` says no.
    pub(crate) fn visit_without(&self, from: usize, without: &Bits, mut visit: impl FnMut(u32) -> bool) {
        let first = from / WORD;
        let pairs = self.words.iter().zip(&without.words).enumerate().skip(first);
        for (at, (mine, theirs)) in pairs {
            let mut left = mine & !theirs;
            if at == first {
                left &= u64::MAX << (from % WORD);
            }
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !visit(row_of(at, bit)) {
                    return;
                }
            }
        }
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        self.words.len() * 8
    }

    /// The rows of `rows` that are not in it.
    pub(crate) fn complement(&self, rows: usize) -> Bits {
        let mut rest = Bits::full(rows);
        rest.and_not(&self.words);
        rest
    }
}

/// The 64 bits from `at` on; past the end they are zero.
#[inline]
pub(crate) fn peek(words: &[u64], at: usize) -> u64 {
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let (first, shift) = (at / WORD, at % WORD);
    if shift == 0 { word(first) } else { word(first) >> shift | word(first + 1) << (WORD - shift) }
}

/// Whether a row is in a stored set.
#[inline]
pub(crate) fn has(words: &[u64], row: u32) -> bool {
    words.get(row as usize / WORD).is_some_and(|word| word >> (row as usize % WORD) & 1 == 1)
}

/// Visits the rows of a stored set, ascending.
#[inline]
pub(crate) fn each(words: &[u64], mut visit: impl FnMut(u32)) {
    for (at, word) in words.iter().enumerate() {
        each_bit(at, *word, &mut visit);
    }
}

/// Visits the rows of one word.
#[inline]
fn each_bit(at: usize, mut word: u64, visit: &mut impl FnMut(u32)) {
    while word != 0 {
        visit(row_of(at, word.trailing_zeros()));
        word &= word - 1;
    }
}

#[inline(always)]
fn count_body(a: &[u64]) -> usize {
    a.iter().map(|w| w.count_ones() as usize).sum()
}

#[inline(always)]
fn and_count_body(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(x, y)| (x & y).count_ones() as usize).sum()
}

/// How many rows a set has.
pub(crate) fn count(a: &[u64]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if wide() {
        // SAFETY: `wide` has found the instructions on this processor.
        return unsafe { x86::count(a) };
    }
    count_body(a)
}

/// How many rows two sets share.
pub(crate) fn and_count(a: &[u64], b: &[u64]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if wide() {
        // SAFETY: `wide` has found the instructions on this processor.
        return unsafe { x86::and_count(a, b) };
    }
    and_count_body(a, b)
}

#[cfg(target_arch = "x86_64")]
fn wide() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
}

/// The same loops, compiled for processors that count bits in hardware: the baseline of x86-64 does not, and
/// facets are mostly counting.
#[cfg(target_arch = "x86_64")]
mod x86 {
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn count(a: &[u64]) -> usize {
        super::count_body(a)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn and_count(a: &[u64], b: &[u64]) -> usize {
        super::and_count_body(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bits: &Bits) -> Vec<u32> {
        let mut rows = Vec::new();
        bits.each(|row| rows.push(row));
        rows
    }

    #[test]
    fn a_full_set_ends_at_the_last_row() {
        for n in [0, 1, 63, 64, 65, 130] {
            assert_eq!(Bits::full(n).count(), n);
            assert_eq!(rows(&Bits::full(n)).len(), n);
            assert_eq!(Bits::full(n).complement(n), Bits::empty(n));
        }
    }

    #[test]
    fn sets_combine_like_sets() {
        let (mut a, mut b) = (Bits::empty(200), Bits::empty(200));
        for row in 0..200 {
            if row % 2 == 0 {
                a.insert(row);
            }
            if row % 3 == 0 {
                b.insert(row);
            }
        }
        assert_eq!(and_count(a.words(), b.words()), 34);
        assert_eq!(and_count_body(a.words(), b.words()), 34);
        assert_eq!(count_body(a.words()), a.count());
        let mut both = a.clone();
        both.and(b.words());
        assert!(both.within(&a) && both.within(&b) && !a.within(&b));
        let mut only = a.clone();
        only.and_not(b.words());
        assert_eq!(only.count() + both.count(), a.count());
        both.retain(|row| row >= 100);
        assert_eq!(rows(&both).first(), Some(&102));
        both.remove(102);
        assert_eq!(rows(&both).first(), Some(&108));
        let mut seen = Vec::new();
        a.visit_without(65, &b, |row| {
            seen.push(row);
            seen.len() < 3
        });
        assert_eq!(seen, [68, 70, 74]);
    }
}
