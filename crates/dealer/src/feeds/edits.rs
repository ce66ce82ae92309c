//! What people set by hand, which no feed overrides.
