//! Typed requests, read from payloads that the request schema has already accepted.

mod lead;
mod search;

pub use lead::{
    AppointmentRequest, AppointmentType, ConsentGrant, ContactChannel, Customer, LeadSubmitRequest,
    PreferredContact, SourceAgent, WantedVehicle, instant,
};
pub use search::{Filters, InventorySearchRequest, Pagination, Sort, SortField, SortOrder, VehicleRequest};
