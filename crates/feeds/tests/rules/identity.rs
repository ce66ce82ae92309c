//! Section 7: whose a row is, where several rows name one unit.

use super::{check, config, vin};

/// Rows of (rooftop, stock, VIN, price, status).
fn rows(rows: &[(&str, &str, &str, &str, &str)]) -> super::Checked {
    let mut text = "store_code\tstock\tvin\tyear\tmake\tmodel\tnew/used\tmiles\tprice\tstatus\n".to_owned();
    for (rooftop, stock, vin, price, status) in rows {
        text.push_str(&format!(
            "{rooftop}\t{stock}\t{vin}\t2020\tFord\tEscape\tU\t41000\t{price}\t{status}\n"
        ));
    }
    check(&text, &config())
}

fn kept(checked: &super::Checked) -> Vec<u32> {
    checked.units.iter().map(|unit| unit.source_row).collect()
}

#[test]
fn of_equal_rows_the_first_stays_and_of_others_the_last() {
    let one = vin(1);
    let same = rows(&[("N", "S1", &one, "18990", "A"), ("N", "S1", &one, "$18,990.00", "Available")]);
    assert_eq!((kept(&same), same.rows()), (vec![1], vec!["2 DUPLICATE_ROW vin kept 1".to_owned()]));
    let other = rows(&[("N", "S1", &one, "18990", "A"), ("N", "S1", &one, "17990", "A")]);
    assert_eq!((kept(&other), other.rows()), (vec![2], vec!["1 DUPLICATE_VIN vin kept 2".to_owned()]));
    let three = rows(&[
        ("N", "S1", &one, "18990", "A"),
        ("N", "S1", &one, "17990", "A"),
        ("N", "S1", &one, "16990", "A"),
    ]);
    assert_eq!(kept(&three), [3]);
    assert_eq!(three.rows(), ["1 DUPLICATE_VIN vin kept 3", "2 DUPLICATE_VIN vin kept 3"]);
}

#[test]
fn a_trade_that_came_back_is_on_offer_whichever_row_is_first() {
    let one = vin(1);
    let sold_first = rows(&[("N", "S1", &one, "18990", "Sold"), ("N", "T1", &one, "17990", "A")]);
    assert_eq!((kept(&sold_first), sold_first.excluded()), (vec![2], vec!["sold 1".to_owned()]));
    assert_eq!(sold_first.rows(), ["1 DUPLICATE_VIN vin kept 2"]);
    let sold_last = rows(&[("N", "T1", &one, "17990", "A"), ("N", "S1", &one, "18990", "Sold")]);
    assert_eq!((kept(&sold_last), sold_last.excluded()), (vec![1], vec!["sold 2".to_owned()]));
    assert_eq!(sold_last.rows(), ["2 DUPLICATE_VIN vin kept 1"]);
}

#[test]
fn rooftops_share_a_vin_once_and_stock_numbers_freely() {
    let (one, two) = (vin(1), vin(2));
    let shared = rows(&[("N", "S1", &one, "18990", "A"), ("S", "S9", &one, "18990", "A")]);
    assert_eq!(
        (kept(&shared), shared.rows()),
        (vec![1], vec!["2 DUPLICATE_VIN_ROOFTOP vin kept 1".to_owned()])
    );
    let reused = rows(&[("N", "S1", &one, "18990", "A"), ("N", "S1", &two, "18990", "A")]);
    assert_eq!((kept(&reused), reused.rows()), (vec![1, 2], vec!["2 STOCK_REUSED stock".to_owned()]));
    let elsewhere = rows(&[("N", "S1", &one, "18990", "A"), ("S", "S1", &two, "18990", "A")]);
    assert_eq!((kept(&elsewhere), elsewhere.rows()), (vec![1, 2], Vec::<String>::new()));
    // Without a VIN the rooftop and the stock number are who it is.
    let bare = rows(&[("N", "S1", "", "18990", "A"), ("S", "S1", "", "17990", "A")]);
    assert_eq!(kept(&bare), [1, 2]);
    let twice = rows(&[("N", "S1", "", "18990", "A"), ("N", "S1", "", "18990", "A")]);
    assert_eq!(kept(&twice), [1]);
}
