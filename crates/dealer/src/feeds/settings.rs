//! How a source of a dealer's vehicles is set up.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use feeds::config::{Config, Guard, Mode, PreviousRun};
use serde::{Deserialize, Serialize};

use super::price::PricePolicy;
use super::ranks::{self, DEFAULT_RANK};

/// Settings of one source. Stored as JSON; absent members have the defaults named here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceSettings {
    /// How its files are read.
    pub reading: Reading,
    /// Where a source of kind `https` is fetched from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// How often it is fetched, in minutes: 5 to 10,080, default 60.
    pub every_minutes: u32,
    /// The folder, within the platform's drop folder, that a source of kind `folder` watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What must lie beside a dropped file before it is taken: `none` (default), `done` (a file `NAME.done`) or `sha256`
    /// (a file `NAME.sha256` with its sum).
    pub marker: Marker,
    /// Whether its units are on offer by themselves. Default `additive`.
    pub role: Role,
    /// Whose word counts: the source with the lowest number that has a value for a field wins it. Default 100.
    pub rank: u32,
    /// The same for single fields (`price`, `photos`, `description` …), which override `rank`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranks: BTreeMap<String, u32>,
    /// What its amounts mean. Unanswered, nothing of them is published.
    pub prices: PricePolicy,
    /// The rooftop as the feed names it → name of a rooftop of the dealer. Keys that equal a rooftop's name need none,
    /// and with no mapping at all everything belongs to a dealer's only rooftop.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rooftops: BTreeMap<String, String>,
    /// When a file is held.
    pub guard: Guard,
    /// Without a good file for so many hours, people are told: 1 to 8,760, default 36.
    pub silent_after_hours: u32,
    /// How long received files are kept, in days: 1 to 3,650, default 30.
    pub keep_days: u32,
    /// What a file may be at most.
    pub limits: SourceLimits,
}

impl Default for SourceSettings {
    fn default() -> Self {
        Self {
            reading: Reading::default(),
            url: None,
            every_minutes: 60,
            folder: None,
            marker: Marker::None,
            role: Role::Additive,
            rank: DEFAULT_RANK,
            ranks: BTreeMap::new(),
            prices: PricePolicy::default(),
            rooftops: BTreeMap::new(),
            guard: Guard::default(),
            silent_after_hours: 36,
            keep_days: 30,
            limits: SourceLimits::default(),
        }
    }
}

/// How a sender tells that a dropped file is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Marker {
    /// Not at all: a file is whole when it no longer grows.
    #[default]
    None,
    /// By a file beside it.
    Done,
    /// By a file beside it that holds its SHA-256, in hex.
    Sha256,
}

/// Whether a source's units are on offer by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A unit that only it has is on offer.
    #[default]
    Additive,
    /// It only fills in fields of units that an additive source has.
    Complementary,
}

/// How the files of a source are read; the dealer's facts come from the dealer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// `full` (what is not in a file is gone) or `delta`. Default `full`.
    pub mode: Mode,
    /// Currency of its amounts, ISO 4217. Default `USD`; amounts in another one are not published, since the protocol
    /// knows no other.
    pub currency: String,
    /// Dates are day first. Default no.
    pub day_first: bool,
    /// What demonstrators and loaners count as: `new` (default) or `used`.
    pub demo_as: String,
    /// Zone of times without one, IANA name. Default: that of the dealer's first rooftop, else UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Columns by hand: name of a column → what it holds (`vin`, `asking_price`, `ignore` …).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// Words of its status column → `available`, `pending`, `intransit`, `sold`, `wholesale`, `removed`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub status_words: BTreeMap<String, String>,
    /// Names of the columns of a file without a header, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Vec<String>>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            mode: Mode::Full,
            currency: "USD".into(),
            day_first: false,
            demo_as: "new".into(),
            timezone: None,
            columns: BTreeMap::new(),
            status_words: BTreeMap::new(),
            header: None,
        }
    }
}

/// What a file of a source may be at most. None can be above what the platform allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceLimits {
    /// Bytes, packed and unpacked: at most and by default 1 GiB.
    pub file_bytes: u64,
    /// Records: at most and by default 200,000.
    pub records: u32,
    /// How long a fetch may take, in seconds: 1 to 3,600, default 900.
    pub fetch_seconds: u32,
}

impl Default for SourceLimits {
    fn default() -> Self {
        let limits = feeds::Limits::default();
        Self { file_bytes: limits.file_bytes, records: limits.records, fetch_seconds: 900 }
    }
}

impl SourceSettings {
    /// Reads stored settings.
    ///
    /// # Errors
    /// What cannot be understood, with no value in it.
    pub fn read(stored: &serde_json::Value) -> Result<SourceSettings, String> {
        SourceSettings::deserialize(stored).map_err(|error| error.to_string())
    }

    /// The same as they are stored.
    pub fn stored(&self) -> serde_json::Value {
        // Maps with texts for keys, numbers and texts: nothing in them refuses to be written.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Whether its files are whole lots.
    pub fn is_full(&self) -> bool {
        self.reading.mode == Mode::Full
    }

    /// What the reader is told of the source and its dealer.
    ///
    /// `today` is the dealer's day, `timezone` that of its first rooftop.
    pub fn config(
        &self,
        today: NaiveDate,
        rooftops: &Rooftops,
        timezone: Option<&str>,
        previous: Option<PreviousRun>,
    ) -> Config {
        let reading = &self.reading;
        Config {
            today: Some(today),
            known_rooftop_keys: rooftops.known_keys(self),
            tenant_currency: reading.currency.clone(),
            previous_full_run: previous,
            mode: reading.mode,
            fills_in: self.role == Role::Complementary,
            day_first: reading.day_first,
            demo_as: reading.demo_as.clone(),
            timezone: reading.timezone.as_deref().or(timezone).unwrap_or("UTC").to_owned(),
            columns: reading.columns.clone(),
            status_words: reading.status_words.clone(),
            header: reading.header.clone(),
            guard: self.guard,
            ..Config::default()
        }
    }

    /// What the reader must not exceed.
    pub fn limits(&self) -> feeds::Limits {
        let most = feeds::Limits::default();
        feeds::Limits {
            file_bytes: self.limits.file_bytes.min(most.file_bytes),
            records: self.limits.records.min(most.records),
            ..most
        }
    }

    /// What cannot be meant, as JSON Pointers within the settings and sentences. `rooftops` are the dealer's.
    pub fn problems(&self, rooftops: &Rooftops) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut add =
            |pointer: &str, sentence: &str| problems.push((pointer.to_owned(), sentence.to_owned()));
        let reading = &self.reading;
        if reading.currency.len() != 3 || !reading.currency.bytes().all(|b| b.is_ascii_uppercase()) {
            add("/reading/currency", "must be three capital letters, such as USD");
        }
        if !["new", "used"].contains(&reading.demo_as.as_str()) {
            add("/reading/demo_as", "must be new or used");
        }
        if reading.timezone.as_ref().is_some_and(|zone| zone.parse::<chrono_tz::Tz>().is_err()) {
            add("/reading/timezone", "must be the IANA name of a time zone, such as America/Los_Angeles");
        }
        if reading.header.as_ref().is_some_and(Vec::is_empty) {
            add(
                "/reading/header",
                "must name at least one column; leave it out where the files have a header",
            );
        }
        for (column, target) in &reading.columns {
            let at = format!("/reading/columns/{}", escaped(column));
            if let Some(sentence) = ranks::mapping_problem(column, target) {
                add(&at, sentence);
            }
        }
        for (word, meaning) in &reading.status_words {
            if !["available", "pending", "intransit", "sold", "wholesale", "removed"]
                .contains(&meaning.as_str())
            {
                add(
                    &format!("/reading/status_words/{}", escaped(word)),
                    "must be available, pending, intransit, sold, wholesale or removed",
                );
            }
        }
        if let Some(sentence) = self.url.as_deref().and_then(url_problem) {
            add("/url", sentence);
        }
        if !(5..=10_080).contains(&self.every_minutes) {
            add("/every_minutes", "must be between 5 and 10080, which is a week");
        }
        if self.folder.as_deref().is_some_and(|folder| !is_folder(folder)) {
            add(
                "/folder",
                "must be one name without slashes, of letters, digits, dots, dashes and underscores",
            );
        }
        for field in self.ranks.keys() {
            if !ranks::is_ranked(field) {
                add(&format!("/ranks/{}", escaped(field)), "is no field that sources are ranked by");
            }
        }
        for (key, name) in &self.rooftops {
            if !rooftops.has(name) {
                add(&format!("/rooftops/{}", escaped(key)), "is no rooftop of this dealer");
            }
        }
        let guard = &self.guard;
        for (name, percent) in [
            ("drop_percent", guard.drop_percent),
            ("tell_percent", guard.tell_percent),
            ("rejected_percent", guard.rejected_percent),
            ("repriced_percent", guard.repriced_percent),
            ("price_change_percent", guard.price_change_percent),
            ("price_lost_percent", guard.price_lost_percent),
        ] {
            if !(0.0..=100.0).contains(&percent) {
                add(&format!("/guard/{name}"), "must be between 0, which means any, and 100");
            }
        }
        if !(1..=8760).contains(&self.silent_after_hours) {
            add("/silent_after_hours", "must be between 1 and 8760, which is a year");
        }
        if !(1..=3650).contains(&self.keep_days) {
            add("/keep_days", "must be between 1 and 3650");
        }
        let most = feeds::Limits::default();
        if !(1..=most.file_bytes).contains(&self.limits.file_bytes) {
            add("/limits/file_bytes", "must be between 1 and 1073741824, which is 1 GiB");
        }
        if !(1..=most.records).contains(&self.limits.records) {
            add("/limits/records", "must be between 1 and 200000");
        }
        if !(1..=3600).contains(&self.limits.fetch_seconds) {
            add("/limits/fetch_seconds", "must be between 1 and 3600");
        }
        problems.extend(self.prices.problems());
        problems
    }
}

/// A member's name as a step of a JSON Pointer (RFC 6901).
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn url_problem(url: &str) -> Option<&'static str> {
    let Ok(url) = url::Url::parse(url) else {
        return Some("must be an address such as https://host/file.csv");
    };
    if url.scheme() != "https" && url.scheme() != "http" {
        return Some("must begin with https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("must not hold a user or password; they are stored apart, encrypted");
    }
    url.fragment().is_some().then_some("must not have a part behind #")
}

/// One step of a path on every system, and never up.
fn is_folder(name: &str) -> bool {
    let signs = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    (1..=100).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(signs)
}

/// The names of a dealer's rooftops, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rooftops {
    names: Vec<String>,
}

/// A rooftop key that stands for no rooftop of the dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RooftopUnknown;

impl Rooftops {
    /// Of a dealer.
    pub fn new(names: impl IntoIterator<Item = String>) -> Rooftops {
        Rooftops { names: names.into_iter().collect() }
    }

    /// Whether the dealer has a rooftop of that name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    /// The rooftop of that name, whatever its case.
    pub fn named(&self, name: &str) -> Option<&str> {
        let wanted = contract::text::fold(name);
        self.names.iter().find(|one| contract::text::fold(one) == wanted).map(String::as_str)
    }

    /// The rooftop that a key of a source stands for. Without a key: the only rooftop, or none.
    ///
    /// # Errors
    /// Where the dealer cannot have meant any rooftop by it.
    pub fn of_key(
        &self,
        settings: &SourceSettings,
        key: Option<&str>,
    ) -> Result<Option<&str>, RooftopUnknown> {
        let only = match self.names.as_slice() {
            [only] => Some(only.as_str()),
            _ => None,
        };
        let Some(key) = key else { return Ok(only) };
        if let Some(name) = settings.rooftops.get(key) {
            // The rooftop may have been renamed since: then nobody knows which one is meant.
            return self
                .names
                .iter()
                .find(|one| *one == name)
                .map(|one| Some(one.as_str()))
                .ok_or(RooftopUnknown);
        }
        if let Some(name) = self.named(key) {
            return Ok(Some(name));
        }
        match only {
            Some(only) if settings.rooftops.is_empty() => Ok(Some(only)),
            _ => Err(RooftopUnknown),
        }
    }

    /// The keys that the reader may meet. `None` where every key is taken: the dealer maps none and has one rooftop.
    pub fn known_keys(&self, settings: &SourceSettings) -> Option<Vec<String>> {
        if settings.rooftops.is_empty() && self.names.len() <= 1 {
            return None;
        }
        Some(settings.rooftops.keys().chain(&self.names).cloned().collect())
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
