//! The layouts that the demo dealers' files have, each with a few of the faults that such files come with.
//!
//! A fault costs no unit of the lot: rows that are refused are rows more.

pub(super) mod dms;
pub(super) mod google;
pub(super) mod homenet;
pub(super) mod meta;
pub(super) mod pipe;
pub(super) mod pricing;
pub(super) mod studio;
