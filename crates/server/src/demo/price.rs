//! What a unit costs, under the price rules of AAP.md 8: `price` includes every mandatory dealer charge, and
//! where that is not known there is no `price`.

use super::catalog::{Kind, Model, Powertrain};
use super::dealers::{Charges, Fee};
use super::dice::Dice;

/// The figures of one unit, whole US dollars.
pub(super) struct Prices {
    pub(super) msrp: i64,
    pub(super) list_price: i64,
    /// Off the list price, open to everyone.
    pub(super) discount: i64,
    /// `list_price` − `discount` + all mandatory charges; `None` while the charges are not settled.
    pub(super) price: Option<i64>,
    /// The breakdown, where the rooftop publishes one and there is a `price`.
    pub(super) fees: Option<Vec<Fee>>,
}

/// What is left of the sticker after so many years, per mille.
const KEPT: [i64; 12] = [905, 810, 735, 665, 600, 540, 485, 435, 390, 350, 315, 285];
/// Stickers were about this much lower in each earlier year, per mille.
const YEARLY_RISE: i64 = 22;

pub(super) struct Asked<'a> {
    pub(super) model: &'a Model,
    pub(super) powertrain: &'a Powertrain,
    pub(super) trim_price: i64,
    pub(super) year: i64,
    pub(super) condition: &'static str,
    pub(super) mileage: Option<i64>,
    pub(super) expected_mileage: i64,
    /// Nobody has settled the final price yet.
    pub(super) unsettled: bool,
}

pub(super) fn price(dice: &mut Dice, asked: &Asked<'_>, charges: &Charges) -> Prices {
    let options = dice.between(0, 9) * asked.model.msrp / 400;
    let today = asked.model.msrp + asked.trim_price + asked.powertrain.extra + options;
    let msrp = rounded(today * (1000 - YEARLY_RISE * (2026 - asked.year)) / 1000, 5, 0);
    let (list_price, discount) =
        if asked.condition == "new" { new_price(dice, asked, msrp) } else { used_price(dice, asked, msrp) };
    let fees = charges.of(asked.model.kind, asked.condition);
    let charged = fees.iter().map(|fee| fee.amount).sum::<i64>();
    let price = (!asked.unsettled).then_some(list_price - discount + charged);
    let fees = price.filter(|_| charges.published).map(|_| fees);
    Prices { msrp, list_price, discount, price, fees }
}

fn new_price(dice: &mut Dice, asked: &Asked<'_>, msrp: i64) -> (i64, i64) {
    let cut = if dice.chance(50) { dice.between(0, 30) } else { 0 };
    let list = rounded(msrp * (1000 - cut) / 1000, 5, 0);
    // Last year's models have to go.
    let (share, most) = if asked.year < 2027 { (65, 60) } else { (25, 25) };
    let discount = if dice.chance(share) { rounded(list * dice.between(8, most) / 1000, 50, 0) } else { 0 };
    (list, discount)
}

fn used_price(dice: &mut Dice, asked: &Asked<'_>, msrp: i64) -> (i64, i64) {
    let age = usize::try_from((2026 - asked.year).clamp(0, 11)).unwrap_or(0);
    let mut value = msrp * KEPT.get(age).copied().unwrap_or(285) / 1000;
    // Batteries frighten buyers of old ones; trucks and trailers keep their value.
    let factor = match (asked.model.kind, asked.model.body) {
        _ if asked.powertrain.is_electric() => 880,
        (Kind::Trailer, _) => 1200,
        (_, "truck") => 1050,
        _ => 1000,
    };
    value = value * factor / 1000 * if asked.condition == "cpo" { 1040 } else { 1000 } / 1000;
    if let Some(miles) = asked.mileage {
        let per_ten_thousand = value * 45 / 1000;
        let most = value / 6;
        value += ((asked.expected_mileage - miles) * per_ten_thousand / 10_000).clamp(-most, most);
    }
    value = value * dice.between(970, 1030) / 1000;
    // Never above what a new one costs.
    let list = rounded(value.min(msrp * 93 / 100), 100, 95);
    let discount = if dice.chance(15) { rounded(list * dice.between(15, 45) / 1000, 50, 0) } else { 0 };
    (list, discount)
}

/// Down to a multiple of `step`, plus `end`: 23,412 becomes 23,495 with steps of 100 and 95 at the end.
fn rounded(amount: i64, step: i64, end: i64) -> i64 {
    amount / step * step + end
}
