//! What must hold for any input, as bodies that libFuzzer (`make fuzz`) and a short test run alike.
//!
//! A body takes bytes and panics if something does not hold. Where a body needs more than bytes it reads them as
//! decisions ([`Source`]), so that a fuzzer steers what is made of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod answers;
mod change;
mod cursor;
mod feeds;
mod front;
mod published;
mod requests;
mod sample;
mod seeds;
mod source;

use std::sync::LazyLock;

use contract::{CONTRACTS, Contract};

pub use self::feeds::feeds;
pub use answers::answers;
pub use cursor::cursor;
pub use front::front;
pub use published::published;
pub use requests::{payload, requests, spoil};
pub use seeds::{TARGETS, Target};
pub use source::Source;

/// Every contract version with its schemas compiled.
static CONTRACT_SCHEMAS: LazyLock<Vec<Contract>> =
    LazyLock::new(|| CONTRACTS.iter().map(|spec| Contract::load(spec.version).unwrap()).collect());
