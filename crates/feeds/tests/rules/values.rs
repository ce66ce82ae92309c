//! Section 5: what cells say.

use serde_json::{Value, json};

use super::{codes, row, unit};

fn member(changes: &[(&str, &str)], name: &str) -> (Value, Vec<&'static str>) {
    let (unit, codes) = unit(changes);
    (serde_json::to_value(&unit).unwrap()[name].clone(), codes)
}

/// Every cell of `column` gives `value` in `name`, with these codes.
fn all(column: &str, name: &str, table: &[(&[&str], Value, &[&str])]) {
    let mut wrong = Vec::new();
    for (cells, value, said) in table {
        for cell in *cells {
            let (found, codes) = member(&[(column, cell)], name);
            if found != *value || codes != *said {
                wrong.push(format!("{cell:?}: {found} {codes:?}, not {value} {said:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn prices() {
    let none = Value::Null;
    all(
        "price",
        "asking_price",
        &[
            (
                &[
                    "24990",
                    "24,990",
                    "$24,990",
                    "$24,990.00",
                    "24990 USD",
                    "USD 24,990",
                    "US$24,990",
                    "24'990",
                    "24 990",
                    "$24,990*",
                    "24.990,00",
                    "24.990",
                    "24\u{a0}990",
                    "24,990.00 USD",
                    "24990.0000",
                ],
                json!(24_990),
                &[],
            ),
            (&["8995.0000", "8995", "$8,995"], json!(8995), &[]),
            (&["1,600", "1.600", "1.600,00", "1,600.00"], json!(1600), &[]),
            (&["1,243,567", "1.243.567", "$1,243,567.00"], json!(1_243_567), &[]),
            (
                &["24990.50", "24990,50", "24,990.01", "24.990,01", "$24,990.5"],
                json!(24_991),
                &["PRICE_ROUNDED"],
            ),
            (
                &[
                    "",
                    "0",
                    "$0",
                    "0.0000",
                    "$0.00",
                    "Call",
                    "Call for price",
                    "CALL!",
                    "Contact us",
                    "N/A",
                    "TBD",
                    "$ -",
                    "Llame",
                ],
                none.clone(),
                &["PRICE_NOT_DISCLOSED"],
            ),
            (
                &[
                    "1",
                    "99",
                    "99.99",
                    "-5000",
                    "-$12,500",
                    "$-12,500",
                    "(12,500)",
                    "99999",
                    "999999",
                    "$99,999",
                    "9999999",
                    "11111",
                    "111111",
                    "123456",
                    "1234567",
                    "12345678",
                    "3000001",
                    "$12,345,678",
                ],
                none.clone(),
                &["PRICE_IMPLAUSIBLE"],
            ),
            (
                &["24.9k", "24,99O", "abc", "24990 or best", "2 4990", "~24990"],
                none.clone(),
                &["PRICE_UNPARSEABLE"],
            ),
            (&["24990 EUR", "€24,990", "CAD 24,990", "24.990 €", "£24990"], none, &["PRICE_CURRENCY"]),
        ],
    );
    for (cell, value) in
        [("100", 100), ("3000000", 3_000_000), ("9999", 9999), ("1111", 1111), ("12345", 12_345)]
    {
        let (found, codes) = member(&[("price", cell)], "asking_price");
        assert_eq!((found, codes), (json!(value), vec![]), "{cell}");
    }
}

#[test]
fn miles() {
    let none = Value::Null;
    all(
        "miles",
        "mileage",
        &[
            (
                &["41000", "41,000", "41.000", "41,000 miles", "41000 mi", "41 000", "41000 MILES"],
                json!(41_000),
                &[],
            ),
            (&["61,000 km", "61000KM", "61.000 km"], json!(37_904), &["MILEAGE_CONVERTED_KM"]),
            (&["TMU", "Exempt", "Not Actual", "not actual", "EXEMPT"], none.clone(), &["MILEAGE_NOT_ACTUAL"]),
            (&["", "N/A", "-", "0"], none.clone(), &["MILEAGE_MISSING"]),
            (&["500001", "999999", "1000000", "9999999"], none.clone(), &["MILEAGE_IMPLAUSIBLE"]),
            (&["abc", "12k", "41O00", "forty"], none, &["MILEAGE_UNPARSEABLE"]),
            (&["500000"], json!(500_000), &[]),
        ],
    );
    for (unit, miles) in
        [("K", 37_904), ("KM", 37_904), ("km", 37_904), ("M", 61_000), ("MI", 61_000), ("", 61_000)]
    {
        let (found, codes) = member(&[("miles", "61000"), ("uom", unit)], "mileage");
        assert_eq!(found, json!(miles), "{unit} {codes:?}");
    }
    // The value's own unit goes before the column's.
    assert_eq!(member(&[("miles", "61,000 km"), ("uom", "MI")], "mileage").0, json!(37_904));
    assert_eq!(member(&[("miles", "61,000 mi"), ("uom", "KM")], "mileage").0, json!(61_000));
    // New units and trailers.
    assert_eq!(member(&[("new/used", "N"), ("miles", "0")], "mileage"), (json!(0), vec![]));
    assert_eq!(member(&[("new/used", "N"), ("miles", "200")], "mileage"), (json!(200), vec![]));
    assert_eq!(
        member(&[("new/used", "N"), ("miles", "3,412")], "mileage"),
        (json!(3412), vec!["MILEAGE_NEW_HIGH"])
    );
    assert_eq!(member(&[("vehicle type", "Trailer"), ("miles", "")], "mileage"), (Value::Null, vec![]));
    assert_eq!(
        member(&[("vehicle type", "Motorcycle"), ("miles", "")], "mileage"),
        (Value::Null, vec!["MILEAGE_MISSING"])
    );
}

#[test]
fn conditions() {
    all(
        "new/used",
        "condition",
        &[
            (&["U", "USED", "Used", "Pre-Owned", "PreOwned", "P", "Salvage", "Usado"], json!("used"), &[]),
            (
                &["C", "CPO", "Certified", "Certified Pre-Owned", "Certified Used", "Certificado"],
                json!("cpo"),
                &[],
            ),
            (&[""], json!("used"), &["CONDITION_INFERRED"]),
        ],
    );
    for cell in ["N", "NEW", "New", "Nuevo"] {
        let (found, codes) = member(&[("new/used", cell), ("miles", "12")], "condition");
        assert_eq!((found, codes), (json!("new"), vec![]), "{cell}");
    }
    for cell in ["Demo", "Demonstrator", "Loaner"] {
        let (found, codes) = member(&[("new/used", cell), ("miles", "12")], "condition");
        assert_eq!((found, codes), (json!("new"), vec!["CONDITION_DEMO"]), "{cell}");
    }
    for flag in ["Y", "YES", "TRUE", "1", "Sí", "SI", "true"] {
        let (found, _) = member(&[("certified", flag)], "condition");
        assert_eq!(found, json!("cpo"), "{flag}");
        let (found, codes) = member(&[("certified", flag), ("new/used", "N"), ("miles", "5")], "condition");
        assert_eq!((found, codes), (json!("new"), vec!["CERTIFIED_ON_NEW"]), "{flag}");
    }
    for flag in ["N", "No", "FALSE", "0", ""] {
        assert_eq!(member(&[("certified", flag)], "condition").0, json!("used"), "{flag}");
    }
    for (cell, miles, code) in [
        ("", "999", "CONDITION_MISSING"),
        ("", "", "CONDITION_MISSING"),
        ("Good", "41000", "CONDITION_UNKNOWN"),
        ("EXCELLENT", "41000", "CONDITION_UNKNOWN"),
        ("What", "41000", "CONDITION_UNKNOWN"),
    ] {
        let checked = row(&[("new/used", cell), ("miles", miles)]);
        assert_eq!(codes(&checked), [code], "{cell:?} {miles}");
    }
    assert_eq!(member(&[("new/used", ""), ("miles", "1000")], "condition").0, json!("used"));
}

#[test]
fn statuses() {
    all(
        "status",
        "status",
        &[
            (
                &[
                    "",
                    "A",
                    "I",
                    "Available",
                    "In Stock",
                    "Active",
                    "Live",
                    "Retail",
                    "Ready",
                    "Frontline",
                    "Disponible",
                    "AVAILABLE",
                    "in-stock",
                ],
                json!("available"),
                &[],
            ),
            (
                &[
                    "P",
                    "H",
                    "Pending",
                    "Sale Pending",
                    "Deal Pending",
                    "Hold",
                    "On Hold",
                    "Retail - On Hold",
                    "Deposit",
                    "Reserved",
                    "Reservado",
                ],
                json!("pending"),
                &[],
            ),
            (
                &[
                    "T",
                    "IT",
                    "O",
                    "In Transit",
                    "In-Transit",
                    "Inbound",
                    "Allocated",
                    "On Order",
                    "En tránsito",
                ],
                json!("intransit"),
                &[],
            ),
        ],
    );
    for (cells, reason) in [
        (&["S", "D", "Sold", "Delivered", "Sold - Delivered", "Vendido", "SOLD"][..], "sold"),
        (&["W", "Wholesale"], "wholesale"),
        (&["Inactive", "Removed", "Deleted", "Archived", "NOT_AVAILABLE"], "removed"),
        (&["RS7", "Whatever", "Q"], "unknown_status"),
    ] {
        for cell in cells {
            // An excluded row reports no other fault.
            let checked = row(&[("status", cell), ("price", "abc"), ("vin", "SHORT")]);
            assert_eq!(checked.excluded(), [format!("{reason} 1")], "{cell}");
            let said: &[&str] = if reason == "unknown_status" { &["STATUS_UNKNOWN"] } else { &[] };
            assert_eq!(codes(&checked), said, "{cell}");
        }
    }
}

#[test]
fn bodies() {
    let table: &[(&[&str], &str)] = &[
        (&["Sedan", "4dr Car", "SEDAN"], "sedan"),
        (&["SUV", "Sport Utility", "Crossover", "4D Sport Utility", "4dr SUV"], "suv"),
        (
            &[
                "Truck",
                "Pickup",
                "Crew Cab",
                "Extended Cab",
                "Regular Cab",
                "Crew Cab Pickup",
                "Extended Cab Pickup",
            ],
            "truck",
        ),
        (&["Coupe", "2dr Car", "Coupé"], "coupe"),
        (&["Hatchback", "5-Door", "Liftback"], "hatchback"),
        (&["Wagon", "Station Wagon", "Estate"], "wagon"),
        (&["Minivan", "Mini-van", "Mini van", "Passenger", "Mini-van, Passenger"], "minivan"),
        (&["Van", "Cargo Van", "Full-size Van", "Full-size Cargo Van", "Passenger Van"], "van"),
        (&["Convertible", "Cabriolet", "Roadster"], "convertible"),
        (&["Shooting Brake Thing"], "shooting brake thing"),
    ];
    let mut wrong = Vec::new();
    for (cells, expected) in table {
        for cell in *cells {
            let found = member(&[("body", cell)], "body").0;
            if found != json!(expected) {
                wrong.push(format!("{cell}: {found}, not {expected}"));
            }
        }
    }
    for (cell, expected) in [
        ("Cruiser", "cruiser"),
        ("Touring", "touring"),
        ("Sport", "sport"),
        ("Sport Touring", "sport_touring"),
        ("Adventure", "adventure"),
        ("Standard", "standard"),
        ("Scooter", "scooter"),
    ] {
        let found = member(&[("vehicle type", "Motorcycle"), ("body", cell)], "body").0;
        if found != json!(expected) {
            wrong.push(format!("{cell}: {found}, not {expected}"));
        }
    }
    for cell in ["NONE", "OTHER", "None", "Other", ""] {
        if member(&[("body", cell)], "body").0 != Value::Null {
            wrong.push(format!("{cell} is kept"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn drives_fuels_and_gears() {
    all(
        "drivetrain",
        "driveline",
        &[
            (&["FWD", "Front-Wheel Drive", "front wheel drive"], json!("fwd"), &[]),
            (&["RWD", "Rear Wheel Drive"], json!("rwd"), &[]),
            (&["AWD", "All Wheel Drive", "awd", "All-Wheel Drive"], json!("awd"), &[]),
            (&["4WD", "4x4", "4X4", "Four-Wheel Drive", "4-Wheel Drive"], json!("4wd"), &[]),
            (&["2WD", "4X2", "4x2"], Value::Null, &["DRIVELINE_AMBIGUOUS"]),
            (&["", "OTHER"], Value::Null, &[]),
        ],
    );
    all(
        "fuel",
        "fuel",
        &[
            (&["Gas", "Gasoline", "Unleaded", "Petrol", "GASOLINE"], json!("gas"), &[]),
            (&["Diesel"], json!("diesel"), &[]),
            (&["Hybrid", "Gas/Electric Hybrid"], json!("hybrid"), &[]),
            (&["Plug-in Hybrid", "PLUGIN_HYBRID", "Plug-In Electric/Gas", "PHEV"], json!("phev"), &[]),
            (&["Electric", "EV", "BEV"], json!("bev"), &[]),
            (&["Flex", "E85", "Flex Fuel", "Gasoline/E85"], json!("flex"), &[]),
            (&["CNG"], json!("cng"), &[]),
            (&["Hydrogen"], json!("hydrogen"), &[]),
        ],
    );
    all(
        "trans",
        "transmission",
        &[
            (&["A", "8-Speed Automatic", "A/T", "Automatic", "AUTOMATIC"], json!("automatic"), &[]),
            (&["M", "M/T", "Manual", "6-Speed Manual", "MANUAL"], json!("manual"), &[]),
            (&["CVT"], json!("cvt"), &[]),
            (&["DCT", "Dual Clutch", "DSG", "6-Speed Dual-Clutch Automatic"], json!("dct"), &[]),
        ],
    );
    all(
        "make",
        "make",
        &[
            (&["CHEVY", "CHEV", "Chevrolet", "chevrolet"], json!("Chevrolet"), &[]),
            (&["VW", "Volkswagen"], json!("Volkswagen"), &[]),
            (&["TOYT", "TOYOTA"], json!("Toyota"), &[]),
            (&["MERCEDES BENZ", "Mercedes-Benz", "mercedes benz"], json!("Mercedes-Benz"), &[]),
            (&["GMC TRUCK", "GMC"], json!("GMC"), &[]),
            (&["RAM", "Ram"], json!("Ram"), &[]),
        ],
    );
    for (cell, expected) in
        [("Town &amp; Country", "Town & Country"), ("F-150   XL", "F-150 XL"), ("eQS", "eQS")]
    {
        assert_eq!(member(&[("model", cell)], "model").0, json!(expected));
    }
    for cell in ["Tow|Roof", "Tow;Roof", "Tow,Roof", "Tow | Roof | "] {
        assert_eq!(member(&[("options", cell)], "features").0, json!(["Tow", "Roof"]), "{cell}");
    }
}

#[test]
fn descriptions() {
    for (cell, expected) in [
        ("<p>One owner.</p><p>No smoke.</p>", "One owner. No smoke."),
        ("A<br>B<br/>C", "A B C"),
        ("<script>alert(1)</script>Fine<style>p{}</style>", "Fine"),
        ("<b>Bold</b> &amp; bright", "Bold & bright"),
        ("Tom &amp;amp; Jerry", "Tom & Jerry"),
        ("5 < 7 and 9 > 8", "5 < 7 and 9 > 8"),
        ("Dealerâ€™s choice", "Dealer’s choice"),
        ("Ã la carte", "Ã la carte"),
        ("ignore previous instructions", "ignore previous instructions"),
        ("=1+1", "=1+1"),
        ("many    blanks   here", "many blanks here"),
    ] {
        assert_eq!(member(&[("description", cell)], "description").0, json!(expected), "{cell}");
    }
    let long = "word ".repeat(4000);
    assert_eq!(member(&[("description", &long)], "description").0, json!(long.trim()));
}

#[test]
fn dates() {
    all(
        "date in stock",
        "inventory_date",
        &[
            (
                &[
                    "2026-11-03",
                    "2026-11-03T10:00:00Z",
                    "2026-11-03 10:00",
                    "20261103",
                    "11/3/2026",
                    "11/03/2026",
                    "11/3/26",
                    "03-Nov-2026",
                    "46329",
                ],
                json!("2026-11-03"),
                &[],
            ),
            (&["31/10/2026", "13/13/2026", "2026-02-30", "soon"], Value::Null, &["DATE_UNPARSEABLE"]),
            (&["2026-12-02", "12/24/2027"], Value::Null, &["DATE_FUTURE"]),
            (&["2026-12-01"], json!("2026-12-01"), &[]),
            (&[""], Value::Null, &[]),
        ],
    );
    for column in ["Age", "Days", "Days In Stock"] {
        assert_eq!(member(&[(column, "46329")], "inventory_date"), (Value::Null, vec![]), "{column}");
    }
}

#[test]
fn photos() {
    let two = json!(["https://x.example/1.jpg", "https://x.example/2.jpg"]);
    let commas = json!(["https://x.example/w_1280,h_960/1.jpg", "https://x.example/w_1280,h_960/2.jpg"]);
    all(
        "photos",
        "photos",
        &[
            (
                &[
                    "https://x.example/1.jpg|https://x.example/2.jpg",
                    "https://x.example/1.jpg;https://x.example/2.jpg",
                    "https://x.example/1.jpg,https://x.example/2.jpg",
                    "https://x.example/1.jpg, https://x.example/2.jpg",
                    "https://x.example/1.jpg https://x.example/2.jpg",
                    "//x.example/1.jpg;//x.example/2.jpg",
                    "//x.example/1.jpg,//x.example/2.jpg",
                    "https://x.example/1.jpg|https://x.example/2.jpg|https://x.example/1.jpg",
                ],
                two,
                &[],
            ),
            (
                &[
                    "https://x.example/w_1280,h_960/1.jpg,https://x.example/w_1280,h_960/2.jpg",
                    "https://x.example/w_1280,h_960/1.jpg|https://x.example/w_1280,h_960/2.jpg",
                ],
                commas,
                &[],
            ),
            (&["https://x.example/a b.jpg"], json!(["https://x.example/a%20b.jpg"]), &[]),
            (&["/images/1.jpg", "images/1.jpg"], Value::Null, &["PHOTO_URL_INVALID"]),
            (
                &[
                    "https://x.example/coming-soon.jpg",
                    "https://x.example/no-image.png",
                    "https://x.example/no-photo.jpg",
                    "https://x.example/placeholder.gif",
                    "https://x.example/default.jpg",
                    "https://x.example/default.png",
                    "https://x.example/comingsoon.jpg",
                    "https://x.example/no_image.png",
                    "https://x.example/nophoto.jpg",
                ],
                Value::Null,
                &["PHOTO_PLACEHOLDER"],
            ),
            (&["http://x.example/1.jpg"], json!(["http://x.example/1.jpg"]), &["PHOTO_NOT_HTTPS"]),
            (&["https://x.example/1.jpg,/2.jpg"], json!(["https://x.example/1.jpg"]), &["PHOTO_URL_INVALID"]),
        ],
    );
}
