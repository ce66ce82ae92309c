//! Filters as conditions of a statement.

use anyhow::{Context, Result, bail};
use contract::payload::Filters;
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

/// Adds `where …` for a tenant's units that match.
///
/// Only what the benchmark asks: another filter is an error, so that nothing is left out in silence.
pub(super) fn push_where(
    query: &mut QueryBuilder<Postgres>,
    tenant: Uuid,
    filters: &serde_json::Value,
) -> Result<()> {
    query.push(" where tenant_id = ").push_bind(tenant);
    let Some(given) = filters.as_object() else { return Ok(()) };
    // Read with the product's own types, as every implementation in Rust would.
    let typed: Filters = serde::Deserialize::deserialize(filters)?;
    for name in given.keys() {
        let (column, values) = match name.as_str() {
            "make" => ("make", &typed.make),
            "model" => ("model", &typed.model),
            "trim" => ("trim", &typed.trim),
            "condition" => ("condition", &typed.condition),
            "body" => ("body", &typed.body),
            "fuel" => ("fuel", &typed.fuel),
            "driveline" => ("driveline", &typed.driveline),
            "exterior_color" => ("exterior_color", &typed.exterior_color),
            "features" => {
                query.push(" and features @> ").push_bind(typed.features.clone());
                continue;
            }
            "year_min" => {
                let year = i32::try_from(typed.year_min.context("a year")?)?;
                query.push(" and year >= ").push_bind(year);
                continue;
            }
            "price_max" => {
                query.push(" and price_usd <= ").push_bind(typed.price_max);
                continue;
            }
            "mileage_max" => {
                query.push(" and mileage_mi <= ").push_bind(typed.mileage_max);
                continue;
            }
            other => bail!("the filter {other} is not known here"),
        };
        query.push(" and ").push(column);
        match values.as_slice() {
            [one] => query.push(" = ").push_bind(one.clone()),
            many => query.push(" = any(").push_bind(many.to_vec()).push(")"),
        };
    }
    Ok(())
}
