//! The other design: every request answered by SQL on the same tables, through the same door. No more than what a
//! good plain implementation does, and no less: prepared statements, the right indexes, documents rendered before.
//!
//! It is spared what the product does beyond that: schema checks, signed cursors, folding of case, limits, metrics.

mod door;
mod facets;
mod filter;
mod search;

use anyhow::Result;
use sqlx::PgPool;

pub(crate) use door::serve;

/// The indexes that searches by SQL want; the product needs none of them.
const INDEXES: [&str; 8] = [
    "create index if not exists bench_make on vehicles (tenant_id, make, price_usd)",
    "create index if not exists bench_model on vehicles (tenant_id, model, price_usd)",
    "create index if not exists bench_body on vehicles (tenant_id, body, price_usd)",
    "create index if not exists bench_price on vehicles (tenant_id, price_usd, vehicle_id)",
    "create index if not exists bench_mileage on vehicles (tenant_id, mileage_mi, vehicle_id)",
    "create index if not exists bench_year on vehicles (tenant_id, year)",
    "create index if not exists bench_updated on vehicles (tenant_id, updated_at, vehicle_id)",
    "create index if not exists bench_vin on vehicles (tenant_id, vin)",
];

/// Makes the indexes where they are missing.
///
/// # Errors
/// The database refuses.
pub(crate) async fn make_indexes(pool: &PgPool) -> Result<()> {
    for index in INDEXES {
        sqlx::raw_sql(index).execute(pool).await?;
    }
    Ok(())
}
