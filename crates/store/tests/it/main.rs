//! The store against real servers: one for the whole binary, and servers of their own where roles or processes
//! are what is tested.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cards;
mod catalog;
mod changes;
mod feeds;
mod lots;
mod prepare;
mod private;
mod support;
mod tenancy;
mod versions;
mod wall;
