//! The end of a process: nobody is cut off, nothing is left running.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::Connection;
use testkit::{Process, Reply, cluster, data_of};

use super::http::{self, Line, getting, is_last, posting};
use super::{Folder, LIMIT, Node, database, dealers, is_alive, postmaster, provision, run, searching};
use super::{serve, until};

fn up(data: &str, more: &[&str]) -> Command {
    let mut arguments = vec!["up", "--data-dir", data, "--listen", "127.0.0.1:0"];
    arguments.extend(more);
    let mut command = Process::command(&arguments);
    // A group of its own, as a shell gives it to what it starts.
    command.process_group(0);
    command
}

/// Ctrl-C as a terminal sends it: to the whole group, children included.
fn interrupt(process: &Process) {
    let pid = i32::try_from(process.pid()).expect("a pid");
    // SAFETY: the process is our child and not reaped yet, and it leads the group of its number.
    unsafe { libc::kill(-pid, libc::SIGINT) };
}

/// What a client saw.
#[derive(Default)]
struct Seen {
    answered: usize,
    /// Answers after the signal: these were accepted during the drain.
    late: usize,
    failures: Vec<String>,
}

/// Asks until no connection begins any more, one connection a request or many requests on one.
fn client(address: SocketAddr, keep: bool, signalled: Arc<AtomicBool>) -> JoinHandle<Seen> {
    std::thread::spawn(move || {
        let mut seen = Seen::default();
        let body = searching(json!({"make": ["Honda"]}));
        let headers: &[(&str, &str)] = if keep { &[] } else { &[("connection", "close")] };
        let request = posting("/t/harbor/v3.0/a2a", headers, &body);
        let mut line: Option<Line> = None;
        loop {
            let used = line.is_some();
            let began = Instant::now();
            let mut open = match line.take() {
                Some(line) => line,
                // Refused, or not taken up: nobody accepted anything. That is how it ends.
                None => match Line::open_within(address, Duration::from_millis(300)) {
                    Ok(line) => line,
                    Err(_) => return seen,
                },
            };
            match open.ask(&request) {
                Ok(reply) if is_right(&reply) => {
                    seen.answered += 1;
                    seen.late += usize::from(signalled.load(Ordering::Relaxed));
                    if keep && !is_last(&reply) {
                        line = Some(open);
                    }
                }
                Ok(reply) => seen.failures.push(reply.everything()),
                Err(error) => seen.failures.push(format!(
                    "{error}; {} connection, {:?} after it was begun",
                    if used { "used" } else { "fresh" },
                    began.elapsed()
                )),
            }
        }
    })
}

fn is_right(reply: &Reply) -> bool {
    reply.status == 200 && data_of(&reply.json())["total"] == 5
}

/// Sends a request but for its last byte, and waits until the server has it in hand.
fn half_a_request(address: SocketAddr) -> (Line, u8) {
    let request = posting("/t/harbor/v3.0/a2a", &[], &searching(json!({"make": ["Honda"]})));
    let (last, first) = request.split_last().expect("a request");
    let mut line = Line::open(address).expect("a connection");
    line.write(first).expect("a request");
    std::thread::sleep(Duration::from_millis(300));
    (line, *last)
}

#[test]
fn sigterm_under_load_cuts_nobody_and_ctrl_c_ends_it_at_once() {
    let folder = Folder::new("stop");
    let data = folder.path("data");
    let mut node = Node::start(&mut up(&data, &[]));
    let file = folder.write("dealers.json", &dealers(&[("harbor", 5)]).to_string());
    run(&mut Process::command(&["provision", &file, "--data-dir", &data])).ends(0);
    until("the dealer is served", Duration::from_secs(10), || node.get("/t/harbor/").status == 200);
    let server = postmaster(Path::new(&data)).expect("a running server");

    let signalled = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..6).map(|i| client(node.address, i % 2 == 0, Arc::clone(&signalled))).collect();
    std::thread::sleep(Duration::from_millis(500));
    // In flight when the signal comes, and longer than the time in which new ones are accepted.
    let (mut slow, last) = half_a_request(node.address);
    let mut probe = Line::open(node.address).expect("a connection");
    assert_eq!(probe.ask(&getting("/readyz", &[])).expect("an answer").status, 200);

    let began = Instant::now();
    signalled.store(true, Ordering::Relaxed);
    node.process.signal(libc::SIGTERM);
    until("it is not ready any more", Duration::from_secs(2), || {
        let reply = http::get(node.address, "/readyz").expect("probes are answered while it drains");
        assert!(reply.status == 503 || reply.json()["status"] == "ready", "{}", reply.everything());
        reply.status == 503
    });
    let noticed = began.elapsed();
    let draining = probe.ask(&getting("/readyz", &[])).expect("an answer on the connection from before");
    assert_eq!((draining.status, draining.json()["reason"].as_str()), (503, Some("draining")));
    assert!(is_last(&draining), "clients are asked to connect elsewhere");
    assert_eq!(http::get(node.address, "/healthz").expect("an answer").status, 200, "alive all the same");

    let seen: Vec<Seen> =
        clients.into_iter().map(|client| client.join().expect("no client panicked")).collect();
    let closed = began.elapsed();
    for seen in &seen {
        assert_eq!(seen.failures, Vec::<String>::new(), "no accepted request is cut");
        assert!(
            seen.answered > seen.late && seen.late > 0,
            "before and after: {} {}",
            seen.answered,
            seen.late
        );
    }
    assert!(
        noticed < Duration::from_secs(1) && closed > Duration::from_millis(1900),
        "{noticed:?} {closed:?}"
    );

    slow.write(&[last]).expect("still connected");
    let reply = slow.read().expect("a request in flight is finished");
    assert!(is_right(&reply) && is_last(&reply), "{}", reply.everything());
    assert_eq!(node.process.wait(LIMIT).code(), Some(0), "{:#?}", node.process.lines());
    assert!(began.elapsed() < Duration::from_secs(30), "it waits for nothing else");
    assert!(!is_alive(server), "PostgreSQL has ended before");
    assert_eq!(postmaster(Path::new(&data)), None, "in order");

    ctrl_c(&data);
}

/// On the data of a test, for a cluster takes its time to be made.
fn ctrl_c(data: &str) {
    // Once: in order, without time for load balancers.
    let mut node = Node::start(&mut up(data, &[]));
    let server = postmaster(Path::new(data)).expect("a running server");
    let idle = Line::open(node.address).expect("a connection");
    let mut late = Line::open(node.address).expect("a connection");
    let began = Instant::now();
    interrupt(&node.process);
    node.process.wait_for("stopping; requests in flight finish first", LIMIT);
    // Its connection was accepted before, so its request is answered.
    std::thread::sleep(Duration::from_millis(500));
    let body = searching(json!({"make": ["Honda"]}));
    let reply = late.ask(&posting("/t/harbor/v3.0/a2a", &[], &body)).expect("an answer");
    assert!(is_right(&reply) && is_last(&reply), "{}", reply.everything());
    assert_eq!(node.process.wait(LIMIT).code(), Some(0), "{:#?}", node.process.lines());
    assert!(began.elapsed() < Duration::from_secs(10), "an idle connection holds nobody up");
    assert!(node.process.lines().iter().any(|line| line.contains("\"stopped\"")));
    assert!(!is_alive(server) && postmaster(Path::new(data)).is_none());
    drop(idle);

    // Twice: at once, although a request is in flight.
    let mut node = Node::start(&mut up(data, &[]));
    let server = postmaster(Path::new(data)).expect("a running server");
    let (_slow, _) = half_a_request(node.address);
    interrupt(&node.process);
    node.process.wait_for("stopping; requests in flight finish first", LIMIT);
    std::thread::sleep(Duration::from_secs(2));
    let began = Instant::now();
    interrupt(&node.process);
    assert_eq!(node.process.wait(LIMIT).code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(node.process.lines().iter().any(|line| line.contains("stopped at once")));
    until("PostgreSQL ends too", Duration::from_secs(20), || !is_alive(server));
    // And nothing was lost.
    let mut node = Node::start(&mut up(data, &[]));
    assert_eq!(node.total("harbor"), 5);
    interrupt(&node.process);
    assert_eq!(node.process.wait(LIMIT).code(), Some(0));
}

#[test]
fn a_request_that_waits_for_the_database_is_finished() {
    let (database, url) = database();
    provision(&url, &dealers(&[("harbor", 5)]));
    let mut node = Node::start(&mut serve(&url));
    // The lot is not in memory yet, and nobody can read it for now.
    let mut holder = block_on_shared(async { cluster().superuser(&database).await });
    let hold = "begin; lock table vehicles in access exclusive mode";
    block_on_shared(async { sqlx::raw_sql(hold).execute(&mut holder).await }).expect("a lock");
    let address = node.address;
    let asking = std::thread::spawn(move || -> io::Result<Reply> {
        let body = searching(json!({"make": ["Honda"]}));
        http::post(address, "/t/harbor/v3.0/a2a", &body)
    });
    std::thread::sleep(Duration::from_millis(500));
    assert!(!asking.is_finished(), "it waits");
    node.process.signal(libc::SIGTERM);
    std::thread::sleep(Duration::from_secs(2));
    assert!(!asking.is_finished());
    block_on_shared(async { sqlx::raw_sql("rollback").execute(&mut holder).await })
        .expect("the lock given back");
    let reply = asking.join().expect("no panic").expect("an answer");
    assert!(is_right(&reply), "{}", reply.everything());
    assert_eq!(node.process.wait(LIMIT).code(), Some(0));
    block_on_shared(holder.close()).expect("the database answers");
}

/// A connection goes on living only on the runtime that it was opened on.
fn block_on_shared<T: Send>(work: impl Future<Output = T> + Send) -> T {
    static RUNTIME: std::sync::OnceLock<tokio::runtime::Runtime> = std::sync::OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().expect("a runtime")).block_on(work)
}

#[test]
fn stopped_before_it_is_ready() {
    let (database, url) = database();
    // The start cannot get on while another process prepares the database.
    let mut holder = block_on_shared(async { cluster().superuser(&database).await });
    let lock = "begin; lock table _sqlx_migrations in access exclusive mode";
    block_on_shared(async { sqlx::raw_sql(lock).execute(&mut holder).await }).expect("a lock");
    // Nothing says where it listens before it is ready: the port is chosen here.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let mut command = Process::command(&["serve", "--listen", &free.to_string()]);
    let mut process = Process::spawn(command.env("DATABASE_URL", &url));
    until("it listens", LIMIT, || http::get(free, "/healthz").is_ok_and(|reply| reply.status == 200));
    let ready = http::get(free, "/readyz").expect("an answer");
    assert_eq!((ready.status, ready.json()["reason"].as_str()), (503, Some("starting")));
    let early = http::get(free, "/t/harbor/").expect("an answer");
    assert_eq!(
        (early.status, early.header("retry-after")),
        (503, Some("2")),
        "no 404 for a dealer it does not know yet"
    );
    process.signal(libc::SIGTERM);
    assert_eq!(process.wait(LIMIT).code(), Some(0), "{:#?}", process.lines());
    assert!(process.lines().iter().any(|line| line.contains("stopped before it was ready")));
    block_on_shared(holder.close()).expect("the database answers");
}
