//! What becomes of booked visits when a dealer's rooftops change.

use chrono::Utc;
use contract::text::fold;
use serde_json::Value;
use store::{RooftopRow, TenantTx};

use crate::leads;

/// Carries the visits of a rooftop that has another name now over to it, so that what is taken there stays taken.
/// Answers how many confirmed visits to come are at rooftops that the dealer does not have any more.
pub(super) async fn carry_over(
    tx: &mut TenantTx,
    now: &[RooftopRow],
    next: &[RooftopRow],
) -> Result<i64, store::Error> {
    let is_in = |list: &[RooftopRow], name: &str| list.iter().any(|rooftop| rooftop.name == name);
    let gone: Vec<&RooftopRow> = now.iter().filter(|rooftop| !is_in(next, &rooftop.name)).collect();
    if gone.is_empty() {
        return Ok(0);
    }
    let mut new: Vec<&RooftopRow> = next.iter().filter(|rooftop| !is_in(now, &rooftop.name)).collect();
    // Nobody books at any of them until this is done; who waited and knows the old names only is sent away then.
    let names = gone.iter().chain(&new).map(|rooftop| rooftop.name.as_str());
    tx.hold_turns(&leads::turns_of_agendas(tx.id(), names)).await?;
    let mut lost = Vec::new();
    for old in gone {
        match new.iter().position(|new| is_same_place(old, new)) {
            Some(place) => tx.move_agenda(&old.name, &new.swap_remove(place).name).await?,
            None => lost.push(old.name.as_str()),
        }
    }
    tx.visits_to_come(&lost, Utc::now()).await
}

/// Whether two rooftops of different names are one: at one address, or, where an address is not told, alike in
/// everything but the name.
fn is_same_place(old: &RooftopRow, new: &RooftopRow) -> bool {
    if fold(&old.name) == fold(&new.name) {
        return true;
    }
    match (address(old), address(new)) {
        (Some(old), Some(new)) => old == new,
        _ => nameless(old) == nameless(new) && old.holidays == new.holidays,
    }
}

/// The street address as it is compared. Without a street it may be that of many rooftops.
fn address(rooftop: &RooftopRow) -> Option<Vec<(String, String)>> {
    let address = rooftop.profile.get("address")?.as_object()?;
    address.get("address_line_1").and_then(Value::as_str)?;
    let texts = address.iter().filter_map(|(key, value)| Some((key.clone(), fold(value.as_str()?))));
    Some(texts.collect())
}

fn nameless(rooftop: &RooftopRow) -> Value {
    let mut profile = rooftop.profile.clone();
    if let Some(profile) = profile.as_object_mut() {
        profile.remove("name");
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_place_is_known_by_its_address_else_by_everything_but_its_name() {
        let rooftop = |name: &str, mut profile: Value| {
            profile["name"] = json!(name);
            RooftopRow { name: name.to_owned(), profile, holidays: json!([]) }
        };
        let quay = json!({"address_line_1": "1 Quay", "city": "Harbor"});
        for (old, new, is_same) in [
            (
                json!({"address": quay, "timezone": "UTC"}),
                json!({"address": {"city": "HARBOR", "address_line_1": "1 quay "}}),
                true,
            ),
            (
                json!({"address": quay}),
                json!({"address": {"address_line_1": "2 Quay", "city": "Harbor"}}),
                false,
            ),
            (json!({"timezone": "UTC"}), json!({"timezone": "UTC"}), true),
            (json!({"timezone": "UTC"}), json!({}), false),
            (
                json!({"address": {"city": "Harbor"}, "timezone": "UTC"}),
                json!({"address": {"city": "Harbor"}}),
                false,
            ),
            (json!({"address": quay}), json!({}), false),
        ] {
            assert_eq!(
                is_same_place(&rooftop("Old", old.clone()), &rooftop("New", new.clone())),
                is_same,
                "{old} {new}"
            );
        }
        assert!(is_same_place(&rooftop("Main", json!({})), &rooftop("MAIN", json!({"timezone": "UTC"}))));
    }
}
