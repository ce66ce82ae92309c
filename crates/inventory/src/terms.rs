//! Every distinct value of the lot under one number: its text, the rows that have it, how it is told.
//!
//! Values of one field have neighbouring numbers in the field's order, so that a field is a range of numbers,
//! a sorted part of the texts, and a part of one array of counters.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::dictionary::NONE;
use crate::lines::{Lines, LinesBuilder};
use crate::sets::{Pairs, Sets};
use crate::source::Source;
use crate::spellings::{Other, Others};

/// Where a term comes from. Fields up to [`FACETED`] are counted by facets and have one value a unit; from
/// [`Field::Driveline`] on free text looks into them. The faceted ones are in the order of how many values they
/// usually have, which decides how they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Status,
    Condition,
    VehicleType,
    DcFastCharge,
    ChargePort,
    Rooftop,
    Driveline,
    Fuel,
    Body,
    Transmission,
    Year,
    Make,
    InteriorColor,
    ExteriorColor,
    Trim,
    Model,
    Features,
    Engine,
}

impl Field {
    /// In the order of their numbers.
    pub(crate) const ALL: [Field; FIELDS] = [
        Field::Status,
        Field::Condition,
        Field::VehicleType,
        Field::DcFastCharge,
        Field::ChargePort,
        Field::Rooftop,
        Field::Driveline,
        Field::Fuel,
        Field::Body,
        Field::Transmission,
        Field::Year,
        Field::Make,
        Field::InteriorColor,
        Field::ExteriorColor,
        Field::Trim,
        Field::Model,
        Field::Features,
        Field::Engine,
    ];
}

/// How many fields facets count.
pub(crate) const FACETED: usize = 16;
pub(crate) const FIELDS: usize = 18;

/// The terms of a lot.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Where the numbers of each field begin. A faceted field's first number means "has none".
    pub(crate) starts: [u32; FIELDS + 1],
    lines: Arc<Lines>,
    sets: Sets,
    cells: Cells,
    told: Arc<Told>,
    others: Others,
    /// What counting a field by its sets costs, in words read.
    costs: [usize; FACETED],
}

/// The term of every faceted field, a row at a time: counting a few rows then reads a few cache lines.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Fewer than 65,536 faceted terms.
    Narrow(Box<[[u16; FACETED]]>),
    /// More.
    Wide(Box<[[u32; FACETED]]>),
}

/// How a counted value begins in an answer, and what stands between it and its count.
const FRAME: (&[u8], &[u8]) = (b"{\"value\":", b",\"count\":");

/// Values as JSON, one after the other, each in its [`FRAME`].
#[derive(Debug, Default)]
pub(crate) struct Told {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Told {
    /// The next value; an empty one is no value.
    pub(crate) fn push(&mut self, value: &[u8]) {
        if !value.is_empty() {
            self.bytes.extend_from_slice(FRAME.0);
            self.bytes.extend_from_slice(value);
            self.bytes.extend_from_slice(FRAME.1);
        }
        self.ends.push(number(self.bytes.len()));
    }

    pub(crate) fn finish(mut self) -> Arc<Told> {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        Arc::new(self)
    }
}

struct Belongs<'a> {
    starts: &'a [u32; FIELDS + 1],
    source: &'a Source,
}

impl Belongs<'_> {
    fn start(&self, field: usize) -> u32 {
        self.starts.get(field).copied().unwrap_or(0)
    }
}

impl Pairs for Belongs<'_> {
    fn each(&self, mut visit: impl FnMut(u32, u32)) {
        for (field, dictionary) in self.source.faceted.iter().enumerate() {
            let start = self.start(field);
            for (row, code) in (0..).zip(&dictionary.codes) {
                // NONE wraps to the field's first number, which means just that.
                visit(start.wrapping_add(code.wrapping_add(1)), row);
            }
        }
        let start = self.start(Field::Engine as usize);
        for (row, code) in (0..).zip(&self.source.engine.codes) {
            if *code != NONE {
                visit(start + code, row);
            }
        }
        let start = self.start(Field::Features as usize);
        self.source.features.each(|value, row| visit(start + value, row));
    }
}

impl Terms {
    /// Terms of a lot of `rows` units.
    pub(crate) fn build(rows: usize, source: &Source) -> Terms {
        let mut starts = [0_u32; FIELDS + 1];
        let mut lines = LinesBuilder::default();
        let mut told = Told::default();
        let mut left = starts.iter_mut();
        let mut begin = |lines: &LinesBuilder| {
            if let Some(start) = left.next() {
                *start = number(lines.len());
            }
        };
        for (field, dictionary) in source.faceted.iter().enumerate() {
            begin(&lines);
            lines.push([]);
            told.push(b"");
            for term in &dictionary.terms {
                lines.push([term.folded.as_bytes()]);
                if field == Field::Year as usize {
                    told.push(term.shown.as_bytes());
                } else {
                    told.push(Value::from(term.shown.as_str()).to_string().as_bytes());
                }
            }
        }
        begin(&lines);
        source.features.texts.iter().for_each(|text| lines.push([&**text]));
        begin(&lines);
        source.engine.terms.iter().for_each(|term| lines.push([term.folded.as_bytes()]));
        begin(&lines);

        let sets = Sets::build(rows, lines.len(), lines.len(), &Belongs { starts: &starts, source });
        let cells = Cells::build(rows, &starts, source);
        let mut others = Vec::new();
        for (dictionary, start) in source.faceted.iter().zip(&starts) {
            for (code, spelling, rows) in &dictionary.others {
                others.push(Other::new(start + 1 + code, spelling, rows));
            }
        }
        Terms::of_parts(starts, searchable(lines), sets, cells, told.finish(), Others::new(others))
    }

    /// The terms of these parts, which fit together.
    pub(crate) fn of_parts(
        starts: [u32; FIELDS + 1],
        lines: Arc<Lines>,
        sets: Sets,
        cells: Cells,
        told: Arc<Told>,
        others: Others,
    ) -> Terms {
        let mut terms = Terms { starts, lines, sets, cells, told, others, costs: [0; FACETED] };
        terms.costs =
            std::array::from_fn(|field| terms.range(field).map(|term| terms.sets.rows(term).cost()).sum());
        terms
    }

    /// The texts, to be shared with the next version.
    pub(crate) fn shared_lines(&self) -> Arc<Lines> {
        Arc::clone(&self.lines)
    }

    /// The values as JSON, to be shared with the next version.
    pub(crate) fn shared_told(&self) -> Arc<Told> {
        Arc::clone(&self.told)
    }

    /// The spellings that are not told.
    pub(crate) fn others(&self) -> &Others {
        &self.others
    }

    fn range(&self, field: usize) -> Range<u32> {
        match self.starts.get(field..field + 2) {
            Some([start, end]) => *start..*end,
            _ => 0..0,
        }
    }

    /// The numbers of a field's values, without the one that means "has none".
    pub(crate) fn of(&self, field: Field) -> Range<u32> {
        let Range { start, end } = self.range(field as usize);
        if (field as usize) < FACETED { start + 1..end } else { start..end }
    }

    /// All numbers that facets count.
    pub(crate) fn faceted(&self) -> usize {
        self.range(FACETED).start as usize
    }

    /// The value of `field` whose folded text is this.
    pub(crate) fn named(&self, field: Field, folded: &str) -> Option<u32> {
        self.lines.position(self.of(field), folded)
    }

    /// The folded texts; the line of a text is the number of the term.
    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The lines that free text looks into.
    pub(crate) fn searched(&self) -> Range<usize> {
        self.of(Field::Driveline).start as usize..self.lines.len()
    }

    /// The rows of each term.
    pub(crate) fn sets(&self) -> &Sets {
        &self.sets
    }

    /// The faceted terms of each row.
    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// What counting a field by its sets costs, in words read.
    pub(crate) fn cost(&self, field: usize) -> usize {
        self.costs.get(field).copied().unwrap_or(usize::MAX)
    }

    /// All numbers of a faceted field, the one that means "has none" included.
    pub(crate) fn counted(&self, field: usize) -> Range<u32> {
        self.range(field)
    }

    /// A faceted value as JSON.
    pub(crate) fn told(&self, term: u32) -> &[u8] {
        let framed = self.framed(term);
        framed.get(FRAME.0.len()..framed.len().saturating_sub(FRAME.1.len())).unwrap_or_default()
    }

    /// A faceted value as an answer counts it, up to its count.
    #[inline]
    pub(crate) fn framed(&self, term: u32) -> &[u8] {
        let end = self.told.ends.get(term as usize).copied().unwrap_or(0) as usize;
        let start = term.checked_sub(1).and_then(|before| self.told.ends.get(before as usize)).copied();
        self.told.bytes.get(start.unwrap_or(0) as usize..end).unwrap_or_default()
    }

    /// Bytes on the heap: of the cells, the sets, the texts; of these not what `other` has as well.
    pub(crate) fn weights(&self, other: Option<&Terms>) -> (usize, usize, usize) {
        let cells = match &self.cells {
            Cells::Narrow(all) => size_of_val::<[_]>(all),
            Cells::Wide(all) => size_of_val::<[_]>(all),
        };
        let lines = other.is_some_and(|other| Arc::ptr_eq(&self.lines, &other.lines));
        let told = other.is_some_and(|other| Arc::ptr_eq(&self.told, &other.told));
        let texts = if lines { 0 } else { self.lines.weight() };
        let told = if told { 0 } else { self.told.bytes.len() + self.told.ends.len() * 4 };
        (cells, self.sets.weight(), texts + told + self.others.weight() + size_of::<Terms>())
    }
}

/// Texts of terms as they are looked into.
pub(crate) fn searchable(lines: LinesBuilder) -> Arc<Lines> {
    Arc::new(lines.build(2048))
}

impl Cells {
    /// The term of a row in a faceted field.
    pub(crate) fn get(&self, row: u32, field: usize) -> u32 {
        match self {
            Cells::Narrow(all) => {
                all.get(row as usize).and_then(|cells| cells.get(field)).map_or(0, |term| u32::from(*term))
            }
            Cells::Wide(all) => {
                all.get(row as usize).and_then(|cells| cells.get(field)).map_or(0, |term| *term)
            }
        }
    }

    fn build(rows: usize, starts: &[u32; FIELDS + 1], source: &Source) -> Cells {
        let cell = |field: usize, row: usize| {
            let start = starts.get(field).copied().unwrap_or(0);
            let code = source.faceted.get(field).and_then(|d| d.codes.get(row)).copied().unwrap_or(NONE);
            start.wrapping_add(code.wrapping_add(1))
        };
        let all = starts.get(FACETED).copied().unwrap_or(0);
        if u16::try_from(all).is_ok() {
            #[expect(clippy::cast_possible_truncation, reason = "every number is below the one checked")]
            let row = |row| std::array::from_fn(|field| cell(field, row) as u16);
            Cells::Narrow((0..rows).map(row).collect())
        } else {
            Cells::Wide((0..rows).map(|row| std::array::from_fn(|field| cell(field, row))).collect())
        }
    }
}

/// Terms and their texts stay far below 2^32: each costs more memory than a node could give to one lot.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
