//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use dealer::RequestChecks;
use serde_json::json;

use crate::goals::{Board, Only};
use crate::http::{self, Against, Narrow, Op};
use crate::rounds::Pace;
use crate::world::World;
use crate::{cold, consistency, core, day, ingest, memory, peers, servers, sql};

const EXAMPLES: &str = "\
Examples:
  bench all                                 every goal; what `make bench` runs
  bench all --quick                         the same in short rounds, to see that it works
  bench all --only G1,G7                    these alone
  bench http --op search --rows 10000 --against bare
  bench http --op facets --filters 3 --against sql --conns 64 --secs 10
  bench http --against doors                the same search through A2A, MCP and plain HTTP

Where things are:
  PostgreSQL's data, the logs of the servers and the results are below the
  folder `bench` of the target folder; delete it to begin anew. A data folder
  is kept from one run to the next, so that only the first one has to fill it;
  it takes 7 GB. Of memory, 5 GB should be free.

Exit status:
  0    every number that was measured reached its floor
  1    one did not, or a server failed; standard error says which";

/// Measures the goals of docs/PERFORMANCE.md
#[derive(Debug, Parser)]
#[command(name = "bench", version, after_help = EXAMPLES, arg_required_else_help = true, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Every goal, in under 15 minutes
    All {
        #[command(flatten)]
        common: Common,
    },
    /// Goals 1 to 8, 11 to 13, 16 and doors: requests over HTTP
    Http {
        /// What is asked
        #[arg(long, value_enum)]
        op: Option<Op>,
        /// Which lots, by their size: 1000, 10000, 50000
        #[arg(long, value_delimiter = ',', value_name = "UNITS")]
        rows: Vec<u32>,
        /// The 200 mixed dealers instead of one lot
        #[arg(long)]
        mixed: bool,
        /// Facets without filters (0) or with three (3)
        #[arg(long, value_name = "N")]
        filters: Option<u8>,
        /// What the product is held against
        #[arg(long, alias = "vs", value_enum, value_delimiter = ',')]
        against: Vec<Against>,
        #[command(flatten)]
        common: Common,
    },
    /// Goals 9 and 10: the index by itself, in this process
    Core {
        #[command(flatten)]
        common: Common,
    },
    /// Goal 14: a lot read and built from nothing
    Cold {
        /// Which lots, by their size: 1000, 10000, 50000
        #[arg(long, value_delimiter = ',', value_name = "UNITS")]
        rows: Vec<u32>,
        #[command(flatten)]
        common: Common,
    },
    /// Goal 15: a lot brought up to date after 20 units changed
    Refresh {
        /// Which lots, by their size: 10000, 50000
        #[arg(long, value_delimiter = ',', value_name = "UNITS")]
        rows: Vec<u32>,
        #[command(flatten)]
        common: Common,
    },
    /// Goal 17: what lots take of memory
    Memory {
        #[command(flatten)]
        common: Common,
    },
    /// Goals 18 to 20, and imports beside searches: files of dealers, brought in
    Ingest {
        #[command(flatten)]
        common: Common,
    },
    /// 2,000 dealers in one process: memory, and speed beside a process with three
    Dealers {
        #[command(flatten)]
        common: Common,
    },
    /// A day of changes in a few minutes: whether memory returns to where it was; up to 18 minutes longer, until the
    /// last cursors have run out
    Day {
        /// How long the day is
        #[arg(long, default_value_t = 10, value_name = "MINUTES")]
        minutes: u64,
        #[command(flatten)]
        common: Common,
    },
    /// Goal 23: lost notices, and walks through a lot that changes
    Consistency {
        /// Only a change whose notice is lost
        #[arg(long)]
        drop_notify: bool,
        /// Only walks of ten pages, at two processes in turn, a change a second
        #[arg(long)]
        walk: bool,
        #[command(flatten)]
        common: Common,
    },
    /// The same search through servers of the official SDKs; needs node and python3, and a network the first time
    Peers {
        #[command(flatten)]
        common: Common,
    },
    /// What this program is when it serves; started by the others
    #[command(hide = true, subcommand)]
    Serve(Serve),
}

#[derive(Debug, Args)]
struct Common {
    /// Only these goals, such as G1,G7
    #[arg(long, value_name = "GOALS")]
    only: Option<String>,
    /// Connections that are kept busy
    #[arg(long, default_value_t = 16, value_name = "N")]
    conns: usize,
    /// Length of a round in seconds [default: 3; 2 with `all`]
    #[arg(long, value_name = "SECONDS")]
    secs: Option<f64>,
    /// How often every variant is measured
    #[arg(long, default_value_t = 5, value_name = "N")]
    rounds: usize,
    /// Three rounds of half a second: shows that everything works, and little more
    #[arg(long)]
    quick: bool,
    /// Where the results go, as JSON [default: bench/results.json of the target folder]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Serve {
    /// The same bytes to everybody
    Bare {
        #[arg(long)]
        size: usize,
        #[arg(long)]
        header: Vec<String>,
    },
    /// Answers by SQL
    Sql {
        #[arg(long)]
        database_url: String,
    },
    /// The product's libraries
    Libraries {
        #[arg(long)]
        database_url: String,
        #[arg(long, value_enum)]
        checks: Checks,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Checks {
    Schema,
    Types,
}

/// Runs what the command line asks for.
pub(crate) fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(serve) => serve.run().map(|()| true),
        Command::All { common } => common.measure(2.0, all),
        Command::Http { op, rows, mixed, filters, against, common } => {
            let narrow = Narrow { op, rows, mixed, filters, against };
            common.measure(3.0, |world, pace, only, board| http::run(world, pace, only, &narrow, board))
        }
        Command::Core { common } => common.measure(3.0, |_, pace, only, board| core::run(pace, only, board)),
        Command::Cold { rows, common } => {
            common.measure(3.0, |world, pace, only, board| cold::colds(world, pace, only, &rows, board))
        }
        Command::Refresh { rows, common } => {
            common.measure(3.0, |world, pace, only, board| cold::refreshes(world, pace, only, &rows, board))
        }
        Command::Memory { common } => {
            common.measure(3.0, |world, _, only, board| memory::run(world, only, board))
        }
        Command::Ingest { common } => common.measure(3.0, ingest::run),
        Command::Dealers { common } => common.measure(3.0, memory::dealers),
        Command::Day { minutes, common } => common.measure(3.0, |world, _, _, board| {
            day::run(world, Duration::from_secs(60 * minutes.max(1)), board)
        }),
        Command::Consistency { drop_notify, walk, common } => {
            let which = consistency::Which { drop_notify, walk };
            common.measure(3.0, |world, pace, only, board| consistency::run(world, pace, only, which, board))
        }
        Command::Peers { common } => common.measure(3.0, peers::run),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn all(world: &World, pace: Pace, only: &Only, board: &mut Board) -> Result<()> {
    board.attempt("the index by itself", |board| core::run(pace, only, board));
    board.attempt("requests", |board| http::run(world, pace, only, &Narrow::default(), board));
    board.attempt("cold starts", |board| cold::colds(world, pace, only, &[], board));
    board.attempt("refreshes", |board| cold::refreshes(world, pace, only, &[], board));
    board.attempt("memory", |board| memory::run(world, only, board));
    board.attempt("imports", |board| ingest::run(world, pace, only, board));
    board.attempt("2,000 dealers", |board| memory::dealers(world, pace, only, board));
    board.attempt("servers of SDKs", |board| peers::run(world, pace, only, board));
    let both = consistency::Which::default();
    board.attempt("consistency", |board| consistency::run(world, pace, only, both, board));
    Ok(())
}

impl Common {
    /// Measures, writes the results down, and tells whether all floors were reached.
    fn measure(
        &self,
        seconds: f64,
        work: impl FnOnce(&World, Pace, &Only, &mut Board) -> Result<()>,
    ) -> Result<bool> {
        let only = self.only.as_deref().map(Only::read).transpose()?.unwrap_or_default();
        let mut pace = Pace {
            rounds: self.rounds.max(1),
            round: Duration::try_from_secs_f64(self.secs.unwrap_or(seconds)).context("--secs")?,
            connections: self.conns,
        };
        if self.quick {
            pace = Pace { rounds: 3, round: Duration::from_millis(500), ..pace };
        }
        let began = Instant::now();
        let world = World::open()?;
        let mut board = Board::default();
        board.attempt("something", |board| work(&world, pace, &only, board));
        // Also what was measured before something failed is worth reading.
        let path = self.json.clone().unwrap_or_else(|| world.folder().join("results.json"));
        board.write(&path, &circumstances(pace, began.elapsed()))?;
        print!("{}", board.table());
        for failure in board.failures() {
            println!("{failure}");
        }
        eprintln!("bench: {} s; results are in {}", began.elapsed().as_secs(), path.display());
        Ok(board.passed())
    }
}

/// What the figures of another machine may differ by.
fn circumstances(pace: Pace, took: Duration) -> serde_json::Value {
    json!({
        "date": chrono::Utc::now().to_rfc3339(),
        "processors": processors(),
        "load_average": std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
        "rounds": pace.rounds, "round_seconds": pace.round.as_secs_f64(), "connections": pace.connections,
        "took_seconds": took.as_secs(),
    })
}

/// As many workers as the product has.
fn processors() -> usize {
    server::Settings::default().workers
}

impl Serve {
    fn run(self) -> Result<()> {
        let workers = processors();
        actix_web::rt::System::new().block_on(async move {
            match self {
                Serve::Bare { size, header } => servers::bare(size, &header, workers).await,
                Serve::Sql { database_url } => sql::serve(&database_url, workers).await,
                Serve::Libraries { database_url, checks } => {
                    let checks = match checks {
                        Checks::Schema => RequestChecks::Schema,
                        Checks::Types => RequestChecks::TypesOnly,
                    };
                    servers::libraries(&database_url, checks, workers).await
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
