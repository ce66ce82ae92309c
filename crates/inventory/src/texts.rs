//! What free text looks into unit by unit: the words of descriptions, VINs and stock numbers.
//!
//! They are by far the most pairs of a lot and hardly ever change, so they are kept in layers that the versions of
//! a lot share. A layer numbers its rows by itself and never changes; a version knows where the rows of each layer
//! are in it, and which are not any more. Layers are merged before what is of no use comes to anything.

use std::sync::Arc;

use contract::Listing;
use contract::text::fold;
use memchr::memmem::Finder;

use crate::bitset::{Bits, WORD};
use crate::dictionary::NONE;
use crate::lines::{Lines, LinesBuilder};
use crate::sets::{Pairs, Sets, SetsBuilder};
use crate::shift::Pieces;
use crate::source::Multi;
use crate::text::Patience;
use crate::words::{self, Vocabulary};

/// A version may have one row in so many outside its first layer, or there for nothing.
const SPARE: usize = 32;
/// And that many more, so that small lots are not merged each time.
const SPARE_ROWS: usize = 8;

/// The texts of some units.
#[derive(Debug)]
struct Layer {
    rows: usize,
    words: Lines,
    /// The rows that have each word.
    sets: Sets,
    /// A line a row: VIN and stock number, folded.
    names: Lines,
}

/// A layer, and where its rows are.
#[derive(Debug, Clone)]
struct Placed {
    layer: Arc<Layer>,
    pieces: Arc<Pieces>,
    /// Its rows are just those of the version.
    still: bool,
    /// Its rows that are still there.
    live: Arc<Bits>,
}

/// The texts of a version.
#[derive(Debug)]
pub(crate) struct Texts {
    rows: usize,
    layers: Box<[Placed]>,
}

impl Pairs for Multi {
    fn each(&self, visit: impl FnMut(u32, u32)) {
        Multi::each(self, visit);
    }
}

/// Reads the texts of units, one after the other.
pub(crate) struct LayerBuilder {
    words: words::Reader,
    names: LinesBuilder,
}

impl LayerBuilder {
    pub(crate) fn new() -> LayerBuilder {
        LayerBuilder { words: words::Reader::new(), names: LinesBuilder::default() }
    }

    /// The next unit.
    pub(crate) fn push(&mut self, unit: &Listing) {
        self.words.push(unit.description.as_deref());
        let vin = unit.vin.as_deref().map(fold).unwrap_or_default();
        let stock = unit.stock.as_deref().map(fold).unwrap_or_default();
        self.names.push([vin.as_bytes(), stock.as_bytes()]);
    }

    fn finish(self, beside: bool) -> Layer {
        let found = self.words.finish();
        let mut words = LinesBuilder::default();
        found.texts.iter().for_each(|text| words.push([&**text]));
        let rows = self.names.len();
        let sets = Sets::build(rows, words.len(), 0, &found);
        Layer { rows, words: searchable_words(words, beside), sets, names: searchable_names(self.names) }
    }
}

impl Layer {
    /// One layer of the rows that are still there, in the order of where they are among `rows` rows.
    fn merge(parts: &[Placed], rows: usize, beside: bool) -> Placed {
        // Where each row of the version comes from.
        let mut origins = vec![(NONE, NONE); rows];
        for (number, part) in (0_u32..).zip(parts) {
            for run in part.pieces.runs() {
                let places =
                    origins.get_mut(run.to as usize..(run.to + run.len) as usize).unwrap_or_default();
                places.iter_mut().zip(run.from..).for_each(|(place, from)| *place = (number, from));
            }
        }
        let mut names = LinesBuilder::default();
        let mut tables: Vec<Vec<u32>> = parts.iter().map(|part| vec![NONE; part.layer.rows]).collect();
        let mut merged = vec![];
        for (row, (number, from)) in (0_u32..).zip(origins) {
            let Some((part, table)) = parts.get(number as usize).zip(tables.get_mut(number as usize)) else {
                continue;
            };
            if let Some(place) = table.get_mut(from as usize) {
                *place = offset(merged.len());
            }
            merged.push(row);
            names.push([part.layer.names.line(from as usize)]);
        }

        // Which word of which part each word is.
        let mut vocabulary = Vocabulary::default();
        let mut known: u32 = 0;
        let mut sources: Vec<(u32, u32, u32)> = Vec::new();
        for (number, part) in (0_u32..).zip(parts) {
            for word in 0..part.layer.words.len() {
                let text = part.layer.words.line(word);
                let merged = vocabulary.number(text, || {
                    known += 1;
                    known - 1
                });
                sources.push((merged, number, offset(word)));
            }
        }
        sources.sort_unstable();
        let mut words = LinesBuilder::default();
        let mut sets = SetsBuilder::new(merged.len(), 0);
        let mut list = Vec::new();
        for same in sources.chunk_by(|a, b| a.0 == b.0) {
            list.clear();
            for (_, number, word) in same {
                let Some((part, table)) = parts.get(*number as usize).zip(tables.get(*number as usize))
                else {
                    continue;
                };
                part.layer.sets.rows(*word).each(|row| {
                    list.extend(table.get(row as usize).filter(|row| **row != NONE));
                });
            }
            if same.len() > 1 {
                list.sort_unstable();
            }
            // A word that no unit has any more goes.
            if let (Some((_, number, word)), false) = (same.first(), list.is_empty()) {
                let text = parts.get(*number as usize).map(|part| part.layer.words.line(*word as usize));
                words.push([text.unwrap_or_default()]);
                sets.push(&list);
            }
        }
        let layer = Layer {
            rows: merged.len(),
            words: searchable_words(words, beside),
            sets: sets.finish(),
            names: searchable_names(names),
        };
        Placed::new(layer, Pieces::of(&merged), rows)
    }

    fn weight(&self) -> usize {
        size_of::<Layer>() + self.words.weight() + self.sets.weight() + self.names.weight()
    }
}

/// Words of a few units beside a large layer are read in addition, so more is done for not reading them.
fn searchable_words(words: LinesBuilder, beside: bool) -> Lines {
    if beside { words.build_from(256, 1024) } else { words.build(2048) }
}

/// A group of VINs has many more different runs than one of words.
fn searchable_names(names: LinesBuilder) -> Lines {
    names.build(4096)
}

impl Placed {
    fn new(layer: Layer, pieces: Pieces, rows: usize) -> Placed {
        Placed::at(Arc::new(layer), pieces, rows)
    }

    fn at(layer: Arc<Layer>, pieces: Pieces, rows: usize) -> Placed {
        let still = pieces.is_still(layer.rows, rows);
        let live = if still { Bits::empty(0) } else { pieces.pull(Bits::full(rows).words(), layer.rows) };
        Placed { layer, pieces: Arc::new(pieces), still, live: Arc::new(live) }
    }

    /// Adds to `found` the rows of `wanted` in which the text occurs, and perhaps others that have it.
    fn search(&self, finder: &Finder<'_>, wanted: &Bits, found: &mut Bits) {
        if self.still {
            return self.layer.search(finder, wanted, found);
        }
        let mut missing = wanted.clone();
        missing.and_not(found.words());
        let mut here = Bits::empty(self.layer.rows);
        // Asking for more than is wanted is no mistake, and mostly nearly everything is.
        if missing.count() > missing.words().len() * WORD / 4 {
            self.layer.search(finder, &self.live, &mut here);
        } else {
            let missing = self.pieces.pull(missing.words(), self.layer.rows);
            if missing.words().iter().all(|word| *word == 0) {
                return;
            }
            self.layer.search(finder, &missing, &mut here);
        }
        self.pieces.push(here.words(), found);
    }
}

impl Layer {
    fn search(&self, finder: &Finder<'_>, wanted: &Bits, found: &mut Bits) {
        let mut patience = Patience::default();
        self.words.search(
            finder,
            0..self.words.len(),
            |_| true,
            |word| {
                self.sets.rows(offset(word)).add_to(found);
                patience.go_on(wanted, found)
            },
        );
        if patience.complete {
            return;
        }
        // A group of names is as many rows as a word of bits has.
        let mut missing = wanted.clone();
        missing.and_not(found.words());
        let rest = missing.words();
        self.names.search(
            finder,
            0..self.rows,
            |group| rest.get(group).is_some_and(|w| *w != 0),
            |row| {
                found.insert(offset(row));
                true
            },
        );
    }
}

impl Texts {
    /// The texts of a whole lot.
    pub(crate) fn new(units: LayerBuilder) -> Texts {
        let layer = units.finish(false);
        let rows = layer.rows;
        Texts { rows, layers: Box::new([Placed::new(layer, Pieces::still(rows), rows)]) }
    }

    /// Those of the next version, of `rows` rows: `kept` tells where the rows are whose texts are still the same
    /// ([`NONE`] for others), `fresh` are the rows that are read anew, ascending.
    pub(crate) fn next(&self, rows: usize, kept: &[u32], fresh: &[(u32, &Listing)]) -> Texts {
        let mut layers: Vec<Placed> = Vec::with_capacity(self.layers.len() + 1);
        for placed in &self.layers {
            let pieces = placed.pieces.then(kept);
            if pieces == *placed.pieces && rows == self.rows {
                layers.push(placed.clone());
            } else if !pieces.runs().is_empty() {
                layers.push(Placed::at(Arc::clone(&placed.layer), pieces, rows));
            }
        }
        if !fresh.is_empty() {
            let at: Vec<u32> = fresh.iter().map(|(row, _)| *row).collect();
            let mut layer = LayerBuilder::new();
            fresh.iter().for_each(|(_, unit)| layer.push(unit));
            layers.push(Placed::new(layer.finish(true), Pieces::of(&at), rows));
        }
        // Layers of like size become one, so that there are few of them and none is read often.
        while let [_, .., larger, last] = layers.as_slice()
            && last.layer.rows * 8 >= larger.layer.rows
        {
            let merged = Layer::merge(layers.get(layers.len() - 2..).unwrap_or_default(), rows, true);
            layers.truncate(layers.len() - 2);
            layers.push(merged);
        }
        let held: usize = layers.iter().map(|placed| placed.layer.rows).sum();
        let first = layers.first().map_or(0, |placed| placed.layer.rows);
        // Rows that are there for nothing, and rows outside the first layer.
        let spare = (held - rows.min(held)) + (held - first);
        if spare > rows / SPARE + SPARE_ROWS || layers.is_empty() {
            layers = vec![Layer::merge(&layers, rows, false)];
        }
        Texts { rows, layers: layers.into() }
    }

    /// Adds to `found` the rows of `wanted` in which the text occurs, and perhaps others that have it.
    pub(crate) fn search(&self, finder: &Finder<'_>, wanted: &Bits, found: &mut Bits) {
        debug_assert_eq!(found.words().len(), crate::bitset::words(self.rows));
        self.layers.iter().for_each(|placed| placed.search(finder, wanted, found));
    }

    /// Bytes on the heap, without the layers and maps that `other` has as well.
    pub(crate) fn weight_beside(&self, other: Option<&Texts>) -> usize {
        let others = || other.into_iter().flat_map(|texts| &texts.layers);
        let layer = |placed: &Placed| {
            let shared = others().any(|other| Arc::ptr_eq(&other.layer, &placed.layer));
            let same = others().any(|other| Arc::ptr_eq(&other.pieces, &placed.pieces));
            let place = placed.pieces.weight() + placed.live.weight();
            (if shared { 0 } else { placed.layer.weight() }) + (if same { 0 } else { place })
        };
        self.layers.iter().map(|placed| size_of::<Placed>() + layer(placed)).sum()
    }
}

/// Rows and words stay below 2^32: `Snapshot::build` sees to it, and memory does.
fn offset(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
