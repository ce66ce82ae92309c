//! What people are told about feeds.
