//! One unit by its identifiers.

use crate::keys::KeyIndex;
use crate::unit::Unit;
use crate::{Removed, Snapshot};

/// What identifiers lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// A unit of the lot.
    Live {
        /// The dealer's id of the unit.
        vehicle_id: &'a str,
        /// The unit's detail document, a JSON object.
        document: &'a str,
    },
    /// A unit that was in the lot and is not any more.
    Removed,
    /// No unit known.
    Nothing,
}

/// Finds a unit (AAP.md 7.5): by VIN, then by the dealer's id, then by stock number, exactly as spelled.
///
/// The first identifier that leads to a unit of the lot decides, whatever the others say; of several units with
/// one stock number the one with the smallest id. Only if none does can a removed unit be the answer.
pub fn find<'a>(
    snapshot: &'a Snapshot,
    vin: Option<&str>,
    vehicle_id: Option<&str>,
    stock: Option<&str>,
) -> Found<'a> {
    let unit = |row: u32| snapshot.units.get(row as usize);
    let row = vin
        .and_then(|key| snapshot.vins.first(key, |row| unit(row).and_then(Unit::vin)))
        .or_else(|| vehicle_id.and_then(|key| snapshot.row_of(key)))
        .or_else(|| stock.and_then(|key| snapshot.stocks.first(key, |row| unit(row).and_then(Unit::stock))));
    if let Some(unit) = row.and_then(unit) {
        return Found::Live { vehicle_id: unit.vehicle_id(), document: unit.detail() };
    }
    let gone = &snapshot.gone;
    let known = [(vin, &gone.vins), (vehicle_id, &gone.ids), (stock, &gone.stocks)]
        .into_iter()
        .any(|(key, index)| key.is_some_and(|key| gone.knows(index, key)));
    if known { Found::Removed } else { Found::Nothing }
}

/// Identifiers of removed units. They are many more than a lot changes in a day, so they are kept tight.
#[derive(Debug)]
pub(crate) struct Gone {
    text: Box<str>,
    ends: Box<[u32]>,
    ids: KeyIndex,
    vins: KeyIndex,
    stocks: KeyIndex,
}

impl Gone {
    pub(crate) fn build(removed: &[Removed]) -> Gone {
        let mut text = String::new();
        let mut ends = Vec::new();
        let mut place = |keys: &mut dyn Iterator<Item = &str>| -> Vec<u32> {
            keys.map(|key| {
                text.push_str(key);
                ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
                u32::try_from(ends.len() - 1).unwrap_or(u32::MAX)
            })
            .collect()
        };
        let ids = place(&mut removed.iter().map(|unit| unit.vehicle_id.as_str()));
        let vins = place(&mut removed.iter().filter_map(|unit| unit.vin.as_deref()));
        let stocks = place(&mut removed.iter().filter_map(|unit| unit.stock.as_deref()));
        let key = |at: u32| key_at(&text, &ends, at);
        let index = |places: Vec<u32>| {
            KeyIndex::build(places.into_iter().filter_map(|place| Some((place, key(place)?))), key)
        };
        let (ids, vins, stocks) = (index(ids), index(vins), index(stocks));
        Gone { text: text.into(), ends: ends.into(), ids, vins, stocks }
    }

    fn knows(&self, index: &KeyIndex, key: &str) -> bool {
        index.first(key, |at| key_at(&self.text, &self.ends, at)).is_some()
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        self.text.len() + self.ends.len() * 4 + self.ids.weight() + self.vins.weight() + self.stocks.weight()
    }
}

fn key_at<'t>(text: &'t str, ends: &[u32], at: u32) -> Option<&'t str> {
    let end = *ends.get(at as usize)? as usize;
    let start =
        at.checked_sub(1).and_then(|before| ends.get(before as usize)).map_or(0, |start| *start as usize);
    text.get(start..end)
}
