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
pub(super) struct Origin {
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
pub(super) struct Statement<'a> {
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
pub(super) enum Voice<'a> {
    /// A source.
    Source(&'a Origin),
    /// A person.
    Edit(&'a Edit),
}

/// What became of a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Decided<'a> {
    /// What is published; null where a person left it blank.
    pub value: &'a Value,
    /// Whose word it is.
    pub winner: Voice<'a>,
    /// Who else had a word, and what it was, the next best first.
    pub losers: Vec<Lost<'a>>,
}

/// A word that does not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Lost<'a> {
    /// Whose.
    pub voice: Voice<'a>,
    /// What.
    pub value: &'a Value,
}

/// One unit, decided field by field: what became of it and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Provenance<'a> {
    /// Every field that anybody has a word on.
    pub fields: BTreeMap<&'a str, Decided<'a>>,
    /// Whether an additive source has the unit. Complementary ones alone offer nothing.
    pub is_offered: bool,
}

/// The charges inside a price belong to it: another source's list would be about another amount.
const PRICE: &str = "price";
const FEES: &str = "fees";

/// Decides every field. Edits that do not hold any more must not be among those given.
pub(super) fn merge<'a>(statements: &'a [Statement<'a>], edits: &'a [Edit]) -> Provenance<'a> {
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
    pub(super) fn values(&self) -> Map<String, Value> {
        let said = self.fields.iter().filter(|(_, decided)| !decided.value.is_null());
        said.map(|(field, decided)| ((*field).to_owned(), decided.value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use serde_json::json;

    const NAMES: [&str; 6] =
        ["make", "price", "fees", "description", "photos", "other_attributes.title_status"];

    #[derive(Debug, Clone)]
    struct Source {
        settings: SourceSettings,
        fields: Map<String, Value>,
    }

    fn sources() -> impl Strategy<Value = Vec<Source>> {
        let fields = btree_map(0..NAMES.len(), 0..4u32, 0..NAMES.len());
        let ranks = btree_map(0..NAMES.len(), 0..4u32, 0..3);
        let source = (fields, 0..4u32, ranks, any::<bool>()).prop_map(|(fields, rank, ranks, adds)| Source {
            settings: SourceSettings {
                rank,
                ranks: ranks.into_iter().map(|(at, rank)| (NAMES[at].to_owned(), rank)).collect(),
                role: if adds { Role::Additive } else { Role::Complementary },
                ..SourceSettings::default()
            },
            fields: fields.into_iter().map(|(at, value)| (NAMES[at].to_owned(), json!(value))).collect(),
        });
        vec(source, 1..5)
    }

    fn statements(sources: &[Source]) -> Vec<Statement<'_>> {
        let each = sources.iter().enumerate().map(|(i, source)| Statement {
            origin: Origin {
                source: Uuid::from_u128(i as u128),
                name: format!("source {i}"),
                run: Uuid::nil(),
                row: 1,
            },
            settings: &source.settings,
            fields: source.fields.clone(),
            sender_changed_at: None,
        });
        each.collect()
    }

    fn edit(field: &str, value: Value) -> Edit {
        let at = DateTime::UNIX_EPOCH;
        Edit { field: field.into(), value, author: "Ana".into(), note: None, at, expires_at: None }
    }

    proptest! {
        #[test]
        fn the_winner_has_the_lowest_rank_of_those_with_a_value(sources in sources()) {
            let said = statements(&sources);
            let merged = merge(&said, &[]);
            for name in NAMES {
                let rank = |one: &Statement<'_>| ranks::rank_of(one.settings, name);
                let having: Vec<_> = said.iter().filter(|one| one.fields.contains_key(name)).collect();
                let Some(decided) = merged.fields.get(name) else {
                    prop_assert!(having.is_empty() || name == FEES);
                    continue;
                };
                let Voice::Source(winner) = decided.winner else { panic!("nobody edited") };
                let winner = &said[winner.source.as_u128() as usize];
                prop_assert_eq!(winner.fields.get(name), Some(decided.value));
                prop_assert_eq!(decided.losers.len() + 1, having.len());
                if name != FEES {
                    prop_assert_eq!(having.iter().map(|one| rank(one)).min(), Some(rank(winner)));
                }
            }
            let adds = sources.iter().any(|one| one.settings.role == Role::Additive);
            prop_assert_eq!(merged.is_offered, adds);
        }

        #[test]
        fn charges_are_of_the_source_of_the_price(sources in sources()) {
            let said = statements(&sources);
            let merged = merge(&said, &[]);
            if let Some(fees) = merged.fields.get(FEES) {
                prop_assert_eq!(Some(fees.winner), merged.fields.get(PRICE).map(|price| price.winner));
            } else if let Some(Voice::Source(winner)) = merged.fields.get(PRICE).map(|price| price.winner) {
                prop_assert!(!said[winner.source.as_u128() as usize].fields.contains_key(FEES));
            }
        }

        #[test]
        fn an_edit_always_wins(sources in sources(), at in 0..NAMES.len()) {
            let said = statements(&sources);
            let edits = [edit(NAMES[at], json!("by hand"))];
            let merged = merge(&said, &edits);
            let decided = &merged.fields[NAMES[at]];
            prop_assert_eq!(decided.winner, Voice::Edit(&edits[0]));
            prop_assert_eq!(decided.value, &json!("by hand"));
            let having = said.iter().filter(|one| one.fields.contains_key(NAMES[at])).count();
            prop_assert_eq!(decided.losers.len(), having);
        }

        #[test]
        fn one_source_alone_is_taken_as_it_is(sources in sources()) {
            let said = statements(&sources[..1]);
            let mut expected = said[0].fields.clone();
            if !expected.contains_key(PRICE) {
                expected.remove(FEES);
            }
            prop_assert_eq!(merge(&said, &[]).values(), expected);
        }

        #[test]
        fn the_order_of_sources_and_edits_does_not_matter(sources in sources(), turn in 0..5usize) {
            let said = statements(&sources);
            let edits = [edit("price", json!(1)), edit("make", Value::Null)];
            let mut turned = said.clone();
            turned.rotate_left(turn % said.len());
            let other = [edits[1].clone(), edits[0].clone()];
            prop_assert_eq!(merge(&said, &edits), merge(&turned, &other));
        }
    }

    #[test]
    fn a_field_blank_on_purpose_is_not_published_and_the_feeds_word_is_known() {
        let source = Source {
            settings: SourceSettings::default(),
            fields: json!({"price": 24990, "make": "Kia"}).as_object().unwrap().clone(),
        };
        let sources = [source];
        let said = statements(&sources);
        let edits = [edit("price", Value::Null)];
        let merged = merge(&said, &edits);
        assert_eq!(Value::from(merged.values()), json!({"make": "Kia"}));
        assert_eq!(merged.fields["price"].losers[0].value, &json!(24990));
    }

    #[test]
    fn an_edited_price_has_no_charges_of_a_feed() {
        let source = Source {
            settings: SourceSettings::default(),
            fields: json!({"price": 24990, "fees": []}).as_object().unwrap().clone(),
        };
        let sources = [source];
        let said = statements(&sources);
        let edits = [edit("price", json!(23990))];
        assert_eq!(Value::from(merge(&said, &edits).values()), json!({"price": 23990}));
        let edits = [edit("price", json!(23990)), edit("fees", json!([{"name": "Doc", "amount": 85}]))];
        assert_eq!(
            Value::from(merge(&said, &edits).values()),
            json!({"price": 23990, "fees": [{"name": "Doc", "amount": 85}]})
        );
    }

    #[test]
    fn edits_hold_until_they_expire() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        let mut edit = edit("price", json!(1));
        assert!(edit.holds(at(1 << 40)));
        edit.expires_at = Some(at(10));
        assert!(edit.holds(at(9)) && !edit.holds(at(10)));
    }
}
