//! One vehicle.

use chrono::{DateTime, SecondsFormat, TimeZone, Utc};
use contract::Listing;
use serde_json::{Map, Value, json};

use super::Lot;
use super::catalog::{
    BODIES, DRIVELINES, ENGINES, EXTERIORS, FEATURES, FUELS, INTERIORS, MAKES, MODELS_OF_MAKE, ROOFTOPS,
    SENTENCES, TRANSMISSIONS, TRIMS, model,
};
use super::dice::Dice;

/// When all lots were frozen: 2026-11-30T00:00:00Z.
const NOW: i64 = 1_795_996_800;

/// What a unit is, before anything is written down.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) id: String,
    pub(crate) vin: String,
    pub(crate) stock: String,
    pub(crate) make: &'static str,
    pub(crate) model: String,
    pub(crate) trim: &'static str,
    pub(crate) year: u32,
    pub(crate) condition: &'static str,
    pub(crate) status: &'static str,
    pub(crate) body: &'static str,
    pub(crate) fuel: &'static str,
    pub(crate) driveline: &'static str,
    pub(crate) transmission: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) exterior: &'static str,
    pub(crate) interior: &'static str,
    pub(crate) rooftop: &'static str,
    /// One in twenty-five has none.
    pub(crate) price: Option<u32>,
    pub(crate) msrp: u32,
    pub(crate) mileage: u32,
    pub(crate) features: Vec<&'static str>,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) description: String,
}

impl Unit {
    /// The unit of a lot as it is after so many changes of its price.
    pub(crate) fn new(lot: &Lot, number: u32, changes: u32) -> Unit {
        let mut dice = lot.dice(u64::from(number) + 1);
        let dice = &mut dice;
        let make_number = dice.favoured(MAKES.len() as u32);
        let make = MAKES.get(make_number as usize).copied().unwrap_or_default();
        let model = model(make_number, dice.favoured(MODELS_OF_MAKE));
        let (condition, year) = match dice.below(100) {
            0..45 => ("new", dice.between(2026, 2027)),
            45..58 => ("cpo", dice.between(2021, 2025)),
            _ => ("used", 2025 - dice.favoured(14)),
        };
        let age = 2027 - year;
        let mileage =
            if condition == "new" { dice.between(3, 60) } else { age * dice.between(7_000, 13_000) + 500 };
        let msrp = 18_000 + dice.favoured(700) * 100 + make_number * 250;
        let asked = u64::from(msrp) * u64::from(100 - (age * 6).min(80)) / 100;
        let price = (!dice.chance(4)).then(|| u32::try_from(asked).unwrap_or(0) / 5 * 5 - 5 + changes);
        let fuel = FUELS.get(dice.favoured(5) as usize).copied().unwrap_or_default();
        let mut features: Vec<&'static str> = Vec::with_capacity(12);
        for _ in 0..dice.between(6, 12) {
            let feature = dice.pick(&FEATURES);
            if !features.contains(&feature) {
                features.push(feature);
            }
        }
        let status = match dice.below(100) {
            0..8 => "intransit",
            8..12 => "pending",
            _ => "available",
        };
        let updated_at = NOW - i64::from(dice.below(30 * 86_400)) + i64::from(changes);
        let mut unit = Unit {
            id: format!("veh_{number:06}"),
            vin: vin(dice, number),
            stock: format!("{}{:02}{number:05}", if condition == "new" { 'N' } else { 'U' }, year % 100),
            make,
            model,
            trim: dice.pick(&TRIMS),
            year,
            condition,
            status,
            body: BODIES.get(dice.favoured(8) as usize).copied().unwrap_or_default(),
            fuel,
            driveline: DRIVELINES.get(dice.favoured(4) as usize).copied().unwrap_or_default(),
            transmission: dice.pick(&TRANSMISSIONS),
            engine: dice.pick(&ENGINES),
            exterior: dice.pick(&EXTERIORS),
            interior: dice.pick(&INTERIORS),
            rooftop: dice.pick(&ROOFTOPS),
            price,
            msrp,
            mileage,
            features,
            updated_at: Utc.timestamp_opt(updated_at, 0).single().unwrap_or_default(),
            description: String::new(),
        };
        unit.description = unit.describe(dice);
        unit
    }

    /// About 1.35 kB, as dealers write it: mostly the same sentences, in another order.
    fn describe(&self, dice: &mut Dice) -> String {
        let name = format!("{} {} {} {}", self.year, self.make, self.model, self.trim);
        let mut text = String::with_capacity(1_500);
        let mut last = usize::MAX;
        while text.len() < 1_150 {
            let place = dice.below(SENTENCES.len() as u32) as usize;
            if place != last {
                text.push_str(&SENTENCES.get(place).copied().unwrap_or_default().replace("{}", &name));
                text.push(' ');
            }
            last = place;
        }
        text.push_str("Equipment: ");
        text.push_str(&self.features.join(", ").replace('_', " "));
        text.push('.');
        text
    }

    /// The vehicle as a dealer publishes it.
    pub(crate) fn vehicle(&self, dealer: &str) -> Map<String, Value> {
        let photos = (1..=3).map(|n| format!("https://photos.example/{dealer}/{}-{n}.jpg", self.id));
        let photos: Vec<String> = photos.collect();
        let vehicle = json!({
            "vehicle_id": self.id, "vin": self.vin, "stock": self.stock, "dealer_id": dealer,
            "rooftop": self.rooftop, "year": self.year, "make": self.make, "model": self.model,
            "trim": self.trim, "condition": self.condition, "status": self.status, "body": self.body,
            "fuel": self.fuel, "driveline": self.driveline, "transmission": self.transmission,
            "engine": self.engine, "exterior_color": self.exterior, "interior_color": self.interior,
            "city_mpg": 18 + self.year % 17, "highway_mpg": 26 + self.year % 17,
            "msrp": self.msrp, "mileage": self.mileage, "features": self.features, "photos": photos,
            "vdp_url": format!("https://{dealer}.example/inventory/{}/{}", self.condition, self.stock),
            "description": self.description, "inventory_date": self.updated_at.date_naive().to_string(),
            "updated_at": self.updated_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        });
        let mut vehicle = if let Value::Object(members) = vehicle { members } else { Map::new() };
        if let Some(price) = self.price {
            vehicle.insert("price".into(), price.into());
            vehicle.insert("list_price".into(), (price + 400).into());
        }
        vehicle
    }

    /// The unit as it is stored.
    pub(crate) fn listing(&self, dealer: &str) -> Option<Listing> {
        Listing::from_vehicle(&self.vehicle(dealer), dealer, self.updated_at)
    }
}

/// Seventeen characters, different for every unit of a lot.
fn vin(dice: &mut Dice, number: u32) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
    let mut vin = String::from("1F");
    for _ in 0..8 {
        vin.push(char::from(dice.pick(LETTERS)));
    }
    vin.push_str(&format!("{number:07}"));
    vin
}

#[cfg(test)]
mod tests {
    use super::super::measured;
    use super::*;

    #[test]
    fn units_are_as_long_as_real_ones_and_satisfy_the_contract() {
        let contract = contract::Contract::load(contract::ContractVersion::V3_0).unwrap();
        let lot = measured(1_000);
        let (mut listing, mut detail) = (0, 0);
        for number in 0..lot.units {
            let unit = lot.unit(number).listing(&lot.slug).unwrap();
            listing += unit.listing.len();
            detail += unit.detail.as_ref().unwrap().len() - unit.listing.len();
            let document: Value = serde_json::from_str(&unit.listing).unwrap();
            contract.check("listing.schema.json", &document).unwrap();
        }
        let (listing, detail) = (listing / 1_000, detail / 1_000);
        assert!((900..960).contains(&listing), "a listing has {listing} bytes");
        assert!((1_300..1_500).contains(&detail), "a description has {detail} bytes");
    }

    #[test]
    fn a_change_touches_price_and_time_alone() {
        let lot = measured(300);
        let (before, after) = (Unit::new(&lot, 3, 0), Unit::new(&lot, 3, 2));
        assert_eq!(before.price.map(|price| price + 2), after.price);
        assert_eq!((before.vin, before.description), (after.vin, after.description));
    }
}
