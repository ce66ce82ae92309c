//! Nodes replaced one after the other behind a load balancer, while clients keep asking.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use testkit::{Process, data_of};

use super::http::{self, Line, is_last, posting};
use super::{LIMIT, Node, database, dealers, provision, searching};

/// What a load balancer knows: who is there, and who said last that it is ready.
#[derive(Default)]
struct Balancer {
    known: Mutex<Vec<SocketAddr>>,
    ready: Mutex<Vec<SocketAddr>>,
    turn: AtomicUsize,
    over: AtomicBool,
}

impl Balancer {
    /// Asks everybody for readiness, again and again.
    fn watch(self: &Arc<Balancer>) -> JoinHandle<()> {
        let this = Arc::clone(self);
        std::thread::spawn(move || {
            while !this.over.load(Ordering::Relaxed) {
                let known = this.known.lock().unwrap().clone();
                let is_ready =
                    |node: &SocketAddr| http::get(*node, "/readyz").is_ok_and(|reply| reply.status == 200);
                *this.ready.lock().unwrap() = known.into_iter().filter(is_ready).collect();
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }

    fn choose(&self) -> Option<SocketAddr> {
        let ready = self.ready.lock().unwrap();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        (!ready.is_empty()).then(|| ready[turn % ready.len()])
    }

    /// Asks in turn; answers how many were answered and what failed.
    fn client(self: &Arc<Balancer>, keep: bool) -> JoinHandle<(usize, Vec<String>)> {
        let this = Arc::clone(self);
        std::thread::spawn(move || {
            let headers: &[(&str, &str)] = if keep { &[] } else { &[("connection", "close")] };
            let request = posting("/t/harbor/v3.0/a2a", headers, &searching(json!({"make": ["Honda"]})));
            let mut lines: HashMap<SocketAddr, Line> = HashMap::new();
            let (mut answered, mut failures) = (0, Vec::new());
            while !this.over.load(Ordering::Relaxed) {
                let Some(node) = this.choose() else {
                    failures.push("nobody is ready".to_owned());
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                let line = lines.remove(&node).map_or_else(|| Line::open(node), Ok);
                let reply = line.and_then(|mut line| {
                    let reply = line.ask(&request)?;
                    if keep && !is_last(&reply) {
                        lines.insert(node, line);
                    }
                    Ok(reply)
                });
                match reply {
                    Ok(reply) if reply.status == 200 && data_of(&reply.json())["total"] == 5 => answered += 1,
                    Ok(reply) => failures.push(reply.everything()),
                    Err(error) => failures.push(format!("{node}: {error}")),
                }
            }
            (answered, failures)
        })
    }
}

#[test]
fn nodes_are_replaced_without_a_failed_request() {
    let (_, url) = database();
    provision(&url, &dealers(&[("harbor", 5)]));
    let start = || {
        let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0"]);
        // The default, said aloud: it is what a load balancer has to notice.
        Node::start(command.args(["--drain-seconds", "2"]).env("DATABASE_URL", &url))
    };
    let mut nodes = vec![start(), start()];
    let balancer = Arc::new(Balancer::default());
    balancer.known.lock().unwrap().extend(nodes.iter().map(|node| node.address));
    let watch = balancer.watch();
    super::until("the balancer has looked", LIMIT, || balancer.ready.lock().unwrap().len() == 2);
    let clients: Vec<_> = (0..4).map(|i| balancer.client(i % 2 == 0)).collect();

    for _ in 0..2 {
        let fresh = start();
        balancer.known.lock().unwrap().push(fresh.address);
        super::until("the new node is in use", LIMIT, || {
            balancer.ready.lock().unwrap().contains(&fresh.address)
        });
        let mut old = nodes.remove(0);
        nodes.push(fresh);
        old.process.signal(libc::SIGTERM);
        assert_eq!(old.process.wait(LIMIT).code(), Some(0), "{:#?}", old.process.lines());
        balancer.known.lock().unwrap().retain(|node| *node != old.address);
    }

    balancer.over.store(true, Ordering::Relaxed);
    watch.join().expect("no panic");
    let mut total = 0;
    for client in clients {
        let (answered, failures) = client.join().expect("no client panicked");
        assert_eq!(failures, Vec::<String>::new());
        assert!(answered > 0);
        total += answered;
    }
    assert!(total > 50, "that was hardly a load: {total}");
    for node in nodes {
        node.stop();
    }
}
