//! Facets: all of them in one statement by grouping sets.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use super::filter::push_where;

/// Members of the answer and the columns they count.
const COUNTED: [(&str, &str); 16] = [
    ("makes", "make"),
    ("models", "model"),
    ("trims", "trim"),
    ("years", "year"),
    ("conditions", "condition"),
    ("transmissions", "transmission"),
    ("fuels", "fuel"),
    ("drivelines", "driveline"),
    ("bodies", "body"),
    ("vehicle_types", "vehicle_type"),
    ("exterior_colors", "exterior_color"),
    ("interior_colors", "interior_color"),
    ("rooftops", "rooftop"),
    ("statuses", "status"),
    ("charge_ports", "charge_port"),
    ("dc_fast_charge", "dc_fast_charge"),
];

const RANGES: [(&str, &str); 5] = [
    ("price_range", "price_usd"),
    ("mileage_range", "mileage_mi"),
    ("year_range", "year"),
    ("displacement_cc_range", "displacement_cc"),
    ("electric_range_mi_range", "electric_range_mi"),
];

/// Appends the payload's `data`.
pub(super) async fn answer(pool: &PgPool, tenant: Uuid, request: &Value, out: &mut Vec<u8>) -> Result<()> {
    let columns = COUNTED.map(|(_, column)| column).join(", ");
    let values = COUNTED.map(|(_, column)| format!("{column}::text")).join(", ");
    let sets = COUNTED.map(|(_, column)| format!("({column})")).join(", ");
    // The extremes are computed per group and wanted of the whole alone; PostgreSQL has no way to say that.
    let extremes =
        RANGES.map(|(_, column)| format!("min({column})::float8, max({column})::float8")).join(", ");
    let mut query = QueryBuilder::<Postgres>::new("select grouping(");
    query.push(&columns).push("), array[").push(values).push("], count(*), array[").push(extremes);
    query.push("] from vehicles");
    push_where(&mut query, tenant, request.get("filters").unwrap_or(&Value::Null))?;
    query.push(" group by grouping sets (").push(sets).push(", ())");
    let rows = query.build().fetch_all(pool).await?;
    serde_json::to_writer(out, &collect(&rows)?)?;
    Ok(())
}

fn collect(rows: &[PgRow]) -> Result<BTreeMap<&'static str, Value>> {
    let mut counts: BTreeMap<&'static str, Vec<(i64, String)>> = BTreeMap::new();
    let mut facets = BTreeMap::new();
    for row in rows {
        let grouping: i32 = row.try_get(0)?;
        // A bit is zero where the row is grouped by its column; the first column has the highest bit.
        let grouped = COUNTED.iter().enumerate().find(|(place, _)| grouping >> (15 - place) & 1 == 0);
        let Some((place, (name, _))) = grouped else {
            facets.extend(ranges(row)?);
            continue;
        };
        let values: Vec<Option<String>> = row.try_get(1)?;
        if let Some(value) = values.get(place).cloned().flatten() {
            counts.entry(name).or_default().push((row.try_get(2)?, value));
        }
    }
    for (name, mut terms) in counts {
        terms.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let term = |(count, value): (i64, String)| match name {
            "years" => json!({"value": value.parse::<i64>().unwrap_or(0), "count": count}),
            _ => json!({"value": value, "count": count}),
        };
        facets.insert(name, terms.into_iter().map(term).collect());
    }
    Ok(facets)
}

fn ranges(row: &PgRow) -> Result<Vec<(&'static str, Value)>> {
    let extremes: Vec<Option<f64>> = row.try_get(3)?;
    let pairs = RANGES.iter().zip(extremes.chunks(2));
    let range = |((name, _), ends): (&(&'static str, &str), &[Option<f64>])| {
        let (Some(Some(low)), Some(Some(high))) = (ends.first(), ends.get(1)) else { return None };
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53")]
        let whole = |number: &f64| if number.fract() == 0.0 { json!(*number as i64) } else { json!(number) };
        Some((*name, json!({"min": whole(low), "max": whole(high)})))
    };
    Ok(pairs.filter_map(range).collect())
}

/// The one document of a unit that has this VIN.
pub(super) async fn vehicle(pool: &PgPool, tenant: Uuid, request: &Value, out: &mut Vec<u8>) -> Result<()> {
    let vin = request.get("vin").and_then(Value::as_str).context("a VIN")?;
    let document: String = sqlx::query_scalar(
        "select coalesce(detail, listing) from vehicles where tenant_id = $1 and vin = $2 limit 1",
    )
    .bind(tenant)
    .bind(vin)
    .fetch_optional(pool)
    .await?
    .context("no such unit")?;
    out.extend_from_slice(document.as_bytes());
    Ok(())
}
