//! The demo dealers' sources and the files that come from them.

use serde_json::{Value, json};

use super::cells::{Unit, is_sold, word};
use super::dealers::{Dealer, Fee, Rooftop};
use super::layouts::{dms, google, homenet, meta, pipe, pricing, studio};

/// A source of a demo dealer, and what comes from it.
pub struct Feed {
    /// Slug of the dealer.
    pub dealer: &'static str,
    /// Name of the source.
    pub name: &'static str,
    /// Its settings, as a person would give them.
    pub settings: Value,
    /// The file that makes its part of the lot.
    pub file: File,
    /// A later one that the guard holds.
    pub doubtful: Option<File>,
}

/// A file as a sender would upload it.
pub struct File {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The sources of a dealer, in the order in which their files come. `units` are what is on its lots, `sold` what was.
pub(super) fn of(dealer: &Dealer, units: &[Unit], sold: &[Unit], origin: &str) -> Vec<Feed> {
    match dealer.rooftops.as_slice() {
        [store] if dealer.slug == "brindlewood" => brindlewood(dealer, store, units, origin),
        [store] => vec![ironfern(dealer, store, units, sold)],
        stores => northmere(dealer, stores, units, sold),
    }
}

fn feed(dealer: &Dealer, name: &'static str, settings: Value, file: &'static str, bytes: Vec<u8>) -> Feed {
    Feed { dealer: dealer.slug, name, settings, file: File { name: file, bytes }, doubtful: None }
}

/// One tool has the lot, another one the prices.
fn brindlewood(dealer: &Dealer, store: &Rooftop, units: &[Unit], origin: &str) -> Vec<Feed> {
    let lot = json!({"prices": {"columns": {"SellingPrice": {"meaning": "base"}}}});
    let prices = json!({
        "role": "complementary",
        "ranks": {"price": 10},
        "reading": {"columns": {pricing::NEW: "asking_price", pricing::USED: "asking_price"}},
        "prices": {"columns": {
            pricing::NEW: all_in(store, true), pricing::USED: all_in(store, false),
        }},
    });
    // Written over every night, as many senders do: a name with a day in it says which of two files is newer.
    let cut_short = File { name: "homenet.csv", bytes: homenet::cut_short(units, origin) };
    let bytes = homenet::file(units, origin);
    vec![
        Feed { doubtful: Some(cut_short), ..feed(dealer, "HomeNet", lot, "homenet.csv", bytes) },
        feed(dealer, "Pricing tool", prices, "prices.json", pricing::file(units)),
    ]
}

/// One file has everything, with a column of prices for each list of charges.
fn ironfern(dealer: &Dealer, store: &Rooftop, units: &[Unit], sold: &[Unit]) -> Feed {
    let settings = json!({
        "reading": {"columns": {pipe::NEW: "amount", pipe::USED: "amount", pipe::TRAILER: "amount"}},
        "prices": {"columns": {
            "retail": {"meaning": "base"},
            pipe::NEW: all_in(store, true),
            pipe::USED: all_in(store, false),
            pipe::TRAILER: {"meaning": "advertised_all_in", "fees": []},
        }},
    });
    let rows: Vec<Unit> = units.iter().chain(sold).cloned().collect();
    feed(dealer, "Lot program", settings, "ironfern.txt", pipe::file(&rows))
}

/// A group whose stores came with tools of their own.
fn northmere(dealer: &Dealer, stores: &[Rooftop], units: &[Unit], sold: &[Unit]) -> Vec<Feed> {
    let at = |names: &[&str]| -> Vec<Unit> {
        units.iter().filter(|unit| names.contains(&word(unit, "rooftop"))).cloned().collect()
    };
    let charges = |name: &str, new: bool| {
        let store = stores.iter().find(|store| store.name == name);
        store.map_or_else(|| json!({"meaning": "advertised_all_in"}), |store| all_in(store, new))
    };
    let mut feeds = Vec::new();

    let [spokane, phoenix] = google::STORES;
    let settings = json!({
        "rooftops": {spokane.0: spokane.1, phoenix.0: phoenix.1},
        "prices": {"columns": {"price": charges(spokane.1, false), "list_price": {"meaning": "base"}}},
    });
    let bytes = google::file(&at(&[spokane.1, phoenix.1]));
    feeds.push(feed(dealer, "Google listings", settings, "vehicle-listings.csv", bytes));

    let settings = json!({
        "rooftops": {meta::STORE.0: meta::STORE.1},
        "prices": {"columns": {"price": charges(meta::STORE.1, false), "list_price": {"meaning": "base"}}},
    });
    let bytes = meta::file(&at(&[meta::STORE.1]), dealer.website);
    feeds.push(feed(dealer, "Meta catalogue", settings, "catalogue.xml", bytes));

    let settings = json!({
        "rooftops": {dms::STORE.0: dms::STORE.1},
        "reading": {"columns": {dms::NEW: "amount", dms::USED: "amount"}},
        "prices": {"columns": {
            "RETAIL": {"meaning": "base"},
            dms::NEW: charges(dms::STORE.1, true),
            dms::USED: charges(dms::STORE.1, false),
        }},
    });
    let lot = at(&[dms::STORE.1]);
    let gone = sold.iter().filter(|unit| is_sold(unit) && word(unit, "rooftop") == dms::STORE.1);
    let rows: Vec<Unit> = lot.iter().chain(gone).cloned().collect();
    feeds.push(feed(dealer, "Missoula DMS", settings, "STOCK.TXT", dms::file(&rows)));

    let settings = json!({"role": "complementary", "rooftops": {dms::STORE.0: dms::STORE.1}});
    feeds.push(feed(dealer, "Missoula studio", settings, "studio.ndjson", studio::file(&lot)));
    feeds
}

/// The answer to what a column of prices means, with the charges inside where the store discloses them.
fn all_in(store: &Rooftop, new: bool) -> Value {
    let charges = &store.charges;
    if !charges.published {
        return json!({"meaning": "advertised_all_in"});
    }
    let on_new: &[Fee] = if new { &charges.on_new } else { &[] };
    let fees = charges.always.iter().chain(on_new).map(|fee| json!({"name": fee.name, "amount": fee.amount}));
    json!({"meaning": "advertised_all_in", "fees": fees.collect::<Vec<_>>()})
}
