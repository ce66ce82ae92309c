//! The command line: what can be asked for, and the help that teaches it.

mod feed;
mod vehicle;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use contract::SkillId;
use dealer::RateLimit;
use dealer::callers::NewKey;

use self::feed::FeedCommand;
use self::vehicle::VehicleCommand;
use crate::commands::{self, key::Work, serve::Kind};
use crate::failure::{Failure, UNUSABLE};
use crate::settings::{AddressFlags, CommonFlags, Flags, ServingFlags, Settings, VaultFlags, WorkerFlags};

// Lines below 80 columns: what a terminal wraps by itself loses its indentation.
const EXAMPLES: &str = "\
Examples:
  forecourt up --demo
      a platform with three demo dealers on http://127.0.0.1:8080
  forecourt provision dealers.json
      bring dealers in, also while the platform is running
  forecourt key add harbor --name pelican --scope inventory.search
      a key for one caller of a dealer
  forecourt feed check inventory.csv
      what an import of a dealer's inventory file would do
  forecourt doctor
      what is wrong here, and what to do about it
  DATABASE_URL=postgres://… forecourt up --public-origin https://dealers.example
      a platform behind a proxy that speaks TLS, on a database of yours

Where the data is:
  In PostgreSQL. With DATABASE_URL it is the one named there. Without, the
  platform runs one of its own below .data/ (--data-dir): on a unix socket,
  never as root, and ended together with the platform.

Settings:
  Every flag has an environment variable, shown in the help of each command;
  a flag comes first, and an empty variable counts as unset. Traces are sent
  to OTEL_EXPORTER_OTLP_ENDPOINT (http/protobuf) where that is set. Logs go to
  standard error, addresses and results to standard output.

Exit status:
  0    done, or stopped in order
  1    failed; standard error says what, and what to do
  2    settings, arguments or a file cannot be used
  130  stopped at once by a second Ctrl-C";

/// Forecourt: car dealers that AI agents can read and ask, many of them on one platform
#[derive(Debug, Parser)]
#[command(name = "forecourt", version, after_help = EXAMPLES, arg_required_else_help = true, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

// Parsed once: its size costs nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
enum Command {
    /// Start the whole platform in this process
    ///
    /// Starts a PostgreSQL of its own unless DATABASE_URL is set, brings the database to this version, and answers
    /// until Ctrl-C or SIGTERM. Prints the dealers' addresses when it is ready.
    Up {
        /// Load three demo dealers (again and again without harm)
        #[arg(long)]
        demo: bool,
        /// Do not work on feeds in this process: `forecourt worker` does, here or elsewhere
        #[arg(long)]
        no_worker: bool,
        #[command(flatten)]
        flags: AllFlags,
        #[command(flatten)]
        feeds: FeedWorkFlags,
    },
    /// Answer agents, on a database that is migrated already
    ///
    /// For servers behind a load balancer: run `forecourt migrate` once per version, then any number of these.
    Serve {
        #[command(flatten)]
        flags: AllFlags,
    },
    /// Work on feeds: fetch them, watch the drop folders, bring them in
    ///
    /// `forecourt up` does so by itself. Any number of these may share the work, on this machine or others; one that
    /// dies gives back what it had in hand. Needs a database that is migrated, and the same master key everywhere.
    Worker {
        #[command(flatten)]
        flags: CommonFlags,
        #[command(flatten)]
        feeds: FeedWorkFlags,
    },
    /// Bring the database to this version
    ///
    /// Makes roles, schema and tables where they are missing. Running it again, or twice at once, does no harm.
    Migrate {
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Create and update dealers from a document
    ///
    /// FILE holds {"tenants": {"slug": {…}}}. Each dealer is taken over whole or not at all, every problem is named
    /// with its JSON Pointer, and the same document a second time changes nothing. A running platform serves the
    /// result within a second. Exit status: 0 all applied, 1 some dealer failed, 2 the document cannot be read.
    #[command(mut_args(served_by_others))]
    Provision {
        /// The document, JSON; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        flags: WorkFlags,
    },
    /// Make, list and revoke the keys of a dealer's callers
    ///
    /// A dealer is public unless its document says otherwise: with "callers": {"accept": ["keys"]} it answers bearers
    /// of its keys alone. A key is for one caller: it has a name, may open some skills only, and may have a limit. At a
    /// public dealer keys tell who asks. Running platforms follow within a second.
    #[command(arg_required_else_help = true, subcommand_required = true)]
    Key {
        #[command(subcommand)]
        work: KeyCommand,
    },
    /// Show what shoppers asked of a dealer
    #[command(arg_required_else_help = true, subcommand_required = true)]
    Lead {
        #[command(subcommand)]
        work: LeadCommand,
    },
    /// Bring dealers' inventory files in: check, sources, imports, runs, notices
    #[command(arg_required_else_help = true, subcommand_required = true)]
    Feed {
        #[command(subcommand)]
        work: FeedCommand,
    },
    /// Tell a car's story, and set what feeds have wrong
    #[command(arg_required_else_help = true, subcommand_required = true)]
    Vehicle {
        #[command(subcommand)]
        work: VehicleCommand,
    },
    /// Load the demo dealers
    ///
    /// A franchise store, an independent powersports store, and a group with four rooftops, always the same.
    #[command(mut_args(served_by_others))]
    Demo {
        #[command(flatten)]
        flags: WorkFlags,
    },
    /// Check settings, database, migrations, roles, clock and ports, and say what to do
    ///
    /// Changes nothing. Exit status: 0 nothing stands in the way, 1 something does.
    Doctor {
        /// Print a JSON document instead of lines
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: AllFlags,
    },
}

#[derive(Debug, Subcommand)]
enum LeadCommand {
    /// Show a dealer's newest leads: who, what for, appointments, and everything that was said
    List {
        /// The dealer's slug
        dealer: String,
        /// Print one JSON document a line, requests whole
        #[arg(long)]
        json: bool,
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        flags: CommonFlags,
    },
}

impl LeadCommand {
    fn run(self) -> Result<(), Failure> {
        let LeadCommand::List { dealer, json, limit, flags } = self;
        let settings = settings(&Flags { common: flags, ..Flags::default() })?;
        commands::lead::run(&settings, commands::lead::Wanted { slug: dealer, limit, json })
    }
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Make a key and print it, this once
    ///
    /// The key goes to standard output, everything about it to standard error. It is stored as a hash: whoever loses it
    /// gets another one.
    Add {
        /// The dealer's slug
        dealer: String,
        /// What the dealer calls this caller; callers are known by it in leads and logs
        #[arg(long)]
        name: String,
        /// A skill that the key opens, such as inventory.search; again for more [default: all]
        #[arg(long, value_name = "SKILL", value_parser = commands::key::scope)]
        scope: Vec<SkillId>,
        /// Calls in so many seconds, such as 100/60 [default: the dealer's caller_rate_limit]
        #[arg(long, value_name = "CALLS/SECONDS", value_parser = commands::key::limit)]
        limit: Option<RateLimit>,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Show a dealer's keys: names, what they open, when they were used; never the keys themselves
    ///
    /// The last use is written down about once a minute, so it may lag behind.
    List {
        /// The dealer's slug
        dealer: String,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Have a key open nothing any more, on every process within a second
    Revoke {
        /// The dealer's slug
        dealer: String,
        /// The key's name, or the digits that `list` shows
        key: String,
        #[command(flatten)]
        flags: CommonFlags,
    },
}

impl KeyCommand {
    fn run(self) -> Result<(), Failure> {
        let (work, flags) = match self {
            KeyCommand::Add { dealer, name, scope, limit, flags } => {
                let key = NewKey { name, scopes: scope, rate_limit: limit };
                (Work::Add { slug: dealer, key }, flags)
            }
            KeyCommand::List { dealer, flags } => (Work::List { slug: dealer }, flags),
            KeyCommand::Revoke { dealer, key, flags } => (Work::Revoke { slug: dealer, key }, flags),
        };
        let settings = settings(&Flags { common: flags, ..Flags::default() })?;
        commands::key::run(&settings, work)
    }
}

#[derive(Debug, Args)]
struct AllFlags {
    #[command(flatten)]
    address: AddressFlags,
    #[command(flatten)]
    serving: ServingFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl From<AllFlags> for Flags {
    fn from(AllFlags { address, serving, common }: AllFlags) -> Flags {
        Flags { common, address, serving, ..Flags::default() }
    }
}

#[derive(Debug, Args)]
struct FeedWorkFlags {
    #[command(flatten)]
    worker: WorkerFlags,
    #[command(flatten)]
    vault: VaultFlags,
}

/// Flags of a platform that listens say nothing to who looks at the help of a command that does not; they are taken,
/// for the addresses of cards before the first start.
fn served_by_others(flag: clap::Arg) -> clap::Arg {
    let other = matches!(flag.get_id().as_str(), "listen" | "tls_cert" | "tls_key");
    flag.hide(other)
}

#[derive(Debug, Args)]
struct WorkFlags {
    #[command(flatten)]
    address: AddressFlags,
    #[command(flatten)]
    common: CommonFlags,
}

impl From<WorkFlags> for Flags {
    fn from(WorkFlags { address, common }: WorkFlags) -> Flags {
        Flags { common, address, ..Flags::default() }
    }
}

/// Runs what the command line asks for.
pub fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Up { demo, no_worker, flags, feeds: FeedWorkFlags { worker, vault } } => {
            let kind = Kind::Up { demo, worker: !no_worker };
            settings(&Flags { worker, vault, ..flags.into() })
                .and_then(|settings| commands::serve::run(&settings, kind))
        }
        Command::Serve { flags } => {
            settings(&flags.into()).and_then(|settings| commands::serve::run(&settings, Kind::Serve))
        }
        Command::Worker { flags, feeds: FeedWorkFlags { worker, vault } } => {
            settings(&Flags { common: flags, worker, vault, ..Flags::default() })
                .and_then(|settings| commands::worker::run(&settings))
        }
        Command::Migrate { flags } => settings(&Flags { common: flags, ..Flags::default() })
            .and_then(|settings| commands::migrate::run(&settings)),
        Command::Provision { file, flags } => {
            settings(&flags.into()).and_then(|settings| commands::provision::run(&settings, &file))
        }
        Command::Key { work } => work.run(),
        Command::Lead { work } => work.run(),
        Command::Feed { work } => return work.run().unwrap_or_else(|failure| failure.report()),
        Command::Vehicle { work } => work.run(),
        Command::Demo { flags } => {
            settings(&flags.into()).and_then(|settings| commands::demo::run(&settings))
        }
        Command::Doctor { json, flags } => return commands::doctor::run(&flags.into(), json),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn settings(flags: &Flags) -> Result<Settings, Failure> {
    Settings::check(flags).map_err(|problems| {
        let number = commands::count(problems.len(), "setting");
        let mut failure = Failure::new(format!("{number} cannot be used")).status(UNUSABLE);
        failure.advice = problems.iter().map(ToString::to_string).collect();
        failure
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::settings::VARIABLES;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_command_and_every_variable() {
        let mut cli = Cli::command();
        let overview = cli.render_long_help().to_string();
        for command in [
            "up",
            "serve",
            "migrate",
            "provision",
            "key",
            "feed",
            "vehicle",
            "demo",
            "doctor",
            "Examples:",
            "Exit status:",
        ] {
            assert!(overview.contains(command), "{command} is missing in\n{overview}");
        }
        let up = cli.find_subcommand_mut("up").unwrap().render_long_help().to_string();
        for variable in VARIABLES.iter().chain(["DATABASE_URL"].iter()) {
            assert!(up.contains(variable), "{variable} is missing in\n{up}");
        }
        let provision = cli.find_subcommand_mut("provision").unwrap().render_long_help().to_string();
        assert!(provision.contains("--public-origin") && provision.contains("--data-dir"), "{provision}");
        assert!(!provision.contains("--listen") && !provision.contains("--tls-"), "{provision}");
    }
}
