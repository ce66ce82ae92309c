//! The kind of file that HomeNet sends: commas, every cell in quotes, CRLF, a mark at the beginning.

use crate::demo::cells::{Unit, capital, cell, comments, equipment, flag, list, slashed, whole, word};
use crate::demo::table::{Column, Table, utf_8_marked};

const COLUMNS: &[Column] = &[
    ("DealerID", |_| "BRWD-01".to_owned()),
    ("Type", |unit| if word(unit, "condition") == "new" { "New" } else { "Used" }.to_owned()),
    ("Stock", |unit| cell(unit, "stock")),
    ("VIN", |unit| cell(unit, "vin")),
    ("Year", |unit| cell(unit, "year")),
    ("Make", |unit| cell(unit, "make")),
    ("Model", |unit| cell(unit, "model")),
    ("Trim", |unit| cell(unit, "trim")),
    ("Body", |unit| capital(word(unit, "body"))),
    ("ExtColor", |unit| cell(unit, "exterior_color")),
    ("IntColor", |unit| cell(unit, "interior_color")),
    ("EngineDescription", |unit| cell(unit, "engine")),
    ("EngineCC", |unit| cell(unit, "displacement_cc")),
    ("Transmission", |unit| cell(unit, "transmission")),
    ("Drivetrain", |unit| word(unit, "driveline").to_uppercase()),
    ("Fuel Type", |unit| fuel(word(unit, "fuel")).to_owned()),
    ("CityMPG", |unit| cell(unit, "city_mpg")),
    ("HighwayMPG", |unit| cell(unit, "highway_mpg")),
    ("Electric Range", |unit| cell(unit, "electric_range_mi")),
    ("Battery kWh", |unit| cell(unit, "battery_kwh")),
    ("Motor HP", |unit| cell(unit, "motor_power_hp")),
    ("DC Fast Charge", |unit| flag(unit, "dc_fast_charge", "True", "False")),
    ("Charge Port", |unit| cell(unit, "charge_port")),
    ("Miles", |unit| cell(unit, "mileage")),
    ("SellingPrice", |unit| cell(unit, "list_price")),
    ("MSRP", |unit| cell(unit, "msrp")),
    // What a store pays is in such files too. It never leaves the platform.
    ("Invoice", |unit| whole(unit, "msrp").map_or_else(String::new, |msrp| (msrp * 94 / 100).to_string())),
    ("Certified", |unit| if word(unit, "condition") == "cpo" { "True" } else { "False" }.to_owned()),
    ("Status", |unit| status(word(unit, "status")).to_owned()),
    ("DateInStock", |unit| slashed(unit, "inventory_date")),
    ("DateModified", |unit| cell(unit, "updated_at")),
    ("Description", comments),
    ("Options", |unit| equipment(unit).join(",")),
    ("VDP URL", |unit| cell(unit, "vdp_url")),
    ("ImageList", |unit| list(unit, "photos").join(",")),
];

fn fuel(word: &str) -> &str {
    match word {
        "gas" => "Gasoline",
        "diesel" => "Diesel",
        "hybrid" => "Gas/Electric Hybrid",
        "phev" => "Plug-In Hybrid",
        "bev" => "Electric",
        other => other,
    }
}

fn status(word: &str) -> &str {
    match word {
        "intransit" => "In Transit",
        "pending" => "Sale Pending",
        _ => "In Stock",
    }
}

/// The whole lot.
pub(crate) fn file(units: &[Unit], origin: &str) -> Vec<u8> {
    let mut table = Table::new(COLUMNS, units.iter());
    let used = table.find("Type", |kind| kind == "Used").unwrap_or_default();
    // A picture that says that there is none yet.
    let photos = format!("{},{origin}/demo/photos/coming-soon.jpg", table.get(used, "ImageList"));
    table.set(used, "ImageList", photos);
    // Typed with the letter O for a zero: no number of a vehicle has that letter.
    let vin = table.get(used, "VIN").replacen('0', "O", 1);
    let vin = if vin.contains('O') { vin } else { vin.replacen('1', "I", 1) };
    table.repeat(used, &[("VIN", &vin), ("Stock", "BU9001")]);
    // Nobody said whether it is new.
    table.repeat(used, &[("VIN", ""), ("Stock", "BU9002"), ("Type", "Good")]);
    // The same row a second time.
    table.repeat(table.rows() - 1, &[]);
    utf_8_marked(&table.csv(true, "\r\n"))
}

/// What arrives of the next night's file: the upload broke off in the middle of a cell.
pub(crate) fn cut_short(units: &[Unit], origin: &str) -> Vec<u8> {
    let mut bytes = file(units, origin);
    let half = bytes.len() * 55 / 100;
    let in_a_cell = bytes.get(half..).and_then(|rest| rest.windows(8).position(|at| at == b"/photos/"));
    bytes.truncate(half + in_a_cell.unwrap_or_default());
    bytes
}
