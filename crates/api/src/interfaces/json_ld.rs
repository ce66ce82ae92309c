//! Dealers and vehicles in the words of schema.org, for crawlers that know nothing of this protocol.
//!
//! Only what the protocol's own answers say; a price stands here only where the dealer advertises one.

use contract::SkillId;
use dealer::Tenant;
use serde_json::{Map, Value, json};

/// The markup that carries a description in a page. Nothing in it can end the element.
pub(crate) fn script(description: &Value) -> String {
    let mut text = String::from("<script type=\"application/ld+json\">");
    for c in description.to_string().chars() {
        match c {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\'' => text.push_str("\\u0027"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            c => text.push(c),
        }
    }
    text.push_str("</script>");
    text
}

/// A dealer as `AutoDealer`; `None` where who it is is not for everybody.
pub(crate) fn dealer(tenant: &Tenant) -> Option<Value> {
    if !tenant.access.is_public() || !tenant.skills.contains(&SkillId::DealerInformation) {
        return None;
    }
    let profile: Value = serde_json::from_slice(&tenant.information).ok()?;
    let rooftops: Vec<Value> = profile.get("rooftops")?.as_array()?.iter().map(rooftop).collect();
    let mut described = Map::new();
    // One store is the dealer; several are its departments.
    match <[Value; 1]>::try_from(rooftops) {
        Ok([Value::Object(only)]) => described = only,
        Ok(_) => {}
        Err(several) => {
            described.insert("department".into(), several.into());
        }
    }
    described.insert("@context".into(), "https://schema.org".into());
    described.insert("@type".into(), "AutoDealer".into());
    described.insert("@id".into(), format!("{}#dealer", tenant.base).into());
    described.insert("name".into(), tenant.name.as_str().into());
    described.entry("url").or_insert_with(|| tenant.base.as_str().into());
    if let Some(words) = profile.get("welcome_message") {
        described.insert("description".into(), words.clone());
    }
    Some(Value::Object(described))
}

fn rooftop(profile: &Value) -> Value {
    let mut described = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            described.insert(name.into(), value);
        }
    };
    let first = |list: &str| profile.get(list)?.get(0)?.get("value").cloned();
    add("@type", Some("AutoDealer".into()));
    add("name", profile.get("name").cloned());
    add("legalName", profile.get("legal_name").cloned());
    add("url", profile.get("website").and_then(web));
    add("telephone", first("phones"));
    add("email", first("emails"));
    add("address", profile.get("address").map(address));
    add(
        "geo",
        profile.get("geo").map(|geo| {
            json!({"@type": "GeoCoordinates",
        "latitude": geo.get("latitude"), "longitude": geo.get("longitude")})
        }),
    );
    let week = profile.get("schedules").and_then(|all| all.get(0)?.get("value"));
    let hours: Vec<_> = week.and_then(Value::as_object).into_iter().flatten().filter_map(opening).collect();
    add("openingHoursSpecification", (!hours.is_empty()).then(|| hours.into()));
    Value::Object(described)
}

/// Whether a text is an address that a browser fetches, and nothing that it runs.
pub(crate) fn is_web(address: &str) -> bool {
    let address = address.trim_start().to_ascii_lowercase();
    address.starts_with("https://") || address.starts_with("http://")
}

/// An address, or those of several that are such; `None` where nothing is left.
fn web(known: &Value) -> Option<Value> {
    match known {
        Value::String(address) => is_web(address).then(|| known.clone()),
        Value::Array(several) => {
            let several: Vec<_> = several.iter().filter_map(web).collect();
            (!several.is_empty()).then(|| several.into())
        }
        _ => None,
    }
}

fn address(known: &Value) -> Value {
    let mut described =
        json!({"@type": "PostalAddress", "addressCountry": known.get("country").unwrap_or(&json!("US"))});
    let line = |name: &str| known.get(name).and_then(Value::as_str);
    let street: Vec<_> = [line("address_line_1"), line("address_line_2")].into_iter().flatten().collect();
    let street = (!street.is_empty()).then(|| street.join(", "));
    if let Some(members) = described.as_object_mut() {
        for (name, value) in [
            ("streetAddress", street.as_deref()),
            ("addressLocality", line("city")),
            ("addressRegion", line("state")),
            ("postalCode", line("zip")),
        ] {
            members.extend(value.map(|value| (name.to_owned(), value.into())));
        }
    }
    described
}

/// One day of a week; a day that is closed has no hours to state.
fn opening((day, hours): (&String, &Value)) -> Option<Value> {
    let (opens, closes) = (hours.get("open")?, hours.get("close")?);
    let day = day.get(..1)?.to_uppercase() + day.get(1..)?;
    Some(json!({"@type": "OpeningHoursSpecification", "dayOfWeek": format!("https://schema.org/{day}"),
        "opens": opens, "closes": closes}))
}

/// What people call a vehicle.
pub(crate) fn name(vehicle: &Value) -> String {
    let part = |name: &str| match vehicle.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let parts = ["year", "make", "model", "trim"].map(part);
    let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    if name.is_empty() { format!("Vehicle {}", part("vehicle_id")) } else { name }
}

/// A vehicle of a dealer, as it stands at `url`.
pub(crate) fn vehicle(tenant: &Tenant, vehicle: &Value, url: &str) -> Value {
    let kind = match vehicle.get("vehicle_type").and_then(Value::as_str) {
        None | Some("car") => "Car",
        Some("motorcycle") => "Motorcycle",
        Some(_) => "Vehicle",
    };
    let mut described = json!({"@context": "https://schema.org", "@type": kind, "name": name(vehicle), "url": url,
        "offers": offer(tenant, vehicle, url)});
    let Some(members) = described.as_object_mut() else { return described };
    for (ours, theirs) in [
        ("vin", "vehicleIdentificationNumber"),
        ("stock", "sku"),
        ("vehicle_id", "productID"),
        ("model", "model"),
        ("trim", "vehicleConfiguration"),
        ("body", "bodyType"),
        ("transmission", "vehicleTransmission"),
        ("driveline", "driveWheelConfiguration"),
        ("fuel", "fuelType"),
        ("exterior_color", "color"),
        ("interior_color", "vehicleInteriorColor"),
        ("photos", "image"),
        ("description", "description"),
    ] {
        let known = vehicle.get(ours).filter(|value| !value.is_null());
        let known = if ours == "photos" { known.and_then(web) } else { known.cloned() };
        members.extend(known.map(|value| (theirs.to_owned(), value)));
    }
    let mut add =
        |name: &str, value: Option<Value>| members.extend(value.map(|value| (name.to_owned(), value)));
    add("vehicleModelDate", vehicle.get("year").map(|year| year.to_string().into()));
    add("brand", vehicle.get("make").map(|make| json!({"@type": "Brand", "name": make})));
    add(
        "mileageFromOdometer",
        vehicle.get("mileage").map(|miles| {
            json!({"@type": "QuantitativeValue",
        "value": miles, "unitCode": "SMI"})
        }),
    );
    add(
        "vehicleEngine",
        vehicle.get("engine").map(|engine| json!({"@type": "EngineSpecification", "name": engine})),
    );
    add("itemCondition", condition(vehicle).map(Into::into));
    described
}

fn condition(vehicle: &Value) -> Option<&'static str> {
    match vehicle.get("condition")?.as_str()? {
        "new" => Some("https://schema.org/NewCondition"),
        _ => Some("https://schema.org/UsedCondition"),
    }
}

fn offer(tenant: &Tenant, vehicle: &Value, url: &str) -> Value {
    let availability = match vehicle.get("status").and_then(Value::as_str) {
        Some("intransit") => "https://schema.org/PreOrder",
        Some("pending") => "https://schema.org/LimitedAvailability",
        _ => "https://schema.org/InStock",
    };
    let mut offer = json!({"@type": "Offer", "url": url, "availability": availability,
        "seller": {"@type": "AutoDealer", "@id": format!("{}#dealer", tenant.base), "name": tenant.name}});
    if let Some(members) = offer.as_object_mut() {
        members.extend(condition(vehicle).map(|word| ("itemCondition".to_owned(), word.into())));
        if let Some(price) = vehicle.get("price") {
            members.insert("price".into(), price.clone());
            members.insert("priceCurrency".into(), "USD".into());
        }
    }
    offer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element() {
        let text = script(&json!({"name": "</script><!-- \u{2028} & <b>"}));
        let inner = text.strip_prefix("<script type=\"application/ld+json\">").unwrap();
        let inner = inner.strip_suffix("</script>").unwrap();
        assert!(!inner.contains(['<', '>', '&', '\u{2028}']), "{inner}");
        assert_eq!(serde_json::from_str::<Value>(inner).unwrap()["name"], "</script><!-- \u{2028} & <b>");
    }
}
