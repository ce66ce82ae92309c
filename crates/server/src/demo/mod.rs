//! Three invented dealers with stock, for `forecourt demo` and `up --demo`.
//!
//! Everything follows from fixed seeds and a fixed day: documents and files are the same on every machine and in every
//! run, so loading them twice changes nothing. The dealers are provisioned; their vehicles come in files of the layouts
//! that dealers' tools write, through the same door as those of real dealers.

mod catalog;
mod cells;
mod dealers;
mod dice;
mod feeds;
#[cfg(test)]
mod feeds_tests;
mod layouts;
mod price;
mod roster;
mod table;
#[cfg(test)]
mod tests;
mod unit;
mod vin;
mod words;

use serde_json::{Map, Value, json};

use cells::Unit;
use dealers::Dealer;
use dice::Dice;
pub use feeds::{Feed, File};
use roster::dealers;
use unit::Maker;

/// The demo dealers without vehicles, as a provisioning document, and the feeds that bring those.
///
/// `origin` is the platform's public origin, with or without a trailing slash; photo addresses start with it.
pub fn with_feeds(origin: &str) -> (Value, Vec<Feed>) {
    let mut document = document(origin);
    let mut all = Vec::new();
    for dealer in dealers() {
        let Some(tenant) =
            document.pointer_mut(&format!("/tenants/{}", dealer.slug)).and_then(Value::as_object_mut)
        else {
            continue;
        };
        let units = units_of(tenant.remove("inventory").as_ref());
        let sold = units_of(tenant.get("sold"));
        all.extend(feeds::of(&dealer, &units, &sold, origin.trim_end_matches('/')));
    }
    (document, all)
}

fn units_of(list: Option<&Value>) -> Vec<Unit> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).cloned().collect()
}

/// The provisioning document `{"tenants": {slug: …}}` of the demo dealers with all that is in their files, which is
/// what comes of these.
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
