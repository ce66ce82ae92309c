use std::collections::HashSet;

use super::*;

fn finding(code: Code) -> Finding {
    Finding {
        code,
        row: Some(12),
        field: Some("mileage".into()),
        column: Some("Odometer".into()),
        value: Some("sixty-one k".into()),
        vin: Some("1HGCM82633A004352".into()),
        stock: Some("T100".into()),
        kept_row: Some(9),
    }
}

fn bare(code: Code) -> Finding {
    Finding {
        code,
        row: None,
        field: None,
        column: None,
        value: None,
        vin: None,
        stock: None,
        kept_row: None,
    }
}

fn is_prose(text: &str) -> bool {
    text.ends_with('.')
        && !text.contains(['{', '}', '_'])
        && !text.contains("  ")
        && !text.contains("TODO")
        && text.chars().next().is_some_and(char::is_uppercase)
}

#[test]
fn every_code_has_words_of_its_own() {
    let (mut said, mut advised) = (HashSet::new(), HashSet::new());
    for code in Code::ALL {
        for finding in [finding(*code), bare(*code)] {
            let sentence = code.sentence(&finding);
            assert!(is_prose(&sentence), "{}: {sentence}", code.as_str());
            assert!(!sentence.contains(code.as_str()), "{sentence}");
            assert!(said.insert(sentence.clone()), "twice: {sentence}");
            assert!(sentence.chars().count() < 400, "{sentence}");
        }
        let advice = code.advice();
        assert!(is_prose(advice), "{}: {advice}", code.as_str());
        // Nothing to do is what several codes come to.
        assert!(advised.insert(advice) || advice.starts_with("Nothing to do"), "twice: {advice}");
    }
}

#[test]
fn a_row_is_named_with_its_unit_and_the_text_as_sent() {
    for code in Code::ALL.iter().filter(|code| matches!(code.level(), Level::Error | Level::Warning)) {
        let sentence = code.sentence(&finding(*code));
        assert!(sentence.contains("Row 12 (stock T100, VIN 1HGCM82633A004352)"), "{sentence}");
    }
    assert_eq!(
        Code::MileageUnparseable.sentence(&finding(Code::MileageUnparseable)),
        "Row 12 (stock T100, VIN 1HGCM82633A004352) has a mileage that is not a number: “Odometer” says “sixty-one k”. \
         The vehicle is shown without it."
    );
    assert!(Code::DuplicateRow.sentence(&finding(Code::DuplicateRow)).contains("row 9"));
}

#[test]
fn a_vin_with_one_likely_slip_is_said_with_its_fix() {
    let mut finding = bare(Code::VinMalformed);
    finding.row = Some(20);
    finding.column = Some("VIN".into());
    // An O where the number has a zero.
    finding.value = Some("1M8GDM9AXKPO42788".into());
    let sentence = Code::VinMalformed.sentence(&finding);
    assert!(sentence.ends_with("It may be meant as 1M8GDM9AXKP042788."), "{sentence}");
    finding.value = Some("1M8GDM9AXKP0427".into());
    assert!(!Code::VinMalformed.sentence(&finding).contains("may be meant"));
}

#[test]
fn a_file_is_said_with_its_measure() {
    let mut finding = bare(Code::FeedTooLarge);
    finding.value = Some("more than 1 GiB".into());
    assert_eq!(
        Code::FeedTooLarge.sentence(&finding),
        "The file is larger than we take: more than 1 GiB. Nothing of it was read in."
    );
}
