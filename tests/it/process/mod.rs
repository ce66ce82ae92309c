//! The binary as operators run it: started, watched, stopped and killed; nothing of ours runs in the test process.

mod database;
mod demo;
mod http;
mod nodes;
mod observe;
mod otlp;
mod rolling;
mod settings;
mod start;
mod stop;
mod tls;

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection};
use store::Database;
use testkit::{Process, Reply, car, cluster, dealer_document};

/// The longest that a start or an end may take on a machine that has much else to do.
const LIMIT: Duration = Duration::from_secs(90);

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(testkit::scratch(name))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a writable folder");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running platform.
struct Node {
    process: Process,
    address: SocketAddr,
}

impl Node {
    /// Starts `up` or `serve` and waits until it is ready.
    fn start(command: &mut Command) -> Node {
        let mut process = Process::spawn(command);
        let address = process.ready(LIMIT);
        Node { process, address }
    }

    fn get(&self, path: &str) -> Reply {
        http::get(self.address, path).expect("an answer")
    }

    /// A search of a dealer's lot: the whole answer.
    fn search(&self, slug: &str, filters: Value) -> Reply {
        http::post(self.address, &format!("/t/{slug}/v3.0/a2a"), &searching(filters)).expect("an answer")
    }

    /// How many vehicles a dealer has.
    fn total(&self, slug: &str) -> u64 {
        let answer = self.search(slug, json!({})).json();
        testkit::data_of(&answer)["total"].as_u64().unwrap_or_else(|| panic!("no total: {answer}"))
    }

    /// The bytes of a dealer's card.
    fn card(&self, slug: &str) -> String {
        let reply = self.get(&format!("/t/{slug}/v3.0/.well-known/agent-card.json"));
        assert_eq!(reply.status, 200, "{}", reply.everything());
        String::from_utf8(reply.body).expect("UTF-8")
    }

    /// Ends it as a service manager does, without time for load balancers.
    fn stop(mut self) -> Vec<String> {
        self.process.signal(libc::SIGTERM);
        let status = self.process.wait(LIMIT);
        assert_eq!(status.code(), Some(0), "{:#?}", self.process.lines());
        self.process.lines()
    }
}

/// The body of an `inventory.search` request.
fn searching(filters: Value) -> String {
    testkit::request_body(json!({"type": "inventory.search.request", "filters": filters})).to_string()
}

/// `serve` on a free port, on that database.
fn serve(url: &str) -> Command {
    let mut command = Process::command(&["serve", "--listen", "127.0.0.1:0", "--drain-seconds", "0"]);
    command.env("DATABASE_URL", url);
    command
}

/// What a command did.
struct Done {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Done {
    /// Everything it said.
    fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    #[track_caller]
    fn ends(self, status: i32) -> Done {
        assert_eq!(self.status, Some(status), "{}", self.text());
        self
    }

    #[track_caller]
    fn says(self, words: &[&str]) -> Done {
        let text = self.text();
        for word in words {
            assert!(text.contains(word), "{word:?} is missing in:\n{text}");
        }
        self
    }
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Done {
    let output = Process::output(command);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs a command on a database.
fn on(url: &str, arguments: &[&str]) -> Done {
    run(Process::command(arguments).env("DATABASE_URL", url))
}

/// A migrated database of this test, and the address for the binary.
fn database() -> (Database, String) {
    let database = block_on(cluster().fresh());
    let url = cluster().url(&database);
    (database, url)
}

/// Runs statements that no policy binds.
fn as_superuser(database: &Database, sql: &str) {
    block_on(async {
        let mut connection = cluster().superuser(database).await;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the statements are right");
        connection.close().await.expect("the database answers");
    });
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

/// A document for `forecourt provision`: dealers with that many cars each.
fn dealers(sizes: &[(&str, usize)]) -> Value {
    let one = |(slug, size): &(&str, usize)| {
        let cars: Vec<Value> =
            (0..*size).map(|i| car(&format!("{slug}-{i}"), "Honda", "CR-V", 20_000 + i as i64)).collect();
        ((*slug).to_owned(), dealer_document(&format!("Dealer {slug}"), json!(cars)))
    };
    json!({"tenants": sizes.iter().map(one).collect::<serde_json::Map<_, _>>()})
}

/// Runs `forecourt provision` on a database; every dealer must be taken over.
#[track_caller]
fn provision(url: &str, document: &Value) -> Done {
    let folder = Folder::new("provision");
    let file = folder.write("dealers.json", &document.to_string());
    on(url, &["provision", &file]).ends(0)
}

/// Asks again and again until the answer is yes.
#[track_caller]
fn until(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_root() -> bool {
    // SAFETY: takes and changes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// The server of a data folder, and whether it lives.
fn postmaster(data: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(data.join("pg/data/postmaster.pid")).ok()?;
    text.lines().next()?.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    // One that nobody buried yet is dead as well.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}
