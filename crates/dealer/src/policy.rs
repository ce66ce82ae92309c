//! What a dealer decided for itself. Stored as JSON; absent members mean the documented defaults.

use chrono::{DateTime, Utc};
use contract::payload::{Sort, SortField};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// A dealer's policy. Every member is optional in its stored form.
///
/// The members about leads and appointments are checked here and honoured by `lead.submit`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Page size of a search that names none; see [`Policy::page_size`].
    #[serde(deserialize_with = "maybe_whole")]
    pub default_limit: Option<u32>,
    /// Largest page size; larger requests are answered with this one.
    #[serde(deserialize_with = "whole")]
    pub max_limit: u32,
    /// Order of a search that names none.
    pub default_sort: Sort,
    /// Skill calls in one window; `None` means no limit.
    pub rate_limit: Option<RateLimit>,
    /// The same for each caller by itself; a key may have a limit of its own instead.
    pub caller_rate_limit: Option<RateLimit>,
    /// What of the schema's search this dealer offers; `None` means all of it.
    pub search: Option<SearchPolicy>,
    /// A test drive without a vehicle is refused.
    pub test_drive_requires_vehicle: bool,
    /// How appointments are answered.
    pub appointments: Appointments,
    /// Length of a slot, and of an appointment that names no duration, in minutes.
    #[serde(deserialize_with = "whole")]
    pub appointment_slot_minutes: u32,
    /// Earliest start from now, in minutes.
    #[serde(deserialize_with = "whole")]
    pub appointment_notice_minutes: u32,
    /// Latest start from now, in days.
    #[serde(deserialize_with = "whole")]
    pub appointment_horizon_days: u32,
    /// Appointments at once per rooftop and department.
    #[serde(deserialize_with = "whole")]
    pub appointment_capacity: u32,
    /// How long an idempotency key is remembered, in hours.
    #[serde(deserialize_with = "whole")]
    pub idempotency_hours: u32,
    /// How long an equivalent lead counts as a duplicate, in hours.
    #[serde(deserialize_with = "whole")]
    pub duplicate_hours: u32,
    /// How far in the future a consent may lie, in seconds.
    #[serde(deserialize_with = "whole")]
    pub consent_clock_skew_seconds: u32,
    /// After so many hours without a good file of its feeds a dealer's answers say how old its lot is.
    #[serde(deserialize_with = "whole")]
    pub freshness_hours: u32,
    /// Channels the dealer works.
    pub follow_up_channels: Vec<Channel>,
    /// For tests of failures: kept, and without effect in a build that injects no faults.
    pub fault: Option<String>,
    /// For tests in which it must always be the same time: kept, and without effect in a build that injects no
    /// faults.
    pub clock: Option<DateTime<Utc>>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            default_limit: None,
            max_limit: 100,
            default_sort: Sort::DEFAULT,
            rate_limit: None,
            caller_rate_limit: None,
            search: None,
            test_drive_requires_vehicle: true,
            appointments: Appointments::Auto,
            appointment_slot_minutes: 30,
            appointment_notice_minutes: 120,
            appointment_horizon_days: 60,
            appointment_capacity: 1,
            idempotency_hours: 24,
            duplicate_hours: 24,
            consent_clock_skew_seconds: 300,
            freshness_hours: 36,
            follow_up_channels: vec![Channel::Phone, Channel::Email, Channel::Sms],
            fault: None,
            clock: None,
        }
    }
}

impl Policy {
    /// What time it is for this dealer's leads.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        #[cfg(feature = "fault-injection")]
        if let Some(pinned) = self.clock {
            return pinned;
        }
        Utc::now()
    }

    /// Page size of a search that names none: 20, unless the dealer says otherwise or never gives so many.
    pub fn page_size(&self) -> u32 {
        self.default_limit.unwrap_or_else(|| self.max_limit.min(20))
    }

    /// What cannot be meant, as JSON Pointers within the policy and sentences.
    pub fn problems(&self) -> Vec<(String, &'static str)> {
        let mut problems = Vec::new();
        let mut add = |pointer: &str, sentence| problems.push((pointer.to_owned(), sentence));
        if self.max_limit == 0 || self.max_limit > 1000 {
            add("/max_limit", "must be between 1 and 1000");
        }
        if self.default_limit.is_some_and(|limit| limit == 0 || limit > self.max_limit) {
            add("/default_limit", "must be at least 1 and not above max_limit");
        }
        for (pointer, limit) in
            [("/rate_limit", self.rate_limit), ("/caller_rate_limit", self.caller_rate_limit)]
        {
            if limit.is_some_and(|limit| limit.requests == 0 || limit.per_seconds == 0) {
                add(pointer, "requests and per_seconds must be at least 1");
            }
            if limit.is_some_and(|limit| limit.per_seconds > MONTH_SECONDS) {
                add(pointer, "per_seconds must not be above 2678400, which is a month");
            }
        }
        if self.appointment_slot_minutes < 5 || self.appointment_slot_minutes > 1440 {
            add("/appointment_slot_minutes", "must be between 5 and 1440");
        }
        if self.appointment_capacity == 0 {
            add("/appointment_capacity", "must be at least 1");
        }
        if !(1..=3650).contains(&self.appointment_horizon_days) {
            add("/appointment_horizon_days", "must be between 1 and 3650");
        } else if self.appointment_notice_minutes / 1440 >= self.appointment_horizon_days {
            add(
                "/appointment_notice_minutes",
                "must be shorter than appointment_horizon_days, or nothing is ever open",
            );
        }
        if !(24..=8760).contains(&self.idempotency_hours) {
            add("/idempotency_hours", "must be between 24, which the protocol promises to buyers, and 8760");
        }
        if self.duplicate_hours > 8760 {
            add("/duplicate_hours", "must not be above 8760");
        }
        if self.consent_clock_skew_seconds > 86_400 {
            add("/consent_clock_skew_seconds", "must not be above 86400, which is a day");
        }
        if !(1..=8760).contains(&self.freshness_hours) {
            add("/freshness_hours", "must be between 1 and 8760, which is a year");
        }
        let channels = &self.follow_up_channels;
        if channels.is_empty() {
            add("/follow_up_channels", "must name at least one channel");
        } else if channels.iter().enumerate().any(|(i, one)| channels.iter().skip(i + 1).any(|o| o == one)) {
            add("/follow_up_channels", "names one channel twice");
        }
        if let Some(search) = &self.search {
            for (i, name) in search.filters.iter().flatten().enumerate() {
                if !FILTERS.contains(&name.as_str()) {
                    add(&format!("/search/filters/{i}"), "is no filter of the protocol");
                }
            }
            // Cards leave empty lists out, and an absent list tells buyers that everything is offered.
            for (name, empty) in [
                ("filters", search.filters.as_ref().is_some_and(Vec::is_empty)),
                ("sort_fields", search.sort_fields.as_ref().is_some_and(Vec::is_empty)),
                ("feature_codes", search.feature_codes.as_ref().is_some_and(Vec::is_empty)),
            ] {
                if empty {
                    add(&format!("/search/{name}"), "must not be empty; leave it out to offer everything");
                }
            }
        }
        problems
    }
}

/// Longest window of a limit.
const MONTH_SECONDS: u32 = 31 * 86_400;

/// `requests` skill calls in `per_seconds` seconds, counted per process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// Calls answered in one window.
    #[serde(deserialize_with = "whole")]
    pub requests: u32,
    /// Length of a window.
    #[serde(deserialize_with = "whole")]
    pub per_seconds: u32,
}

/// What a dealer offers of search; an absent list means everything the schema has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchPolicy {
    /// Offered filters.
    pub filters: Option<Vec<String>>,
    /// Offered sort fields.
    pub sort_fields: Option<Vec<SortField>>,
    /// Offered values of the `features` filter.
    pub feature_codes: Option<Vec<String>>,
}

/// A whole number as JSON has it, `20.0` included, with a sentence for people where it is none.
fn maybe_whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole(deserializer).map(Some)
}

fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let integral = |n: &f64| n.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(n);
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(integral).map(|n| n as u64))
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| D::Error::custom("must be a whole number, from 0 to 4294967295"))
}

/// How appointments are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Appointments {
    /// Open times are confirmed, others get proposals.
    Auto,
    /// People answer.
    Manual,
    /// A time that cannot be kept is an error.
    Strict,
}

/// A way of reaching a shopper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// A call.
    Phone,
    /// A mail.
    Email,
    /// A text message.
    Sms,
}

/// Every filter of the protocol, as requests name them.
pub const FILTERS: [&str; 28] = [
    "make",
    "model",
    "trim",
    "condition",
    "vehicle_type",
    "transmission",
    "fuel",
    "driveline",
    "body",
    "charge_port",
    "exterior_color",
    "interior_color",
    "rooftops",
    "status",
    "features",
    "dc_fast_charge",
    "year_min",
    "year_max",
    "price_min",
    "price_max",
    "mileage_max",
    "displacement_cc_min",
    "displacement_cc_max",
    "electric_range_mi_min",
    "electric_range_mi_max",
    "vin",
    "stock",
    "query",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn absent_members_mean_the_defaults() {
        let policy: Policy = serde_json::from_value(json!({})).unwrap();
        assert_eq!(policy, Policy::default());
        assert!(policy.problems().is_empty());
    }

    #[test]
    fn nonsense_is_named() {
        let policy: Policy = serde_json::from_value(
            json!({"max_limit": 0, "rate_limit": {"requests": 0, "per_seconds": 1}, "search": {"filters": ["nope"]}}),
        )
        .unwrap();
        let places: Vec<_> = policy.problems().into_iter().map(|(pointer, _)| pointer).collect();
        assert_eq!(places, ["/max_limit", "/rate_limit", "/search/filters/0"]);
        for (members, place) in [
            (json!({"search": {"feature_codes": []}}), "/search/feature_codes"),
            (json!({"caller_rate_limit": {"requests": 1, "per_seconds": 0}}), "/caller_rate_limit"),
            (json!({"rate_limit": {"requests": 1, "per_seconds": 2_678_401}}), "/rate_limit"),
            (json!({"idempotency_hours": 23}), "/idempotency_hours"),
            (json!({"duplicate_hours": 8761}), "/duplicate_hours"),
            (json!({"consent_clock_skew_seconds": 86_401}), "/consent_clock_skew_seconds"),
            (json!({"appointment_horizon_days": 0}), "/appointment_horizon_days"),
            (
                json!({"appointment_horizon_days": 1, "appointment_notice_minutes": 1440}),
                "/appointment_notice_minutes",
            ),
            (json!({"appointment_slot_minutes": 4}), "/appointment_slot_minutes"),
            (json!({"appointment_capacity": 0}), "/appointment_capacity"),
            (json!({"freshness_hours": 0}), "/freshness_hours"),
            (json!({"freshness_hours": 8761}), "/freshness_hours"),
            (json!({"follow_up_channels": ["sms", "sms"]}), "/follow_up_channels"),
            (json!({"follow_up_channels": []}), "/follow_up_channels"),
        ] {
            let policy: Policy = serde_json::from_value(members.clone()).unwrap();
            let places: Vec<_> = policy.problems().into_iter().map(|(pointer, _)| pointer).collect();
            assert_eq!(places, [place], "{members}");
        }
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point_and_others_are_refused_in_plain_words() {
        let policy: Policy = serde_json::from_value(json!({"max_limit": 50.0})).unwrap();
        assert_eq!(policy.max_limit, 50);
        for wrong in [
            json!(5.5),
            json!("5"),
            json!(-1),
            json!(-1.0),
            json!(1e30),
            json!(4_294_967_296_u64),
            json!(null),
        ] {
            let error =
                serde_json::from_value::<Policy>(json!({ "max_limit": wrong })).unwrap_err().to_string();
            assert_eq!(error, "must be a whole number, from 0 to 4294967295", "{wrong}");
        }
    }
}
