//! Two processes on one database: what one is told, the other serves within a second.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Node, database, dealers, on, provision, serve, until};

/// How long after the end of a command every one of them takes to be true.
fn took(mut conditions: Vec<Box<dyn FnMut() -> bool + '_>>) -> Duration {
    let began = Instant::now();
    until("the change is seen", Duration::from_secs(20), || conditions.iter_mut().all(|done| done()));
    began.elapsed()
}

#[test]
fn a_change_is_served_by_every_node_within_a_second() {
    let (_, url) = database();
    let nodes = [Node::start(&mut serve(&url)), Node::start(&mut serve(&url))];
    let everywhere = |done: &'static dyn Fn(&Node) -> bool| -> Vec<Box<dyn FnMut() -> bool + '_>> {
        nodes.iter().map(|node| Box::new(move || done(node)) as Box<dyn FnMut() -> bool>).collect()
    };
    let mut times = Vec::new();

    // A dealer that nobody knew.
    provision(&url, &dealers(&[("harbor", 3)])).says(&["harbor: created"]);
    times.push(took(everywhere(&|node| node.get("/t/harbor/").status == 200)));
    assert_eq!(nodes.each_ref().map(|node| node.total("harbor")), [3, 3]);

    // Its lot.
    provision(&url, &dealers(&[("harbor", 7)])).says(&["harbor: updated"]);
    times.push(took(everywhere(&|node| node.total("harbor") == 7)));

    // Its card: the same new bytes everywhere, but for nothing.
    let old = nodes[0].card("harbor");
    let mut renamed = dealers(&[("harbor", 7)]);
    renamed["tenants"]["harbor"]["name"] = json!("Harbor Renamed");
    provision(&url, &renamed).says(&["harbor: updated"]);
    times.push(took(everywhere(&|node| node.card("harbor").contains("Harbor Renamed"))));
    let cards = nodes.each_ref().map(|node| node.card("harbor"));
    assert!(cards[0] == cards[1] && cards[0] != old);
    let id = |card: &str| -> Value {
        let card: Value = serde_json::from_str(card).expect("JSON");
        card["capabilities"]["extensions"][0]["params"]["id"].clone()
    };
    assert!(id(&cards[0]).is_string() && id(&cards[0]) != id(&old));

    // Switched off and on: a stranger sees the same as for a dealer that never was.
    let state = |state: &str| json!({"tenants": {"harbor": {"state": state}}});
    provision(&url, &state("suspended")).says(&["harbor: updated"]);
    times.push(took(everywhere(&|node| node.get("/t/harbor/").status == 404)));
    let body = |reply: testkit::Reply| {
        let mut body = reply.json();
        body["request_id"] = Value::Null;
        (reply.status, body)
    };
    assert_eq!(body(nodes[1].get("/t/harbor/")), body(nodes[1].get("/t/never-was/")));
    provision(&url, &state("active")).says(&["harbor: updated"]);
    times.push(took(everywhere(&|node| node.get("/t/harbor/").status == 200)));
    assert_eq!(nodes.each_ref().map(|node| node.total("harbor")), [7, 7]);

    // The median: another program may take a busy machine's processors for a second.
    times.sort();
    assert!(times[2] < Duration::from_secs(1), "{times:?}");

    // A page walk that began on one node goes on at the other, which holds the same version.
    let page = |node: &Node, pagination: Value| {
        let request = json!({"type": "inventory.search.request", "pagination": pagination});
        let body = testkit::request_body(request).to_string();
        let reply = super::http::post(node.address, "/t/harbor/v3.0/a2a", &body).expect("an answer");
        testkit::data_of(&reply.json()).clone()
    };
    let first = page(&nodes[0], json!({"limit": 4}));
    let cursor = first["next_cursor"].as_str().or_else(|| first["pagination"]["next_cursor"].as_str());
    let second = page(&nodes[1], json!({"limit": 4, "cursor": cursor.expect("a cursor")}));
    let count = |page: &Value| page["vehicles"].as_array().expect("vehicles").len();
    assert_eq!((count(&first), count(&second)), (4, 3), "{second}");

    on(&url, &["doctor", "--listen", &nodes[0].address.to_string()]).ends(0);
    for node in nodes {
        node.stop();
    }
}
