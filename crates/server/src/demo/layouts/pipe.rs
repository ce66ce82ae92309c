//! The export of a small lot's program: pipes, no quotes, Windows-1252, codes of one letter.

use crate::demo::cells::{Unit, cell, comments, equipment, flag, is_sold, list, word};
use crate::demo::table::{Column, Table, windows_1252};

const COLUMNS: &[Column] = &[
    ("new_used", |unit| if word(unit, "condition") == "new" { "N" } else { "U" }.to_owned()),
    ("stock_no", |unit| cell(unit, "stock")),
    ("vin", |unit| cell(unit, "vin")),
    ("vehicle_type", |unit| word(unit, "vehicle_type").to_uppercase()),
    ("model_year", |unit| cell(unit, "year")),
    ("make_name", |unit| cell(unit, "make")),
    ("model_name", |unit| cell(unit, "model")),
    ("trim_level", |unit| cell(unit, "trim")),
    ("body_style", |unit| cell(unit, "body")),
    ("odometer", |unit| cell(unit, "mileage")),
    ("ext_color", |unit| cell(unit, "exterior_color")),
    ("engine", |unit| cell(unit, "engine")),
    ("engine_cc", |unit| cell(unit, "displacement_cc")),
    ("trans", |unit| cell(unit, "transmission")),
    ("fuel", |unit| cell(unit, "fuel")),
    ("city_mpg", |unit| cell(unit, "city_mpg")),
    ("hwy_mpg", |unit| cell(unit, "highway_mpg")),
    ("range_miles", |unit| cell(unit, "electric_range_mi")),
    ("battery_kwh", |unit| cell(unit, "battery_kwh")),
    ("motor_hp", |unit| cell(unit, "motor_power_hp")),
    ("dcfc", |unit| flag(unit, "dc_fast_charge", "Y", "N")),
    ("charge_port", |unit| cell(unit, "charge_port")),
    ("retail", |unit| cell(unit, "list_price")),
    ("msrp", |unit| cell(unit, "msrp")),
    (NEW, |unit| price(unit, NEW)),
    (USED, |unit| price(unit, USED)),
    (TRAILER, |unit| price(unit, TRAILER)),
    ("status", |unit| status(unit).to_owned()),
    ("date_in_stock", |unit| word(unit, "inventory_date").replace('-', "")),
    ("modified", |unit| cell(unit, "updated_at")),
    ("title_status", |unit| if word(unit, "condition") == "used" { "CLEAN" } else { "" }.to_owned()),
    ("options", |unit| equipment(unit).join(";")),
    ("comments", comments),
    ("url", |unit| cell(unit, "vdp_url")),
    ("photo_urls", |unit| list(unit, "photos").join(";")),
];

/// The price of a new motorcycle, freight inside.
pub(crate) const NEW: &str = "ride_away_new";
/// The price of a used one.
pub(crate) const USED: &str = "ride_away_used";
/// The price of a trailer: nothing is charged beside it.
pub(crate) const TRAILER: &str = "trailer_price";

/// The shop has a column for each list of charges.
fn price(unit: &Unit, column: &str) -> String {
    let own = match (word(unit, "vehicle_type"), word(unit, "condition")) {
        ("trailer", _) => TRAILER,
        (_, "new") => NEW,
        _ => USED,
    };
    if column == own { cell(unit, "price") } else { String::new() }
}

fn status(unit: &Unit) -> &'static str {
    match word(unit, "status") {
        _ if is_sold(unit) => "S",
        "intransit" => "T",
        "pending" => "P",
        _ => "A",
    }
}

/// The whole lot, and what was sold of it.
pub(crate) fn file(units: &[Unit]) -> Vec<u8> {
    let mut table = Table::new(COLUMNS, units.iter());
    let used = table.find("new_used", |kind| kind == "U").unwrap_or_default();
    // True mileage unknown.
    table.set(used, "odometer", "TMU");
    // Somebody typed the sign that parts the cells.
    table.repeat(used, &[("stock_no", "FU9001"), ("comments", "Runs well | needs a battery")]);
    windows_1252(&table.plain("|", "\r\n"))
}
