//! The bytes of a feed become units and findings. No database, no network, and no clock where the
//! caller says what day it is.
//!
//! [`open`](raw::open) finds out what kind of file it is and gives its rows; [`read`](read::read) makes units of them.
//! Memory stays bounded whatever the size of the file: rows are given one by one, and what has to be known of all of
//! them (keys for duplicates) is small.

pub mod aliases;
pub mod check;
pub mod code;
pub mod config;
mod container;
mod encoding;
pub mod finding;
mod formats;
pub mod guard;
mod identity;
pub mod limits;
pub mod mapping;
pub mod outcome;
pub mod raw;
pub mod read;
mod sentences;
pub mod source;
pub mod unit;
pub mod values;
mod zip;

pub use code::{Code, Level};
pub use config::Config;
pub use finding::Finding;
pub use limits::Limits;
pub use source::Source;
pub use unit::Unit;
