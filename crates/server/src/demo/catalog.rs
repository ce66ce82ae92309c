//! The models that demo dealers sell, read from the tables beside this file.

use std::ops::RangeInclusive;

use serde_json::{Number, Value};

const CARS: [&str; 2] = [include_str!("cars.txt"), include_str!("rivals.txt")];
const CYCLES: &str = include_str!("cycles.txt");
const TRAILERS: &str = include_str!("trailers.txt");

/// What a model is; decides which words and prices apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Car,
    Motorcycle,
    Trailer,
}

impl Kind {
    /// The `vehicle_type` that a listing must name; cars need none.
    pub(super) fn vehicle_type(self) -> Option<&'static str> {
        match self {
            Kind::Car => None,
            Kind::Motorcycle => Some("motorcycle"),
            Kind::Trailer => Some("trailer"),
        }
    }
}

/// One line of a table.
pub(super) struct Model {
    pub(super) kind: Kind,
    pub(super) make: &'static str,
    pub(super) model: &'static str,
    /// The maker's first three signs in a VIN.
    pub(super) wmi: &'static str,
    pub(super) body: &'static str,
    pub(super) years: RangeInclusive<i64>,
    /// Sticker of the plainest one in 2026, USD.
    pub(super) msrp: i64,
    pub(super) popularity: usize,
    /// Name and what it adds to the sticker.
    pub(super) trims: Vec<(&'static str, i64)>,
    pub(super) powertrains: Vec<Powertrain>,
}

/// One indented line below a model.
#[derive(Default)]
pub(super) struct Powertrain {
    pub(super) fuel: Option<&'static str>,
    pub(super) engine: Option<&'static str>,
    pub(super) transmission: Option<&'static str>,
    pub(super) driveline: Option<&'static str>,
    /// Members of the vehicle, by their names.
    pub(super) facts: Vec<(&'static str, Value)>,
    /// Members of `other_attributes`.
    pub(super) others: Vec<(&'static str, Value)>,
    /// What it adds to the sticker.
    pub(super) extra: i64,
    /// Where not all of the model's.
    pub(super) years: Option<RangeInclusive<i64>>,
}

impl Powertrain {
    pub(super) fn is_electric(&self) -> bool {
        self.fuel == Some("bev")
    }
}

/// All models.
pub(super) fn models() -> Vec<Model> {
    let mut models = Vec::new();
    for table in CARS {
        read(table, Kind::Car, &mut models);
    }
    read(CYCLES, Kind::Motorcycle, &mut models);
    read(TRAILERS, Kind::Trailer, &mut models);
    models
}

/// Adds a table's models and returns how many lines could not be read, which a test holds at none.
fn read(table: &'static str, kind: Kind, models: &mut Vec<Model>) -> usize {
    let mut bad = 0;
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if line.starts_with(' ') {
            match (models.last_mut(), powertrain(line)) {
                (Some(model), Some(powertrain)) => model.powertrains.push(powertrain),
                _ => bad += 1,
            }
        } else {
            match model(line, kind) {
                Some(model) => models.push(model),
                None => bad += 1,
            }
        }
    }
    bad
}

fn model(line: &'static str, kind: Kind) -> Option<Model> {
    let mut cells = line.split('|').map(str::trim);
    let mut next = || cells.next().filter(|cell| !cell.is_empty());
    let model = Model {
        kind,
        make: next()?,
        model: next()?,
        wmi: next()?,
        body: next()?,
        years: years(next()?)?,
        msrp: next()?.parse().ok()?,
        popularity: next()?.parse().ok()?,
        trims: next()?.split(',').map(trim).collect::<Option<_>>()?,
        powertrains: Vec::new(),
    };
    next().is_none().then_some(model)
}

fn trim(cell: &'static str) -> Option<(&'static str, i64)> {
    let (name, price) = cell.trim().rsplit_once(' ')?;
    Some((name, price.parse().ok()?))
}

fn years(text: &str) -> Option<RangeInclusive<i64>> {
    let (first, last) = text.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}

fn powertrain(line: &'static str) -> Option<Powertrain> {
    let mut cells = line.split(';').map(str::trim);
    let mut next = || cells.next();
    let named = |cell: &'static str| (cell != "-").then_some(cell);
    let mut powertrain = Powertrain {
        fuel: named(next()?),
        engine: named(next()?),
        transmission: named(next()?),
        driveline: named(next()?),
        ..Powertrain::default()
    };
    for word in next()?.split_whitespace() {
        fact(&mut powertrain, word)?;
    }
    let plugs_in = matches!(powertrain.fuel, Some("bev" | "phev"));
    if plugs_in && !powertrain.facts.iter().any(|(name, _)| *name == "dc_fast_charge") {
        powertrain.facts.push(("dc_fast_charge", false.into()));
    }
    next().is_none().then_some(powertrain)
}

fn fact(powertrain: &mut Powertrain, word: &'static str) -> Option<()> {
    let Powertrain { facts, others, .. } = powertrain;
    if let Some(extra) = word.strip_prefix('+') {
        powertrain.extra = extra.parse().ok()?;
    } else if let Some(span) = word.strip_prefix('y') {
        powertrain.years = Some(years(span)?);
    } else if let Some((city, highway)) = word.split_once('/') {
        facts.push(("city_mpg", city.parse::<i64>().ok()?.into()));
        facts.push(("highway_mpg", highway.parse::<i64>().ok()?.into()));
    } else {
        match word {
            "dc" => facts.push(("dc_fast_charge", true.into())),
            "nacs" | "ccs" | "j1772" | "chademo" => facts.push(("charge_port", word.into())),
            "chain" | "belt" | "shaft" => others.push(("final_drive", word.into())),
            _ => {
                let (amount, unit) = word.split_at(word.find(|c: char| c.is_ascii_alphabetic())?);
                let amount = Value::Number(amount.parse::<Number>().ok()?);
                match unit {
                    "cc" => facts.push(("displacement_cc", amount)),
                    "mi" => facts.push(("electric_range_mi", amount)),
                    "kWh" => facts.push(("battery_kwh", amount)),
                    "hp" => facts.push(("motor_power_hp", amount)),
                    "in" => others.push(("seat_height_in", amount)),
                    "ft" => others.push(("length_ft", amount)),
                    "gvwr" => others.push(("gvwr_lb", amount)),
                    "axles" => others.push(("axles", amount)),
                    _ => return None,
                }
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_table_is_read() {
        for (table, kind) in [
            (CARS[0], Kind::Car),
            (CARS[1], Kind::Car),
            (CYCLES, Kind::Motorcycle),
            (TRAILERS, Kind::Trailer),
        ] {
            assert_eq!(read(table, kind, &mut Vec::new()), 0, "{kind:?}");
        }
        assert_eq!(
            read("Ford | F-150 | 1FT\n  gas; 5.0L\n  x; x; x; x; 7miles\n", Kind::Car, &mut Vec::new()),
            3
        );
    }

    #[test]
    fn every_model_year_has_a_powertrain() {
        let models = models();
        assert!(models.len() > 140);
        for model in models {
            for year in model.years.clone() {
                let fits = |p: &&Powertrain| p.years.as_ref().is_none_or(|years| years.contains(&year));
                assert!(model.powertrains.iter().any(|p| fits(&p)), "{} {} {year}", model.make, model.model);
            }
        }
    }
}
