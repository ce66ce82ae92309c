//! G12: the Agent Card, whole and as "unchanged", beside a bare handler of its size.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::Servers;
use crate::data;
use crate::goals::Board;
use crate::load::{Good, Line};
use crate::rounds::{self, Pace, Variant};

pub(super) fn run(servers: &mut Servers<'_>, pace: Pace, board: &mut Board) -> Result<()> {
    let product = servers.product()?;
    let (server, pid) = (product.address(), product.pid());
    let path = format!("/t/{}/v3.0/.well-known/agent-card.json", data::measured(10_000).slug);
    let whole = data::get(&path, &[]);
    let answer = Line::to(server).ask(&whole)?;
    ensure!(answer.status == 200, "the card's address answers {}", answer.status);
    let tag = answer.header("etag").context("a card has an ETag")?;
    let unchanged = data::get(&path, &[("If-None-Match", tag)]);
    let bare = servers.bare(&answer, answer.body.len())?;
    board.note("card, bytes", json!(answer.body.len()));
    let (whole, unchanged) = ([whole], [unchanged]);
    let variants = [
        Variant { name: "card", server, pids: vec![pid], requests: &whole, good: Good::Status(200) },
        Variant { name: "unchanged", server, pids: vec![pid], requests: &unchanged, good: Good::Status(304) },
        Variant {
            name: "bare",
            server: bare.address(),
            pids: vec![bare.pid()],
            requests: &whole,
            good: Good::Status(200),
        },
    ];
    let measured = rounds::measure(pace, &variants)?;
    if let [card, unchanged, bare] = measured.as_slice() {
        board.settle("G12", "200", rounds::ratio(card, bare, |round| round.rate));
        board.settle("G12", "304", rounds::ratio(unchanged, bare, |round| round.rate));
    }
    board.keep("card", measured);
    Ok(())
}
