//! A search: page and total in one statement, the documents as they are stored.

use anyhow::Result;
use serde_json::Value;
use sqlx::{PgPool, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use super::filter::push_where;

/// Appends the payload's `data`.
pub(super) async fn answer(pool: &PgPool, tenant: Uuid, request: &Value, out: &mut Vec<u8>) -> Result<()> {
    let null = Value::Null;
    let filters = request.get("filters").unwrap_or(&null);
    let limit = request.pointer("/pagination/limit").and_then(Value::as_i64).unwrap_or(20);
    let said =
        |key: &str| request.pointer(&format!("/sort/{key}")).and_then(Value::as_str).unwrap_or_default();
    let (field, order) = (said("field"), said("order"));
    let column = match field {
        "price" => "price_usd",
        "mileage" => "mileage_mi",
        "year" => "year",
        _ => "updated_at",
    };
    let direction = if order == "desc" { "desc" } else { "asc" };

    let mut query = QueryBuilder::<Postgres>::new("select count(*) over () as total, listing from vehicles");
    push_where(&mut query, tenant, filters)?;
    query.push(" order by ").push(column).push(" ").push(direction).push(" nulls last, vehicle_id limit ");
    query.push_bind(limit);
    let rows = query.build().fetch_all(pool).await?;

    let total: i64 = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let mut text = |part: &str| out.extend_from_slice(part.as_bytes());
    text("{\"total\":");
    text(&total.to_string());
    text(",\"limit\":");
    text(&limit.to_string());
    text(",\"next_cursor\":null,\"applied_filters\":");
    text(&filters.to_string());
    text(",\"sort\":{\"field\":\"");
    text(field);
    text("\",\"order\":\"");
    text(order);
    text("\"},\"vehicles\":[");
    for (i, row) in rows.iter().enumerate() {
        if i > 0 {
            text(",");
        }
        text(row.try_get("listing")?);
    }
    text("]}");
    Ok(())
}
