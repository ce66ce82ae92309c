//! Money and miles.

use super::super::mileage::{self, Reading};
use super::super::money::{self, Rank};
use super::*;

fn price(cell: &str) -> Parsed<i64> {
    money::parse(cell, "", "USD")
}

#[test]
fn prices_of_every_form() {
    for cell in [
        "24990",
        "24,990",
        "$24,990",
        "$24,990.00",
        "24990 USD",
        "USD 24,990",
        "US$24,990",
        "24'990",
        "24\u{2019}990",
        "24 990",
        "24\u{a0}990",
        "24\u{202f}990",
        "$24,990*",
        "24.990,00",
        "24,990.00",
        "24.990",
        "24 990,00",
        "$ 24,990",
        "24990.0000",
        "usd 24990",
        "24990$",
        "24990 dollars",
        "$24,990 USD",
        "24'990.00",
        "24990.-",
        " 24990\t",
        "024990",
    ] {
        assert_eq!(price(cell), Parsed::of(24_990), "{cell:?}");
    }
    assert_eq!(price("8995.0000"), Parsed::of(8995));
    assert_eq!(price("8995.000"), Parsed::of(8995));
    assert_eq!(price("1,345,678"), Parsed::of(1_345_678));
    assert_eq!(price("1.345.678,00"), Parsed::of(1_345_678));
    assert_eq!(price("100"), Parsed::of(100));
    assert_eq!(price("3,000,000"), Parsed::of(3_000_000));
}

#[test]
fn one_separator_is_thousands_or_a_decimal_mark() {
    // Field report 14.
    for cell in ["1,600", "1.600", "1.600,00", "1,600.00"] {
        assert_eq!(price(cell), Parsed::of(1_600), "{cell:?}");
    }
    assert_eq!(price("24990.50"), Parsed::with(24_991, Code::PriceRounded));
    assert_eq!(price("24990,50"), Parsed::with(24_991, Code::PriceRounded));
    assert_eq!(price("24990.01"), Parsed::with(24_991, Code::PriceRounded));
    assert_eq!(price("15700.99"), Parsed::with(15_701, Code::PriceRounded));
    assert_eq!(price("1234.567"), Parsed::with(1_235, Code::PriceRounded));
}

#[test]
fn prices_that_are_none() {
    for cell in [
        "",
        " ",
        "\u{a0}",
        "0",
        "$0",
        "0.0000",
        "0.00",
        "Call",
        "CALL",
        "Call for price",
        "Call for Price!",
        "Contact us",
        "Contact dealer",
        "N/A",
        "n/a",
        "TBD",
        "$ -",
        "-",
        "--",
        "\u{2014}",
        "Llame",
        "Llame para precio",
        "Consultar",
        "Please call",
        "Call (512) 555-0142",
        "none",
        "null",
        "USD",
        "$",
        "0 USD",
        "$0.00",
    ] {
        assert_eq!(price(cell), Parsed::refused(Code::PriceNotDisclosed), "{cell:?}");
    }
    for cell in [
        "1",
        "$1",
        "99",
        "99.99",
        "-500",
        "-$500",
        "$-500",
        "(12,500)",
        "($12,500)",
        "12,500-",
        "99999",
        "999999",
        "$999,999",
        "11111",
        "111111",
        "123456",
        "1234567",
        "3000001",
        "3,000,000.01",
        "99999999999999999999999",
        ".50",
        "0.5",
        "\u{2212}500",
    ] {
        assert_eq!(price(cell), Parsed::refused(Code::PriceImplausible), "{cell:?}");
    }
    for cell in [
        "24.9k",
        "24,99O",
        "24K",
        "twenty",
        "24990 OBO",
        "from 24,990",
        "24990/25990",
        "24,990-25,990",
        "24990 25990",
        "1,00,000",
        "24 99",
        "2.4990,00",
        "1.2e4",
        "24990 + tax",
        "MSRP 24990",
        "24\u{e9}990",
        "\u{663}\u{664}",
        "12,3456,7",
        "24,990 USD EUR",
        "\u{516d}\u{4e07}",
        "$$24990",
    ] {
        assert_eq!(price(cell), Parsed::refused(Code::PriceUnparseable), "{cell:?}");
    }
}

#[test]
fn prices_of_another_currency() {
    for cell in
        ["20988 CAD", "C$20,988", "\u{20ac}20.988", "20 988 EUR", "\u{a3}20988", "$20,988 CAD", "MX$ 300,000"]
    {
        assert_eq!(price(cell), Parsed::refused(Code::PriceCurrency), "{cell:?}");
    }
    assert_eq!(money::parse("20988", "CAD", "USD"), Parsed::refused(Code::PriceCurrency));
    assert_eq!(money::parse("20988", "usd", "USD"), Parsed::of(20_988));
    assert_eq!(money::parse("$20988", "CAD", "CAD"), Parsed::of(20_988));
    assert_eq!(money::parse("$20988", "", "CAD"), Parsed::of(20_988));
    assert_eq!(money::parse("$20988", "", "EUR"), Parsed::refused(Code::PriceCurrency));
    assert_eq!(money::parse("20.988,50 \u{20ac}", "", "EUR"), Parsed::with(20_989, Code::PriceRounded));
    // Nothing is nothing in every currency.
    assert_eq!(money::parse("0", "CAD", "USD"), Parsed::refused(Code::PriceNotDisclosed));
    assert_eq!(money::parse("20988", "gold", "USD"), Parsed::refused(Code::PriceCurrency));
}

fn chosen(amounts: &[(Rank, &str)]) -> (Option<i64>, Vec<(Option<usize>, Code)>) {
    let amounts: Vec<_> = amounts.iter().map(|(rank, cell)| (*rank, price(cell))).collect();
    let asked = money::choose(&amounts);
    assert_eq!(asked.place.and_then(|place| amounts[place].1.value), asked.value);
    (asked.value, asked.codes)
}

#[test]
fn the_price_of_the_internet_wins() {
    use Rank::{Internet, Ordinary, Special};
    assert_eq!(chosen(&[(Ordinary, "13788"), (Internet, "12288")]), (Some(12_288), vec![]));
    assert_eq!(chosen(&[(Ordinary, "13788"), (Internet, "14288")]), (Some(14_288), vec![]));
    assert_eq!(chosen(&[(Ordinary, "21390"), (Internet, "0")]), (Some(21_390), vec![]));
    assert_eq!(chosen(&[(Special, "100"), (Internet, "200"), (Ordinary, "300")]).0, Some(200));
}

#[test]
fn a_special_wins_unless_it_is_above_the_ordinary_price() {
    use Rank::{Ordinary, Special};
    assert_eq!(chosen(&[(Ordinary, "8395.0000"), (Special, "7495.0000")]).0, Some(7_495));
    assert_eq!(chosen(&[(Ordinary, "7088.0000"), (Special, "12088.0000")]).0, Some(7_088));
    assert_eq!(chosen(&[(Ordinary, "7088"), (Special, "7088")]).0, Some(7_088));
    assert_eq!(chosen(&[(Ordinary, "20495.0000"), (Special, "0.0000")]), (Some(20_495), vec![]));
    assert_eq!(chosen(&[(Ordinary, "0"), (Special, "7495")]), (Some(7_495), vec![]));
}

#[test]
fn what_is_said_of_several_amounts() {
    use Rank::{Internet, Ordinary, Special};
    let none = vec![(Some(0), Code::PriceNotDisclosed)];
    assert_eq!(chosen(&[(Ordinary, "$0"), (Internet, "$0")]), (None, none));
    assert_eq!(chosen(&[]), (None, vec![(None, Code::PriceNotDisclosed)]));
    assert_eq!(chosen(&[(Ordinary, "$1"), (Internet, "")]), (None, vec![(Some(0), Code::PriceImplausible)]));
    // The shopper sees the ordinary price; the dealer learns that his special was not understood.
    assert_eq!(
        chosen(&[(Ordinary, "25000"), (Internet, "24.9k")]),
        (Some(25_000), vec![(Some(1), Code::PriceUnparseable)])
    );
    // Rounding of an amount that is not used is nobody's concern.
    assert_eq!(chosen(&[(Ordinary, "25000.50"), (Special, "24000")]), (Some(24_000), vec![]));
    assert_eq!(chosen(&[(Ordinary, "25000.50")]), (Some(25_001), vec![(Some(0), Code::PriceRounded)]));
}

#[test]
fn miles_of_every_form() {
    let miles = |cell: &str| mileage::read(cell, "");
    table(
        &[
            ("34703", Reading::Miles(34_703, false)),
            ("163,251", Reading::Miles(163_251, false)),
            ("49,866 mi", Reading::Miles(49_866, false)),
            ("151,110 miles", Reading::Miles(151_110, false)),
            ("26 miles", Reading::Miles(26, false)),
            ("61,000 km", Reading::Miles(37_904, true)),
            ("88,000 km", Reading::Miles(54_681, true)),
            ("61.000 km", Reading::Miles(37_904, true)),
            ("61 000 Kilometers", Reading::Miles(37_904, true)),
            ("1.6", Reading::Miles(2, false)),
            ("12.4 mi", Reading::Miles(12, false)),
            ("61000.0", Reading::Miles(61_000, false)),
            ("0", Reading::Miles(0, false)),
            ("500000", Reading::Miles(500_000, false)),
            ("TMU", Reading::NotActual),
            ("Exempt", Reading::NotActual),
            ("Not Actual", Reading::NotActual),
            ("", Reading::Blank),
            ("N/A", Reading::Blank),
            ("-", Reading::Blank),
            ("999,999", Reading::Implausible),
            ("999999", Reading::Implausible),
            ("999999 km", Reading::Implausible),
            ("500001", Reading::Implausible),
            ("-5", Reading::Implausible),
            ("99999999999999999999", Reading::Implausible),
            ("sixty-one k", Reading::Unparseable),
            ("61k", Reading::Unparseable),
            ("about 61000", Reading::Unparseable),
            ("61000/62000", Reading::Unparseable),
            ("\u{516d}\u{4e07}", Reading::Unparseable),
        ],
        miles,
    );
    table(
        &[
            ("K", Reading::Miles(88_452, true)),
            ("km", Reading::Miles(88_452, true)),
            ("KM", Reading::Miles(88_452, true)),
            ("M", Reading::Miles(142_350, false)),
            ("MI", Reading::Miles(142_350, false)),
            ("", Reading::Miles(142_350, false)),
        ],
        |unit| mileage::read("142350", unit),
    );
    // The cell goes before the column.
    assert_eq!(mileage::read("100 mi", "KM"), Reading::Miles(100, false));
    assert_eq!(mileage::read("98170", "km"), Reading::Miles(61_000, true));
}

#[test]
fn kilometres_are_rounded_half_up() {
    // 0.621371 × 3,500 = 2,174.7985
    assert_eq!(mileage::read("3500", "km").miles(), Some(2_175));
    for km in [1_i64, 2, 3, 7, 99, 1_000, 12_345, 499_999] {
        let exact = km * 621_371;
        let wanted = exact / 1_000_000 + i64::from(exact % 1_000_000 >= 500_000);
        assert_eq!(mileage::read(&km.to_string(), "km").miles(), Some(wanted), "{km}");
    }
}

#[test]
fn miles_are_judged_by_what_they_are_of() {
    use Code::{
        MileageConvertedKm, MileageImplausible, MileageMissing, MileageNewHigh, MileageNotActual,
        MileageUnparseable,
    };
    let settle = |reading, condition, kind| mileage::settle(reading, Some(condition), kind);
    assert_eq!(settle(Reading::Blank, "used", "car"), Parsed::refused(MileageMissing));
    assert_eq!(settle(Reading::Miles(0, false), "used", "motorcycle"), Parsed::refused(MileageMissing));
    assert_eq!(settle(Reading::Miles(0, false), "cpo", "car"), Parsed::refused(MileageMissing));
    assert_eq!(settle(Reading::Miles(0, false), "new", "car"), Parsed::of(0));
    assert_eq!(settle(Reading::Blank, "new", "car"), Parsed::nothing());
    for reading in [Reading::Blank, Reading::Miles(0, false), Reading::Miles(12, false), Reading::NotActual] {
        assert_eq!(settle(reading, "used", "trailer"), Parsed::nothing());
    }
    assert_eq!(settle(Reading::Blank, "used", "rv"), Parsed::nothing());
    assert_eq!(settle(Reading::Miles(20, false), "used", "rv"), Parsed::of(20));
    assert_eq!(settle(Reading::Miles(200, false), "new", "car"), Parsed::of(200));
    // Field report 7.
    assert_eq!(settle(Reading::Miles(3_412, false), "new", "car"), Parsed::with(3_412, MileageNewHigh));
    assert_eq!(
        settle(Reading::Miles(300, true), "new", "car"),
        Parsed { value: Some(300), codes: vec![MileageConvertedKm, MileageNewHigh] }
    );
    assert_eq!(settle(Reading::NotActual, "used", "car"), Parsed::refused(MileageNotActual));
    assert_eq!(settle(Reading::Implausible, "used", "car"), Parsed::refused(MileageImplausible));
    assert_eq!(settle(Reading::Unparseable, "used", "car"), Parsed::refused(MileageUnparseable));
}
