use super::*;

use chrono::Timelike;
use chrono_tz::Tz;
use proptest::prelude::*;
use serde_json::{Value, json};
use store::RooftopRow;

use crate::leads::rooftop::{Department, Hosting, Rooftop};

const LOS_ANGELES: Tz = chrono_tz::America::Los_Angeles;
const BERLIN: Tz = chrono_tz::Europe::Berlin;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn span(start: &str, end: &str) -> Span {
    Span { start: at(start), end: at(end) }
}

fn rooftop(week: &[(&str, &str, &str)], holidays: Value) -> Rooftop {
    let days =
        week.iter().map(|(day, open, close)| ((*day).to_owned(), json!({"open": open, "close": close})));
    let profile = json!({"schedules": [{"name": "sales", "value": Value::Object(days.collect())}]});
    Rooftop::from_row(&RooftopRow { name: "One".into(), profile, holidays })
}

fn hours(rooftop: &Rooftop, zone: Tz) -> Hours<'_> {
    match rooftop.hosting(Department::Sales) {
        Hosting::Hours(week) => Hours { rooftop, week, zone },
        other => panic!("{other:?}"),
    }
}

const EVERY_DAY: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn daily(open: &'static str, close: &'static str) -> Rooftop {
    rooftop(&EVERY_DAY.map(|day| (day, open, close)), json!([]))
}

fn policy() -> Policy {
    Policy { appointment_notice_minutes: 120, appointment_horizon_days: 60, ..Policy::default() }
}

fn settle(rooftop: &Rooftop, zone: Tz, now: &str, asked: &str, minutes: i64, taken: &[Span]) -> Outcome {
    let rules = Rules::new(&policy(), at(now));
    rules.settle(hours(rooftop, zone), taken, at(asked), TimeDelta::minutes(minutes))
}

fn others(outcome: Outcome) -> Vec<String> {
    match outcome {
        Outcome::Others(times) => times.iter().map(|time| time.format("%m-%dT%H:%MZ").to_string()).collect(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn opens(rooftop: &Rooftop, zone: Tz, date: &str, expected: Option<(&str, &str)>) {
    let open = hours(rooftop, zone).of(date.parse().unwrap());
    assert_eq!(open, expected.map(|(start, end)| span(start, end)), "{date}");
}

#[test]
fn hours_are_local_on_both_sides_of_the_change() {
    let day = daily("09:00", "19:00");
    opens(&day, LOS_ANGELES, "2026-03-07", Some(("2026-03-07T17:00:00Z", "2026-03-08T03:00:00Z")));
    opens(&day, LOS_ANGELES, "2026-03-08", Some(("2026-03-08T16:00:00Z", "2026-03-09T02:00:00Z")));
    opens(&day, LOS_ANGELES, "2026-11-01", Some(("2026-11-01T17:00:00Z", "2026-11-02T03:00:00Z")));
    opens(&day, BERLIN, "2026-03-28", Some(("2026-03-28T08:00:00Z", "2026-03-28T18:00:00Z")));
    opens(&day, BERLIN, "2026-03-29", Some(("2026-03-29T07:00:00Z", "2026-03-29T17:00:00Z")));
    opens(&day, BERLIN, "2026-10-25", Some(("2026-10-25T08:00:00Z", "2026-10-25T18:00:00Z")));
}

#[test]
fn an_hour_that_the_clock_skips_is_not_there() {
    // 02:00 is 03:00 on 8 March in California.
    let night = daily("22:00", "02:30");
    opens(&night, LOS_ANGELES, "2026-03-07", Some(("2026-03-08T06:00:00Z", "2026-03-08T10:00:00Z")));
    opens(
        &daily("02:30", "06:00"),
        LOS_ANGELES,
        "2026-03-08",
        Some(("2026-03-08T10:00:00Z", "2026-03-08T13:00:00Z")),
    );
    opens(&daily("02:15", "02:45"), LOS_ANGELES, "2026-03-08", None);
    opens(&daily("02:15", "02:45"), BERLIN, "2026-03-29", None);
    // Cuba skips midnight; Samoa skipped a day.
    let havana = chrono_tz::America::Havana;
    opens(
        &daily("00:00", "06:00"),
        havana,
        "2026-03-08",
        Some(("2026-03-08T05:00:00Z", "2026-03-08T10:00:00Z")),
    );
    opens(&daily("09:00", "17:00"), chrono_tz::Pacific::Apia, "2011-12-30", None);

    let now = "2026-03-01T12:00:00Z";
    assert!(matches!(settle(&night, LOS_ANGELES, now, "2026-03-08T09:30:00Z", 30, &[]), Outcome::Free(_)));
    assert!(matches!(settle(&night, LOS_ANGELES, now, "2026-03-08T09:45:00Z", 30, &[]), Outcome::Others(_)));
}

#[test]
fn of_an_hour_that_the_clock_repeats_only_what_is_open_by_either_reading_counts() {
    // From 08:00 to 09:00 UTC, and again to 10:00, it is one o'clock on 1 November in California.
    let late = daily("18:00", "01:30");
    opens(&late, LOS_ANGELES, "2026-10-31", Some(("2026-11-01T01:00:00Z", "2026-11-01T08:30:00Z")));
    let early = daily("01:30", "06:00");
    opens(&early, LOS_ANGELES, "2026-11-01", Some(("2026-11-01T09:30:00Z", "2026-11-01T14:00:00Z")));
    opens(&daily("01:15", "01:45"), LOS_ANGELES, "2026-11-01", None);
    // Across it, it is simply an hour more.
    opens(&late, BERLIN, "2026-10-24", Some(("2026-10-24T16:00:00Z", "2026-10-24T23:30:00Z")));
    opens(
        &daily("22:00", "04:00"),
        BERLIN,
        "2026-10-24",
        Some(("2026-10-24T20:00:00Z", "2026-10-25T03:00:00Z")),
    );
    let now = "2026-10-20T12:00:00Z";
    for (asked, free) in
        [("2026-11-01T08:00:00Z", true), ("2026-11-01T08:30:00Z", false), ("2026-11-01T09:00:00Z", false)]
    {
        let outcome = settle(&late, LOS_ANGELES, now, asked, 30, &[]);
        assert_eq!(matches!(outcome, Outcome::Free(_)), free, "{asked}");
    }
}

#[test]
fn closing_at_midnight_or_after_it() {
    let now = "2026-06-01T00:00:00Z";
    let evening = daily("18:00", "00:00");
    let free = |rooftop: &Rooftop, asked: &str, minutes: i64| {
        matches!(settle(rooftop, BERLIN, now, asked, minutes, &[]), Outcome::Free(_))
    };
    // 22:00 UTC is midnight in Berlin.
    assert!(free(&evening, "2026-06-03T21:30:00Z", 30));
    assert!(!free(&evening, "2026-06-03T21:30:00Z", 31));
    assert!(!free(&evening, "2026-06-03T22:00:00Z", 15));
    let night = daily("18:00", "02:00");
    assert!(free(&night, "2026-06-03T21:45:00Z", 60));
    assert!(free(&night, "2026-06-03T23:30:00Z", 30));
    assert!(!free(&night, "2026-06-04T00:00:00Z", 15));
    // Around the clock, openings meet.
    let always = daily("00:00", "00:00");
    assert!(free(&always, "2026-06-03T21:45:00Z", 60));
    assert!(free(&always, "2026-06-03T21:45:00Z", 3 * 24 * 60));
    assert!(!free(&always, "2026-06-03T21:45:00Z", 8 * 24 * 60));
    // What begins before midnight of a closed day goes on.
    let saturday = rooftop(&[("saturday", "18:00", "02:00")], json!([{"date": "2026-06-07"}]));
    assert!(free(&saturday, "2026-06-06T23:00:00Z", 60));
}

#[test]
fn what_is_closed_or_taken_gets_the_nearest_other_times() {
    let week = rooftop(&[("monday", "09:00", "12:00"), ("wednesday", "09:00", "12:00")], json!([]));
    let now = "2026-12-01T18:00:00Z";
    // Monday 03:00 in California: the nearest are that morning's.
    let night = settle(&week, LOS_ANGELES, now, "2026-12-07T11:00:00Z", 30, &[]);
    assert_eq!(others(night), ["12-07T17:00Z", "12-07T17:30Z", "12-07T18:00Z"]);
    // 11:00 is taken, and so is what overlaps it.
    let taken = [span("2026-12-07T19:00:00Z", "2026-12-07T19:45:00Z")];
    let beside = settle(&week, LOS_ANGELES, now, "2026-12-07T19:00:00Z", 30, &taken);
    assert_eq!(others(beside), ["12-07T18:30Z", "12-07T18:00Z", "12-07T17:30Z"]);
    // In the past: the first ones that the notice allows. Far ahead: the last ones of the horizon.
    let past = settle(&week, LOS_ANGELES, now, "2020-01-01T00:00:00Z", 60, &[]);
    assert_eq!(others(past), ["12-02T17:00Z", "12-02T17:30Z", "12-02T18:00Z"]);
    let far = settle(&week, LOS_ANGELES, now, "2090-01-01T00:00:00Z", 60, &[]);
    assert_eq!(others(far), ["01-27T19:00Z", "01-27T18:30Z", "01-27T18:00Z"]);
}

#[test]
fn notice_and_horizon_are_kept_to_the_second() {
    let always = daily("00:00", "00:00");
    let now = "2026-12-01T18:00:00Z";
    let free = |asked: &str| matches!(settle(&always, BERLIN, now, asked, 30, &[]), Outcome::Free(_));
    assert!(free("2026-12-01T20:00:00Z") && !free("2026-12-01T19:59:59Z"));
    assert!(free("2027-01-30T18:00:00Z") && !free("2027-01-30T18:00:01Z"));
    // A notice beyond the horizon leaves nothing.
    let policy =
        Policy { appointment_notice_minutes: 1441, appointment_horizon_days: 1, ..Policy::default() };
    let outcome = |policy: &Policy| {
        let hours = hours(&always, BERLIN);
        Rules::new(policy, at(now)).settle(hours, &[], at("2026-12-02T18:00:00Z"), TimeDelta::minutes(30))
    };
    assert_eq!(outcome(&policy), Outcome::Nothing);
    let endless = Policy {
        appointment_notice_minutes: u32::MAX,
        appointment_horizon_days: u32::MAX,
        ..Policy::default()
    };
    assert_eq!(outcome(&endless), Outcome::Nothing);
}

#[test]
fn so_many_at_once_as_the_dealer_has_room_for() {
    let slot = span("2026-12-07T19:00:00Z", "2026-12-07T20:00:00Z");
    let first = span("2026-12-07T19:00:00Z", "2026-12-07T19:30:00Z");
    let second = span("2026-12-07T19:30:00Z", "2026-12-07T20:00:00Z");
    let before = span("2026-12-07T18:00:00Z", "2026-12-07T19:00:00Z");
    assert!(has_room(slot, &[before], 1));
    assert!(!has_room(slot, &[first], 1));
    // One after the other are one at once.
    assert!(has_room(slot, &[first, second], 2));
    assert!(!has_room(slot, &[first, slot], 2));
    assert!(has_room(slot, &[first, slot, second], 3));
    assert!(!has_room(slot, &[span("2026-12-07T10:00:00Z", "2026-12-07T23:00:00Z")], 1));
}

#[test]
fn a_visit_that_nothing_has_room_for_gets_no_times() {
    let day = daily("09:00", "17:00");
    let now = "2026-12-01T18:00:00Z";
    for minutes in [481, i64::from(u32::MAX)] {
        assert_eq!(settle(&day, BERLIN, now, "2026-12-07T12:00:00Z", minutes, &[]), Outcome::Nothing);
    }
    assert_eq!(Rules::length(&policy(), Some(i64::MAX)), LONGEST * 2);
    assert_eq!(Rules::length(&policy(), None), TimeDelta::minutes(30));
    let closed = rooftop(&[], json!([]));
    assert_eq!(settle(&closed, BERLIN, now, "2026-12-07T12:00:00Z", 30, &[]), Outcome::Nothing);
    // One single time in two months.
    let rare = rooftop(&[], json!([{"date": "2027-01-15", "open": "10:00", "close": "10:30"}]));
    assert_eq!(others(settle(&rare, BERLIN, now, "2026-12-07T12:00:00Z", 30, &[])), ["01-15T09:00Z"]);
}

#[test]
fn a_wish_that_no_day_has_room_for_is_soon_known_however_far_ahead_a_dealer_plans() {
    let far = Policy { appointment_horizon_days: 3650, appointment_slot_minutes: 5, ..Policy::default() };
    let day = daily("00:00", "23:50");
    let now = at("2026-12-01T18:00:00Z");
    let began = std::time::Instant::now();
    let outcome = Rules::new(&far, now).settle(hours(&day, BERLIN), &[], now, TimeDelta::hours(50));
    assert_eq!(outcome, Outcome::Nothing);
    // A thread that tries a million times answers no other dealer's buyers meanwhile.
    assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
}

/// What a person with the opening hours, a clock and a diary would say of a time.
fn person_says(
    hours: Hours<'_>,
    taken: &[Span],
    policy: &Policy,
    now: DateTime<Utc>,
    span: Span,
) -> Result<(), String> {
    if span.start < now + TimeDelta::minutes(i64::from(policy.appointment_notice_minutes)) {
        return Err("too soon".into());
    }
    if span.start > now + TimeDelta::days(i64::from(policy.appointment_horizon_days)) {
        return Err("too late".into());
    }
    let mut minute = span.start;
    while minute < span.end {
        let local = minute.with_timezone(&hours.zone).naive_local();
        let clock = local.hour() * 60 + local.minute();
        let day = |date: NaiveDate| hours.rooftop.day(hours.week, date);
        let today = day(local.date()).is_some_and(|day| day.open <= clock && clock < day.close);
        let since_yesterday =
            day(local.date().pred_opt().unwrap()).is_some_and(|day| clock + 1440 < day.close);
        if !today && !since_yesterday {
            return Err(format!("closed at {local}"));
        }
        let there = taken.iter().filter(|other| other.start <= minute && minute < other.end).count();
        if there >= policy.appointment_capacity as usize {
            return Err(format!("full at {local}"));
        }
        minute += TimeDelta::minutes(1);
    }
    Ok(())
}

/// A time of the day; often one that a change of clocks touches.
fn clock() -> impl Strategy<Value = String> {
    let hour = prop_oneof![0..4_u32, 0..24_u32];
    (hour, 0..4_u32).prop_map(|(hour, quarter)| format!("{hour:02}:{:02}", 15 * quarter))
}

fn any_rooftop() -> impl Strategy<Value = Rooftop> {
    let day = prop_oneof![1 => Just(None), 3 => (clock(), clock()).prop_map(Some)];
    let holiday = (0..9_i64, prop::option::of((clock(), clock())));
    (prop::collection::vec(day, 7), prop::collection::vec(holiday, 0..3)).prop_map(|(days, holidays)| {
        let value: serde_json::Map<String, Value> = EVERY_DAY
            .iter()
            .zip(days)
            .map(|(name, day)| {
                (
                    (*name).to_owned(),
                    day.map_or(Value::Null, |(open, close)| json!({"open": open, "close": close})),
                )
            })
            .collect();
        let start: NaiveDate = "2026-10-24".parse().unwrap();
        let holidays: Vec<Value> = holidays
            .into_iter()
            .map(|(days, hours)| {
                let date = (start + TimeDelta::days(days)).to_string();
                match hours {
                    Some((open, close)) if open < close => {
                        json!({"date": date, "open": open, "close": close})
                    }
                    _ => json!({ "date": date }),
                }
            })
            .collect();
        let profile = json!({"schedules": [{"name": "sales", "value": value}]});
        Rooftop::from_row(&RooftopRow { name: "One".into(), profile, holidays: json!(holidays) })
    })
}

/// Zones that change their clocks while the tests look, or not at all.
fn any_zone() -> impl Strategy<Value = Tz> {
    prop::sample::select(vec![
        BERLIN,
        LOS_ANGELES,
        chrono_tz::America::Havana,
        chrono_tz::Australia::Lord_Howe,
        chrono_tz::Asia::Kathmandu,
        chrono_tz::UTC,
    ])
}

/// Minutes after the base; often in the night of the change.
fn any_minute() -> impl Strategy<Value = i64> {
    prop_oneof![-1440..10 * 1440_i64, 2 * 1440..2 * 1440 + 720_i64]
}

fn minutes_from(start: &str, minutes: i64) -> DateTime<Utc> {
    at(start) + TimeDelta::minutes(minutes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_given_is_open_free_and_neither_too_soon_nor_too_late(
        rooftop in any_rooftop(),
        zone in any_zone(),
        // Clocks change two days later, in Europe or in America, in spring or in autumn.
        base in prop::sample::select(vec!["2026-03-27", "2026-10-23", "2026-03-06", "2026-10-30"]),
        now in 0..2 * 1440_i64,
        asked in any_minute(),
        length in prop::sample::select(vec![15_i64, 15, 30, 45, 90, 400]),
        slot in prop::sample::select(vec![15_u32, 30, 45, 60]),
        notice in 0..600_u32,
        horizon in 1..11_u32,
        capacity in 1..3_u32,
        taken in prop::collection::vec((0..9 * 1440_i64, 10..300_i64), 0..20),
    ) {
        let base = &format!("{base}T00:00:00Z");
        let policy = Policy {
            appointment_slot_minutes: slot,
            appointment_notice_minutes: notice,
            appointment_horizon_days: horizon,
            appointment_capacity: capacity,
            ..Policy::default()
        };
        let (now, asked, length) = (minutes_from(base, now), minutes_from(base, asked), TimeDelta::minutes(length));
        let taken: Vec<Span> = taken.into_iter().map(|(start, minutes)| {
            let start = minutes_from(base, start);
            Span { start, end: start + TimeDelta::minutes(minutes) }
        }).collect();
        let hours = hours(&rooftop, zone);
        let rules = Rules::new(&policy, now);
        let given: Vec<Span> = match rules.settle(hours, &taken, asked, length) {
            Outcome::Free(span) => {
                prop_assert_eq!(span, Span { start: asked, end: asked + length });
                vec![span]
            }
            outcome => {
                let times = match outcome { Outcome::Others(times) => times, _ => Vec::new() };
                // All there are, however far away, and the nearest of them.
                let mut all: Vec<DateTime<Utc>> = (-3..16)
                    .filter_map(|day| hours.of(hours.date(now) + TimeDelta::days(day)))
                    .flat_map(|open| {
                        let starts = (0..2000).map(move |n| open.start + TimeDelta::minutes(n * i64::from(slot)));
                        starts.take_while(move |start| *start < open.end)
                    })
                    .filter(|start| rules.possible(hours, &taken, *start, length).is_some())
                    .collect();
                all.sort_by_key(|start| ((*start - asked).abs(), *start));
                all.dedup();
                all.truncate(3);
                prop_assert_eq!(&times, &all);
                times.into_iter().map(|start| Span { start, end: start + length }).collect()
            }
        };
        for span in given {
            let said = person_says(hours, &taken, &policy, now, span);
            prop_assert!(said.is_ok(), "{span:?}: {said:?}");
        }
    }
}
