//! `forecourt vehicle …`: what can be asked for.

use chrono::{DateTime, Utc};
use clap::Subcommand;

use super::feed::By;
use super::settings;
use crate::commands::vehicle::{self, Work};
use crate::failure::Failure;
use crate::settings::{CommonFlags, Flags};

#[derive(Debug, Subcommand)]
pub(super) enum VehicleCommand {
    /// Tell one car's story: every value, finding, edit, publish, price change and removal, and the run behind each
    History {
        /// The dealer's slug
        dealer: String,
        /// VIN, stock number or vehicle_id
        key: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Show each field of a car: whose word counts, what the others say, what is locked
    Show {
        /// The dealer's slug
        dealer: String,
        /// VIN, stock number or vehicle_id
        key: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Set fields of a car by hand; feeds do not change them until they are unlocked
    ///
    /// A value is a number, a date, words, or JSON for lists; `none` leaves the field blank on purpose.
    Edit {
        /// The dealer's slug
        dealer: String,
        /// VIN, stock number or vehicle_id
        key: String,
        /// What is to be set, such as price=24990
        #[arg(required = true, value_name = "FIELD=VALUE")]
        fields: Vec<String>,
        /// When the locks end by themselves, such as 2027-01-31T18:00:00Z [default: never]
        #[arg(long, value_name = "TIME")]
        expires: Option<DateTime<Utc>>,
        /// Why, for whoever looks later
        #[arg(long)]
        note: Option<String>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Let feeds say again what was set by hand
    Unlock {
        /// The dealer's slug
        dealer: String,
        /// VIN, stock number or vehicle_id
        key: String,
        /// Which fields
        #[arg(required_unless_present = "all", value_name = "FIELD")]
        fields: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with = "fields")]
        all: bool,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
}

impl VehicleCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (dealer, key, work, flags) = match self {
            VehicleCommand::History { dealer, key, json, flags } => {
                (dealer, key, Work::Tell { json, events: true }, flags)
            }
            VehicleCommand::Show { dealer, key, json, flags } => {
                (dealer, key, Work::Tell { json, events: false }, flags)
            }
            VehicleCommand::Edit { dealer, key, fields, expires, note, by, flags } => {
                (dealer, key, Work::Edit { fields, expires, note, by: by.name() }, flags)
            }
            VehicleCommand::Unlock { dealer, key, fields, all, by, flags } => {
                (dealer, key, Work::Unlock { fields, all, by: by.name() }, flags)
            }
        };
        let settings = settings(&Flags { common: flags, ..Flags::default() })?;
        vehicle::run(&settings, &dealer, &key, work)
    }
}
