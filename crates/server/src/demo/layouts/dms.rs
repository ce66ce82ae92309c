//! What a dealer's own system prints when somebody exports its stock to a spreadsheet: tabs, UTF-16, terse names, a
//! heading above and a sum below. It has neither pictures nor words.

use crate::demo::cells::{Unit, cell, flag, is_sold, slashed, whole, word};
use crate::demo::table::{Column, Table, utf_16};

/// By which the system knows the store.
pub(crate) const STORE: (&str, &str) = ("M1", "Northmere Ford Lincoln");
/// The price of a new unit, with what the store adds to all of them.
pub(crate) const NEW: &str = "ALLIN NEW";
/// The price of a used one.
pub(crate) const USED: &str = "ALLIN USED";

const COLUMNS: &[Column] = &[
    ("LOC", |_| STORE.0.to_owned()),
    ("STOCKNO", |unit| cell(unit, "stock")),
    ("VIN", |unit| cell(unit, "vin")),
    ("N/U", |unit| if word(unit, "condition") == "new" { "N" } else { "U" }.to_owned()),
    ("CERT", |unit| if word(unit, "condition") == "cpo" { "Y" } else { "N" }.to_owned()),
    ("STAT", |unit| status(unit).to_owned()),
    ("YR", |unit| cell(unit, "year")),
    ("MAKE", |unit| word(unit, "make").to_uppercase()),
    ("MDL", |unit| cell(unit, "model")),
    ("TRIM", |unit| cell(unit, "trim")),
    ("BODYSTYLE", |unit| word(unit, "body").to_uppercase()),
    ("DRV", |unit| word(unit, "driveline").to_uppercase()),
    ("TRANS", |unit| cell(unit, "transmission")),
    ("FUEL", |unit| word(unit, "fuel").to_uppercase()),
    ("ENG", |unit| cell(unit, "engine")),
    ("CC", |unit| cell(unit, "displacement_cc")),
    ("MPGCITY", |unit| cell(unit, "city_mpg")),
    ("MPGHWY", |unit| cell(unit, "highway_mpg")),
    ("EVRANGE", |unit| cell(unit, "electric_range_mi")),
    ("BATTERYKWH", |unit| cell(unit, "battery_kwh")),
    ("MOTORHP", |unit| cell(unit, "motor_power_hp")),
    ("DCFC", |unit| flag(unit, "dc_fast_charge", "Y", "N")),
    ("CHARGEPORT", |unit| cell(unit, "charge_port")),
    ("EXTCLR", |unit| cell(unit, "exterior_color")),
    ("INTCLR", |unit| cell(unit, "interior_color")),
    ("ODO", |unit| cell(unit, "mileage")),
    ("UOM", |unit| if unit.contains_key("mileage") { "MI" } else { "" }.to_owned()),
    ("RETAIL", |unit| money(unit, "list_price")),
    ("MSRP", |unit| money(unit, "msrp")),
    (NEW, |unit| if word(unit, "condition") == "new" { money(unit, "price") } else { String::new() }),
    (USED, |unit| if word(unit, "condition") == "new" { String::new() } else { money(unit, "price") }),
    // Never leaves the platform.
    ("COST", |unit| whole(unit, "list_price").map_or_else(String::new, |list| (list * 91 / 100).to_string())),
    ("DATEIN", |unit| slashed(unit, "inventory_date")),
    ("MODIFIED", |unit| cell(unit, "updated_at")),
];

fn status(unit: &Unit) -> &'static str {
    match word(unit, "status") {
        _ if is_sold(unit) => "S",
        "intransit" => "T",
        "pending" => "H",
        _ => "A",
    }
}

/// As spreadsheets show it: `24,990.00`.
fn money(unit: &Unit, member: &str) -> String {
    match whole(unit, member) {
        Some(amount) if amount >= 1000 => format!("{},{:03}.00", amount / 1000, amount % 1000),
        Some(amount) => format!("{amount}.00"),
        None => String::new(),
    }
}

/// The lot of the store, and what was sold of it.
pub(crate) fn file(units: &[Unit]) -> Vec<u8> {
    let mut table = Table::new(COLUMNS, units.iter());
    let used = table.find("N/U", |kind| kind == "U").unwrap_or_default();
    // A unit that came from Canada.
    if let Ok(miles) = table.get(used, "ODO").parse::<f64>() {
        table.set(used, "ODO", format!("{:.0}", miles / 0.621_371));
        table.set(used, "UOM", "KM");
    }
    // One that goes to an auction, and a line of which nothing is left but a make.
    table.repeat(used, &[("STOCKNO", "FU9001"), ("VIN", ""), ("STAT", "W")]);
    table.repeat(used, &[("STOCKNO", ""), ("VIN", "")]);
    let rows = table.rows();
    let body = table.plain("\t", "\r\n");
    utf_16(&format!("{}\r\nSTOCK REPORT\r\n{body}TOTAL UNITS\t{rows}\r\n", STORE.1))
}
