//! Section 4: every name of every column, and the names that mean two things.

use feeds::Unit;
use serde_json::{Value, json};

use super::{check, codes, config, file, unit, vin};

/// The member of a unit that a column fills, a cell for it, what must come out, and the names.
type Column = (&'static str, &'static str, Value, &'static [&'static str]);

fn columns() -> Vec<Column> {
    vec![
        ("year", "2019", json!(2019), &["year", "Model Year", "modelyear", "YR", "Vehicle Year", "Año"]),
        ("make", "Honda", json!("Honda"), &["Make", "Make Name", "brand", "Manufacturer", "Marca"]),
        ("model", "Pilot", json!("Pilot"), &["Model", "MODEL NAME", "Mdl", "Modelo"]),
        (
            "trim",
            "XLT",
            json!("XLT"),
            &["Trim", "Trim Level", "trim_lvl", "Series", "Version", "Style", "Versión"],
        ),
        (
            "condition",
            "New",
            json!("new"),
            &[
                "Type",
                "New/Used",
                "newused",
                "N/U",
                "new_used",
                "state_of_vehicle",
                "Vehicle Condition",
                "Stock Type",
                "Inventory Type",
                "Condition",
                "Condición",
            ],
        ),
        (
            "certified",
            "Yes",
            json!("cpo"),
            &[
                "Certified",
                "Cert",
                "Cert?",
                "Is Certified",
                "CPO",
                "Certified Pre-Owned",
                "certified_pre-owned",
                "OEM Certified",
                "Certificado",
            ],
        ),
        (
            "status",
            "On Hold",
            json!("pending"),
            &[
                "Status",
                "STAT",
                "Vehicle Status",
                "Disposition",
                "availability",
                "Inventory Status",
                "Estado",
            ],
        ),
        (
            "asking_price",
            "17,450",
            json!(17_450),
            &[
                "Internet Price",
                "Internet Special Price",
                "Special Price",
                "Sale Price",
                "Web Price",
                "e-price",
                "Selling Price",
                "Price",
                "Asking Price",
                "Asking",
                "RETAIL",
                "List Price",
                "list_price",
                "Advertised Price",
                "Precio",
            ],
        ),
        ("msrp", "29,450", json!(29_450), &["MSRP", "Sticker", "vehicle_msrp", "Retail MSRP"]),
        (
            "mileage",
            "41,250",
            json!(41_250),
            &["Miles", "Mileage", "Odometer", "Odo", "mileage.value", "Millaje"],
        ),
        // Kilometres by their name: 40,000 km are 24,855 miles.
        ("mileage", "40,000", json!(24_855), &["Kms", "Kilometers", "Kilometraje"]),
        ("body", "4dr Car", json!("sedan"), &["Body", "Body Style", "Body Type", "bodystyle", "Carrocería"]),
        (
            "driveline",
            "4x4",
            json!("4wd"),
            &["Drivetrain", "Drive", "Drive Type", "Driveline", "DRV", "Wheel Drive", "Tracción"],
        ),
        (
            "transmission",
            "M/T",
            json!("manual"),
            &["Transmission", "Trans", "Trans.", "Transmission Type", "Gearbox", "Transmisión"],
        ),
        ("fuel", "Unleaded", json!("gas"), &["Fuel", "Fuel Type", "Combustible"]),
        ("engine", "2.0L I4", json!("2.0L I4"), &["Engine", "Engine Description", "ENG", "CYL/ENG"]),
        ("displacement_cc", "1998", json!(1998), &["Engine CC", "displacement cc", "CC"]),
        (
            "exterior_color",
            "Red",
            json!("Red"),
            &["Ext Color", "Exterior Color", "Color", "Colour", "Ext Clr", "Color Exterior"],
        ),
        (
            "interior_color",
            "Tan",
            json!("Tan"),
            &["Int Color", "Interior Color", "IntColor", "Int Clr", "Color Interior"],
        ),
        (
            "features",
            "Tow Hitch|Sunroof",
            json!(["Tow Hitch", "Sunroof"]),
            &["Options", "Features", "vehicle_option", "Equipment", "Installed Options"],
        ),
        (
            "photos",
            "https://x.example/1.jpg",
            json!(["https://x.example/1.jpg"]),
            &[
                "ImageList",
                "Image List",
                "Photo URLs",
                "Photo Url List",
                "Photos",
                "Images",
                "Image URLs",
                "Pic URLs",
                "Picture URLs",
                "image_link",
                "additional_image_link",
                "image[0].url",
                "image[7].url",
                "Fotos",
            ],
        ),
        (
            "vdp_url",
            "https://x.example/car/1",
            json!("https://x.example/car/1"),
            &["VDP URL", "url", "Link", "Vehicle URL", "Detail URL", "Web Link"],
        ),
        (
            "description",
            "One owner.",
            json!("One owner."),
            &[
                "Description",
                "Comments",
                "Dealer Comments",
                "Vehicle Notes",
                "WebAdDescription",
                "Seller Notes",
                "MEMO",
                "Descripción",
            ],
        ),
        (
            "inventory_date",
            "11/03/2026",
            json!("2026-11-03"),
            &[
                "Date In Stock",
                "In Stock Date",
                "DATEIN",
                "Entry Date",
                "date_first_on_lot",
                "Date Added",
                "Fecha Entrada",
            ],
        ),
        (
            "updated_at",
            "2026-11-29T23:45:00Z",
            json!("2026-11-29T23:45:00Z"),
            &["Last Update", "Modified", "updated_at", "Last Modified"],
        ),
        (
            "rooftop_key",
            "NORTH",
            json!("NORTH"),
            &[
                "Dealer ID",
                "DealerID",
                "DCID",
                "Dealer Name",
                "store_code",
                "Rooftop",
                "Location",
                "LOC",
                "Lot",
            ],
        ),
        (
            "vehicle_type",
            "Motorcycle",
            json!("motorcycle"),
            &["Vehicle Type", "Category", "Class", "Type of Vehicle"],
        ),
    ]
}

/// The column of the plain car that a member comes from, so that it stands in no one's way.
fn plain(member: &str) -> &str {
    match member {
        "condition" => "new/used",
        "mileage" => "miles",
        "asking_price" => "price",
        other => other,
    }
}

fn member(unit: &Unit, name: &str) -> Value {
    let name = if name == "certified" { "condition" } else { name };
    serde_json::to_value(unit).unwrap()[name].clone()
}

/// A car without the column that `member` usually comes from.
fn without(name: &str, column: &str, cell: &str) -> String {
    let whole = file(&[]);
    let (header, cells) = whole.trim_end().split_once('\n').unwrap();
    let kept: Vec<(&str, &str)> =
        header.split('\t').zip(cells.split('\t')).filter(|(known, _)| *known != plain(name)).collect();
    let line = |first: &str, rest: Vec<&str>| rest.into_iter().chain([first]).collect::<Vec<_>>().join("\t");
    let names = kept.iter().map(|(name, _)| *name).collect();
    let values = kept.iter().map(|(_, value)| *value).collect();
    format!("{}\n{}\n", line(column, names), line(cell, values))
}

#[test]
fn every_name_of_a_column_is_known() {
    let mut wrong = Vec::new();
    for (target, cell, expected, names) in columns() {
        for name in names {
            // As it is, in capitals, with underscores, in quotes' place of blanks.
            for spelt in
                [(*name).to_owned(), name.to_uppercase(), name.replace(' ', "_"), format!(" {name} ")]
            {
                let checked = check(&without(target, &spelt, cell), &config());
                let found = checked.units.first().map_or(Value::Null, |unit| member(unit, target));
                if found != expected {
                    wrong.push(format!(
                        "{spelt:?} gives {found}, not {target} = {expected}: {:?}",
                        codes(&checked)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_unit_is_known_by_any_name_of_its_vin_and_stock_number() {
    let one = vin(1);
    let mut wrong = Vec::new();
    for name in
        ["VIN", "vin#", "VIN No", "VIN Number", "Vehicle Identification Number", "Serial No", "Chassis"]
    {
        let checked = check(&without("vin", name, &one), &config());
        if checked.units.first().and_then(|unit| unit.vin.as_deref()) != Some(one.as_str()) {
            wrong.push(name);
        }
    }
    for name in [
        "Stock",
        "Stock #",
        "Stock No",
        "StockNumber",
        "STOCKNO",
        "Stk",
        "Stk #",
        "Stk No",
        "Inventory Number",
        "Unit Number",
        "id",
        "vehicle_id",
        "Núm. Inventario",
    ] {
        let checked = check(&without("stock", name, "A7"), &config());
        if checked.units.first().and_then(|unit| unit.stock.as_deref()) != Some("A7") {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    // An id is none where there is a stock number.
    let (unit, _) = unit(&[("vehicle_id", "M-99"), ("id", "G-7")]);
    assert_eq!(unit.stock.as_deref(), Some("S1"));
}

#[test]
fn what_the_dealer_paid_is_never_published_nor_kept() {
    for name in [
        "Cost",
        "Invoice",
        "Book Value",
        "Wholesale",
        "Unit Cost",
        "Pack",
        "Floor",
        "price_cost",
        "Dealer Cost",
        "Holdback",
    ] {
        let checked = check(&without("asking_price", name, "17450"), &config());
        let unit = serde_json::to_string(&checked.units[0]).unwrap();
        assert!(!unit.contains("17450"), "{name}: {unit}");
        assert_eq!(codes(&checked), ["PRICE_NOT_DISCLOSED"], "{name}");
    }
}

#[test]
fn of_two_columns_the_first_counts_and_the_second_fills() {
    let (both, _) = unit(&[("trim", "SE"), ("series", "XLT")]);
    assert_eq!(both.trim.as_deref(), Some("SE"));
    let (one, _) = unit(&[("trim", ""), ("series", "XLT")]);
    assert_eq!(one.trim.as_deref(), Some("XLT"));
    let (title, codes) = unit(&[("title status", "Salvage")]);
    assert_eq!(title.other_attributes["title_status"], "salvage", "{codes:?}");
}

#[test]
fn condition_is_wear_beside_a_column_that_says_new_or_used() {
    for named in ["state_of_vehicle", "New/Used", "Type"] {
        let text = without("condition", &format!("condition\t{named}"), "GOOD\tNEW");
        let checked = check(&text, &config());
        let found = checked.units.first().and_then(|unit| unit.condition.clone());
        assert_eq!(found.as_deref(), Some("new"), "{named}: {:?}", codes(&checked));
    }
}

#[test]
fn msrp_stands_in_for_no_price_and_the_price_of_the_internet_wins() {
    for (cells, asked) in [
        (&[("price", ""), ("msrp", "29000")][..], None),
        (&[("internet price", "19500"), ("price", "18000")], Some(19_500)),
        (&[("price", "18000"), ("Internet Special Price", "19500")], Some(19_500)),
        (&[("Internet Price", "Call"), ("price", "18000")], Some(18_000)),
        (&[("Internet Price", "1"), ("price", "18000")], Some(18_000)),
        (&[("Special Price", "17000"), ("price", "18000")], Some(17_000)),
        (&[("sale_price", "19000"), ("price", "18000")], Some(18_000)),
        (&[("sale_price", "0"), ("price", "18000")], Some(18_000)),
        (&[("sale_price", "17000"), ("price", "Call")], Some(17_000)),
        (&[("special price", "17000"), ("internet price", "17500"), ("price", "18000")], Some(17_500)),
    ] {
        assert_eq!(unit(cells).0.asking_price, asked, "{cells:?}");
    }
}

#[test]
fn the_main_picture_is_first_wherever_its_column_stands() {
    let (unit, _) = unit(&[
        ("additional_image_link", "https://x.example/2.jpg,https://x.example/3.jpg"),
        ("image_link", "https://x.example/1.jpg"),
    ]);
    assert_eq!(
        unit.photos,
        ["https://x.example/1.jpg", "https://x.example/2.jpg", "https://x.example/3.jpg"]
    );
    let (unit, _) = super::unit(&[
        ("image[10].url", "https://x.example/10.jpg"),
        ("image[2].url", "https://x.example/2.jpg"),
        ("image[0].url", "https://x.example/0.jpg"),
    ]);
    assert_eq!(
        unit.photos,
        ["https://x.example/0.jpg", "https://x.example/2.jpg", "https://x.example/10.jpg"]
    );
}
