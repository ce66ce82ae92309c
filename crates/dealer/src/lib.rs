//! dealer
