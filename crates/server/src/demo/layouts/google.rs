//! The kind of file that goes to Google's vehicle listings: quotes only where needed, stores by code, amounts with
//! their currency.

use crate::demo::cells::{Unit, cell, comments, equipment, flag, list, whole, word};
use crate::demo::table::{Column, Table};

/// Codes of the stores, by the names of the rooftops.
pub(crate) const STORES: [(&str, &str); 2] =
    [("NM-SPK", "Northmere Honda Acura"), ("NM-SCT", "Northmere Premium")];

const COLUMNS: &[Column] = &[
    ("store_code", |unit| store(word(unit, "rooftop")).to_owned()),
    ("dealership_name", |unit| cell(unit, "rooftop")),
    ("id", |unit| cell(unit, "stock")),
    ("vin", |unit| cell(unit, "vin")),
    ("condition", |unit| if word(unit, "condition") == "new" { "new" } else { "used" }.to_owned()),
    ("certified_pre_owned", |unit| if word(unit, "condition") == "cpo" { "yes" } else { "no" }.to_owned()),
    ("year", |unit| cell(unit, "year")),
    ("make", |unit| cell(unit, "make")),
    ("model", |unit| cell(unit, "model")),
    ("trim", |unit| cell(unit, "trim")),
    ("mileage", |unit| whole(unit, "mileage").map_or_else(String::new, |miles| format!("{miles} miles"))),
    ("price", |unit| dollars(unit, "price")),
    ("list_price", |unit| dollars(unit, "list_price")),
    ("vehicle_msrp", |unit| dollars(unit, "msrp")),
    ("availability", |unit| cell(unit, "status")),
    ("body_style", |unit| cell(unit, "body")),
    ("drivetrain", |unit| cell(unit, "driveline")),
    ("transmission", |unit| cell(unit, "transmission")),
    ("fuel", |unit| cell(unit, "fuel")),
    ("engine", |unit| cell(unit, "engine")),
    ("engine_cc", |unit| cell(unit, "displacement_cc")),
    ("city_mpg", |unit| cell(unit, "city_mpg")),
    ("highway_mpg", |unit| cell(unit, "highway_mpg")),
    ("electric_range_mi", |unit| cell(unit, "electric_range_mi")),
    ("battery_kwh", |unit| cell(unit, "battery_kwh")),
    ("motor_power_hp", |unit| cell(unit, "motor_power_hp")),
    ("dc_fast_charge", |unit| flag(unit, "dc_fast_charge", "yes", "no")),
    ("charge_port", |unit| cell(unit, "charge_port")),
    ("exterior_color", |unit| cell(unit, "exterior_color")),
    ("interior_color", |unit| cell(unit, "interior_color")),
    ("vehicle_option", |unit| equipment(unit).join(",")),
    ("description", comments),
    ("link", |unit| cell(unit, "vdp_url")),
    ("image_link", |unit| list(unit, "photos").first().copied().unwrap_or_default().to_owned()),
    ("additional_image_link", |unit| list(unit, "photos").get(1..).unwrap_or_default().join(",")),
    ("date_in_stock", |unit| cell(unit, "inventory_date")),
    ("updated_at", |unit| cell(unit, "updated_at")),
];

fn store(rooftop: &str) -> &'static str {
    STORES.iter().find(|(_, name)| *name == rooftop).map_or("", |(code, _)| code)
}

fn dollars(unit: &Unit, member: &str) -> String {
    whole(unit, member).map_or_else(String::new, |amount| format!("{amount} USD"))
}

/// The lots of the two stores.
pub(crate) fn file(units: &[Unit]) -> Vec<u8> {
    let mut table = Table::new(COLUMNS, units.iter());
    let used = table.find("condition", |kind| kind == "used").unwrap_or_default();
    // One unit that stands at both stores, one of a store that the group has sold.
    table.repeat(used, &[("store_code", "NM-SCT")]);
    table.repeat(used, &[("store_code", "NM-TAC"), ("id", "T9001"), ("vin", "")]);
    // Nobody has a price for it yet.
    if let Some(open) = table.find("price", str::is_empty) {
        table.set(open, "price", "Call for price");
    }
    table.csv(false, "\n").into_bytes()
}
