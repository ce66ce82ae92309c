//! Days and times (FEEDS.md 5.7).

use chrono::{
    DateTime, Days, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeDelta,
    TimeZone,
};
use chrono_tz::Tz;

use super::{Parsed, fold, is_nothing};
use crate::code::Code;

/// Before this year a date in a feed is a system's word for nothing (`01/01/1900`).
const EARLIEST: i32 = 1950;

/// The zone of an IANA name; none where the name is empty or unknown.
pub fn zone(name: &str) -> Option<Tz> {
    name.trim().parse().ok()
}

/// A day. A time behind it is left out. `day_first` is the order of the dealer's dates; one that is impossible in that
/// order is not swapped.
pub fn date(cell: &str, today: NaiveDate, day_first: bool) -> Parsed<NaiveDate> {
    match moment(cell, today, day_first) {
        Ok(Some(moment)) => Parsed::of(moment.date),
        Ok(None) => Parsed::nothing(),
        Err(code) => Parsed::refused(code),
    }
}

/// An instant, as RFC 3339 with an offset. A time without a zone is the rooftop's; where that is not known either there
/// is no instant, and nothing is said: it is no fault of the row.
pub fn timestamp(cell: &str, today: NaiveDate, day_first: bool, zone: Option<Tz>) -> Parsed<String> {
    let moment = match moment(cell, today, day_first) {
        Ok(Some(moment)) => moment,
        Ok(None) => return Parsed::nothing(),
        Err(code) => return Parsed::refused(code),
    };
    let local = moment.date.and_time(moment.time.unwrap_or(NaiveTime::MIN));
    let instant = match (moment.offset, zone) {
        (Some(offset), _) => offset.from_local_datetime(&local).single(),
        (None, Some(zone)) => in_zone(local, zone),
        (None, None) => None,
    };
    instant.map_or_else(Parsed::nothing, |instant| {
        Parsed::of(instant.to_rfc3339_opts(SecondsFormat::Secs, true))
    })
}

/// Of the hour that comes twice in autumn it is the first; one that spring leaves out is an hour later.
fn in_zone(local: NaiveDateTime, zone: Tz) -> Option<DateTime<FixedOffset>> {
    let found = match zone.from_local_datetime(&local) {
        LocalResult::Single(instant) | LocalResult::Ambiguous(instant, _) => Some(instant),
        LocalResult::None => {
            zone.from_local_datetime(&local.checked_add_signed(TimeDelta::hours(1))?).earliest()
        }
    };
    found.map(|instant| instant.fixed_offset())
}

/// What a cell states.
struct Moment {
    date: NaiveDate,
    time: Option<NaiveTime>,
    offset: Option<FixedOffset>,
}

fn moment(cell: &str, today: NaiveDate, day_first: bool) -> Result<Option<Moment>, Code> {
    let text = cell.trim().trim_start_matches('\'');
    if is_nothing(text) {
        return Ok(None);
    }
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let moment = day_count(&text).or_else(|| written(&text, day_first)).ok_or(Code::DateUnparseable)?;
    if chrono::Datelike::year(&moment.date) < EARLIEST {
        return Err(Code::DateUnparseable);
    }
    if today.checked_add_days(Days::new(1)).is_some_and(|tomorrow| moment.date > tomorrow) {
        return Err(Code::DateFuture);
    }
    Ok(Some(moment))
}

/// Five digits are days of a spreadsheet; what stands behind a point is the part of the day.
fn day_count(text: &str) -> Option<Moment> {
    let (days, part) = text.split_once('.').unwrap_or((text, ""));
    if days.len() != 5 || !digits(days) || !(part.is_empty() || digits(part)) {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(1899, 12, 30)?.checked_add_days(Days::new(days.parse().ok()?))?;
    let part: f64 = if part.is_empty() { 0.0 } else { format!("0.{part}").parse().ok()? };
    // A number of seconds of one day, which fits any integer.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 86,400")]
    let seconds = ((part * 86_400.0).round() as u32).min(86_399);
    let time = (part > 0.0).then(|| NaiveTime::from_num_seconds_from_midnight_opt(seconds, 0)).flatten();
    Some(Moment { date, time, offset: None })
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn written(text: &str, day_first: bool) -> Option<Moment> {
    let (date, rest) = leading_date(text, day_first)?;
    let rest = rest.strip_prefix(['T', 't']).unwrap_or(rest).trim_start_matches([',', ' ']);
    if rest.is_empty() {
        return Some(Moment { date, time: None, offset: None });
    }
    let (time, rest) = leading_time(rest)?;
    let rest = rest.trim();
    let offset = if rest.is_empty() { None } else { Some(offset(rest)?) };
    Some(Moment { date, time: Some(time), offset })
}

/// A date at the beginning of a text, and what stands behind it.
fn leading_date(text: &str, day_first: bool) -> Option<(NaiveDate, &str)> {
    let run = text.bytes().take_while(u8::is_ascii_digit).count();
    if run == 8 || run == 14 {
        let day = NaiveDate::from_ymd_opt(
            text.get(..4)?.parse().ok()?,
            text.get(4..6)?.parse().ok()?,
            text.get(6..8)?.parse().ok()?,
        )?;
        return Some((day, text.get(8..)?));
    }
    let (first, rest) = part(text)?;
    let (second, rest) = part(rest)?;
    let (third, rest) = last_part(rest)?;
    if !(rest.is_empty() || rest.starts_with([' ', ',', 'T', 't'])) {
        return None;
    }
    let number = |text: &str| if digits(text) && text.len() <= 2 { text.parse::<u32>().ok() } else { None };
    let date = if first.len() == 4 && digits(first) {
        NaiveDate::from_ymd_opt(
            first.parse().ok()?,
            number(second).or_else(|| month(second))?,
            number(third)?,
        )
    } else if let Some(month) = month(first) {
        NaiveDate::from_ymd_opt(year(third)?, month, number(second)?)
    } else if let Some(month) = month(second) {
        NaiveDate::from_ymd_opt(year(third)?, month, number(first)?)
    } else {
        let (first, second) = (number(first)?, number(second)?);
        let (day, month) = if day_first { (first, second) } else { (second, first) };
        NaiveDate::from_ymd_opt(year(third)?, month, day)
    };
    Some((date?, rest))
}

/// A word or number and the separators behind it.
fn part(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|sign: char| !sign.is_alphanumeric())?;
    let rest = text.get(end..)?;
    let separators = rest.bytes().take_while(|byte| b"-/. ,".contains(byte)).count();
    (end > 0 && (1..=2).contains(&separators)).then_some((text.get(..end)?, rest.get(separators..)?))
}

fn last_part(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| text.split_at_checked(end)).flatten()
}

fn year(text: &str) -> Option<i32> {
    let year: i32 = if digits(text) { text.parse().ok()? } else { return None };
    match text.len() {
        4 => Some(year),
        2 if year < 70 => Some(2000 + year),
        2 => Some(1900 + year),
        _ => None,
    }
}

fn month(text: &str) -> Option<u32> {
    let word = fold(text);
    // English and Spanish; three letters are enough in both.
    const MONTHS: [&[&str]; 12] = [
        &["jan", "ene"],
        &["feb"],
        &["mar"],
        &["apr", "abr"],
        &["may"],
        &["jun"],
        &["jul"],
        &["aug", "ago"],
        &["sep", "set"],
        &["oct"],
        &["nov"],
        &["dec", "dic"],
    ];
    if !text.chars().all(char::is_alphabetic) {
        return None;
    }
    let place = MONTHS.iter().position(|names| names.iter().any(|name| word.starts_with(name)))?;
    u32::try_from(place + 1).ok()
}

/// `08:15`, `08:15:30.5`, `11:45 PM`, `081530` at the beginning of a text, and what stands behind it.
fn leading_time(text: &str) -> Option<(NaiveTime, &str)> {
    let run = text.bytes().take_while(u8::is_ascii_digit).count();
    if run == 6 {
        let time = NaiveTime::from_hms_opt(
            text.get(..2)?.parse().ok()?,
            text.get(2..4)?.parse().ok()?,
            text.get(4..6)?.parse().ok()?,
        )?;
        return Some((time, text.get(6..)?));
    }
    let (hour, rest) = two_digits(text)?;
    let (minute, rest) = two_digits(rest.strip_prefix(':')?)?;
    let (second, rest) = match rest.strip_prefix(':') {
        Some(rest) => two_digits(rest)?,
        None => (0, rest),
    };
    let rest = match rest.strip_prefix('.') {
        Some(rest) => rest.trim_start_matches(|sign: char| sign.is_ascii_digit()),
        None => rest,
    };
    let (rest, hour) = match half_of_day(rest.trim_start()) {
        Some((after, rest)) if (1..=12).contains(&hour) => (rest, hour % 12 + after),
        Some(_) => return None,
        None => (rest, hour),
    };
    // A leap second is the last one of its minute.
    Some((NaiveTime::from_hms_opt(hour, minute, second.min(59))?, rest)).filter(|_| second <= 60)
}

fn two_digits(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
    if end == 0 || end > 2 {
        return None;
    }
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

/// Hours that AM or PM adds, and what stands behind it.
fn half_of_day(text: &str) -> Option<(u32, &str)> {
    let short = text.get(..2)?;
    let after = if short.eq_ignore_ascii_case("am") {
        0
    } else if short.eq_ignore_ascii_case("pm") {
        12
    } else {
        return None;
    };
    let rest = text.get(2..)?;
    (!rest.starts_with(char::is_alphanumeric)).then_some((after, rest))
}

fn offset(text: &str) -> Option<FixedOffset> {
    let hours = |hours: i32| FixedOffset::east_opt(hours * 3600);
    match text.to_ascii_uppercase().as_str() {
        "Z" | "UTC" | "GMT" => return hours(0),
        "EDT" => return hours(-4),
        "EST" | "CDT" => return hours(-5),
        "CST" | "MDT" => return hours(-6),
        "MST" | "PDT" => return hours(-7),
        "PST" => return hours(-8),
        _ => {}
    }
    let sign = if text.starts_with('+') { 1 } else { -1 };
    let rest = text.strip_prefix(['+', '-', '\u{2212}'])?;
    let plain: String = rest.chars().filter(|sign| *sign != ':').collect();
    if !digits(&plain) || !(plain.len() == 4 || plain.len() == 2) {
        return None;
    }
    let hour: i32 = plain.get(..2)?.parse().ok()?;
    let minute: i32 =
        plain.get(2..).filter(|text| !text.is_empty()).map_or(Some(0), |text| text.parse().ok())?;
    if hour > 14 || minute > 59 {
        return None;
    }
    FixedOffset::east_opt(sign * (hour * 3600 + minute * 60))
}
