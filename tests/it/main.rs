//! Black-box tests of the whole platform: real PostgreSQL, real HTTP, the real binary.

mod first_contact;
mod oracle;
