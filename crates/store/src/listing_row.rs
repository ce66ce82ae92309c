//! A row that holds a unit, from whichever table.

use chrono::{DateTime, Utc};
use contract::Listing;

use crate::error::Error;
use crate::ids::TenantId;
use crate::tenant::hash_from;

/// A query for units: `select_listings!(detail column, "table where …", arguments…)`, checked like any other.
macro_rules! select_listings {
    ($detail:tt, $from:tt, $($argument:expr),+) => {
        sqlx::query_as!(
            ListingRow,
            "select vehicle_id, vin, stock, status, condition, vehicle_type, rooftop, year, make, model, trim, body,
                    fuel, driveline, transmission, engine, exterior_color, interior_color, charge_port,
                    dc_fast_charge, price_usd, list_price_usd, msrp_usd, mileage_mi, displacement_cc,
                    electric_range_mi, features, description, updated_at, content_hash, listing, " + $detail + " from "
                + $from,
            $($argument),+
        )
    };
}
pub(crate) use select_listings;

/// What [`select_listings`] reads.
pub(crate) struct ListingRow {
    pub(crate) vehicle_id: String,
    pub(crate) vin: Option<String>,
    pub(crate) stock: Option<String>,
    pub(crate) status: String,
    pub(crate) condition: Option<String>,
    pub(crate) vehicle_type: String,
    pub(crate) rooftop: Option<String>,
    pub(crate) year: Option<i32>,
    pub(crate) make: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) trim: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) fuel: Option<String>,
    pub(crate) driveline: Option<String>,
    pub(crate) transmission: Option<String>,
    pub(crate) engine: Option<String>,
    pub(crate) exterior_color: Option<String>,
    pub(crate) interior_color: Option<String>,
    pub(crate) charge_port: Option<String>,
    pub(crate) dc_fast_charge: Option<bool>,
    pub(crate) price_usd: Option<i64>,
    pub(crate) list_price_usd: Option<i64>,
    pub(crate) msrp_usd: Option<i64>,
    pub(crate) mileage_mi: Option<i64>,
    pub(crate) displacement_cc: Option<i64>,
    pub(crate) electric_range_mi: Option<f64>,
    pub(crate) features: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) content_hash: Vec<u8>,
    pub(crate) listing: String,
    pub(crate) detail: Option<String>,
}

impl ListingRow {
    /// The unit, of this tenant.
    pub(crate) fn listing(self, tenant: TenantId) -> Result<Listing, Error> {
        let content_hash = hash_from(&self.content_hash, "vehicles", "content_hash", || {
            format!("{tenant}/{}", self.vehicle_id)
        })?;
        Ok(Listing {
            vehicle_id: self.vehicle_id,
            vin: self.vin,
            stock: self.stock,
            status: self.status,
            condition: self.condition,
            vehicle_type: self.vehicle_type,
            rooftop: self.rooftop,
            year: self.year,
            make: self.make,
            model: self.model,
            trim: self.trim,
            body: self.body,
            fuel: self.fuel,
            driveline: self.driveline,
            transmission: self.transmission,
            engine: self.engine,
            exterior_color: self.exterior_color,
            interior_color: self.interior_color,
            charge_port: self.charge_port,
            dc_fast_charge: self.dc_fast_charge,
            price: self.price_usd,
            list_price: self.list_price_usd,
            msrp: self.msrp_usd,
            mileage: self.mileage_mi,
            displacement_cc: self.displacement_cc,
            electric_range_mi: self.electric_range_mi,
            features: self.features,
            description: self.description,
            updated_at: self.updated_at,
            listing: self.listing,
            detail: self.detail,
            content_hash,
        })
    }
}
