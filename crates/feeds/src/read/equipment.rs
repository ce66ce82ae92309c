//! Body, engine, driven axles, colours, equipment: what a shopper filters by.

use super::assemble::text_of;
use super::say::Say;
use crate::aliases::{Target, fold_name};
use crate::mapping::Picked;
use crate::unit::Unit;
use crate::values::{condition, number, text, vocabulary};

pub(super) fn read(unit: &mut Unit, cells: &Picked<'_>, say: &mut Say<'_>) {
    let vehicle_type = unit.vehicle_type.clone();
    unit.body = cells.all(Target::Body).find_map(|cell| vocabulary::body(cell.text, &vehicle_type));
    let drive = cells.first(Target::Driveline);
    let driveline = vocabulary::driveline(drive.map_or("", |cell| cell.text));
    say.say_all(&driveline.codes, "driveline", drive);
    unit.driveline = driveline.value;
    unit.transmission = cells.all(Target::Transmission).find_map(|cell| vocabulary::transmission(cell.text));
    unit.fuel = cells.all(Target::Fuel).find_map(|cell| vocabulary::fuel(cell.text));
    unit.engine = text_of(cells, Target::Engine, "engine", text::name, say);
    unit.exterior_color = text_of(cells, Target::ExteriorColor, "exterior_color", text::name, say);
    unit.interior_color = text_of(cells, Target::InteriorColor, "interior_color", text::name, say);
    unit.displacement_cc = whole(cells, Target::DisplacementCc, 20_000);
    unit.city_mpg = whole(cells, Target::CityMpg, 300);
    unit.highway_mpg = whole(cells, Target::HighwayMpg, 300);
    unit.electric_range_mi = quantity(cells, Target::ElectricRangeMi, 2_000.0);
    unit.battery_kwh = quantity(cells, Target::BatteryKwh, 2_000.0);
    unit.motor_power_hp = quantity(cells, Target::MotorPowerHp, 5_000.0);
    let flag = cells.first(Target::DcFastCharge);
    unit.dc_fast_charge = flag.map(|cell| condition::flag(cell.text));
    unit.charge_port = text_of(cells, Target::ChargePort, "charge_port", text::name, say);
    unit.features = features(cells, say);
}

/// Equipment of the first column that has some; of a list in a document all its places.
fn features(cells: &Picked<'_>, say: &mut Say<'_>) -> Vec<String> {
    let Some(first) = cells.first(Target::Features) else { return Vec::new() };
    let name = fold_name(say.column(first));
    let mut texts = Vec::new();
    let same: Vec<_> =
        cells.all(Target::Features).filter(|cell| fold_name(say.column(*cell)) == name).collect();
    for cell in &same {
        texts.push(match text::repair(cell.text) {
            None => cell.text.to_owned(),
            Some(repaired) => {
                say.say(crate::code::Code::EncodingRepaired, "features", Some(*cell));
                repaired
            }
        });
    }
    match texts.as_slice() {
        // A place of a list is one thing, whatever signs it has in it.
        [only] if !say.column(first).contains('[') => vocabulary::features(only),
        texts => vocabulary::each_once(texts.iter().map(String::as_str)),
    }
}

/// A number with a fraction, in whatever unit stands behind it; none beyond what can be true.
fn quantity(cells: &Picked<'_>, target: Target, most: f64) -> Option<f64> {
    cells.all(target).find_map(|cell| {
        let text = number::plain(cell.text);
        let (before, digits, _) = number::around(&text)?;
        let read = number::read(digits).filter(|_| before.is_empty())?;
        let value: f64 = format!("{}.{}", read.floor()?, read.fraction).trim_end_matches('.').parse().ok()?;
        (value > 0.0 && value <= most).then_some(value)
    })
}

fn whole(cells: &Picked<'_>, target: Target, most: i64) -> Option<i64> {
    cells.all(target).find_map(|cell| {
        let text = number::plain(cell.text);
        let (before, digits, _) = number::around(&text)?;
        let value = number::read(digits).filter(|_| before.is_empty())?.floor()?;
        (1..=most).contains(&value).then_some(value)
    })
}
