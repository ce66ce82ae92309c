use super::*;
use serde_json::{Value, json};

fn settings(value: Value) -> SourceSettings {
    SourceSettings::read(&value).unwrap()
}

#[test]
fn absent_members_mean_the_defaults_and_unknown_ones_are_refused() {
    let plain = settings(json!({}));
    assert_eq!(plain, SourceSettings::default());
    assert_eq!(settings(plain.stored()), plain);
    assert_eq!(plain.problems(&Rooftops::default()), []);
    for wrong in [
        json!({"uri": "https://a.example"}),
        json!({"reading": {"delimiter": ","}}),
        json!({"prices": {"asking": {}}}),
        json!({"limits": {"rows": 1}}),
        json!({"guard": {"drop": 1}}),
        json!({"role": "primary"}),
        json!({"rank": -1}),
    ] {
        assert!(SourceSettings::read(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_cannot_be_meant_is_named() {
    let rooftops = Rooftops::new(["North".to_owned()]);
    for (members, place) in [
        (json!({"reading": {"currency": "dollars"}}), "/reading/currency"),
        (json!({"reading": {"demo_as": "demo"}}), "/reading/demo_as"),
        (json!({"reading": {"timezone": "Pacific"}}), "/reading/timezone"),
        (json!({"reading": {"header": []}}), "/reading/header"),
        (json!({"reading": {"columns": {"Colour": "paint"}}}), "/reading/columns/Colour"),
        (json!({"reading": {"columns": {"Dealer Cost": "asking_price"}}}), "/reading/columns/Dealer Cost"),
        (json!({"reading": {"status_words": {"X": "gone"}}}), "/reading/status_words/X"),
        (json!({"url": "feed.csv"}), "/url"),
        (json!({"url": "ftp://a.example/f.csv"}), "/url"),
        (json!({"url": "https://me:secret@a.example/f.csv"}), "/url"),
        (json!({"every_minutes": 4}), "/every_minutes"),
        (json!({"folder": "../other"}), "/folder"),
        (json!({"folder": ".."}), "/folder"),
        (json!({"ranks": {"fees": 1}}), "/ranks/fees"),
        (json!({"ranks": {"colour/inside": 1}}), "/ranks/colour~1inside"),
        (json!({"rooftops": {"N1": "north"}}), "/rooftops/N1"),
        (json!({"guard": {"drop_percent": 101.0}}), "/guard/drop_percent"),
        (json!({"silent_after_hours": 0}), "/silent_after_hours"),
        (json!({"keep_days": 3651}), "/keep_days"),
        (json!({"limits": {"file_bytes": 1_073_741_825}}), "/limits/file_bytes"),
        (json!({"limits": {"records": 200_001}}), "/limits/records"),
        (json!({"limits": {"fetch_seconds": 0}}), "/limits/fetch_seconds"),
        (json!({"prices": {"columns": {"Invoice": {"meaning": "base"}}}}), "/prices/columns/Invoice"),
    ] {
        let found = settings(members.clone()).problems(&rooftops);
        let places: Vec<_> = found.iter().map(|(at, _)| at.as_str()).collect();
        assert_eq!(places, [place], "{members}");
    }
    let fine = json!({"reading": {"columns": {"Dealer Cost": "ignore"}}, "rooftops": {"N1": "North"},
                      "ranks": {"price": 1, "other_attributes.title_status": 2, "other_attributes": 3},
                      "url": "https://a.example/f.csv?dealer=1", "folder": "harbor-city"});
    assert_eq!(settings(fine).problems(&rooftops), []);
}

#[test]
fn keys_find_their_rooftop() {
    let (one, two) = (Rooftops::new(["North".to_owned()]), Rooftops::new(["North".into(), "South".into()]));
    let (plain, mapped) = (settings(json!({})), settings(json!({"rooftops": {"D1": "South", "D2": "Gone"}})));
    for (rooftops, settings, key, found) in [
        (&one, &plain, None, Ok(Some("North"))),
        (&one, &plain, Some("whatever"), Ok(Some("North"))),
        (&one, &mapped, Some("whatever"), Err(RooftopUnknown)),
        (&two, &plain, None, Ok(None)),
        (&two, &plain, Some(" NORTH "), Ok(Some("North"))),
        (&two, &plain, Some("D1"), Err(RooftopUnknown)),
        (&two, &mapped, Some("D1"), Ok(Some("South"))),
        (&two, &mapped, Some("north"), Ok(Some("North"))),
        (&two, &mapped, Some("D2"), Err(RooftopUnknown)),
    ] {
        assert_eq!(rooftops.of_key(settings, key), found, "{key:?}");
    }
    assert_eq!(one.known_keys(&plain), None);
    assert_eq!(two.known_keys(&plain), Some(vec!["North".into(), "South".into()]));
    assert_eq!(one.known_keys(&mapped), Some(vec!["D1".into(), "D2".into(), "North".into()]));
}

#[test]
fn the_reader_is_told_of_source_and_dealer() {
    let source =
        settings(json!({"reading": {"mode": "delta", "day_first": true}, "limits": {"records": 10}}));
    let day = NaiveDate::from_ymd_opt(2026, 11, 30).unwrap();
    let config = source.config(day, &Rooftops::default(), Some("America/Los_Angeles"), None);
    assert_eq!((config.mode, config.day_first, config.today), (Mode::Delta, true, Some(day)));
    assert_eq!(config.timezone, "America/Los_Angeles");
    assert_eq!((source.limits().records, source.limits().columns), (10, 500));
}
