//! Black-box tests of the whole platform: real PostgreSQL, real HTTP, the real binary.

mod a2a_envelope;
mod a2a_headers;
mod a2a_message;
mod addresses;
mod card;
mod cursors;
mod errors;
mod facets;
mod first_contact;
mod ground;
mod hostile;
mod information;
mod oracle;
mod pages;
mod search;
mod vehicle;
