//! `forecourt feed …`: what can be asked for, and the help that teaches it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use store::SourceKind;
use uuid::Uuid;

use super::settings;
use crate::commands::feed::{check, decide, import, notices, runs, source, wanted};
use crate::failure::Failure;
use crate::settings::{CommonFlags, Flags, VaultFlags};

#[derive(Debug, Subcommand)]
pub(super) enum FeedCommand {
    /// Say what an import of a file would do: the verdict, every fault by row, what each column is taken for
    ///
    /// Needs no database and no settings, and changes nothing. FILE is a table (CSV, tabs, pipes, semicolons), XML,
    /// JSON or NDJSON, also in zip or gzip. Exit status: 0 it would be applied, 1 it would be held or refused, 2 the
    /// file or the settings cannot be read.
    #[command(after_help = FEED_CHECK)]
    Check {
        /// The file
        file: PathBuf,
        /// Print one JSON document: verdict, counts, vehicles, excluded, errors, warnings, and the words of each
        #[arg(long)]
        json: bool,
        /// How the file is to be read, JSON
        #[arg(long, value_name = "CFG.json")]
        feed_config: Option<PathBuf>,
        /// Name every row of every finding, not just the first ones
        #[arg(long)]
        all: bool,
        /// Show the columns, what they are taken for, and what stands in so many rows
        #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
        preview: Option<usize>,
    },
    /// Say where a dealer's files come from
    #[command(arg_required_else_help = true, subcommand_required = true)]
    Source {
        #[command(subcommand)]
        work: SourceCommand,
    },
    /// Bring in a file by hand and say what came of it
    ///
    /// The file is stored and becomes a run. A worker of a running platform carries it out; where there is none, this
    /// command does so itself. A dealer's first file makes the source it belongs to, called "import". Exit status: 0
    /// applied, or nothing new; 3 held until a person decides; 1 failed; 2 the file or the arguments cannot be used.
    Import {
        /// The dealer's slug
        dealer: String,
        /// The file, at most 1 GiB
        file: PathBuf,
        /// The source that the file is of [default: the only one of kind file]
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        /// The file holds changes only; what is not in it stays
        #[arg(long)]
        delta: bool,
        /// Do not wait for the outcome: print the run and leave it to a worker
        #[arg(long, overrides_with = "wait")]
        no_wait: bool,
        /// Wait for the outcome; so it is by itself
        #[arg(long, hide = true)]
        wait: bool,
        /// Print the run as a JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Show runs, the latest first: of a dealer, or of all
    Runs {
        /// The dealer's slug
        dealer: Option<String>,
        /// Only those of this source
        #[arg(long, value_name = "NAME", requires = "dealer")]
        source: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Print one JSON document a line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Show a run: what became of it, why it is held, what was found
    Show {
        /// The run's id
        run: Uuid,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        /// Which findings: `all`, `errors`, a code such as VIN_CHECK_DIGIT, or `none`
        #[arg(long, value_name = "WHICH", default_value = "errors")]
        findings: String,
        /// Show what it changes, or would change, vehicle by vehicle
        #[arg(long)]
        diff: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Apply a held run: exactly what it shows, and nothing else
    Approve {
        /// The run's id
        run: Uuid,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Put a held run aside for good; the vehicles on offer stay as they are
    Reject {
        /// The run's id
        run: Uuid,
        /// Why, for whoever looks later
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Go back to an earlier file of a source
    ///
    /// Shows what that changes and asks. Without --to, to the good file before the last one.
    Rollback {
        /// The dealer's slug
        dealer: String,
        /// The source
        source: String,
        /// The run to go back to
        #[arg(long, value_name = "RUN")]
        to: Option<Uuid>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Show what people should know: held and failed files, silent sources, prices without a meaning
    Notices {
        /// The dealer's slug [default: all dealers]
        dealer: Option<String>,
        /// Also what is no longer so
        #[arg(long)]
        all: bool,
        /// At most so many
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Print one JSON document a line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Put all stored credentials under the current master key
    ///
    /// For changing that key: give the new one as FORECOURT_MASTER_KEY (or _FILE) and the former one as
    /// FORECOURT_MASTER_KEY_OLD, to every process; run this; then forget the former one.
    Rekey {
        #[command(flatten)]
        flags: CommonFlags,
        #[command(flatten)]
        vault: VaultFlags,
    },
}

/// Who does something.
#[derive(Debug, Args)]
pub(super) struct By {
    /// Who does this, for the record [default: the account's name]
    #[arg(long, value_name = "WHO")]
    by: Option<String>,
}

impl By {
    pub(super) fn name(self) -> String {
        let account = || std::env::var("USER").ok().filter(|name| !name.is_empty());
        self.by.or_else(account).unwrap_or_else(|| "forecourt".to_owned())
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum SourceCommand {
    /// Add a source: file, https, folder or push
    ///
    /// file: files are imported by hand. https: a file is fetched from an address. folder: files are dropped into the
    /// platform's folder, for example by an SFTP server. push: a program sends files; its token is printed this once,
    /// to standard output.
    #[command(after_help = PRICES)]
    Add {
        /// The dealer's slug
        dealer: String,
        /// What the source is called
        name: String,
        /// How its files arrive
        #[arg(long, value_parser = kind, value_name = "KIND", default_value = "file")]
        kind: SourceKind,
        #[command(flatten)]
        settings: Box<wanted::SourceFlags>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
        #[command(flatten)]
        vault: VaultFlags,
    },
    /// Show a dealer's sources and what each still lacks
    List {
        /// The dealer's slug
        dealer: String,
        /// Print one JSON document a line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Show how a source is set up
    Show {
        /// The dealer's slug
        dealer: String,
        /// The source
        name: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Change how a source is set up; what is not named stays
    #[command(after_help = PRICES)]
    Edit {
        /// The dealer's slug
        dealer: String,
        /// The source
        name: String,
        /// Call it something else
        #[arg(long, value_name = "NAME")]
        rename: Option<String>,
        /// Take files from it again
        #[arg(long, conflicts_with = "disable")]
        enable: bool,
        /// Take no file from it; what it said stays on offer
        #[arg(long)]
        disable: bool,
        /// The next file may have other columns than those before
        #[arg(long)]
        forget_columns: bool,
        #[command(flatten)]
        settings: Box<wanted::SourceFlags>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
        #[command(flatten)]
        vault: VaultFlags,
    },
    /// Give up a source
    ///
    /// Its vehicles leave unless another source has them.
    Remove {
        /// The dealer's slug
        dealer: String,
        /// The source
        name: String,
        /// Leave its vehicles on offer until the first whole file of another source
        #[arg(long)]
        keep_vehicles: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Give a push source another token and print it, this once; the one before opens nothing any more
    Token {
        /// The dealer's slug
        dealer: String,
        /// The source
        name: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        flags: CommonFlags,
    },
}

fn kind(text: &str) -> Result<SourceKind, String> {
    SourceKind::from_name(text).ok_or_else(|| "write file, https, folder or push".to_owned())
}

const PRICES: &str = "\
What its prices mean (--price-means):
  advertised_all_in           what a buyer pays, every mandatory charge inside:
                              published as the price
  base                        before discounts and charges: published as the
                              list price
  advertised_without_charges  published once --fee says what is to be added
  conditional                 lowered by a rebate that is not open to everyone:
                              never published
  Until somebody answers, vehicles are on offer without a price.

Password and token:
  --user takes the password from the variable FEED_PASSWORD, else from the
  terminal, else from the first line of standard input; --token-stdin likewise
  takes a bearer token. Neither is ever an argument.";

const FEED_CHECK: &str = "\
Settings of --feed-config, all of them optional:
  today                 date for date and year rules [default: today, UTC]
  tenant_currency       ISO 4217 [default: USD]
  known_rooftop_keys    rooftops that exist; others are an error
  mode                  full or delta: the whole lot, or changes with an action column
  date_order            mdy or dmy
  timezone              of times without a zone, such as America/Chicago
  demo_as               new or used: what demonstrators count as
  columns               name of a column to what it holds, see --preview
  status_words          words of the status column to available, pending,
                        intransit, sold, wholesale or removed
  header                names of the columns of a file without a header
  previous_full_run     the last good run for the guard: {published, by_rooftop,
                        delimiter, header}
  previous_active_vins  of changes: the VINs on offer before them
  guard                 thresholds in percent, such as {\"drop_percent\": 20};
                        zero means any, not off";

impl FeedCommand {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let common = |flags: CommonFlags| settings(&Flags { common: flags, ..Flags::default() });
        match self {
            FeedCommand::Check { file, json, feed_config, all, preview } => {
                check::run(&check::Wanted { file, config: feed_config, json, all, preview })
            }
            FeedCommand::Source { work } => work.run().map(|()| ExitCode::SUCCESS),
            FeedCommand::Import { dealer, file, source, delta, no_wait, wait: _, json, by, flags } => {
                let settings = common(flags)?;
                let wanted =
                    import::Wanted { dealer, file, source, delta, wait: !no_wait, json, by: by.name() };
                import::run(&settings, wanted)
            }
            FeedCommand::Runs { dealer, source, limit, json, flags } => {
                let wanted = runs::Listed { dealer, source, limit, json };
                runs::list(&common(flags)?, wanted).map(|()| ExitCode::SUCCESS)
            }
            FeedCommand::Show { run, json, findings, diff, flags } => {
                let wanted = runs::Shown { run, json, findings, diff };
                runs::show(&common(flags)?, wanted).map(|()| ExitCode::SUCCESS)
            }
            FeedCommand::Approve { run, by, flags } => {
                let by = by.name();
                decide::run(&common(flags)?, decide::Decision::Approve { run, by })
                    .map(|()| ExitCode::SUCCESS)
            }
            FeedCommand::Reject { run, reason, by, flags } => {
                let by = by.name();
                decide::run(&common(flags)?, decide::Decision::Reject { run, reason, by })
                    .map(|()| ExitCode::SUCCESS)
            }
            FeedCommand::Rollback { dealer, source, to, yes, by, flags } => {
                let by = by.name();
                decide::run(&common(flags)?, decide::Decision::Rollback { dealer, source, to, yes, by })
                    .map(|()| ExitCode::SUCCESS)
            }
            FeedCommand::Notices { dealer, all, limit, json, flags } => {
                let wanted = notices::Wanted { dealer, all, limit, json };
                notices::run(&common(flags)?, wanted).map(|()| ExitCode::SUCCESS)
            }
            FeedCommand::Rekey { flags, vault } => {
                let settings = settings(&Flags { common: flags, vault, ..Flags::default() })?;
                notices::rekey(&settings).map(|()| ExitCode::SUCCESS)
            }
        }
    }
}

impl SourceCommand {
    fn run(self) -> Result<(), Failure> {
        let (work, flags, vault) = match self {
            SourceCommand::Add { dealer, name, kind, settings, by, flags, vault } => {
                (source::Work::Add { dealer, name, kind, settings, by: by.name() }, flags, vault)
            }
            SourceCommand::List { dealer, json, flags } => {
                (source::Work::List { dealer, json }, flags, VaultFlags::default())
            }
            SourceCommand::Show { dealer, name, json, flags } => {
                (source::Work::Show { dealer, name, json }, flags, VaultFlags::default())
            }
            SourceCommand::Edit {
                dealer,
                name,
                rename,
                enable,
                disable,
                forget_columns,
                settings,
                by,
                flags,
                vault,
            } => {
                let enabled = (enable || disable).then_some(enable);
                let change = source::Edit { rename, enabled, forget_columns };
                (source::Work::Edit { dealer, name, change, settings, by: by.name() }, flags, vault)
            }
            SourceCommand::Remove { dealer, name, keep_vehicles, yes, by, flags } => {
                let work = source::Work::Remove { dealer, name, keep: keep_vehicles, yes, by: by.name() };
                (work, flags, VaultFlags::default())
            }
            SourceCommand::Token { dealer, name, by, flags } => {
                (source::Work::Token { dealer, name, by: by.name() }, flags, VaultFlags::default())
            }
        };
        source::run(&settings(&Flags { common: flags, vault, ..Flags::default() })?, work)
    }
}
