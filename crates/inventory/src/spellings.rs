//! Spellings of values that are not the ones told, and who uses them.
//!
//! A value is told as most units spell it. To say so of the next version without reading all units again, the
//! rows of every other spelling are kept; rows that have the value and no other spelling have the one that is told.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::packed::Packed;
use crate::sets::Sets;
use crate::shift::Shift;

/// A spelling that is not told.
#[derive(Debug)]
pub(crate) struct Other {
    term: u32,
    spelling: Box<str>,
    rows: Packed,
}

impl Other {
    /// A spelling of a term, and its rows, ascending.
    pub(crate) fn new(term: u32, spelling: &str, rows: &[u32]) -> Other {
        Other { term, spelling: spelling.into(), rows: Packed::pack(rows) }
    }

    fn has(&self, row: u32) -> bool {
        let rows = &self.rows;
        rows.get(rows.partition(0..rows.len(), |other| other < row)) == Some(row)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// By term.
    all: Box<[Other]>,
}

/// Whether a value, as JSON, is told with this spelling.
fn tells(told: &[u8], spelling: &str) -> bool {
    let inner = told.get(1..told.len().saturating_sub(1)).unwrap_or_default();
    if inner.contains(&b'\\') { told == told_as(spelling).as_bytes() } else { inner == spelling.as_bytes() }
}

/// A spelling as JSON.
pub(crate) fn told_as(spelling: &str) -> String {
    Value::from(spelling).to_string()
}

impl Others {
    /// From those of any order.
    pub(crate) fn new(mut all: Vec<Other>) -> Others {
        all.sort_unstable_by(|a, b| (a.term, &a.spelling).cmp(&(b.term, &b.spelling)));
        Others { all: all.into() }
    }

    fn of(&self, term: u32) -> &[Other] {
        let start = self.all.partition_point(|other| other.term < term);
        let end = self.all.partition_point(|other| other.term <= term);
        self.all.get(start..end).unwrap_or_default()
    }

    /// Whether the row, which has the term, spells it like this.
    pub(crate) fn spells(&self, term: u32, told: &[u8], row: u32, spelling: &str) -> bool {
        match self.of(term).iter().find(|other| other.has(row)) {
            Some(other) => &*other.spelling == spelling,
            None => tells(told, spelling),
        }
    }

    /// Those of the next version. `renumbered` tells the new numbers of terms, `sets` the rows of the new ones,
    /// `told` how the known ones were told so far; `fresh` is the (term, row, spelling) of what is read anew. Of
    /// terms that are to be told in another way the way comes along.
    pub(crate) fn next<'t>(
        &self,
        shift: &Shift,
        renumbered: impl Fn(u32) -> Option<u32>,
        sets: &Sets,
        told: impl Fn(u32) -> Option<&'t [u8]>,
        fresh: &[(u32, u32, &str)],
    ) -> (Others, BTreeMap<u32, String>) {
        let mut terms: BTreeMap<u32, BTreeMap<Box<str>, Vec<u32>>> = BTreeMap::new();
        for other in &self.all {
            if let Some(term) = renumbered(other.term) {
                let mut rows = Vec::new();
                other.rows.each(0..other.rows.len(), |row| rows.extend(shift.kept(row)));
                terms.entry(term).or_default().insert(other.spelling.clone(), rows);
            }
        }
        for (term, row, spelling) in fresh {
            if !told(*term).is_some_and(|told| tells(told, spelling)) {
                terms.entry(*term).or_default().entry((*spelling).into()).or_default().push(*row);
            }
        }
        let (mut all, mut changed) = (Vec::new(), BTreeMap::new());
        for (term, mut spellings) in terms {
            spellings.retain(|_, rows| !rows.is_empty());
            let apart: usize = spellings.values().map(Vec::len).sum();
            let usual = told(term).and_then(|told| serde_json::from_slice::<String>(told).ok());
            let usual = usual.map(|spelling| (spelling, (sets.len(term) as usize).saturating_sub(apart)));
            let usual = usual.filter(|(_, uses)| *uses > 0);
            // Of as many uses the smallest spelling; they come in order.
            let best = spellings.iter().rev().max_by_key(|(_, rows)| rows.len());
            let best = best.map(|(spelling, rows)| (spelling.clone(), rows.len()));
            if let Some((best, uses)) = best
                && usual
                    .as_ref()
                    .is_none_or(|(spelling, most)| uses > *most || (uses == *most && *best < **spelling))
            {
                if let Some((spelling, _)) = usual {
                    let mut rows = Vec::new();
                    let apart: std::collections::HashSet<u32> =
                        spellings.values().flatten().copied().collect();
                    sets.rows(term).each(|row| rows.extend((!apart.contains(&row)).then_some(row)));
                    spellings.insert(spelling.into(), rows);
                }
                spellings.remove(&best);
                changed.insert(term, told_as(&best));
            }
            for (spelling, mut rows) in spellings {
                rows.sort_unstable();
                all.push(Other::new(term, &spelling, &rows));
            }
        }
        (Others::new(all), changed)
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        let texts: usize = self.all.iter().map(|other| other.spelling.len() + other.rows.weight()).sum();
        size_of_val::<[_]>(&self.all) + texts
    }
}
