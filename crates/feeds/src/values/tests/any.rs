//! What holds for any text: nothing panics, and a normalised form read again is the same.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use proptest::prelude::*;

use super::super::photos::{self, Cell};
use super::super::vin::Vin;
use super::super::{
    condition, dates, mileage, money, status, text, url, vehicle_type, vin, vocabulary, year,
};
use super::*;

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 30).unwrap()
}

/// Anything, and things that look like what cells hold.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,40}",
        "[$ 0-9.,'()*-]{0,14}",
        "[0-9]{1,4}[-/. ][0-9A-Za-z]{1,4}[-/. ][0-9]{1,4}[ T]?[0-9:.+-]{0,12}",
        "(<[a-z!/-]{0,7}>?|&[a-z#x0-9]{0,6};?|[a-z ]){0,20}",
        "(https?:)?/?/?[a-z.]{0,8}/[ -~]{0,20}[|,; ](https?:)?/?/?[a-z.]{0,8}/[a-z.]{0,8}",
        "[A-Za-z0-9 -]{15,19}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(cell in cell(), other in cell()) {
        let words: BTreeMap<String, String> = [(other.clone(), "pending".to_owned())].into();
        money::parse(&cell, &other, "USD");
        mileage::settle(mileage::read(&cell, &other), Some("used"), "car");
        condition::parse(&cell, condition::flag(&other), None, &other);
        status::parse(&cell, &words);
        vocabulary::features(&cell);
        vehicle_type::parse([cell.as_str()], &other);
        dates::timestamp(&cell, today(), true, dates::zone("America/Chicago"));
        photos::read([Cell::at_its_place(&cell), Cell { text: &other, order: Some(1) }], 3);
        vin::likely_fix(&cell);
        year::settle(year::read(&cell, 2026), Some(&other), "car", 2026);
        text::repair(&cell);
    }

    #[test]
    fn normal_forms_stay(cell in cell()) {
        if let Some(amount) = money::parse(&cell, "", "USD").value {
            prop_assert_eq!(money::parse(&amount.to_string(), "", "USD"), Parsed::of(amount));
        }
        if let Some(miles) = mileage::read(&cell, "").miles() {
            prop_assert_eq!(mileage::read(&miles.to_string(), "").miles(), Some(miles));
        }
        if let Some(day) = dates::date(&cell, today(), false).value {
            prop_assert_eq!(dates::date(&day.to_string(), today(), false), Parsed::of(day));
        }
        if let Some(instant) = dates::timestamp(&cell, today(), false, dates::zone("America/Chicago")).value {
            prop_assert_eq!(dates::timestamp(&instant, today(), false, None), Parsed::of(instant.clone()));
        }
        if let Some(page) = url::page(&cell).value {
            prop_assert_eq!(url::page(&page), Parsed::of(page.clone()));
        }
        for address in photos::read([Cell::at_its_place(&cell)], 9).addresses {
            prop_assert_eq!(url::page(&address), Parsed::of(address.clone()));
        }
        if let Vin::Standard(vin, doubtful) = vin::parse(&cell, None) {
            prop_assert_eq!(vin::parse(&vin, None), Vin::Standard(vin.clone(), doubtful));
        }
        // Entities are decoded at most twice, so that texts with more of them in one another may change again.
        if !cell.contains('&') {
            for form in [|cell: &str| vocabulary::body(cell, "car"), vocabulary::fuel, vocabulary::transmission, vocabulary::make, text::line] {
                if let Some(word) = form(&cell) {
                    prop_assert_eq!(form(&word), Some(word.clone()));
                }
            }
            if let Some(word) = vocabulary::driveline(&cell).value {
                prop_assert_eq!(vocabulary::driveline(&word), Parsed::of(word.clone()));
            }
        }
    }

    #[test]
    fn letters_are_no_price(before in "[0-9]{1,3}", letter in "[a-zA-Z\u{e0}-\u{ff}]", after in "[0-9]{0,4}") {
        let parsed = money::parse(&format!("{before}{letter}{after}"), "", "USD");
        prop_assert_eq!(parsed.value, None);
    }

    #[test]
    fn words_beside_a_price_spoil_it(word in "[a-zA-Z]{1,8}", amount in 1_000_u32..90_000) {
        let dollars = ["USD", "US", "DOLLAR", "DOLLARS", "DOLARES", "USDOLLARS"];
        prop_assume!(!dollars.iter().any(|known| known.eq_ignore_ascii_case(&word)));
        prop_assert_eq!(money::parse(&format!("{word} {amount}"), "", "USD").value, None);
        prop_assert_eq!(money::parse(&format!("{amount} {word}"), "", "USD").value, None);
    }

    #[test]
    fn a_price_is_never_understated(whole in 100_i64..2_999_999, cents in 0_u32..100) {
        let cell = format!("{whole}.{cents:02}");
        if let Some(amount) = money::parse(&cell, "", "USD").value {
            prop_assert!(amount >= whole && amount <= whole + 1);
            prop_assert_eq!(amount == whole + 1, cents > 0);
        }
    }

    #[test]
    fn a_description_holds_no_control_and_no_double_blank(cell in cell()) {
        if let Some(text) = text::description(&cell) {
            prop_assert!(!text.is_empty() && text.trim() == text && !text.contains("  "));
            prop_assert!(!text.chars().any(char::is_control));
        }
    }

    #[test]
    fn a_computed_check_digit_fits(signs in "[1-5][A-HJ-NPR-Z0-9]{16}") {
        let digit = vin::check_digit(&signs).unwrap();
        let mut vin = signs.clone();
        vin.replace_range(8..9, &digit.to_string());
        prop_assert!(vin::check_digit_fits(&vin));
        prop_assert_eq!(vin::parse(&vin, None).code(), None);
    }
}
