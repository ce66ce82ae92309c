//! One vehicle as a feed states it, normalised: before the dealer's price policy, other sources and edits.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A normalised unit. Absent members are unknown; texts are trimmed and never empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unit {
    /// Number of the record in the file, from 1.
    pub source_row: u32,
    /// The rooftop as the feed names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooftop_key: Option<String>,
    /// `car`, `motorcycle`, `trailer`, `rv` or `other`.
    pub vehicle_type: String,
    /// 17 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin: Option<String>,
    /// Stock number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stock: Option<String>,
    /// Model year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Make, in its canonical spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    /// Model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Trim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<String>,
    /// `new`, `used` or `cpo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// `available`, `pending` or `intransit`. Empty: the source only fills in, and says nothing of it.
    pub status: String,
    /// What the feed asks for it, whole dollars. What that means, and whether it is published as `price`, is the
    /// dealer's price policy (FEEDS.md 5.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asking_price: Option<i64>,
    /// The sticker price, whole dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub msrp: Option<i64>,
    /// Miles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mileage: Option<i64>,
    /// Body style.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// `fwd`, `rwd`, `awd`, `4wd`, or another word as it came, in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driveline: Option<String>,
    /// `automatic`, `manual`, `cvt`, `dct`, or another word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmission: Option<String>,
    /// `gas`, `diesel`, `hybrid`, `phev`, `bev`, `flex`, `cng`, `hydrogen`, or another word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<String>,
    /// Engine as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Cubic centimetres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub displacement_cc: Option<i64>,
    /// Rated miles per gallon in town.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city_mpg: Option<i64>,
    /// Rated miles per gallon on the highway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highway_mpg: Option<i64>,
    /// Miles on battery power.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub electric_range_mi: Option<f64>,
    /// Usable battery, kilowatt-hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub battery_kwh: Option<f64>,
    /// Peak power of the electric motor, horsepower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motor_power_hp: Option<f64>,
    /// Whether it charges with direct current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dc_fast_charge: Option<bool>,
    /// Charging connector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_port: Option<String>,
    /// Colour outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exterior_color: Option<String>,
    /// Colour inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interior_color: Option<String>,
    /// Equipment, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Addresses of pictures, the best one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub photos: Vec<String>,
    /// The unit's page on the dealer's site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vdp_url: Option<String>,
    /// The dealer's words, plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The day it came into stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inventory_date: Option<NaiveDate>,
    /// When the sender last changed it: RFC 3339 with an offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Facts without a member of their own (`title_status`, `chassis_number`, `also_at` …).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub other_attributes: Map<String, Value>,
    /// Every readable amount by the name of its column, whole dollars: what the price policy decides over. Columns that
    /// are never published (cost, invoice …) are not among them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub amounts: BTreeMap<String, i64>,
}
