//! Opening hours as moments, right across daylight saving.

use chrono::{DateTime, Days, MappedLocalTime, NaiveDate, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::rooftop::{Rooftop, Week};

/// Days that cover the longest visit, and openings over midnight.
const LOOK_AHEAD: u64 = 9;

/// From a moment to a later one; the end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: DateTime<Utc>,
    pub(crate) end: DateTime<Utc>,
}

/// When a department of a rooftop is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hours<'a> {
    pub(crate) rooftop: &'a Rooftop,
    pub(crate) week: &'a Week,
    pub(crate) zone: Tz,
}

impl Hours<'_> {
    /// The local date of a moment.
    pub(crate) fn date(&self, at: DateTime<Utc>) -> NaiveDate {
        at.with_timezone(&self.zone).date_naive()
    }

    /// The opening that begins on a date, which may end on the next one.
    ///
    /// An hour that the clock skips is as if it were not there. Of an hour that it repeats, only what is open by
    /// either reading counts: people open late and close early rather than miss a visitor.
    pub(crate) fn of(&self, date: NaiveDate) -> Option<Span> {
        let hours = self.rooftop.day(self.week, date)?;
        let midnight = date.and_hms_opt(0, 0, 0)?;
        let at = |minutes: u32| midnight.checked_add_signed(TimeDelta::minutes(i64::from(minutes)));
        let start = match self.zone.from_local_datetime(&at(hours.open)?) {
            MappedLocalTime::Single(moment) | MappedLocalTime::Ambiguous(_, moment) => moment.to_utc(),
            MappedLocalTime::None => self.after_gap(at(hours.open)?)?,
        };
        let end = match self.zone.from_local_datetime(&at(hours.close)?) {
            MappedLocalTime::Single(moment) | MappedLocalTime::Ambiguous(moment, _) => moment.to_utc(),
            MappedLocalTime::None => self.after_gap(at(hours.close)?)?,
        };
        (start < end).then_some(Span { start, end })
    }

    /// The first moment after a time that no clock of the zone showed. Zones have skipped a whole day.
    fn after_gap(&self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        (1..=26 * 60).find_map(|minutes| {
            let later = local.checked_add_signed(TimeDelta::minutes(minutes))?;
            self.zone.from_local_datetime(&later).earliest().map(|moment| moment.to_utc())
        })
    }

    /// Whether a span lies inside hours. Openings that meet, as at midnight, are one.
    pub(crate) fn contain(&self, span: Span) -> bool {
        self.open_until(span.start) >= span.end
    }

    /// Until when it is open from a moment on, which is that moment where it is closed then. Looks ahead as far as
    /// any visit lasts.
    pub(crate) fn open_until(&self, from: DateTime<Utc>) -> DateTime<Utc> {
        // What opens on one day may be open until the end of the next.
        let mut date = self.date(from).checked_sub_days(Days::new(2));
        let last = self.date(from).checked_add_days(Days::new(LOOK_AHEAD));
        let mut until = from;
        // A day after the one that is reached opens later than that.
        while let Some(day) =
            date.filter(|day| last.is_none_or(|last| *day <= last) && *day <= self.date(until))
        {
            if let Some(open) = self.of(day)
                && open.start <= until
                && open.end > until
            {
                until = open.end;
            }
            date = day.succ_opt();
        }
        until
    }
}
