//! Members of vehicles that the protocol does not know and that are most likely misspelt. They are no mistake: what is
//! not known is kept and served.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Contract, ContractVersion};
use serde_json::Value;

use super::Document;
use super::document::Member;

/// A member that looks like another one's name, misspelt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// JSON Pointer of the first such member, from the root of the document.
    pub pointer: String,
    /// What is most likely meant.
    pub meant: String,
    /// How many of the dealer's vehicles have it.
    pub vehicles: usize,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Doubt { pointer, meant, vehicles } = self;
        write!(
            f,
            "{pointer}: the protocol has no such member; it is served as it stands. Is {meant} meant?"
        )?;
        if *vehicles > 1 { write!(f, " ({vehicles} vehicles have it)") } else { Ok(()) }
    }
}

impl Document {
    /// Members of vehicles that are most likely misspelt, one entry for each name of a dealer.
    pub fn doubts(&self) -> Vec<Doubt> {
        let known = known();
        let mut doubts = Vec::new();
        for (slug, wanted) in &self.tenants {
            let Ok(wanted) = wanted else { continue };
            let Member::Set(units) = &wanted.inventory else { continue };
            let mut seen = BTreeMap::<&str, Option<Doubt>>::new();
            for (i, unit) in units.iter().enumerate() {
                for name in unit.keys().filter(|name| !known.contains(*name)) {
                    let doubt = seen.entry(name).or_insert_with(|| {
                        let meant = known.iter().find(|known| looks_like(name, known))?;
                        let name = name.replace('~', "~0").replace('/', "~1");
                        let pointer = format!("/tenants/{slug}/inventory/{i}/{name}");
                        // Beside the right one it is something else.
                        (!unit.contains_key(meant)).then(|| Doubt {
                            pointer,
                            meant: meant.clone(),
                            vehicles: 0,
                        })
                    });
                    doubt.iter_mut().for_each(|doubt| doubt.vehicles += 1);
                }
            }
            doubts.extend(seen.into_values().flatten());
        }
        doubts
    }
}

/// The members of a vehicle.
fn known() -> BTreeSet<String> {
    let schema = Contract::schemas(ContractVersion::V3_0).find(|(name, _)| *name == "vehicle.schema.json");
    let schema: Value = schema.and_then(|(_, text)| serde_json::from_str(text).ok()).unwrap_or_default();
    let members = schema.get("properties").and_then(Value::as_object);
    members.into_iter().flat_map(|members| members.keys().cloned()).collect()
}

/// Whether one or two letters differ, of a short name one.
fn looks_like(name: &str, known: &str) -> bool {
    // Longer names are not misspelt, they are others.
    let few = if known.len() > 5 { 2 } else { 1 };
    let name = name.to_lowercase();
    name.len().abs_diff(known.len()) <= few && distance(&name, known) <= few
}

/// How many letters have to be put in, left out or exchanged (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((b, above), diagonal) in other.chars().zip(row.iter().skip(1)).zip(&row) {
            let left = next.last().copied().unwrap_or_default();
            next.push((left + 1).min(above + 1).min(diagonal + usize::from(a != b)));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn what_looks_misspelt_is_named_once_and_what_is_something_else_is_not() {
        let document = read(
            r#"{"tenants": {"harbor": {"name": "Harbor", "rooftops": [{"name": "Harbor"}], "inventory": [
                {"stock": "1", "status": "available", "prise": 3, "listPrice": 4, "warranty": "no", "bin": "7"},
                {"stock": "2", "status": "available", "price": 3, "prices": [3], "prise": 5, "x/milage": 1}]}}}"#,
        )
        .unwrap();
        let doubts: Vec<String> = document.doubts().iter().map(ToString::to_string).collect();
        let named = |pointer: &str, meant: &str| {
            format!(
                "{pointer}: the protocol has no such member; it is served as it stands. Is {meant} meant?"
            )
        };
        assert_eq!(
            doubts,
            [
                named("/tenants/harbor/inventory/0/bin", "vin"),
                named("/tenants/harbor/inventory/0/listPrice", "list_price"),
                format!("{} (2 vehicles have it)", named("/tenants/harbor/inventory/0/prise", "price")),
            ]
        );
    }

    #[test]
    fn every_name_of_the_protocol_is_known() {
        let known = known();
        assert!(known.contains("price") && known.contains("updated_at"), "{known:?}");
        assert_eq!(
            (distance("price", "prise"), distance("", "abc"), distance("kitten", "sitting")),
            (1, 3, 3)
        );
    }
}
