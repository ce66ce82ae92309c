//! What a run would change: found out by comparing hashes, and told so that a person can decide.

use std::collections::{BTreeMap, HashMap, HashSet};

use feeds::Unit;
use feeds::guard::PriceShift;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::UnitKey;

use super::identity::{Known, Register};
use super::units::Trailer;

/// Examples of each kind that are kept.
pub(super) const EXAMPLES: usize = 200;

/// Characters of a value that an example keeps.
const EXAMPLE_CHARS: usize = 200;

/// What a run changes of what its source said before. Numbers are of units.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// The source did not have them.
    pub added: u32,
    /// It says something else of them.
    pub changed: u32,
    /// It does not have them any more.
    pub removed: u32,
    /// Nothing is different.
    pub same: u32,
    /// They have another price than before.
    pub repriced: u32,
    /// They had a price and have none now.
    pub unpriced: u32,
    /// They were on offer without any source, and nobody has them: what a dealer's first feed replaces.
    pub replaced: u32,
    /// Some of each kind, at most 200, in the order of the file; removed ones by their id.
    pub examples: Vec<Example>,
}

/// One unit that a run changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// `added`, `changed` or `removed`.
    pub kind: String,
    /// The id of the unit.
    pub vehicle_id: String,
    /// What people call it: year, make, model, stock number.
    pub label: String,
    /// Values of those fields that differ, before; for a removed unit its price.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub old: BTreeMap<String, Value>,
    /// And after; for an added unit its price.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub new: BTreeMap<String, Value>,
}

impl Difference {
    /// Whether the lot stays as it is.
    pub fn is_empty(&self) -> bool {
        self.added + self.changed + self.removed + self.replaced == 0
    }

    /// Whether two runs would do the same, whatever examples of it were kept.
    pub fn same_as(&self, other: &Difference) -> bool {
        let counts = |of: &Difference| {
            (of.added, of.changed, of.removed, of.same, of.repriced, of.unpriced, of.replaced)
        };
        counts(self) == counts(other) && self.examples == other.examples
    }
}

/// Everything that a run changes.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Units by the row they stand in: id, and whether the source had it before.
    pub(super) written: HashMap<u32, (String, bool)>,
    /// Units that the source has no more, with the reason.
    pub(super) removed: Vec<(String, &'static str)>,
    /// Units on offer that no source has.
    pub(super) replaced: Vec<String>,
    /// Names by which ids must be found from now on.
    pub(super) aliases: Vec<(String, String)>,
    /// Units of which nothing is different.
    pub(super) same: Vec<String>,
    /// Units that have another price than before, and those that have none any more.
    pub(super) repriced: u32,
    pub(super) unpriced: u32,
    pub(super) prices: PriceShift,
}

impl Plan {
    /// Whether the source says nothing else than before.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty() && self.replaced.is_empty()
    }

    /// The ids of the units in the file.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.written.values().map(|(id, _)| id).chain(&self.same).map(String::as_str)
    }

    fn compare_prices(&mut self, before: Option<i64>, now: Option<i64>, percent: f64) {
        let Some(before) = before else {
            self.repriced += u32::from(now.is_some());
            return;
        };
        self.prices.compared += 1;
        let Some(now) = now else {
            self.unpriced += 1;
            self.prices.lost += 1;
            return;
        };
        self.repriced += u32::from(now != before);
        // Amounts are dollars of cars: far below what a float holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let (by, of) = ((now - before).unsigned_abs() as f64, before.unsigned_abs() as f64);
        self.prices.changed += u32::from(by * 100.0 > percent * of);
    }

    /// Its numbers; examples are added by whoever has the units at hand.
    pub(super) fn counts(&self) -> Difference {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let changed = self.written.values().filter(|(_, known)| *known).count();
        Difference {
            added: count(self.written.len() - changed),
            changed: count(changed),
            removed: count(self.removed.len()),
            same: count(self.same.len()),
            repriced: self.repriced,
            unpriced: self.unpriced,
            replaced: count(self.replaced.len()),
            examples: Vec::new(),
        }
    }
}

/// A unit of a source as the register knows it.
fn known<'k>(id: &'k str, key: &'k UnitKey) -> Known<'k> {
    Known {
        vehicle_id: id,
        vin: key.vin.as_deref(),
        stock: key.stock.as_deref(),
        rooftop: key.rooftop_key.as_deref(),
        removed: false,
    }
}

/// Finds out what a file changes of what its source said before (`held`). Rows are recognised by those of `held` that
/// `own` takes, then by `others`: units that the dealer has or had from elsewhere.
pub(super) fn plan(
    trailer: &Trailer,
    held: &HashMap<String, UnitKey>,
    own: impl Fn(&str) -> bool,
    others: &[Known<'_>],
    aliases: &HashMap<String, String>,
    rooftop: &dyn Fn(&str) -> String,
    price_change_percent: f64,
) -> Plan {
    let mut before: Vec<Known<'_>> = held.iter().map(|(id, key)| known(id, key)).collect();
    before.sort_unstable_by_key(|known| known.vehicle_id);
    let recognised = before.iter().copied().filter(|known| own(known.vehicle_id));
    let register = Register::new(recognised.chain(others.iter().copied()), aliases, rooftop);
    let (ids, names) = register.identify(&trailer.briefs);
    let mut plan = Plan { aliases: names, ..Plan::default() };
    let mut present: HashSet<&str> = HashSet::with_capacity(ids.len());
    for (brief, id) in trailer.briefs.iter().zip(&ids) {
        present.insert(id);
        let before = held.get(id);
        if let Some(before) = before {
            plan.compare_prices(before.price, brief.price, price_change_percent);
            if before.hash == brief.hash {
                plan.same.push(id.clone());
                continue;
            }
        }
        plan.written.insert(brief.row, (id.clone(), before.is_some()));
    }
    // What the file itself says of units that are gone.
    let mut told: HashMap<&str, &'static str> = HashMap::new();
    if !trailer.gone.is_empty() {
        let of_source = Register::new(before.iter().copied(), aliases, rooftop);
        for gone in &trailer.gone {
            if let Some(id) = of_source.gone(gone).filter(|id| !present.contains(id)) {
                told.insert(id, if gone.reason == "sold" { "sold" } else { "feed" });
            }
        }
    }
    plan.removed = before
        .iter()
        .map(|known| known.vehicle_id)
        .filter(|id| !present.contains(id))
        .filter_map(|id| match told.get(id) {
            Some(reason) => Some((id.to_owned(), *reason)),
            None => (!trailer.delta).then(|| (id.to_owned(), "feed")),
        })
        .collect();
    plan
}

/// What people call a unit.
pub(super) fn label(unit: &Unit) -> String {
    let year = unit.year.map(|year| year.to_string());
    let words = [year.as_deref(), unit.make.as_deref(), unit.model.as_deref(), unit.trim.as_deref()];
    let mut label = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
    if let Some(stock) = &unit.stock {
        label.push_str(if label.is_empty() { "stock " } else { ", stock " });
        label.push_str(stock);
    }
    label
}

/// An example of a unit that is added (`None` before), removed (`None` after) or changed.
pub(super) fn example(vehicle_id: &str, before: Option<&Unit>, after: Option<&Unit>) -> Example {
    let kind = match (before, after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let (mut old, mut new) = (fields(before), fields(after));
    if before.is_some() && after.is_some() {
        let differs: HashSet<String> =
            old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)).cloned().collect();
        old.retain(|key, _| differs.contains(key));
        new.retain(|key, _| differs.contains(key));
    } else {
        old.retain(|key, _| key == "asking_price");
        new.retain(|key, _| key == "asking_price");
    }
    let short =
        |map: Map<String, Value>| map.into_iter().map(|(key, value)| (key, shortened(value))).collect();
    Example {
        kind: kind.to_owned(),
        vehicle_id: vehicle_id.to_owned(),
        label: after.or(before).map(label).unwrap_or_default(),
        old: short(old),
        new: short(new),
    }
}

/// The members of a unit, without those that say nothing about it.
fn fields(unit: Option<&Unit>) -> Map<String, Value> {
    let Some(Ok(Value::Object(mut fields))) = unit.map(serde_json::to_value) else { return Map::new() };
    for volatile in ["source_row", "updated_at", "amounts"] {
        fields.remove(volatile);
    }
    fields
}

fn shortened(value: Value) -> Value {
    let cut = |text: &str| match text.char_indices().nth(EXAMPLE_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    };
    match value {
        Value::String(text) => cut(&text).into(),
        Value::Array(_) | Value::Object(_) => cut(&value.to_string()).into(),
        plain => plain,
    }
}
