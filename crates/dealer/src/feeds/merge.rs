//! One vehicle from what several sources and people say of it.
//!
//! Pure: who wins a field follows from ranks and edits alone. Of several sources that have a value the one with the
//! lowest rank wins; what a person set by hand beats all of them. Winner and losers are known for every field, so that
//! nobody has to guess why a listing says what it says.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::ranks;
use super::settings::{Role, SourceSettings};

/// Where a source's word on a unit stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The source.
    pub source: Uuid,
    /// Its name.
    pub name: String,
    /// The run that brought it.
    pub run: Uuid,
    /// The row of that run's file, from 1.
    pub row: u32,
}

/// What one source says of one unit, in members of the protocol; attributes are named `other_attributes.…`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement<'a> {
    /// Where it stands.
    pub origin: Origin,
    /// How the source is ranked.
    pub settings: &'a SourceSettings,
    /// What it says. No member is null.
    pub fields: Map<String, Value>,
    /// When the sender says that it last changed the unit.
    pub sender_changed_at: Option<DateTime<Utc>>,
}

/// What a person set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edit {
    /// Which field.
    pub field: String,
    /// To what; null: blank on purpose.
    pub value: Value,
    /// Who.
    pub author: String,
    /// Why, in their words.
    pub note: Option<String>,
    /// When.
    pub at: DateTime<Utc>,
    /// Until when it holds; `None`: until a person lifts it.
    pub expires_at: Option<DateTime<Utc>>,
}

impl Edit {
    /// Whether it holds at a time.
    pub fn holds(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_none_or(|until| now < until)
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Voice<'a> {
    /// A source.
    Source(&'a Origin),
    /// A person.
    Edit(&'a Edit),
}

/// What became of a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decided<'a> {
    /// What is published; null where a person left it blank.
    pub value: &'a Value,
    /// Whose word it is.
    pub winner: Voice<'a>,
    /// Who else had a word, and what it was, the next best first.
    pub losers: Vec<Lost<'a>>,
}

/// A word that does not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lost<'a> {
    /// Whose.
    pub voice: Voice<'a>,
    /// What.
    pub value: &'a Value,
}

/// One unit, decided field by field: what became of it and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance<'a> {
    /// Every field that anybody has a word on.
    pub fields: BTreeMap<&'a str, Decided<'a>>,
    /// Whether an additive source has the unit. Complementary ones alone offer nothing.
    pub is_offered: bool,
}

/// The charges inside a price belong to it: another source's list would be about another amount.
const PRICE: &str = "price";
const FEES: &str = "fees";

/// Decides every field. Edits that do not hold any more must not be among those given.
pub fn merge<'a>(statements: &'a [Statement<'a>], edits: &'a [Edit]) -> Provenance<'a> {
    let mut voices: BTreeMap<&str, Vec<&Statement<'_>>> = BTreeMap::new();
    for statement in statements {
        for field in statement.fields.keys() {
            voices.entry(field).or_default().push(statement);
        }
    }
    let mut fields: BTreeMap<&str, Decided<'_>> = BTreeMap::new();
    for (field, mut said) in voices {
        // A list of charges without the price it is inside of follows where that price came from, below.
        said.sort_by(|a, b| precedence(if field == FEES { PRICE } else { field }, a, b));
        let mut words = said.into_iter().filter_map(|one| {
            Some(Lost { voice: Voice::Source(&one.origin), value: one.fields.get(field)? })
        });
        if let Some(Lost { voice, value }) = words.next() {
            fields.insert(field, Decided { value, winner: voice, losers: words.collect() });
        }
    }
    for edit in edits {
        let own = Decided { value: &edit.value, winner: Voice::Edit(edit), losers: Vec::new() };
        let decided = fields.entry(edit.field.as_str()).or_insert(own);
        if !std::ptr::eq(decided.value, &raw const edit.value) {
            decided.losers.insert(0, Lost { voice: decided.winner, value: decided.value });
            (decided.value, decided.winner) = (&edit.value, Voice::Edit(edit));
        }
    }
    keep_fees_with_their_price(&mut fields);
    let is_offered = statements.iter().any(|one| one.settings.role == Role::Additive);
    Provenance { fields, is_offered }
}

/// The order in which sources are heard on a field: by rank; sources of one rank by name, so that it never hangs on
/// chance.
fn precedence(field: &str, a: &Statement<'_>, b: &Statement<'_>) -> Ordering {
    let key = |one: &Statement<'_>| ranks::rank_of(one.settings, field);
    let name = |one: &Statement<'_>| contract::text::fold(&one.origin.name);
    key(a).cmp(&key(b)).then_with(|| (name(a), a.origin.source).cmp(&(name(b), b.origin.source)))
}

/// Charges stay only where the price is of the same source; a person's list always does.
fn keep_fees_with_their_price(fields: &mut BTreeMap<&str, Decided<'_>>) {
    let payee = match fields.get(PRICE).map(|price| price.winner) {
        Some(Voice::Source(origin)) => Some(origin.source),
        Some(Voice::Edit(_)) | None => None,
    };
    let Some(fees) = fields.get_mut(FEES) else { return };
    if matches!(fees.winner, Voice::Edit(_)) {
        return;
    }
    let belongs = |voice: Voice<'_>| matches!(voice, Voice::Source(origin) if Some(origin.source) == payee);
    if !belongs(fees.winner) {
        match fees.losers.iter().position(|lost| belongs(lost.voice)) {
            Some(at) => {
                let lost = fees.losers.remove(at);
                fees.losers.insert(0, Lost { voice: fees.winner, value: fees.value });
                (fees.value, fees.winner) = (lost.value, lost.voice);
            }
            None => {
                fields.remove(FEES);
            }
        }
    }
}

impl Provenance<'_> {
    /// The fields as they are published, without those that are blank on purpose.
    pub fn values(&self) -> Map<String, Value> {
        let said = self.fields.iter().filter(|(_, decided)| !decided.value.is_null());
        said.map(|(field, decided)| ((*field).to_owned(), decided.value.clone())).collect()
    }
}
