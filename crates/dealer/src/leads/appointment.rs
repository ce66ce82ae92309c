//! Whether a time can be had, and which could be had instead (AAP.md 10). Decides from what it is given.

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};

use super::hours::{Hours, Span};
use crate::policy::Policy;

/// How many times are proposed.
const PROPOSALS: usize = 3;
/// No dealer plans further ahead, whatever its policy says; it bounds how long is searched.
const MOST_DAYS_AHEAD: u32 = 3660;
/// Longer than any visit.
const LONGEST: TimeDelta = TimeDelta::days(7);

/// Which times a dealer gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// From one proposal to the next.
    slot: TimeDelta,
    earliest: DateTime<Utc>,
    latest: DateTime<Utc>,
    /// Appointments at once.
    capacity: usize,
}

/// What becomes of a wish for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It can be had.
    Free(Span),
    /// It cannot; these can, nearest first. Never empty.
    Others(Vec<DateTime<Utc>>),
    /// It cannot, and nothing else can either.
    Nothing,
}

impl Rules {
    /// The rules of a policy at a moment.
    pub(crate) fn new(policy: &Policy, now: DateTime<Utc>) -> Rules {
        let notice = TimeDelta::minutes(i64::from(policy.appointment_notice_minutes));
        let horizon = TimeDelta::days(i64::from(policy.appointment_horizon_days.min(MOST_DAYS_AHEAD)));
        Rules {
            slot: TimeDelta::minutes(i64::from(policy.appointment_slot_minutes.max(1))),
            // The horizon counts from now; with a notice beyond it nothing can be had.
            earliest: now.checked_add_signed(notice).unwrap_or(DateTime::<Utc>::MAX_UTC),
            latest: now.checked_add_signed(horizon).unwrap_or(DateTime::<Utc>::MAX_UTC),
            capacity: usize::try_from(policy.appointment_capacity).unwrap_or(usize::MAX),
        }
    }

    /// How long a visit takes. Minutes that nobody means give a length that nothing has room for.
    pub(crate) fn length(policy: &Policy, minutes: Option<i64>) -> TimeDelta {
        let minutes = minutes.unwrap_or_else(|| i64::from(policy.appointment_slot_minutes));
        TimeDelta::try_minutes(minutes).unwrap_or(LONGEST * 2).min(LONGEST * 2)
    }

    /// What becomes of the wish to come at `asked` for so long, beside what is `taken`.
    pub(crate) fn settle(
        &self,
        hours: Hours<'_>,
        taken: &[Span],
        asked: DateTime<Utc>,
        length: TimeDelta,
    ) -> Outcome {
        if length > LONGEST {
            return Outcome::Nothing;
        }
        match self.possible(hours, taken, asked, length) {
            Some(span) => Outcome::Free(span),
            None => match self.others(hours, taken, asked, length) {
                others if others.is_empty() => Outcome::Nothing,
                others => Outcome::Others(others),
            },
        }
    }

    /// The span from `start` on, if it may be booked.
    fn possible(
        &self,
        hours: Hours<'_>,
        taken: &[Span],
        start: DateTime<Utc>,
        length: TimeDelta,
    ) -> Option<Span> {
        if start < self.earliest || start > self.latest {
            return None;
        }
        let span = Span { start, end: start.checked_add_signed(length)? };
        (has_room(span, taken, self.capacity) && hours.contain(span)).then_some(span)
    }

    /// Times near the one that was asked for, nearest first.
    fn others(
        &self,
        hours: Hours<'_>,
        taken: &[Span],
        asked: DateTime<Utc>,
        length: TimeDelta,
    ) -> Vec<DateTime<Utc>> {
        if self.earliest > self.latest {
            return Vec::new();
        }
        // Days outside of what may be given are not looked at, however far away the wish is.
        let middle = hours.date(asked.clamp(self.earliest, self.latest));
        let (first, last) = (hours.date(self.earliest), hours.date(self.latest));
        let distance = |start: &DateTime<Utc>| (*start - asked).abs();
        let mut found: Vec<DateTime<Utc>> = Vec::new();
        for ring in 0_u64.. {
            let before = (ring > 0).then(|| middle.checked_sub_days(Days::new(ring))).flatten();
            let after = middle.checked_add_days(Days::new(ring));
            // What opens the day before the first may be open on it.
            let in_reach = |day: &NaiveDate| day.succ_opt().is_some_and(|next| next >= first) && *day <= last;
            let days: Vec<_> = [before, after].into_iter().flatten().filter(in_reach).collect();
            if days.is_empty() {
                break;
            }
            for day in days {
                found.extend(
                    self.starts(hours, day, length)
                        .filter(|start| self.possible(hours, taken, *start, length).is_some()),
                );
            }
            found.sort_by_key(|start| (distance(start), *start));
            found.dedup();
            found.truncate(PROPOSALS);
            // Openings of the next ring are at least so far away; two days for openings over midnight.
            let days_away = i64::try_from(ring).unwrap_or(i64::MAX).saturating_sub(2);
            let reference = (asked.clamp(self.earliest, self.latest) - asked).abs();
            let farthest = found.last().map(distance);
            if found.len() == PROPOSALS
                && farthest.is_some_and(|d| days_away > 0 && d <= reference + TimeDelta::days(days_away))
            {
                break;
            }
        }
        found
    }

    /// Where visits of a day begin that can end while it is open: from the opening on, one a slot. On most days of a
    /// wish that is too long for them there are none, and none is tried.
    fn starts(
        &self,
        hours: Hours<'_>,
        day: NaiveDate,
        length: TimeDelta,
    ) -> impl Iterator<Item = DateTime<Utc>> {
        let slot = self.slot;
        let open = hours.of(day);
        let until = open.map(|open| hours.open_until(open.start));
        let fits = move |start: &DateTime<Utc>| {
            let end = start.checked_add_signed(length);
            open.is_some_and(|open| *start < open.end)
                && end.is_some_and(|end| until.is_some_and(|until| end <= until))
        };
        std::iter::successors(open.map(|open| open.start), move |start| start.checked_add_signed(slot))
            .take_while(fits)
    }
}

/// Whether one more may be there, at every moment of the span.
fn has_room(span: Span, taken: &[Span], capacity: usize) -> bool {
    let overlaps = |other: &&Span| other.start < span.end && span.start < other.end;
    let meanwhile: Vec<_> = taken.iter().filter(overlaps).collect();
    // The most at once is reached when one of them begins, or at the begin of the span.
    let moments = meanwhile.iter().map(|other| other.start.max(span.start));
    let at_once = |moment| meanwhile.iter().filter(|o| o.start <= moment && moment < o.end).count();
    moments.map(at_once).max().unwrap_or(0) < capacity
}

#[cfg(test)]
#[path = "appointment_tests.rs"]
mod tests;
