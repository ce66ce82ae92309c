//! Whether a file may be applied: a bad one never wipes a lot (FEEDS.md 9).
//!
//! The judgement only compares; what a held file means for the lot, and who may approve it, is the caller's.

use crate::code::Code;
use crate::config::{Config, Mode};
use crate::finding::Finding;
use crate::outcome::{Excluded, Outcome};

/// How the prices of a file differ from those of the lot. The caller, who has the lot, counts; units are compared that
/// are in both and had a price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PriceShift {
    /// Units compared.
    pub compared: u32,
    /// …whose price changed by more than [`Guard::price_change_percent`](crate::config::Guard::price_change_percent).
    pub changed: u32,
    /// …that have no price now.
    pub lost: u32,
}

/// What the guard says of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The file waits for a person; nothing of it is applied.
    pub hold: bool,
    /// Why, each code once.
    pub reasons: Vec<Code>,
    /// The same in words with the numbers, one or more for each reason.
    pub sentences: Vec<String>,
    /// What the dealer is told although the file is applied: `FEED_DROP_NOTED`.
    pub tell: Vec<Finding>,
}

impl Verdict {
    fn reason(&mut self, code: Code, sentence: String) {
        self.hold = true;
        if !self.reasons.contains(&code) {
            self.reasons.push(code);
        }
        self.sentences.push(sentence);
    }
}

/// Judges a file that could be read.
pub fn judge(outcome: &Outcome, config: &Config, prices: Option<&PriceShift>) -> Verdict {
    let mut verdict = Verdict::default();
    for code in &outcome.stopped {
        verdict.reason(*code, stop_sentence(*code, outcome.counts.records));
    }
    match config.mode {
        Mode::Full => judge_numbers(outcome, config, &mut verdict),
        Mode::Delta => judge_deletes(outcome, config, &mut verdict),
    }
    judge_errors(outcome, config, &mut verdict);
    judge_header(outcome, config, &mut verdict);
    if let Some(prices) = prices {
        judge_prices(prices, config, &mut verdict);
    }
    verdict
}

fn stop_sentence(code: Code, records: u32) -> String {
    match code {
        Code::FeedTruncated => {
            format!("The file stops in the middle: {records} records came, the rest is missing.")
        }
        Code::FeedNotWellformed => {
            format!("The file breaks the rules of its format and cannot be read beyond record {records}.")
        }
        Code::FeedEmpty => "The file has nothing in it.".to_owned(),
        Code::FeedHeaderUnknown => {
            "No line of the file names its columns, so that nothing says what its cells mean.".to_owned()
        }
        other => format!("The file cannot be trusted ({}).", other.as_str()),
    }
}

/// Share in percent, and whether it is above a threshold. Zero means any.
fn above(part: u32, whole: u32, percent: f64) -> bool {
    part > 0 && f64::from(part) * 100.0 > percent * f64::from(whole)
}

/// The same for thresholds that a share reaches.
fn reaches(part: u32, whole: u32, percent: f64) -> bool {
    part > 0 && f64::from(part) * 100.0 >= percent * f64::from(whole)
}

/// The size from which on a threshold counts: whoever sets the threshold to zero means any loss, however small the lot.
fn from(size: u32, percent: f64) -> u32 {
    if percent <= 0.0 { 0 } else { size }
}

fn judge_numbers(outcome: &Outcome, config: &Config, verdict: &mut Verdict) {
    let now = outcome.counts.published;
    let before = config.previous_full_run.as_ref();
    if now == 0 {
        // A file that stopped has said why there is nothing in it; a second reason would be about the same fault.
        if !verdict.hold && before.is_none_or(|before| before.published > 0) {
            let was = before.map_or(0, |before| before.published);
            verdict.reason(
                Code::FeedEmpty,
                format!("The file has no unit that can be published; the last good one had {was}."),
            );
        }
        return;
    }
    let Some(before) = before else { return };
    judge_drop("The file", None, before.published, now, config, verdict);
    for (rooftop, was) in &before.by_rooftop {
        let now = outcome.by_rooftop.get(rooftop).copied().unwrap_or(0);
        if now == 0 && *was >= config.guard.rooftop_from.max(1) {
            verdict.reason(
                Code::RooftopVanished,
                format!("Rooftop {rooftop} had {was} units in the last good file and has none in this one."),
            );
        } else if before.by_rooftop.len() > 1 {
            // Of a single rooftop the numbers of the file have said it.
            judge_drop(&format!("Rooftop {rooftop}"), Some(rooftop), *was, now, config, verdict);
        }
    }
}

fn judge_drop(who: &str, rooftop: Option<&str>, was: u32, now: u32, config: &Config, verdict: &mut Verdict) {
    let guard = &config.guard;
    let lost = was.saturating_sub(now);
    if was >= from(guard.drop_from, guard.drop_percent) && above(lost, was, guard.drop_percent) {
        verdict.reason(
            Code::FeedDropTooLarge,
            format!(
                "{who} has {now} units to publish, the last good one {was}: {} are gone, more than {} %.",
                lost, guard.drop_percent
            ),
        );
    } else if was >= from(guard.drop_from, guard.tell_percent) && reaches(lost, was, guard.tell_percent) {
        verdict.tell.push(Finding {
            code: Code::FeedDropNoted,
            row: None,
            field: rooftop.map(|_| "rooftop_key".to_owned()),
            column: None,
            value: Some(match rooftop {
                Some(rooftop) => format!("{rooftop}: {was} → {now}"),
                None => format!("{was} → {now}"),
            }),
            vin: None,
            stock: None,
            kept_row: None,
        });
    }
}

fn judge_deletes(outcome: &Outcome, config: &Config, verdict: &mut Verdict) {
    let known = config.previous_active_vins.as_ref();
    let active = config.previous_full_run.as_ref().and_then(|before| before.active);
    let active = active.or_else(|| known.and_then(|known| u32::try_from(known.len()).ok()));
    let (Some(active), guard) = (active, &config.guard) else { return };
    // Deletes of units that are not on offer take nothing away.
    let on_offer = |delete: &&Excluded| {
        known.is_none_or(|known| {
            delete.vin.as_ref().or(delete.stock.as_ref()).is_some_and(|key| known.contains(key))
        })
    };
    let deletes = u32::try_from(outcome.deletes.iter().filter(on_offer).count()).unwrap_or(u32::MAX);
    if active >= from(guard.drop_from, guard.drop_percent) && above(deletes, active, guard.drop_percent) {
        verdict.reason(
            Code::FeedDeletesTooMany,
            format!(
                "The file removes {deletes} of the {active} units on offer, more than {} %.",
                guard.drop_percent
            ),
        );
    }
}

fn judge_errors(outcome: &Outcome, config: &Config, verdict: &mut Verdict) {
    let (rejected, records, guard) = (outcome.counts.rejected, outcome.counts.records, &config.guard);
    if rejected >= from(guard.rejected_from, guard.rejected_percent)
        && above(rejected, records, guard.rejected_percent)
    {
        verdict.reason(
            Code::FeedErrorRate,
            format!(
                "{rejected} of {records} records have errors and cannot be published, more than {} %.",
                guard.rejected_percent
            ),
        );
    }
}

fn judge_header(outcome: &Outcome, config: &Config, verdict: &mut Verdict) {
    let Some(before) = &config.previous_full_run else { return };
    // A file in which no header was found has said so.
    if outcome.stopped.iter().any(|code| matches!(code, Code::FeedHeaderUnknown | Code::FeedEmpty)) {
        return;
    }
    if let Some(was) = &before.delimiter
        && outcome.delimiter.as_ref() != Some(was)
    {
        let name = |mark: Option<&str>| match mark {
            Some("\t") => "tabs".to_owned(),
            Some(mark) => format!("`{mark}`"),
            None => "nothing: it is no table".to_owned(),
        };
        verdict.reason(
            Code::FeedHeaderChanged,
            format!(
                "The cells of this file are separated by {}, those of the last good one by {}.",
                name(outcome.delimiter.as_deref()),
                name(Some(was))
            ),
        );
    }
    if let Some(was) = before.header.as_ref().filter(|was| !was.is_empty()) {
        let lists = |what: &str, these: &[String], those: &[String]| {
            let names: Vec<&str> =
                these.iter().filter(|name| !those.contains(name)).map(String::as_str).collect();
            (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
        };
        let gone = lists("gone", was, &outcome.header);
        let added = lists("new", &outcome.header, was);
        let changes: Vec<String> = [gone, added].into_iter().flatten().collect();
        if !changes.is_empty() {
            verdict.reason(
                Code::FeedHeaderChanged,
                format!("The columns differ from those of the last good file; {}.", changes.join("; ")),
            );
        }
    }
}

fn judge_prices(prices: &PriceShift, config: &Config, verdict: &mut Verdict) {
    let (PriceShift { compared, changed, lost }, guard) = (*prices, &config.guard);
    if above(changed, compared, guard.repriced_percent) {
        verdict.reason(
            Code::FeedPriceShift,
            format!(
                "{changed} of {compared} prices change by more than {} %, which is more than {} % of them.",
                guard.price_change_percent, guard.repriced_percent
            ),
        );
    }
    if reaches(lost, compared, guard.price_lost_percent) {
        verdict.reason(
            Code::FeedPriceShift,
            format!(
                "{lost} of {compared} units that had a price have none in this file, {} % or more.",
                guard.price_lost_percent
            ),
        );
    }
}

#[cfg(test)]
mod tests;
