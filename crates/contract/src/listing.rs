//! One unit of a lot as it is stored and searched: typed columns beside the rendered document.
//!
//! Columns and document come from one function, [`Listing::from_vehicle`], so that a filter can never see
//! another value than the buyer does.

use chrono::{DateTime, Utc};
use serde_json::{Map, Number, Value};

use crate::canonical;

/// Raised when the rendering changes, so that stored documents are made anew.
pub const RENDER_VERSION: i16 = 1;

/// What search, facets and sort know of a unit, plus its documents. Texts are as published; comparing folds them.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The dealer's own id of the unit; unique within the dealer.
    pub vehicle_id: String,
    /// 17 characters, if a VIN exists.
    pub vin: Option<String>,
    /// Stock number.
    pub stock: Option<String>,
    /// `available`, `intransit` or `pending`.
    pub status: String,
    /// `new`, `used` or `cpo`.
    pub condition: Option<String>,
    /// `car` where the source names none.
    pub vehicle_type: String,
    /// Name of the rooftop that holds the unit.
    pub rooftop: Option<String>,
    /// Model year.
    pub year: Option<i32>,
    /// Make.
    pub make: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Trim.
    pub trim: Option<String>,
    /// Body style.
    pub body: Option<String>,
    /// Fuel.
    pub fuel: Option<String>,
    /// Drivetrain layout.
    pub driveline: Option<String>,
    /// Transmission.
    pub transmission: Option<String>,
    /// Engine description.
    pub engine: Option<String>,
    /// Exterior color.
    pub exterior_color: Option<String>,
    /// Interior color.
    pub interior_color: Option<String>,
    /// Charge connector.
    pub charge_port: Option<String>,
    /// DC fast charging.
    pub dc_fast_charge: Option<bool>,
    /// The advertised price, whole US dollars.
    pub price: Option<i64>,
    /// The base price, whole US dollars.
    pub list_price: Option<i64>,
    /// The sticker price, whole US dollars.
    pub msrp: Option<i64>,
    /// Miles.
    pub mileage: Option<i64>,
    /// Cubic centimetres.
    pub displacement_cc: Option<i64>,
    /// Miles; may have a fraction.
    pub electric_range_mi: Option<f64>,
    /// Equipment, in order.
    pub features: Vec<String>,
    /// Marketing text; searched by `query`.
    pub description: Option<String>,
    /// Last change of availability, price, fees or status.
    pub updated_at: DateTime<Utc>,
    /// The document of search results: the whole vehicle without its `description`.
    pub listing: String,
    /// The document of the detail answer where it differs from `listing`.
    pub detail: Option<String>,
    /// SHA-256 of the canonical document without `updated_at` when that was filled in by us.
    pub content_hash: [u8; 32],
}

impl Listing {
    /// Renders a vehicle that already satisfies the listing schema.
    ///
    /// `dealer_id` and `now` fill what the source leaves out (`dealer_id`, `updated_at`); `vehicle_id` falls back
    /// to the VIN, then the stock number; blank ones do not count. Returns `None` when the unit has no identifier at all.
    pub fn from_vehicle(
        vehicle: &Map<String, Value>,
        dealer_id: &str,
        now: DateTime<Utc>,
    ) -> Option<Listing> {
        let text = |key: &str| vehicle.get(key).and_then(Value::as_str).map(str::to_owned);
        let whole = |key: &str| vehicle.get(key).and_then(integral);
        let (vehicle_id, _) = unit_id(vehicle)?;
        let given_updated_at = text("updated_at").and_then(|t| DateTime::parse_from_rfc3339(&t).ok());

        let mut document = integers_restored(vehicle);
        document.insert("vehicle_id".into(), vehicle_id.clone().into());
        document.entry("dealer_id").or_insert_with(|| dealer_id.into());
        let content_hash = canonical::hash(&Value::Object(document.clone()));
        let updated_at = given_updated_at.map_or(now, |t| t.with_timezone(&Utc));
        if given_updated_at.is_none() {
            let stamp = updated_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
            document.insert("updated_at".into(), stamp.into());
        }
        let (listing, detail) = render(&document);

        Some(Listing {
            vin: text("vin"),
            stock: text("stock"),
            status: text("status").unwrap_or_else(|| "available".into()),
            condition: text("condition"),
            vehicle_type: text("vehicle_type").unwrap_or_else(|| "car".into()),
            rooftop: text("rooftop"),
            year: whole("year").and_then(|y| i32::try_from(y).ok()),
            make: text("make"),
            model: text("model"),
            trim: text("trim"),
            body: text("body"),
            fuel: text("fuel"),
            driveline: text("driveline"),
            transmission: text("transmission"),
            engine: text("engine"),
            exterior_color: text("exterior_color"),
            interior_color: text("interior_color"),
            charge_port: text("charge_port"),
            dc_fast_charge: vehicle.get("dc_fast_charge").and_then(Value::as_bool),
            price: whole("price"),
            list_price: whole("list_price"),
            msrp: whole("msrp"),
            mileage: whole("mileage"),
            displacement_cc: whole("displacement_cc"),
            electric_range_mi: vehicle.get("electric_range_mi").and_then(Value::as_f64),
            features: vehicle
                .get("features")
                .and_then(Value::as_array)
                .map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default(),
            description: text("description"),
            updated_at,
            listing,
            detail,
            content_hash,
            vehicle_id,
        })
    }
}

/// The id of a unit within its lot, and the member that it comes from: the dealer's own `vehicle_id`, else one
/// made from the `vin`, else from the `stock` number. Blank ones do not count; `None` where no other is there.
pub fn unit_id(vehicle: &Map<String, Value>) -> Option<(String, &'static str)> {
    let stated = |key: &str| vehicle.get(key).and_then(Value::as_str).filter(|id| !id.trim().is_empty());
    let own = stated("vehicle_id").map(|id| (id.to_owned(), "vehicle_id"));
    let by_vin = || stated("vin").map(|vin| (format!("vin-{vin}"), "vin"));
    own.or_else(by_vin).or_else(|| stated("stock").map(|stock| (format!("stock-{stock}"), "stock")))
}

/// Members in the order in which a reader wants them; the rest follows by name.
const ORDER: [&str; 20] = [
    "vehicle_id",
    "vin",
    "stock",
    "dealer_id",
    "rooftop",
    "vehicle_type",
    "year",
    "make",
    "model",
    "trim",
    "condition",
    "status",
    "msrp",
    "list_price",
    "price",
    "fees",
    "mileage",
    "body",
    "exterior_color",
    "updated_at",
];

fn render(document: &Map<String, Value>) -> (String, Option<String>) {
    let write = |skip: Option<&str>| {
        let mut out = String::with_capacity(768);
        out.push('{');
        let first = ORDER.iter().filter_map(|key| document.get_key_value(*key));
        let rest = document.iter().filter(|(key, _)| !ORDER.contains(&key.as_str()));
        for (key, value) in first.chain(rest).filter(|(key, _)| skip != Some(key.as_str())) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push(':');
            out.push_str(&value.to_string());
        }
        out.push('}');
        out
    };
    if document.contains_key("description") {
        (write(Some("description")), Some(write(None)))
    } else {
        (write(None), None)
    }
}

/// The whole number that a JSON value states, also when it is spelled with a fraction or exponent.
pub fn integral(value: &Value) -> Option<i64> {
    if let Some(n) = value.as_i64() {
        return Some(n);
    }
    if let Some(n) = value.as_u64() {
        return Some(i64::try_from(n).unwrap_or(i64::MAX));
    }
    let n = value.as_f64()?;
    if !n.is_finite() || n.fract() != 0.0 {
        return None;
    }
    // Saturating on purpose: a bound beyond every stored value means the same as the largest one.
    #[expect(clippy::cast_possible_truncation, reason = "float casts saturate, which is what is wanted")]
    Some(n as i64)
}

/// A copy in which every whole number up to 2^53 is spelled as one: `35000.0` becomes `35000`.
pub fn integers_restored(map: &Map<String, Value>) -> Map<String, Value> {
    map.iter().map(|(key, value)| (key.clone(), integer_restored(value))).collect()
}

/// One value of such a map.
pub fn integer_restored(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => match n.as_f64() {
            Some(f) if f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
                Value::Number(Number::from(f as i64))
            }
            _ => value.clone(),
        },
        Value::Array(items) => Value::Array(items.iter().map(integer_restored).collect()),
        Value::Object(map) => Value::Object(integers_restored(map)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn listing(vehicle: Value) -> Listing {
        let now = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().with_timezone(&Utc);
        Listing::from_vehicle(vehicle.as_object().unwrap(), "harbor", now).unwrap()
    }

    #[test]
    fn document_and_columns_agree_and_whole_numbers_are_spelled_whole() {
        let unit =
            listing(json!({"vehicle_id": "a", "status": "available", "price": 32995.0, "battery_kwh": 10.5}));
        assert_eq!(unit.price, Some(32995));
        assert!(unit.listing.contains("\"price\":32995,"), "{}", unit.listing);
        assert!(unit.listing.contains("10.5"));
        assert_eq!(unit.vehicle_type, "car");
        assert!(unit.detail.is_none());
    }

    #[test]
    fn the_description_is_only_in_the_detail() {
        let unit = listing(json!({"vehicle_id": "a", "status": "available", "description": "Long words"}));
        assert!(!unit.listing.contains("Long words"));
        assert!(unit.detail.unwrap().contains("Long words"));
    }

    #[test]
    fn a_stamp_of_ours_does_not_change_the_hash() {
        let vehicle = json!({"stock": "1", "status": "available"});
        let later = DateTime::parse_from_rfc3339("2027-01-01T00:00:00Z").unwrap().with_timezone(&Utc);
        let again = Listing::from_vehicle(vehicle.as_object().unwrap(), "harbor", later).unwrap();
        let first = listing(vehicle);
        assert_eq!(first.content_hash, again.content_hash);
        assert_eq!(first.vehicle_id, "stock-1");
        assert_ne!(first.listing, again.listing);
    }

    #[test]
    fn the_hash_follows_the_content_and_not_its_spelling() {
        let base = json!({"vehicle_id": "a", "status": "available", "price": 100, "updated_at": "2026-11-30T09:00:00Z"});
        let hash = |key: &str, value: Value| {
            let mut vehicle = base.clone();
            vehicle[key] = value;
            listing(vehicle).content_hash
        };
        let first = listing(base.clone()).content_hash;
        assert_eq!(hash("price", json!(100.0)), first);
        for (key, value) in [
            ("price", json!(101)),
            ("updated_at", json!("2026-11-30T09:00:01Z")),
            ("description", json!("x")),
            ("dealer_id", json!("other")),
            ("anything_else", json!(null)),
        ] {
            assert_ne!(hash(key, value), first, "{key}");
        }
    }

    #[test]
    fn what_the_source_leaves_out_is_filled_in_and_what_it_says_stays() {
        let unit = listing(json!({"vin": "4S4BTGUD5R3217409", "stock": "7", "status": "pending"}));
        assert_eq!(unit.vehicle_id, "vin-4S4BTGUD5R3217409");
        let document: Value = serde_json::from_str(&unit.listing).unwrap();
        assert_eq!(document["dealer_id"], "harbor");
        assert_eq!(document["updated_at"], "2026-11-30T12:00:00Z");
        assert_eq!(document["vehicle_id"], "vin-4S4BTGUD5R3217409");

        let stamp = "2026-11-29T23:59:59.25-08:00";
        let unit =
            listing(json!({"vehicle_id": "b", "dealer_id": "own", "updated_at": stamp, "rooftop": null}));
        let document: Value = serde_json::from_str(&unit.listing).unwrap();
        assert_eq!(
            (document["dealer_id"].as_str(), document["updated_at"].as_str()),
            (Some("own"), Some(stamp))
        );
        assert_eq!(unit.updated_at.to_rfc3339(), "2026-11-30T07:59:59.250+00:00");
        assert_eq!(unit.rooftop, None);
    }

    #[test]
    fn a_unit_without_any_identifier_is_no_listing() {
        let now = Utc::now();
        let made = |vehicle: Value| Listing::from_vehicle(vehicle.as_object().unwrap(), "harbor", now);
        assert_eq!(made(json!({"status": "available"})), None);
        assert_eq!(made(json!({"status": "available", "stock": "", "vehicle_id": " "})), None);
        assert!(
            made(json!({"stock": "7", "vehicle_id": ""})).is_some_and(|unit| unit.vehicle_id == "stock-7")
        );
    }

    #[test]
    fn whole_numbers_are_known_in_every_spelling() {
        for (value, whole) in [
            (json!(7), Some(7)),
            (json!(7.0), Some(7)),
            (json!(-7.0), Some(-7)),
            (json!(7.5), None),
            (json!("7"), None),
            (Value::Null, None),
            (json!(1e30), Some(i64::MAX)),
            (json!(-1e30), Some(i64::MIN)),
            (json!(u64::MAX), Some(i64::MAX)),
        ] {
            assert_eq!(integral(&value), whole, "{value}");
        }
        let nested = json!({"a": [1.0, {"b": 2.0}, 2.5, 1e30]});
        let restored = Value::Object(integers_restored(nested.as_object().unwrap()));
        assert_eq!(restored, json!({"a": [1, {"b": 2}, 2.5, 1e30]}));
    }
}
