//! The amounts of a row, and which of them is asked for the unit.

use super::say::Say;
use crate::aliases::Target;
use crate::mapping::{Cell, Picked};
use crate::unit::Unit;
use crate::values::money::{self, Rank};

/// Reads all amounts. Each that can be read is kept by the name of its column, for the dealer's price policy; the asking
/// price is chosen among those that are one.
pub(super) fn read(unit: &mut Unit, cells: &Picked<'_>, tenant_currency: &str, say: &mut Say<'_>) {
    let stated = cells.text(Target::Currency);
    let mut asking = Vec::new();
    let mut places: Vec<Cell<'_>> = Vec::new();
    for cell in cells.cells() {
        let rank = match cell.target {
            Target::InternetPrice => Some(Rank::Internet),
            Target::SpecialPrice => Some(Rank::Special),
            Target::AskingPrice => Some(Rank::Ordinary),
            Target::Msrp | Target::Amount => None,
            _ => continue,
        };
        let amount = money::parse(cell.text, stated, tenant_currency);
        if let Some(value) = amount.value {
            unit.amounts.entry(say.column(*cell).to_owned()).or_insert(value);
            if cell.target == Target::Msrp && unit.msrp.is_none() {
                unit.msrp = Some(value);
            }
        }
        if let Some(rank) = rank {
            asking.push((rank, amount));
            places.push(*cell);
        }
    }
    let asked = money::choose(&asking);
    unit.asking_price = asked.value;
    for (place, code) in asked.codes {
        say.say(code, "asking_price", place.and_then(|place| places.get(place).copied()));
    }
}
