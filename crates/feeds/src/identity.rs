//! Which rows stand for one unit, and which of them counts (FEEDS.md 7, and 9 for feeds of changes).
//!
//! A unit is known by its VIN, or by rooftop and stock number where it has none. Only keys are kept of each row; what
//! counts is settled after the last one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::code::Code;
use crate::config::Mode;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A unit, with a hash of all that is published of it.
    Unit(u64),
    /// Left out for what it is.
    Excluded,
    /// Left out because the row says that the unit is deleted.
    Deleted,
}

/// A row with an identity.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    pub(crate) kind: Kind,
    rooftop: u32,
    stock: Option<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    Vin(Box<str>),
    Stock(u32, Box<str>),
}

/// Something to say about a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) row: u32,
    pub(crate) code: Code,
    pub(crate) vin: Option<Box<str>>,
    pub(crate) stock: Option<Box<str>>,
    pub(crate) kept_row: Option<u32>,
}

/// What is settled after the last row.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// Rows of units that are not published after all.
    pub(crate) dropped: BTreeSet<u32>,
    /// Excluded rows that are the last word on their unit.
    pub(crate) last_words: BTreeSet<u32>,
    pub(crate) remarks: Vec<Remark>,
    /// Published units by rooftop.
    pub(crate) by_rooftop: BTreeMap<String, u32>,
}

/// The rows of a file by the unit that they stand for.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    units: HashMap<Key, Vec<Entry>>,
    rooftops: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
}

impl Identities {
    /// Takes a row. One without VIN and stock number stands for nothing that could be found again.
    pub(crate) fn add(
        &mut self,
        row: u32,
        kind: Kind,
        vin: Option<&str>,
        rooftop: Option<&str>,
        stock: Option<&str>,
    ) {
        let rooftop = rooftop.map_or(0, |rooftop| self.rooftop(rooftop));
        let key = match (vin, stock) {
            (Some(vin), _) => Key::Vin(vin.into()),
            (None, Some(stock)) => Key::Stock(rooftop, stock.into()),
            (None, None) => return,
        };
        let stock = if vin.is_some() { stock.map(Into::into) } else { None };
        let entries = self.units.entry(key).or_insert_with(|| Vec::with_capacity(1));
        entries.push(Entry { row, kind, rooftop, stock });
    }

    /// Rooftops by number, from 1.
    fn rooftop(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.rooftops.push(name.into());
        let place = u32::try_from(self.rooftops.len()).unwrap_or(u32::MAX);
        self.places.insert(name.into(), place);
        place
    }

    /// Settles what counts. `on_offer`: what a feed of changes may delete, where that is known.
    pub(crate) fn settle(mut self, mode: Mode, on_offer: Option<&BTreeSet<String>>) -> Settled {
        let mut settled = Settled::default();
        let units = std::mem::take(&mut self.units);
        let mut published: Vec<(u32, &Key, &Entry)> = Vec::new();
        for (key, entries) in &units {
            let mut group = Group { key, entries, settled: &mut settled };
            let survivor = match mode {
                Mode::Full => group.of_full(),
                Mode::Delta => group.of_delta(on_offer),
            };
            published.extend(survivor.map(|entry| (entry.row, key, entry)));
        }
        published.sort_by_key(|(row, ..)| *row);
        if mode == Mode::Delta {
            delete_by_stock(&units, &mut published, &mut settled);
        }
        remark_reused_stock(&published, &mut settled);
        for (_, _, entry) in &published {
            let place = (entry.rooftop as usize).checked_sub(1);
            if let Some(name) = place.and_then(|place| self.rooftops.get(place)) {
                *settled.by_rooftop.entry(name.to_string()).or_default() += 1;
            }
        }
        settled.remarks.sort_by_key(|remark| remark.row);
        settled
    }
}

/// The rows that stand for one unit.
struct Group<'g, 's> {
    key: &'g Key,
    entries: &'g [Entry],
    settled: &'s mut Settled,
}

impl<'g> Group<'g, '_> {
    fn remark(&mut self, entry: &Entry, code: Code, kept_row: Option<u32>) {
        let (vin, stock) = named(self.key, entry);
        self.settled.remarks.push(Remark { row: entry.row, code, vin, stock, kept_row });
    }

    /// The whole lot: what is published, if anything.
    fn of_full(&mut self) -> Option<&'g Entry> {
        if let [only] = self.entries {
            return matches!(only.kind, Kind::Unit(_)).then_some(only);
        }
        // In the order of their first unit: of several rooftops the first one in the file owns the unit.
        let mut rooftops: Vec<u32> = Vec::new();
        for entry in self.entries {
            if matches!(entry.kind, Kind::Unit(_)) && !rooftops.contains(&entry.rooftop) {
                rooftops.push(entry.rooftop);
            }
        }
        let mut owner: Option<&'g Entry> = None;
        let mut losers = Vec::new();
        let mut others = Vec::new();
        for rooftop in rooftops {
            let survivor = self.of_rooftop(rooftop, &mut losers);
            match (survivor, owner) {
                (Some(survivor), None) => owner = Some(survivor),
                (Some(survivor), Some(_)) => others.push(survivor),
                (None, _) => {}
            }
        }
        for other in others {
            losers.push(Loser { entry: other, code: Code::DuplicateVinRooftop, kept: None });
        }
        for loser in losers {
            if matches!(loser.entry.kind, Kind::Unit(_)) {
                self.settled.dropped.insert(loser.entry.row);
            }
            self.remark(loser.entry, loser.code, owner.map(|owner| owner.row).or(loser.kept));
        }
        owner
    }

    /// The rows of one rooftop: the last one counts. One sold and one in stock under another stock number is a trade
    /// that came back, whichever stands first.
    fn of_rooftop(&mut self, rooftop: u32, losers: &mut Vec<Loser<'g>>) -> Option<&'g Entry> {
        let mut current: Option<&'g Entry> = None;
        let mut excluded: Vec<&'g Entry> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.rooftop == rooftop) {
            match (entry.kind, current) {
                (Kind::Unit(_), None) => current = Some(entry),
                (Kind::Unit(hash), Some(before)) if before.kind == Kind::Unit(hash) => {
                    losers.push(Loser { entry, code: Code::DuplicateRow, kept: Some(before.row) });
                }
                (Kind::Unit(_), Some(before)) => {
                    losers.push(Loser { entry: before, code: Code::DuplicateVin, kept: Some(entry.row) });
                    current = Some(entry);
                }
                (_, Some(before))
                    if before.stock == entry.stock || entry.stock.is_none() || before.stock.is_none() =>
                {
                    losers.push(Loser { entry: before, code: Code::DuplicateVin, kept: Some(entry.row) });
                    current = None;
                    excluded.push(entry);
                }
                _ => excluded.push(entry),
            }
        }
        if let Some(current) = current {
            losers.extend(excluded.into_iter().map(|entry| Loser {
                entry,
                code: Code::DuplicateVin,
                kept: Some(current.row),
            }));
        }
        current
    }

    /// Changes: the order inside the file decides, and the last row is the last word.
    fn of_delta(&mut self, on_offer: Option<&BTreeSet<String>>) -> Option<&'g Entry> {
        let known_before = on_offer.map(|on_offer| match self.key {
            Key::Vin(vin) => on_offer.contains(&**vin),
            Key::Stock(_, stock) => on_offer.contains(&**stock),
        });
        let mut known = known_before;
        let mut last: Option<&'g Entry> = None;
        let mut earlier = Vec::new();
        for entry in self.entries {
            if let (Kind::Unit(hash), Some(before)) = (entry.kind, last)
                && before.kind == Kind::Unit(hash)
            {
                self.settled.dropped.insert(entry.row);
                self.remark(entry, Code::DuplicateRow, Some(before.row));
                continue;
            }
            if entry.kind == Kind::Deleted && known == Some(false) {
                self.remark(entry, Code::DeleteUnknown, None);
            }
            known = known.map(|_| matches!(entry.kind, Kind::Unit(_)));
            earlier.extend(last.replace(entry));
        }
        let last = last?;
        for entry in earlier {
            if matches!(entry.kind, Kind::Unit(_)) {
                self.settled.dropped.insert(entry.row);
            }
            self.remark(entry, Code::SupersededInFile, Some(last.row));
        }
        if matches!(last.kind, Kind::Unit(_)) {
            return Some(last);
        }
        self.settled.last_words.insert(last.row);
        None
    }
}

struct Loser<'g> {
    entry: &'g Entry,
    code: Code,
    /// The row that it lost to, where nothing of the VIN is published in the end.
    kept: Option<u32>,
}

/// VIN and stock number of a row.
fn named(key: &Key, entry: &Entry) -> (Option<Box<str>>, Option<Box<str>>) {
    match key {
        Key::Vin(vin) => (Some(vin.clone()), entry.stock.clone()),
        Key::Stock(_, stock) => (None, Some(stock.clone())),
    }
}

fn stock_of<'k>(key: &'k Key, entry: &'k Entry) -> Option<&'k str> {
    match key {
        Key::Vin(_) => entry.stock.as_deref(),
        Key::Stock(_, stock) => Some(stock),
    }
}

/// A delete that names a stock number alone is about the unit of that number, also where an earlier row of the file
/// gave it with a VIN.
fn delete_by_stock<'u>(
    units: &'u HashMap<Key, Vec<Entry>>,
    published: &mut Vec<(u32, &'u Key, &'u Entry)>,
    settled: &mut Settled,
) {
    let mut deletes: HashMap<(u32, &str), u32> = HashMap::new();
    for (key, entries) in units {
        if let (Key::Stock(rooftop, stock), Some(last)) = (key, entries.last())
            && settled.last_words.contains(&last.row)
        {
            deletes.insert((*rooftop, stock), last.row);
        }
    }
    if deletes.is_empty() {
        return;
    }
    published.retain(|(row, key, entry)| {
        let delete = stock_of(key, entry).and_then(|stock| deletes.get(&(entry.rooftop, stock)));
        let Some(delete) = delete.filter(|delete| **delete > *row) else { return true };
        settled.dropped.insert(*row);
        let (vin, stock) = named(key, entry);
        let code = Code::SupersededInFile;
        settled.remarks.push(Remark { row: *row, code, vin, stock, kept_row: Some(*delete) });
        false
    });
}

/// One stock number for two units of a rooftop: both stay, and the second is told.
fn remark_reused_stock(published: &[(u32, &Key, &Entry)], settled: &mut Settled) {
    let mut used: BTreeSet<(u32, &str)> = BTreeSet::new();
    for (row, key, entry) in published {
        let Some(stock) = stock_of(key, entry) else { continue };
        if !used.insert((entry.rooftop, stock)) {
            let (vin, stock) = named(key, entry);
            settled.remarks.push(Remark { row: *row, code: Code::StockReused, vin, stock, kept_row: None });
        }
    }
}

#[cfg(test)]
mod tests;
