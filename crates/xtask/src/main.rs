//! `cargo xtask`: the checks and chores of this workspace that cargo has no command for.
//!
//! Everything here works without a network, once `cargo fetch --locked` has run on the machine. It depends on
//! no crate of ours, so that it also compiles while the others do not.

mod directions;
mod graph;
mod licences;
mod prepare;
mod spdx;
mod tree;

use anyhow::{Result, bail};
use graph::Graph;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  check        licences, directions and tree, in that order
  licences     every dependency is under a permissive licence; no banned crate, no banned feature
  directions   crates depend on each other only the way docs/ARCHITECTURE.md draws it
  prepare      renews .sqlx from the migrations and the queries, with a PostgreSQL that is thrown away;
               `prepare --check` changes nothing and fails where it differs
  tree         no committed file names a path of one machine or the host of a package registry";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not returned from `main`: with RUST_BACKTRACE set that would bury the message.
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["check"] => {
            let graph = Graph::load()?;
            settle([
                ("licences", licences::problems(&graph)),
                ("directions", directions::problems(&graph)),
                ("tree", tree::problems(graph.root())?),
            ])
        }
        ["licences"] => settle([("licences", licences::problems(&Graph::load()?))]),
        ["directions"] => settle([("directions", directions::problems(&Graph::load()?))]),
        ["tree"] => settle([("tree", tree::problems(Graph::load()?.root())?)]),
        ["prepare"] => prepare::run(Graph::load()?.root(), false),
        ["prepare", "--check"] => prepare::run(Graph::load()?.root(), true),
        ["help" | "--help" | "-h"] | [] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("unknown command: {}\n\n{USAGE}", words.join(" ")),
    }
}

/// Prints every problem of every check, so that one run is enough to see them all; fails if there is any.
fn settle<const N: usize>(checks: [(&str, Vec<String>); N]) -> Result<()> {
    let mut count = 0;
    for (name, problems) in checks {
        if problems.is_empty() {
            println!("{name}: ok");
        }
        for problem in problems {
            count += 1;
            println!("{name}: {problem}");
        }
    }
    if count > 0 {
        bail!("{count} problem(s)");
    }
    Ok(())
}
