//! Files in the database, as a reader needs them.
