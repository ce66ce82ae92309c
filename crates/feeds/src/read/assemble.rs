//! A row becomes a unit, or is left out.
//!
//! Whether it is left out for what it is (sold, wholesale …) is decided first, and such a row reports nothing else. Of
//! the others all errors are reported; one without an error is published, with what had to be said.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use chrono_tz::Tz;
use serde_json::{Map, Value};

use super::say::Say;
use super::{amounts, equipment, pictures};
use crate::aliases::Target;
use crate::code::Code;
use crate::config::{Config, Mode};
use crate::finding::Finding;
use crate::limits::Limits;
use crate::mapping::{Cell, Picked};
use crate::outcome::Excluded;
use crate::raw::Columns;
use crate::unit::Unit;
use crate::values::status::Status;
use crate::values::vin::Vin;
use crate::values::{
    condition, dates, mileage, photos, status, text, url, vehicle_type, vin, vocabulary, year,
};

/// What became of a row.
#[derive(Debug)]
pub(super) enum Assembled {
    Unit(Box<Unit>, Vec<Finding>),
    Excluded(Excluded, Vec<Finding>),
    Rejected(Vec<Finding>),
}

/// What all rows of a file are read with.
#[derive(Debug)]
pub(super) struct Assembler<'c> {
    config: &'c Config,
    rooftops: Option<BTreeSet<&'c str>>,
    today: NaiveDate,
    zone: Option<Tz>,
    photos: usize,
    document: bool,
}

/// What a row of a feed of changes does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Upsert,
    Delete,
    Unknown,
}

impl Action {
    fn of(cell: &str) -> Self {
        match crate::values::fold(cell).as_str() {
            "" | "a" | "u" | "add" | "added" | "insert" | "create" | "created" | "new" | "update"
            | "updated" | "upsert" | "change" | "changed" | "modify" | "modified" => Self::Upsert,
            "d" | "delete" | "deleted" | "remove" | "removed" => Self::Delete,
            _ => Self::Unknown,
        }
    }
}

/// The rooftops that a row names.
struct Rooftops {
    key: Option<String>,
    cell: Option<usize>,
    unknown: bool,
    also_at: Vec<String>,
}

impl<'c> Assembler<'c> {
    pub(super) fn new(config: &'c Config, limits: &Limits, today: NaiveDate, document: bool) -> Self {
        let known = config.known_rooftop_keys.as_ref();
        Self {
            config,
            rooftops: known.map(|keys| keys.iter().map(String::as_str).collect()),
            today,
            zone: dates::zone(&config.timezone),
            photos: limits.photos,
            document,
        }
    }

    /// Makes something of a row. `notes`: what had to be done to read it.
    pub(super) fn row(
        &self,
        row: u32,
        cells: &Picked<'_>,
        notes: &[(Code, Option<usize>)],
        columns: &Columns,
        id_is_stock: bool,
    ) -> Assembled {
        let vin_cell = first_filled(cells, Target::Vin, |text| !vin::clean(text).is_empty());
        let stock_cell = first_filled(cells, Target::Stock, |text| text::identifier(text).is_some())
            .filter(|cell| text::identifier(cell.text).is_some())
            .or_else(|| cells.first(Target::Id).filter(|_| id_is_stock));
        let stock = stock_cell.and_then(|cell| text::identifier(cell.text));
        let vin_text = vin_cell.map_or("", |cell| cell.text);
        let rooftops = self.rooftops(cells, columns);
        let mut say = Say::of(columns, row, vin_text, stock.as_deref(), self.config.fills_in);

        let kinds = cells.all(Target::VehicleType).map(|cell| cell.text);
        let vehicle_type = vehicle_type::parse(kinds, cells.text(Target::Body));
        let stated = year::read(cells.text(Target::Year), self.today.year());
        let number = vin::parse(vin_text, stated.value);

        let action = Action::of(cells.text(Target::Action));
        let status_cell = cells.first(Target::Status);
        let reason = if action == Action::Delete {
            Some("delete_action")
        } else {
            match status::parse(status_cell.map_or("", |cell| cell.text), &self.config.status_words) {
                Status::Published(_) => None,
                Status::Excluded(reason) => Some(reason),
            }
        };
        if let Some(reason) = reason {
            if reason == "unknown_status" {
                say.say(Code::StatusUnknown, "status", status_cell);
            }
            let vin = number.standard().map(str::to_owned);
            // A delete that names nothing would be lost in silence.
            if reason == "delete_action" && vin.is_none() && stock.is_none() {
                say.say(number.code().unwrap_or(Code::IdentityMissing), "vin", vin_cell);
                return Assembled::Rejected(say.told());
            }
            let excluded = Excluded {
                source_row: row,
                reason: reason.to_owned(),
                vin,
                stock,
                rooftop_key: rooftops.key,
            };
            return Assembled::Excluded(excluded, say.told());
        }
        if action == Action::Unknown && self.config.mode == Mode::Delta {
            say.say(Code::ActionUnknown, "action", cells.first(Target::Action));
        }
        if rooftops.unknown {
            let cell = rooftops.cell.and_then(|place| cells.cells().get(place).copied());
            say.say(Code::RooftopUnknown, "rooftop_key", cell);
        }
        for (code, column) in notes {
            say.say_of(*code, "row", column.map(|place| columns.name(place)), None);
        }
        let mut unit = Unit {
            source_row: row,
            rooftop_key: rooftops.key,
            vehicle_type: vehicle_type.to_owned(),
            stock,
            ..Unit::default()
        };
        self.identity(&mut unit, cells, &number, stated, vin_cell, &mut say);
        self.condition_and_mileage(&mut unit, cells, status_cell, &mut say);
        if !say.has_error() {
            self.particulars(&mut unit, cells, rooftops.also_at, &number, &mut say);
        }
        let rejected = say.has_error();
        let told = say.told();
        if rejected { Assembled::Rejected(told) } else { Assembled::Unit(Box::new(unit), told) }
    }

    /// VIN, year, make, model: what a unit is.
    fn identity(
        &self,
        unit: &mut Unit,
        cells: &Picked<'_>,
        number: &Vin,
        stated: crate::values::Parsed<i32>,
        vin_cell: Option<Cell<'_>>,
        say: &mut Say<'_>,
    ) {
        let without = !matches!(number, Vin::Standard(..) | Vin::Malformed);
        if without && unit.stock.is_none() {
            say.say(Code::IdentityMissing, "vin", vin_cell);
        } else if *number == Vin::Absent {
            say.say(Code::VinMissing, "vin", vin_cell);
        }
        if let Some(code) = number.code() {
            say.say(code, "vin", vin_cell);
        }
        unit.vin = number.standard().map(str::to_owned);
        let settled = year::settle(stated, number.standard(), &unit.vehicle_type, self.today.year());
        // A year that is missing only because the VIN is broken is one fault, not two.
        let missing_twice = *number == Vin::Malformed && settled.codes.contains(&Code::YearMissing);
        if !missing_twice {
            say.say_all(&settled.codes, "year", cells.first(Target::Year));
        }
        // What only fills in guesses nothing: another source may know better.
        let guesses = !self.config.fills_in;
        unit.year = settled.value.filter(|_| guesses || cells.first(Target::Year).is_some());
        unit.make = text_of(cells, Target::Make, "make", vocabulary::make, say);
        if unit.make.is_none() {
            say.say(Code::MakeMissing, "make", cells.first(Target::Make));
        }
        unit.model = text_of(cells, Target::Model, "model", text::name, say);
        if unit.model.is_none() {
            say.say(Code::ModelMissing, "model", cells.first(Target::Model));
        }
    }

    fn condition_and_mileage(
        &self,
        unit: &mut Unit,
        cells: &Picked<'_>,
        status_cell: Option<Cell<'_>>,
        say: &mut Say<'_>,
    ) {
        let miles = cells.first(Target::Mileage);
        let distance = miles.or_else(|| cells.first(Target::Kilometers));
        let of_column = if miles.is_none() && distance.is_some() { "km" } else { "" };
        let unit_of =
            Some(cells.text(Target::MileageUnit)).filter(|unit| !unit.is_empty()).unwrap_or(of_column);
        let reading = mileage::read(distance.map_or("", |cell| cell.text), unit_of);
        let condition_cell = cells.first(Target::Condition);
        let certified = cells.all(Target::Certified).any(|cell| condition::flag(cell.text));
        let said = condition_cell.map_or("", |cell| cell.text);
        let condition = condition::parse(said, certified, reading.miles(), &self.config.demo_as);
        say.say_all(&condition.codes, "condition", condition_cell);
        let said_so = !self.config.fills_in || condition_cell.is_some() || certified;
        unit.condition = condition.value.filter(|_| said_so).map(str::to_owned);
        let mileage = mileage::settle(reading, condition.value, &unit.vehicle_type);
        say.say_all(&mileage.codes, "mileage", distance);
        unit.mileage = mileage.value;
        if (status_cell.is_some() || !self.config.fills_in)
            && let Status::Published(status) =
                status::parse(status_cell.map_or("", |cell| cell.text), &self.config.status_words)
        {
            unit.status = status.to_owned();
        }
    }

    /// What is read only of a unit that is published.
    fn particulars(
        &self,
        unit: &mut Unit,
        cells: &Picked<'_>,
        also_at: Vec<String>,
        number: &Vin,
        say: &mut Say<'_>,
    ) {
        amounts::read(unit, cells, &self.config.tenant_currency, say);
        equipment::read(unit, cells, say);
        unit.trim = text_of(cells, Target::Trim, "trim", text::name, say);
        let photos = photos::read(pictures::of(cells, self.document, say), self.photos);
        for (code, about) in &photos.codes {
            let column = cells.first(Target::Photos).map(|cell| say.column(cell));
            say.say_of(*code, "photos", column, Some(about));
        }
        unit.photos = photos.addresses;
        let page = cells.first(Target::VdpUrl);
        let address = url::page(page.map_or("", |cell| cell.text));
        say.say_all(&address.codes, "vdp_url", page);
        unit.vdp_url = address.value;
        unit.description = text_of(cells, Target::Description, "description", text::description, say);
        let day_first = self.config.is_day_first();
        let since = cells.first(Target::InventoryDate);
        let date = dates::date(since.map_or("", |cell| cell.text), self.today, day_first);
        say.say_all(&date.codes, "inventory_date", since);
        unit.inventory_date = date.value;
        let changed = cells.first(Target::UpdatedAt);
        let time = dates::timestamp(changed.map_or("", |cell| cell.text), self.today, day_first, self.zone);
        say.say_all(&time.codes, "updated_at", changed);
        unit.updated_at = time.value;
        unit.other_attributes = other_attributes(cells, number, also_at);
    }

    /// The rooftop of a row. Of several codes of one item the first is the owner; of several columns that could be
    /// meant the one counts whose word the dealer knows.
    fn rooftops(&self, cells: &Picked<'_>, columns: &Columns) -> Rooftops {
        let known = |key: &str| self.rooftops.as_ref().is_none_or(|keys| keys.contains(key));
        let mut named: Vec<(usize, String, String)> = Vec::new();
        for (place, cell) in
            cells.cells().iter().enumerate().filter(|(_, cell)| cell.target == Target::Rooftop)
        {
            let column = crate::aliases::fold_name(columns.name(cell.column));
            let whole = text::name(cell.text);
            let parts = || cell.text.split([',', '|', ';']).filter_map(text::identifier).collect::<Vec<_>>();
            let is_list = column == "storecode" || self.rooftops.is_some();
            let keys = match whole {
                Some(whole) if known(&whole) && self.rooftops.is_some() => vec![whole],
                Some(_) if is_list && (column == "storecode" || parts().iter().all(|part| known(part))) => {
                    parts()
                }
                whole => whole.into_iter().collect(),
            };
            named.extend(keys.into_iter().map(|key| (place, column.clone(), key)));
        }
        let chosen = named.iter().position(|(_, _, key)| known(key)).or((!named.is_empty()).then_some(0));
        let Some((place, column, key)) = chosen.and_then(|chosen| named.get(chosen)) else {
            return Rooftops { key: None, cell: None, unknown: false, also_at: Vec::new() };
        };
        let mut also_at: Vec<String> = Vec::new();
        for (_, other_column, other) in &named {
            if other_column == column && other != key && known(other) && !also_at.contains(other) {
                also_at.push(other.clone());
            }
        }
        Rooftops { unknown: !known(key), key: Some(key.clone()), cell: Some(*place), also_at }
    }
}

/// The first cell that says something in the sense of its target; else the first one.
fn first_filled<'p>(cells: &Picked<'p>, target: Target, says: impl Fn(&str) -> bool) -> Option<Cell<'p>> {
    cells.all(target).find(|cell| says(cell.text)).or_else(|| cells.first(target))
}

/// The first text for a target that is one, repaired where its bytes were decoded once too often.
pub(super) fn text_of(
    cells: &Picked<'_>,
    target: Target,
    field: &str,
    read: impl Fn(&str) -> Option<String>,
    say: &mut Say<'_>,
) -> Option<String> {
    cells.all(target).find_map(|cell| match text::repair(cell.text) {
        None => read(cell.text),
        Some(repaired) => {
            say.say(Code::EncodingRepaired, field, Some(cell));
            read(&repaired)
        }
    })
}

/// Facts without a member of their own.
fn other_attributes(cells: &Picked<'_>, number: &Vin, also_at: Vec<String>) -> Map<String, Value> {
    let mut others = Map::new();
    let title = cells.all(Target::TitleStatus).find_map(|cell| vocabulary::title_status(cell.text));
    if let Some(title) = title {
        others.insert("title_status".to_owned(), title.into());
    }
    if let Vin::Chassis(chassis) = number {
        others.insert("chassis_number".to_owned(), chassis.clone().into());
    }
    if !also_at.is_empty() {
        others.insert("also_at".to_owned(), also_at.into());
    }
    others
}
