//! Which source's word counts, field by field.
