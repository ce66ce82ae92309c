use std::collections::BTreeMap;

use super::*;
use crate::config::{Guard, PreviousRun};
use crate::outcome::{Counts, Excluded};

fn full(published: u32) -> Outcome {
    Outcome { counts: Counts { records: published, published, ..Counts::default() }, ..Outcome::default() }
}

fn after(published: u32) -> Config {
    Config {
        previous_full_run: Some(PreviousRun { published, ..PreviousRun::default() }),
        ..Config::default()
    }
}

fn reasons(outcome: &Outcome, config: &Config) -> Vec<&'static str> {
    let verdict = judge(outcome, config, None);
    assert_eq!(verdict.hold, !verdict.reasons.is_empty());
    assert!(verdict.sentences.len() >= verdict.reasons.len());
    verdict.reasons.iter().map(|code| code.as_str()).collect()
}

/// field-reports A1, and the borders beside it.
#[test]
fn a_drop_holds_above_thirty_percent_and_is_told_from_ten_on() {
    for (was, now, held, told) in [
        (200, 200, false, false),
        (200, 250, false, false),
        (200, 181, false, false),
        (200, 180, false, true),
        (200, 140, false, true),
        (200, 139, true, false),
        (200, 1, true, false),
        (10, 7, false, true),
        (10, 6, true, false),
        // Below ten units the numbers say nothing.
        (9, 1, false, false),
    ] {
        let verdict = judge(&full(now), &after(was), None);
        assert_eq!(verdict.hold, held, "{was} to {now}");
        assert_eq!(
            verdict.reasons,
            if held { vec![Code::FeedDropTooLarge] } else { vec![] },
            "{was} to {now}"
        );
        assert_eq!(verdict.tell.len(), usize::from(told), "{was} to {now}");
        if told {
            assert_eq!(verdict.tell[0].code, Code::FeedDropNoted);
            assert_eq!(verdict.tell[0].value, Some(format!("{was} → {now}")));
        }
    }
}

#[test]
fn a_threshold_of_zero_means_any_drop() {
    let mut config = after(200);
    config.guard.drop_percent = 0.0;
    assert_eq!(reasons(&full(199), &config), ["FEED_DROP_TOO_LARGE"]);
    assert_eq!(reasons(&full(200), &config), [""; 0]);
    let mut small = after(3);
    small.guard.drop_percent = 0.0;
    assert_eq!(reasons(&full(2), &small), ["FEED_DROP_TOO_LARGE"]);
}

#[test]
fn a_file_without_a_unit_to_publish_is_held_where_units_are_on_offer() {
    assert_eq!(reasons(&full(0), &after(200)), ["FEED_EMPTY"]);
    assert_eq!(reasons(&full(0), &after(1)), ["FEED_EMPTY"]);
    assert_eq!(reasons(&full(0), &Config::default()), ["FEED_EMPTY"]);
    assert_eq!(reasons(&full(0), &after(0)), [""; 0]);
}

#[test]
fn a_file_that_stopped_is_held_whatever_is_in_it() {
    let stopped = |code, published| Outcome { stopped: vec![code], ..full(published) };
    assert_eq!(reasons(&stopped(Code::FeedTruncated, 200), &after(200)), ["FEED_TRUNCATED"]);
    assert_eq!(
        reasons(&stopped(Code::FeedTruncated, 23), &after(52)),
        ["FEED_TRUNCATED", "FEED_DROP_TOO_LARGE"]
    );
    assert_eq!(reasons(&stopped(Code::FeedNotWellformed, 0), &after(52)), ["FEED_NOT_WELLFORMED"]);
    assert_eq!(reasons(&stopped(Code::FeedEmpty, 0), &after(52)), ["FEED_EMPTY"]);
    let delta = Config { mode: Mode::Delta, ..Config::default() };
    assert_eq!(reasons(&stopped(Code::FeedTruncated, 2), &delta), ["FEED_TRUNCATED"]);
}

#[test]
fn rooftops_are_looked_at_one_by_one() {
    let tops = |pairs: &[(&str, u32)]| -> BTreeMap<String, u32> {
        pairs.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect()
    };
    let mut config = after(500);
    config.previous_full_run.as_mut().unwrap().by_rooftop =
        tops(&[("NORTH", 400), ("SOUTH", 50), ("WEST", 40), ("KIOSK", 9)]);
    let now = |pairs: &[(&str, u32)]| Outcome { by_rooftop: tops(pairs), ..full(490) };
    assert_eq!(reasons(&now(&[("NORTH", 400), ("SOUTH", 50), ("WEST", 40)]), &config), [""; 0]);
    assert_eq!(reasons(&now(&[("NORTH", 450), ("WEST", 40)]), &config), ["ROOFTOP_VANISHED"]);
    assert_eq!(
        reasons(&now(&[("NORTH", 450), ("SOUTH", 20), ("WEST", 40)]), &config),
        ["FEED_DROP_TOO_LARGE"]
    );
    let told = judge(&now(&[("NORTH", 400), ("SOUTH", 50), ("WEST", 30)]), &config, None);
    assert!(!told.hold);
    assert_eq!(told.tell[0].value.as_deref(), Some("WEST: 40 → 30"));
    let mut only = after(200);
    only.previous_full_run.as_mut().unwrap().by_rooftop = tops(&[("NORTH", 200)]);
    let once = Outcome { by_rooftop: tops(&[("NORTH", 160)]), ..full(160) };
    assert_eq!(judge(&once, &only, None).tell.len(), 1, "of one rooftop a drop is told once");
    let renamed = Outcome { by_rooftop: tops(&[("N", 200)]), ..full(200) };
    assert_eq!(reasons(&renamed, &only), ["ROOFTOP_VANISHED"]);
}

#[test]
fn a_file_with_many_errors_is_held() {
    let with = |rejected, records| Outcome {
        counts: Counts { records, published: records - rejected, rejected, ..Counts::default() },
        ..Outcome::default()
    };
    let config = Config::default();
    assert_eq!(reasons(&with(20, 100), &config), [""; 0]);
    assert_eq!(reasons(&with(21, 100), &config), ["FEED_ERROR_RATE"]);
    assert_eq!(reasons(&with(4, 8), &config), [""; 0]);
    assert_eq!(reasons(&with(5, 8), &config), ["FEED_ERROR_RATE"]);
    let strict = Config { guard: Guard { rejected_percent: 0.0, ..Guard::default() }, ..Config::default() };
    assert_eq!(reasons(&with(1, 100), &strict), ["FEED_ERROR_RATE"]);
    assert_eq!(reasons(&with(0, 100), &strict), [""; 0]);
}

#[test]
fn other_columns_or_another_separator_hold() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let table = |delimiter: &str, header: &[&str]| Outcome {
        delimiter: Some(delimiter.to_owned()),
        header: words(header),
        ..full(20)
    };
    let mut config = after(20);
    let before = config.previous_full_run.as_mut().unwrap();
    before.delimiter = Some(",".into());
    before.header = Some(words(&["make", "model", "vin"]));
    assert_eq!(reasons(&table(",", &["make", "model", "vin"]), &config), [""; 0]);
    assert_eq!(reasons(&table("|", &["make", "model", "vin"]), &config), ["FEED_HEADER_CHANGED"]);
    assert_eq!(reasons(&table(",", &["make", "price", "vin"]), &config), ["FEED_HEADER_CHANGED"]);
    let verdict = judge(&table(",", &["make", "price", "vin"]), &config, None);
    assert!(verdict.sentences[0].contains("gone: model; new: price"), "{:?}", verdict.sentences);
    assert_eq!(reasons(&full(20), &config), ["FEED_HEADER_CHANGED"]);
    // A run whose columns nobody remembers is compared with nothing.
    assert_eq!(reasons(&table("|", &["vin"]), &after(20)), [""; 0]);
}

#[test]
fn prices_that_jump_or_go_hold() {
    let shift = |compared, changed, lost| {
        let verdict = judge(&full(100), &after(100), Some(&PriceShift { compared, changed, lost }));
        verdict.reasons.iter().map(|code| code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(shift(100, 50, 29), [""; 0]);
    assert_eq!(shift(100, 51, 0), ["FEED_PRICE_SHIFT"]);
    assert_eq!(shift(100, 0, 30), ["FEED_PRICE_SHIFT"]);
    assert_eq!(shift(100, 60, 40), ["FEED_PRICE_SHIFT"]);
    assert_eq!(shift(0, 0, 0), [""; 0]);
}

#[test]
fn of_a_delta_feed_the_deletes_are_counted() {
    let delta = |deletes: usize| {
        let delete = |row| Excluded {
            source_row: row,
            reason: "delete_action".into(),
            vin: None,
            stock: Some(row.to_string()),
            rooftop_key: None,
        };
        Outcome { deletes: (1..).take(deletes).map(delete).collect(), ..full(0) }
    };
    let mut config = Config { mode: Mode::Delta, ..after(100) };
    config.previous_full_run.as_mut().unwrap().active = Some(100);
    assert_eq!(reasons(&delta(0), &config), [""; 0]);
    assert_eq!(reasons(&delta(30), &config), [""; 0]);
    assert_eq!(reasons(&delta(31), &config), ["FEED_DELETES_TOO_MANY"]);
}
