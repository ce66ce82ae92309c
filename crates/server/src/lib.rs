//! The binary `forecourt`: settings, telemetry, TLS, start and stop, and the commands.

pub mod failure;
pub mod settings;
pub mod telemetry;
pub mod tls;
