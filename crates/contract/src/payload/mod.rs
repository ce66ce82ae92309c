//! Typed requests, read from payloads that the request schema has already accepted.

mod search;

pub use search::{Filters, InventorySearchRequest, Pagination, Sort, SortField, SortOrder, VehicleRequest};
