//! Where the rows of one version are in the next.

use crate::bitset::{self, Bits, WORD};
use crate::dictionary::NONE;

/// Rows that keep their neighbours: `len` rows from `from` on are those from `to` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) len: u32,
}

/// An order-preserving map of row numbers, as the runs of rows that moved together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pieces {
    runs: Box<[Piece]>,
}

impl Pieces {
    /// The map of a table in which rows that are gone have [`NONE`].
    pub(crate) fn of(table: &[u32]) -> Pieces {
        let mut runs: Vec<Piece> = Vec::new();
        for (from, to) in (0_u32..).zip(table).filter(|(_, to)| **to != NONE) {
            match runs.last_mut() {
                Some(run) if run.from + run.len == from && run.to + run.len == *to => run.len += 1,
                _ => runs.push(Piece { from, to: *to, len: 1 }),
            }
        }
        Pieces { runs: runs.into() }
    }

    /// The map that leaves `rows` rows where they are.
    pub(crate) fn still(rows: usize) -> Pieces {
        let len = u32::try_from(rows).unwrap_or(NONE);
        let run = (len > 0).then_some(Piece { from: 0, to: 0, len });
        Pieces { runs: run.into_iter().collect() }
    }

    /// Whether `rows` rows all stay where they are, as the only ones of `others` rows.
    pub(crate) fn is_still(&self, rows: usize, others: usize) -> bool {
        rows == others
            && (rows == 0
                || self
                    .runs
                    .first()
                    .is_some_and(|run| run.from == 0 && run.to == 0 && run.len as usize == rows))
    }

    /// The runs, ascending.
    pub(crate) fn runs(&self) -> &[Piece] {
        &self.runs
    }

    /// This map and then that of `table`, in which rows that are gone have [`NONE`].
    pub(crate) fn then(&self, table: &[u32]) -> Pieces {
        let mut runs: Vec<Piece> = Vec::new();
        for run in &self.runs {
            let part = table.get(run.to as usize..(run.to + run.len) as usize).unwrap_or_default();
            for (from, to) in (run.from..).zip(part).filter(|(_, to)| **to != NONE) {
                match runs.last_mut() {
                    Some(run) if run.from + run.len == from && run.to + run.len == *to => run.len += 1,
                    _ => runs.push(Piece { from, to: *to, len: 1 }),
                }
            }
        }
        Pieces { runs: runs.into() }
    }

    /// Adds to `there` the rows of `here`, where they are now.
    pub(crate) fn push(&self, here: &[u64], there: &mut Bits) {
        // Few rows are quicker to follow one by one than many runs.
        if self.runs.len() > 16 && bitset::count(here) < self.runs.len() / 4 {
            bitset::each(here, |from| {
                let run = self.runs.partition_point(|run| run.from <= from).checked_sub(1);
                if let Some(run) =
                    run.and_then(|run| self.runs.get(run)).filter(|run| from - run.from < run.len)
                {
                    there.insert(run.to + (from - run.from));
                }
            });
            return;
        }
        for run in &self.runs {
            copy_bits(here, run.from as usize, there.words_mut(), run.to as usize, run.len as usize);
        }
    }

    /// The rows, of `rows`, that are now in `there`.
    pub(crate) fn pull(&self, there: &[u64], rows: usize) -> Bits {
        let mut here = Bits::empty(rows);
        if self.runs.len() > 16 && bitset::count(there) < self.runs.len() / 4 {
            bitset::each(there, |to| {
                let run = self.runs.partition_point(|run| run.to <= to).checked_sub(1);
                if let Some(run) = run.and_then(|run| self.runs.get(run)).filter(|run| to - run.to < run.len)
                {
                    here.insert(run.from + (to - run.to));
                }
            });
            return here;
        }
        for run in &self.runs {
            copy_bits(there, run.to as usize, here.words_mut(), run.from as usize, run.len as usize);
        }
        here
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        size_of_val::<[_]>(&self.runs)
    }
}

/// Adds `len` bits of `from`, from the bit `start` on, to `to` from the bit `at` on.
fn copy_bits(from: &[u64], mut start: usize, to: &mut [u64], mut at: usize, mut len: usize) {
    let mut few = |start: usize, at: usize, count: usize| {
        let bits = bitset::peek(from, start) & (u64::MAX >> (WORD - count));
        if let Some(word) = to.get_mut(at / WORD) {
            *word |= bits << (at % WORD);
        }
    };
    let head = (WORD - at % WORD) % WORD;
    if head > 0 {
        let count = head.min(len);
        few(start, at, count);
        (start, at, len) = (start + count, at + count, len - count);
    }
    let (whole, rest) = (len / WORD, len % WORD);
    if rest > 0 {
        few(start + whole * WORD, at + whole * WORD, rest);
    }
    if whole > 0 {
        let to = to.get_mut(at / WORD..at / WORD + whole).unwrap_or_default();
        let from = from.get(start / WORD..).unwrap_or_default();
        let shift = start % WORD;
        if shift == 0 {
            to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
        } else {
            let later = from.get(1..).unwrap_or_default();
            for ((to, first), second) in to.iter_mut().zip(from).zip(later) {
                *to |= first >> shift | second << (WORD - shift);
            }
        }
    }
}

/// How the rows of one version became those of the next. Rows whose unit changed are not kept, they are fresh.
#[derive(Debug)]
pub(crate) struct Shift {
    /// How many rows there are.
    pub(crate) rows: usize,
    /// Where the unit of each row is now; [`NONE`] if it left.
    pub(crate) units: Vec<u32>,
    /// The same, but [`NONE`] also for units that changed.
    pub(crate) kept: Vec<u32>,
    /// The runs of `kept`.
    pub(crate) pieces: Pieces,
    /// Rows that are not kept from before.
    pub(crate) left: Vec<u32>,
    /// The new or changed units' rows now, ascending, each with its row before if it had one.
    pub(crate) fresh: Vec<(u32, Option<u32>)>,
    /// Whether any unit has another row than before, or came or left.
    pub(crate) moved: bool,
}

impl Shift {
    /// From the units that left (rows before, ascending) and the fresh ones: in the order of their ids, each with
    /// its row before if it had one, else with the row before which it stands.
    pub(crate) fn new(before: usize, gone: &[u32], fresh: &[Result<u32, u32>]) -> Shift {
        let mut units = Vec::with_capacity(before);
        let mut left = Vec::with_capacity(gone.len() + fresh.len());
        let mut now = Vec::with_capacity(fresh.len());
        let mut next = 0_u32;
        let (mut gone, mut coming) = (gone.iter().copied().peekable(), fresh.iter().copied().peekable());
        for row in 0..=u32::try_from(before).unwrap_or(NONE) {
            while coming.next_if_eq(&Err(row)).is_some() {
                now.push((next, None));
                next += 1;
            }
            if row as usize == before {
                break;
            }
            if gone.next_if_eq(&row).is_some() {
                units.push(NONE);
                left.push(row);
                continue;
            }
            if coming.next_if_eq(&Ok(row)).is_some() {
                now.push((next, Some(row)));
                left.push(row);
            }
            units.push(next);
            next += 1;
        }
        let mut kept = units.clone();
        for row in &left {
            if let Some(kept) = kept.get_mut(*row as usize) {
                *kept = NONE;
            }
        }
        let rows = next as usize;
        let moved = rows != before || now.iter().any(|(_, old)| old.is_none());
        let pieces = Pieces::of(&kept);
        Shift { rows, units, kept, pieces, left, fresh: now, moved }
    }

    /// A set of rows before as one of rows now, without those that left or changed.
    pub(crate) fn bits(&self, before: &[u64]) -> Bits {
        let mut now = Bits::empty(self.rows);
        self.pieces.push(before, &mut now);
        now
    }

    /// Where a row is that neither left nor changed.
    #[inline]
    pub(crate) fn kept(&self, row: u32) -> Option<u32> {
        self.kept.get(row as usize).copied().filter(|row| *row != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_go_where_their_rows_go() {
        let table: Vec<u32> = (0..500_u32)
            .map(|row| match row {
                3 | 64 | 65 | 127 => NONE,
                0..100 => row + 7,
                100..300 => row + 70,
                _ if row % 9 == 0 => NONE,
                _ => row + 71,
            })
            .collect();
        let pieces = Pieces::of(&table);
        let mut here = Bits::empty(500);
        (0..500).filter(|row| row % 3 == 0).for_each(|row| here.insert(row));
        let mut there = Bits::empty(600);
        pieces.push(here.words(), &mut there);
        let mut rows = Vec::new();
        there.each(|row| rows.push(row));
        let expected: Vec<u32> = (0..500)
            .filter(|row| row % 3 == 0)
            .map(|row| table[row as usize])
            .filter(|row| *row != NONE)
            .collect();
        assert_eq!(rows, expected);
        for few in [0, 6, 64, 99, 498] {
            let mut one = Bits::empty(500);
            one.insert(few);
            let mut now = Bits::empty(600);
            pieces.push(one.words(), &mut now);
            assert_eq!(
                (now.count(), pieces.to(few).map(|to| now.has(to))),
                match pieces.to(few) {
                    Some(_) => (1, Some(true)),
                    None => (0, None),
                }
            );
            assert_eq!(pieces.pull(now.words(), 500).has(few), pieces.to(few).is_some());
        }
        let back = pieces.pull(there.words(), 500);
        for row in 0..500 {
            assert_eq!(back.has(row), row % 3 == 0 && table[row as usize] != NONE);
            assert_eq!(pieces.to(row), Some(table[row as usize]).filter(|row| *row != NONE));
        }
        let twice = pieces.then(&Pieces::of(&table).table(600));
        assert!((0..500).all(|row| twice.to(row) == pieces.to(row).and_then(|row| pieces.to(row))));
        assert!(
            Pieces::still(9).is_still(9, 9) && Pieces::still(0).is_still(0, 0) && !pieces.is_still(500, 500)
        );
    }

    impl Pieces {
        fn to(&self, from: u32) -> Option<u32> {
            let run = self.runs.iter().find(|run| (run.from..run.from + run.len).contains(&from))?;
            Some(run.to + (from - run.from))
        }

        fn table(&self, rows: u32) -> Vec<u32> {
            (0..rows).map(|row| self.to(row).unwrap_or(NONE)).collect()
        }
    }

    #[test]
    fn units_come_leave_and_change_at_either_end() {
        let shift = Shift::new(4, &[0], &[Err(0), Ok(2), Err(4), Err(4)]);
        assert_eq!(shift.units, [NONE, 1, 2, 3]);
        assert_eq!(shift.kept, [NONE, 1, NONE, 3]);
        assert_eq!(shift.left, [0, 2]);
        assert_eq!(shift.fresh, [(0, None), (2, Some(2)), (4, None), (5, None)]);
        assert!(shift.moved && shift.rows == 6);
        let all = Shift::new(2, &[0, 1], &[]);
        assert_eq!((all.rows, all.moved), (0, true));
        assert!(!Shift::new(2, &[], &[Ok(1)]).moved);
        assert_eq!(Shift::new(0, &[], &[Err(0)]).fresh, [(0, None)]);
    }
}
