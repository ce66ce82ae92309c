//! Identifiers of removed units. They are many more than a lot changes in a day, so they are kept tight, and what
//! changes among them is kept beside them until it is worth writing them anew.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Removed;
use crate::bitset::Bits;
use crate::keys::KeyIndex;

/// The changes may be one in so many of the entries.
const SPARE: usize = 16;
/// And that many more.
const SPARE_ENTRIES: usize = 32;
/// Texts of an entry: id, VIN, stock number.
const TEXTS: usize = 3;

/// The removed units of a version.
#[derive(Debug)]
pub(crate) struct Gone {
    all: Arc<Entries>,
    /// Entries of `all` that do not count any more, ascending.
    without: Arc<[u32]>,
    later: Arc<Entries>,
}

/// Identifiers of units that never change.
#[derive(Debug)]
struct Entries {
    text: Box<str>,
    /// Where each text ends, [`TEXTS`] an entry.
    ends: Box<[u32]>,
    /// Which of the texts there are.
    has: Bits,
    ids: KeyIndex,
    vins: KeyIndex,
    stocks: KeyIndex,
}

impl Entries {
    fn new(removed: &[Removed]) -> Entries {
        let mut text = String::new();
        let mut ends = Vec::with_capacity(removed.len() * TEXTS);
        let mut has = Bits::empty(removed.len() * TEXTS);
        for unit in removed {
            for part in [Some(unit.vehicle_id.as_str()), unit.vin.as_deref(), unit.stock.as_deref()] {
                if let Some(part) = part {
                    text.push_str(part);
                    has.insert(number(ends.len()));
                }
                ends.push(number(text.len()));
            }
        }
        let index = |which: usize| {
            let key = |entry| text_of(&text, &ends, &has, entry, which);
            let keys = (0..number(removed.len())).filter_map(|entry| Some((entry, key(entry)?)));
            KeyIndex::build(keys, key)
        };
        let (ids, vins, stocks) = (index(0), index(1), index(2));
        Entries { text: text.into(), ends: ends.into(), has, ids, vins, stocks }
    }

    fn len(&self) -> usize {
        self.ends.len() / TEXTS
    }

    fn text(&self, entry: u32, which: usize) -> Option<&str> {
        text_of(&self.text, &self.ends, &self.has, entry, which)
    }

    fn index(&self, which: usize) -> &KeyIndex {
        match which {
            0 => &self.ids,
            1 => &self.vins,
            _ => &self.stocks,
        }
    }

    fn having(&self, which: usize, key: &str) -> impl Iterator<Item = u32> {
        self.index(which).all(key, move |entry| self.text(entry, which))
    }

    fn unit(&self, entry: u32) -> Removed {
        let text = |which| self.text(entry, which).map(str::to_owned);
        Removed { vehicle_id: text(0).unwrap_or_default(), vin: text(1), stock: text(2) }
    }

    fn weight(&self) -> usize {
        let keys = self.ids.weight() + self.vins.weight() + self.stocks.weight();
        size_of::<Entries>() + self.text.len() + self.ends.len() * 4 + self.has.weight() + keys
    }
}

fn text_of<'t>(text: &'t str, ends: &[u32], has: &Bits, entry: u32, which: usize) -> Option<&'t str> {
    let place = entry as usize * TEXTS + which;
    if !has.has(number(place)) {
        return None;
    }
    let start = place.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |start| *start as usize);
    text.get(start..*ends.get(place)? as usize)
}

/// Texts and entries stay far below 2^32: 180 days of sales of one dealer.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Gone {
    /// The removed units of a lot.
    pub(crate) fn new(removed: &[Removed]) -> Gone {
        Gone {
            all: Arc::new(Entries::new(removed)),
            without: Arc::default(),
            later: Arc::new(Entries::new(&[])),
        }
    }

    /// Whether one of these identifies a removed unit.
    pub(crate) fn knows(&self, vin: Option<&str>, vehicle_id: Option<&str>, stock: Option<&str>) -> bool {
        let known = |(which, key): (usize, &str)| {
            self.all.having(which, key).any(|entry| self.counts(entry))
                || self.later.having(which, key).next().is_some()
        };
        let keys = [vehicle_id, vin, stock];
        (0..).zip(keys).filter_map(|(which, key)| Some((which, key?))).any(known)
    }

    fn counts(&self, entry: u32) -> bool {
        self.without.binary_search(&entry).is_err()
    }

    /// The next version: without those of `ids`, with `removed`.
    pub(crate) fn next(&self, ids: &HashSet<&str>, removed: Vec<Removed>) -> Gone {
        let mut without: Vec<u32> = Vec::new();
        let mut stale = false;
        for id in ids {
            without.extend(self.all.having(0, id).filter(|entry| self.counts(*entry)));
            stale |= self.later.having(0, id).next().is_some();
        }
        let later = if removed.is_empty() && !stale {
            Arc::clone(&self.later)
        } else {
            let kept = (0..number(self.later.len())).map(|entry| self.later.unit(entry));
            let kept = kept.filter(|unit| !ids.contains(unit.vehicle_id.as_str()));
            let all: Vec<Removed> = kept.chain(removed).collect();
            Arc::new(Entries::new(&all))
        };
        let without: Arc<[u32]> = if without.is_empty() {
            Arc::clone(&self.without)
        } else {
            without.extend_from_slice(&self.without);
            without.sort_unstable();
            without.into()
        };
        let next = Gone { all: Arc::clone(&self.all), without, later };
        let spare = next.without.len() + next.later.len();
        if spare <= next.all.len() / SPARE + SPARE_ENTRIES { next } else { next.anew() }
    }

    fn anew(&self) -> Gone {
        let kept = (0..number(self.all.len())).filter(|entry| self.counts(*entry));
        let later = (0..number(self.later.len())).map(|entry| self.later.unit(entry));
        let all: Vec<Removed> = kept.map(|entry| self.all.unit(entry)).chain(later).collect();
        Gone::new(&all)
    }

    /// Bytes on the heap, without what `other` has as well.
    pub(crate) fn weight_beside(&self, other: Option<&Gone>) -> usize {
        let shared = |same: fn(&Gone, &Gone) -> bool| other.is_some_and(|other| same(self, other));
        let all = if shared(|a, b| Arc::ptr_eq(&a.all, &b.all)) { 0 } else { self.all.weight() };
        let later = if shared(|a, b| Arc::ptr_eq(&a.later, &b.later)) { 0 } else { self.later.weight() };
        let without =
            if shared(|a, b| Arc::ptr_eq(&a.without, &b.without)) { 0 } else { self.without.len() * 4 };
        all + later + without
    }
}
