//! One vehicle, from its model to the finished listing.

use chrono::{DateTime, Days, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::catalog::{Kind, Model, Powertrain};
use super::dealers::{Dealer, Lot, Rooftop};
use super::dice::Dice;
use super::price::{Asked, Prices, price};
use super::vin::vin;
use super::words::{Paint, Subject, description, exterior, features, interior};

/// When the demo was frozen: 2026-11-28T00:00:00Z. Nothing of a unit is later than that day.
const NOW: i64 = 1_795_824_000;
/// The model year that dealers already get new cars of.
const NEWEST: i64 = 2027;

/// Makes units of one dealer; each has its own numbers.
pub(super) struct Maker<'a> {
    pub(super) models: &'a [Model],
    pub(super) dealer: &'a Dealer,
    pub(super) origin: &'a str,
    pub(super) dice: Dice,
    /// Counts the units of all dealers, so that no VIN is made twice.
    pub(super) serial: &'a mut u32,
    /// Counts this dealer's units.
    pub(super) number: u32,
}

/// What was decided before anything is written down.
struct Choice<'a> {
    model: &'a Model,
    powertrain: &'a Powertrain,
    trim: &'static str,
    trim_price: i64,
    /// 0 for plain, 2 for the best.
    level: usize,
    year: i64,
    status: &'static str,
    has_vin: bool,
    mileage: Option<i64>,
    paint: &'static Paint,
}

impl<'a> Maker<'a> {
    /// A unit for this lot; `None` where the tables have nothing that fits, which a test excludes.
    pub(super) fn unit(&mut self, rooftop: &Rooftop, lot: &Lot) -> Option<Map<String, Value>> {
        let choice = self.choose(lot)?;
        self.number += 1;
        *self.serial += 1;
        let mut vehicle = self.identity(rooftop, lot, &choice)?;
        self.add_price(&mut vehicle, rooftop, lot, &choice);
        self.add_equipment(&mut vehicle, rooftop, lot, &choice);
        self.add_dates(&mut vehicle, lot, &choice)?;
        Some(vehicle)
    }

    fn choose(&mut self, lot: &Lot) -> Option<Choice<'a>> {
        let oldest = match lot.condition {
            "new" => NEWEST - 1,
            "cpo" => 2021,
            _ => 2016,
        };
        let fits = |model: &&Model| {
            model.kind == lot.kind && lot.makes.contains(&model.make) && *model.years.end() >= oldest
        };
        // Used cars of the year that has just begun do not exist yet.
        let latest = if lot.condition == "new" { NEWEST } else { NEWEST - 1 };
        let candidates: Vec<&Model> =
            self.models.iter().filter(fits).filter(|model| *model.years.start() <= latest).collect();
        let dice = &mut self.dice;
        let model = dice.weighted(&candidates, |model| model.popularity)?;
        let (first, last) = ((*model.years.start()).max(oldest), (*model.years.end()).min(latest));
        // Two throws of which the later counts: young ones are commoner than old ones.
        let year = dice.between(first, last).max(dice.between(first, last));
        let powertrains: Vec<&Powertrain> = model
            .powertrains
            .iter()
            .filter(|powertrain| powertrain.years.as_ref().is_none_or(|years| years.contains(&year)))
            .collect();
        let powertrain = *dice.pick(&powertrains)?;
        let rank = dice.below(model.trims.len());
        let (trim, trim_price) = *model.trims.get(rank)?;
        let level = if model.trims.len() < 2 { 1 } else { rank * 2 / (model.trims.len() - 1) };
        let (status, has_vin) = match (lot.condition, dice.below(100)) {
            ("new", 0..=6) => ("intransit", false),
            ("new", 7..=13) => ("intransit", true),
            (_, 14..=18) => ("pending", true),
            _ => ("available", true),
        };
        let mileage = if status == "intransit" { None } else { mileage(dice, lot, year) };
        let paint = exterior(dice, model.kind)?;
        Some(Choice { model, powertrain, trim, trim_price, level, year, status, has_vin, mileage, paint })
    }

    fn identity(&mut self, rooftop: &Rooftop, lot: &Lot, choice: &Choice<'_>) -> Option<Map<String, Value>> {
        let Choice { model, powertrain, year, .. } = choice;
        let number = self.number;
        // Dealers mark trade-ins in the stock number.
        let stock = match lot.condition {
            "new" => format!("{}{:02}{number:04}", rooftop.letter, year % 100),
            "cpo" => format!("{}C{number:04}", rooftop.letter),
            _ if self.dice.chance(35) => format!("{}U{number:04}A", rooftop.letter),
            _ => format!("{}U{number:04}", rooftop.letter),
        };
        let mut vehicle = Map::new();
        let mut set = |key: &str, value: Value| vehicle.insert(key.to_owned(), value);
        set("vehicle_id", format!("veh_{}_{number:05}", self.dealer.code).into());
        set("stock", stock.clone().into());
        set("dealer_id", self.dealer.slug.into());
        set("rooftop", rooftop.name.into());
        if let Some(word) = model.kind.vehicle_type() {
            set("vehicle_type", word.into());
        }
        set("year", (*year).into());
        set("make", model.make.into());
        set("model", model.model.into());
        if choice.trim != "Base" {
            set("trim", choice.trim.into());
        }
        set("condition", lot.condition.into());
        set("status", choice.status.into());
        set("body", model.body.into());
        for (key, word) in [
            ("fuel", powertrain.fuel),
            ("engine", powertrain.engine),
            ("transmission", powertrain.transmission),
            ("driveline", powertrain.driveline),
        ] {
            if let Some(word) = word {
                set(key, word.into());
            }
        }
        for (key, value) in &powertrain.facts {
            set(key, value.clone());
        }
        if let Some(miles) = choice.mileage {
            set("mileage", miles.into());
        }
        let page = format!("{}/inventory/{}/{}", self.dealer.website, lot.condition, stock.to_lowercase());
        set("vdp_url", page.into());
        if choice.has_vin {
            set("vin", vin(model.wmi, self.vehicle_kind(choice), *year, spread(*self.serial))?.into());
        } else {
            set("notes", "In transit; the VIN follows when the unit ships.".into());
        }
        Some(vehicle)
    }

    /// What places 4 to 8 and 11 of a VIN tell: the same for all units of one model, trim and engine.
    fn vehicle_kind(&self, choice: &Choice<'_>) -> u64 {
        let words =
            [choice.model.make, choice.model.model, choice.trim, choice.powertrain.engine.unwrap_or("")];
        // FNV-1a: the standard library's hasher may differ between releases.
        let hash =
            words.iter().flat_map(|word| word.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Dice::new(hash).roll()
    }

    fn add_price(
        &mut self,
        vehicle: &mut Map<String, Value>,
        rooftop: &Rooftop,
        lot: &Lot,
        choice: &Choice<'_>,
    ) {
        let unsettled = match choice.status {
            "intransit" => self.dice.chance(35),
            _ => lot.condition == "used" && self.dice.chance(6),
        };
        let asked = Asked {
            model: choice.model,
            powertrain: choice.powertrain,
            trim_price: choice.trim_price,
            year: choice.year,
            condition: lot.condition,
            mileage: choice.mileage,
            expected_mileage: expected_mileage(choice.model.kind, choice.year),
            unsettled,
        };
        let Prices { msrp, list_price, discount, price, fees } =
            price(&mut self.dice, &asked, &rooftop.charges);
        // Few dealers look up the sticker of an old car.
        if lot.condition == "new" || choice.year >= 2023 {
            vehicle.insert("msrp".into(), msrp.into());
        }
        vehicle.insert("list_price".into(), list_price.into());
        let mut others: Map<String, Value> =
            choice.powertrain.others.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        if let Some(price) = price {
            vehicle.insert("price".into(), price.into());
            if discount > 0 {
                others.insert("dealer_discount_usd".into(), discount.into());
            }
        }
        if let Some(fees) = fees {
            let fees = fees.iter().map(|fee| json!({"name": fee.name, "amount": fee.amount}));
            vehicle.insert("fees".into(), fees.collect());
        }
        if !others.is_empty() {
            vehicle.insert("other_attributes".into(), others.into());
        }
    }

    fn add_equipment(
        &mut self,
        vehicle: &mut Map<String, Value>,
        rooftop: &Rooftop,
        lot: &Lot,
        choice: &Choice<'_>,
    ) {
        let Choice { model, powertrain, paint, level, .. } = choice;
        let dice = &mut self.dice;
        vehicle.insert("exterior_color".into(), paint.name.into());
        if let Some(interior) = interior(dice, model.kind, *level) {
            vehicle.insert("interior_color".into(), interior.into());
        }
        let features = features(dice, model, powertrain, *level);
        let trim = if choice.trim == "Base" { "" } else { choice.trim };
        let subject = Subject {
            name: format!("{} {} {} {trim}", choice.year, model.make, model.model).trim_end().to_owned(),
            paint: paint.name,
            condition: lot.condition,
            mileage: choice.mileage,
            features: &features,
            rooftop: rooftop.name,
            electric_range: vehicle
                .get("electric_range_mi")
                .filter(|_| powertrain.is_electric())
                .map(Value::to_string),
            kind: model.kind,
        };
        if dice.chance(55)
            && let Some(text) = description(dice, &subject)
        {
            vehicle.insert("description".into(), text.into());
        }
        vehicle.insert("features".into(), features.into());
        // Nobody has photographed what is still on the ship.
        let photos = match choice.status {
            "intransit" => 1..=1,
            _ if lot.condition == "used" && dice.chance(10) => 1..=2,
            _ => 1..=3,
        };
        let body = match (model.kind, model.body) {
            (Kind::Trailer, "enclosed") => "enclosed",
            (Kind::Trailer, _) => "trailer",
            (_, body) => body,
        };
        let photos = photos.map(|n| format!("{}/demo/photos/{body}-{}-{n}.svg", self.origin, paint.hex));
        vehicle.insert("photos".into(), photos.collect());
    }

    fn add_dates(&mut self, vehicle: &mut Map<String, Value>, lot: &Lot, choice: &Choice<'_>) -> Option<()> {
        let dice = &mut self.dice;
        // The last change lies within three weeks, mostly in this one, in the stores' hours.
        let days_ago = if dice.chance(70) { dice.between(1, 6) } else { dice.between(1, 21) };
        let updated: DateTime<Utc> =
            DateTime::from_timestamp(NOW - days_ago * 86_400 + dice.between(15 * 3600, 24 * 3600 - 1), 0)?;
        let longest = match (lot.condition, choice.year) {
            ("new", NEWEST) | ("cpo", _) => 70,
            ("new", _) => 240,
            _ => 110,
        };
        let first = updated
            .date_naive()
            .checked_sub_days(Days::new(u64::try_from(dice.between(0, longest)).ok()?))?;
        vehicle.insert("inventory_date".into(), first.to_string().into());
        vehicle.insert("updated_at".into(), updated.to_rfc3339_opts(SecondsFormat::Secs, true).into());
        Some(())
    }
}

/// Serials look scattered and stay different: 7919 and 900,000 have no common factor.
fn spread(serial: u32) -> u32 {
    100_000 + u32::try_from(u64::from(serial) * 7919 % 900_000).unwrap_or(0)
}

fn expected_mileage(kind: Kind, year: i64) -> i64 {
    let years = (2026 - year).max(0);
    match kind {
        Kind::Car => 5_500 + years * 11_300,
        Kind::Motorcycle => 900 + years * 2_400,
        Kind::Trailer => 0,
    }
}

fn mileage(dice: &mut Dice, lot: &Lot, year: i64) -> Option<i64> {
    match (lot.kind, lot.condition) {
        (Kind::Trailer, _) => None,
        (Kind::Car, "new") => Some(dice.between(3, 64)),
        (Kind::Motorcycle, "new") => Some(dice.between(0, 7)),
        (kind, condition) => {
            let miles = expected_mileage(kind, year) * dice.between(45, 150) / 100;
            Some(if condition == "cpo" { miles.min(79_000 - dice.between(0, 9_000)) } else { miles })
        }
    }
}
