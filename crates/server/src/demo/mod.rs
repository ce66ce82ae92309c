//! Three invented dealers with stock, for `forecourt demo` and `up --demo`.
//!
//! Everything follows from fixed seeds and a fixed day: the document is the same on every machine and in every
//! run, so loading it twice changes nothing.

mod catalog;
mod dealers;
mod dice;
mod price;
mod roster;
#[cfg(test)]
mod tests;
mod unit;
mod vin;
mod words;

use serde_json::{Map, Value, json};

use dealers::Dealer;
use dice::Dice;
use roster::dealers;
use unit::Maker;

/// The provisioning document `{"tenants": {slug: …}}` of the demo dealers.
///
/// `origin` is the platform's public origin, with or without a trailing slash; photo addresses start with it.
pub fn document(origin: &str) -> Value {
    let origin = origin.trim_end_matches('/');
    let models = catalog::models();
    let mut serial = 0;
    let tenants: Map<String, Value> = dealers()
        .iter()
        .map(|dealer| (dealer.slug.to_owned(), tenant(dealer, &models, origin, &mut serial)))
        .collect();
    json!({"tenants": tenants})
}

fn tenant(dealer: &Dealer, models: &[catalog::Model], origin: &str, serial: &mut u32) -> Value {
    let mut maker = Maker { models, dealer, origin, dice: Dice::new(dealer.seed), serial, number: 0 };
    let mut inventory = Vec::new();
    let mut sold = Vec::new();
    for rooftop in &dealer.rooftops {
        for lot in &rooftop.lots {
            inventory.extend((0..lot.count).filter_map(|_| maker.unit(rooftop, lot)).map(Value::Object));
        }
        // What was sold had been an ordinary unit; its identifiers are all that is left to know.
        let lots = rooftop.lots.iter().cycle().take(2 * rooftop.sold);
        let units = lots.filter_map(|lot| maker.unit(rooftop, lot)).filter(|unit| unit.contains_key("vin"));
        sold.extend(units.take(rooftop.sold).map(departed));
    }
    let rooftops: Vec<Value> = dealer.rooftops.iter().map(|rooftop| profile(dealer, rooftop)).collect();
    json!({
        "dealer_id": dealer.slug,
        "name": dealer.name,
        "welcome_message": dealer.welcome,
        "skills": [
            "dealer.information", "inventory.facets", "inventory.search", "inventory.vehicle", "lead.submit",
        ],
        "interface_tenant": null,
        "policy": dealer.policy,
        "rooftops": rooftops,
        "inventory": inventory,
        "sold": sold,
    })
}

fn departed(unit: Map<String, Value>) -> Value {
    const KEPT: [&str; 9] =
        ["vehicle_id", "vin", "stock", "dealer_id", "rooftop", "year", "make", "model", "condition"];
    let mut unit: Map<String, Value> =
        unit.into_iter().filter(|(key, _)| KEPT.contains(&key.as_str())).collect();
    unit.insert("internal_status".into(), "sold".into());
    unit.into()
}

fn profile(dealer: &Dealer, rooftop: &dealers::Rooftop) -> Value {
    let mut profile = rooftop.profile.clone();
    if let Some(members) = profile.as_object_mut() {
        members.insert("name".into(), rooftop.name.into());
        members.insert("website".into(), dealer.website.into());
        if rooftop.charges.published {
            let fees =
                rooftop.charges.always.iter().map(|fee| json!({"name": fee.name, "amount": fee.amount}));
            members.insert("fees".into(), fees.collect());
        }
    }
    profile
}
