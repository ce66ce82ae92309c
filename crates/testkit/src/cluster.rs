//! One PostgreSQL for all tests of a binary, and a fresh database for each.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread::JoinHandle;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use store::private::{Options, PrivatePg};
use store::{Database, setup};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// A PostgreSQL server that a test starts and may treat as it likes. It ends when this is dropped.
#[derive(Debug)]
pub struct OwnServer {
    database: Database,
    socket_dir: PathBuf,
    port: u16,
    pid: u32,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnServer {
    /// Starts one in a folder of its own. It keeps nothing for a crash of the machine.
    pub fn start(name: &str) -> OwnServer {
        let (send, started) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let folder = folder(name);
        // PostgreSQL ends with the thread that started it, so that thread must outlive every use.
        let thread = std::thread::spawn(move || {
            let mut options = Options::new(folder, "tests");
            options.durable = false;
            options.roots = vec![crate::process::root()];
            match PrivatePg::start(&options) {
                Ok(server) => {
                    let place = (
                        Database::private(&server),
                        server.socket_dir().to_owned(),
                        server.port(),
                        server.pid(),
                    );
                    let _ = send.send(Ok(place));
                    let _ = stopped.recv();
                    server.stop();
                }
                Err(error) => {
                    let _ = send.send(Err(error.to_string()));
                }
            }
        });
        let started = started.recv().expect("the PostgreSQL of the tests must start");
        let (database, socket_dir, port, pid) = started.expect("PostgreSQL is needed for tests");
        OwnServer { database, socket_dir, port, pid, stop: Some(stop), thread: Some(thread) }
    }

    /// Its first database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// `DATABASE_URL` of one of its databases, for a login. A password is not asked for.
    pub fn url(&self, database: &Database, login: &str) -> String {
        let folder = self.socket_dir.display().to_string().replace('/', "%2F");
        format!("postgres://{login}@{folder}:{}/{}", self.port, database.name())
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// A connection that no policy binds, to look at what is really stored.
    pub async fn superuser(&self, database: &Database) -> PgConnection {
        superuser(&self.socket_dir, self.port, database.name()).await
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A connection that no policy binds to a database of a private server, to look at what is really stored.
pub async fn superuser(socket_dir: &Path, port: u16, database: &str) -> PgConnection {
    try_superuser(socket_dir, port, database).await.expect("the database answers")
}

/// The same to a server that may not be there.
///
/// # Errors
/// It is not, or not yet.
pub async fn try_superuser(socket_dir: &Path, port: u16, database: &str) -> sqlx::Result<PgConnection> {
    options(socket_dir, port, database).connect().await
}

fn options(socket_dir: &Path, port: u16, database: &str) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket_dir)
        .port(port)
        .username("postgres")
        .database(database)
        .options([("search_path", "forecourt")])
}

/// The PostgreSQL of this test binary. It ends with the process.
#[derive(Debug)]
pub struct Cluster {
    server: OwnServer,
    template: OnceCell<()>,
}

const TEMPLATE: &str = "forecourt_template";

/// The cluster, started by the first test that asks.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster { server: OwnServer::start("pg"), template: OnceCell::new() })
}

impl Cluster {
    /// The maintenance connection's database.
    pub fn database(&self) -> &Database {
        self.server.database()
    }

    /// A connection that no policy binds, to look at what is really stored.
    pub async fn superuser(&self, database: &Database) -> PgConnection {
        self.server.superuser(database).await
    }

    /// How to connect as [`Cluster::superuser`] does, for more than one connection.
    pub fn options(&self, database: &Database) -> PgConnectOptions {
        options(&self.server.socket_dir, self.server.port, database.name())
    }

    /// The `DATABASE_URL` of a database, for the binary.
    pub fn url(&self, database: &Database) -> String {
        let folder = self.server.socket_dir.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}:{}/{}", self.server.port, database.name())
    }

    /// A migrated database that nobody else uses.
    pub async fn fresh(&self) -> Database {
        self.template
            .get_or_init(|| async {
                setup::create_database(self.database(), TEMPLATE, None).await.expect("template database");
                setup::prepare(&self.database().named(TEMPLATE)).await.expect("migrations");
            })
            .await;
        let name = format!("t_{}", Uuid::new_v4().simple());
        // PostgreSQL refuses a template that somebody is connected to, also when that is another copy beginning.
        for _ in 0..100 {
            match setup::create_database(self.database(), &name, Some(TEMPLATE)).await {
                Ok(()) => return self.database().named(&name),
                Err(error) if error.sql_state().as_deref() == Some("55006") => {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
                Err(error) => panic!("a test database cannot be made: {error}"),
            }
        }
        panic!("the template database stayed busy");
    }
}

/// A folder of this process; those of processes that are gone are cleared away.
fn folder(name: &str) -> PathBuf {
    let all = crate::process::scratch_root();
    std::fs::create_dir_all(&all).expect("a folder for test databases");
    for entry in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        let pid =
            entry.file_name().to_string_lossy().split('-').next().and_then(|pid| pid.parse::<i32>().ok());
        // SAFETY: signal 0 only asks whether the process exists.
        let refused = |pid| unsafe { libc::kill(pid, 0) } != 0;
        let no_such = || std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
        let gone = pid.is_some_and(|pid| refused(pid) && no_such());
        if gone {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    all.join(format!("{}-{name}", std::process::id()))
}
