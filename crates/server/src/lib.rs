//! The binary `forecourt`: settings, telemetry, TLS, start and stop, and the commands.
//!
//! A library as well, so that tests start the real platform in their own process: [`Application::build`] on port 0.

pub mod application;
mod banner;
pub mod cli;
mod commands;
mod database;
pub mod demo;
pub mod failure;
mod key_sets;
mod listener;
mod output;
pub mod settings;
mod signals;
pub mod telemetry;
pub mod tls;
mod traffic;

pub use application::{Application, Preparation};
pub use failure::Failure;
pub use settings::Settings;
