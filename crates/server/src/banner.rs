//! What `forecourt up` prints when it is ready: where everything is and what to try.

use std::fmt::Write;

use contract::SkillId;
use dealer::{Dealer, Place};

/// So many dealers are named.
const NAMED: usize = 5;

/// The overview. `data` says where the data is, in lines.
pub(crate) async fn ready(dealer: &Dealer, data: &[String]) -> String {
    let addresses = dealer.addresses();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\nForecourt is ready: {}/", addresses.origin);
    for line in data {
        let _ = writeln!(text, "  {line}");
    }
    let slugs = dealer.active_slugs(NAMED);
    let active = dealer.figures().active;
    let mut first = None;
    if !slugs.is_empty() {
        let _ = writeln!(text, "\nDealers, by the address to give to an agent:");
    }
    for slug in slugs {
        let Ok(tenant) = dealer.resolve(Place::Slug(&slug)).await else { continue };
        let base = addresses.path_base(&slug);
        let others = tenant.contracts.iter().filter(|version| **version != tenant.default_contract);
        let others: String = others.map(|version| format!(", {version}")).collect();
        let _ = writeln!(text, "  {base}   {}", tenant.name);
        let _ = writeln!(text, "    contracts: {} (its card){others}", tenant.default_contract);
        // What is printed to try must work, and a dealer all of whose skills are to come has no card.
        if tenant.card(tenant.default_contract).is_some() {
            first.get_or_insert((base, tenant));
        }
    }
    if active > NAMED {
        let _ = writeln!(text, "  … and {} more", active - NAMED);
    }
    match first {
        Some((base, tenant)) => {
            let _ = writeln!(text, "\nTry:\n  curl -s {base}.well-known/agent-card.json");
            let searches = tenant.skills.contains(&SkillId::InventorySearch);
            if let Some(spec) = tenant.default_contract.spec().filter(|_| searches) {
                let command = api::search_command(&tenant, &format!("{base}a2a"), spec);
                let _ = writeln!(text, "\n  {}", command.replace('\n', "\n  "));
            }
        }
        None if active > 0 => {}
        None => text.push_str(
            "\nThere are no dealers yet. Bring yours in, or the demo dealers to look around:\n  \
             forecourt provision FILE\n  forecourt demo\n",
        ),
    }
    text.push_str("\nCtrl-C stops the platform.\n");
    text
}
