//! Who the demo dealers are. Names are invented, domains end in `.example`, phone numbers are of the fictional
//! range 555-01xx.

use serde_json::json;

use super::catalog::Kind;
use super::dealers::{Charges, Dealer, Rooftop, address, contacts, fee, holidays, hours, lot, schedule};

const TRADES: &[&str] = &[
    "Honda",
    "Ford",
    "Chevrolet",
    "Hyundai",
    "Kia",
    "Subaru",
    "Mazda",
    "Volkswagen",
    "Nissan",
    "Jeep",
    "GMC",
    "Ram",
    "Chrysler",
    "Dodge",
    "Tesla",
    "Lexus",
    "Acura",
];
const TRUCKS: &[&str] = &["Ford", "Chevrolet", "GMC", "Ram", "Jeep", "Toyota", "Nissan", "Subaru"];
const EVERYDAY: &[&str] = &[
    "Toyota",
    "Honda",
    "Hyundai",
    "Kia",
    "Chevrolet",
    "Nissan",
    "Mazda",
    "Subaru",
    "Volkswagen",
    "Chrysler",
    "Jeep",
];
const PREMIUM: &[&str] =
    &["BMW", "Audi", "Mercedes-Benz", "Volvo", "Lexus", "Porsche", "Tesla", "Acura", "Lincoln"];

/// The three of them.
pub(super) fn dealers() -> Vec<Dealer> {
    vec![brindlewood(), ironfern(), northmere()]
}

fn brindlewood() -> Dealer {
    Dealer {
        slug: "brindlewood",
        name: "Brindlewood Toyota",
        welcome: "Welcome to Brindlewood Toyota. Ask about anything on the lot; prices include our fees.",
        code: "bw",
        website: "https://www.brindlewood.example",
        seed: 0x0b21_4d1e_0001,
        policy: json!({"default_limit": 20, "max_limit": 100, "appointments": "auto"}),
        rooftops: vec![Rooftop {
            name: "Brindlewood Toyota",
            letter: 'B',
            profile: json!({
                "legal_name": "Brindlewood Motor Company, LLC",
                "geo": {"latitude": 43.6046, "longitude": -116.2835},
                "emails": contacts([("Sales", "sales@brindlewood.example"), ("Service", "service@brindlewood.example")]),
                "phones": contacts([("Sales", "+12085550131"), ("Service", "+12085550132")]),
                "address": address("ID", "Boise", "4410 Brindlewood Loop", "83704"),
                "schedules": [
                    schedule("sales", ("08:30", "20:00"), Some(("09:00", "19:00")), Some(("11:00", "17:00"))),
                    schedule("service", ("07:00", "18:00"), Some(("08:00", "16:00")), None),
                ],
                "timezone": "America/Boise",
                "capabilities": ["sales", "service", "parts", "financing", "trade_in", "delivery"],
                "holidays": holidays(true),
            }),
            charges: Charges {
                always: vec![fee("Documentation fee", 195)],
                on_new: vec![fee("Door edge guards and window tint", 399)],
                published: true,
            },
            lots: vec![
                lot(238, "new", Kind::Car, &["Toyota"]),
                lot(66, "cpo", Kind::Car, &["Toyota"]),
                lot(42, "used", Kind::Car, &["Toyota"]),
                lot(58, "used", Kind::Car, TRADES),
            ],
            sold: 14,
        }],
    }
}

fn ironfern() -> Dealer {
    Dealer {
        slug: "ironfern",
        name: "Ironfern Powersports",
        welcome: "Two wheels, trailers to carry them, and people who ride. Electric bikes are charged for a demo ride.",
        code: "if",
        website: "https://www.ironfern.example",
        seed: 0x1207_fe12_0002,
        // A small shop whose catalogue knows nothing of interiors, drivelines or fast charging.
        policy: json!({
            "default_limit": 25,
            "appointments": "manual",
            "follow_up_channels": ["phone", "email"],
            "search": {
                "filters": [
                    "make", "model", "trim", "condition", "vehicle_type", "year_min", "year_max", "price_min",
                    "price_max", "mileage_max", "transmission", "fuel", "body", "exterior_color",
                    "displacement_cc_min", "displacement_cc_max", "electric_range_mi_min",
                    "electric_range_mi_max", "charge_port", "features", "vin", "stock", "query", "status",
                ],
                "sort_fields": ["price", "mileage", "year", "make", "model", "updated_at"],
            },
        }),
        rooftops: vec![Rooftop {
            name: "Ironfern Powersports",
            letter: 'F',
            profile: json!({
                "geo": {"latitude": 35.5629, "longitude": -82.5124},
                "emails": contacts([("Showroom", "hello@ironfern.example")]),
                "phones": contacts([("Showroom", "+18285550144")]),
                "address": address("NC", "Asheville", "77 Ironfern Mill Road", "28805"),
                "schedules": [
                    json!({"name": "sales", "value": {
                        "monday": null, "tuesday": hours("10:00", "18:00"), "wednesday": hours("10:00", "18:00"),
                        "thursday": hours("10:00", "18:00"), "friday": hours("10:00", "19:00"),
                        "saturday": hours("09:00", "17:00"), "sunday": null,
                    }}),
                    json!({"name": "service", "value": {
                        "monday": null, "tuesday": hours("09:00", "17:00"), "wednesday": hours("09:00", "17:00"),
                        "thursday": hours("09:00", "17:00"), "friday": hours("09:00", "17:00"),
                        "saturday": hours("09:00", "13:00"), "sunday": null,
                    }}),
                ],
                "timezone": "America/New_York",
                "notes": "Closed on Mondays. Demo rides need a motorcycle licence and a helmet.",
                "capabilities": ["sales", "motorcycle_sales", "powersports", "service", "parts", "trade_in"],
                "holidays": holidays(false),
            }),
            charges: Charges {
                always: vec![fee("Documentation fee", 99)],
                on_new: vec![fee("Freight and assembly", 545)],
                published: true,
            },
            lots: vec![
                lot(58, "new", Kind::Motorcycle, &["Honda", "Yamaha", "Kawasaki"]),
                lot(16, "new", Kind::Motorcycle, &["Zero"]),
                lot(
                    47,
                    "used",
                    Kind::Motorcycle,
                    &[
                        "Honda",
                        "Yamaha",
                        "Kawasaki",
                        "Zero",
                        "BMW",
                        "Harley-Davidson",
                        "Indian",
                        "Triumph",
                        "Ducati",
                        "Suzuki",
                        "Vespa",
                    ],
                ),
                lot(
                    26,
                    "new",
                    Kind::Trailer,
                    &["Big Tex", "Load Trail", "Wells Cargo", "Featherlite", "Aluma"],
                ),
                lot(6, "used", Kind::Trailer, &["Big Tex", "Load Trail", "Wells Cargo", "Aluma"]),
            ],
            sold: 6,
        }],
    }
}

fn northmere() -> Dealer {
    Dealer {
        slug: "northmere",
        name: "Northmere Auto Group",
        welcome: "Four stores, one lot: tell us what you need and we will say where it stands.",
        code: "nm",
        website: "https://www.northmere.example",
        seed: 0x4027_433e_0003,
        policy: json!({"default_limit": 20, "max_limit": 100, "appointments": "auto", "appointment_slot_minutes": 45}),
        rooftops: vec![spokane(), missoula(), fargo(), phoenix()],
    }
}

fn spokane() -> Rooftop {
    Rooftop {
        name: "Northmere Honda Acura",
        letter: 'H',
        profile: json!({
            "legal_name": "Northmere Spokane, Inc.",
            "geo": {"latitude": 47.6580, "longitude": -117.2353},
            "emails": contacts([("Sales", "honda@northmere.example"), ("Service", "honda-service@northmere.example")]),
            "phones": contacts([("Sales", "+15095550151"), ("Service", "+15095550152")]),
            "address": address("WA", "Spokane Valley", "12120 E Larchmere Avenue", "99206"),
            "schedules": [
                schedule("sales", ("09:00", "20:00"), Some(("09:00", "19:00")), Some(("10:00", "18:00"))),
                schedule("service", ("07:30", "18:00"), Some(("08:00", "17:00")), None),
            ],
            "timezone": "America/Los_Angeles",
            "capabilities": ["sales", "service", "parts", "financing", "trade_in"],
            "holidays": holidays(true),
        }),
        charges: Charges { always: vec![fee("Documentation fee", 200)], on_new: Vec::new(), published: true },
        lots: vec![
            lot(232, "new", Kind::Car, &["Honda"]),
            lot(48, "new", Kind::Car, &["Acura"]),
            lot(64, "cpo", Kind::Car, &["Honda", "Acura"]),
            lot(82, "used", Kind::Car, EVERYDAY),
        ],
        sold: 12,
    }
}

fn missoula() -> Rooftop {
    Rooftop {
        name: "Northmere Ford Lincoln",
        letter: 'F',
        profile: json!({
            "legal_name": "Northmere Missoula, Inc.",
            "geo": {"latitude": 46.8787, "longitude": -114.0194},
            "emails": contacts([("Sales", "ford@northmere.example"), ("Parts", "ford-parts@northmere.example")]),
            "phones": contacts([("Sales", "+14065550161"), ("Service", "+14065550162")]),
            "address": address("MT", "Missoula", "3300 Bitterstone Street", "59801"),
            "schedules": [
                schedule("sales", ("08:00", "18:30"), Some(("08:30", "17:30")), None),
                schedule("service", ("07:00", "17:30"), None, None),
            ],
            "timezone": "America/Denver",
            "notes": "The service department is closed at weekends.",
            "capabilities": ["sales", "service", "parts", "financing", "trade_in", "delivery"],
            "holidays": holidays(false),
        }),
        charges: Charges {
            always: vec![fee("Documentation fee", 299)],
            on_new: vec![fee("Spray-in bed liner or all-weather mats", 450)],
            published: true,
        },
        lots: vec![
            lot(190, "new", Kind::Car, &["Ford"]),
            lot(16, "new", Kind::Car, &["Lincoln"]),
            lot(40, "cpo", Kind::Car, &["Ford", "Lincoln"]),
            lot(108, "used", Kind::Car, TRUCKS),
        ],
        sold: 11,
    }
}

fn fargo() -> Rooftop {
    Rooftop {
        name: "Northmere Hyundai Kia",
        letter: 'K',
        profile: json!({
            "legal_name": "Northmere Fargo, Inc.",
            "geo": {"latitude": 46.8548, "longitude": -96.8537},
            "emails": contacts([("Sales", "fargo@northmere.example")]),
            "phones": contacts([("Sales", "+17015550171")]),
            "address": address("ND", "Fargo", "5501 Redwing Parkway", "58104"),
            "schedules": [
                schedule("sales", ("09:00", "19:00"), Some(("09:00", "17:00")), None),
                schedule("service", ("07:30", "17:30"), Some(("08:00", "12:00")), None),
            ],
            "timezone": "America/Chicago",
            "capabilities": ["sales", "service", "financing", "trade_in"],
            "holidays": holidays(false),
        }),
        // This store gives no breakdown: its prices include the charges, its listings have no `fees`.
        charges: Charges {
            always: vec![fee("Documentation fee", 349)],
            on_new: Vec::new(),
            published: false,
        },
        lots: vec![
            lot(128, "new", Kind::Car, &["Hyundai"]),
            lot(112, "new", Kind::Car, &["Kia"]),
            lot(52, "cpo", Kind::Car, &["Hyundai", "Kia"]),
            lot(84, "used", Kind::Car, EVERYDAY),
        ],
        sold: 10,
    }
}

fn phoenix() -> Rooftop {
    Rooftop {
        name: "Northmere Premium",
        letter: 'P',
        profile: json!({
            "legal_name": "Northmere Arizona, LLC",
            "geo": {"latitude": 33.6389, "longitude": -111.9245},
            "emails": contacts([("Concierge", "premium@northmere.example")]),
            "phones": contacts([("Sales", "+14805550181"), ("Service", "+14805550182")]),
            "address": address("AZ", "Scottsdale", "18250 N Palo Ventana Drive", "85255"),
            "schedules": [
                schedule("sales", ("09:00", "19:00"), Some(("09:00", "18:00")), Some(("11:00", "16:00"))),
                schedule("service", ("07:00", "18:00"), Some(("08:00", "15:00")), None),
            ],
            "timezone": "America/Phoenix",
            "capabilities": ["sales", "service", "parts", "financing", "trade_in", "delivery"],
            "holidays": holidays(true),
        }),
        // As in Spokane: one file has the lots of both.
        charges: Charges { always: vec![fee("Documentation fee", 200)], on_new: Vec::new(), published: true },
        lots: vec![
            lot(52, "new", Kind::Car, &["BMW"]),
            lot(42, "new", Kind::Car, &["Audi"]),
            lot(38, "new", Kind::Car, &["Mercedes-Benz"]),
            lot(34, "new", Kind::Car, &["Volvo"]),
            lot(108, "cpo", Kind::Car, &["BMW", "Audi", "Mercedes-Benz", "Volvo"]),
            lot(72, "used", Kind::Car, PREMIUM),
        ],
        sold: 9,
    }
}
