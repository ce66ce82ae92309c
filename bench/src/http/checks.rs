//! G13: what checking every request against its published schema costs.

use anyhow::Result;

use super::{REQUESTS, Servers, ask_all};
use crate::data;
use crate::goals::Board;
use crate::load::Good;
use crate::rounds::{self, Pace, Variant};
use crate::world::{Child, MAIN};

pub(super) fn run(servers: &mut Servers<'_>, pace: Pace, board: &mut Board) -> Result<()> {
    let asked = data::search(&data::measured(10_000), REQUESTS);
    let requests: Vec<Vec<u8>> = asked.iter().map(|asked| asked.bytes.clone()).collect();
    let url = servers.world.cluster.url(MAIN);
    let start = |checks: &str| {
        let arguments =
            ["libraries".to_owned(), "--database-url".into(), url.clone(), "--checks".into(), checks.into()];
        servers.world.own(&format!("libraries-{checks}"), &arguments)
    };
    let (schema, types) = (start("schema")?, start("types")?);
    for server in [&schema, &types] {
        ask_all(server.address(), &asked)?;
    }
    let variant = |name, server: &Child| Variant {
        name,
        server: server.address(),
        pids: vec![server.pid()],
        requests: &requests,
        good: Good::Result,
    };
    let measured = rounds::measure(pace, &[variant("schema", &schema), variant("types only", &types)])?;
    if let [schema, types] = measured.as_slice() {
        board.settle("G13", "10k", rounds::ratio(schema, types, |round| round.rate));
    }
    board.keep("schema checks", measured);
    Ok(())
}
