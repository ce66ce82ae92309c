//! One unit by its identifiers.

use crate::Snapshot;
use crate::unit::Unit;

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
    let unit = |row: u32| snapshot.units.get(row);
    let row = vin
        .and_then(|key| snapshot.vins.first(key, |row| unit(row).and_then(Unit::vin)))
        .or_else(|| vehicle_id.and_then(|key| snapshot.row_of(key)))
        .or_else(|| stock.and_then(|key| snapshot.stocks.first(key, |row| unit(row).and_then(Unit::stock))));
    if let Some(unit) = row.and_then(unit) {
        return Found::Live { vehicle_id: unit.vehicle_id(), document: unit.detail() };
    }
    if snapshot.gone.knows(vin, vehicle_id, stock) { Found::Removed } else { Found::Nothing }
}
