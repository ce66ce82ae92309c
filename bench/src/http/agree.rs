//! Whether two servers say the same. Who answers something else may not be compared.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Op;
use crate::data::Asked;
use crate::load::Answer;

/// # Errors
/// They say different things about one of the requests.
pub(super) fn check(op: Op, asked: &[Asked], ours: &[Answer], theirs: &[Answer]) -> Result<()> {
    for ((asked, ours), theirs) in asked.iter().zip(ours).zip(theirs) {
        let (ours, theirs) = (essence(op, &ours.data()?), essence(op, &theirs.data()?));
        ensure!(ours == theirs, "two servers differ about {}:\n{ours}\n{theirs}", asked.data);
    }
    Ok(())
}

/// What has to be the same.
fn essence(op: Op, data: &Value) -> Value {
    let get = |key: &str| data.get(key).cloned().unwrap_or_default();
    match op {
        Op::Search => serde_json::json!([get("total"), get("vehicles")]),
        Op::Facets => facets(data),
        Op::Vehicle | Op::Card => data.clone(),
    }
}

/// Values of equal counts may come in any order.
fn facets(data: &Value) -> Value {
    let mut all = serde_json::Map::new();
    for (name, member) in data.as_object().into_iter().flatten() {
        let counts: Option<BTreeMap<String, Value>> = member.as_array().map(|terms| {
            let term = |term: &Value| {
                (
                    term.get("value").map(Value::to_string).unwrap_or_default(),
                    term.get("count").cloned().unwrap_or_default(),
                )
            };
            terms.iter().map(term).collect()
        });
        all.insert(name.clone(), counts.map_or_else(|| member.clone(), |counts| serde_json::json!(counts)));
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facets_agree_whatever_the_order_of_equal_counts() {
        let a = json!({"makes": [{"value": "Kia", "count": 2}, {"value": "Ram", "count": 2}]});
        let b = json!({"makes": [{"value": "Ram", "count": 2}, {"value": "Kia", "count": 2}]});
        let c = json!({"makes": [{"value": "Ram", "count": 2}, {"value": "Kia", "count": 1}]});
        assert_eq!(facets(&a), facets(&b));
        assert_ne!(facets(&a), facets(&c));
    }

    #[test]
    fn pages_agree_in_total_and_order() {
        let page = |total: u32, ids: [&str; 2]| json!({"total": total, "limit": 2, "vehicles": ids});
        let same = |a: &Value, b: &Value| essence(Op::Search, a) == essence(Op::Search, b);
        assert!(same(&page(5, ["a", "b"]), &page(5, ["a", "b"])));
        assert!(!same(&page(5, ["a", "b"]), &page(6, ["a", "b"])));
        assert!(!same(&page(5, ["a", "b"]), &page(5, ["b", "a"])));
    }
}
