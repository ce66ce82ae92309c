//! The kind of document that goes to Meta's catalogues: XML, a few members with parts of their own.

use std::fmt::Write;

use crate::demo::cells::{Unit, cell, comments, equipment, flag, list, whole, word};

/// By which the document knows the store.
pub(crate) const STORE: (&str, &str) = ("northmere-fargo", "Northmere Hyundai Kia");

/// The lot of the store.
pub(crate) fn file(units: &[Unit], website: &str) -> Vec<u8> {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<listings>\n");
    let _ =
        writeln!(xml, " <title>{}</title>\n <link rel=\"self\" href=\"{website}/catalogue.xml\"/>", STORE.1);
    for unit in units {
        listing(&mut xml, unit);
    }
    xml.push_str("</listings>\n");
    xml.into_bytes()
}

fn listing(xml: &mut String, unit: &Unit) {
    let title = ["year", "make", "model", "trim"].map(|member| cell(unit, member)).join(" ");
    let axles = word(unit, "driveline").to_uppercase().replace("4WD", "4X4");
    let amount = |member| whole(unit, member).map_or_else(String::new, |amount| format!("{amount} USD"));
    xml.push_str(" <listing>\n");
    element(xml, "vehicle_id", word(unit, "stock"));
    element(xml, "vin", word(unit, "vin"));
    element(xml, "stock_number", word(unit, "stock"));
    element(xml, "title", title.trim_end());
    element(xml, "description", &comments(unit));
    element(xml, "url", word(unit, "vdp_url"));
    for member in ["make", "model", "year", "trim"] {
        element(xml, member, &cell(unit, member));
    }
    if let Some(miles) = whole(unit, "mileage") {
        let _ = writeln!(xml, "  <mileage>\n   <value>{miles}</value>\n   <unit>MI</unit>\n  </mileage>");
    }
    for photo in list(unit, "photos") {
        let photo = escaped(photo);
        let _ = writeln!(xml, "  <image>\n   <url>{photo}</url>\n   <tag>Exterior</tag>\n  </image>");
    }
    element(xml, "body_style", &word(unit, "body").to_uppercase());
    element(xml, "drivetrain", &axles);
    element(xml, "fuel_type", fuel(word(unit, "fuel")));
    element(xml, "transmission", &word(unit, "transmission").to_uppercase());
    element(xml, "state_of_vehicle", &word(unit, "condition").to_uppercase());
    element(xml, "availability", availability(word(unit, "status")));
    element(xml, "price", &amount("price"));
    element(xml, "list_price", &amount("list_price"));
    element(xml, "msrp", &amount("msrp"));
    for member in ["exterior_color", "interior_color", "engine", "city_mpg", "highway_mpg"] {
        element(xml, member, &cell(unit, member));
    }
    element(xml, "engine_cc", &cell(unit, "displacement_cc"));
    for member in ["electric_range_mi", "battery_kwh", "motor_power_hp", "charge_port"] {
        element(xml, member, &cell(unit, member));
    }
    element(xml, "dc_fast_charge", &flag(unit, "dc_fast_charge", "yes", "no"));
    element(xml, "features", &equipment(unit).join("|"));
    element(xml, "date_first_on_lot", word(unit, "inventory_date"));
    element(xml, "updated_at", word(unit, "updated_at"));
    element(xml, "dealer_id", STORE.0);
    xml.push_str(" </listing>\n");
}

fn element(xml: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(xml, "  <{name}>{}</{name}>", escaped(text));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn fuel(word: &str) -> &str {
    match word {
        "gas" => "GASOLINE",
        "hybrid" => "HYBRID",
        "phev" => "PLUGIN_HYBRID",
        "bev" => "ELECTRIC",
        other => other,
    }
}

fn availability(word: &str) -> &'static str {
    match word {
        "intransit" => "IN_TRANSIT",
        "pending" => "PENDING",
        _ => "AVAILABLE",
    }
}
