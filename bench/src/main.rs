//! The goals of docs/PERFORMANCE.md, measured: everything runs on this machine, on loopback, side by side.
//!
//! Starts a PostgreSQL and the servers that it compares, loads synthetic dealers, measures variants in turns and
//! says which goals are reached. `bench --help` tells the rest.

mod cli;
mod cold;
mod consistency;
mod core;
mod data;
mod day;
mod goals;
mod http;
mod ingest;
mod load;
mod memory;
mod peers;
mod rounds;
mod servers;
mod sql;
mod world;

use std::process::ExitCode;

/// As the product: what is compared must not differ in this.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::tls::install_provider();
    cli::run()
}
