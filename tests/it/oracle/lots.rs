//! The lots that are asked about: the demo dealers', and random ones with everything that makes searching hard.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Map, Value, json};
use sqlx::{PgConnection, Row};
use testkit::dealer_document;

/// A lot as it is stored.
pub(crate) struct Lot {
    pub(crate) slug: String,
    pub(crate) default_limit: i64,
    pub(crate) max_limit: i64,
    pub(crate) default_sort: Value,
    /// The listing document of every unit, by `vehicle_id`.
    pub(crate) vehicles: BTreeMap<String, Value>,
    /// The different values of every member, as they are spelled.
    pub(crate) values: BTreeMap<String, Vec<Value>>,
}

/// The demo dealers and some whose lots are random.
pub(crate) fn documents(origin: &str, random: &mut StdRng) -> Value {
    let mut tenants = server::demo::document(origin)["tenants"].take();
    for tenant in tenants.as_object_mut().expect("dealers").values_mut() {
        // What they do not offer would be refused, and is tested elsewhere.
        let policy = tenant["policy"].as_object_mut().expect("a policy");
        policy.remove("search");
        policy.remove("rate_limit");
    }
    for (slug, units) in [("wild", 260), ("crowd", 90), ("few", 3), ("bare", 0)] {
        let inventory = (0..units).map(|number| unit(slug, number, random)).collect();
        let mut document = dealer_document(slug, inventory);
        document["rooftops"] = json!([{"name": "North Side"}, {"name": "Süd-Hof"}]);
        tenants[slug] = document;
    }
    tenants["crowd"]["policy"] = json!({"default_limit": 7, "max_limit": 40,
        "default_sort": {"field": "price", "order": "asc"}});
    tenants
}

/// Spellings of few values, so that units share them in different ways.
const TEXTS: [(&str, &[&str]); 11] = [
    (
        "make",
        &[
            "Citroën",
            "CITROËN",
            "Citroe\u{308}n",
            "Citroen",
            " honda",
            "Honda",
            "HONDA ",
            "Škoda",
            "škoda",
            "BMW",
            "Ķia",
            "",
        ],
    ),
    (
        "model",
        &["C4", "c4", "CR-V", "cr-v", "Cr‑V", "Élan", "e\u{301}lan", "i3", "İ3", "ß-Line", "SS-Line", "911"],
    ),
    ("trim", &["EX-L", "ex-l", "EX", "Sport", "SPORT", "Sport Plus", "  "]),
    ("body", &["suv", "SUV", "Sedan", "Coupé", "coupe", "pick-up"]),
    ("fuel", &["gas", "Gas", "bev", "BEV", "phev", "E85"]),
    ("driveline", &["awd", "AWD", " Awd", "fwd", "4x4"]),
    (
        "transmission",
        &[
            "8-speed automatic",
            "18-speed",
            "Automatic",
            "semiautomatic",
            "6-Speed Manual",
            "manual",
            "CVT",
            "Automatic/Manual",
        ],
    ),
    (
        "exterior_color",
        &[
            "Crystal Black Pearl",
            "black",
            "Blackish Green",
            "Vert foncé",
            "VERT FONCÉ",
            "Rouge",
            "red/black",
            "Sno🚗w White",
        ],
    ),
    ("interior_color", &["tan", "Tan Leather", "Titan Gray", "noir", "black-red"]),
    ("charge_port", &["nacs", "NACS", "ccs", "j1772"]),
    ("engine", &["2.0L I4", "2.0l i4", "V8", "Élan vital"]),
];
const FEATURES: [&str; 9] = [
    "Heated seats",
    "heated SEATS",
    "Tow hitch",
    "Toit panoramique",
    "TOIT PANORAMIQUE",
    "ABS",
    "abs ",
    "",
    "Änderung",
];
const WORDS: [&str; 14] = [
    "clean",
    "Clean",
    "one",
    "owner",
    "Élégante",
    "e\u{301}le\u{301}gante",
    "no-smoker",
    "A/C",
    "2.0L",
    "navi\u{a0}gation",
    "🚗",
    "STRASSE",
    "straße",
    "honda",
];

/// A unit with a random choice of members; many are missing.
fn unit(slug: &str, number: usize, random: &mut StdRng) -> Value {
    let mut unit = Map::new();
    let id = match number % 3 {
        0 => format!("{slug}-{number}"),
        1 => format!("{slug}-É{number}"),
        _ => format!("{}-{number}", slug.to_uppercase()),
    };
    unit.insert("vehicle_id".into(), id.into());
    unit.insert(
        "status".into(),
        (*["available", "available", "intransit", "pending"].choose(random).unwrap()).into(),
    );
    let mut maybe = |name: &str, value: Value, of: u32, random: &mut StdRng| {
        if random.random_ratio(of, 10) {
            unit.insert(name.into(), value);
        }
    };
    for (name, spellings) in TEXTS {
        let spelling = *spellings.choose(random).unwrap();
        maybe(name, spelling.into(), 7, random);
    }
    maybe("condition", (*["new", "used", "cpo"].choose(random).unwrap()).into(), 8, random);
    maybe(
        "vehicle_type",
        (*["car", "motorcycle", "trailer", "rv", "other"].choose(random).unwrap()).into(),
        5,
        random,
    );
    maybe("rooftop", (*["North Side", "Süd-Hof"].choose(random).unwrap()).into(), 6, random);
    maybe("stock", json!(format!("{}{}", ["S", "s", "Ş-"].choose(random).unwrap(), number / 2)), 8, random);
    maybe("vin", json!(format!("1HGCM826{:09}", number)), 6, random);
    maybe("year", json!(2015 + random.random_range(0..12)), 8, random);
    maybe("mileage", json!(random.random_range(0..9) * 10_000), 7, random);
    // Few different amounts, so that the order often rests on `vehicle_id`; and the largest there can be.
    let amounts = [0, 100, 15_000, 15_001, 29_990, 30_000, 61_250, 9_007_199_254_740_991_i64];
    for name in ["price", "list_price", "msrp"] {
        let amount = *amounts.choose(random).unwrap();
        maybe(name, json!(amount), 7, random);
    }
    maybe("displacement_cc", json!(random.random_range(0..8) * 125), 4, random);
    maybe("electric_range_mi", json!(f64::from(random.random_range(0..8)) * 62.5), 4, random);
    maybe("dc_fast_charge", json!(random.random_bool(0.5)), 4, random);
    let features: Vec<&str> =
        (0..random.random_range(0..4)).map(|_| *FEATURES.choose(random).unwrap()).collect();
    maybe("features", json!(features), 7, random);
    let words: Vec<&str> = (0..random.random_range(0..7)).map(|_| *WORDS.choose(random).unwrap()).collect();
    maybe("description", json!(words.join(" ")), 6, random);
    // The same moments in different zones.
    let stamps = [
        "2026-11-01T08:00:00Z",
        "2026-11-01T10:00:00+02:00",
        "2026-11-01T08:00:00.000001Z",
        "2026-11-02T00:00:00-08:00",
        "2024-02-29T23:59:59Z",
    ];
    maybe("updated_at", (*stamps.choose(random).unwrap()).into(), 9, random);
    unit.into()
}

/// What the database holds of every lot.
pub(crate) async fn stored(admin: &mut PgConnection) -> Vec<Lot> {
    let tenants = sqlx::query("select tenant_id, slug, policy from tenants order by slug")
        .fetch_all(&mut *admin)
        .await
        .expect("tenants");
    let mut lots = Vec::new();
    for tenant in tenants {
        let policy: Value = tenant.get("policy");
        let rows = sqlx::query("select vehicle_id, listing, price_usd, make, description, features from vehicles where tenant_id = $1")
            .bind(tenant.get::<uuid::Uuid, _>("tenant_id"))
            .fetch_all(&mut *admin)
            .await
            .expect("vehicles");
        let mut lot = Lot {
            slug: tenant.get("slug"),
            default_limit: policy["default_limit"].as_i64().unwrap_or(20),
            max_limit: policy["max_limit"].as_i64().unwrap_or(100),
            default_sort: policy
                .get("default_sort")
                .cloned()
                .unwrap_or_else(|| json!({"field": "updated_at", "order": "desc"})),
            vehicles: BTreeMap::new(),
            values: BTreeMap::new(),
        };
        let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in rows {
            let listing: Value = serde_json::from_str(row.get("listing")).expect("a document");
            // A filter must never see another value than the buyer does.
            assert_eq!(listing["price"].as_i64(), row.get("price_usd"));
            assert_eq!(listing["make"].as_str(), row.get("make"));
            let mut known = listing.as_object().expect("an object").clone();
            let description: Option<String> = row.get("description");
            known.insert("description".into(), json!(description));
            for feature in row.get::<Vec<String>, _>("features") {
                values.entry("feature".into()).or_default().insert(Value::from(feature).to_string());
            }
            for (name, value) in known {
                if value.is_string() || value.is_number() {
                    values.entry(name).or_default().insert(value.to_string());
                }
            }
            lot.vehicles.insert(row.get("vehicle_id"), listing);
        }
        let parsed = |text: &String| serde_json::from_str(text).expect("JSON");
        lot.values = values.into_iter().map(|(name, all)| (name, all.iter().map(parsed).collect())).collect();
        lots.push(lot);
    }
    lots
}
