//! The terms of the next version of a lot: numbers, sets and cells are carried over, only new values are read.

use std::cmp::Ordering;
use std::sync::Arc;

use contract::Listing;
use contract::text::fold;

use crate::dictionary::NONE;
use crate::lines::{Lines, LinesBuilder};
use crate::sets::{Rows, Sets, SetsBuilder};
use crate::shift::Shift;
use crate::source::faceted_texts;
use crate::terms::{self, Cells, FACETED, FIELDS, Field, Terms, Told};

/// A value that a fresh unit has.
struct Value<'l> {
    field: Field,
    /// Its term; if it is new, the term that it comes before.
    place: Result<u32, u32>,
    folded: String,
    /// How it is spelled, where that is told.
    spelling: Option<&'l str>,
}

/// Where a new number comes from.
#[derive(Debug, Clone, Copy)]
enum Origin {
    Old(u32),
    /// One of the new texts of a field.
    New {
        field: usize,
        at: usize,
    },
}

/// New numbers for old ones.
struct Numbers {
    starts: [u32; FIELDS + 1],
    origins: Vec<Origin>,
    /// [`NONE`] for terms that no unit has any more.
    renumbered: Vec<u32>,
    /// Whether all numbers mean what they meant.
    same: bool,
}

/// How the texts of a field compare.
fn order(field: Field, a: &[u8], b: &[u8]) -> Ordering {
    let number = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    if field == Field::Year { number(a).cmp(&number(b)) } else { a.cmp(b) }
}

/// Whether the fresh units say what they said, and nothing else happened.
fn unchanged(terms: &Terms, shift: &Shift, values: &[Vec<Value<'_>>], multiple: &[Vec<u32>]) -> bool {
    let same = |((now, old), values): (&(u32, Option<u32>), &Vec<Value<'_>>)| {
        let Some(row) = old.filter(|row| row == now) else { return false };
        let Ok(at) = shift.left.binary_search(&row) else { return false };
        let (mut has, mut told) = (Vec::new(), true);
        for value in values {
            let Ok(term) = value.place else { return false };
            if (value.field as usize) < FACETED {
                told &= terms.cells().get(row, value.field as usize) == term;
            } else {
                has.push(term);
            }
            told &= value
                .spelling
                .is_none_or(|spelling| terms.others().spells(term, terms.told(term), row, spelling));
        }
        told && multiple.get(at) == Some(&has)
    };
    !shift.moved && shift.fresh.iter().zip(values).all(same)
}

/// The terms of the next version. `fresh` are the units of the fresh rows, in their order.
pub(crate) fn next(terms: &Arc<Terms>, shift: &Shift, fresh: &[&Listing]) -> Arc<Terms> {
    let values: Vec<Vec<Value<'_>>> = fresh.iter().map(|unit| values_of(terms, unit)).collect();
    // What the rows had that are not kept, of the fields that have no cells.
    let mut multiple: Vec<Vec<u32>> = vec![Vec::new(); shift.left.len()];
    for term in terms.faceted()..terms.lines().len() {
        let term = terms::number(term);
        let rows = terms.sets().rows(term);
        for (row, had) in shift.left.iter().zip(&mut multiple) {
            if rows.has(*row) {
                had.push(term);
            }
        }
    }
    if unchanged(terms, shift, &values, &multiple) {
        return Arc::clone(terms);
    }

    let mut uses: Vec<u32> =
        (0..terms::number(terms.lines().len())).map(|term| terms.sets().len(term)).collect();
    let mut count = |term: u32, by: i32| {
        if let Some(uses) = uses.get_mut(term as usize) {
            *uses = uses.saturating_add_signed(by);
        }
    };
    for (row, had) in shift.left.iter().zip(&multiple) {
        (0..FACETED).for_each(|field| count(terms.cells().get(*row, field), -1));
        had.iter().for_each(|term| count(*term, -1));
    }
    values.iter().flatten().filter_map(|value| value.place.ok()).for_each(|term| count(term, 1));

    let texts = new_texts(&values);
    let numbers = Numbers::new(terms, &uses, &texts);
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut spelled: Vec<(u32, u32, &str)> = Vec::new();
    for ((row, _), values) in shift.fresh.iter().zip(&values) {
        for value in values {
            let term = numbers.of(value, &texts);
            pairs.push((term, *row));
            spelled.extend(value.spelling.map(|spelling| (term, *row, spelling)));
        }
    }
    pairs.sort_unstable();

    let sets = sets(terms, shift, &numbers, &uses, &pairs);
    let cells = cells(terms, shift, &numbers, &pairs);
    let old = |term: u32| match numbers.origins.get(term as usize) {
        Some(Origin::Old(old)) => Some(terms.told(*old)),
        _ => None,
    };
    let renumbered = |term: u32| numbers.renumbered.get(term as usize).copied().filter(|term| *term != NONE);
    let (others, changed) = terms.others().next(shift, renumbered, &sets, old, &spelled);
    let lines = if numbers.same { terms.shared_lines() } else { lines(terms, &numbers, &texts) };
    let told = if numbers.same && changed.is_empty() {
        terms.shared_told()
    } else {
        let mut told = Told::default();
        for term in 0..numbers.starts.get(FACETED).copied().unwrap_or(0) {
            match (changed.get(&term), old(term)) {
                (Some(changed), _) => told.push(changed.as_bytes()),
                (None, Some(old)) => told.push(old),
                // A year; whatever else is new is among those that changed.
                (None, None) => told.push(lines.line(term as usize)),
            }
        }
        told.finish()
    };
    Arc::new(Terms::of_parts(numbers.starts, lines, sets, cells, told, others))
}

/// A fresh unit's values: one for each faceted field, then features and engine by their terms.
fn values_of<'l>(terms: &Terms, unit: &'l Listing) -> Vec<Value<'l>> {
    let place = |field: Field, folded: String, spelling: Option<&'l str>| {
        let place = terms.lines().place(terms.of(field), |line| order(field, line, folded.as_bytes()));
        Value { field, place, folded, spelling }
    };
    let mut values = Vec::with_capacity(FIELDS + unit.features.len());
    for (field, text) in Field::ALL.into_iter().zip(faceted_texts(unit)) {
        let year = unit.year.filter(|_| field == Field::Year);
        values.push(match (text, year) {
            (Some(text), _) => place(field, fold(text), Some(text)),
            (None, Some(year)) => place(field, year.to_string(), None),
            (None, None) => {
                let none = terms.counted(field as usize).start;
                Value { field, place: Ok(none), folded: String::new(), spelling: None }
            }
        });
    }
    let mut features: Vec<String> = unit.features.iter().map(|feature| fold(feature)).collect();
    features.sort_unstable();
    features.dedup();
    values.extend(features.into_iter().map(|folded| place(Field::Features, folded, None)));
    values.extend(unit.engine.as_deref().map(|engine| place(Field::Engine, fold(engine), None)));
    values
}

/// The texts of each field that no unit had before, in order, each with the term that it comes before.
fn new_texts(values: &[Vec<Value<'_>>]) -> [Vec<(u32, String)>; FIELDS] {
    let mut texts: [Vec<(u32, String)>; FIELDS] = std::array::from_fn(|_| Vec::new());
    for value in values.iter().flatten() {
        if let (Err(before), Some(texts)) = (value.place, texts.get_mut(value.field as usize)) {
            texts.push((before, value.folded.clone()));
        }
    }
    for (field, texts) in Field::ALL.into_iter().zip(&mut texts) {
        texts.sort_unstable_by(|a, b| order(field, a.1.as_bytes(), b.1.as_bytes()));
        texts.dedup();
    }
    texts
}

impl Numbers {
    fn new(terms: &Terms, uses: &[u32], texts: &[Vec<(u32, String)>; FIELDS]) -> Numbers {
        let mut starts = [0; FIELDS + 1];
        let mut origins = Vec::with_capacity(uses.len());
        let mut renumbered = vec![NONE; uses.len()];
        for (field, texts) in texts.iter().enumerate() {
            if let Some(start) = starts.get_mut(field) {
                *start = terms::number(origins.len());
            }
            let mut new = texts.iter().enumerate().peekable();
            let range = terms.counted(field);
            for term in range.clone() {
                while let Some((at, _)) = new.next_if(|(_, text)| text.0 == term) {
                    origins.push(Origin::New { field, at });
                }
                // The one that means "has none" stays.
                let stays = field < FACETED && term == range.start;
                if stays || uses.get(term as usize).is_some_and(|uses| *uses > 0) {
                    if let Some(number) = renumbered.get_mut(term as usize) {
                        *number = terms::number(origins.len());
                    }
                    origins.push(Origin::Old(term));
                }
            }
            origins.extend(new.map(|(at, _)| Origin::New { field, at }));
        }
        if let Some(end) = starts.last_mut() {
            *end = terms::number(origins.len());
        }
        let same = origins.len() == uses.len()
            && (0..).zip(&origins).all(|(term, origin)| matches!(origin, Origin::Old(old) if *old == term));
        Numbers { starts, origins, renumbered, same }
    }

    /// The number of a fresh unit's value.
    fn of(&self, value: &Value<'_>, texts: &[Vec<(u32, String)>; FIELDS]) -> u32 {
        let before = match value.place {
            Ok(term) => return self.renumbered.get(term as usize).copied().unwrap_or(NONE),
            Err(before) => before,
        };
        let texts = texts.get(value.field as usize).map(Vec::as_slice).unwrap_or_default();
        let at = texts
            .partition_point(|text| order(value.field, text.1.as_bytes(), value.folded.as_bytes()).is_lt());
        // Behind the old ones of the field that are still there, and the new ones before it.
        let start = self.starts.get(value.field as usize).copied().unwrap_or(0);
        let end = self.starts.get(value.field as usize + 1).copied().unwrap_or(0);
        let numbers = self.origins.get(start as usize..end as usize).unwrap_or_default();
        let earlier = |origin: &Origin| match origin {
            Origin::Old(old) => *old < before,
            Origin::New { at: other, .. } => *other < at,
        };
        start + terms::number(numbers.partition_point(earlier))
    }
}

fn sets(terms: &Terms, shift: &Shift, numbers: &Numbers, uses: &[u32], pairs: &[(u32, u32)]) -> Sets {
    let mut sets = SetsBuilder::new(shift.rows, numbers.origins.len());
    let mut list: Vec<u32> = Vec::new();
    let mut pairs = pairs;
    for (term, origin) in (0_u32..).zip(&numbers.origins) {
        let (fresh, rest) = pairs.split_at(pairs.partition_point(|pair| pair.0 == term));
        pairs = rest;
        let old = match origin {
            Origin::Old(old) => Some(*old),
            Origin::New { .. } => None,
        };
        list.clear();
        if let Some(old) = old {
            let uses = uses.get(old as usize).copied().unwrap_or(0);
            let rows = terms.sets().rows(old);
            if let Rows::Dense(words) = rows
                && sets.is_dense(uses)
            {
                let mut bits = shift.bits(words);
                fresh.iter().for_each(|(_, row)| bits.insert(*row));
                sets.push_bits(&bits, uses);
                continue;
            }
            rows.each(|row| list.extend(shift.kept(row)));
        }
        if !fresh.is_empty() {
            list.extend(fresh.iter().map(|(_, row)| *row));
            list.sort_unstable();
        }
        sets.push(&list);
    }
    sets.finish()
}

/// A number of a width.
trait Width: Copy + Into<u32> {
    fn of(number: u32) -> Self;
}

impl Width for u16 {
    #[expect(clippy::cast_possible_truncation, reason = "narrow cells are made only where all numbers fit")]
    fn of(number: u32) -> u16 {
        number as u16
    }
}

impl Width for u32 {
    fn of(number: u32) -> u32 {
        number
    }
}

fn cells(terms: &Terms, shift: &Shift, numbers: &Numbers, pairs: &[(u32, u32)]) -> Cells {
    let all = numbers.starts.get(FACETED).copied().unwrap_or(0);
    let narrow = u16::try_from(all).is_ok();
    match (terms.cells(), narrow) {
        (Cells::Narrow(old), true) => Cells::Narrow(carried(old, shift, numbers, pairs)),
        (Cells::Narrow(old), false) => Cells::Wide(carried(old, shift, numbers, pairs)),
        (Cells::Wide(old), true) => Cells::Narrow(carried(old, shift, numbers, pairs)),
        (Cells::Wide(old), false) => Cells::Wide(carried(old, shift, numbers, pairs)),
    }
}

fn carried<A: Width, B: Width>(
    old: &[[A; FACETED]],
    shift: &Shift,
    numbers: &Numbers,
    pairs: &[(u32, u32)],
) -> Box<[[B; FACETED]]> {
    let renumbered: Vec<B> = numbers.renumbered.iter().map(|number| B::of(*number)).collect();
    let mut cells = vec![[B::of(0); FACETED]; shift.rows].into_boxed_slice();
    for run in shift.pieces.runs() {
        let from = old.get(run.from as usize..(run.from + run.len) as usize).unwrap_or_default();
        let to = cells.get_mut(run.to as usize..(run.to + run.len) as usize).unwrap_or_default();
        for (from, to) in from.iter().zip(to) {
            for (from, to) in from.iter().zip(to) {
                if let Some(number) = renumbered.get((*from).into() as usize) {
                    *to = *number;
                }
            }
        }
    }
    for (term, row) in pairs {
        let field = numbers.starts.partition_point(|start| start <= term).saturating_sub(1);
        if let Some(cell) = cells.get_mut(*row as usize).and_then(|cells| cells.get_mut(field)) {
            *cell = B::of(*term);
        }
    }
    cells
}

fn lines(terms: &Terms, numbers: &Numbers, texts: &[Vec<(u32, String)>; FIELDS]) -> Arc<Lines> {
    let mut lines = LinesBuilder::default();
    for origin in &numbers.origins {
        match origin {
            Origin::Old(old) => lines.push([terms.lines().line(*old as usize)]),
            Origin::New { field, at } => {
                let text = texts.get(*field).and_then(|texts| texts.get(*at));
                lines.push([text.map(|text| text.1.as_bytes()).unwrap_or_default()]);
            }
        }
    }
    terms::searchable(lines)
}
