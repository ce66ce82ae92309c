//! The units of a lot by row, in chunks that later versions share where nothing in them changed.

use std::collections::HashSet;
use std::sync::Arc;

use crate::unit::Unit;

/// Units in a chunk, as built.
const CHUNK: usize = 128;
/// A chunk that grew beyond this is split; one that shrank below a quarter is joined to the next.
const LARGEST: usize = 2 * CHUNK;

/// A run of units.
#[derive(Debug)]
struct Chunk {
    units: Box<[Unit]>,
    documents: usize,
    weight: usize,
}

impl Chunk {
    fn new(units: Vec<Unit>) -> Arc<Chunk> {
        let documents = units.iter().map(Unit::documents).sum();
        let texts: usize = units.iter().map(Unit::weight).sum();
        let own = size_of::<Chunk>() + 2 * size_of::<usize>() + size_of_val::<[_]>(&units);
        Arc::new(Chunk { documents, weight: texts + own, units: units.into() })
    }
}

/// All units, in the order of `vehicle_id`.
#[derive(Debug)]
pub(crate) struct Units {
    chunks: Box<[Arc<Chunk>]>,
    /// The first row of each chunk, and how many rows there are.
    starts: Box<[u32]>,
}

/// Collects units in their order.
#[derive(Debug, Default)]
pub(crate) struct UnitsBuilder {
    chunks: Vec<Arc<Chunk>>,
    last: Vec<Unit>,
}

impl UnitsBuilder {
    /// The next unit.
    pub(crate) fn push(&mut self, unit: Unit) {
        self.last.push(unit);
        if self.last.len() == CHUNK {
            self.chunks.push(Chunk::new(std::mem::replace(&mut self.last, Vec::with_capacity(CHUNK))));
        }
    }

    /// All of them.
    pub(crate) fn finish(mut self) -> Units {
        if !self.last.is_empty() {
            self.chunks.push(Chunk::new(self.last));
        }
        Units::of(self.chunks)
    }
}

impl Units {
    fn of(chunks: Vec<Arc<Chunk>>) -> Units {
        let mut starts = Vec::with_capacity(chunks.len() + 1);
        let mut rows = 0;
        starts.push(0);
        for chunk in &chunks {
            rows += chunk.units.len();
            starts.push(u32::try_from(rows).unwrap_or(u32::MAX));
        }
        Units { chunks: chunks.into(), starts: starts.into() }
    }

    /// The unit of a row.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> Option<&Unit> {
        // As built, every chunk but the last has the same size; later most still are where they were.
        let guess = row as usize / CHUNK;
        let at = match self.starts.get(guess..guess + 2) {
            Some([start, end]) if (*start..*end).contains(&row) => guess,
            _ => self.starts.partition_point(|start| *start <= row).checked_sub(1)?,
        };
        let start = self.starts.get(at)?;
        self.chunks.get(at)?.units.get((row - start) as usize)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Unit> {
        self.chunks.iter().flat_map(|chunk| &chunk.units)
    }

    /// The row of the unit with this id; else the row that it would stand before.
    pub(crate) fn place_of(&self, vehicle_id: &str) -> Result<u32, u32> {
        let before =
            |chunk: &Arc<Chunk>| chunk.units.first().is_some_and(|unit| unit.vehicle_id() <= vehicle_id);
        let Some(at) = self.chunks.partition_point(before).checked_sub(1) else { return Err(0) };
        let start = self.starts.get(at).copied().unwrap_or(0);
        let units = self.chunks.get(at).map(|chunk| &*chunk.units).unwrap_or_default();
        let row = |place: usize| start + u32::try_from(place).unwrap_or(0);
        units.binary_search_by(|unit| unit.vehicle_id().cmp(vehicle_id)).map(row).map_err(row)
    }

    /// The next version: without the rows of `gone`, and with `fresh` each in the place of its row, or before the
    /// row that it comes before. Both are ascending.
    pub(crate) fn next(&self, gone: &[u32], fresh: Vec<(Result<u32, u32>, Unit)>) -> Units {
        let mut chunks: Vec<Arc<Chunk>> = Vec::with_capacity(self.chunks.len() + 1);
        // A chunk that became small waits here for the next.
        let mut waiting: Vec<Unit> = Vec::new();
        let mut gone = gone.iter().copied().peekable();
        let mut fresh = fresh.into_iter().peekable();
        let last = self.chunks.len().saturating_sub(1);
        let empty = Chunk::new(Vec::new());
        let all = if self.chunks.is_empty() { std::slice::from_ref(&empty) } else { &self.chunks };
        for (at, (chunk, start)) in all.iter().zip(&self.starts).enumerate() {
            let end =
                if at == last { u32::MAX } else { start + u32::try_from(chunk.units.len()).unwrap_or(0) };
            let mine = |place: &Result<u32, u32>| place.unwrap_or_else(|before| before) < end;
            let touched =
                gone.peek().is_some_and(|row| *row < end) || fresh.peek().is_some_and(|f| mine(&f.0));
            if !touched && waiting.is_empty() {
                chunks.push(Arc::clone(chunk));
                continue;
            }
            let mut units = std::mem::take(&mut waiting);
            for (row, unit) in (*start..).zip(&chunk.units) {
                while let Some((_, coming)) = fresh.next_if(|coming| coming.0 == Err(row)) {
                    units.push(coming);
                }
                match fresh.next_if(|coming| coming.0 == Ok(row)) {
                    Some((_, changed)) => units.push(changed),
                    None if gone.next_if_eq(&row).is_some() => {}
                    None => units.push(unit.clone()),
                }
            }
            while let Some((_, coming)) = fresh.next_if(|coming| mine(&coming.0)) {
                units.push(coming);
            }
            if units.len() < CHUNK / 4 && at < last {
                waiting = units;
                continue;
            }
            let parts = units.len().div_ceil(LARGEST).max(1);
            let size = units.len().div_ceil(parts).max(1);
            let mut units = units.into_iter().peekable();
            while units.peek().is_some() {
                chunks.push(Chunk::new(units.by_ref().take(size).collect()));
            }
        }
        Units::of(chunks)
    }

    /// Bytes of the documents.
    pub(crate) fn documents(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.documents).sum()
    }

    /// Bytes on the heap, documents included.
    pub(crate) fn weight(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.weight).sum::<usize>() + self.table()
    }

    fn table(&self) -> usize {
        self.chunks.len() * size_of::<Arc<Chunk>>() + self.starts.len() * size_of::<u32>()
    }

    /// The same without what `other` has as well.
    pub(crate) fn weight_beside(&self, other: &Units) -> usize {
        let mine: HashSet<_> = self.chunks.iter().map(Arc::as_ptr).collect();
        let theirs: HashSet<_> = other.chunks.iter().map(Arc::as_ptr).collect();
        let apart = other.chunks.iter().filter(|chunk| !mine.contains(&Arc::as_ptr(chunk)));
        let texts: HashSet<_> = apart.flat_map(|chunk| &chunk.units).map(Unit::allocation).collect();
        let own = |chunk: &Arc<Chunk>| {
            let shared = chunk.units.iter().filter(|unit| texts.contains(&unit.allocation()));
            chunk.weight - shared.map(Unit::weight).sum::<usize>()
        };
        let chunks = self.chunks.iter().filter(|chunk| !theirs.contains(&Arc::as_ptr(chunk)));
        chunks.map(own).sum::<usize>() + self.table()
    }
}
