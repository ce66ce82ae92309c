//! A rooftop as leads need it: who answers the phone, what can be visited there, and when.

use std::collections::HashMap;

use chrono::{Datelike, NaiveDate};
use chrono_tz::Tz;
use contract::payload::AppointmentType;
use contract::text::{contains_at_word_boundary, fold};
use serde_json::Value;
use store::RooftopRow;

const MINUTES_OF_A_DAY: u32 = 24 * 60;
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Whom a visit is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Department {
    /// Everything about buying and trading in.
    Sales,
    /// The workshop.
    Service,
}

impl Department {
    /// Who takes such a visit.
    pub(crate) const fn of(kind: AppointmentType) -> Department {
        match kind {
            AppointmentType::Service => Department::Service,
            AppointmentType::Sales | AppointmentType::TestDrive | AppointmentType::TradeIn => {
                Department::Sales
            }
        }
    }

    /// As schedules, phones and capabilities name it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Department::Sales => "sales",
            Department::Service => "service",
        }
    }
}

/// Opening of one day, in minutes after midnight. At or before `open`, `close` is of the day after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DayHours {
    /// When it opens.
    pub(crate) open: u32,
    /// When it closes, counted on: up to two days' minutes.
    pub(crate) close: u32,
}

/// Opening by day of the week, Monday first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Week([Option<DayHours>; 7]);

/// What is known of a department at a rooftop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosting<'a> {
    /// It is there, and these are its hours.
    Hours(&'a Week),
    /// It may be there; nobody said when.
    HoursUnknown,
    /// It is not there.
    Nobody,
}

/// One rooftop of a dealer.
#[derive(Debug)]
pub(crate) struct Rooftop {
    /// Public name.
    pub(crate) name: String,
    /// Of its hours. Without one they mean nothing.
    pub(crate) zone: Option<Tz>,
    folded: String,
    /// Folded name and E.164 number.
    phones: Vec<(String, String)>,
    /// Folded name and hours.
    schedules: Vec<(String, Week)>,
    capabilities: Vec<String>,
    holidays: HashMap<NaiveDate, Option<DayHours>>,
}

impl Rooftop {
    /// Reads a rooftop as provisioning has stored it. What makes no sense is as if it were not there.
    pub(crate) fn from_row(row: &RooftopRow) -> Rooftop {
        let profile = &row.profile;
        let list = |key: &str| profile.get(key).and_then(Value::as_array).into_iter().flatten();
        let named = |item: &Value| fold(item.get("name").and_then(Value::as_str).unwrap_or_default());
        let country = profile.pointer("/address/country").and_then(Value::as_str);
        Rooftop {
            name: row.name.clone(),
            folded: fold(&row.name),
            zone: profile.get("timezone").and_then(Value::as_str).and_then(|zone| zone.parse().ok()),
            phones: list("phones")
                .filter_map(|phone| Some((named(phone), e164(phone.get("value")?.as_str()?, country)?)))
                .collect(),
            schedules: list("schedules")
                .filter_map(|schedule| Some((named(schedule), Week::read(schedule.get("value")?))))
                .collect(),
            capabilities: list("capabilities").filter_map(Value::as_str).map(fold).collect(),
            holidays: row.holidays.as_array().into_iter().flatten().filter_map(holiday).collect(),
        }
    }

    /// Whether this is what a vehicle or a shopper calls it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.folded == fold(name)
    }

    /// Whether and when a department can be visited.
    ///
    /// A schedule is the department's if its name says so; one that names neither department is that of sales, and
    /// of service where the rooftop says that it has one. Who lists no capabilities and no schedules may do anything
    /// but service, which needs a workshop.
    pub(crate) fn hosting(&self, department: Department) -> Hosting<'_> {
        let is_of = |name: &str, department: Department| contains_at_word_boundary(name, department.as_str());
        if let Some((_, week)) = self.schedules.iter().find(|(name, _)| is_of(name, department)) {
            return Hosting::Hours(week);
        }
        let has_capability = self.capabilities.iter().any(|tag| tag == department.as_str());
        let general = self
            .schedules
            .iter()
            .find(|(name, _)| !is_of(name, Department::Sales) && !is_of(name, Department::Service));
        match (department, general) {
            (Department::Sales, Some((_, week))) => Hosting::Hours(week),
            (Department::Service, Some((_, week))) if has_capability => Hosting::Hours(week),
            _ if has_capability => Hosting::HoursUnknown,
            (Department::Sales, None) if self.schedules.is_empty() && self.capabilities.is_empty() => {
                Hosting::HoursUnknown
            }
            _ => Hosting::Nobody,
        }
    }

    /// Opening of a day: that of a holiday where there is one.
    pub(crate) fn day(&self, week: &Week, date: NaiveDate) -> Option<DayHours> {
        match self.holidays.get(&date) {
            Some(holiday) => *holiday,
            None => week.on(date),
        }
    }

    /// The number to call, in E.164 form: the department's, else the first.
    pub(crate) fn phone(&self, department: Department) -> Option<&str> {
        let of_department =
            self.phones.iter().find(|(name, _)| contains_at_word_boundary(name, department.as_str()));
        of_department.or_else(|| self.phones.first()).map(|(_, number)| number.as_str())
    }
}

impl Week {
    fn read(value: &Value) -> Week {
        Week(DAYS.map(|day| {
            let day = value.get(day)?;
            let hours = |key: &str| day.get(key).and_then(Value::as_str).and_then(minutes);
            Some(DayHours::new(hours("open")?, hours("close")?))
        }))
    }

    fn on(&self, date: NaiveDate) -> Option<DayHours> {
        let day = usize::try_from(date.weekday().num_days_from_monday()).ok()?;
        self.0.get(day).copied().flatten()
    }
}

impl DayHours {
    /// A day that closes when it opens is open around the clock.
    fn new(open: u32, close: u32) -> DayHours {
        DayHours { open, close: if close <= open { close + MINUTES_OF_A_DAY } else { close } }
    }
}

fn holiday(day: &Value) -> Option<(NaiveDate, Option<DayHours>)> {
    let text = |key: &str| day.get(key).and_then(Value::as_str);
    let hours = text("open").and_then(minutes).zip(text("close").and_then(minutes));
    Some((text("date")?.parse().ok()?, hours.map(|(open, close)| DayHours::new(open, close))))
}

fn minutes(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// A written number in E.164 form, if it can be told for sure: with its country code, or of ten digits in a country
/// of the North American numbering plan.
fn e164(written: &str, country: Option<&str>) -> Option<String> {
    let mut digits = String::new();
    for char in written.trim().strip_prefix('+').unwrap_or(written.trim()).chars() {
        match char {
            '0'..='9' => digits.push(char),
            ' ' | '\u{a0}' | '-' | '.' | '(' | ')' | '/' => {}
            _ => return None,
        }
    }
    if written.trim().starts_with('+') {
        let fits = (2..=15).contains(&digits.len()) && !digits.starts_with('0');
        return fits.then(|| format!("+{digits}"));
    }
    let is_north_american =
        country.is_none_or(|country| ["us", "usa", "ca"].contains(&fold(country).as_str()));
    let national = digits.strip_prefix('1').filter(|rest| rest.len() == 10).unwrap_or(&digits);
    let area_and_exchange = [national.as_bytes().first(), national.as_bytes().get(3)];
    let fits = national.len() == 10 && area_and_exchange.into_iter().flatten().all(|digit| *digit >= b'2');
    (is_north_american && fits).then(|| format!("+1{national}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rooftop(profile: Value, holidays: Value) -> Rooftop {
        Rooftop::from_row(&RooftopRow { name: "One".into(), profile, holidays })
    }

    fn week() -> Value {
        json!({"monday": {"open": "09:00", "close": "19:00"}, "friday": {"open": "18:00", "close": "02:00"}, "sunday": null})
    }

    #[test]
    fn departments_are_found_by_the_names_of_schedules() {
        let hosts = |profile: Value| {
            let rooftop = rooftop(profile, json!([]));
            [Department::Sales, Department::Service].map(|department| match rooftop.hosting(department) {
                Hosting::Hours(_) => "hours",
                Hosting::HoursUnknown => "unknown",
                Hosting::Nobody => "nobody",
            })
        };
        let schedules = |names: &[&str]| json!({"schedules": names.iter().map(|name| json!({"name": name, "value": week()})).collect::<Vec<_>>()});
        assert_eq!(hosts(schedules(&["Sales Department", "SERVICE"])), ["hours", "hours"]);
        assert_eq!(hosts(schedules(&["sales"])), ["hours", "nobody"]);
        assert_eq!(hosts(schedules(&["service"])), ["nobody", "hours"]);
        assert_eq!(hosts(json!({"schedules": [{"value": week()}]})), ["hours", "nobody"]);
        let general = json!({"schedules": [{"value": week()}], "capabilities": ["service"]});
        assert_eq!(hosts(general), ["hours", "hours"]);
        assert_eq!(hosts(json!({"capabilities": ["sales", "service"]})), ["unknown", "unknown"]);
        assert_eq!(hosts(json!({"capabilities": ["parts"]})), ["nobody", "nobody"]);
        assert_eq!(hosts(json!({})), ["unknown", "nobody"]);
        assert_eq!(hosts(schedules(&["salesforce training"])), ["hours", "nobody"]);
    }

    #[test]
    fn a_day_has_its_hours_unless_it_is_a_holiday() {
        let holidays = json!([
            {"date": "2026-12-07"},
            {"date": "2026-12-08", "name": "Feast", "open": "10:00", "close": "12:00"},
        ]);
        let rooftop = rooftop(json!({"schedules": [{"name": "sales", "value": week()}]}), holidays);
        let Hosting::Hours(week) = rooftop.hosting(Department::Sales) else { panic!("no hours") };
        let day =
            |date: &str| rooftop.day(week, date.parse().unwrap()).map(|hours| (hours.open, hours.close));
        assert_eq!(day("2026-12-07"), None);
        assert_eq!(day("2026-12-08"), Some((600, 720)));
        assert_eq!(day("2026-12-14"), Some((540, 1140)));
        assert_eq!(day("2026-12-11"), Some((1080, 1440 + 120)));
        assert_eq!((day("2026-12-13"), day("2026-12-15")), (None, None));
        assert_eq!(DayHours::new(0, 0), DayHours { open: 0, close: 1440 });
        assert_eq!(DayHours::new(600, 0).close, 1440);
    }

    #[test]
    fn numbers_are_given_in_e164_form_or_not_at_all() {
        for (written, country, number) in [
            ("+1 (310) 555-0140", Some("DE"), Some("+13105550140")),
            ("+49 30 1234567", None, Some("+49301234567")),
            ("(310) 555-0140", None, Some("+13105550140")),
            ("1-310-555-0140", Some("us"), Some("+13105550140")),
            ("310.555.0140", Some("MX"), None),
            ("030 1234567", None, None),
            ("110 555 0140", None, None),
            ("+0301234567", None, None),
            ("555-0140", None, None),
            ("310-555-0140 ext. 2", None, None),
            ("+1234567890123456", None, None),
            ("", None, None),
        ] {
            assert_eq!(e164(written, country).as_deref(), number, "{written}");
        }
        let phones = json!({"phones": [{"value": "call us"}, {"name": "Service", "value": "+13105550141"},
            {"name": "Sales desk", "value": "310 555 0140"}]});
        let rooftop = rooftop(phones, json!(null));
        assert_eq!(rooftop.phone(Department::Sales), Some("+13105550140"));
        assert_eq!(rooftop.phone(Department::Service), Some("+13105550141"));
        assert!(rooftop.is_called(" ONE "));
    }
}
