//! The demo dealers' vehicles come through feeds, and one file of them waits for somebody.

use serde_json::json;

use super::{Node, database, on, provision, serve};

const LOTS: [(&str, u64); 3] = [("brindlewood", 404), ("ironfern", 153), ("northmere", 1502)];

fn totals(node: &Node) -> [(&'static str, u64); 3] {
    LOTS.map(|(slug, _)| (slug, node.total(slug)))
}

#[test]
fn lots_of_an_older_demo_become_those_of_the_feeds_and_one_file_waits() {
    let (_database, url) = database();
    // As releases before this one brought them in.
    let before = server::demo::document("http://127.0.0.1:8080");
    provision(&url, &before);
    let done = on(&url, &["demo"]).ends(0).says(&[
        "brindlewood: updated\n",
        "  HomeNet: homenet.csv, 404 vehicles\n",
        "  HomeNet: homenet.csv is held; see why with: forecourt feed show ",
        "  Pricing tool: prices.json, 404 vehicles\n",
        "  Lot program: ironfern.txt, 153 vehicles\n",
        "  Google listings: vehicle-listings.csv, 772 vehicles\n",
        "  Missoula studio: studio.ndjson, 354 vehicles\n",
    ]);
    let line = done.out.lines().find(|line| line.contains("is held")).expect("a held run");
    let run = line.rsplit(' ').next().expect("its id").to_owned();
    let shown = on(&url, &["feed", "show", &run]).ends(0);
    shown.says(&["HomeNet: held", "175 would be removed", "FEED_TRUNCATED", "feed approve", "feed reject"]);

    let node = Node::start(serve(&url).args(["--public-origin", "http://127.0.0.1:8080"]));
    assert_eq!(totals(&node), LOTS);
    // Who had bookmarked a vehicle finds it again, at the price of before.
    let old = &before["tenants"]["brindlewood"]["inventory"][402];
    let found = node.search("brindlewood", json!({"stock": old["stock"]})).json();
    let vehicle = &testkit::data_of(&found)["vehicles"][0];
    for member in
        ["vehicle_id", "vin", "price", "list_price", "fees", "photos", "inventory_date", "updated_at"]
    {
        assert_eq!(vehicle[member], old[member], "{member}");
    }

    // Again: nothing happens, and the file that waits does not come twice.
    let again = on(&url, &["demo"]).ends(0);
    let again = again.says(&["brindlewood: unchanged\n", "ironfern.txt, as before\n", &run]);
    assert!(!again.out.contains(" vehicles"), "{}", again.out);
    let runs = on(&url, &["feed", "runs"]).ends(0);
    assert_eq!(runs.out.matches(" held ").count(), 1, "{}", runs.out);

    // Approved, half of the lot is gone; the demo makes it whole, and leaves it at that.
    on(&url, &["feed", "approve", &run]).ends(0);
    super::until("the lot is the held file's", super::LIMIT, || node.total("brindlewood") == 229);
    let whole = on(&url, &["demo"]).ends(0);
    assert!(!whole.says(&["homenet.csv, 404 vehicles\n"]).out.contains("is held"));
    super::until("the lot is whole again", super::LIMIT, || totals(&node) == LOTS);
    node.stop();
}
