//! What a running platform tells about itself: log lines and metrics.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::{Value, json};
use store::Database;
use testkit::{Process, Reply, cluster};

use super::http::{self, Line, getting, posting};
use super::{LIMIT, Node, as_superuser, database, dealers, provision, searching, until};

fn serve(url: &str, more: &[&str]) -> Node {
    let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"];
    arguments.extend(more);
    Node::start(Process::command(&arguments).env("DATABASE_URL", url))
}

/// Every line, which must be a JSON object with time, level and message.
fn parsed(lines: &[String]) -> Vec<Value> {
    let parse = |line: &String| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        for name in ["time", "level", "target", "message"] {
            assert!(value[name].is_string(), "{name} is missing: {line}");
        }
        value
    };
    lines.iter().map(parse).collect()
}

/// The id of an answer, which is in its body as well where that is a problem of HTTP.
fn id_of(reply: &Reply) -> String {
    let id = reply.header("x-request-id").expect("every answer has an id").to_owned();
    if reply.header("content-type") == Some("application/problem+json") {
        assert_eq!(reply.json()["request_id"], json!(id), "{}", reply.everything());
    }
    id
}

/// A request, the status it gets, and what its line in the log says.
type Case = (Vec<u8>, u16, (&'static str, String));

fn cases(client: usize) -> Vec<Case> {
    let get = |path: &str, status| (getting(path, &[]), status, ("GET", path.to_owned()));
    let post = |path: &str, body: &str| (posting(path, &[], body), 200, ("POST", path.to_owned()));
    let refused = json!({"price": {"min": "cheap"}});
    vec![
        get("/t/harbor/v3.0/.well-known/agent-card.json", 200),
        post("/t/harbor/v3.0/a2a", &searching(json!({"make": ["Honda"]}))),
        post("/t/harbor/v3.0/a2a", &searching(refused)),
        post("/t/harbor/a2a", "{\"jsonrpc\":"),
        get(&format!("/t/never-{client}/"), 404),
        get("/t/harbor/v3.0/a2a", 405),
        get("/healthz", 200),
    ]
}

#[test]
fn every_line_of_a_request_carries_the_id_of_its_answer() {
    let (_, url) = database();
    provision(&url, &dealers(&[("harbor", 3)]));
    let node = serve(&url, &["--log", "debug"]);
    // Several at once: ids must not be mixed up between them.
    let address = node.address;
    let clients: Vec<_> = (0..4)
        .map(|client| {
            std::thread::spawn(move || {
                let mut line = Line::open(address).expect("a connection");
                let mut asked = Vec::new();
                for (request, status, told) in cases(client) {
                    let reply = line.ask(&request).expect("an answer");
                    assert_eq!(reply.status, status, "{}", reply.everything());
                    let error = reply.json().pointer("/error/data/0/metadata/error_id").cloned();
                    asked.push((id_of(&reply), status, told, error));
                }
                asked
            })
        })
        .collect();
    let asked: Vec<_> = clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect();
    let lines = parsed(&node.stop());

    let mut by_id: HashMap<&str, Vec<&Value>> = HashMap::new();
    for line in &lines {
        // Only requests have a path; each line that has one belongs to one, and says to which.
        assert_eq!(line["path"].is_string(), line["request_id"].is_string(), "{line}");
        if let Some(id) = line["request_id"].as_str() {
            by_id.entry(id).or_default().push(line);
        }
    }
    assert_eq!(by_id.len(), asked.len(), "one id a request");
    let mut faults = 0;
    for (id, status, (method, path), error) in &asked {
        let lines = by_id.get(id.as_str()).unwrap_or_else(|| panic!("{id} of {path} is not in the log"));
        for line in lines {
            assert_eq!((&line["method"], &line["path"]), (&json!(method), &json!(path)), "{line}");
            assert_eq!(line["client"], "127.0.0.1", "{line}");
        }
        let answered: Vec<_> = lines.iter().filter(|line| line["status"].is_number()).collect();
        assert_eq!((answered.len(), &answered[0]["status"]), (1, &json!(status)), "{path}: {lines:?}");
        if let Some(error) = error {
            faults += 1;
            assert!(lines.iter().any(|line| line["error.id"] == *error), "{error} is in no line of {id}");
        }
    }
    assert_eq!(faults, 4, "one refused search a client");
}

#[test]
fn people_get_readable_lines_with_the_same_id() {
    let (_, url) = database();
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0", "--log", "info,api=debug"]);
    let mut process = Process::spawn(command.env("DATABASE_URL", &url).env("FORECOURT_LOG_FORMAT", "pretty"));
    let ready = process.wait_for("ready", LIMIT);
    let listen =
        ready.split_once("listen=").and_then(|(_, rest)| rest.split(' ').next()).expect("an address");
    let reply = http::get(listen.parse().expect("an address"), "/t/never/").expect("an answer");
    let line = process.wait_for(&id_of(&reply), LIMIT);
    assert!(
        line.contains("DEBUG") && line.contains("/t/never/") && !line.contains('{')
            || line.contains("request{")
    );
    assert!(!line.contains('\u{1b}'), "no colours off a terminal: {line:?}");
}

/// Takes a database away from everybody, as an outage does, or gives it back.
fn reachable(database: &Database, yes: bool) {
    let name = database.name();
    let mut sql = format!("alter database {name} allow_connections {yes};");
    if !yes {
        sql += &format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'");
    }
    as_superuser(&cluster().database().named("postgres"), &sql);
}

#[test]
fn what_fails_inside_is_found_by_its_id_and_tells_nothing_of_the_request() {
    const SECRETS: [&str; 4] = ["zz-filter-zz", "zz-header-zz", "zz-query-zz", "zz-message-zz"];
    let (database, url) = database();
    provision(&url, &dealers(&[("harbor", 3), ("warm", 2)]));
    let node = serve(&url, &["--log", "debug"]);
    assert_eq!(node.total("warm"), 2);
    // The dealer itself is known by now, its lot is not.
    node.card("harbor");
    reachable(&database, false);

    let mut body: Value = serde_json::from_str(&searching(json!({"make": [SECRETS[0]]}))).unwrap();
    body["params"]["message"]["messageId"] = json!(SECRETS[3]);
    let headers = [("authorization", SECRETS[1]), ("x-note", SECRETS[1])];
    let target = format!("/t/harbor/v3.0/a2a?note={}", SECRETS[2]);
    let request = posting(&target, &headers, &body.to_string());
    let mut line = Line::open(node.address).expect("a connection");
    let reply = line.ask(&request).expect("an answer");
    let answer = reply.json();
    let fault =
        testkit::aap_error(&answer["error"]).unwrap_or_else(|| panic!("a fault was expected: {answer}"));
    assert_eq!((reply.status, &fault["code"]), (200, &json!("INTERNAL_ERROR")), "{answer}");
    let error_id = fault["error_id"].as_str().expect("an id").to_owned();
    for word in ["database", "postgres", "sql", "connection", database.name()] {
        assert!(!answer.to_string().to_lowercase().contains(word), "{word}: {answer}");
    }

    // What needs no database is answered as before; a short outage empties no load balancer.
    assert_eq!((node.total("warm"), node.get("/readyz").status), (2, 200));
    assert!(node.card("harbor").contains("Dealer harbor"));
    // And it passes.
    reachable(&database, true);
    assert_eq!(line.ask(&request).map(|reply| reply.json()["result"].is_object()).ok(), Some(true));

    let all = node.stop();
    let lines = parsed(&all);
    let told: Vec<_> = lines.iter().filter(|line| line["error.id"] == json!(error_id)).collect();
    assert_eq!(told.len(), 1, "logged once: {told:?}");
    assert_eq!((&told[0]["level"], &told[0]["request_id"]), (&json!("ERROR"), &json!(id_of(&reply))));
    let cause = told[0]["cause"].as_str().expect("a cause");
    assert!(cause.contains("not currently accepting connections"), "{cause}");
    for secret in SECRETS {
        assert!(!all.iter().any(|line| line.contains(secret)), "{secret} is in the log");
    }
}

/// The samples of Prometheus' text form; panics where it is not that.
fn samples(node: &Node) -> BTreeMap<String, f64> {
    let reply = node.get("/metrics");
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4")));
    let text = String::from_utf8(reply.body).expect("UTF-8");
    let mut types = Vec::new();
    let mut samples = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            types.push(rest.split(' ').next().unwrap_or_default().to_owned());
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
            let bare = name.split('{').next().unwrap_or_default();
            assert!(types.iter().any(|known| bare.starts_with(known.as_str())), "no type: {line}");
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
            assert!(samples.insert(name.to_owned(), value).is_none(), "twice: {line}");
        }
    }
    samples
}

/// The sum of the samples of a name whose labels contain all of these.
fn sum(samples: &BTreeMap<String, f64>, name: &str, labels: &[&str]) -> f64 {
    let is_meant =
        |key: &str| key.split('{').next() == Some(name) && labels.iter().all(|label| key.contains(label));
    samples.iter().filter(|(key, _)| is_meant(key)).map(|(_, value)| value).sum()
}

#[test]
fn metrics_move_by_what_was_done() {
    let (_, url) = database();
    provision(&url, &dealers(&[("harbor", 40), ("second", 2)]));
    let node = serve(&url, &[]);
    let before = samples(&node);
    for (name, value) in
        [("dealers_active", 2.0), ("dealers_suspended", 0.0), ("lots_loaded", 0.0), ("lots_bytes", 0.0)]
    {
        assert_eq!(before.get(name), Some(&value), "{name} in {before:#?}");
    }

    const CALLS: &str = "aap_calls_total";
    const REQUESTS: &str = "http_server_request_duration_seconds_count";
    for _ in 0..3 {
        assert_eq!(node.total("harbor"), 40);
    }
    let refused = node.search("harbor", json!({"price": {"min": "cheap"}})).json();
    assert!(refused["error"].is_object(), "{refused}");
    node.card("harbor");
    assert_eq!(node.get("/t/never/").status, 404);
    let after = samples(&node);
    let moved = |name, labels: &[&str]| sum(&after, name, labels) - sum(&before, name, labels);
    assert_eq!(moved(CALLS, &["skill=\"inventory.search\"", "outcome=\"ok\""]), 3.0, "{after:#?}");
    assert_eq!(moved(CALLS, &["skill=\"inventory.search\""]), 4.0);
    assert_eq!(moved(REQUESTS, &["interface=\"a2a\"", "status_code=\"200\""]), 4.0);
    assert_eq!(moved(REQUESTS, &["status_code=\"404\""]), 1.0);
    assert!(moved("http_server_request_duration_seconds_sum", &["interface=\"a2a\""]) > 0.0);
    assert!((1.0..=2.0).contains(&after["lots_loaded"]) && after["lots_bytes"] > 1000.0, "{after:#?}");
    // Unknown names of strangers must not become labels: they would fill the memory.
    assert!(!after.keys().any(|key| key.contains("never") || key.contains("harbor")), "{after:#?}");

    let state = |slug: &str, state: &str| json!({"tenants": {slug: {"state": state}}});
    provision(&url, &state("second", "suspended"));
    until("the dealer is counted as suspended", Duration::from_secs(10), || {
        let now = samples(&node);
        (now["dealers_active"], now["dealers_suspended"], now["dealers_removed"]) == (1.0, 1.0, 0.0)
    });
    provision(&url, &state("second", "removed"));
    until("the dealer is counted as removed", Duration::from_secs(10), || {
        let now = samples(&node);
        (now["dealers_active"], now["dealers_suspended"], now["dealers_removed"]) == (1.0, 0.0, 1.0)
    });
    assert!(samples(&node)["data_age_seconds"] <= 5.0);
    node.stop();
}

#[test]
fn the_age_of_the_data_decides_readiness() {
    let (database, url) = database();
    provision(&url, &dealers(&[("harbor", 3)]));
    let node = serve(&url, &["--max-age", "5s"]);
    assert_eq!(node.total("harbor"), 3);
    reachable(&database, false);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(
        (node.get("/readyz").status, node.total("harbor")),
        (200, 3),
        "a short outage changes nothing"
    );
    until("the data is too old", Duration::from_secs(30), || node.get("/readyz").status == 503);
    let reply = node.get("/readyz").json();
    assert!(
        reply["data_age_seconds"].as_u64() >= Some(5) && samples(&node)["data_age_seconds"] >= 5.0,
        "{reply}"
    );
    assert_eq!(node.get("/healthz").status, 200, "nothing that a restart would mend");
    reachable(&database, true);
    until("ready again", LIMIT, || node.get("/readyz").status == 200);
    assert_eq!(http::get(node.address, "/t/harbor/").expect("an answer").status, 200);
    node.stop();
}
