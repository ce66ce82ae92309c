//! Section 6: VINs and years.

use serde_json::json;

use super::{codes, row, unit, vin};

#[test]
fn spellings_of_a_vin_are_one() {
    let one = vin(1);
    let (a, b) = one.split_at(9);
    for spelt in
        [one.to_lowercase(), format!("'{one}"), format!("{a} {b}"), format!("{a}-{b}"), format!(" {one} ")]
    {
        let (unit, codes) = unit(&[("vin", &spelt)]);
        assert_eq!((unit.vin.as_deref(), codes), (Some(one.as_str()), vec![]), "{spelt}");
    }
    for empty in ["", "N/A", "NONE", "-", "TBD", "n/a"] {
        let (unit, codes) = unit(&[("vin", empty)]);
        assert_eq!((unit.vin, codes), (None, vec!["VIN_MISSING"]), "{empty}");
        assert_eq!(super::codes(&row(&[("vin", empty), ("stock", "")])), ["IDENTITY_MISSING"], "{empty}");
    }
}

#[test]
fn every_substitution_of_one_digit_is_noticed_in_north_america_only() {
    let one = vin(1);
    for place in 9..17 {
        let digit = one.as_bytes()[place];
        if !digit.is_ascii_digit() {
            continue;
        }
        let mut other = one.clone();
        other.replace_range(place..=place, if digit == b'7' { "8" } else { "7" });
        if place == 9 {
            continue;
        }
        let (unit, codes) = unit(&[("vin", &other)]);
        assert_eq!(unit.vin.as_deref(), Some(other.as_str()));
        assert_eq!(codes, ["VIN_CHECK_DIGIT"], "{other}");
    }
    for (number, said) in [
        ("WVGZZZ5NZEW069297", &[][..]),
        ("1M8GDM9AXKP042788", &[]),
        ("1M8GDM9A0KP042788", &["VIN_CHECK_DIGIT"]),
        ("11111111111111111", &[]),
    ] {
        let year = if number.starts_with("1M8") { "1989" } else { "2014" };
        let (unit, codes) =
            unit(&[("vin", number), ("year", if number.starts_with("111") { "2001" } else { year })]);
        assert_eq!((unit.vin.as_deref(), codes.as_slice()), (Some(number), said), "{number}");
    }
}

#[test]
fn malformed_numbers_are_errors_from_1981_on() {
    let one = vin(1);
    for wrong in [
        &one[..16],
        &format!("{one}1"),
        &one.replace('F', "O"),
        &one.replace('F', "I"),
        &one.replace('F', "Q"),
        "1.23457E+16",
        "1FMCU0F6_LU000001",
    ] {
        assert_eq!(codes(&row(&[("vin", wrong)])), ["VIN_MALFORMED"], "{wrong}");
    }
    for old in ["6R07C123456", "12345", "1Z37J3S412345"] {
        let (unit, codes) = unit(&[("vin", old), ("year", "1966")]);
        assert_eq!((unit.vin, codes), (None, vec!["VIN_PRE1981"]), "{old}");
        assert_eq!(unit.other_attributes["chassis_number"], json!(old));
    }
}

#[test]
fn years() {
    for (year, expected, said) in [
        ("2020", Some(2020), &[][..]),
        ("20", Some(2020), &["YEAR_TWO_DIGIT"]),
        ("", Some(2020), &["YEAR_FROM_VIN"]),
        ("2018", Some(2018), &["YEAR_VIN_MISMATCH"]),
        ("1990", Some(1990), &[]),
    ] {
        let (unit, codes) = unit(&[("year", year)]);
        assert_eq!((unit.year, codes.as_slice()), (expected, said), "{year:?}");
    }
    for (two, whole) in [("00", 2000), ("28", 2028), ("29", 1929), ("99", 1999), ("81", 1981)] {
        let (unit, codes) = unit(&[("year", two), ("vin", "")]);
        assert_eq!(unit.year, Some(whole), "{two} {codes:?}");
        assert!(codes.contains(&"YEAR_TWO_DIGIT"), "{codes:?}");
    }
    for wrong in ["1899", "2029", "20020", "abc", "2020.5", "0"] {
        assert_eq!(codes(&row(&[("year", wrong)])), ["YEAR_INVALID"], "{wrong}");
    }
    for fine in ["1900", "2028"] {
        assert_eq!(unit(&[("year", fine), ("vin", "")]).0.year, Some(fine.parse().unwrap()));
    }
    assert_eq!(codes(&row(&[("year", ""), ("vin", "")])), ["YEAR_MISSING"]);
}

#[test]
fn the_alphabet_of_years_has_gaps_and_a_cycle() {
    // Position 7 is a digit: 1980 to 2009; a letter: 2010 to 2039, and never beyond the next model year.
    let letters = "ABCDEFGHJKLMNPRSTVWXY123456789";
    for (number, code) in letters.chars().enumerate() {
        for (seventh, base) in [('0', 1980), ('F', 2010)] {
            let year = base + i32::try_from(number).unwrap();
            let mut made = format!("1FMCU0{seventh}60{code}U000001");
            let digit = feeds::values::vin::check_digit(&made).unwrap();
            made.replace_range(8..9, &digit.to_string());
            // Before 1981 there is no number of seventeen signs that tells a year.
            if !(1981..=2027).contains(&year) {
                continue;
            }
            let (unit, codes) = unit(&[("vin", &made), ("year", "")]);
            assert_eq!((unit.year, codes), (Some(year), vec!["YEAR_FROM_VIN"]), "{made}");
        }
    }
    for (number, year) in [("1HGCM82614A004352", 2004), ("2HKRW2H82LH600201", 2020)] {
        let (unit, codes) = unit(&[("vin", number), ("year", "")]);
        assert_eq!(unit.year, Some(year), "{number} {codes:?}");
        assert!(codes.contains(&"YEAR_FROM_VIN"));
    }
}
