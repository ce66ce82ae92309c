use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::LazyLock;

use ::feeds::config::{Config, PreviousRun};
use ::feeds::guard::{self, Verdict};
use ::feeds::read::{Outcome, Sink, read};
use ::feeds::source::InMemory;
use ::feeds::{Limits, Unit as Read};
use chrono::NaiveDate;
use dealer::feeds::{Rooftops, SourceSettings};
use serde_json::{Map, Value};

use super::{Feed, File, document, with_feeds};

const ORIGIN: &str = "http://127.0.0.1:8080";

static DEMO: LazyLock<(Value, Vec<Feed>)> = LazyLock::new(|| with_feeds(ORIGIN));

#[derive(Default)]
struct Units(Vec<Read>);

impl Sink for Units {
    fn unit(&mut self, unit: &Read) -> io::Result<()> {
        self.0.push(unit.clone());
        Ok(())
    }
}

/// A file of a demo feed, read as the worker reads it.
struct Reading {
    dealer: &'static str,
    settings: SourceSettings,
    config: Config,
    outcome: Outcome,
    units: Vec<Read>,
}

impl Reading {
    fn of(feed: &Feed, file: &File) -> Reading {
        let settings = SourceSettings::read(&feed.settings).unwrap();
        let rooftops = DEMO.0["tenants"][feed.dealer]["rooftops"].as_array().unwrap();
        let rooftops = Rooftops::new(rooftops.iter().map(|r| r["name"].as_str().unwrap().to_owned()));
        assert_eq!(settings.problems(&rooftops), [], "{}", feed.name);
        let today = NaiveDate::from_ymd_opt(2026, 11, 30).unwrap();
        let config = settings.config(today, &rooftops, None, None);
        let mut units = Units::default();
        let source = InMemory { name: file.name.into(), bytes: file.bytes.as_slice() };
        let outcome = read(&source, &config, &Limits::default(), &mut units);
        let Ok(outcome) = outcome else { panic!("{} is refused", feed.name) };
        units.0.retain(|unit| !outcome.dropped.contains(&unit.source_row));
        Reading { dealer: feed.dealer, settings, config, outcome, units: units.0 }
    }

    fn judge(&self, previous: Option<PreviousRun>) -> Verdict {
        let config = Config { previous_full_run: previous, ..self.config.clone() };
        guard::judge(&self.outcome, &config, None)
    }
}

#[test]
fn every_feed_has_a_layout_and_faults_of_its_own() {
    let mut seen = BTreeSet::new();
    let told: Vec<_> = DEMO
        .1
        .iter()
        .map(|feed| {
            let reading = Reading::of(feed, &feed.file);
            assert_eq!(reading.judge(None), Verdict::default(), "{}", feed.name);
            let detected = serde_json::to_value(&reading.outcome.detected).unwrap();
            assert!(seen.insert(detected.to_string()), "{detected} twice");
            let kind = detected.get("format").or(detected.get("delimiter")).unwrap().as_str().unwrap();
            let codes = reading.outcome.findings.counts();
            let codes: Vec<_> =
                codes.iter().map(|(code, number)| format!("{} {number}", code.as_str())).collect();
            let counts = reading.outcome.counts;
            (
                feed.name,
                format!("{} {kind:?}", detected["encoding"].as_str().unwrap()),
                (counts.published, counts.excluded, counts.rejected, counts.duplicates_dropped),
                codes.join(", "),
            )
        })
        .collect();
    let lines: Vec<_> = told.iter().map(|(a, b, c, d)| (*a, b.as_str(), *c, d.as_str())).collect();
    assert_eq!(
        lines,
        [
            (
                "HomeNet",
                "utf-8 \",\"",
                (404, 0, 2, 1),
                "VIN_MALFORMED 1, CONDITION_UNKNOWN 1, VIN_MISSING 21, PHOTO_PLACEHOLDER 1, DUPLICATE_ROW 1"
            ),
            ("Pricing tool", "utf-8 \"json\"", (404, 0, 0, 0), "PRICE_NOT_DISCLOSED 21"),
            (
                "Lot program",
                "windows-1252 \"|\"",
                (153, 6, 1, 0),
                "ROW_FIELD_COUNT 1, VIN_MISSING 5, MILEAGE_NOT_ACTUAL 1"
            ),
            (
                "Google listings",
                "utf-8 \",\"",
                (772, 0, 1, 1),
                "ROOFTOP_UNKNOWN 1, VIN_MISSING 23, DUPLICATE_VIN_ROOFTOP 1"
            ),
            ("Meta catalogue", "utf-8 \"xml\"", (376, 0, 0, 0), "VIN_MISSING 20"),
            (
                "Missoula DMS",
                "utf-16le \"\\t\"",
                (354, 12, 1, 0),
                "FEED_HEADER_OFFSET 1, FEED_TRAILER_ROW 1, IDENTITY_MISSING 1, VIN_MISSING 20, \
                 MILEAGE_CONVERTED_KM 1"
            ),
            ("Missoula studio", "utf-8 \"ndjson\"", (354, 0, 0, 0), ""),
        ]
    );
}

#[test]
fn the_file_that_broke_off_is_held() {
    let doubtful: Vec<_> = DEMO.1.iter().filter_map(|feed| Some((feed, feed.doubtful.as_ref()?))).collect();
    let [(feed, file)] = doubtful.as_slice() else { panic!("one of them") };
    let good = Reading::of(feed, &feed.file);
    let previous = PreviousRun { published: good.outcome.counts.published, ..PreviousRun::default() };
    let verdict = Reading::of(feed, file).judge(Some(previous));
    let reasons: Vec<_> = verdict.reasons.iter().map(|code| code.as_str()).collect();
    assert_eq!(reasons, ["FEED_TRUNCATED", "FEED_DROP_TOO_LARGE"]);
    // What was sent again in one piece would be the same lot.
    assert!(feed.file.bytes.starts_with(&file.bytes) && file.bytes.len() > 100_000);
}

/// What the feeds of a dealer say of each unit, by stock number.
fn merged() -> BTreeMap<(&'static str, String), Map<String, Value>> {
    let mut all: BTreeMap<_, Map<String, Value>> = BTreeMap::new();
    for feed in &DEMO.1 {
        let reading = Reading::of(feed, &feed.file);
        for unit in &reading.units {
            let lot = all.entry((reading.dealer, unit.stock.clone().unwrap())).or_default();
            let amounts = reading.settings.prices.publish(&reading.settings.reading, unit);
            assert_eq!((amounts.unanswered, amounts.foreign), (None, false), "{unit:?}");
            let said = serde_json::to_value(unit).unwrap();
            for (name, value) in said.as_object().unwrap() {
                lot.entry(name.clone()).or_insert_with(|| value.clone());
            }
            for (name, amount) in [("price", amounts.price), ("list_price", amounts.list_price)] {
                if let Some(amount) = amount {
                    assert!(
                        lot.insert(name.to_owned(), amount.into()).is_none(),
                        "two sources have a {name}"
                    );
                }
            }
            if let Some(fees) = amounts.fees {
                lot.insert("fees".to_owned(), serde_json::to_value(fees).unwrap());
            }
        }
    }
    all
}

fn gearbox(words: &str) -> &'static str {
    match words {
        _ if words.contains("dual-clutch") || words == "dct" => "dct",
        _ if words.contains("automatic") => "automatic",
        _ if words.contains("manual") => "manual",
        _ => "cvt",
    }
}

#[test]
fn files_say_of_every_unit_what_the_document_says() {
    let mut read = merged();
    let whole = document(ORIGIN);
    let mut compared = 0;
    for (slug, tenant) in whole["tenants"].as_object().unwrap() {
        let dealer = DEMO.1.iter().find(|feed| feed.dealer == slug).unwrap().dealer;
        for unit in tenant["inventory"].as_array().unwrap() {
            let stock = unit["stock"].as_str().unwrap();
            let said = read.remove(&(dealer, stock.to_owned())).expect(stock);
            for (name, value) in unit.as_object().unwrap() {
                let other = said.get(name).unwrap_or(&Value::Null);
                let same = match name.as_str() {
                    "vehicle_id" | "dealer_id" | "rooftop" | "other_attributes" => continue,
                    // Of this one nobody knows how far it went.
                    "mileage" if stock == "FU0075A" => other.is_null(),
                    "transmission" => *other == gearbox(value.as_str().unwrap()),
                    "notes" => said["description"].as_str().unwrap().ends_with(value.as_str().unwrap()),
                    "description" => other.as_str().unwrap().starts_with(value.as_str().unwrap()),
                    // What has no column stands behind the equipment.
                    "features" => {
                        let facts = other.as_array().unwrap().get(value.as_array().unwrap().len()..);
                        assert_eq!(facts.unwrap().is_empty(), slug != "ironfern", "{unit} {other}");
                        other.as_array().unwrap().starts_with(value.as_array().unwrap())
                    }
                    _ => value == other || value.as_f64().is_some_and(|value| other.as_f64() == Some(value)),
                };
                assert!(same, "{stock} {name}: {value} became {other}");
                compared += 1;
            }
            for name in ["price", "fees", "vin", "mileage", "msrp", "description"] {
                let added = said.contains_key(name) && unit.get(name).is_none();
                assert!(!added || unit.get("notes").is_some(), "{stock} has a {name} that nobody gave it");
            }
        }
    }
    assert!(compared > 40_000, "{compared}");
    assert_eq!(read.keys().collect::<Vec<_>>(), Vec::<&(&str, String)>::new(), "units from nowhere");
}

#[test]
fn files_are_the_same_every_time_and_the_dealers_come_without_vehicles() {
    let (again, feeds) = with_feeds(&format!("{ORIGIN}/"));
    assert_eq!(again, DEMO.0);
    for (one, other) in feeds.iter().zip(&DEMO.1) {
        assert!(one.file.bytes == other.file.bytes && one.settings == other.settings, "{}", one.name);
        assert!(
            one.doubtful.as_ref().map(|file| &file.bytes) == other.doubtful.as_ref().map(|file| &file.bytes)
        );
    }
    let mut whole = document(ORIGIN);
    for tenant in whole["tenants"].as_object_mut().unwrap().values_mut() {
        assert!(tenant.as_object_mut().unwrap().remove("inventory").is_some());
    }
    assert_eq!(whole, DEMO.0);
    let elsewhere = with_feeds("https://cars.example").1;
    let text = String::from_utf8(elsewhere[0].file.bytes.clone()).unwrap();
    assert!(text.contains("https://cars.example/demo/photos/") && !text.contains(ORIGIN));
}
