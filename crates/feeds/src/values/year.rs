//! Model years, as stated and as coded in the VIN (FEEDS.md 6).

use super::vin::{check_digit_fits, is_north_american, is_well_formed};
use super::{Parsed, is_nothing};
use crate::code::Code;

/// First year that a feed may state.
const FIRST: i32 = 1900;

/// The codes of position 10 from 1980 on; they come again after thirty years.
const CODES: &str = "ABCDEFGHJKLMNPRSTVWXY123456789";

/// Reads a year cell; `current` is the year of today. Blank gives nothing.
pub fn read(cell: &str, current: i32) -> Parsed<i32> {
    if is_nothing(cell) {
        return Parsed::nothing();
    }
    let text = cell.trim().trim_start_matches('\'');
    // `2020.0` is how spreadsheets and JSON writers give numbers away.
    let text = text
        .split_once('.')
        .map_or(text, |(whole, rest)| if rest.bytes().all(|byte| byte == b'0') { whole } else { text });
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Parsed::refused(Code::YearInvalid);
    }
    let Ok(year) = text.parse::<i32>() else { return Parsed::refused(Code::YearInvalid) };
    match text.len() {
        2 => Parsed::with(if year <= 28 { 2000 + year } else { 1900 + year }, Code::YearTwoDigit),
        4 if (FIRST..=current + 2).contains(&year) => Parsed::of(year),
        _ => Parsed::refused(Code::YearInvalid),
    }
}

/// The two years that position 10 may mean; none where it is no code.
pub fn candidates(vin: &str) -> Option<[i32; 2]> {
    if !is_well_formed(vin) {
        return None;
    }
    let place = CODES.find(vin.chars().nth(9)?)?;
    let first = 1980 + i32::try_from(place).ok()?;
    Some([first, first + 30])
}

/// The year that the VIN alone tells, never beyond the next model year.
///
/// A digit in position 7 of a car means the first thirty years, a letter the second; other vehicles break that rule, and
/// theirs is the later year that is possible. Only numbers made by the American rule are read: a wrong check digit on a
/// number from elsewhere says that it is none.
pub fn from_vin(vin: &str, vehicle_type: &str, current: i32) -> Option<i32> {
    if !(is_north_american(vin) || check_digit_fits(vin)) {
        return None;
    }
    let [first, second] = candidates(vin)?;
    let digit = vin.chars().nth(6)?.is_ascii_digit();
    if second > current + 1 || (vehicle_type == "car" && digit) {
        return (first <= current + 1).then_some(first);
    }
    Some(second)
}

/// Puts together what the feed states and what the VIN says. The feed wins.
pub fn settle(mut stated: Parsed<i32>, vin: Option<&str>, vehicle_type: &str, current: i32) -> Parsed<i32> {
    let vin = vin.filter(|vin| is_well_formed(vin));
    match (stated.value, vin) {
        (Some(year), Some(vin)) => {
            if is_north_american(vin) && candidates(vin).is_some_and(|years| !years.contains(&year)) {
                stated.codes.push(Code::YearVinMismatch);
            }
            stated
        }
        (None, vin) if stated.codes.is_empty() => {
            match vin.and_then(|vin| from_vin(vin, vehicle_type, current)) {
                Some(year) => Parsed::with(year, Code::YearFromVin),
                None => Parsed::refused(Code::YearMissing),
            }
        }
        _ => stated,
    }
}
