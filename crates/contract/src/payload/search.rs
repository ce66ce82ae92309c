//! Requests of the inventory skills.

use serde::{Deserialize, Serialize};

use super::whole;

/// `inventory.search.request`; `inventory.facets.request` uses its `filters` alone.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct InventorySearchRequest {
    /// What the units must be; all of it optional.
    #[serde(default)]
    pub filters: Filters,
    /// Which page.
    #[serde(default)]
    pub pagination: Pagination,
    /// In what order.
    pub sort: Option<Sort>,
    /// v3.0: whose inventory; absent means the endpoint's dealer.
    pub dealer_id: Option<String>,
}

/// Flat filters (AAP.md 7.4). Absent and empty mean no constraint; values in one list are alternatives.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Filters {
    /// Whole value equal.
    pub make: Vec<String>,
    /// Whole value equal.
    pub model: Vec<String>,
    /// Whole value equal.
    pub trim: Vec<String>,
    /// `new`, `used`, `cpo`.
    pub condition: Vec<String>,
    /// Absent on a unit means `car`.
    pub vehicle_type: Vec<String>,
    /// Equal, or found at word boundaries.
    pub transmission: Vec<String>,
    /// Whole value equal.
    pub fuel: Vec<String>,
    /// Whole value equal.
    pub driveline: Vec<String>,
    /// Whole value equal.
    pub body: Vec<String>,
    /// Whole value equal.
    pub charge_port: Vec<String>,
    /// Equal, or found at word boundaries.
    pub exterior_color: Vec<String>,
    /// Equal, or found at word boundaries.
    pub interior_color: Vec<String>,
    /// Whole rooftop name equal.
    pub rooftops: Vec<String>,
    /// v3.0: the listing statuses.
    pub status: Vec<String>,
    /// v3.0: every one of them must be on the unit.
    pub features: Vec<String>,
    /// Only `true` constrains.
    pub dc_fast_charge: Option<bool>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub year_min: Option<i64>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub year_max: Option<i64>,
    /// Inclusive, on `price` alone.
    #[serde(deserialize_with = "whole")]
    pub price_min: Option<i64>,
    /// Inclusive, on `price` alone.
    #[serde(deserialize_with = "whole")]
    pub price_max: Option<i64>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub mileage_max: Option<i64>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub displacement_cc_min: Option<i64>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub displacement_cc_max: Option<i64>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub electric_range_mi_min: Option<i64>,
    /// Inclusive.
    #[serde(deserialize_with = "whole")]
    pub electric_range_mi_max: Option<i64>,
    /// Exact, case-sensitive.
    pub vin: Option<String>,
    /// Exact, case-sensitive.
    pub stock: Option<String>,
    /// Free text: every token must occur.
    pub query: Option<String>,
}

/// Which page of the result.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Pagination {
    /// How many units at most; the tenant's default where absent.
    #[serde(deserialize_with = "whole")]
    pub limit: Option<i64>,
    /// v1.3 and latest: how many to pass over.
    #[serde(deserialize_with = "whole")]
    pub skip: Option<i64>,
    /// v3.0: where the page before ended.
    pub cursor: Option<String>,
}

/// In what order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sort {
    /// By which member.
    pub field: SortField,
    /// Which way.
    pub order: SortOrder,
}

impl Sort {
    /// Newest first: what a dealer has unless its policy says otherwise.
    pub const DEFAULT: Sort = Sort { field: SortField::UpdatedAt, order: SortOrder::Desc };
}

/// The nine members that results can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortField {
    /// Advertised price; unpriced units last both ways.
    Price,
    /// Base price.
    ListPrice,
    /// Sticker price.
    Msrp,
    /// Odometer.
    Mileage,
    /// Model year.
    Year,
    /// Make, without regard to case.
    Make,
    /// Model, without regard to case.
    Model,
    /// Stock number, without regard to case.
    Stock,
    /// Freshness.
    UpdatedAt,
}

impl SortField {
    /// All of them.
    pub const ALL: [SortField; 9] = [
        Self::Price,
        Self::ListPrice,
        Self::Msrp,
        Self::Mileage,
        Self::Year,
        Self::Make,
        Self::Model,
        Self::Stock,
        Self::UpdatedAt,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Price => "price",
            Self::ListPrice => "list_price",
            Self::Msrp => "msrp",
            Self::Mileage => "mileage",
            Self::Year => "year",
            Self::Make => "make",
            Self::Model => "model",
            Self::Stock => "stock",
            Self::UpdatedAt => "updated_at",
        }
    }
}

/// Ascending or descending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// Smallest first.
    Asc,
    /// Largest first.
    Desc,
}

impl SortOrder {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }
}

/// `inventory.vehicle.request`: at least one identifier.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct VehicleRequest {
    /// Tried first.
    pub vin: Option<String>,
    /// Tried second.
    pub vehicle_id: Option<String>,
    /// Tried last.
    pub stock: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_are_read_however_they_are_spelled() {
        let request: InventorySearchRequest = serde_json::from_value(json!({
            "type": "inventory.search.request",
            "filters": {"price_max": 1e30, "year_min": 2020.0},
            "pagination": {"limit": 20.0}
        }))
        .unwrap();
        assert_eq!(request.filters.price_max, Some(i64::MAX));
        assert_eq!(request.filters.year_min, Some(2020));
        assert_eq!(request.pagination.limit, Some(20));
    }
}
