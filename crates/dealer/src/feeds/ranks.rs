//! Which source's word counts, field by field, and what fields there are.

use feeds::aliases::{self, Target};

use super::settings::SourceSettings;

/// The rank of a source that names none.
pub(crate) const DEFAULT_RANK: u32 = 100;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One line.
    Line,
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from 0.
    Whole,
    /// A model year.
    Year,
    /// A number from 0.
    Number,
    /// Yes or no.
    Flag,
    /// Lines.
    Lines,
    /// An address.
    Address,
    /// Addresses.
    Addresses,
    /// A day.
    Day,
    /// Mandatory charges with names and amounts.
    Fees,
    /// The name of a rooftop.
    Rooftop,
}

/// A member of the published vehicle that sources and people can have a word on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) holds: Holds,
}

/// Words of an edited status that take the unit off.
pub(crate) const OFF: [&str; 2] = ["sold", "removed"];

const STATUS: Holds = Holds::Word(&["available", "intransit", "pending"]);
const TYPES: Holds = Holds::Word(&["car", "motorcycle", "trailer", "rv", "other"]);
const CONDITION: Holds = Holds::Word(&["new", "used", "cpo"]);

const fn field(name: &'static str, holds: Holds) -> Field {
    Field { name, holds }
}

/// All of them. `vin` and `stock` are not among them: they say which unit it is.
pub(crate) const FIELDS: [Field; 34] = [
    field("vehicle_type", TYPES),
    field("year", Holds::Year),
    field("make", Holds::Line),
    field("model", Holds::Line),
    field("trim", Holds::Line),
    field("condition", CONDITION),
    field("status", STATUS),
    field("rooftop", Holds::Rooftop),
    field("msrp", Holds::Whole),
    field("list_price", Holds::Whole),
    field("price", Holds::Whole),
    field("fees", Holds::Fees),
    field("mileage", Holds::Whole),
    field("body", Holds::Line),
    field("transmission", Holds::Line),
    field("driveline", Holds::Line),
    field("engine", Holds::Line),
    field("displacement_cc", Holds::Whole),
    field("fuel", Holds::Line),
    field("city_mpg", Holds::Whole),
    field("highway_mpg", Holds::Whole),
    field("electric_range_mi", Holds::Number),
    field("battery_kwh", Holds::Number),
    field("motor_power_hp", Holds::Number),
    field("dc_fast_charge", Holds::Flag),
    field("charge_port", Holds::Line),
    field("exterior_color", Holds::Line),
    field("interior_color", Holds::Line),
    field("features", Holds::Lines),
    field("photos", Holds::Addresses),
    field("vdp_url", Holds::Address),
    field("description", Holds::Text),
    field("notes", Holds::Text),
    field("inventory_date", Holds::Day),
];

/// How facts without a member of their own are named: `other_attributes.title_status`.
pub(crate) const ATTRIBUTES: &str = "other_attributes";

/// The field of a name.
pub(crate) fn find(name: &str) -> Option<Field> {
    FIELDS.iter().copied().find(|field| field.name == name)
}

/// The attribute that a field name means, if it means one.
pub(crate) fn attribute(name: &str) -> Option<&str> {
    name.strip_prefix(ATTRIBUTES)?.strip_prefix('.').filter(|key| !key.is_empty())
}

/// Whether sources can be ranked by the field.
pub(crate) fn is_ranked(name: &str) -> bool {
    // Fees belong to the price that they are inside of.
    (name != "fees" && find(name).is_some()) || name == ATTRIBUTES || attribute(name).is_some()
}

/// The rank of a source for a field.
pub(crate) fn rank_of(settings: &SourceSettings, field: &str) -> u32 {
    let own = settings.ranks.get(field);
    let of_all = || attribute(field).and_then(|_| settings.ranks.get(ATTRIBUTES));
    own.or_else(of_all).copied().unwrap_or(settings.rank)
}

/// What is wrong with a mapping by hand, if anything: amounts that are never published cannot be mapped to anything,
/// and what a column holds has to be something.
pub(crate) fn mapping_problem(column: &str, target: &str) -> Option<&'static str> {
    let Ok(target) = target.parse::<Target>() else { return Some("is nothing that a column can hold") };
    let refused = target != Target::Ignore && aliases::is_never_published(column);
    refused.then_some("is a column that is never published, whatever it is mapped to; map it to ignore")
}
