//! A field that units are ordered or bounded by: a code for every row, and the rows sorted by it.
//!
//! Codes are dense ranks of the values, so that comparing codes is comparing values. Rows without a value have
//! the code past the last and are not in the order; they follow it in both directions.

use std::ops::Range;

use crate::bitset::{self, Bits};
use crate::packed::Packed;
use crate::values::{Moment, Ordered, Values};

/// Bitsets kept along the order of a field that can be bounded.
const STEPS: usize = 16;
/// Below this many units setting bits one by one is as quick.
const STEPS_FROM: usize = 256;

/// One field.
#[derive(Debug)]
pub(crate) struct Column {
    rows: usize,
    /// How many distinct values there are; also the code of rows that have none.
    card: u32,
    codes: Packed,
    /// Rows with a value by (code, row).
    order: Packed,
    /// Rows with a value.
    has: Bits,
    values: Values,
    steps: Option<Steps>,
}

/// The rows before every `every`-th position of the order.
#[derive(Debug)]
struct Steps {
    every: usize,
    bits: Box<[Bits]>,
}

impl Column {
    /// A field that is only sorted by, and whose values are known elsewhere.
    pub(crate) fn sorted<T: Ord + Copy>(keys: &[Option<T>]) -> Column {
        Self::rank(keys).0
    }

    /// A field of whole numbers that is only sorted by.
    pub(crate) fn listed(keys: &[Option<i64>]) -> Column {
        let (column, values) = Self::rank(keys);
        column.with(Values::of_whole(values), false)
    }

    /// A field of points in time that is only sorted by.
    pub(crate) fn moments(keys: &[Option<Moment>]) -> Column {
        let (column, values) = Self::rank(keys);
        column.with(Values::of_moments(&values), false)
    }

    /// A whole-number field that is bounded and whose extremes are told.
    pub(crate) fn whole(keys: &[Option<i64>]) -> Column {
        let (column, values) = Self::rank(keys);
        column.with(Values::of_whole(values), true)
    }

    /// The same for numbers that may have a fraction. What is not finite counts as missing.
    pub(crate) fn real(keys: &[Option<f64>]) -> Column {
        let (column, values) = Self::rank(&ordered(keys));
        column.with(Values::Real(values.into_iter().map(|v| v.0).collect()), true)
    }

    /// With its values; `bounded` says whether the field is bounded.
    pub(crate) fn with(mut self, values: Values, bounded: bool) -> Column {
        self.values = values;
        self.steps = if bounded { Steps::build(&self) } else { None };
        self
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "row numbers are below 2^32, Snapshot::build sees to it"
    )]
    fn rank<T: Ord + Copy>(keys: &[Option<T>]) -> (Column, Vec<T>) {
        let mut keyed: Vec<(T, u32)> =
            keys.iter().enumerate().filter_map(|(row, key)| Some(((*key)?, row as u32))).collect();
        keyed.sort_unstable();
        let mut values: Vec<T> = Vec::new();
        let mut codes = vec![u32::MAX; keys.len()];
        let mut has = Bits::empty(keys.len());
        for (key, row) in &keyed {
            if values.last() != Some(key) {
                values.push(*key);
            }
            if let Some(code) = codes.get_mut(*row as usize) {
                *code = values.len() as u32 - 1;
            }
            has.insert(*row);
        }
        let order: Vec<u32> = keyed.iter().map(|(_, row)| *row).collect();
        (Self::of_parts(values.len() as u32, codes, &order, has), values)
    }

    /// From the codes (any large one where there is none) and the order of the rows.
    pub(crate) fn of_parts(card: u32, mut codes: Vec<u32>, order: &[u32], has: Bits) -> Column {
        let rows = codes.len();
        for code in &mut codes {
            *code = (*code).min(card);
        }
        Column {
            rows,
            card,
            // A field that no unit has takes no room: a row past the end reads as one without a value.
            codes: Packed::pack(if order.is_empty() { &[] } else { &codes }),
            order: Packed::pack(order),
            has,
            values: Values::Unknown,
            steps: None,
        }
    }

    /// The code of a row; rows without a value have [`Column::card`].
    #[inline]
    pub(crate) fn code(&self, row: u32) -> u32 {
        self.codes.get(row as usize).unwrap_or(self.card)
    }

    /// How many distinct values there are.
    pub(crate) fn card(&self) -> u32 {
        self.card
    }

    /// Rows that have a value.
    pub(crate) fn has(&self) -> &Bits {
        &self.has
    }

    /// The rows with a value, by (code, row).
    pub(crate) fn order(&self) -> &Packed {
        &self.order
    }

    /// The distinct values behind the codes.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// Keeps the rows whose code is in `codes`.
    pub(crate) fn restrict(&self, bits: &mut Option<Bits>, codes: &Range<u32>) {
        if let Some(bits) = bits {
            if codes.is_empty() {
                *bits = Bits::empty(self.rows);
                return;
            }
            if bits.count() <= self.rows / 32 {
                bits.retain(|row| codes.contains(&self.code(row)));
                return;
            }
        }
        let within = self.within(codes);
        match bits {
            Some(bits) => bits.and(within.words()),
            None => *bits = Some(within),
        }
    }

    /// The rows whose code is in `codes`.
    fn within(&self, codes: &Range<u32>) -> Bits {
        if codes.is_empty() {
            return Bits::empty(self.rows);
        }
        let start = self.start_of(codes.start);
        let end = self.start_of(codes.end);
        if end - start < self.order.len() / STEPS {
            let mut bits = Bits::empty(self.rows);
            self.order.each(start..end, |row| bits.insert(row));
            return bits;
        }
        let mut bits = self.before(end);
        if start > 0 {
            bits.and_not(self.before(start).words());
        }
        bits
    }

    /// The rows before a position of the order.
    fn before(&self, position: usize) -> Bits {
        let keyed = self.order.len();
        if position == keyed {
            return self.has.clone();
        }
        let Some(steps) = &self.steps else {
            let mut bits = Bits::empty(self.rows);
            self.order.each(0..position, |row| bits.insert(row));
            return bits;
        };
        let nearest = (position + steps.every / 2) / steps.every;
        let mut bits = match nearest.checked_sub(1) {
            None => Bits::empty(self.rows),
            Some(step) => steps.bits.get(step).unwrap_or(&self.has).clone(),
        };
        let reached = (nearest * steps.every).min(keyed);
        if reached <= position {
            self.order.each(reached..position, |row| bits.insert(row));
        } else {
            self.order.each(position..reached, |row| bits.remove(row));
        }
        bits
    }

    /// Where the rows of a code begin in the order.
    pub(crate) fn start_of(&self, code: u32) -> usize {
        match code {
            0 => 0,
            _ if code >= self.card => self.order.len(),
            _ => self.order.partition(0..self.order.len(), |row| self.code(row) < code),
        }
    }

    /// Where a row that has a value stands in the order.
    pub(crate) fn place_of(&self, row: u32) -> usize {
        let wanted = (self.code(row), row);
        self.order.partition(0..self.order.len(), |other| (self.code(other), other) < wanted)
    }

    /// The positions of the order that hold `codes`; all of them where nothing is asked.
    pub(crate) fn span(&self, codes: Option<&Range<u32>>) -> Range<usize> {
        match codes {
            None => 0..self.order.len(),
            Some(codes) if codes.is_empty() => 0..0,
            Some(codes) => self.start_of(codes.start)..self.start_of(codes.end),
        }
    }

    /// Where the run of equal codes begins that ends before `end`.
    pub(crate) fn run_start(&self, end: usize) -> usize {
        let code_at = |at: usize| self.order.get(at).map_or(0, |row| self.code(row));
        let Some(last) = end.checked_sub(1) else { return 0 };
        let code = code_at(last);
        // Runs are mostly short, and now and then half the lot: reach back in growing steps.
        let (mut reach, mut high) = (1, last);
        while high > 0 {
            let low = high.saturating_sub(reach);
            if code_at(low) < code {
                return if reach == 1 {
                    high
                } else {
                    self.order.partition(low..high, |row| self.code(row) < code)
                };
            }
            high = low;
            reach *= 2;
        }
        0
    }

    /// The smallest and the largest code among `bits`, of which there are `count`, all with a code of `codes`.
    pub(crate) fn extremes(
        &self,
        bits: &Bits,
        count: usize,
        codes: Option<&Range<u32>>,
    ) -> Option<(u32, u32)> {
        let keyed = self.order.len();
        if keyed == 0 || (keyed < self.rows && bitset::and_count(bits.words(), self.has.words()) == 0) {
            return None;
        }
        let span = self.span(codes);
        // The ends of the order tell at once unless the rows there are just those left out.
        let reach = count.max(64).min(span.len());
        let (mut first, mut last) = (None, None);
        let note = |row: u32, found: &mut Option<u32>| {
            if bits.has(row) {
                *found = Some(row);
            }
            found.is_none()
        };
        self.order.visit(span.start..span.start + reach, |row| note(row, &mut first));
        if first.is_none() && reach == span.len() {
            return None;
        }
        self.order.visit_back(span.end - reach..span.end, |row| note(row, &mut last));
        if let (Some(first), Some(last)) = (first, last) {
            return Some((self.code(first), self.code(last)));
        }
        let (mut low, mut high) = (self.card, None);
        bits.each(|row| {
            let code = self.code(row);
            if code < self.card {
                low = low.min(code);
                high = high.max(Some(code));
            }
        });
        high.map(|high| (low, high))
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        let steps = self.steps.as_ref().map_or(0, |steps| steps.bits.len() * self.has.weight());
        self.codes.weight() + self.order.weight() + self.has.weight() + self.values.weight() + steps
    }
}

/// Numbers that may have a fraction, as they are compared.
pub(crate) fn ordered(keys: &[Option<f64>]) -> Vec<Option<Ordered>> {
    keys.iter().map(|key| key.filter(|v| v.is_finite()).map(Ordered)).collect()
}

impl Steps {
    fn build(column: &Column) -> Option<Steps> {
        let keyed = column.order.len();
        if keyed < STEPS_FROM {
            return None;
        }
        let every = keyed.div_ceil(STEPS);
        let mut bits = Bits::empty(column.rows);
        let mut steps = Vec::with_capacity(STEPS);
        for step in 0..keyed / every {
            column.order.each(step * every..(step + 1) * every, |row| bits.insert(row));
            steps.push(bits.clone());
        }
        Some(Steps { every, bits: steps.into() })
    }
}
