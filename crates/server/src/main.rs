//! The binary `forecourt`.

use std::process::ExitCode;

/// Answers are built from many short-lived pieces on several threads, where this allocator shines.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::tls::install_provider();
    server::cli::run()
}
