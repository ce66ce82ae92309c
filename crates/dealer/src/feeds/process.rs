//! From a received file to a lot.
