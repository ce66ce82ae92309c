//! Black-box tests of the whole platform: real PostgreSQL, real HTTP, the real binary.

mod a2a_envelope;
mod a2a_headers;
mod a2a_message;
mod addresses;
mod card;
mod cards;
mod consistency;
mod crash;
mod cursors;
mod endurance;
mod errors;
mod facets;
mod first_contact;
mod framing;
mod ground;
mod hostile;
mod information;
mod isolation;
mod memory;
mod oracle;
mod outage;
mod pages;
mod process;
mod provisioning;
mod search;
mod vehicle;
