//! What the reader is told: facts of the dealer, and how this source is to be read.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// Settings of one reading. The `context` of a sample's expected file, and the file of `--feed-config`, have this form;
/// so has the reading part of a source's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// "Today" for date and year rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<NaiveDate>,
    /// Rooftop keys that exist; another one is `ROOFTOP_UNKNOWN`. Absent: every key is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_rooftop_keys: Option<Vec<String>>,
    /// Currency of the dealer, ISO 4217.
    pub tenant_currency: String,
    /// The last good full run of this source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_full_run: Option<PreviousRun>,
    /// `full` or `delta`.
    pub mode: Mode,
    /// The source only fills in what others lack: a row needs no more than what tells which unit it is about, and what
    /// it leaves out is neither missing nor guessed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fills_in: bool,
    /// Dates are day first.
    pub day_first: bool,
    /// The same in another word: `mdy` or `dmy`; it goes before `day_first`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// The decimal mark of the sender, `.` or `,`. Amounts are read by rules that need none (FEEDS.md 5.1); it is taken
    /// so that settings written for other readers can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<String>,
    /// Language and country of the dealer. Nothing is read differently for it, as for `decimal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_locale: Option<String>,
    /// For a delta feed: the VINs on offer from this source now (stock numbers of units without a VIN). Known: a delete
    /// of another unit is `DELETE_UNKNOWN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_active_vins: Option<BTreeSet<String>>,
    /// What demonstrators and loaners count as: `new` or `used`.
    pub demo_as: String,
    /// Zone of times without one, IANA name. Empty: not known, and such a time says nothing.
    pub timezone: String,
    /// Columns by hand: name of a column as it came → target (`vin`, `asking_price`, `ignore` …).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// Words of the status column of this source → `available`, `pending`, `intransit`, `sold`, `wholesale`, `removed`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub status_words: BTreeMap<String, String>,
    /// Names of the columns of a file without a header, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Vec<String>>,
    /// Thresholds of the guard.
    pub guard: Guard,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            today: None,
            known_rooftop_keys: None,
            tenant_currency: "USD".into(),
            previous_full_run: None,
            mode: Mode::Full,
            fills_in: false,
            day_first: false,
            date_order: None,
            decimal: None,
            tenant_locale: None,
            previous_active_vins: None,
            demo_as: "new".into(),
            timezone: String::new(),
            columns: BTreeMap::new(),
            status_words: BTreeMap::new(),
            header: None,
            guard: Guard::default(),
        }
    }
}

impl Config {
    /// Whether the day comes before the month in dates of numbers.
    pub fn is_day_first(&self) -> bool {
        self.date_order.map_or(self.day_first, |order| order == DateOrder::Dmy)
    }
}

/// Order of the parts of a date that has slashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Month first.
    Mdy,
    /// Day first.
    Dmy,
}

/// Whether a file is the whole lot or what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The whole lot: what is not in it is gone.
    #[default]
    Full,
    /// Changes, with an action column.
    Delta,
}

/// What the guard compares a file with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PreviousRun {
    /// Publishable units.
    pub published: u32,
    /// The same by rooftop key, where known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_rooftop: BTreeMap<String, u32>,
    /// Separator of the table, where it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Its columns, folded and sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Vec<String>>,
    /// For a delta feed: units on offer from this source now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<u32>,
}

/// Thresholds, in percent. Zero means any, not off (FEEDS.md 9).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Guard {
    /// A file with more than so many percent fewer publishable units than the last good run is held.
    pub drop_percent: f64,
    /// …when the last good run had at least so many.
    pub drop_from: u32,
    /// From this loss on the dealer is told.
    pub tell_percent: f64,
    /// A rooftop with at least so many units that has none now holds the file.
    pub rooftop_from: u32,
    /// More rejected rows than so many percent of the records hold the file…
    pub rejected_percent: f64,
    /// …when there are at least so many.
    pub rejected_from: u32,
    /// More than so many percent of the prices…
    pub repriced_percent: f64,
    /// …changed by more than so many percent hold the file.
    pub price_change_percent: f64,
    /// So many percent of the units that lose their price hold the file.
    pub price_lost_percent: f64,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            drop_percent: 30.0,
            drop_from: 10,
            tell_percent: 10.0,
            rooftop_from: 10,
            rejected_percent: 20.0,
            rejected_from: 5,
            repriced_percent: 50.0,
            price_change_percent: 25.0,
            price_lost_percent: 30.0,
        }
    }
}
