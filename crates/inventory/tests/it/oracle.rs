//! What AAP.md 7.3 to 7.5 say, written as plainly as possible: loops over listings, nothing of the engine.

use std::cmp::Ordering;
use std::collections::HashMap;

use contract::Listing;
use contract::payload::{Filters, Sort, SortField, SortOrder};
use contract::text::{contains_at_word_boundary, fold};
use inventory::Removed;
use serde_json::Value;

pub(crate) fn matches(unit: &Listing, f: &Filters) -> bool {
    let equal = |wanted: &[String], value: Option<&str>| {
        wanted.is_empty() || value.is_some_and(|value| wanted.iter().any(|w| fold(w) == fold(value)))
    };
    let named = |wanted: &[String], value: &Option<String>| {
        wanted.is_empty()
            || value.as_deref().is_some_and(|value| {
                let value = fold(value);
                wanted.iter().any(|w| fold(w) == value || contains_at_word_boundary(&value, &fold(w)))
            })
    };
    let bounded = |value: Option<i64>, min: Option<i64>, max: Option<i64>| {
        (min.is_none() && max.is_none())
            || value.is_some_and(|v| min.is_none_or(|min| v >= min) && max.is_none_or(|max| v <= max))
    };
    #[allow(clippy::cast_precision_loss)]
    let range = {
        let (min, max) = (f.electric_range_mi_min, f.electric_range_mi_max);
        (min.is_none() && max.is_none())
            || unit.electric_range_mi.is_some_and(|v| {
                min.is_none_or(|min| v >= min as f64) && max.is_none_or(|max| v <= max as f64)
            })
    };
    equal(&f.make, unit.make.as_deref())
        && equal(&f.model, unit.model.as_deref())
        && equal(&f.trim, unit.trim.as_deref())
        && equal(&f.condition, unit.condition.as_deref())
        && equal(&f.vehicle_type, Some(&unit.vehicle_type))
        && equal(&f.fuel, unit.fuel.as_deref())
        && equal(&f.driveline, unit.driveline.as_deref())
        && equal(&f.body, unit.body.as_deref())
        && equal(&f.charge_port, unit.charge_port.as_deref())
        && equal(&f.rooftops, unit.rooftop.as_deref())
        && equal(&f.status, Some(&unit.status))
        && named(&f.transmission, &unit.transmission)
        && named(&f.exterior_color, &unit.exterior_color)
        && named(&f.interior_color, &unit.interior_color)
        && f.features.iter().all(|w| unit.features.iter().any(|has| fold(has) == fold(w)))
        && (f.dc_fast_charge != Some(true) || unit.dc_fast_charge == Some(true))
        && bounded(unit.year.map(i64::from), f.year_min, f.year_max)
        && bounded(unit.price, f.price_min, f.price_max)
        && bounded(unit.mileage, None, f.mileage_max)
        && bounded(unit.displacement_cc, f.displacement_cc_min, f.displacement_cc_max)
        && range
        && f.vin.as_ref().is_none_or(|vin| unit.vin.as_ref() == Some(vin))
        && f.stock.as_ref().is_none_or(|stock| unit.stock.as_ref() == Some(stock))
        && f.query
            .as_deref()
            .is_none_or(|query| query.split_whitespace().all(|token| occurs(unit, &fold(token))))
}

fn occurs(unit: &Listing, token: &str) -> bool {
    let year = unit.year.map(|year| year.to_string());
    let single = [
        &unit.make,
        &unit.model,
        &unit.trim,
        &year,
        &unit.body,
        &unit.fuel,
        &unit.driveline,
        &unit.transmission,
        &unit.engine,
        &unit.exterior_color,
        &unit.interior_color,
        &unit.description,
        &unit.stock,
        &unit.vin,
    ];
    single.into_iter().flatten().chain(&unit.features).any(|text| fold(text).contains(token))
}

pub(crate) fn sorted<'l>(units: &[&'l Listing], sort: Sort) -> Vec<&'l Listing> {
    fn last<T: Ord>(a: Option<T>, b: Option<T>, descending: bool) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }
    let text = |value: &Option<String>| value.as_deref().map(fold);
    let down = sort.order == SortOrder::Desc;
    let mut units = units.to_vec();
    units.sort_by(|a, b| {
        let by = match sort.field {
            SortField::Price => last(a.price, b.price, down),
            SortField::ListPrice => last(a.list_price, b.list_price, down),
            SortField::Msrp => last(a.msrp, b.msrp, down),
            SortField::Mileage => last(a.mileage, b.mileage, down),
            SortField::Year => last(a.year, b.year, down),
            SortField::Make => last(text(&a.make), text(&b.make), down),
            SortField::Model => last(text(&a.model), text(&b.model), down),
            SortField::Stock => last(text(&a.stock), text(&b.stock), down),
            SortField::UpdatedAt => last(Some(a.updated_at), Some(b.updated_at), down),
        };
        by.then_with(|| a.vehicle_id.cmp(&b.vehicle_id))
    });
    units
}

/// The Facets object, spelled as the engine has to spell it.
pub(crate) fn facets(lot: &[Listing], matching: &[&Listing]) -> String {
    type Get = fn(&Listing) -> Option<String>;
    let counted: [(&str, Get); 16] = [
        ("makes", |u| u.make.clone()),
        ("models", |u| u.model.clone()),
        ("trims", |u| u.trim.clone()),
        ("years", |u| u.year.map(|y| y.to_string())),
        ("conditions", |u| u.condition.clone()),
        ("transmissions", |u| u.transmission.clone()),
        ("fuels", |u| u.fuel.clone()),
        ("drivelines", |u| u.driveline.clone()),
        ("bodies", |u| u.body.clone()),
        ("vehicle_types", |u| Some(u.vehicle_type.clone())),
        ("exterior_colors", |u| u.exterior_color.clone()),
        ("interior_colors", |u| u.interior_color.clone()),
        ("rooftops", |u| u.rooftop.clone()),
        ("statuses", |u| Some(u.status.clone())),
        ("charge_ports", |u| u.charge_port.clone()),
        ("dc_fast_charge", |u| u.dc_fast_charge.map(|fast| fast.to_string())),
    ];
    let mut members = Vec::new();
    for (name, get) in counted {
        let mut counts: HashMap<String, u32> = HashMap::new();
        for unit in matching {
            if let Some(value) = get(unit) {
                *counts.entry(fold(&value)).or_default() += 1;
            }
        }
        let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
        counts.sort_by(|a, b| {
            let number = |text: &str| if name == "years" { text.parse::<i64>().unwrap() } else { 0 };
            b.1.cmp(&a.1).then(number(&a.0).cmp(&number(&b.0))).then(a.0.cmp(&b.0))
        });
        let terms: Vec<String> = counts
            .iter()
            .map(|(folded, count)| {
                let shown = usual_spelling(lot, get, folded);
                let value = if name == "years" { shown } else { Value::from(shown).to_string() };
                format!("{{\"value\":{value},\"count\":{count}}}")
            })
            .collect();
        if !terms.is_empty() {
            members.push(format!("\"{name}\":[{}]", terms.join(",")));
        }
    }
    let whole = |get: fn(&Listing) -> Option<i64>| {
        let values: Vec<i64> = matching.iter().filter_map(|unit| get(unit)).collect();
        Some((values.iter().min()?.to_string(), values.iter().max()?.to_string()))
    };
    let real = {
        let mut values: Vec<f64> = matching.iter().filter_map(|unit| unit.electric_range_mi).collect();
        values.sort_by(f64::total_cmp);
        let spell = |value: &f64| Value::from(*value).to_string().trim_end_matches(".0").to_owned();
        values.first().map(spell).zip(values.last().map(spell))
    };
    for (name, range) in [
        ("price_range", whole(|u| u.price)),
        ("mileage_range", whole(|u| u.mileage)),
        ("year_range", whole(|u| u.year.map(i64::from))),
        ("displacement_cc_range", whole(|u| u.displacement_cc)),
        ("electric_range_mi_range", real),
    ] {
        if let Some((min, max)) = range {
            members.push(format!("\"{name}\":{{\"min\":{min},\"max\":{max}}}"));
        }
    }
    format!("{{{}}}", members.join(","))
}

/// The spelling that most units of the lot use, the smallest of several.
fn usual_spelling(lot: &[Listing], get: fn(&Listing) -> Option<String>, folded: &str) -> String {
    let mut uses: HashMap<String, u32> = HashMap::new();
    for spelling in lot.iter().filter_map(get).filter(|value| fold(value) == folded) {
        *uses.entry(spelling).or_default() += 1;
    }
    let best = uses.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
    best.unwrap().0
}

/// Whom identifiers lead to: `Some(Some(id))` a live unit, `Some(None)` a removed one.
pub(crate) fn find(
    lot: &[Listing],
    removed: &[Removed],
    vin: Option<&str>,
    vehicle_id: Option<&str>,
    stock: Option<&str>,
) -> Option<Option<String>> {
    let mut live: Vec<&Listing> = lot.iter().collect();
    live.sort_by(|a, b| a.vehicle_id.cmp(&b.vehicle_id));
    let by_vin = vin.and_then(|key| live.iter().find(|u| u.vin.as_deref() == Some(key)));
    let by_id = vehicle_id.and_then(|key| live.iter().find(|u| u.vehicle_id == key));
    let by_stock = stock.and_then(|key| live.iter().find(|u| u.stock.as_deref() == Some(key)));
    if let Some(unit) = by_vin.or(by_id).or(by_stock) {
        return Some(Some(unit.vehicle_id.clone()));
    }
    let gone = removed.iter().any(|unit| {
        (vin.is_some() && unit.vin.as_deref() == vin)
            || vehicle_id == Some(unit.vehicle_id.as_str())
            || (stock.is_some() && unit.stock.as_deref() == stock)
    });
    gone.then_some(None)
}
