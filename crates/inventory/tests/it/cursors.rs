//! Cursors: opaque, signed, bound to one request.

use contract::payload::{Filters, Sort, SortField, SortOrder};
use inventory::cursor::{Cursor, CursorError, CursorKey, Scope, decode, encode, fingerprint};
use rand::RngExt;

use crate::lots;

const TENANT: [u8; 16] = [7; 16];
const NOW: u64 = 1_790_000_000;

fn key() -> CursorKey {
    CursorKey::new([42; 32])
}

fn scope() -> Scope<'static> {
    Scope { tenant: &TENANT, contract: "v3.0", fingerprint: [9; 16] }
}

fn cursor(after: &str) -> Cursor {
    Cursor { version: 31, after: after.into(), expires_at: NOW + 900 }
}

#[test]
fn a_cursor_comes_back_as_it_was_written() {
    for after in ["", "veh_hc_002", "Ünit \"7\"\n", &"x".repeat(512), &"é".repeat(256)] {
        let text = encode(&key(), &scope(), &cursor(after));
        assert!(text.len() <= 2048 && !text.is_empty());
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{text}");
        assert_eq!(decode(&key(), &scope(), &text, NOW), Ok(cursor(after)));
    }
    let extremes = Cursor { version: u64::MAX, after: "a".into(), expires_at: u64::MAX };
    assert_eq!(decode(&key(), &scope(), &encode(&key(), &scope(), &extremes), NOW), Ok(extremes));
}

#[test]
fn no_flipped_bit_no_cut_and_no_other_spelling_is_accepted() {
    for after in ["veh_hc_002", "ab", "abc"] {
        let text = encode(&key(), &scope(), &cursor(after));
        let malformed = |text: &str| {
            assert_eq!(decode(&key(), &scope(), text, NOW), Err(CursorError::Malformed), "{text}");
        };
        // Every character by every other of the alphabet (which is every bit of what is signed, and the bits of
        // the last character that mean nothing), and by everything else a byte can be.
        for at in 0..text.len() {
            for byte in 0..128_u8 {
                let mut changed = text.clone().into_bytes();
                if changed[at] != byte {
                    changed[at] = byte;
                    malformed(std::str::from_utf8(&changed).unwrap());
                }
            }
            malformed(&text[..at]);
            malformed(&text[at + 1..]);
            malformed(&format!("{}\n{}", &text[..at], &text[at..]));
            malformed(&format!("{}A{}", &text[..at], &text[at..]));
        }
        for tail in ["A", "=", "==", "AAAA", " ", "\0", "é"] {
            malformed(&format!("{text}{tail}"));
            malformed(&format!("{tail}{text}"));
        }
        malformed(&format!("{text}{text}"));
    }
}

#[test]
fn garbage_and_other_keys_are_malformed() {
    let text = encode(&CursorKey::new([43; 32]), &scope(), &cursor("a"));
    assert_eq!(decode(&key(), &scope(), &text, NOW), Err(CursorError::Malformed));
    let mut rng = lots::rng(1);
    for length in (0..3000).chain([100_000]) {
        let garbage: String = (0..length).map(|_| rng.random::<char>()).collect();
        assert_eq!(decode(&key(), &scope(), &garbage, NOW), Err(CursorError::Malformed));
        let spelled: String =
            (0..length).map(|_| char::from(b"abcXYZ019-_"[rng.random_range(0..11)])).collect();
        assert_eq!(decode(&key(), &scope(), &spelled, NOW), Err(CursorError::Malformed));
    }
}

#[test]
fn a_cursor_ends_on_time_and_belongs_to_one_request() {
    let text = encode(&key(), &scope(), &cursor("a"));
    assert!(decode(&key(), &scope(), &text, NOW + 899).is_ok());
    assert_eq!(decode(&key(), &scope(), &text, NOW + 900), Err(CursorError::Expired));
    assert_eq!(decode(&key(), &scope(), &text, u64::MAX), Err(CursorError::Expired));
    let other = [8; 16];
    for scope in [
        Scope { tenant: &other, ..scope() },
        Scope { contract: "v1.3", ..scope() },
        Scope { contract: "", ..scope() },
        Scope { fingerprint: [10; 16], ..scope() },
    ] {
        assert_eq!(decode(&key(), &scope, &text, NOW), Err(CursorError::Mismatch));
        assert_eq!(decode(&key(), &scope, &text, NOW + 9000), Err(CursorError::Mismatch));
    }
    assert_eq!(CursorError::Malformed.as_str(), "malformed");
    assert_eq!(CursorError::Expired.as_str(), "expired");
    assert_eq!(CursorError::Mismatch.as_str(), "mismatch");
}

#[test]
fn the_key_does_not_show() {
    assert_eq!(format!("{:?}", CursorKey::new([0x41; 32])), "CursorKey(secret)");
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn requests_that_mean_the_same_have_one_fingerprint() {
    let print = |filters: &Filters| fingerprint(filters, Sort::DEFAULT);
    let plain = Filters {
        make: texts(&["Honda", "Citroën"]),
        features: texts(&["Sunroof", "Tow hitch"]),
        query: Some("red civic".into()),
        ..Filters::default()
    };
    let same = Filters {
        make: texts(&["citroe\u{308}n ", "HONDA", "honda"]),
        model: Vec::new(),
        features: texts(&["tow HITCH", "sunroof"]),
        dc_fast_charge: Some(false),
        query: Some("  Civic\u{2003}RED civic".into()),
        ..Filters::default()
    };
    assert_eq!(print(&plain), print(&same));
    let blank = Filters { query: Some(" \n".into()), ..Filters::default() };
    assert_eq!(print(&blank), print(&Filters::default()));
}

#[test]
fn every_filter_and_the_sort_are_part_of_the_fingerprint() {
    let one = || texts(&["x"]);
    type Set = fn(&mut Filters, Vec<String>, i64);
    // Each alone, twice with different values; a member that did not count would give the fingerprint of none.
    let members: [Set; 28] = [
        |f, t, _| f.make = t,
        |f, t, _| f.model = t,
        |f, t, _| f.trim = t,
        |f, t, _| f.condition = t,
        |f, t, _| f.vehicle_type = t,
        |f, t, _| f.transmission = t,
        |f, t, _| f.fuel = t,
        |f, t, _| f.driveline = t,
        |f, t, _| f.body = t,
        |f, t, _| f.charge_port = t,
        |f, t, _| f.exterior_color = t,
        |f, t, _| f.interior_color = t,
        |f, t, _| f.rooftops = t,
        |f, t, _| f.status = t,
        |f, t, _| f.features = t,
        |f, _, _| f.dc_fast_charge = Some(true),
        |f, _, n| f.year_min = Some(n),
        |f, _, n| f.year_max = Some(n),
        |f, _, n| f.price_min = Some(n),
        |f, _, n| f.price_max = Some(n),
        |f, _, n| f.mileage_max = Some(n),
        |f, _, n| f.displacement_cc_min = Some(n),
        |f, _, n| f.displacement_cc_max = Some(n),
        |f, _, n| f.electric_range_mi_min = Some(n),
        |f, _, n| f.electric_range_mi_max = Some(n),
        |f, t, _| f.vin = t.into_iter().next(),
        |f, t, _| f.stock = t.into_iter().next(),
        |f, t, _| f.query = t.into_iter().next(),
    ];
    let mut seen = std::collections::HashSet::new();
    seen.insert(fingerprint(&Filters::default(), Sort::DEFAULT));
    for (number, set) in members.iter().enumerate() {
        let mut filters = Filters::default();
        set(&mut filters, one(), 1);
        assert!(seen.insert(fingerprint(&filters, Sort::DEFAULT)), "member {number}");
        set(&mut filters, texts(&["y"]), 2);
        let changed = seen.insert(fingerprint(&filters, Sort::DEFAULT));
        assert_eq!(changed, filters.dc_fast_charge.is_none(), "member {number}");
    }
    for field in SortField::ALL {
        for order in [SortOrder::Asc, SortOrder::Desc] {
            let sort = Sort { field, order };
            assert_eq!(seen.insert(fingerprint(&Filters::default(), sort)), sort != Sort::DEFAULT);
        }
    }
    // Texts are kept apart: neither where one ends nor which member it is in is lost. VIN and stock keep case.
    let distinct = [
        Filters { make: texts(&["a", "b"]), ..Filters::default() },
        Filters { make: texts(&["ab"]), ..Filters::default() },
        Filters { make: texts(&["a"]), model: texts(&["b"]), ..Filters::default() },
        Filters { make: texts(&[""]), ..Filters::default() },
        Filters { stock: Some("a".into()), ..Filters::default() },
        Filters { stock: Some("A".into()), ..Filters::default() },
        Filters { stock: Some(String::new()), ..Filters::default() },
        Filters { price_min: Some(12), ..Filters::default() },
        Filters { price_min: Some(1), price_max: Some(2), ..Filters::default() },
    ];
    for filters in distinct {
        let known = !seen.insert(fingerprint(&filters, Sort::DEFAULT));
        assert!(!known, "{filters:?}");
    }
}
