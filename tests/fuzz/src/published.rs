//! From the bytes of a feed to what agents are shown of it.

use chrono::{DateTime, NaiveDate};
use contract::Listing;
use contract::payload::InventorySearchRequest;
use dealer::feeds::{SourceSettings, fuzzing};
use feeds::outcome::Outcome;
use feeds::raw::Refused;
use feeds::read::{Sink, read};
use feeds::source::InMemory;
use feeds::{Config, Limits, Unit};
use serde_json::{Value, json};

use crate::{CONTRACT_SCHEMAS, answers};

/// Most units that are looked at: schemas cost more than reading.
const LOOKED_AT: usize = 4;

#[derive(Default)]
struct Units(Vec<Unit>);

impl Sink for Units {
    fn unit(&mut self, unit: &Unit) -> std::io::Result<()> {
        if self.0.len() < LOOKED_AT {
            self.0.push(unit.clone());
        }
        Ok(())
    }
}

/// Any bytes are read twice to the same end; the numbers of rows add up; and whatever is published of them fits the
/// listing schema of every contract, and is found, counted and shown in answers that fit theirs.
pub fn published(bytes: &[u8]) {
    let config = Config { today: NaiveDate::from_ymd_opt(2026, 11, 30), ..Config::default() };
    let now = DateTime::from_timestamp(1_796_029_200, 0).unwrap();
    // Prices are what they seem to be, so that they are published.
    let settings = json!({"prices": {"asking_price": {"meaning": "advertised_all_in"}}});
    let settings: SourceSettings = serde_json::from_value(settings).unwrap();
    let Some((units, outcome)) = units(bytes, &config) else { return };
    let (again, once_more) = self::units(bytes, &config).unwrap();
    assert_eq!(units, again, "two readings differ");
    let counts = outcome.counts;
    assert_eq!(counts, once_more.counts);
    assert_eq!(
        counts.records,
        counts.published + counts.excluded + counts.rejected + counts.duplicates_dropped,
        "{counts:?}"
    );

    let mut listings: Vec<Listing> = Vec::new();
    for unit in units.iter().filter(|unit| !outcome.dropped.contains(&unit.source_row)) {
        let Some(vehicle) = fuzzing::vehicle(unit, &settings, now) else { continue };
        let listing = Listing::from_vehicle(&vehicle, "tidewater", now).expect("it has an id");
        let vehicle = Value::Object(vehicle);
        for contract in CONTRACT_SCHEMAS.iter() {
            assert_eq!(contract.check("listing.schema.json", &vehicle), Ok(()), "{vehicle}");
        }
        listings.push(listing);
    }
    listings.sort_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
    listings.dedup_by(|later, first| later.vehicle_id == first.vehicle_id);
    if !listings.is_empty() {
        for contract in CONTRACT_SCHEMAS.iter() {
            answers::shown(contract, listings.clone(), &InventorySearchRequest::default());
        }
    }
}

fn units(bytes: &[u8], config: &Config) -> Option<(Vec<Unit>, Outcome)> {
    let source = InMemory { name: "feed".to_owned(), bytes };
    let mut units = Units::default();
    match read(&source, config, &Limits::default(), &mut units) {
        Ok(outcome) => Some((units.0, outcome)),
        Err(Refused::File { .. }) => None,
        Err(Refused::Io(error)) => panic!("{error}"),
    }
}
