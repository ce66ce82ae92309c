//! VIN and model year.

use super::super::vin::{self, Vin};
use super::super::year;
use super::*;

fn standard(vin: &str) -> Vin {
    Vin::Standard(vin.to_owned(), false)
}

#[test]
fn vins_are_cleaned() {
    table(
        &[
            ("  1n48fxp6xmx396378 ", standard("1N48FXP6XMX396378")),
            ("'JM1WNYK51DB863791", standard("JM1WNYK51DB863791")),
            ("1M8GDM9A-XKP0-42788", standard("1M8GDM9AXKP042788")),
            ("1M8GDM9A XKP042788", standard("1M8GDM9AXKP042788")),
            ("1M8GDM9AXKP042788\u{feff}", standard("1M8GDM9AXKP042788")),
            ("", Vin::Absent),
            (" ", Vin::Absent),
            ("N/A", Vin::Absent),
            ("NONE", Vin::Absent),
            ("-", Vin::Absent),
            ("TBD", Vin::Absent),
            ("00000000000000000", Vin::Absent),
            ("1.23457E+16", Vin::Malformed),
            ("12345678901234567", Vin::Malformed),
            ("1C4MA2H44GBO54287", Vin::Malformed),
            ("5FNAHSF29FC64603", Vin::Malformed),
            ("1M8GDM9AXKP0427881", Vin::Malformed),
            ("1M8GDM9AXKP04278\u{e9}", Vin::Malformed),
        ],
        |cell| vin::parse(cell, Some(2019)),
    );
}

#[test]
fn the_check_digit_is_a_rule_of_north_america() {
    // Field report 20, and the ones that prove little.
    assert_eq!(vin::parse("1M8GDM9AXKP042788", None), standard("1M8GDM9AXKP042788"));
    assert_eq!(vin::parse("1M8GDM9A0KP042788", None), Vin::Standard("1M8GDM9A0KP042788".into(), true));
    assert_eq!(vin::parse("1M8GDM9A0KP042788", None).code(), Some(Code::VinCheckDigit));
    assert_eq!(vin::parse("11111111111111111", None).code(), None);
    // Field report 17: a European number has no such digit.
    assert_eq!(vin::parse("WVGZZZ5NZEW069297", None), standard("WVGZZZ5NZEW069297"));
    assert_eq!(vin::check_digit("1M8GDM9AXKP042788"), Some('X'));
    assert_eq!(vin::check_digit("1M8GDM9AXKP04278O"), None);
}

#[test]
fn a_change_of_one_sign_is_found_by_the_check_digit() {
    // The arithmetic is modulo 11: another digit in any place but the ninth changes the sum.
    let good = "1M8GDM9AXKP042788";
    for place in (0..17).filter(|place| *place != 8) {
        let old = good.as_bytes()[place];
        if old.is_ascii_digit() {
            let mut bad = good.as_bytes().to_vec();
            bad[place] = if old == b'9' { b'8' } else { old + 1 };
            assert!(!vin::check_digit_fits(std::str::from_utf8(&bad).unwrap()), "{place}");
        }
    }
}

#[test]
fn numbers_from_before_the_standard() {
    assert_eq!(vin::parse("194677S101234", Some(1967)), Vin::Chassis("194677S101234".into()));
    assert_eq!(vin::parse("F14HNEA1234", Some(1979)), Vin::Chassis("F14HNEA1234".into()));
    assert_eq!(vin::parse("F14HNEA1234", Some(1979)).code(), Some(Code::VinPre1981));
    assert_eq!(vin::parse("F14HNEA1234", Some(1981)), Vin::Malformed);
    assert_eq!(vin::parse("F14HNEA1234", None), Vin::Malformed);
    assert_eq!(vin::parse("F14", Some(1979)), Vin::Malformed);
    assert_eq!(vin::parse("1.23457E+11", Some(1979)), Vin::Malformed);
    assert_eq!(vin::parse("NONE", Some(1979)), Vin::Absent);
}

#[test]
fn a_likely_slip_is_offered() {
    let good = "1M8GDM9AXKP042788";
    for (slip, fix) in [
        ("1M8GDM9AXKPO42788", Some(good)),
        ("IM8GDM9AXKP042788", Some(good)),
        ("1MBGDM9AXKP042788", Some(good)),
        // Two slips, the wrong length, and none at all.
        ("IM8GDM9AXKPO42788", None),
        ("1M8GDM9AXKPO4278", None),
        (good, None),
        ("", None),
    ] {
        assert_eq!(vin::likely_fix(slip).as_deref(), fix, "{slip}");
    }
}

const NOW: i32 = 2026;

#[test]
fn years_as_stated() {
    table(
        &[
            ("2019", Parsed::of(2019)),
            (" 1967 ", Parsed::of(1967)),
            ("2019.0", Parsed::of(2019)),
            ("2028", Parsed::of(2028)),
            ("1900", Parsed::of(1900)),
            ("17", Parsed::with(2017, Code::YearTwoDigit)),
            ("00", Parsed::with(2000, Code::YearTwoDigit)),
            ("28", Parsed::with(2028, Code::YearTwoDigit)),
            ("29", Parsed::with(1929, Code::YearTwoDigit)),
            ("99", Parsed::with(1999, Code::YearTwoDigit)),
            ("", Parsed::nothing()),
            ("N/A", Parsed::nothing()),
            ("20I9", Parsed::refused(Code::YearInvalid)),
            ("3019", Parsed::refused(Code::YearInvalid)),
            ("2029", Parsed::refused(Code::YearInvalid)),
            ("1899", Parsed::refused(Code::YearInvalid)),
            ("0", Parsed::refused(Code::YearInvalid)),
            ("-2019", Parsed::refused(Code::YearInvalid)),
            ("2019.5", Parsed::refused(Code::YearInvalid)),
            ("99999999999999", Parsed::refused(Code::YearInvalid)),
        ],
        |cell| year::read(cell, NOW),
    );
}

#[test]
fn years_of_vins() {
    // Field reports 18 and 19.
    assert_eq!(
        year::settle(Parsed::nothing(), Some("1HGCM82614A004352"), "car", NOW),
        Parsed::with(2004, Code::YearFromVin)
    );
    assert_eq!(
        year::settle(Parsed::nothing(), Some("2HKRW2H82LH600201"), "car", NOW),
        Parsed::with(2020, Code::YearFromVin)
    );
    assert_eq!(year::settle(Parsed::nothing(), None, "car", NOW), Parsed::refused(Code::YearMissing));
    // A European number says nothing about the year.
    assert_eq!(
        year::settle(Parsed::nothing(), Some("WVGZZZ5NZEW069297"), "car", NOW),
        Parsed::refused(Code::YearMissing)
    );
    assert_eq!(
        year::settle(Parsed::refused(Code::YearInvalid), Some("1HGCM82614A004352"), "car", NOW),
        Parsed::refused(Code::YearInvalid)
    );
}

/// A North American number with these signs at positions 7 and 10; its check digit does not matter here.
fn coded(seventh: char, tenth: char) -> String {
    format!("1HGCM8{seventh}1{}{tenth}A004352", 4)
}

#[test]
fn every_code_of_position_10() {
    let codes = "ABCDEFGHJKLMNPRSTVWXY123456789";
    for (place, code) in codes.chars().enumerate() {
        let first = 1980 + i32::try_from(place).unwrap();
        assert_eq!(year::candidates(&coded('2', code)), Some([first, first + 30]), "{code}");
        assert_eq!(year::from_vin(&coded('2', code), "car", NOW), Some(first), "{code}");
        let second = if first + 30 <= NOW + 1 { first + 30 } else { first };
        assert_eq!(year::from_vin(&coded('H', code), "car", NOW), Some(second), "{code}");
        // Motorcycles and trailers use position 7 as they like.
        assert_eq!(year::from_vin(&coded('2', code), "motorcycle", NOW), Some(second), "{code}");
    }
    for code in ['U', 'Z', '0'] {
        assert_eq!(year::candidates(&coded('H', code)), None, "{code}");
    }
    assert_eq!(year::candidates("short"), None);
}

#[test]
fn a_stated_year_wins_over_the_vin() {
    // J is 1988 or 2018.
    let vin = coded('T', 'J');
    let of = |stated| year::settle(Parsed::of(stated), Some(&vin), "car", NOW);
    assert_eq!(of(2018), Parsed::of(2018));
    assert_eq!(of(1988), Parsed::of(1988));
    assert_eq!(of(2019), Parsed::with(2019, Code::YearVinMismatch));
    let both = year::settle(year::read("19", NOW), Some(&vin), "car", NOW);
    assert_eq!(both, Parsed { value: Some(2019), codes: vec![Code::YearTwoDigit, Code::YearVinMismatch] });
    let european = vin.replacen('1', "W", 1);
    assert_eq!(year::settle(Parsed::of(2019), Some(&european), "car", NOW), Parsed::of(2019));
}
