//! Ascending row numbers in about a byte each: the gaps between them in Rice code.
//!
//! Descriptions have many words; their rows are only ever read from the first to the last, so they can be packed
//! tighter than what is looked up in the middle. A gap is a number of zeros and a one for its upper part, then
//! the lower `k` bits as they are; `k` follows from how many of the rows are in the list.

use crate::bitset;

/// Lists of rows, one after the other in one run of bits.
#[derive(Debug, Default)]
pub(crate) struct Coder {
    words: Vec<u64>,
    end: usize,
}

/// A list to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodedList<'a> {
    pub(crate) words: &'a [u64],
    /// Its first bit.
    pub(crate) start: usize,
    /// How many rows it has.
    pub(crate) rows: u32,
    /// Bits of a gap that are written as they are; from [`low_bits`].
    pub(crate) low_bits: u32,
}

/// The number of low bits that makes lists of `rows` out of `all` shortest, or nearly so.
pub(crate) fn low_bits(rows: u32, all: usize) -> u32 {
    (all * 11 / 16 / rows.max(1) as usize).max(1).ilog2()
}

/// What such a list takes at most, in bits: the zeros of all gaps together cannot pass the last row.
pub(crate) fn bound(rows: u32, all: usize) -> usize {
    let low = low_bits(rows, all);
    rows as usize * (low as usize + 1) + (all >> low)
}

impl Coder {
    /// Where the next list begins.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Appends a list.
    pub(crate) fn push(&mut self, rows: &[u32], low_bits: u32) {
        let mut next = 0;
        for row in rows {
            let gap = row - next;
            next = row + 1;
            let mut zeros = gap >> low_bits;
            while zeros >= 32 {
                self.write(0, 32);
                zeros -= 32;
            }
            self.write(1 << zeros, zeros + 1);
            self.write(u64::from(gap) & ((1 << low_bits) - 1), low_bits);
        }
    }

    /// Appends up to 33 bits, the lowest first.
    fn write(&mut self, bits: u64, count: u32) {
        let (word, shift) = (self.end / 64, self.end % 64);
        self.end += count as usize;
        if self.words.len() * 64 < self.end {
            self.words.push(0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= bits << shift;
        }
        if shift + count as usize > 64
            && let Some(word) = self.words.get_mut(word + 1)
        {
            *word |= bits >> (64 - shift);
        }
    }

    /// All of it.
    pub(crate) fn finish(self) -> Box<[u64]> {
        self.words.into()
    }
}

impl CodedList<'_> {
    /// Visits the rows, ascending.
    pub(crate) fn each(&self, mut visit: impl FnMut(u32)) {
        let mut at = self.start;
        let mut next = 0;
        for _ in 0..self.rows {
            let mut zeros = 0;
            let mut bits = bitset::peek(self.words, at);
            while bits == 0 {
                // Past the end there is nothing to read; a list that `Coder` wrote does not get there.
                if at / 64 >= self.words.len() {
                    return;
                }
                zeros += 64;
                at += 64;
                bits = bitset::peek(self.words, at);
            }
            let run = bits.trailing_zeros();
            zeros += run;
            at += run as usize + 1;
            let low = if run + 1 + self.low_bits <= 64 {
                bits.unbounded_shr(run + 1)
            } else {
                bitset::peek(self.words, at)
            };
            let low = low & ((1 << self.low_bits) - 1);
            at += self.low_bits as usize;
            #[expect(clippy::cast_possible_truncation, reason = "fewer than 32 bits were kept")]
            let row = next + (zeros << self.low_bits | low as u32);
            visit(row);
            next = row + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_they_were() {
        let all = 100_000;
        let lists: Vec<Vec<u32>> = vec![
            vec![],
            vec![0],
            vec![99_999],
            (0..all).collect(),
            (0..all).step_by(2).collect(),
            (0..all).step_by(997).collect(),
            // Far from even: the low bits fit neither end.
            (0..300).chain(99_000..99_400).collect(),
            vec![1, 2, 3, 50_000, 99_998, 99_999],
        ];
        let mut coder = Coder::default();
        let mut starts = Vec::new();
        for list in &lists {
            starts.push(coder.end());
            coder.push(list, low_bits(list.len() as u32, all as usize));
            assert!(coder.end() - starts.last().unwrap() <= bound(list.len() as u32, all as usize));
        }
        let words = coder.finish();
        for (list, start) in lists.iter().zip(starts) {
            let rows = list.len() as u32;
            let coded = CodedList { words: &words, start, rows, low_bits: low_bits(rows, all as usize) };
            let mut read = Vec::new();
            coded.each(|row| read.push(row));
            assert_eq!(&read, list);
        }
    }
}
