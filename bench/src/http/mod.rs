//! Requests over HTTP: the product beside a bare handler, beside SQL, and beside itself.

mod agree;
mod card;
mod checks;
mod churn;
mod doors;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::data::{self, Asked};
use crate::goals::{Board, Only};
use crate::load::{Answer, Good, Line};
use crate::rounds::{self, Measured, Pace, Round, Variant};
use crate::world::{Child, MAIN, World};

/// How many different requests a measured lot is asked.
const REQUESTS: u32 = 200;
/// How many of the mixed lots are asked, and how many requests each.
const MIXED: (u32, u32) = (200, 20);

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Op {
    /// inventory.search with three filters, an order, twenty units a page
    Search,
    /// inventory.facets
    Facets,
    /// inventory.vehicle by VIN
    Vehicle,
    /// The Agent Card, whole and unchanged
    Card,
}

/// What the product is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Against {
    /// A handler that answers the same number of bytes to everybody
    Bare,
    /// A server that answers every request by SQL
    Sql,
    /// The product's libraries without schema checks
    Novalidate,
    /// The product itself, while a large lot changes all the time
    Churn,
    /// The product's other doors, MCP and plain HTTP
    Doors,
}

/// Which figure of a round.
#[derive(Debug, Clone, Copy)]
enum Figure {
    Rate,
    Cpu,
}

/// Whose lots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lots {
    Measured(u32),
    Mixed,
}

/// What is measured in one go.
struct Group {
    name: &'static str,
    op: Op,
    filtered: bool,
    lots: Lots,
    against: &'static [Against],
    /// Goal, part, whom against, by what.
    settles: &'static [(&'static str, &'static str, Against, Figure)],
}

use Against::{Bare, Sql};
use Figure::{Cpu, Rate};

const GROUPS: &[Group] = &[
    Group {
        name: "search 10k",
        op: Op::Search,
        filtered: true,
        lots: Lots::Measured(10_000),
        against: &[Bare, Sql],
        settles: &[("G1", "10k", Bare, Rate), ("G4", "10k", Bare, Cpu), ("G5", "10k", Sql, Rate)],
    },
    Group {
        name: "search 1k",
        op: Op::Search,
        filtered: true,
        lots: Lots::Measured(1_000),
        against: &[Sql],
        settles: &[("G5", "1k", Sql, Rate)],
    },
    Group {
        name: "search mixed",
        op: Op::Search,
        filtered: true,
        lots: Lots::Mixed,
        against: &[Bare],
        settles: &[("G2", "mixed", Bare, Rate)],
    },
    Group {
        name: "search 50k",
        op: Op::Search,
        filtered: true,
        lots: Lots::Measured(50_000),
        against: &[Bare],
        settles: &[("G3", "50k", Bare, Rate)],
    },
    Group {
        name: "facets 10k",
        op: Op::Facets,
        filtered: false,
        lots: Lots::Measured(10_000),
        against: &[Bare],
        settles: &[("G6", "10k", Bare, Rate)],
    },
    Group {
        name: "facets, 3 filters, 1k",
        op: Op::Facets,
        filtered: true,
        lots: Lots::Measured(1_000),
        against: &[Bare],
        settles: &[("G7", "1k", Bare, Rate)],
    },
    Group {
        name: "facets, 3 filters, 10k",
        op: Op::Facets,
        filtered: true,
        lots: Lots::Measured(10_000),
        against: &[Bare, Sql],
        settles: &[("G7", "10k", Bare, Rate), ("G8", "10k", Sql, Rate)],
    },
    Group {
        name: "facets, 3 filters, 50k",
        op: Op::Facets,
        filtered: true,
        lots: Lots::Measured(50_000),
        against: &[Bare],
        settles: &[("G7", "50k", Bare, Rate)],
    },
    Group {
        name: "vehicle 10k",
        op: Op::Vehicle,
        filtered: true,
        lots: Lots::Measured(10_000),
        against: &[Bare, Sql],
        settles: &[("G11", "bare", Bare, Rate), ("G11", "SQL", Sql, Rate)],
    },
];

/// Which of all that is wanted; what is not said is not narrowed down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Narrow {
    pub(crate) op: Option<Op>,
    pub(crate) rows: Vec<u32>,
    pub(crate) mixed: bool,
    pub(crate) filters: Option<u8>,
    pub(crate) against: Vec<Against>,
}

impl Narrow {
    fn admits(&self, op: Op, lots: Lots, filtered: bool) -> bool {
        let sizes = self.rows.is_empty() && !self.mixed
            || match lots {
                Lots::Measured(units) => self.rows.contains(&units),
                Lots::Mixed => self.mixed,
            };
        let filters = self.filters.is_none_or(|filters| op != Op::Facets || (filters > 0) == filtered);
        self.op.is_none_or(|wanted| wanted == op) && sizes && filters
    }

    fn admits_against(&self, against: Against) -> bool {
        self.against.is_empty() || self.against.contains(&against)
    }
}

/// Measures everything over HTTP that is wanted.
///
/// # Errors
/// Something does not start, fails, or answers wrongly.
pub(crate) fn run(world: &World, pace: Pace, only: &Only, narrow: &Narrow, board: &mut Board) -> Result<()> {
    let mut lots: Vec<data::Lot> = data::MEASURED.map(data::measured).to_vec();
    lots.extend(data::mixed(MIXED.0));
    world.runtime.block_on(world.cluster.ensure(MAIN, &lots, world.forecourt()))?;
    let mut servers = Servers { world, product: None, sql: None };
    for group in GROUPS {
        board.attempt(group.name, |board| group.run(&mut servers, pace, only, narrow, board));
    }
    let search = |units| narrow.admits(Op::Search, Lots::Measured(units), true);
    if only.wants("G12") && narrow.admits(Op::Card, Lots::Measured(10_000), true) {
        board.attempt("the card", |board| card::run(&mut servers, pace, board));
    }
    if only.wants("G13") && narrow.admits_against(Against::Novalidate) && search(10_000) {
        board.attempt("schema checks", |board| checks::run(&mut servers, pace, board));
    }
    if only.wants("doors") && narrow.admits_against(Against::Doors) && search(10_000) {
        board.attempt("doors", |board| doors::run(&mut servers, pace, board));
    }
    for units in [10_000, 50_000] {
        if only.wants("G16") && narrow.admits_against(Against::Churn) && search(units) {
            board.attempt("rebuilding", |board| churn::run(&mut servers, pace, units, board));
        }
    }
    Ok(())
}

/// Those that are asked again and again, started when they are first needed.
pub(crate) struct Servers<'w> {
    world: &'w World,
    product: Option<Child>,
    sql: Option<Child>,
}

impl Servers<'_> {
    fn product(&mut self) -> Result<&Child> {
        let started = match self.product.take() {
            Some(running) => running,
            None => self.world.product(MAIN, &[])?,
        };
        Ok(self.product.insert(started))
    }

    fn sql(&mut self) -> Result<&Child> {
        let started = match self.sql.take() {
            Some(running) => running,
            None => {
                let url = self.world.cluster.url(MAIN);
                self.world.own("sql", &["sql".into(), "--database-url".into(), url])?
            }
        };
        Ok(self.sql.insert(started))
    }

    /// A bare handler for answers like this one, of a size of their own.
    fn bare(&self, like: &Answer, size: usize) -> Result<Child> {
        bare(self.world, like, size)
    }
}

/// A bare handler for answers like this one, of a size of their own.
pub(crate) fn bare(world: &World, like: &Answer, size: usize) -> Result<Child> {
    let mut arguments = vec!["bare".to_owned(), "--size".into(), size.to_string()];
    // The handler's own library writes these.
    let own = ["content-length", "date", "connection", "transfer-encoding"];
    for (name, value) in &like.headers {
        if !own.iter().any(|header| header.eq_ignore_ascii_case(name)) {
            arguments.extend(["--header".to_owned(), format!("{name}: {value}")]);
        }
    }
    world.own("bare", &arguments)
}

impl Group {
    fn run(
        &self,
        servers: &mut Servers<'_>,
        pace: Pace,
        only: &Only,
        narrow: &Narrow,
        board: &mut Board,
    ) -> Result<()> {
        let needed = |against: &Against| {
            narrow.admits_against(*against)
                && self.settles.iter().any(|(goal, _, over, _)| over == against && only.wants(goal))
        };
        let against: Vec<Against> = self.against.iter().copied().filter(needed).collect();
        if against.is_empty() || !narrow.admits(self.op, self.lots, self.filtered) {
            return Ok(());
        }
        let asked = self.asked();
        let product = servers.product()?;
        let (server, pid) = (product.address(), product.pid());
        let answers = ask_all(server, &asked)?;
        let size = answers.iter().map(|answer| answer.body.len()).sum::<usize>() / answers.len().max(1);
        board.note(format!("{}: mean answer, bytes", self.name), json!(size));
        let requests: Vec<Vec<u8>> = asked.iter().map(|asked| asked.bytes.clone()).collect();
        let variant =
            |name, server, pids| Variant { name, server, pids, requests: &requests, good: Good::Result };
        let mut variants = vec![variant("product", server, vec![pid])];
        // Kept until the end of the measurement: they end when dropped.
        let mut bare = None;
        if against.contains(&Bare)
            && let Some(like) = answers.first()
        {
            let child = bare.insert(servers.bare(like, size)?);
            variants.push(variant("bare", child.address(), vec![child.pid()]));
        }
        if against.contains(&Sql) {
            let postgres = servers.world.cluster.pid();
            let sql = servers.sql()?;
            agree::check(self.op, &asked, &answers, &ask_all(sql.address(), &asked)?)?;
            variants.push(variant("sql", sql.address(), vec![sql.pid(), postgres]));
        }
        let measured = rounds::measure(pace, &variants)?;
        for (goal, part, over, figure) in self.settles {
            let name = if *over == Bare { "bare" } else { "sql" };
            if only.wants(goal)
                && let Some(value) = compared(&measured, name, *figure)
            {
                board.settle(goal, part, value);
            }
        }
        board.keep(self.name, measured);
        Ok(())
    }

    fn asked(&self) -> Vec<Asked> {
        match (self.lots, self.op) {
            (Lots::Measured(units), Op::Search) => data::search(&data::measured(units), REQUESTS),
            (Lots::Measured(units), Op::Facets) => {
                data::facets(&data::measured(units), self.filtered, REQUESTS)
            }
            (Lots::Measured(units), _) => data::vehicle(&data::measured(units), REQUESTS),
            (Lots::Mixed, _) => mixed_searches(),
        }
    }
}

/// Searches at all the mixed lots, in turn.
fn mixed_searches() -> Vec<Asked> {
    let lots = data::mixed(MIXED.0);
    let of_lot: Vec<Vec<Asked>> = lots.iter().map(|lot| data::search(lot, MIXED.1)).collect();
    let turn = |n: usize| of_lot.iter().filter_map(move |asked| asked.get(n).cloned());
    (0..MIXED.1 as usize).flat_map(turn).collect()
}

fn compared(measured: &[Measured], over: &str, figure: Figure) -> Option<f64> {
    let find = |name: &str| measured.iter().find(|measured| measured.variant == name);
    let figure = |round: &Round| match figure {
        Figure::Rate => round.rate,
        Figure::Cpu => round.cpu_us,
    };
    Some(rounds::ratio(find("product")?, find(over)?, figure))
}

/// Asks everything once, one after the other: warms the server, and tells what it answers.
///
/// # Errors
/// An answer is no result.
pub(crate) fn ask_all(server: std::net::SocketAddr, asked: &[Asked]) -> Result<Vec<Answer>> {
    let mut line = Line::to(server);
    let mut answers = Vec::with_capacity(asked.len());
    for asked in asked {
        let answer = line.ask(&asked.bytes)?;
        ensure!(
            answer.status == 200 && answer.json()?.get("result").is_some(),
            "{} was answered {}: {}",
            asked.data,
            answer.status,
            String::from_utf8_lossy(&answer.body)
        );
        answers.push(answer);
    }
    Ok(answers)
}
