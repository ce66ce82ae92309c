//! Miles on the clock (FEEDS.md 5.2).

use super::number;
use super::{Parsed, fold, is_nothing};
use crate::code::Code;

/// Above this nobody believes a clock.
const MOST: i64 = 500_000;
/// Above this a new unit was driven more than a delivery.
const NEW_MOST: i64 = 200;

/// What a mileage cell says, before it is known what kind of unit it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Nothing.
    Blank,
    /// Miles; whether they came as kilometres.
    Miles(i64, bool),
    /// The true distance is not known, by the seller's own word.
    NotActual,
    /// Not a distance that a vehicle drives.
    Implausible,
    /// Not a number.
    Unparseable,
}

impl Reading {
    /// The miles, where there are some.
    pub fn miles(self) -> Option<i64> {
        match self {
            Reading::Miles(miles, _) => Some(miles),
            _ => None,
        }
    }
}

/// Reads a distance. The unit that the cell itself names goes before `unit`, what the unit column (or the name of the
/// column) says; without either it is miles.
pub fn read(cell: &str, unit: &str) -> Reading {
    let text = number::plain(cell);
    let word = fold(&text);
    if is_nothing(&text) {
        return Reading::Blank;
    }
    if is_not_actual(&word) {
        return Reading::NotActual;
    }
    let Some((before, middle, after)) = number::around(&text) else { return Reading::Unparseable };
    let named = fold(after);
    let kilometres = match named.as_str() {
        "" => is_kilometres(unit),
        // A bare `k` behind a number may as well be thousands.
        "k" => return Reading::Unparseable,
        "mi" | "mile" | "miles" | "millas" | "milla" | "m" => false,
        _ if is_kilometres(after) => true,
        _ => return Reading::Unparseable,
    };
    let negative = before.trim() == "-";
    if !(before.trim().is_empty() || negative) {
        return Reading::Unparseable;
    }
    let Some(distance) = number::read(middle) else { return Reading::Unparseable };
    let Some(whole) = distance.floor().filter(|whole| *whole <= 1_000_000_000) else {
        return Reading::Implausible;
    };
    if negative && !distance.is_zero() {
        return Reading::Implausible;
    }
    let half = i64::from(distance.fraction.as_str() >= "5");
    let miles = if kilometres { to_miles(whole, &distance.fraction) } else { whole + half };
    if miles > MOST || distance.whole == "999999" || distance.whole.starts_with("9999999") {
        return Reading::Implausible;
    }
    Reading::Miles(miles, kilometres)
}

/// Kilometres to whole miles, half up, without floating point.
fn to_miles(whole: i64, fraction: &str) -> i64 {
    let thousandths: i64 = fraction
        .chars()
        .chain("000".chars())
        .take(3)
        .filter_map(|digit| digit.to_digit(10))
        .fold(0, |sum, digit| sum * 10 + i64::from(digit));
    let billionths = (whole * 1000 + thousandths) * 621_371;
    (billionths + 500_000_000) / 1_000_000_000
}

/// Whether a word for the unit means kilometres.
pub fn is_kilometres(unit: &str) -> bool {
    matches!(
        fold(unit).as_str(),
        "k" | "km"
            | "kms"
            | "kilometer"
            | "kilometers"
            | "kilometre"
            | "kilometres"
            | "kilometro"
            | "kilometros"
            | "kmt"
    )
}

fn is_not_actual(word: &str) -> bool {
    matches!(
        word,
        "tmu"
            | "exempt"
            | "exemptmileage"
            | "mileageexempt"
            | "notactual"
            | "notactualmileage"
            | "truemileageunknown"
            | "truemilesunknown"
            | "actualmileageunknown"
            | "mileageunknown"
            | "unknownmileage"
            | "milesunknown"
            | "nam"
            | "odometerbroken"
            | "exceedsmechanicallimits"
            | "exceedslimits"
            | "noactual"
            | "exento"
    )
}

/// What is published of a reading for a unit of this condition (`new`, `used`, `cpo`) and kind.
pub fn settle(reading: Reading, condition: Option<&str>, vehicle_type: &str) -> Parsed<i64> {
    if vehicle_type == "trailer" {
        return Parsed::nothing();
    }
    let is_new = condition == Some("new");
    match reading {
        Reading::Blank | Reading::Miles(0, _) if !is_new => match vehicle_type {
            "car" | "motorcycle" => Parsed::refused(Code::MileageMissing),
            _ => Parsed::nothing(),
        },
        Reading::Blank => Parsed::nothing(),
        Reading::NotActual => Parsed::refused(Code::MileageNotActual),
        Reading::Implausible => Parsed::refused(Code::MileageImplausible),
        Reading::Unparseable => Parsed::refused(Code::MileageUnparseable),
        Reading::Miles(miles, converted) => {
            let mut parsed = Parsed::of(miles);
            if converted && miles > 0 {
                parsed.codes.push(Code::MileageConvertedKm);
            }
            if is_new && miles > NEW_MOST {
                parsed.codes.push(Code::MileageNewHigh);
            }
            parsed
        }
    }
}
