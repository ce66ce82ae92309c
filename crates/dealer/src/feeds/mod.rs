//! Dealers' vehicles come from feeds: files are received, read, guarded and applied, and what several sources and
//! people say of one vehicle becomes one listing.
//!
//! [`receive`] stores a file and makes a run of it; [`process`] carries the run out, from whatever state it is in;
//! [`decide`] and [`rollback`] are what people do with runs. The reading itself is the crate `feeds`.

mod apply;
mod conform;
mod decide;
mod difference;
mod document;
mod edits;
mod merge;
mod notices;
mod price;
mod process;
mod ranks;
mod receive;
mod rollback;
mod run;
mod settings;
mod spool;
mod story;
mod units;
