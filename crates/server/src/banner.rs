//! What `forecourt up` prints when it is ready: where everything is and what to try.

use std::fmt::Write;

use contract::{ContractVersion, SkillId};
use dealer::{Dealer, Place, Tenant};

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
        let _ = writeln!(text, "  {base}   {}", tenant.name);
        let _ = writeln!(text, "    {}", contracts(&tenant));
        // What is printed to try must work.
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

/// What is served of a dealer, and whether the address above it has a card.
fn contracts(tenant: &Tenant) -> String {
    let default = tenant.default_contract;
    let served = tenant.served();
    let names = |versions: &[ContractVersion]| {
        versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    match served.as_slice() {
        [] => "no contracts: none of them, or of its skills, is served here".to_owned(),
        [first] if *first == default => format!("contracts: {first} (its card)"),
        [first, others @ ..] if *first == default => {
            format!("contracts: {first} (its card), {}", names(others))
        }
        [.., newest] => format!(
            "contracts: {}; give {newest}/ behind the address: its default, {default}, is not served here",
            names(&served)
        ),
    }
}
