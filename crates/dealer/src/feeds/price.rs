//! What the amounts of a source mean, and what of them is published (FEEDS.md 5.1, AAP.md 8).
//!
//! `price` of the protocol is a promise: the advertised amount with every mandatory dealer charge inside. Only a person
//! of the dealer knows whether a column keeps it. Nothing is published before one has said so.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use feeds::Unit;
use feeds::aliases::{self, Target};
use serde::{Deserialize, Serialize};

use super::settings::{Reading, escaped};

/// What the amounts of a source mean, as the dealer says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PricePolicy {
    /// What the asking price means: the amount that the reader chooses among a row's price columns. It answers for every
    /// price column that `columns` does not name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asking_price: Option<Answer>,
    /// What single columns mean, by their names in the file (case, blanks and punctuation do not count).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Answer>,
    /// What to add to an amount that is advertised without the mandatory charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee_rule: Option<FeeRule>,
}

/// What an amount means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// The advertised price with every mandatory dealer charge and required add-on inside: published as `price`.
    AdvertisedAllIn,
    /// The base or list amount before discounts and charges: published as `list_price`.
    Base,
    /// Advertised, and mandatory charges are not inside or not known: not published, unless there is a fee rule.
    AdvertisedWithoutCharges,
    /// Lowered by a rebate that is not open to everyone: never published.
    Conditional,
}

/// An answer of the dealer's, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What the amount means.
    pub meaning: Meaning,
    /// The mandatory charges inside an all-in amount. Absent: not disclosed. Empty: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fees: Option<Vec<Fee>>,
    /// Who answered. Filled in by the platform ([`PricePolicy::sign`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When. Filled in by the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
}

/// The mandatory charges that a dealer adds to every amount advertised without them, signed off by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeRule {
    /// All of them. Empty: the person says that there are none.
    pub fees: Vec<Fee>,
    /// Who signed. Filled in by the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
    /// When. Filled in by the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<DateTime<Utc>>,
}

/// One mandatory charge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fee {
    /// As a buyer reads it: 1 to 120 characters.
    pub name: String,
    /// Whole US dollars.
    pub amount: u32,
}

/// What of a unit's amounts is published, by the policy of its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amounts {
    /// `price`.
    pub price: Option<i64>,
    /// `fees`: those inside `price`. `None`: no breakdown is known.
    pub fees: Option<Vec<Fee>>,
    /// `list_price`.
    pub list_price: Option<i64>,
    /// `msrp`.
    pub msrp: Option<i64>,
    /// The column whose meaning nobody has answered, where that kept an amount from being published.
    pub unanswered: Option<String>,
    /// Amounts are in a currency that the protocol does not know.
    pub foreign: bool,
}

/// The only currency of the protocol.
const CURRENCY: &str = "USD";

impl PricePolicy {
    /// What of a unit's amounts is published.
    pub fn publish(&self, reading: &Reading, unit: &Unit) -> Amounts {
        if reading.currency != CURRENCY {
            let foreign = unit.asking_price.is_some() || unit.msrp.is_some() || !unit.amounts.is_empty();
            return Amounts { foreign, ..Amounts::default() };
        }
        let asked = asking_column(reading, unit);
        let mut prices: Vec<Priced<'_>> = Vec::new();
        let mut bases: Vec<(i64, bool)> = Vec::new();
        let mut told: Vec<(i64, &Answer, bool)> = Vec::new();
        let mut answered = false;
        for (column, amount) in &unit.amounts {
            let is_asking = asked == Some(column);
            let own = self.answer_for(column);
            if let Some(answer) = own.or_else(|| self.asking_price.as_ref().filter(|_| is_asking)) {
                answered |= is_asking;
                told.push((*amount, answer, is_asking));
            }
        }
        if let (None, Some(amount), Some(answer)) = (asked, unit.asking_price, &self.asking_price) {
            answered = true;
            told.push((amount, answer, true));
        }
        for (amount, answer, is_asking) in told {
            match answer.meaning {
                Meaning::AdvertisedAllIn => {
                    prices.push(Priced { amount, fees: answer.fees.as_deref(), is_asking });
                }
                Meaning::AdvertisedWithoutCharges => {
                    if let Some(rule) = &self.fee_rule {
                        let amount = amount.saturating_add(sum(&rule.fees));
                        prices.push(Priced { amount, fees: Some(&rule.fees), is_asking });
                    }
                }
                Meaning::Base => bases.push((amount, is_asking)),
                Meaning::Conditional => {}
            }
        }
        // Of several amounts that all are the price, the one that the reader chose; else the highest: an understated
        // price is the legal risk. An amount that is less than the charges inside it means something else.
        let price = prices
            .iter()
            .filter(|priced| priced.amount > 0 && priced.fees.is_none_or(|fees| sum(fees) < priced.amount))
            .max_by_key(|priced| (priced.is_asking, priced.amount));
        let list_price =
            bases.iter().filter(|(amount, _)| *amount > 0).max_by_key(|(amount, asked)| (*asked, *amount));
        let nothing = price.is_none() && list_price.is_none();
        Amounts {
            price: price.map(|priced| priced.amount),
            fees: price.and_then(|priced| priced.fees.map(<[Fee]>::to_vec)),
            list_price: list_price.map(|(amount, _)| *amount),
            msrp: unit.msrp.filter(|amount| *amount > 0),
            unanswered: unit
                .asking_price
                .filter(|_| nothing && !answered)
                .map(|_| asked.cloned().unwrap_or_else(|| Target::AskingPrice.as_str().to_owned())),
            foreign: false,
        }
    }

    fn answer_for(&self, column: &str) -> Option<&Answer> {
        if self.columns.is_empty() {
            return None;
        }
        let folded = aliases::fold(column);
        self.columns.iter().find(|(name, _)| aliases::fold(name) == folded).map(|(_, answer)| answer)
    }

    /// Notes who gave the answers that differ from the former ones, and when; whatever the settings claim themselves.
    pub fn sign(&mut self, former: Option<&PricePolicy>, actor: &str, now: DateTime<Utc>) {
        let same = |answer: &Answer, before: &Answer| {
            (answer.meaning, &answer.fees) == (before.meaning, &before.fees) && before.by.is_some()
        };
        let sign = |answer: &mut Answer, before: Option<&Answer>| {
            let kept = before.filter(|before| same(answer, before));
            answer.by = Some(kept.and_then(|one| one.by.clone()).unwrap_or_else(|| actor.to_owned()));
            answer.at = Some(kept.and_then(|one| one.at).unwrap_or(now));
        };
        if let Some(answer) = &mut self.asking_price {
            sign(answer, former.and_then(|former| former.asking_price.as_ref()));
        }
        for (column, answer) in &mut self.columns {
            sign(answer, former.and_then(|former| former.columns.get(column)));
        }
        if let Some(rule) = &mut self.fee_rule {
            let before = former.and_then(|former| former.fee_rule.as_ref());
            let kept = before.filter(|before| before.fees == rule.fees);
            rule.signed_by =
                Some(kept.and_then(|one| one.signed_by.clone()).unwrap_or_else(|| actor.to_owned()));
            rule.signed_at = Some(kept.and_then(|one| one.signed_at).unwrap_or(now));
        }
    }

    /// What cannot be meant, as JSON Pointers within the source's settings and sentences.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        let mut add = |at: String, sentence: &str| problems.push((at, sentence.to_owned()));
        let answers = self
            .columns
            .iter()
            .map(|(name, answer)| (format!("/prices/columns/{}", escaped(name)), Some(name), answer));
        let asking = self.asking_price.iter().map(|answer| ("/prices/asking_price".to_owned(), None, answer));
        for (at, column, answer) in asking.chain(answers) {
            if let Some(column) = column {
                let advertised =
                    matches!(answer.meaning, Meaning::AdvertisedAllIn | Meaning::AdvertisedWithoutCharges);
                if aliases::is_never_published(column) {
                    add(at.clone(), "is a column that is never published, whatever it means");
                } else if advertised && aliases::target_of_name(column) == Some(Target::Msrp) {
                    add(
                        at.clone(),
                        "is the maker's sticker price, which never stands in for the dealer's price",
                    );
                }
                if !seen.insert(aliases::fold(column)) {
                    add(at.clone(), "is named twice; case, blanks and punctuation do not tell columns apart");
                }
            }
            if answer.fees.is_some() && answer.meaning != Meaning::AdvertisedAllIn {
                add(
                    format!("{at}/fees"),
                    "can only be named for advertised_all_in: they are what is inside it",
                );
            }
            let fees = answer.fees.iter().flatten();
            check_fees(&format!("{at}/fees"), fees, &mut add);
        }
        if let Some(rule) = &self.fee_rule {
            check_fees("/prices/fee_rule/fees", rule.fees.iter(), &mut add);
        }
        problems
    }
}

struct Priced<'a> {
    amount: i64,
    fees: Option<&'a [Fee]>,
    is_asking: bool,
}

fn sum(fees: &[Fee]) -> i64 {
    fees.iter().map(|fee| i64::from(fee.amount)).sum()
}

/// The column that the asking price came from: the reader prefers the first rank, and of equal amounts it matters
/// which one it was, since their columns can mean different things.
fn asking_column<'a>(reading: &Reading, unit: &'a Unit) -> Option<&'a String> {
    let asking = unit.asking_price?;
    let rank = |column: &String| {
        let by_hand = reading.columns.get(column).map(|target| target.parse::<Target>().ok());
        match by_hand.unwrap_or_else(|| aliases::target_of_name(column))? {
            Target::InternetPrice => Some(0),
            Target::SpecialPrice => Some(1),
            Target::AskingPrice => Some(2),
            _ => None,
        }
    };
    let equal = unit.amounts.iter().filter(|(_, amount)| **amount == asking);
    equal.filter_map(|(column, _)| Some((rank(column)?, column))).min().map(|(_, column)| column)
}

/// Names and amounts of a list of charges, by the rules of the protocol (AAP.md 7.1).
pub(super) fn check_fees<'a>(
    at: &str,
    fees: impl Iterator<Item = &'a Fee>,
    add: &mut impl FnMut(String, &str),
) {
    let mut seen = BTreeSet::new();
    for (i, fee) in fees.enumerate() {
        let length = fee.name.chars().count();
        if fee.name.trim().is_empty() || length > 120 || fee.name.chars().any(char::is_control) {
            add(format!("{at}/{i}/name"), "must have 1 to 120 characters and not be blank");
        }
        if !seen.insert(contract::text::fold(&fee.name)) {
            add(format!("{at}/{i}/name"), "stands twice in the list");
        }
    }
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
