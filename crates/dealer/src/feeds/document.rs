//! A merged unit as the vehicle of the protocol.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use feeds::{Code, Finding, Unit};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::conform::fit;
use super::merge::{Edit, Origin, Statement, Voice, merge};
use super::price::Fee;
use super::ranks::{ATTRIBUTES, OFF, attribute};
use super::settings::{Role, Rooftops, SourceSettings};

/// What one source last said of a unit.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    /// The source.
    pub source: Uuid,
    /// Its name.
    pub name: &'a str,
    /// How it is set up now.
    pub settings: &'a SourceSettings,
    /// The run that brought it.
    pub run: Uuid,
    /// The unit as read.
    pub unit: &'a Unit,
}

/// What is known beside the sources' words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rendering<'a> {
    /// The dealer's rooftops.
    pub rooftops: &'a Rooftops,
    /// Now.
    pub now: DateTime<Utc>,
    /// When the words that made it necessary were said: when the sender made the file or it was received; for an edit,
    /// now. A claim cannot have changed later than that.
    pub said_at: DateTime<Utc>,
}

/// What is to be published of a unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rendered {
    /// The vehicle, or why there is none.
    pub outcome: Outcome,
    /// What was left out of it. Findings carry the row and identity of the source that wins, and no run.
    pub findings: Vec<Finding>,
    /// Sources whose amounts nobody has explained, with the column, where that kept something from being published.
    pub unanswered: Vec<(Uuid, String)>,
    /// Whose word each field is.
    pub voices: Voices,
}

/// Whose word the fields of a vehicle are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Voices {
    /// All of them one source's; of the run that brought it.
    One(Uuid, Uuid),
    /// By field.
    Each(BTreeMap<String, By>),
}

/// Whose word a field is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum By {
    /// A source's, and the run that brought it.
    Source(Uuid, Uuid),
    /// A person's.
    Edit(String),
}

impl Voices {
    /// Whose word a field is; `None` where nobody has one.
    pub(super) fn of(&self, field: &str) -> Option<By> {
        match self {
            Voices::One(source, run) => Some(By::Source(*source, *run)),
            Voices::Each(fields) => fields.get(field).cloned(),
        }
    }
}

/// The vehicle, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// It is on offer like this; valid under every contract.
    Offered(Map<String, Value>),
    /// It is not on offer: the reason as removals have it, `edit` or `feed`.
    Off(&'static str),
    /// No contract allows it to be published like this; the findings say why.
    Refused,
}

/// Longest stock number that is taken over, in characters: it is part of ids, which cursors carry.
pub(super) const STOCK_CHARS: usize = 100;

/// Makes the vehicle of what the sources and people say. `former` is the vehicle as it is published now.
///
/// `vehicle_id` must be that of the unit in the lot.
pub(super) fn render(
    vehicle_id: &str,
    said: &[Said<'_>],
    edits: &[Edit],
    former: Option<&Map<String, Value>>,
    with: Rendering<'_>,
) -> Rendered {
    let mut findings = Vec::new();
    let mut unanswered = Vec::new();
    let mut statements = Vec::with_capacity(said.len());
    for one in said {
        let (statement, column) = statement(one, with.rooftops, &mut findings);
        statements.push(statement);
        unanswered.extend(column.map(|column| (one.source, column)));
    }
    let off = |reason| Rendered {
        outcome: Outcome::Off(reason),
        findings: Vec::new(),
        unanswered: Vec::new(),
        voices: Voices::Each(BTreeMap::new()),
    };
    if !statements.iter().any(|one| one.settings.role == Role::Additive) {
        return off("feed");
    }
    let edits: Vec<Edit> = edits.iter().filter(|edit| edit.holds(with.now)).cloned().collect();
    let sold =
        |edit: &Edit| edit.field == "status" && edit.value.as_str().is_some_and(|word| OFF.contains(&word));
    if edits.iter().any(sold) {
        return off("edit");
    }
    let sender_changed_at = statements.iter().filter_map(|one| one.sender_changed_at).max();
    // Nearly every unit is of one source, and nobody edited it: what it says is what is published.
    let (fields, voices) = match statements.as_mut_slice() {
        [only] if edits.is_empty() => {
            (std::mem::take(&mut only.fields), Voices::One(only.origin.source, only.origin.run))
        }
        all => {
            let merged = merge(all, &edits);
            let by = |voice| match voice {
                Voice::Source(origin) => By::Source(origin.source, origin.run),
                Voice::Edit(edit) => By::Edit(edit.author.clone()),
            };
            let each = merged.fields.iter().map(|(field, decided)| ((*field).to_owned(), by(decided.winner)));
            (merged.values(), Voices::Each(each.collect()))
        }
    };
    let mut vehicle = nested(fields);
    vehicle.entry("status").or_insert_with(|| "available".into());
    vehicle.insert("vehicle_id".into(), vehicle_id.into());
    electric_only(&mut vehicle);
    let changed_at = changed_at(&vehicle, former, sender_changed_at, with);
    vehicle.insert("updated_at".into(), changed_at.to_rfc3339_opts(SecondsFormat::Secs, true).into());
    let about = said.iter().map(|one| one.unit).next();
    let outcome = match fit(vehicle, about, &mut findings) {
        Some(vehicle) => Outcome::Offered(vehicle),
        None => Outcome::Refused,
    };
    Rendered { outcome, findings, unanswered, voices }
}

/// A source's word in members of the protocol, and the column of a price that nobody has explained.
pub(super) fn statement<'a>(
    said: &Said<'a>,
    rooftops: &Rooftops,
    findings: &mut Vec<Finding>,
) -> (Statement<'a>, Option<String>) {
    let unit = said.unit;
    let mut fields = Map::new();
    let mut text = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            fields.insert(name.into(), value.as_str().into());
        }
    };
    text("vin", &unit.vin);
    text("stock", &unit.stock);
    text("make", &unit.make);
    text("model", &unit.model);
    text("trim", &unit.trim);
    text("condition", &unit.condition);
    text("body", &unit.body);
    text("driveline", &unit.driveline);
    text("transmission", &unit.transmission);
    text("fuel", &unit.fuel);
    text("engine", &unit.engine);
    text("charge_port", &unit.charge_port);
    text("exterior_color", &unit.exterior_color);
    text("interior_color", &unit.interior_color);
    text("vdp_url", &unit.vdp_url);
    text("description", &unit.description);
    // Readers say `car` where a feed says nothing; so does the protocol.
    if !unit.vehicle_type.is_empty() && unit.vehicle_type != "car" {
        fields.insert("vehicle_type".into(), unit.vehicle_type.as_str().into());
    }
    // Sources that only fill in may say nothing of it.
    if !unit.status.is_empty() {
        fields.insert("status".into(), unit.status.as_str().into());
    }
    let amounts = said.settings.prices.publish(&said.settings.reading, unit);
    let mut whole = |name: &str, value: Option<i64>| {
        if let Some(value) = value.filter(|value| *value >= 0) {
            fields.insert(name.into(), value.into());
        }
    };
    whole("year", unit.year.map(i64::from));
    whole("msrp", amounts.msrp);
    whole("list_price", amounts.list_price);
    whole("price", amounts.price);
    whole("mileage", unit.mileage);
    whole("displacement_cc", unit.displacement_cc);
    whole("city_mpg", unit.city_mpg);
    whole("highway_mpg", unit.highway_mpg);
    if let Some(fees) = &amounts.fees {
        fields.insert("fees".into(), written(fees));
    }
    for (name, value) in [
        ("electric_range_mi", unit.electric_range_mi),
        ("battery_kwh", unit.battery_kwh),
        ("motor_power_hp", unit.motor_power_hp),
    ] {
        if let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) {
            fields.insert(name.into(), value.into());
        }
    }
    if let Some(flag) = unit.dc_fast_charge {
        fields.insert("dc_fast_charge".into(), flag.into());
    }
    for (name, values) in [("features", &unit.features), ("photos", &unit.photos)] {
        if !values.is_empty() {
            fields.insert(name.into(), values.as_slice().into());
        }
    }
    if let Some(day) = unit.inventory_date {
        fields.insert("inventory_date".into(), day.to_string().into());
    }
    for (key, value) in unit.other_attributes.iter().filter(|(_, value)| !value.is_null()) {
        fields.insert(format!("{ATTRIBUTES}.{key}"), value.clone());
    }
    match rooftops.of_key(said.settings, unit.rooftop_key.as_deref()) {
        Ok(Some(name)) => {
            fields.insert("rooftop".into(), name.into());
        }
        Ok(None) => {}
        // The reader knew the key; the dealer's rooftops have changed since. Better no rooftop than a lot that is
        // empty.
        Err(_) => {
            findings.push(finding(Code::RooftopUnknown, unit, "rooftop_key", unit.rooftop_key.as_deref()))
        }
    }
    if amounts.foreign {
        let currency = said.settings.reading.currency.as_str();
        findings.push(finding(Code::PriceCurrency, unit, "asking_price", Some(currency)));
    }
    let origin =
        Origin { source: said.source, name: said.name.to_owned(), run: said.run, row: unit.source_row };
    let stamp = unit.updated_at.as_deref().and_then(|stamp| DateTime::parse_from_rfc3339(stamp).ok());
    let statement = Statement {
        origin,
        settings: said.settings,
        fields,
        sender_changed_at: stamp.map(|stamp| stamp.with_timezone(&Utc)),
    };
    (statement, amounts.unanswered)
}

/// Charges as the protocol has them.
pub(super) fn written(fees: &[Fee]) -> Value {
    fees.iter().map(|fee| json!({"name": fee.name, "amount": fee.amount})).collect()
}

/// Attributes where the protocol has them.
fn nested(fields: Map<String, Value>) -> Map<String, Value> {
    let mut vehicle = Map::new();
    let mut attributes = Map::new();
    for (name, value) in fields {
        match attribute(&name) {
            Some(key) => {
                attributes.insert(key.to_owned(), value);
            }
            None => {
                vehicle.insert(name, value);
            }
        }
    }
    if !attributes.is_empty() {
        vehicle.insert(ATTRIBUTES.into(), attributes.into());
    }
    vehicle
}

/// What burns nothing has neither displacement nor miles per gallon (AAP.md 7.2).
fn electric_only(vehicle: &mut Map<String, Value>) {
    if vehicle.get("fuel").and_then(Value::as_str) == Some("bev") {
        for name in ["displacement_cc", "city_mpg", "highway_mpg"] {
            vehicle.remove(name);
        }
    }
}

/// The claims that `updated_at` is about. Whether the unit is on offer is one too: who was not, has no former vehicle.
const CLAIMS: [&str; 4] = ["status", "price", "list_price", "fees"];

/// When availability, price, fees or status last changed. It stays where nothing of that did, whatever stamps a feed
/// puts on its rows; a sender who says that it was earlier than we heard of it is believed, one who says that it was
/// later is not.
fn changed_at(
    vehicle: &Map<String, Value>,
    former: Option<&Map<String, Value>>,
    sender_changed_at: Option<DateTime<Utc>>,
    with: Rendering<'_>,
) -> DateTime<Utc> {
    let known = former.and_then(|former| {
        let stamp = former.get("updated_at")?.as_str()?;
        Some(DateTime::parse_from_rfc3339(stamp).ok()?.with_timezone(&Utc))
    });
    if let (Some(former), Some(known)) = (former, known)
        && CLAIMS.iter().all(|claim| former.get(*claim) == vehicle.get(*claim))
    {
        return known.min(with.now);
    }
    let heard = with.said_at.min(with.now);
    let told = sender_changed_at.filter(|stamp| *stamp < heard).unwrap_or(heard);
    // Time does not run backwards for who reads the listing.
    known.map_or(told, |known| told.max(known).min(with.now))
}

/// A finding about a unit.
pub(super) fn finding(code: Code, unit: &Unit, field: &str, value: Option<&str>) -> Finding {
    Finding {
        code,
        row: Some(unit.source_row),
        field: Some(field.to_owned()),
        column: None,
        value: value.map(|value| value.chars().take(feeds::finding::VALUE_CHARS).collect()),
        vin: unit.vin.clone(),
        stock: unit.stock.as_ref().map(|stock| stock.chars().take(STOCK_CHARS).collect()),
        kept_row: None,
    }
}

/// A field that is not what it was.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    /// Its name; attributes are named `other_attributes.…`.
    pub field: String,
    /// What it was; `None`: not there.
    pub old: Option<Value>,
    /// What it is now.
    pub new: Option<Value>,
}

/// What differs between two states of a vehicle, by field. Our own stamps and ids are no changes.
pub(super) fn changes(former: &Map<String, Value>, next: &Map<String, Value>) -> Vec<Change> {
    let (former, next) = (flat(former), flat(next));
    let mut names: Vec<&String> = former.keys().chain(next.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differs = names.into_iter().filter(|name| former.get(*name) != next.get(*name));
    differs
        .map(|name| Change {
            field: name.clone(),
            old: former.get(name).map(|value| (*value).clone()),
            new: next.get(name).map(|value| (*value).clone()),
        })
        .collect()
}

fn flat(vehicle: &Map<String, Value>) -> BTreeMap<String, &Value> {
    let mut fields = BTreeMap::new();
    for (name, value) in vehicle {
        match (name.as_str(), value) {
            ("updated_at" | "vehicle_id" | "dealer_id", _) => {}
            (ATTRIBUTES, Value::Object(attributes)) => {
                fields.extend(attributes.iter().map(|(key, value)| (format!("{ATTRIBUTES}.{key}"), value)));
            }
            _ => {
                fields.insert(name.clone(), value);
            }
        }
    }
    fields
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
